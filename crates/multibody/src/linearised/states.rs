//! The states that elements have besides the motion of nodes, placed in the whole.

use super::Entry;
use super::exact::by_rotation;
use crate::assembly::{Assembly, EvaluationPoint};
use crate::node::NodeId;

/// An element that has no linear model here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlinear {
    /// Its name.
    pub element: String,
    /// Why, as the end of a sentence that begins with it.
    pub reason: &'static str,
}

/// States s with s' = `by_states` s + `by_pose` q + `by_velocity` q', where q are changes of the poses of nodes;
/// entries count states from zero. They add `forces` s to M q'' + D q' + K q.
#[derive(Clone, Debug, Default)]
pub(crate) struct PlacedStates {
    pub names: Vec<String>,
    /// Where each is in the memory of all elements.
    pub memory: Vec<usize>,
    pub by_states: Vec<Entry>,
    pub by_pose: Vec<Entry>,
    pub by_velocity: Vec<Entry>,
    pub forces: Vec<Entry>,
}

impl PlacedStates {
    pub fn at(assembly: &Assembly, at: &EvaluationPoint<'_>) -> Result<Self, Unlinear> {
        let mut all = Self::default();
        for placed in &assembly.elements {
            let found = placed
                .element
                .internal_states(&at.of(placed, &assembly.elements));
            let found = found.map_err(|reason| Unlinear {
                element: placed.name.clone(),
                reason: reason.0,
            })?;
            let first = all.names.len();
            for state in found {
                let row = all.names.len();
                all.names.push(format!("{}.{}", placed.name, state.name));
                all.memory.push(placed.memory.start + state.place);
                let own = state.by_states.iter().enumerate();
                let own = own.filter(|(_, value)| **value != 0.0);
                all.by_states
                    .extend(own.map(|(j, value)| (row, first + j, *value)));
                for (i, &node) in placed.element.nodes().iter().enumerate() {
                    if node == NodeId::GROUND {
                        continue;
                    }
                    for k in 0..6 {
                        let column = 6 * (node.0 - 1) + k;
                        let add = |to: &mut Vec<Entry>, value: f64, is_row: bool| {
                            let place = if is_row { (row, column) } else { (column, row) };
                            if value != 0.0 {
                                to.push((place.0, place.1, value));
                            }
                        };
                        add(&mut all.by_pose, state.by_poses[i][k], true);
                        add(&mut all.by_velocity, state.by_velocities[i][k], true);
                        add(&mut all.forces, -state.forces[i][k], false);
                    }
                }
            }
        }
        let more = by_rotation(&all.by_velocity, at.motions);
        all.by_pose.extend(more);
        Ok(all)
    }

    pub fn count(&self) -> usize {
        self.names.len()
    }
}
