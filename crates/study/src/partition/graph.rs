//! A mechanism as the graph that is to be separated.

use oldham_multibody::cut::Outline;
use oldham_separator::{Cost, Graph, Link, Vertex};

use super::CostTable;

/// Tightness of what does not give at all.
const RIGID: f64 = 1e9;

/// Picoseconds: whole numbers, so that sums are the same in any order.
pub(super) fn picoseconds(microseconds: f64) -> Cost {
    (microseconds.max(0.0) * 1e6).round() as Cost
}

pub(super) fn microseconds(cost: Cost) -> f64 {
    cost as f64 * 1e-6
}

/// The graph of a mechanism; nodes may be forbidden besides those that no cut can be at. `stiffness` has what
/// each element answers to displacements, `step` is that of the integrator.
pub(super) fn graph(
    outline: &Outline,
    costs: &CostTable,
    stiffness: &[f64],
    step: f64,
    forbidden: &[bool],
) -> Graph {
    let nodes = outline.nodes.iter().zip(forbidden);
    let vertices = nodes.map(|(node, is_forbidden)| Vertex {
        in_part: picoseconds(costs.part * costs.node),
        in_separator: picoseconds(costs.interface),
        copy: picoseconds(costs.copy),
        may_separate: node.obstacle.is_none() && !is_forbidden,
    });
    let elements = outline.elements.iter().enumerate();
    let links = elements.filter_map(|(place, element)| {
        // An element and what its sensors read belong into one part.
        let mut vertices = [&element.nodes[..], &element.reads].concat();
        vertices.sort_unstable();
        let masses = element.nodes.iter().map(|&node| outline.nodes[node].mass);
        let lightest = masses.fold(f64::INFINITY, f64::min);
        let stiffness = stiffness.get(place).copied().unwrap_or(0.0);
        let tightness = stiffness * step * step / lightest;
        (!vertices.is_empty()).then(|| Link {
            vertices,
            cost: picoseconds(costs.part * costs.of(&element.kind)),
            tightness: match tightness.is_finite() {
                true => tightness.min(RIGID),
                false => RIGID,
            },
        })
    });
    Graph {
        vertices: vertices.collect(),
        links: links.collect(),
    }
}
