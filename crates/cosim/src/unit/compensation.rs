//! What a unit does for its compensator: evaluate, sample, solve the loop, listen.

use crate::fault::Fault;
use crate::schedule::SubsystemId;
use crate::subsystem::StepError;
use crate::unit::{Board, Link, Unit};

/// Passes after which the loop of sampled signals is learned anew, and then taken as it is.
const PASSES: usize = 8;

impl Unit {
    /// Before an advance from time t: samples the signals and finds the forces that are held.
    #[inline]
    pub(super) fn compensate(&mut self, t: f64) -> Result<(), Fault> {
        match self.inputs.compensator() {
            None => Ok(()),
            Some(_) => self.sample(t),
        }
    }

    #[cold]
    fn sample(&mut self, t: f64) -> Result<(), Fault> {
        self.evaluate(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if !compensator.has_sampled() {
            return Ok(());
        }
        if !compensator.feedback_is_known() {
            self.learn_loop(t)?;
        }
        if !self.solve_loop(t)? {
            // The response changed with the configuration.
            self.learn_loop(t)?;
            self.solve_loop(t)?;
        }
        Ok(())
    }

    fn solve_loop(&mut self, t: f64) -> Result<bool, Fault> {
        for _ in 0..PASSES {
            let compensator = self.inputs.compensator_mut().expect("asked before");
            compensator.sample(&self.input_values, &self.output_values);
            if compensator.settle() {
                return Ok(true);
            }
            self.evaluate(t)?;
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
            self.evaluate(t)?;
            let compensator = self.inputs.compensator_mut().expect("asked before");
            compensator.sample(&self.input_values, &self.output_values);
            compensator.learn(force, size, &before);
            compensator.forces_mut()[force] = held;
        }
        self.evaluate(t)?;
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if compensator.close_loop() {
            return Ok(());
        }
        let unknown = "the compensator's forces, which its acceleration gains cancel".into();
        Err(self.step_fault(t, StepError::Singular { unknown }))
    }

    /// After the outputs were evaluated: the compensator sees them, and they are evaluated again
    /// where they depend on inputs that it corrects by them.
    #[cold]
    pub(super) fn show_outputs(&mut self, t: f64) -> Result<(), Fault> {
        let compensator = self.inputs.compensator_mut().expect("asked before");
        if compensator.follows_own_motion() {
            compensator.observe(t, self.subsystem.ports(), &self.output_values);
            self.evaluate_once(t)?;
        }
        let compensator = self.inputs.compensator_mut().expect("asked before");
        compensator.amend(&self.input_values, &self.output_values);
        Ok(())
    }

    /// Replaces what was published by what the amendments make of it.
    #[cold]
    pub(super) fn publish_amendments(&self, start: usize, board: &Board) {
        let compensator = self.inputs.compensator().expect("asked before");
        for (target, amendment) in compensator.amendments() {
            board.write(start + target, &[self.released[target] + amendment]);
        }
    }

    /// Takes what the compensator listens to besides the connections.
    #[cold]
    pub(super) fn pull_remote(
        &mut self,
        t: f64,
        board: &Board,
        shift: usize,
        sends: impl Fn(SubsystemId) -> bool,
    ) {
        let compensator = self.inputs.compensator_mut().expect("asked before");
        for link in self.remote.iter().filter(|link| sends(link.sender)) {
            let values = &mut self.transfer[..link.input.len()];
            board.read(link.sent + shift, values);
            compensator.receive(link.port, t, values);
            self.received += 1;
        }
    }

    /// Gives the unit connections that only its compensator listens to.
    pub(crate) fn listen(&mut self, links: Vec<Link>) {
        let widest = links.iter().map(|link| link.input.len()).max();
        let width = self.transfer.len().max(widest.unwrap_or(0));
        self.transfer.resize(width, 0.0);
        self.remote = links;
    }
}
