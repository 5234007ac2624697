//! A system with ports: what the engine drives.

mod interface;
mod linearise;

use crate::drive::Drive;
use crate::element::{ElementId, PortWrench};
use crate::error::{ModelError, SolveError};
use crate::joint::PrescribedPose;
use crate::math::Vec3;
use crate::model::Model;
use crate::node::{Motion, NodeId};
use crate::system::{Options, System};
use oldham_cosim::{
    Conjugate, Counters, EffectiveInterface, Energy, InputPort, Inputs, Linearisation, OutputPort,
    Ports, Quantity, Reached, State, StepError, Subsystem, Unit,
};

/// A model and the ports it gets.
pub struct PartBuilder {
    model: Model,
    ports: Ports,
    outputs: Vec<Output>,
    loaded: Vec<(NodeId, usize)>,
}

/// What an output port shows.
#[derive(Clone, Copy, Debug)]
enum Output {
    Motion(NodeId),
    /// Motion of a node along a direction.
    Along(NodeId, Vec3, Along),
    /// Force and moment of an element on one of its nodes.
    Element(ElementId, usize),
    /// Internal load of the part on a node whose pose is prescribed.
    Interface(NodeId, ElementId),
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

impl PartBuilder {
    /// A model without ports yet.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            ports: Ports::new(),
            outputs: Vec::new(),
            loaded: Vec::new(),
        }
    }

    /// A node whose pose is prescribed by a motion that the part receives. In return it gives the
    /// load of the part on that node, at a port named `name.load`: f_C = -(reaction + inertia
    /// force), Fontana 2026, Eq. 2, with the reaction that acts on the body.
    pub fn prescribe(&mut self, name: &str, node: NodeId) -> (InputPort, OutputPort) {
        let initial = motion_values(&self.model.nodes[node.0].initial, Vec3::ZERO, Vec3::ZERO);
        let motion = self
            .ports
            .add_input_with(name, Quantity::Motion, initial.to_vec());
        let first = self.ports.input_range(motion).start;
        let pose = PrescribedPose::new(node, first);
        let joint = self.model.element(format!("pose of {name}"), pose);
        let force = self
            .ports
            .add_output(format!("{name}.load"), Quantity::Wrench);
        self.outputs.push(Output::Interface(node, joint));
        self.ports
            .conjugate(Conjugate::GivesForce { motion, force });
        (motion, force)
    }

    /// A node on which a wrench that the part receives acts. In return it gives the motion of the
    /// node, at a port named `name.motion`.
    pub fn load(&mut self, name: &str, node: NodeId) -> (InputPort, OutputPort) {
        let force = self.ports.add_input(name, Quantity::Wrench);
        let first = self.ports.input_range(force).start;
        self.loaded.push((node, first));
        self.model
            .element(format!("load at {name}"), PortWrench::new(node, first));
        let motion = self.observe(&format!("{name}.motion"), node);
        self.ports
            .conjugate(Conjugate::GivesMotion { force, motion });
        (force, motion)
    }

    /// A number that the part receives, to be used as a drive by elements that are added to
    /// [`model`](Self::model) afterwards.
    pub fn drive(&mut self, name: &str, unit: Unit) -> (InputPort, Drive) {
        let port = self.ports.add_input(name, Quantity::Scalar(unit));
        let component = self.ports.input_range(port).start;
        (port, Drive::Input(component))
    }

    /// Shows the motion of a node.
    pub fn observe(&mut self, name: &str, node: NodeId) -> OutputPort {
        self.outputs.push(Output::Motion(node));
        self.ports.add_output(name, Quantity::Motion)
    }

    /// Shows the motion of a node along a fixed direction.
    pub fn observe_along(
        &mut self,
        name: &str,
        node: NodeId,
        direction: Vec3,
        along: Along,
    ) -> OutputPort {
        self.outputs
            .push(Output::Along(node, direction.unit(), along));
        self.ports.add_output(name, along.quantity())
    }

    /// Shows the wrench that an element exerts on one of its nodes, given by its place in
    /// [`Element::nodes`](crate::Element::nodes).
    pub fn observe_element(&mut self, name: &str, element: ElementId, node: usize) -> OutputPort {
        self.outputs.push(Output::Element(element, node));
        self.ports.add_output(name, Quantity::Wrench)
    }

    /// The model, to add elements that use drives.
    pub fn model(&mut self) -> &mut Model {
        &mut self.model
    }

    /// Checks everything; `micro_steps` integrator steps make one macro step.
    pub fn build(self, options: Options, micro_steps: usize) -> Result<Part, Vec<ModelError>> {
        let mut system = System::new(self.model, options)?;
        let width = self.ports.input_width();
        system.reserve_linearisation(width);
        Ok(Part {
            initial: system.motions.clone(),
            started_with: vec![f64::NAN; width],
            inputs: self.ports.initial_inputs().to_vec(),
            system,
            ports: self.ports,
            outputs: self.outputs,
            loaded: self.loaded,
            micro_steps: micro_steps.max(1),
        })
    }
}

