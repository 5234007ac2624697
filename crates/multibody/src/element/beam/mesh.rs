//! Beams along lines: nodes, bodies and elements in one go.

use super::{Beam3, Section};
use crate::body::Body;
use crate::math::{Mat3, Vec3};
use crate::model::Model;
use crate::node::{Motion, NodeId};
use crate::rotation::Quaternion;

/// Mass and rotary inertia of a beam per metre, in section axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineInertia {
    /// Mass per metre.
    pub mass: f64,
    /// Rotary inertia per metre about the section axes.
    pub rotary: [f64; 3],
}

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
    /// Inertia, lumped at the nodes in proportion to the length between midpoints.
    pub inertia: LineInertia,
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
        let is_end = i == 0 || i == count - 1;
        let length = if is_end { 0.5 * spacing } else { spacing };
        let [x, y, z] = mesh.inertia.rotary.map(|j| j * length);
        let body = Body::centred(mesh.inertia.mass * length, Mat3::diagonal(x, y, z));
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
