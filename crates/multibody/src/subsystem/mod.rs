//! A system with ports: what the engine drives.

mod abilities;
mod builder;
mod coordinate;
mod cut_parts;
mod follow;
mod interface;
mod interface_jacobian;
mod line;
mod linearise;
mod marker;
mod outputs;
mod ports;
mod sequence;
mod turning;

use crate::element::ElementId;
use crate::error::SolveError;
use crate::integrator::Method;
use crate::node::{Marker, Motion, NodeId};
use crate::system::{System, step_weights};
pub use builder::{Attached, PartBuilder, Shared};
pub use cut_parts::{
    CutParts, CutScheme, CutSettings, Prescription, SolverSettings, SubdomainConnection,
    SubdomainSolver,
};
use interface::InterfaceFactors;
use interface_jacobian::{ACCELERATIONS, InterfaceJacobian, PrescribedNode};
pub use line::LineValue;
use marker::motion_values;
use oldham_cosim::{
    Accuracy, Counters, EnergyBalance, Inputs, InterfaceResponse, Linearisable, MotionLaw,
    OutputPort, Ports, Reached, StageInputs, State, StepCorrection, StepError, Subsystem, Switches,
};
pub use outputs::Along;
use outputs::Output;
pub use ports::{ContactForce, Needs, PortedModel, Received, Sent};

/// Interface nodes that were predicted farther off than this fraction of the model's size move in ways that the step does not resolve.
const FAR: f64 = 1e-4;

/// A multibody system as a part of a co-simulation.
pub struct MechanismPart {
    system: System,
    ports: Ports,
    outputs: Vec<Output>,
    /// Places where received wrenches act, and the first component of each.
    loaded: Vec<(Marker, usize)>,
    /// Points that received thrusts push apart, and the component of each.
    thrusts: Vec<([Marker; 2], usize)>,
    /// Coordinates of joints that received torques and forces push, and the component of each.
    pushed: Vec<(crate::joint::Coordinate, [Marker; 2], usize)>,
    /// Elements that drive coordinates of joints, and the component of the received acceleration.
    driven: Vec<(ElementId, usize)>,
    /// Made when somebody asks how the interface answers.
    interface: Option<Box<InterfaceFactors>>,
    /// Elements that are there for a port, and the first component of its input.
    for_ports: Vec<(ElementId, usize)>,
    /// The same for wrenches that come with tangents.
    attached: Vec<(NodeId, usize)>,
    /// Nodes whose poses are received.
    prescribed: Vec<PrescribedNode>,
    micro_steps: usize,
    tangent: Option<InterfaceJacobian>,
    is_thorough: bool,
    /// Whether it receives tangents.
    uses_tangents: bool,
    /// Whether the schedule corrects every step.
    is_corrected: bool,
    /// Whether a step waits for its correction.
    is_unfinished: bool,
    /// Motions from which a start begins.
    initial: Vec<Motion>,
    /// Inputs of the last start.
    started_with: Vec<f64>,
    /// Inputs of the last micro step.
    inputs: Vec<f64>,
    /// Those at the end of a step, with its own prediction of the interface and as they were received.
    ahead: [Vec<f64>; 2],
    /// Whether the received motion was the better prediction in the last step.
    trusts_received: bool,
    /// Those at the start and in the middle of an explicit micro step.
    early_inputs: [Vec<f64>; 2],
    /// Nodes that follow what they receive by a law, and the first component of that.
    followers: Vec<(NodeId, usize, MotionLaw)>,
    /// Of the last linearisation.
    state_names: Vec<String>,
    /// Why the last linearisation gave nothing.
    not_linear: Option<String>,
}

impl MechanismPart {
    /// The system inside.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// The system inside, for statics and modes before a run.
    pub fn system_mut(&mut self) -> &mut System {
        &mut self.system
    }

    /// Puts the part at rest in equilibrium under its loads and given inputs; it starts from
    /// there.
    pub fn find_static_equilibrium(&mut self, t: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.system.equilibrium(t, 4, inputs)?;
        self.initial.copy_from_slice(&self.system.motions);
        Ok(())
    }

    /// Starts, or restarts after an event; and does so again while no step has been taken since
    /// and the exchange brings other inputs.
    fn start_if_needed(&mut self, t: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let known = self.system.state.known;
        if self.is_unfinished || known > 1 || (known == 1 && self.started_with == inputs) {
            return Ok(());
        }
        self.start(t, inputs)
    }

    fn start(&mut self, t: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if self.system.state.step == 0.0 {
            self.system.motions.copy_from_slice(&self.initial);
            self.system.start(t, inputs)?;
        } else {
            self.system.restart(inputs)?;
        }
        self.started_with.copy_from_slice(inputs);
        if let Some(tangent) = &mut self.tangent {
            // The factors are still those of the accelerations.
            tangent.update(&mut self.system, ACCELERATIONS);
            tangent.review(&self.system);
        }
        Ok(())
    }

