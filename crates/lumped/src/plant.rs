//! The equations together with the present motion and what acts from outside: what the
//! integrators work on.

use oldham_cosim::inputs::Inputs;
use oldham_cosim::subsystem::StepError;

use crate::equations::{Equations, Motion};
use crate::wiring::Wiring;

/// A system in motion.
#[derive(Clone, Debug)]
pub(crate) struct Plant {
    pub equations: Equations,
    pub wiring: Wiring,
    pub motion: Motion,
    /// Forces from input ports, by own node.
    pub applied: Vec<f64>,
    inputs: Vec<f64>,
    /// Room for forces on own nodes.
    pub forces: Vec<f64>,
}

impl Plant {
    pub(crate) fn new(equations: Equations, wiring: Wiring) -> Self {
        Self {
            motion: Motion::at_rest(equations.slots()),
            applied: vec![0.0; equations.own],
            inputs: vec![0.0; wiring.ports.input_width()],
            forces: vec![0.0; equations.own],
            equations,
            wiring,
        }
    }

    /// Number of own nodes.
    pub(crate) fn own(&self) -> usize {
        self.equations.own
    }

    /// Lets the inputs at time t act.
    pub(crate) fn receive(&mut self, t: f64, inputs: &mut Inputs) {
        inputs.at(t, &mut self.inputs);
        self.wiring
            .distribute(&self.inputs, &mut self.motion, &mut self.applied);
    }

    /// Lets given inputs act.
    pub(crate) fn impose(&mut self, inputs: &[f64]) {
        self.wiring
            .distribute(inputs, &mut self.motion, &mut self.applied);
    }

    /// The accelerations of the own nodes from the equations of motion.
    pub(crate) fn accelerate(&mut self, t: f64) -> Result<(), StepError> {
        self.evaluate_forces(t)?;
        self.equations
            .accelerations(&self.forces, &mut self.motion.a);
        Ok(())
    }

    /// The forces on the own nodes, own inertia apart.
    pub(crate) fn evaluate_forces(&mut self, t: f64) -> Result<(), StepError> {
        let (motion, applied) = (&self.motion, &self.applied);
        self.equations.forces(t, motion, applied, &mut self.forces)
    }
}
