//! The equations together with the present motion and what acts from outside: what the
//! integrators work on.

use oldham_cosim::Inputs;
use oldham_cosim::StepError;

use crate::equations::{Equations, Motion};
use crate::tangents::{By, Tangents};
use crate::wiring::{Origin, Target, Wiring};

/// A system in motion.
#[derive(Clone, Debug)]
pub(crate) struct Plant {
    pub equations: Equations,
    pub wiring: Wiring,
    /// Received tangents.
    pub tangents: Tangents,
    pub motion: Motion,
    /// Forces from input ports, by own node.
    pub applied: Vec<f64>,
    /// The inputs that act.
    inputs: Vec<f64>,
    offered: Vec<f64>,
    /// What would be sent at the time for which inputs are asked.
    own: Vec<f64>,
    /// Start of the micro step, and the motion there.
    step_start: f64,
    start: Motion,
    /// Time for which the own accelerations hold, with the present motion and inputs.
    accelerated_at: f64,
    /// Room for forces on own nodes.
    pub forces: Vec<f64>,
    /// Room for a single force and what it does.
    pub unit_force: Vec<f64>,
    pub response: Vec<f64>,
}

impl Plant {
    pub(crate) fn new(equations: Equations, wiring: Wiring, tangents: Tangents) -> Self {
        Self {
            motion: Motion::at_rest(equations.slots()),
            applied: vec![0.0; equations.own],
            inputs: vec![f64::NAN; wiring.ports.input_width()],
            offered: vec![0.0; wiring.ports.input_width()],
            own: vec![0.0; wiring.origins.len()],
            step_start: f64::NAN,
            start: Motion::at_rest(equations.slots()),
            accelerated_at: f64::NAN,
            forces: vec![0.0; equations.own],
            unit_force: vec![0.0; equations.own],
            response: vec![0.0; equations.own],
            equations,
            wiring,
            tangents,
        }
    }

    /// Number of own nodes.
    pub(crate) fn own(&self) -> usize {
        self.equations.own
    }

    /// Lets the inputs at the start of a micro step act; the motion is that of this time.
    #[inline(always)]
    pub(crate) fn receive_at_start(&mut self, t: f64, inputs: &mut Inputs) {
        if inputs.follow_own_motion() {
            self.step_start = t;
            self.start.x.copy_from_slice(&self.motion.x);
            self.start.v.copy_from_slice(&self.motion.v);
            self.start.a.copy_from_slice(&self.motion.a);
            return self.receive_following(t, inputs);
        }
        self.receive_predicted(t, inputs);
    }

    /// Lets the inputs at time t act, within a micro step whose start was received before.
    pub(crate) fn receive(&mut self, t: f64, inputs: &mut Inputs) {
        match inputs.follow_own_motion() {
            true => self.receive_following(t, inputs),
            false => self.receive_predicted(t, inputs),
        }
    }

    /// The inputs at a time, without letting them act.
    pub(crate) fn foresee(&mut self, t: f64, inputs: &mut Inputs) -> &[f64] {
        match inputs.follow_own_motion() {
            true => {
                self.tell_own_motion(t - self.step_start);
                inputs.at_with(t, &self.own, &mut self.offered);
            }
            false => inputs.at(t, &mut self.offered),
        }
        &self.offered
    }

    #[inline]
    fn receive_predicted(&mut self, t: f64, inputs: &mut Inputs) {
        let mut offered = std::mem::take(&mut self.offered);
        inputs.at(t, &mut offered);
        self.impose(&offered);
        self.offered = offered;
    }

    #[inline(never)]
    fn receive_following(&mut self, t: f64, inputs: &mut Inputs) {
        let mut offered = std::mem::take(&mut self.offered);
        self.tell_own_motion(t - self.step_start);
        inputs.at_with(t, &self.own, &mut offered);
        self.impose(&offered);
        self.offered = offered;
    }

