//! A system with ports: what the engine drives.

mod builder;
mod coordinate;
mod cut_parts;
mod follow;
mod interface;
mod interface_jacobian;
mod line;
mod linearise;
mod marker;
mod ports;
mod sequence;

use crate::element::ElementId;
use crate::error::SolveError;
use crate::integrator::{Method, Record};
use crate::joint::Coordinate;
use crate::node::{Marker, Motion, NodeId};
use crate::sensor::Sensor;
use crate::system::{System, step_weights};
pub use builder::{Attached, PartBuilder, Shared};
pub use cut_parts::{
    CutParts, CutScheme, CutSettings, Prescription, SolverSettings, SubdomainConnection,
    SubdomainSolver,
};
use interface::InterfaceFactors;
use interface_jacobian::{ACCELERATIONS, InterfaceJacobian, PrescribedNode};
pub use line::LineValue;
use marker::{marker_motion, motion_values, relative_acceleration};
use oldham_cosim::{
    Accuracy, Conjugate, Counters, EffectiveInterface, Energy, EnergyBalance, InputPort, Inputs,
    InterfaceResponse, Linearisable, Linearisation, MotionLaw, OutputPort, Ports, Quantity,
    Reached, SequenceModel, StageInputs, State, StepCorrection, StepError, Subsystem, Unit,
    Visitor,
};
use oldham_space::Vec3;
pub use ports::{Needs, PortedModel, Received, Sent};

/// Units of numbers that act as forces.
const FORCES: [Unit; 3] = [Unit::NEWTON, Unit::NEWTON_METRE, Unit::PASCAL];

/// What an output port shows.
#[derive(Clone, Debug)]
enum Output {
    Motion(Marker),
    /// Motion of a marker along a direction.
    Along(Marker, Vec3, Along),
    /// Length or rate of the line between two markers.
    Line([Marker; 2], LineValue),
    /// Motion of a joint's coordinate; the turns of an angle are counted by the element.
    Coordinate {
        coordinate: Coordinate,
        ends: [Marker; 2],
        counter: ElementId,
    },
    /// Acceleration of the second marker relative to the first, as it is seen from there, along a
    /// direction in its axes.
    RelativeAcceleration([Marker; 2], Vec3),
    /// What a sensor reads.
    Sensor(Box<Sensor>),
    /// The centres of some grains.
    Grains(std::ops::Range<usize>),
    /// Force and moment of all contacts on a node.
    ContactLoad(NodeId),
    /// Where these press.
    ContactPoint(NodeId),
    /// The only multiplier of an element.
    Multiplier(ElementId),
    /// Force and moment of an element on one of its nodes.
    Element(ElementId, usize),
    /// Internal load of the part on a node whose pose is prescribed.
    Interface(NodeId, ElementId),
    /// How these loads change with the prescribed poses.
    Tangent,
}

/// What is shown of a motion along a direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Along {
    /// Displacement from the origin, velocity and acceleration.
    Motion,
    /// Only the displacement.
    Displacement,
    /// Only the velocity.
    Velocity,
    /// Only the acceleration.
    Acceleration,
}

impl Along {
    /// What a port that shows it carries.
    pub fn quantity(self) -> Quantity {
        match self {
            Self::Motion => Quantity::Translation,
            Self::Displacement => Quantity::Scalar(Unit::METRE),
            Self::Velocity => Quantity::Scalar(Unit::METRE_PER_SECOND),
            Self::Acceleration => Quantity::Scalar(Unit::METRE_PER_SECOND2),
        }
    }

