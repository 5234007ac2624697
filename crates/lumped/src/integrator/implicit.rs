//! Implicit integrators: backward Euler, and the two-step method with its starting step.

use oldham_cosim::Inputs;
use oldham_cosim::Visitor;
use oldham_cosim::{Counters, StepError};

use super::Step;
use super::newton::Newton;
use super::scheme::Scheme;
use super::trace::Trace;
use crate::plant::Plant;

/// An implicit formula, the history it needs, and the solver of its equations.
#[derive(Clone, Debug)]
pub(crate) struct Implicit {
    scheme: Scheme,
    /// What the formula needs of the step before; none for a one-step formula without old rates.
    history: Option<History>,
    trace: Trace,
    /// Whether the trace has its starting rates.
    traced: u64,
    newton: Newton,
}

/// What is remembered besides the present positions and velocities.
#[derive(Clone, Debug)]
struct History {
    /// Points behind the present one: none after a start, then one.
    depth: u64,
    /// Size of the last step: the formula is for equal steps only.
    step: f64,
    /// Acceleration at the present point, as the last step solved for it.
    a: Vec<f64>,
    /// Positions, velocities and accelerations one step back.
    before: [Vec<f64>; 3],
}

impl Implicit {
    pub(crate) fn backward_euler(plant: &Plant) -> Self {
        Self {
            scheme: Scheme::BACKWARD_EULER,
            history: None,
            trace: Trace::new(plant),
            traced: 0,
            newton: Newton::new(plant),
        }
    }

    pub(crate) fn lms2(rho: f64, plant: &Plant) -> Self {
        let own = plant.own();
        Self {
            scheme: Scheme::lms2(rho),
            history: Some(History {
                depth: 0,
                step: 0.0,
                a: vec![0.0; own],
                before: [(); 3].map(|()| vec![0.0; own]),
            }),
            trace: Trace::new(plant),
            traced: 0,
            newton: Newton::new(plant),
        }
    }

    pub(crate) fn restart(&mut self) {
        if let Some(history) = &mut self.history {
            history.depth = 0;
        }
    }

    /// After the memory was changed from outside, the plant must follow.
    pub(crate) fn settle(&self, plant: &mut Plant) {
        self.trace.place(plant);
    }

    pub(crate) fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.trace.visit(visitor);
        visitor.count(&mut self.traced);
        if let Some(history) = &mut self.history {
            visitor.vector(&mut history.a);
            for values in &mut history.before {
                visitor.vector(values);
            }
            visitor.fixed(std::slice::from_mut(&mut history.step));
            visitor.count(&mut history.depth);
        }
    }

    pub(crate) fn step(
        &mut self,
        plant: &mut Plant,
        step: Step,
        inputs: &mut Inputs,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        if self.traced == 0 {
            self.trace.start(plant);
            self.traced = 1;
        }
        let scheme = self.prepare(plant, step)?;
        plant.receive(step.to, inputs);
        self.trace.differentiate(plant, scheme, step.size);
        let rate_weight = scheme.rates[0] * step.size;
        self.newton.solve(plant, step.to, rate_weight, counters)?;
        if let Some(history) = &mut self.history {
            history.a.copy_from_slice(&plant.motion.a[..plant.own()]);
        }
        Ok(())
    }

    /// Chooses the formula and collects what it takes from the past. Leaves a first guess of the
    /// new accelerations in the plant.
    fn prepare(&mut self, plant: &mut Plant, step: Step) -> Result<Scheme, StepError> {
        let own = plant.own();
        let Some(history) = &mut self.history else {
            // A guess that needs no memory keeps the method a one-step method to the last bit.
            plant.motion.a[..own].fill(0.0);
            self.newton.collect(plant, self.scheme, step.size, None);
            return Ok(self.scheme);
        };
        let scheme = if history.depth > 0 && history.step == step.size {
            plant.motion.a[..own].copy_from_slice(&history.a);
            self.scheme
        } else {
            plant.accelerate(step.from)?;
            Scheme::CRANK_NICOLSON
        };
        let before = Some(&history.before);
        self.newton.collect(plant, scheme, step.size, before);
        history.push(plant, step.size);
        Ok(scheme)
    }
}

impl History {
    fn push(&mut self, plant: &Plant, step: f64) {
        let motion = &plant.motion;
        let present = [&motion.x, &motion.v, &motion.a];
        for (before, values) in self.before.iter_mut().zip(present) {
            let own = before.len();
            before.copy_from_slice(&values[..own]);
        }
        self.depth = 1;
        self.step = step;
    }
}
