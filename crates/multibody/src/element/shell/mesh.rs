//! Shells over surfaces: nodes, bodies and elements in one go.

use super::patch::quarter;
use super::{Shell4, ShellError, ShellSection, SurfaceInertia};
use crate::element::ElementId;
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_space::Quaternion;
use oldham_space::{Mat3, Vec3};

/// A regular mesh of four-node elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShellMesh {
    /// Number of elements along the first and the second parameter.
    pub divisions: [usize; 2],
    /// Whether the surface closes on itself along the first parameter.
    pub closed: bool,
    /// Stiffness; the first section axis points along the first parameter.
    pub section: ShellSection,
    /// Mass, given to the nodes as rigid patches: a quarter of each adjoining element.
    pub inertia: SurfaceInertia,
}

/// Nodes and elements of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct ShellGrid {
    nodes: Vec<NodeId>,
    columns: usize,
    /// The elements, along the first parameter first.
    pub elements: Vec<ElementId>,
}

impl ShellGrid {
    /// The node in a column (along the first parameter) and a row.
    pub fn node(&self, column: usize, row: usize) -> NodeId {
        assert!(column < self.columns, "no such column of nodes");
        self.nodes[row * self.columns + column]
    }

    /// Number of columns and of rows of nodes.
    pub fn size(&self) -> [usize; 2] {
        [self.columns, self.nodes.len() / self.columns]
    }

    /// All nodes, row by row.
    pub fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }
}

/// Adds a shell to a model: nodes named `name.column.row`, whose first axis points along the first
/// parameter and whose third is the normal, and the elements between them. `surface` gives the
/// place for both parameters from 0 to 1.
pub fn mapped_shell(
    model: &mut Model,
    name: &str,
    mesh: &ShellMesh,
    surface: impl Fn(f64, f64) -> Vec3,
) -> Result<ShellGrid, ShellError> {
    let [across, up] = mesh.divisions;
    let columns = if mesh.closed { across } else { across + 1 };
    let mut grid = ShellGrid {
        nodes: Vec::with_capacity(columns * (up + 1)),
        columns,
        elements: Vec::with_capacity(across * up),
    };
    for row in 0..=up {
        for column in 0..columns {
            let (u, v) = (column as f64 / across as f64, row as f64 / up as f64);
            let axes = Quaternion::from_matrix(&surface_axes(&surface, u, v));
            let motion = Motion::at_rest(surface(u, v), axes);
            grid.nodes
                .push(model.node(format!("{name}.{column}.{row}"), motion));
        }
    }
    for row in 0..up {
        for column in 0..across {
            let next = (column + 1) % columns;
            let nodes = [
                (column, row),
                (next, row),
                (next, row + 1),
                (column, row + 1),
            ]
            .map(|(i, j)| grid.node(i, j));
            let normals = nodes.map(|node| model.nodes[node.0].initial.rotation.column(2));
            let shell = Shell4::with_directors(model, nodes, normals, &mesh.section)?;
            add_bodies(model, nodes, mesh.inertia);
            let id = model.element(format!("{name}.element {column}.{row}"), shell);
            grid.elements.push(id);
        }
    }
    Ok(grid)
}

fn add_bodies(model: &mut Model, nodes: [NodeId; 4], inertia: SurfaceInertia) {
    let motions = nodes.map(|node| model.nodes[node.0].initial);
    for i in 0..4 {
        let from_node = |k: usize| {
            let arm = motions[(i + k) % 4].position - motions[i].position;
            motions[i].rotation.transpose_mul(arm)
        };
        model.body(nodes[i], quarter([0, 1, 2, 3].map(from_node), inertia));
    }
}

/// Axes on a surface: the first along the first parameter, the third normal.
fn surface_axes(surface: impl Fn(f64, f64) -> Vec3, u: f64, v: f64) -> Mat3 {
    let along = derivative(|u| surface(u, v), u);
    let normal = along.cross(derivative(|v| surface(u, v), v)).unit();
    let first = along.unit();
    Mat3::from_columns(first, normal.cross(first), normal)
}

/// By differences of second order that stay between 0 and 1.
fn derivative(f: impl Fn(f64) -> Vec3, at: f64) -> Vec3 {
    const STEP: f64 = 1e-5;
    let h = if at < 0.5 { STEP } else { -STEP };
    (f(at + h) * 4.0 - f(at) * 3.0 - f(at + 2.0 * h)) * (0.5 / h)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, Inertia};

    /// A plate a × b: mass, centre and inertia about a corner are exact on any mesh.
    #[test]
    fn patches_have_the_inertia_of_the_plate() {
        let (a, b, thickness, density) = (0.8, 0.5, 0.02, 1200.0);
        let mesh = ShellMesh {
            divisions: [3, 2],
            closed: false,
            section: ShellSection::isotropic(1e9, 0.3, thickness),
            inertia: SurfaceInertia::uniform(density, thickness),
        };
        let mut model = Model::new();
        // Uneven lines of the mesh.
        let surface = |u: f64, v: f64| Vec3::new(a * u * (0.5 + 0.5 * u), b * v, 0.0);
        mapped_shell(&mut model, "plate", &mesh, surface).unwrap();
        let mut total = Inertia::default();
        for (node, body) in &model.bodies {
            let motion = &model.nodes[node.0].initial;
            let turned = motion.rotation * body.inertia * motion.rotation.transpose();
            let at = motion.position + motion.rotation * body.centre;
            total.add(&Body::centred(body.mass, turned).with_centre(at));
        }
        let mass = density * thickness * a * b;
        let near = |found: f64, expected: f64| {
            assert!((found / expected - 1.0).abs() < 1e-13, "{found} {expected}");
        };
        near(total.mass, mass);
        near(total.first[0], 0.5 * mass * a);
        near(total.first[1], 0.5 * mass * b);
        let thin = mass * thickness * thickness / 12.0;
        near(total.second.0[0][0], mass * b * b / 3.0 + thin);
        near(total.second.0[1][1], mass * a * a / 3.0 + thin);
        near(total.second.0[2][2], mass * (a * a + b * b) / 3.0);
        near(total.second.0[0][1], -0.25 * mass * a * b);
    }
}
