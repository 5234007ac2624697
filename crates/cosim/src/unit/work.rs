//! The work integrals of a unit: when they are opened and closed.

use crate::balance::InterfaceWork;
use crate::fault::Fault;
use crate::port::{InputPort, OutputPort, Ports};
use crate::unit::Unit;

/// The ports to which these places in the output vector belong.
fn ports_at(places: &[usize], ports: &Ports) -> Vec<OutputPort> {
    let all = (0..ports.outputs().len()).map(OutputPort);
    let is_needed = |port: &OutputPort| {
        let range = ports.output_range(*port);
        places.iter().any(|place| range.contains(place))
    };
    all.filter(is_needed).collect()
}

/// How the motion at an interface goes on when a step begins.
#[derive(Clone, Copy)]
pub(super) enum Motion {
    /// It is the part's own.
    Given,
    /// It is received, and the force answers at once.
    Received,
    /// It is received, and the force answers within the step, as the reaction of a constraint does. What was sent for the end of
    /// the step is reached there; to ask before the first step would start the part with it.
    Followed(InputPort),
}

impl Motion {
    fn of(work: &InterfaceWork, ports: &Ports) -> Self {
        if work.starting_outputs().is_empty() {
            return Self::Given;
        }
        let Some([motion, force]) = work.received_motion() else {
            return Self::Received;
        };
        let mut all = (0..ports.inputs().len()).map(InputPort);
        let port = all.find(|port| ports.input_range(*port).contains(&motion));
        let is_direct = |port: &InputPort| {
            let range = ports.input_range(*port);
            let direct = ports.direct_inputs(force);
            direct.iter().any(|input| range.contains(input))
        };
        match port {
            Some(port) if !is_direct(&port) => Self::Followed(port),
            _ => Self::Received,
        }
    }
}

impl Unit {
    /// The initial exchange is done: work integrals start from what is known now.
    pub fn begin(&mut self, t: f64) {
        self.inputs.at(t, &mut self.input_values);
        self.correct_inputs(t);
        self.inputs.pass_jump();
        self.inputs.reach(t);
        for work in all(&mut self.interface_works, &mut self.driven) {
            work.begin(&self.input_values, &self.released);
        }
        let places =
            all(&mut self.interface_works, &mut self.driven).flat_map(|a| a.starting_outputs());
        self.start_outputs = ports_at(&places.collect::<Vec<_>>(), &self.ports);
        let works = all(&mut self.interface_works, &mut self.driven);
        let motions = works.map(|work| Motion::of(work, &self.ports));
        self.motions = motions.collect();
    }

    pub(super) fn close_work_integrals(&mut self, h: f64) {
        self.is_open = false;
        if !self.tracks_work {
            return;
        }
        for work in all(&mut self.interface_works, &mut self.driven) {
            work.close(&self.input_values, &self.output_values, h);
        }
    }

    /// Closes the work integrals of the step of length `h` again, with inputs that were corrected
    /// since.
    pub fn recompute_work(&mut self, to: f64, h: f64) {
        if !self.tracks_work {
            return;
        }
        self.find_acted(to);
        self.correct_inputs(to);
        for work in all(&mut self.interface_works, &mut self.driven) {
            work.close(&self.input_values, &self.released, h);
        }
    }

    pub(super) fn open_work_integrals(&mut self, t: f64) -> Result<(), Fault> {
        if self.is_open || !self.has_work_to_track() {
            return Ok(());
        }
        self.inputs.at(t, &mut self.input_values);
        let Self {
            inputs, motions, ..
        } = self;
        let is_followed = |motion: &Motion| match motion {
            Motion::Followed(port) => inputs.sampled_at(*port) > t,
            _ => false,
        };
        let jumps = |motion: &Motion| !matches!(motion, Motion::Given) && !is_followed(motion);
        // Motions are those of the end of the last step; forces must be evaluated anew.
        if motions.iter().any(jumps) {
            let (inputs, outputs) = (&self.input_values, &mut self.output_values);
            let wanted = &self.start_outputs;
            let evaluated = self.subsystem.some_outputs(wanted, t, inputs, outputs);
            evaluated.map_err(|cause| self.step_fault(t, cause))?;
        }
        self.correct_inputs(t);
        let works = all(&mut self.interface_works, &mut self.driven);
        for (work, motion) in works.zip(&self.motions) {
            match motion {
                Motion::Followed(port) if self.inputs.sampled_at(*port) > t => work.go_on(),
                _ => work.open(&self.input_values, &self.output_values),
            }
        }
        Ok(())
    }

    /// Whether there is any work to account for.
    fn has_work_to_track(&self) -> bool {
        self.tracks_work && !(self.interface_works.is_empty() && self.driven.is_empty())
    }

    /// From now on the work integrals are kept, starting with what is known at time t, or are not.
    pub fn track_work(&mut self, keep: bool, t: f64) {
        // The state may have been set from outside since the outputs were evaluated.
        if keep && !self.tracks_work && self.every == 1 && self.evaluate(t).is_ok() {
            for work in all(&mut self.interface_works, &mut self.driven) {
                work.begin(&self.input_values, &self.output_values);
            }
        }
        self.tracks_work = keep;
        self.is_open = false;
    }

    /// The work at an interface up to now: with the jump of what was received in the exchange
    /// that was just made, where [`Unit::take_stock`] has found it.
    pub fn work_at(&self, work_index: usize) -> f64 {
        match self.is_open {
            true => self.interface_works[work_index].opened(),
            false => self.interface_works[work_index].work(),
        }
    }

    /// Opens the work integrals of the coming step now, so that they contain the exchange that was
    /// just made. A part that corrects its inputs opens them when it has found how, as its step begins.
    pub fn take_stock(&mut self, t: f64) -> Result<(), Fault> {
        if self.corrects_inputs || !self.has_work_to_track() {
            return Ok(());
        }
        self.open_work_integrals(t)?;
        self.is_open = true;
        Ok(())
    }
}

/// All work integrals of a unit: at interfaces, and at inputs driven from outside.
pub(super) fn all<'a>(
    interfaces: &'a mut [InterfaceWork],
    driven: &'a mut [(InterfaceWork, f64)],
) -> impl Iterator<Item = &'a mut InterfaceWork> {
    let driven = driven.iter_mut().map(|(work, _)| work);
    interfaces.iter_mut().chain(driven)
}
