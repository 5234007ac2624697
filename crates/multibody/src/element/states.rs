//! States that an element has besides the motion of its nodes, as a linear model sees them.

use super::At;
use crate::node::{Motion, NodeId};
use oldham_space::Vec3;

/// One state of an element, linearised: the element's forces at `elapsed` zero depend on it, and it
/// has a rate. Nodes are in the order of [`Element::nodes`](super::Element::nodes), six components each: of the
/// position, then of the rotation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InternalState {
    /// Its name within the element, such as `branch1`.
    pub name: String,
    /// Its place in what the element remembers.
    pub place: usize,
    /// Derivatives of its rate by the states of the element, in their order.
    pub by_states: Vec<f64>,
    /// Derivatives of its rate by the poses of the nodes.
    pub by_poses: Vec<[f64; 6]>,
    /// Derivatives of its rate by the velocities and angular velocities of the nodes.
    pub by_velocities: Vec<[f64; 6]>,
    /// Derivatives of the forces and moments on the nodes by it.
    pub forces: Vec<[f64; 6]>,
}

/// Why an element has no linear model at a state, as the end of a sentence that begins with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLinear(pub &'static str);

/// Of an element that depends on its past and does not say how.
pub(super) const UNKNOWN: NotLinear =
    NotLinear("remembers its past and does not say how that changes");
/// Of friction that sticks under load.
pub const STICKS: NotLinear = NotLinear(
    "sticks under load: its bristles answer differently to a motion with the load and against it",
);
/// Of hysteresis at rest under load.
pub(super) const TURNS: NotLinear = NotLinear(
    "rests on its loop of hysteresis: it answers differently to loading and to unloading",
);

/// Step of differences by rotations; by positions it is times a length of the element.
const STEP: f64 = 1e-3;

/// Derivatives of some values by the poses of nodes, by differences of fourth order; `length` is typical
/// of the element. Of each value the nodes, six components each.
pub fn by_poses<const N: usize>(
    at: &At<'_>,
    nodes: &[NodeId],
    length: f64,
    values: impl Fn(&At<'_>) -> [f64; N],
) -> [Vec<[f64; 6]>; N] {
    let mut motions: Vec<Motion> = at.motions.to_vec();
    let mut found: [Vec<[f64; 6]>; N] = std::array::from_fn(|_| vec![[0.0; 6]; nodes.len()]);
    for (place, &node) in nodes.iter().enumerate() {
        let kept = motions[node.0];
        for component in 0..6 {
            let step = STEP * if component < 3 { length } else { 1.0 };
            for (times, weight) in [(1.0, 8.0), (-1.0, -8.0), (2.0, -1.0), (-2.0, 1.0)] {
                let mut change = [Vec3::ZERO; 2];
                change[component / 3][component % 3] = times * step;
                motions[node.0] = kept.displaced(change[0], change[1]);
                let changed = At {
                    motions: &motions,
                    ..*at
                };
                for (found, value) in found.iter_mut().zip(values(&changed)) {
                    found[place][component] += weight * value / (12.0 * step);
                }
            }
            motions[node.0] = kept;
        }
    }
    found
}
