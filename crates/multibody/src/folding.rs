//! Beam elements that fold.
//!
//! A beam element interpolates the rotations of its nodes against each other, by parameters that
//! grow without bound towards half a turn and come back from the other side beyond it. A beam with
//! hardly any bending stiffness comes there: a step that jumps across is no motion of the beam, so
//! that it is taken again in shorter pieces, and a run that ends near there is told why.

use crate::failure::Failure;
use crate::node::NodeId;
use crate::system::System;
use oldham_space::{Quaternion, Vec3};

/// What has turned by less than a right angle, as the square of its parameters, has not come from
/// beyond half a turn in one step.
const RIGHT_ANGLE: f64 = 4.0;
/// An element that is bent by more than this has folded, in rad.
const FOLDED: f64 = 2.0;

impl System {
    /// The first beam element that passes half a turn from the last accepted state to the trial
    /// state.
    pub(crate) fn find_folded(&self) -> Option<Failure> {
        let next = |node: NodeId| self.motions[node.0].orientation;
        let passes = |&&element: &&usize| {
            let ends = self.turns(element, &next);
            if ends.iter().all(|end| end.dot(*end) < RIGHT_ANGLE) {
                return false;
            }
            let starts = self.turns(element, &|node| self.accepted(node));
            let mut pairs = starts.into_iter().zip(ends);
            // The shorter way between two rotations leads past half a turn.
            pairs.any(|(start, end)| 1.0 + 0.25 * start.dot(end) < 0.0)
        };
        let element = *self.assembly.bending.iter().find(passes)?;
        Some(Failure::Folded { element })
    }

    /// The element that is bent most in the last accepted state, if it is folded, and by how much.
    pub(crate) fn folded_most(&self) -> Option<(usize, f64)> {
        let all = self.assembly.bending.iter();
        let bent = all.map(|&element| (element, self.bend(element)));
        let most = bent.max_by(|a, b| a.1.total_cmp(&b.1))?;
        (most.1 > FOLDED).then_some(most)
    }

    /// The largest angle between nodes of an element in the last accepted state.
    pub(crate) fn bend(&self, element: usize) -> f64 {
        let turns = self.turns(element, &|node| self.accepted(node));
        let angle = |turn: Vec3| 2.0 * (0.5 * turn.norm()).atan();
        turns.into_iter().map(angle).fold(0.0, f64::max)
    }

    fn accepted(&self, node: NodeId) -> Quaternion {
        self.state.now[node.0].motion.orientation
    }

    fn turns(&self, element: usize, orientation: &dyn Fn(NodeId) -> Quaternion) -> [Vec3; 2] {
        let turns = self.assembly.elements[element].element.turns(orientation);
        turns.expect("only elements that bend are listed")
    }
}
