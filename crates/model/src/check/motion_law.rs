//! How a part that steps velocities follows a prescribed motion.

use oldham_cosim::MotionLaw;

use super::Checker;
use crate::format::{self, LawName, LawWeights};

impl Checker<'_> {
    /// The law that is meant, if its weights are numbers.
    pub(super) fn motion_law(&mut self, given: &format::MotionLaw) -> Option<MotionLaw> {
        let weights = match given {
            format::MotionLaw::Named(LawName::Original) => return Some(MotionLaw::Original),
            format::MotionLaw::Named(LawName::Index1) => return Some(MotionLaw::INDEX_1),
            format::MotionLaw::Named(LawName::Index2) => return Some(MotionLaw::INDEX_2),
            format::MotionLaw::Named(LawName::Index3) => return Some(MotionLaw::INDEX_3),
            format::MotionLaw::Weights(weights) => weights,
        };
        self.weighted_law(weights)
    }

    /// The law of these weights.
    pub(super) fn weighted_law(&mut self, weights: &LawWeights) -> Option<MotionLaw> {
        let alpha = self.number(weights.alpha.as_ref()?)?;
        let beta = self.number_or(&weights.beta, 0.0)?;
        let gamma = self.number_or(&weights.gamma, 0.0)?;
        Some(MotionLaw::baumgarte(alpha, beta, gamma))
    }
}
