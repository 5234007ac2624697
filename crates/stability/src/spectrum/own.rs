//! Modes that the model has without the coupling.

use super::{EigenMode, Spectrum, THRESHOLD, Way};

/// Growth and turn of a mode in a step that the step resolves.
const RESOLVED: f64 = 0.3;
/// Turn in a period of which it is known how often it goes round.
const UNAMBIGUOUS: f64 = 2.0;
/// Growth and turn of a drift in a period.
const SLOW: f64 = 1e-2;
/// Relative difference of poles up to which they belong to the same motion.
pub(crate) const ALIKE: f64 = 0.1;

/// Relative difference of their growth.
pub(crate) const SAME_GROWTH: f64 = 0.2;
/// The same for a pole and what it tends to as the step shrinks: what the coupling adds to a growth of
/// the model's own is less than that.
const SAME_LIMIT: f64 = 0.5;

impl Spectrum {
    /// Whether some modes grow or may grow so slowly that the step resolves them: they could be
    /// motions that the model has without the coupling.
    pub fn may_grow_by_itself(&self) -> bool {
        self.modes.iter().any(|mode| self.is_slow_growth(mode))
    }

    fn is_slow_growth(&self, mode: &EigenMode) -> bool {
        let turn = (self.pole(mode) * self.duration).norm();
        let drifts = mode.value.norm() + mode.error > 1.0 + THRESHOLD && turn < SLOW;
        // The period of what samples may be many steps; a turn near half a circle in it may be a faster one.
        let in_a_step = turn * self.step / self.duration;
        drifts || (mode.is_growing() && in_a_step < RESOLVED && turn < UNAMBIGUOUS)
    }

    /// Sets modes aside that another simulation of the same motion has too, one without the
    /// coupling or with a shorter step: that they grow, or that it is not known whether they do, is
    /// no matter of the coupling.
    pub fn set_aside(&mut self, reference: &Self) {
        // With a shorter step what the exchange makes grow grows less, the shorter the step is: so
        // the limit of no step at all is compared.
        let ratio = self.step / reference.step;
        let (alike, same, beyond) = match ratio > 1.5 {
            true => (SAME_LIMIT, SAME_LIMIT, ratio / (ratio - 1.0)),
            false => (ALIKE, SAME_GROWTH, 1.0),
        };
        let has = |mode: &EigenMode| {
            let pole = self.pole(mode);
            let near = |other: &EigenMode| {
                let errors = mode.error / self.duration + other.error / reference.duration;
                let errors = errors * beyond;
                let off = (reference.pole(other) - pole) * beyond;
                // A mode that the exchange makes grow is there without it, too, and does not grow.
                off.norm() <= alike * pole.norm() + errors
                    && off.re.abs() <= same * pole.re.abs() + errors
            };
            // What grows in a reference without coupling is its own there, too.
            let mut there = reference.modes.iter().chain(&reference.own);
            self.is_slow_growth(mode) && there.any(near)
        };
        let (own, coupled): (Vec<EigenMode>, Vec<EigenMode>) =
            self.modes.iter().partition(|m| has(m));
        if own.is_empty() {
            return;
        }
        let is_other = coupled.first().map(|m| m.value) != self.modes.first().map(|m| m.value);
        if is_other {
            self.source.mode = None;
        }
        if let Way::Frequency { .. } = self.way {
            let far = |mode: &EigenMode| mode.value.norm() + mode.error;
            self.reach = coupled.iter().map(far).fold(1.0 + THRESHOLD, f64::max);
        }
        if matches!(self.way, Way::Dense | Way::Measured { .. }) {
            let far = |mode: &EigenMode| mode.value.norm() + mode.error;
            self.reach = coupled.iter().map(far).fold(0.0, f64::max);
        }
        self.modes = coupled;
        self.own.extend(own);
        self.own
            .sort_by(|a, b| b.value.norm().total_cmp(&a.value.norm()));
    }

    /// Growing modes that were set aside.
    pub fn own_modes(&self) -> &[EigenMode] {
        &self.own
    }
}
