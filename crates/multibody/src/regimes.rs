//! Laws with limits in Newton's iteration.
//!
//! Newton's method alone jumps from one side of a steep law with limits to the other and back: beyond a limit the
//! derivative says nothing of how steep it is between. So an iteration assumes of each such element on which side of its
//! limits it is, solves with the law of that side as if there were no other, and then looks whether that was right. From
//! beyond one limit the way to the other leads through the law between, as with sticking and slipping contacts. A
//! step ends when all assumptions hold.

use crate::assembly::EvaluationPoint;
use crate::system::{System, Work};

impl System {
    /// Assumes the laws that hold where the step begins. Gives whether the factors at hand are those of others.
    pub(crate) fn begin_regimes(&mut self, inputs: &[f64]) -> bool {
        if self.assembly.limited.is_empty() {
            return false;
        }
        let Self {
            assembly,
            state,
            work,
            multipliers,
            ..
        } = self;
        let Work {
            recorded, regimes, ..
        } = work;
        recorded.clear();
        recorded.extend(state.now.iter().map(|record| record.motion));
        let at = EvaluationPoint::new(state.time, recorded, multipliers, inputs, &state.memory);
        for (regime, &index) in regimes.iter_mut().zip(&assembly.limited) {
            let placed = &assembly.elements[index];
            *regime = placed.element.regime(&at.of(placed, &assembly.elements));
        }
        state.factored_at.regimes(regimes.len()) != regimes.as_slice()
    }

    /// Assumes what the trial state says. Gives whether that is something else.
    pub(crate) fn follow_regimes(&mut self, time: f64, h: f64, inputs: &[f64]) -> bool {
        if self.assembly.limited.is_empty() {
            return false;
        }
        let Self {
            assembly,
            state,
            work,
            motions,
            multipliers,
            ..
        } = self;
        let at = EvaluationPoint::new(time, motions, multipliers, inputs, &state.memory).after(h);
        let mut switches = false;
        for (regime, &index) in work.regimes.iter_mut().zip(&assembly.limited) {
            let placed = &assembly.elements[index];
            let mut here = at.of(placed, &assembly.elements);
            here.assumed = Some(*regime);
            let next = placed.element.regime(&here);
            switches |= next != *regime;
            *regime = next;
        }
        switches
    }
}