    /// The motion a time s after the start of the micro step, as far as it is known there. Forces
    /// are left out: they would depend on the inputs that are asked for.
    fn tell_own_motion(&mut self, s: f64) {
        let Motion { x, v, a } = &self.start;
        for (value, origin) in self.own.iter_mut().zip(&self.wiring.origins) {
            *value = match *origin {
                Origin::Displacement(slot) => x[slot] + s * (v[slot] + 0.5 * s * a[slot]),
                Origin::Velocity(slot) => v[slot] + s * a[slot],
                Origin::Acceleration(slot) => a[slot],
                Origin::ForceOnBoundary(_) | Origin::Tangent(_) => 0.0,
            };
        }
    }

    /// Lets the inputs act that did so up to time t, before held ones jumped; says whether any did.
    #[inline(always)]
    pub(crate) fn undo_jump(&mut self, t: f64, inputs: &mut Inputs) -> bool {
        inputs.have_jumped() && self.undo_found_jump(t, inputs)
    }

    #[inline(never)]
    fn undo_found_jump(&mut self, t: f64, inputs: &mut Inputs) -> bool {
        let mut offered = std::mem::take(&mut self.offered);
        inputs.at(t, &mut offered);
        self.own_loads(&offered);
        inputs.undo_jump(&mut offered);
        self.impose(&offered);
        self.offered = offered;
        true
    }

    /// Leaves the forces that inputs apply to own nodes in `forces`.
    fn own_loads(&mut self, inputs: &[f64]) {
        self.forces.fill(0.0);
        for (target, value) in self.wiring.targets.iter().zip(inputs) {
            if let Target::Force(row) = *target {
                self.forces[row] += value;
            }
        }
    }

    /// By how much applied forces jump, after [`undo_jump`](Self::undo_jump).
    pub(crate) fn find_jump(&mut self) -> &[f64] {
        for (jump, before) in self.forces.iter_mut().zip(&self.applied) {
            *jump -= before;
        }
        &self.forces
    }

    /// The inputs that act.
    pub(crate) fn inputs(&self) -> &[f64] {
        &self.inputs
    }

    /// Lets given inputs act. They are asked for several times in a step, and seldom new.
    #[inline(always)]
    pub(crate) fn impose(&mut self, inputs: &[f64]) {
        if inputs != self.inputs {
            self.impose_new(inputs);
        }
    }

    #[inline(never)]
    fn impose_new(&mut self, inputs: &[f64]) {
        self.inputs.copy_from_slice(inputs);
        self.moved();
        self.wiring
            .distribute(inputs, &mut self.motion, &mut self.applied);
    }

    /// Motion or inputs changed: accelerations must be evaluated anew.
    pub(crate) fn moved(&mut self) {
        self.accelerated_at = f64::NAN;
    }

    /// The accelerations in the motion are those at time t.
    pub(crate) fn accelerated(&mut self, t: f64) {
        self.accelerated_at = t;
    }

    /// The accelerations of the own nodes from the equations of motion. An engine often asks for
    /// the outputs just where a step then starts, so they are evaluated only if something changed.
    #[inline(always)]
    pub(crate) fn accelerate(&mut self, t: f64) -> Result<(), StepError> {
        match self.accelerated_at == t {
            true => Ok(()),
            false => self.accelerate_anew(t),
        }
    }

    #[inline(never)]
    fn accelerate_anew(&mut self, t: f64) -> Result<(), StepError> {
        self.evaluate_forces(By::Position, t)?;
        self.equations
            .accelerations(&self.forces, &mut self.motion.a);
        self.accelerated(t);
        Ok(())
    }

    /// The forces on the own nodes, own inertia apart. `by` tells what received tangents answer to.
    #[inline(always)]
    pub(crate) fn evaluate_forces(&mut self, by: By, t: f64) -> Result<(), StepError> {
        let (motion, applied) = (&self.motion, &self.applied);
        self.equations
            .forces(t, motion, applied, &mut self.forces)?;
        if !self.tangents.is_empty() {
            let moved = match by {
                By::Position => &motion.x,
                By::Acceleration => &motion.a,
            };
            self.tangents.add(by, &self.inputs, moved, &mut self.forces);
        }
        Ok(())
    }
}