    /// After a step, whose factors may be new.
    fn update_tangent(&mut self) {
        let step = self.system.state.step;
        let is_impulsive = self.has_impulses();
        if let Some(tangent) = &mut self.tangent {
            match is_impulsive {
                true => tangent.update_impulses(&mut self.system, step),
                false => {
                    let weights = step_weights(self.system.work.last_step.gains);
                    tangent.update(&mut self.system, weights);
                }
            }
            tangent.review(&self.system);
        }
    }

    fn has_impulses(&self) -> bool {
        self.system.options.method == Method::Impulses
    }

    /// Whether a step is finished by its correction, which follows for sure. One with impulses is taken again as a whole.
    fn defers(&self) -> bool {
        let waits = self.is_corrected && !self.is_thorough && self.tangent.is_some();
        waits && !self.has_impulses()
    }

    /// Takes a step that is finished by its correction, from where the part itself predicts its interface if it is to. Where
    /// that was far off in the last step, or leads nowhere, from where the received motion leads.
    fn deferred_step(&mut self, to: f64, size: f64, inputs: &mut [f64]) -> Result<(), SolveError> {
        if !self.system.predicts_given {
            return self.try_step(to, size, inputs);
        }
        let mut ahead = std::mem::take(&mut self.ahead);
        let [own, received] = &mut ahead;
        received.copy_from_slice(inputs);
        own.copy_from_slice(inputs);
        self.predict_interface(size, own);
        let outcome = match self.trusts_received {
            true => self.try_step(to, size, received),
            false => {
                inputs.copy_from_slice(own);
                self.try_step(to, size, own)
                    .or_else(|_| self.step_as_received(to, size, inputs, received))
            }
        };
        self.ahead = ahead;
        outcome
    }

    /// The prediction of the part itself has led nowhere.
    fn step_as_received(
        &mut self,
        to: f64,
        size: f64,
        inputs: &mut [f64],
        received: &[f64],
    ) -> Result<(), SolveError> {
        inputs.copy_from_slice(received);
        self.trusts_received = true;
        self.system.distrust_factors();
        self.try_step(to, size, inputs)
    }

    /// Takes a step up to the last correction of its iteration: that of the poses joins it later,
    /// and all nodes are moved only once.
    fn try_step(&mut self, to: f64, size: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if let Err(failure) = self.system.try_step(to, size, inputs) {
            let error = self.system.explain(to, failure);
            return Err(self.system.name_position(error, size, inputs).in_cut());
        }
        let tangent = self.tangent.as_mut().expect("a part that defers has one");
        let weights = step_weights(self.system.work.last_step.gains);
        tangent.update(&mut self.system, weights);
        tangent.preview(&mut self.system);
        self.is_unfinished = true;
        Ok(())
    }

    /// Names the cut, and received tangents as a possible reason for a failure.
    fn blame_cut(&self, error: SolveError) -> SolveError {
        match error {
            SolveError::NotConverged { time, .. } if self.uses_tangents => {
                SolveError::UnsteadyTangents {
                    time,
                    failure: Box::new(error),
                }
            }
            other => other.in_cut(),
        }
    }

    /// Held inputs have jumped since the last step. One that has just started begins with their new values.
    fn meet_jump(&mut self, t: f64, inputs: &mut Inputs) -> Result<(), SolveError> {
        let [mut new, mut old] = std::mem::take(&mut self.early_inputs);
        inputs.at(t, &mut new);
        old.copy_from_slice(&new);
        inputs.undo_jump(&mut old);
        let met = match self.system.state.known {
            0 => Ok(()),
            1 if self.started_with != new => self.start(t, &new),
            1 => Ok(()),
            _ => {
                self.system.expect_jump(&new, &old);
                Ok(())
            }
        };
        self.early_inputs = [new, old];
        met
    }

    /// Takes the inputs at the start and in the middle of an explicit step.
    fn receive_early(&mut self, [start, end]: [f64; 2], inputs: &mut Inputs) {
        let [first, middle] = &mut self.early_inputs;
        inputs.at(start, first);
        inputs.at(start + 0.5 * (end - start), middle);
    }

    fn explicit_step(
        &mut self,
        to: f64,
        size: f64,
        seen: StageInputs,
        end: &[f64],
    ) -> Result<(), SolveError> {
        let [first, middle] = &self.early_inputs;
        let stages = match seen {
            StageInputs::Held => [&first[..]; 3],
            StageInputs::Interpolated => [&first[..], middle, end],
        };
        self.system.explicit_step(to, size, stages, end)
    }

    /// Puts the motions of nodes that follow by a law in place of those received: they end the step where the velocity of
    /// the law takes them.
    fn follow(&self, h: f64, end: &mut [f64]) {
        for &(node, first, law) in &self.followers {
            let own = &self.system.state.now[node.0].motion;
            follow::put(
                law,
                own,
                h,
                &self.early_inputs[0][first..],
                &mut end[first..],
            );
        }
    }

    /// Puts the motions to which the part's own prediction leads in place of those received. The owner of the interface
    /// steps it by the same formula and begins its iteration there, too.
    fn predict_interface(&self, h: f64, end: &mut [f64]) {
        for prescribed in &self.prescribed {
            if let Some(motion) = self.system.predicted_motion(prescribed.node, h) {
                prescribed.put(&motion, end);
            }
        }
    }

