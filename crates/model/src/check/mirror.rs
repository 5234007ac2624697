//! Which boundary nodes are mirrored: displacement feeds displacement on both sides.

use std::collections::HashSet;

use oldham_lumped::{BoundaryIndex, NodeRef, PortKind};

use super::part::Checked;
use crate::model::{ConnectionSpec, Content};

/// Where two parts move boundary nodes of each other and send no force on them, both have a copy of what
/// is between, and each accounts for half of its energy.
pub(super) fn mark_mirrored(parts: &mut [Checked], connections: &[ConnectionSpec]) {
    let sent: HashSet<_> = connections
        .iter()
        .filter_map(|connection| boundary_of_force(parts, connection))
        .collect();
    let silent: Vec<_> = connections
        .iter()
        .filter_map(|connection| {
            let (part, boundary) = boundary_of_motion(parts, connection)?;
            (!sent.contains(&(part, boundary))).then_some((part, boundary, connection.from.0))
        })
        .collect();
    let pairs: HashSet<_> = silent
        .iter()
        .map(|&(part, _, owner)| (part, owner))
        .collect();
    for (part, boundary, owner) in silent {
        if let Some(part_of_boundary) = &mut parts[part].part
            && let Content::Lumped(spec) = &mut part_of_boundary.content
        {
            spec.boundary_nodes[boundary.0].mirrored = pairs.contains(&(owner, part));
        }
    }
}

/// The boundary node on which a connection sends the force, with its part.
fn boundary_of_force(
    parts: &[Checked],
    connection: &ConnectionSpec,
) -> Option<(usize, BoundaryIndex)> {
    let (sender, output) = connection.from;
    let spec = parts[sender].part.as_ref()?.lumped()?;
    let port = spec.outputs.get(output.0)?;
    match (port.kind, port.node) {
        (PortKind::Force, NodeRef::Boundary(boundary)) => Some((sender, boundary)),
        _ => None,
    }
}

/// The boundary node that a connection moves, with its part.
fn boundary_of_motion(
    parts: &[Checked],
    connection: &ConnectionSpec,
) -> Option<(usize, BoundaryIndex)> {
    let (receiver, input) = connection.to;
    let spec = parts[receiver].part.as_ref()?.lumped()?;
    match spec.inputs.get(input.0)?.node {
        NodeRef::Boundary(boundary) => Some((receiver, boundary)),
        _ => None,
    }
}
