//! Beams along lines: nodes, bodies and elements in one go.

use super::lumping::{LineInertia, LineSample, Lumping, straight_segment};
use super::{Beam3, Section};
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_space::Quaternion;
use oldham_space::{Mat3, Vec3};

/// A straight beam of three-node elements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BeamMesh {
    /// First end.
    pub from: Vec3,
    /// Second end.
    pub to: Vec3,
    /// Direction of the section's second axis.
    pub up: Vec3,
    /// Number of elements.
    pub elements: usize,
    /// Cross-section.
    pub section: Section,
    /// Inertia; each node carries the length between midpoints.
    pub inertia: LineInertia,
    /// What of that length a node carries.
    pub lumping: Lumping,
}

/// Adds a straight beam to a model: nodes named `name.0`, `name.1`, …, whose first axis points
/// along the beam, and the elements between them. Returns the nodes in order.
pub fn straight_beam(model: &mut Model, name: &str, mesh: &BeamMesh) -> Vec<NodeId> {
    let count = 2 * mesh.elements + 1;
    let line = mesh.to - mesh.from;
    let spacing = line.norm() / (count - 1) as f64;
    let axes = {
        let first = line.unit();
        let third = first.cross(mesh.up).unit();
        Mat3::from_columns(first, third.cross(first), third)
    };
    let orientation = Quaternion::from_matrix(&axes);
    let mut nodes = Vec::with_capacity(count);
    for i in 0..count {
        let place = mesh.from + line * (i as f64 / (count - 1) as f64);
        let node = model.node(format!("{name}.{i}"), Motion::at_rest(place, orientation));
        let before = if i == 0 { 0.0 } else { 0.5 * spacing };
        let after = if i == count - 1 { 0.0 } else { 0.5 * spacing };
        let body = match mesh.lumping {
            Lumping::Segments => {
                let samples = straight_segment(-before, after, Mat3::IDENTITY);
                mesh.inertia.body(&samples)
            }
            Lumping::Points => mesh.inertia.body(&[LineSample {
                length: before + after,
                place: Vec3::ZERO,
                axes: Mat3::IDENTITY,
            }]),
        };
        model.body(node, body);
        nodes.push(node);
    }
    for i in 0..mesh.elements {
        let ends = [nodes[2 * i], nodes[2 * i + 1], nodes[2 * i + 2]];
        let beam = Beam3::new(model, ends, mesh.section, mesh.up);
        model.element(format!("{name}.element {i}"), beam);
    }
    nodes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, Inertia};

    /// Mass, first and second moments of all bodies about the origin, in absolute axes.
    fn total(model: &Model) -> Inertia {
        let mut total = Inertia::default();
        for (node, body) in &model.bodies {
            let motion = &model.nodes[node.0].initial;
            let turned = motion.rotation * body.inertia * motion.rotation.transpose();
            let at = motion.position + motion.rotation * body.centre;
            total.add(&Body::centred(body.mass, turned).with_centre(at));
        }
        total
    }

    /// A straight rod from the origin: m L, m L²/2, m L³/3 and the sections' own inertia.
    #[test]
    fn segments_have_the_inertia_of_the_rod() {
        let (mass, rotary, length) = (5.0, [0.1, 0.05, 0.07], 24.0);
        for elements in [1, 3, 4] {
            let mut model = Model::new();
            let mesh = BeamMesh {
                from: Vec3::ZERO,
                to: Vec3::Z * length,
                up: Vec3::Y,
                elements,
                section: Section::diagonal([1.0; 6]),
                inertia: LineInertia { mass, rotary },
                lumping: Lumping::Segments,
            };
            straight_beam(&mut model, "rod", &mesh);
            let found = total(&model);
            let near = |found: f64, expected: f64| {
                assert!((found / expected - 1.0).abs() < 1e-14, "{found} {expected}");
            };
            near(found.mass, mass * length);
            near(found.first[2], 0.5 * mass * length * length);
            let swing = mass * length.powi(3) / 3.0;
            // Section axes are z, y, -x.
            near(found.second.0[0][0], swing + rotary[2] * length);
            near(found.second.0[1][1], swing + rotary[1] * length);
            near(found.second.0[2][2], rotary[0] * length);
        }
    }
}