    /// The next step begins with the prediction that is closer to the poses of this one: where a step resolves little, extrapolated
    /// accelerations may lead far off.
    fn compare_predictions(&mut self, inputs: &[f64]) {
        if self.system.predicts_given {
            let size = self.system.size;
            let [own, received] = [0, 1].map(|which: usize| {
                let all = self.prescribed.iter();
                all.map(|it| it.way(&self.ahead[which], inputs, size))
                    .sum::<f64>()
            });
            let is_far = own > (FAR * size).powi(2);
            self.trusts_received = is_far || received < own;
        }
    }

    /// The micro step size. Times are rounded: a step that differs from the last one by no more
    /// than that counts as the same.
    fn micro_step(&self, from: f64, to: f64) -> f64 {
        let size = (to - from) / self.micro_steps as f64;
        let last = self.system.state.step;
        let rounding = 2.0 * f64::EPSILON * from.abs().max(to.abs());
        if (size - last).abs() <= rounding {
            last
        } else {
            size
        }
    }
}

impl Subsystem for MechanismPart {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut at = std::mem::take(&mut self.inputs);
        let size = self.micro_step(from, to);
        let mut outcome = Ok(());
        self.system.forget_jump();
        if inputs.have_jumped() {
            outcome = self.meet_jump(from, inputs);
        }
        if outcome.is_ok() && self.system.state.known == 0 {
            inputs.at(from, &mut at);
            outcome = self.start(from, &at);
        }
        for index in 1..=self.micro_steps {
            if outcome.is_err() {
                break;
            }
            let time = |index| from + (to - from) * (index as f64 / self.micro_steps as f64);
            let [start, end] = [index - 1, index].map(time);
            inputs.at(end, &mut at);
            outcome = match self.system.options.method {
                Method::Rk4 { inputs: seen } => {
                    self.receive_early([start, end], inputs);
                    self.explicit_step(end, size, seen, &at)
                }
                Method::Impulses => {
                    self.receive_early([start, end], inputs);
                    self.follow(size, &mut at);
                    if self.is_corrected {
                        self.system.keep_start();
                    }
                    let [first, _] = &self.early_inputs;
                    self.system.impulse_step(end, size, first, &at)
                }
                _ if self.defers() => self.deferred_step(end, size, &mut at),
                // The tangents of an exchange belong to whole steps.
                _ if self.tangent.is_some() || self.uses_tangents => {
                    let stepped = self.system.step_once(end, size, &at);
                    stepped.map_err(|error| self.blame_cut(error))
                }
                _ => {
                    let receive = |t: f64, values: &mut [f64]| inputs.at(t, values);
                    let (system, times) = (&mut self.system, [start, end]);
                    match system.options.locates_kinks {
                        true => system.step_over_kinks(times, size, &mut at, receive),
                        false => system.step_or_retry(times, size, &mut at, receive),
                    }
                }
            };
        }
        self.inputs = at;
        outcome?;
        if !self.defers() {
            self.update_tangent();
        }
        Ok(Reached::end(to))
    }

    fn version(&self, output: OutputPort) -> Option<u64> {
        match (&self.outputs[output.0], &self.tangent) {
            (Output::Tangent, Some(tangent)) => Some(tangent.version()),
            _ => None,
        }
    }

    fn work(&self) -> f64 {
        self.micro_steps as f64 * self.system.assembly.touched_entries()
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.start_if_needed(t, inputs)?;
        self.system.share_reactions(inputs)?;
        self.write_outputs(inputs, outputs);
        Ok(())
    }

    fn some_outputs(
        &mut self,
        wanted: &[OutputPort],
        t: f64,
        inputs: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        if self.system.state.known == 0 {
            self.start(t, inputs)?;
        }
        self.system.share_reactions(inputs)?;
        for &port in wanted {
            let range = self.ports.output_range(port);
            self.output(&self.outputs[port.0], inputs, &mut outputs[range]);
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(self)
    }

    fn switches(&mut self, _t: f64, inputs: &[f64], found: &mut Switches) {
        if !self.is_unfinished && self.system.state.known > 0 {
            self.system.switches(inputs, found);
        }
    }

    /// Accelerations are found again with the next inputs.
    fn restart(&mut self) {
        self.system.state.known = 0;
    }

    fn counters(&self) -> Counters {
        self.system.counters()
    }

    fn energy_balance(&mut self) -> Option<&mut dyn EnergyBalance> {
        Some(self)
    }

    fn step_correction(&mut self) -> Option<&mut dyn StepCorrection> {
        let is_rk4 = matches!(self.system.options.method, Method::Rk4 { .. });
        let can = self.micro_steps == 1 && !is_rk4;
        can.then_some(self as &mut dyn StepCorrection)
    }

    fn accuracy(&mut self) -> Option<&mut dyn Accuracy> {
        Some(self)
    }

    fn linearisable(&mut self) -> Option<&mut dyn Linearisable> {
        Some(self)
    }

    fn interface_response(&mut self) -> Option<&mut dyn InterfaceResponse> {
        Some(self)
    }
}
