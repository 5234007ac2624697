//! Implicit integrators: backward Euler, and the two-step method with its starting step.

use oldham_cosim::Visitor;
use oldham_cosim::{Counters, StepError};
use oldham_cosim::{Inputs, TwoStep};

use super::Step;
use super::differentiated::DifferentiatedNodes;
use super::newton::Newton;
use super::schur::Schur;
use super::shift::Shift;
use crate::plant::Plant;

/// Nothing is known of the start yet.
const NEW: u64 = 0;
/// The accelerations at the start are those of the exchange there.
const READY: u64 = 1;
const MOVING: u64 = 2;

/// An implicit formula, the history it needs, and the solver of its equations.
#[derive(Clone, Debug)]
pub(crate) struct Implicit {
    scheme: TwoStep,
    /// What the formula needs of the step before; none for a one-step formula without old rates.
    history: Option<History>,
    differentiated: DifferentiatedNodes,
    /// How far it is: new, ready, moving.
    phase: u64,
    newton: Newton,
    /// The tangent that is sent.
    schur: Option<Schur>,
    /// Weight of the new rate in the last step, times the step size.
    rate_weight: f64,
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
    /// What a jump of held loads does to it.
    shift: Shift,
}

impl Implicit {
    pub(crate) fn backward_euler(plant: &Plant) -> Self {
        Self {
            scheme: TwoStep::BACKWARD_EULER,
            history: None,
            differentiated: DifferentiatedNodes::new(plant),
            phase: NEW,
            newton: Newton::new(plant),
            schur: Schur::new(plant),
            rate_weight: 0.0,
        }
    }

    pub(crate) fn lms2(rho: f64, plant: &Plant) -> Self {
        let own = plant.own();
        Self {
            scheme: TwoStep::lms2(rho),
            history: Some(History {
                depth: 0,
                step: 0.0,
                a: vec![0.0; own],
                before: [(); 3].map(|()| vec![0.0; own]),
                shift: Shift::new(own),
            }),
            differentiated: DifferentiatedNodes::new(plant),
            phase: NEW,
            newton: Newton::new(plant),
            schur: Schur::new(plant),
            rate_weight: 0.0,
        }
    }

    pub(crate) fn sharpen(&mut self) {
        self.newton.sharpen();
    }

    pub(crate) fn restart(&mut self) {
        self.phase = NEW;
        if let Some(history) = &mut self.history {
            history.depth = 0;
        }
    }

    /// After the memory was changed from outside, the plant must follow.
    pub(crate) fn settle(&self, plant: &mut Plant) {
        self.differentiated.place(plant);
    }

    pub(crate) fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.differentiated.visit(visitor);
        visitor.count(&mut self.phase);
        if let Some(history) = &mut self.history {
            visitor.vector(&mut history.a);
            for values in &mut history.before {
                visitor.vector(values);
            }
            visitor.fixed(std::slice::from_mut(&mut history.step));
            visitor.count(&mut history.depth);
        }
    }

    /// Changes with the tangent, if there is one.
    pub(crate) fn tangent_version(&self) -> Option<u64> {
        self.schur.as_ref().map(Schur::version)
    }

    /// The tangent of the forces on position-driven boundary nodes, row by row.
    pub(crate) fn tangent(&self) -> &[f64] {
        self.schur.as_ref().map_or(&[], Schur::tangent)
    }

    /// Before the first step: position-driven boundary nodes have the rates that were received, and accelerations are
    /// such that all parts agree on them.
    pub(crate) fn start(
        &mut self,
        plant: &mut Plant,
        t: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        if self.phase == MOVING {
            return Ok(());
        }
        self.differentiated.start(plant);
        if plant.tangents.is_empty() {
            plant.accelerate(t)?;
        } else {
            self.newton.start(plant, t, counters)?;
        }
        self.remember(plant);
        if let Some(schur) = &mut self.schur {
            let factors = self.newton.factors(plant, t, 0.0, counters)?;
            schur.find(plant, t, 0.0, factors);
        }
        self.phase = READY;
        Ok(())
    }

    /// The inputs at the end of the last step are others by a little: one correction finds it again.
    pub(crate) fn correct(
        &mut self,
        plant: &mut Plant,
        t: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        let g = self.rate_weight;
        self.differentiated.correct(plant, g);
        if self.schur.is_none() {
            self.newton.factors(plant, t, g, counters)?;
        }
        self.newton.correct(plant, t, g, counters)?;
        self.remember(plant);
        Ok(())
    }

    pub(crate) fn step(
        &mut self,
        plant: &mut Plant,
        step: Step,
        inputs: &mut Inputs,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        let jumps = self.takes_jump();
        if self.phase == NEW || (jumps && self.phase == READY) {
            self.start(plant, step.from, counters)?;
        }
        let scheme = self.prepare(plant, step, jumps, counters)?;
        self.phase = MOVING;
        plant.receive(step.to, inputs);
        self.differentiated.differentiate(plant, scheme, step.size);
        let g = scheme.rates[0] * step.size;
        self.newton.solve(plant, step.to, g, counters)?;
        if let Some(schur) = &mut self.schur {
            let factors = self.newton.factors(plant, step.to, g, counters)?;
            schur.find(plant, step.to, g, factors);
        }
        self.rate_weight = g;
        self.remember(plant);
        Ok(())
    }

    pub(crate) fn momentum_formula(&self, steps: usize) -> Option<TwoStep> {
        match &self.history {
            None => Some(self.scheme),
            Some(_) if steps > 1 => None,
            Some(history) if history.depth == 0 => Some(TwoStep::CRANK_NICOLSON),
            Some(_) => self.scheme.settling(),
        }
    }

    /// The formula has a past that belongs to the loads before this jump.
    pub(crate) fn expect_jump(&mut self, loads: &[f64]) {
        if let Some(history) = &mut self.history {
            history.shift.expect(loads);
        }
    }

    /// Whether loads have jumped at the start of this step.
    fn takes_jump(&mut self) -> bool {
        let history = self.history.as_mut();
        history.is_some_and(|history| history.shift.take())
    }

    fn remember(&mut self, plant: &Plant) {
        if let Some(history) = &mut self.history {
            history.a.copy_from_slice(&plant.motion.a[..plant.own()]);
        }
    }

    /// Chooses the formula and collects what it takes from the past. Leaves a first guess of the
    /// new accelerations in the plant.
    fn prepare(
        &mut self,
        plant: &mut Plant,
        step: Step,
        jumps: bool,
        counters: &mut Counters,
    ) -> Result<TwoStep, StepError> {
        let own = plant.own();
        let Some(history) = &mut self.history else {
            // A guess that needs no memory keeps the method a one-step method to the last bit.
            plant.motion.a[..own].fill(0.0);
            self.newton.collect(plant, self.scheme, step.size, None);
            return Ok(self.scheme);
        };
        let scheme = if history.depth > 0 && history.step == step.size {
            self.scheme
        } else {
            TwoStep::CRANK_NICOLSON
        };
        // What has arrived since the start belongs to the end of the first step.
        if scheme == self.scheme || self.phase == READY {
            plant.motion.a[..own].copy_from_slice(&history.a);
        } else {
            plant.accelerate(step.from)?;
        }
        let before = Some(&history.before);
        self.newton.collect(plant, scheme, step.size, before);
        if jumps && scheme == self.scheme {
            let g = scheme.rates[0] * step.size;
            self.newton.factors(plant, step.from, g, counters)?;
            self.newton
                .shift(plant, &mut history.shift, scheme, step.size);
        }
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
