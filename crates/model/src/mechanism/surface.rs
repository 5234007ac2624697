//! Surfaces with two parameters from 0 to 1.

use oldham_expression::Expression;
use oldham_multibody::{Model, ShellError, ShellGrid, ShellMesh, Vec3, mapped_shell};

use super::Pose;

/// A surface in space.
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    /// A corner, and the sides from there.
    Parallelogram([Vec3; 3]),
    /// Expressions of both parameters, in a frame.
    Formula(Pose, Box<[Expression; 3]>),
}

impl Surface {
    pub fn at(&self, u: f64, v: f64) -> Vec3 {
        match self {
            Self::Parallelogram([corner, along, across]) => *corner + *along * u + *across * v,
            Self::Formula(frame, components) => {
                let [x, y, z] = &**components;
                let point = [x, y, z].map(|component| component.eval(&[u, v]));
                frame.point(Vec3::new(point[0], point[1], point[2]))
            }
        }
    }
}

/// A shell and its mesh.
#[derive(Clone, Debug)]
pub(crate) struct ShellSpec {
    pub name: String,
    pub mesh: ShellMesh,
    pub surface: Surface,
}

impl ShellSpec {
    /// Why it cannot be meshed, if it cannot.
    pub fn trial(&self) -> Result<(), String> {
        let [across, up] = self.mesh.divisions;
        for (i, j) in (0..=across).flat_map(|i| (0..=up).map(move |j| (i, j))) {
            let (u, v) = (i as f64 / across as f64, j as f64 / up as f64);
            if !self.surface.at(u, v).norm().is_finite() {
                return Err(format!("the surface has no point at u = {u}, v = {v}"));
            }
        }
        let made = self.mesh_into(&mut Model::new());
        made.map(drop).map_err(|error| error.to_string())
    }

    /// Adds its nodes, bodies and elements.
    pub fn mesh_into(&self, model: &mut Model) -> Result<ShellGrid, ShellError> {
        let surface = |u: f64, v: f64| self.surface.at(u, v);
        mapped_shell(model, &self.name, &self.mesh, surface)
    }
}
