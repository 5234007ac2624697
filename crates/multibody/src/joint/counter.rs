//! Counts the turns of an angle, for sensors and ports: it exerts nothing.

use super::{Coordinate, Ends};
use crate::element::{At, Element, Jacobian, References, Residual, Weights, refer_nodes};
use crate::node::{Marker, NodeId};

/// The angle between two markers about the third axis of the first, which a joint keeps common to
/// both. It is between -π and π at the start; from there on whole turns count.
#[derive(Clone, Debug)]
pub struct AngleCounter {
    ends: Ends,
}

impl AngleCounter {
    /// Between two markers.
    pub fn new(ends: [Marker; 2]) -> Self {
        Self {
            ends: Ends::of(ends),
        }
    }

    /// The angle, over any number of turns.
    pub(crate) fn angle(&self, at: &At<'_>) -> f64 {
        Coordinate::Angle.value(&self.ends.geometry(at), at.memory[0])
    }
}

impl Element for AngleCounter {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
    }

    /// The angle.
    fn memory(&self) -> usize {
        1
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        memory[0] = self.angle(at);
    }

    fn residual(&self, _: &At<'_>, _: &mut Residual<'_>) {}

    fn jacobian(&self, _: &At<'_>, _: Weights, _: &mut Jacobian<'_>) {}

    fn is_conservative(&self) -> bool {
        true
    }
}