    fn write(self, values: &mut [f64], [x, v, a]: [f64; 3]) {
        match self {
            Self::Motion => values.copy_from_slice(&[x, v, a]),
            Self::Displacement => values[0] = x,
            Self::Velocity => values[0] = v,
            Self::Acceleration => values[0] = a,
        }
    }
}

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
    /// Those at the start and in the middle of an explicit micro step.
    early_inputs: [Vec<f64>; 2],
    /// Nodes that follow what they receive by a law, and the first component of that.
    followers: Vec<(NodeId, usize, MotionLaw)>,
    /// Of the last linearisation.
    state_names: Vec<String>,
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
    pub fn settle(&mut self, t: f64, inputs: &[f64]) -> Result<(), SolveError> {
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

    /// Takes a step up to the last correction of its iteration: that of the poses joins it later,
    /// and all nodes are moved only once.
    fn try_step(&mut self, to: f64, size: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if let Err(failure) = self.system.try_step(to, size, inputs) {
            return Err(self.system.explain(to, failure));
        }
        let tangent = self.tangent.as_mut().expect("a part that defers has one");
        let weights = step_weights(self.system.work.last_step.gains);
        tangent.update(&mut self.system, weights);
        tangent.preview(&mut self.system);
        self.is_unfinished = true;
        Ok(())
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

    /// Whether an output tells the motion of the point where a received force acts.
    fn has_counterpart(&self, port: InputPort) -> bool {
        let mut pairs = self.ports.conjugates().iter();
        pairs.any(|pair| matches!(pair, Conjugate::GivesMotion { force, .. } if *force == port))
    }

    /// Writes all outputs at the present state. Of a step that is not finished there is only its
    /// interface to show: all else stays as it was before.
    pub(crate) fn write_outputs(&self, inputs: &[f64], outputs: &mut [f64]) {
        for (index, output) in self.outputs.iter().enumerate() {
            if self.is_unfinished && !self.is_of_interface(output) {
                continue;
            }
            let range = self.ports.output_range(OutputPort(index));
            self.output(output, inputs, &mut outputs[range]);
        }
    }

    fn is_of_interface(&self, output: &Output) -> bool {
        match output {
            Output::Tangent | Output::Interface(..) => true,
            Output::Motion(at) => {
                let tangent = self.tangent.as_ref();
                tangent.is_some_and(|tangent| tangent.end(at.node).is_some())
            }
            _ => false,
        }
    }

    /// The state of a node; of a prescribed one also while its step is not finished.
    fn end(&self, node: NodeId) -> &Record {
        let previewed = self.tangent.as_ref().and_then(|tangent| tangent.end(node));
        previewed.unwrap_or(&self.system.state.now[node.0])
    }

    fn output(&self, output: &Output, inputs: &[f64], values: &mut [f64]) {
        let system = &self.system;
        let (force, moment) = match *output {
            Output::Motion(at) => {
                let record = self.end(at.node);
                let (motion, a) = marker_motion(&at, record);
                let alpha = record.angular_acceleration;
                values.copy_from_slice(&motion_values(&motion, a, alpha));
                return;
            }
            Output::Along(at, direction, along) => {
                let record = &system.state.now[at.node.0];
                let (motion, a) = marker_motion(&at, record);
                let vectors = [motion.position, motion.velocity, a];
                along.write(values, vectors.map(|v| v.dot(direction)));
                return;
            }
            Output::Tangent => {
                let tangent = self.tangent.as_ref().expect("the port was made with it");
                tangent.write(values);
                return;
            }
            Output::Line(ends, value) => {
                values[0] = value.between(ends, &system.state.now);
                return;
            }
            Output::Coordinate {
                coordinate,
                ends,
                counter,
            } => {
                let motion = self.coordinate_motion(coordinate, ends, counter, inputs);
                values.copy_from_slice(&motion);
                return;
            }
            Output::RelativeAcceleration(ends, direction) => {
                values[0] = relative_acceleration(ends, &system.state.now).dot(direction);
                return;
            }
            Output::Sensor(ref sensor) => {
                let point = system.evaluation_point(inputs);
                values[0] = sensor.read(&point.outside(&system.assembly.elements));
                return;
            }
            Output::Grains(ref range) => {
                let centres = system.grains()[range.clone()].iter().flat_map(|c| c.0);
                values.iter_mut().zip(centres).for_each(|(to, x)| *to = x);
                return;
            }
            Output::ContactPoint(node) => {
                values.copy_from_slice(&system.contact_load(node)[2].0);
                return;
            }
            Output::ContactLoad(node) => {
                let [force, moment, _] = system.contact_load(node);
                (force, moment)
            }
            Output::Multiplier(element) => {
                values[0] = system.multipliers[system.multiplier_range(element)][0];
                return;
            }
            Output::Element(element, node) => system.wrench(element, node, inputs),
            Output::Interface(node, joint) => {
                let m = &system.multipliers[system.multiplier_range(joint)];
                let (force, moment) = self.end(node).inertia_load();
                // The reaction on the body is the negative multiplier.
                (
                    force + Vec3::new(m[0], m[1], m[2]),
                    moment + Vec3::new(m[3], m[4], m[5]),
                )
            }
        };
        values[..3].copy_from_slice(&force.0);
        values[3..].copy_from_slice(&moment.0);
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
        if self.system.state.known == 0 {
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
                _ if self.defers() => self.try_step(end, size, &at),
                // The tangents of an exchange belong to whole steps.
                _ if self.tangent.is_some() || self.uses_tangents => {
                    self.system.step_once(end, size, &at)
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
        self.start_if_needed(t, inputs)?;
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

impl EnergyBalance for MechanismPart {
    /// What has a counterpart among the outputs is left to the engine. Other forces count if they
    /// are given from outside; from another part they are a matter between the two.
    fn supply(&mut self, given: &[InputPort]) -> Vec<InputPort> {
        let (mut own, mut foreign) = (Vec::new(), Vec::new());
        let mut left = self.for_ports.clone();
        for index in 0..self.ports.inputs().len() {
            let port = InputPort(index);
            let range = self.ports.input_range(port);
            let pushes = match &self.ports.inputs()[index].quantity {
                Quantity::Scalar(unit) => FORCES.contains(unit),
                _ => false,
            };
            if !pushes || self.has_counterpart(port) {
                continue;
            }
            if given.contains(&port) {
                left.retain(|(_, first)| *first != range.start);
                own.push(port);
            } else {
                foreign.extend(range);
            }
        }
        let left: Vec<ElementId> = left.into_iter().map(|(element, _)| element).collect();
        self.system.leave_to_others(foreign, &left);
        own
    }

    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Energy {
        self.system.energy(inputs)
    }
}

impl StepCorrection for MechanismPart {
    fn expect_correction(&mut self) {
        self.is_corrected = true;
    }

    fn correct(&mut self, _t: f64, inputs: &[f64]) -> Result<(), StepError> {
        let defers = self.defers();
        match &mut self.tangent {
            Some(tangent) if defers => {
                let change = tangent.add_correction(&mut self.system, inputs);
                if self.system.leaves_too_much(change) {
                    self.system.refine(inputs)?;
                }
                self.system.finish_step(inputs);
                self.is_unfinished = false;
            }
            _ if self.system.options.method == Method::Impulses => {
                let [first, _] = &self.early_inputs;
                self.system.repeat_impulses(first, inputs)?;
            }
            _ => self.system.repeat(inputs)?,
        }
        self.update_tangent();
        self.inputs.copy_from_slice(inputs);
        Ok(())
    }
}

impl Accuracy for MechanismPart {
    fn demand_accuracy(&mut self, relative: f64) {
        let tolerance = &mut self.system.options.tolerance;
        *tolerance = tolerance.min(relative);
    }

    /// A correction of the step then is a repetition of it.
    fn sharpen(&mut self) {
        self.system.work.is_sharp = true;
        self.is_thorough = true;
    }
}

impl Linearisable for MechanismPart {
    /// About a state at rest, or in slow motion: changes of the constraint gradients in time are
    /// neglected. Nothing for a part too large for dense matrices.
    fn linearise(&mut self, _t: f64, inputs: &[f64]) -> Option<Linearisation> {
        if self.system.contacts.is_some() {
            return None;
        }
        linearise::linearise(self, inputs)
    }

    /// Those of the last linearisation.
    fn state_names(&mut self) -> Vec<String> {
        self.state_names.clone()
    }

    fn sequence_model(&mut self, _t: f64, inputs: &[f64]) -> Option<SequenceModel> {
        self.find_sequence_model(inputs)
    }
}

impl InterfaceResponse for MechanismPart {
    fn interface(&mut self, _t: f64, inputs: &[f64], found: &mut EffectiveInterface) -> bool {
        interface::effective(self, inputs, found)
    }
}

impl State for MechanismPart {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.system.visit(visitor);
        visitor.fixed(&mut self.started_with);
        let mut unfinished = u64::from(self.is_unfinished);
        visitor.count(&mut unfinished);
        if visitor.replaces() {
            self.is_unfinished = unfinished != 0;
            if let Some(tangent) = &mut self.tangent {
                tangent.review(&self.system);
            }
        }
    }

    /// Contacts come and go, and grains are no coordinates.
    fn is_chartable(&mut self) -> bool {
        !self.has_impulses()
    }
}
