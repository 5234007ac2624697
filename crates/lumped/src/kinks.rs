//! Steps that end where a force law changes.
//!
//! A one-step method of high order keeps its order only where forces are smooth. A step over a kink or a jump is
//! therefore divided there: the instant is found by bisection, since all that an expression tells is on which
//! side it is. Kinks that are entered and left again within one step are not seen.

use oldham_cosim::{Inputs, StepError};

use crate::integrator::Step;
use crate::subsystem::Lumped;

/// The instant is known to 2⁻³⁰ of a step.
const HALVINGS: usize = 30;
/// Kinks within one step; what is left after so many is taken at once.
const MOST_KINKS: usize = 8;

/// The motion at the start of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct StepStart {
    x: Vec<f64>,
    v: Vec<f64>,
}

impl StepStart {
    pub fn new(own: usize) -> Self {
        let zeros = || vec![0.0; own];
        Self {
            x: zeros(),
            v: zeros(),
        }
    }
}

impl Lumped {
    /// Takes a step in pieces that end at the kinks on its way.
    #[inline(never)]
    pub(crate) fn step_over_kinks(
        &mut self,
        whole: Step,
        inputs: &mut Inputs,
    ) -> Result<(), StepError> {
        let mut rest = whole;
        for _ in 0..MOST_KINKS {
            self.keep_start();
            let side = self.plant.equations.sides(rest.from, &self.plant.motion);
            self.step_from_start(rest, inputs)?;
            let end = self.plant.equations.sides(rest.to, &self.plant.motion);
            if end == side {
                self.return_to_start();
                return self.accepted_step(rest, inputs);
            }
            let [mut low, mut high] = [0.0, 1.0];
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                self.return_to_start();
                let part = piece(rest, middle);
                self.step_from_start(part, inputs)?;
                match self.plant.equations.sides(part.to, &self.plant.motion) == side {
                    true => low = middle,
                    false => high = middle,
                }
            }
            // With the old law up to it, then just beyond, where the new one holds.
            let [before, beyond] = [low, high].map(|part| piece(rest, part));
            self.return_to_start();
            self.accepted_step(before, inputs)?;
            self.accepted_step(after(before, beyond), inputs)?;
            self.counters.events += 1;
            rest = after(beyond, rest);
        }
        self.accepted_step(rest, inputs)
    }

    /// A step whose work counts.
    fn accepted_step(&mut self, step: Step, inputs: &mut Inputs) -> Result<(), StepError> {
        self.plant.receive_at_start(step.from, inputs);
        self.count_work(step)?;
        self.take(step, inputs)
    }

    fn step_from_start(&mut self, step: Step, inputs: &mut Inputs) -> Result<(), StepError> {
        self.plant.receive_at_start(step.from, inputs);
        self.take(step, inputs)
    }

    fn keep_start(&mut self) {
        let own = self.plant.own();
        self.start.x.copy_from_slice(&self.plant.motion.x[..own]);
        self.start.v.copy_from_slice(&self.plant.motion.v[..own]);
    }

    fn return_to_start(&mut self) {
        let own = self.plant.own();
        self.plant.motion.x[..own].copy_from_slice(&self.start.x);
        self.plant.motion.v[..own].copy_from_slice(&self.start.v);
        self.plant.moved();
    }
}

/// What is left of a step after a part of it.
fn after(part: Step, whole: Step) -> Step {
    Step {
        from: part.to,
        to: whole.to,
        size: whole.size - part.size,
    }
}

/// The first part of a step.
fn piece(step: Step, part: f64) -> Step {
    Step {
        from: step.from,
        to: step.from + part * (step.to - step.from),
        size: part * step.size,
    }
}