/// A multibody system as a part of a co-simulation.
pub struct Part {
    system: System,
    ports: Ports,
    outputs: Vec<Output>,
    /// Nodes on which received wrenches act, and the first component of each.
    loaded: Vec<(NodeId, usize)>,
    micro_steps: usize,
    /// Motions from which a start begins.
    initial: Vec<Motion>,
    /// Inputs of the last start.
    started_with: Vec<f64>,
    /// Inputs of the last micro step.
    inputs: Vec<f64>,
}

impl Part {
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

    /// Starts, or starts again while no step has been taken and the initial exchange brings other
    /// inputs, or restarts after an event.
    fn start_if_needed(&mut self, t: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let state = &self.system.state;
        let fresh = state.step == 0.0;
        if state.known > 0 && (!fresh || self.started_with == inputs) {
            return Ok(());
        }
        if !fresh {
            return self.system.restart(inputs);
        }
        self.system.motions.copy_from_slice(&self.initial);
        self.system.start(t, inputs)?;
        self.started_with.copy_from_slice(inputs);
        Ok(())
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

    /// Writes all outputs at the present state.
    pub(crate) fn write_outputs(&self, inputs: &[f64], outputs: &mut [f64]) {
        for (index, &output) in self.outputs.iter().enumerate() {
            let range = self.ports.output_range(OutputPort(index));
            self.output(output, inputs, &mut outputs[range]);
        }
    }

    fn output(&self, output: Output, inputs: &[f64], values: &mut [f64]) {
        let system = &self.system;
        let (force, moment) = match output {
            Output::Motion(node) => {
                let record = &system.state.now[node.0];
                let (a, alpha) = (record.acceleration, record.angular_acceleration);
                values.copy_from_slice(&motion_values(&record.motion, a, alpha));
                return;
            }
            Output::Along(node, direction, along) => {
                let record = &system.state.now[node.0];
                let motion = &record.motion;
                let vectors = [motion.position, motion.velocity, record.acceleration];
                along.write(values, vectors.map(|v| v.dot(direction)));
                return;
            }
            Output::Element(element, node) => system.wrench(element, node, inputs),
            Output::Interface(node, joint) => {
                let m = system.multipliers(joint);
                let (force, moment) = system.inertia_load(node);
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

impl Subsystem for Part {
    fn ports(&self) -> &Ports {
        &self.ports
    }

    fn advance(&mut self, from: f64, to: f64, inputs: &mut Inputs) -> Result<Reached, StepError> {
        let mut at = std::mem::take(&mut self.inputs);
        let size = self.micro_step(from, to);
        inputs.at(from, &mut at);
        let mut outcome = self.start_if_needed(from, &at);
        for index in 1..=self.micro_steps {
            if outcome.is_err() {
                break;
            }
            let end = from + (to - from) * (index as f64 / self.micro_steps as f64);
            inputs.at(end, &mut at);
            outcome = self.system.step_to(end, size, &at);
        }
        self.inputs = at;
        outcome?;
        Ok(Reached::end(to))
    }

    fn outputs(&mut self, t: f64, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.start_if_needed(t, inputs)?;
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
        for &port in wanted {
            let range = self.ports.output_range(port);
            self.output(self.outputs[port.0], inputs, &mut outputs[range]);
        }
        Ok(())
    }

    fn state(&mut self) -> Option<&mut dyn State> {
        Some(&mut self.system)
    }

    /// Accelerations are found again with the next inputs.
    fn restart(&mut self) {
        self.system.state.known = 0;
    }

    fn energy(&mut self, _t: f64, inputs: &[f64]) -> Option<Energy> {
        Some(self.system.energy(inputs))
    }

    /// About a state at rest, or in slow motion: changes of the constraint gradients in time are
    /// neglected. Nothing for a part too large for dense matrices.
    fn linearise(&mut self, _t: f64, inputs: &[f64]) -> Option<Linearisation> {
        linearise::linearise(self, inputs)
    }

    fn interface(&mut self, _t: f64, inputs: &[f64]) -> Option<EffectiveInterface> {
        interface::effective(self, inputs)
    }

    fn counters(&self) -> Counters {
        self.system.counters()
    }
}

/// The 19 components of a motion port.
fn motion_values(motion: &Motion, acceleration: Vec3, angular_acceleration: Vec3) -> [f64; 19] {
    let mut values = [0.0; 19];
    values[0..3].copy_from_slice(&motion.position.0);
    values[3..7].copy_from_slice(&motion.orientation.0);
    values[7..10].copy_from_slice(&motion.velocity.0);
    values[10..13].copy_from_slice(&motion.angular_velocity.0);
    values[13..16].copy_from_slice(&acceleration.0);
    values[16..19].copy_from_slice(&angular_acceleration.0);
    values
}
