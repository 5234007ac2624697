//! What a unit does for its compensator: evaluate, sample, solve the loop, listen.

use crate::fault::Fault;
use crate::subsystem::StepError;
use crate::unit::{Delivery, ExchangeBuffer, IncomingConnections, Unit};

/// Passes after which the loop of sampled signals is learned anew, and then taken as it is.
const PASSES: usize = 8;

impl Unit {
    /// Before an advance from time t: samples the signals and finds the forces that are held.
    /// Returns whether the outputs are fresh.
    #[inline]
    pub(super) fn compensate(&mut self, t: f64) -> Result<bool, Fault> {
        match self.inputs.compensator() {
            Some(compensator) if compensator.has_sampled() => self.sample(t),
            _ => Ok(false),
        }
    }

    #[inline(never)]
    fn sample(&mut self, t: f64) -> Result<bool, Fault> {
        self.peek(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if !compensator.feedback_is_known() {
            self.learn_loop(t)?;
        }
        if !self.solve_loop(t)? {
            // The response changed with the configuration.
            self.learn_loop(t)?;
            self.solve_loop(t)?;
        }
        Ok(true)
    }

    fn solve_loop(&mut self, t: f64) -> Result<bool, Fault> {
        for _ in 0..PASSES {
            let compensator = self.inputs.compensator_mut().expect("asked before");
            compensator.sample(&self.input_values, &self.output_values);
            if compensator.settle() {
                return Ok(true);
            }
            self.peek(t)?;
        }
        Ok(false)
    }

    /// Pushes with every force a little and looks at the signals.
    fn learn_loop(&mut self, t: f64) -> Result<(), Fault> {
        let compensator = self.inputs.compensator_mut().expect("asked before");
        let before = compensator.sample(&self.input_values, &self.output_values);
        let before = before.to_vec();
        for force in 0..compensator.forces_mut().len() {
            let compensator = self.inputs.compensator_mut().expect("asked before");
            let held = compensator.forces_mut()[force];
            let size = held.abs().max(1.0);
            compensator.forces_mut()[force] = held + size;
            self.peek(t)?;
            let compensator = self.inputs.compensator_mut().expect("asked before");
            compensator.sample(&self.input_values, &self.output_values);
            compensator.learn(force, size, &before);
            compensator.forces_mut()[force] = held;
        }
        self.peek(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if compensator.close_loop() {
            return Ok(());
        }
        let unknown = "the compensator's forces, which its acceleration gains cancel".into();
        Err(self.step_fault(t, StepError::Singular { unknown }))
    }

    /// Evaluates as many outputs as sampling needs; all of them where the work integrals need them
    /// too.
    fn peek(&mut self, t: f64) -> Result<(), Fault> {
        if self.has_work_to_track() {
            return self.look(t);
        }
        self.peek_once(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if compensator.follows_own_motion() {
            compensator.observe(t, &self.output_values);
            self.peek_once(t)?;
        }
        Ok(())
    }

    fn peek_once(&mut self, t: f64) -> Result<(), Fault> {
        self.inputs.at(t, &mut self.input_values);
        let compensator = self.inputs.compensator().expect("asked before");
        let evaluated = self.subsystem.some_outputs(
            compensator.wanted(),
            t,
            &self.input_values,
            &mut self.output_values,
        );
        evaluated.map_err(|cause| self.step_fault(t, cause))
    }

    /// Evaluates the outputs; once more where they depend on inputs that the compensator corrects
    /// by them.
    fn look(&mut self, t: f64) -> Result<(), Fault> {
        self.evaluate_once(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if !compensator.follows_own_motion() {
            return Ok(());
        }
        compensator.observe(t, &self.output_values);
        if self.subsystem.ports().has_feedthrough() {
            return self.evaluate_once(t);
        }
        self.inputs.at(t, &mut self.input_values);
        Ok(())
    }

    /// Evaluates the outputs and what is added to them as they are sent.
    #[inline(never)]
    pub(super) fn evaluate_compensated(&mut self, t: f64) -> Result<(), Fault> {
        self.look(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        compensator.amend(&self.input_values, &self.output_values);
        Ok(())
    }

    /// Replaces what was published by what the amendments make of it.
    #[inline(never)]
    pub(super) fn publish_amendments(&self, start: usize, exchange: &ExchangeBuffer) {
        let compensator = self.inputs.compensator().expect("asked before");
        for (target, amendment) in compensator.amendments() {
            exchange.write(start + target, &[self.released[target] + amendment]);
        }
    }

    /// Takes what the compensator listens to besides the connections.
    #[inline(never)]
    pub(super) fn pull_remote(
        &mut self,
        t: f64,
        exchange: &ExchangeBuffer,
        shift: usize,
        delivery: Delivery,
        steps_done: u64,
    ) {
        let compensator = self.inputs.compensator_mut().expect("asked before");
        let incoming = self.remote.of(delivery).iter();
        for incoming_connection in
            incoming.filter(|incoming_connection| incoming_connection.is_due(steps_done))
        {
            let values = &mut self.transfer[..incoming_connection.input.len()];
            exchange.read(incoming_connection.sent + shift, values);
            compensator.receive(incoming_connection.port, t, values);
            self.received += 1;
        }
    }

    /// Gives the unit connections that only its compensator listens to.
    pub(crate) fn listen(&mut self, incoming: IncomingConnections) {
        let widest = incoming
            .all
            .iter()
            .map(|incoming_connection| incoming_connection.input.len())
            .max();
        let width = self.transfer.len().max(widest.unwrap_or(0));
        self.transfer.resize(width, 0.0);
        self.remote = incoming;
    }
}
