//! Gives a model its ports and makes a part of it.

use super::interface_jacobian::{InterfaceJacobian, PrescribedNode};
use super::{Along, ContactForce, MechanismPart, Output, motion_values};
use crate::drive::Drive;
use crate::element::{ElementId, PortWrench, References, Remote};
use crate::error::ModelError;
use crate::integrator::Method;
use crate::joint::{Coordinate, PrescribedPose};
use crate::linear::Prescribed;
use crate::model::{Model, Used};
use crate::node::{Marker, NodeId};
use crate::sensor::Sensor;
use crate::sharing::Sharing;
use crate::system::{Options, System};
use oldham_cosim::{Conjugate, InputPort, MotionLaw, OutputPort, Ports, Quantity, Unit};
use oldham_space::Vec3;

/// A model and the ports it gets.
#[derive(Clone, Debug)]
pub struct PartBuilder {
    pub(super) model: Model,
    pub(super) ports: Ports,
    pub(super) outputs: Vec<Output>,
    pub(super) loaded: Vec<(Marker, usize)>,
    /// Points that received thrusts push apart, and the component of each.
    pub(super) thrusts: Vec<([Marker; 2], usize)>,
    /// Coordinates of joints that received torques and forces push, and the component of each.
    pub(super) pushed: Vec<(Coordinate, [Marker; 2], usize)>,
    pub(super) driven: Vec<(ElementId, usize)>,
    pub(super) attached: Vec<(NodeId, usize)>,
    pub(super) prescribed: Vec<(String, PrescribedNode)>,
    /// Elements that are there for a port, and the first component of its input.
    pub(super) for_ports: Vec<(ElementId, usize)>,
    /// Nodes whose velocities are prescribed, too.
    pub(super) moved: Vec<NodeId>,
    /// Nodes that follow by a law, and the first component of the motion.
    pub(super) followers: Vec<(NodeId, usize, MotionLaw)>,
    pub(super) shares_tangent: bool,
    pub(super) uses_tangents: bool,
    pub(super) is_thorough: bool,
    pub(super) predicts_interface: bool,
    pub(super) shares_loads: bool,
}

/// The ports by which a part tells how its loads change with its prescribed poses.
#[derive(Clone, Debug)]
pub struct Shared {
    /// The motion at which each load was found, in the order of the prescribed nodes.
    pub found_at: Vec<OutputPort>,
    /// The tangent of all loads by all poses.
    pub tangent: OutputPort,
}

/// The ports by which the owner of interface nodes deals with a part that shares its tangent.
#[derive(Clone, Debug)]
pub struct Attached {
    /// The motions of the nodes, for the part to follow.
    pub motions: Vec<OutputPort>,
    /// The loads of the part on the nodes.
    pub loads: Vec<InputPort>,
    /// The motions at which the part found them.
    pub found_at: Vec<InputPort>,
    /// How they change.
    pub tangent: InputPort,
}

impl PartBuilder {
    /// A model without ports yet.
    pub fn new(model: Model) -> Self {
        Self {
            model,
            ports: Ports::new(),
            outputs: Vec::new(),
            loaded: Vec::new(),
            thrusts: Vec::new(),
            pushed: Vec::new(),
            driven: Vec::new(),
            attached: Vec::new(),
            prescribed: Vec::new(),
            for_ports: Vec::new(),
            moved: Vec::new(),
            followers: Vec::new(),
            shares_tangent: false,
            uses_tangents: false,
            is_thorough: false,
            predicts_interface: false,
            shares_loads: false,
        }
    }

    /// A node whose pose is prescribed by a motion that the part receives. In return it gives the
    /// load of the part on that node, at a port named `name.load`: f_C = -(reaction + inertia
    /// force), Fontana 2026, Eq. 2, with the reaction that acts on the body.
    pub fn prescribe(&mut self, name: &str, node: NodeId) -> (InputPort, OutputPort) {
        self.prescribe_by(name, node, PrescribedPose::new)
    }

    /// The same with the velocity of that motion besides its pose. Not for parts that share their
    /// tangents.
    pub fn prescribe_motion(&mut self, name: &str, node: NodeId) -> (InputPort, OutputPort) {
        self.moved.push(node);
        self.prescribe_by(name, node, |node, first| {
            PrescribedPose::new(node, first).with_velocity()
        })
    }

    /// The same with a law by which the node follows that motion. For the method of impulses, which computes velocities.
    pub fn follow(&mut self, name: &str, node: NodeId, law: MotionLaw) -> (InputPort, OutputPort) {
        let ports = self.prescribe(name, node);
        let first = self.ports.input_range(ports.0).start;
        self.followers.push((node, first, law));
        ports
    }

    fn prescribe_by(
        &mut self,
        name: &str,
        node: NodeId,
        pose: impl FnOnce(NodeId, usize) -> PrescribedPose,
    ) -> (InputPort, OutputPort) {
        let initial = motion_values(&self.model.nodes[node.0].initial, Vec3::ZERO, Vec3::ZERO);
        let motion = self
            .ports
            .add_input_with(name, Quantity::Motion, initial.to_vec());
        let first = self.ports.input_range(motion).start;
        let joint = self
            .model
            .element(format!("pose of {name}"), pose(node, first));
        self.for_ports.push((joint, first));
        if !self
            .model
            .prescribed
            .iter()
            .any(|(prescribed, _)| *prescribed == node)
        {
            self.model.prescribed.push((node, joint));
        }
        let force = self
            .ports
            .add_output(format!("{name}.load"), Quantity::Wrench);
        self.outputs.push(Output::Interface(node, joint));
        let prescribed = PrescribedNode {
            node,
            joint,
            motion: first,
            has_velocity: self.moved.contains(&node),
        };
        self.prescribed.push((name.to_owned(), prescribed));
        self.ports
            .conjugate(Conjugate::GivesForce { motion, force });
        (motion, force)
    }

    /// A node on which a wrench that the part receives acts. In return it gives the motion of the
    /// node, at a port named `name.motion`.
    pub fn load(&mut self, name: &str, node: NodeId) -> (InputPort, OutputPort) {
        self.load_at(name, Marker::on(node))
    }

    /// The same for a point away from its node: the moment is about that point, and the motion is
    /// that of the marker.
    pub fn load_at(&mut self, name: &str, at: Marker) -> (InputPort, OutputPort) {
        let force = self.ports.add_input(name, Quantity::Wrench);
        let first = self.ports.input_range(force).start;
        self.loaded.push((at, first));
        let wrench = PortWrench::new(at, first);
        let element = self.model.element(format!("load at {name}"), wrench);
        self.for_ports.push((element, first));
        let motion = self.observe_at(&format!("{name}.motion"), at);
        self.ports
            .conjugate(Conjugate::GivesMotion { force, motion });
        (force, motion)
    }

    /// Shows how the loads on all nodes prescribed so far change with their poses, and lets the
    /// part correct its steps for small changes of those. Only for one integrator step per macro
    /// step.
    pub fn share_tangent(&mut self) -> Shared {
        let names: Vec<(String, NodeId)> = self
            .prescribed
            .iter()
            .map(|(name, prescribed)| (format!("{name}.at"), prescribed.node))
            .collect();
        let found_at = names.iter().map(|(name, node)| self.observe(name, *node));
        let found_at = found_at.collect();
        self.shares_tangent = true;
        self.outputs.push(Output::Tangent);
        let order = 6 * self.prescribed.len();
        let tangent = self.ports.add_output("tangent", Quantity::Tangent(order));
        Shared { found_at, tangent }
    }

    /// Nodes of this part on which another part that shares its tangent exerts loads. The two
    /// must use the same method and step.
    pub fn attach(&mut self, name: &str, nodes: &[NodeId]) -> Attached {
        self.uses_tangents = true;
        let ports = &mut self.ports;
        let mut add = |what: &str, i: usize, quantity| {
            ports.add_input(format!("{name}.{i}.{what}"), quantity)
        };
        let count = nodes.len();
        let loads: Vec<_> = (0..count)
            .map(|i| add("load", i, Quantity::Wrench))
            .collect();
        let found_at: Vec<_> = (0..count).map(|i| add("at", i, Quantity::Motion)).collect();
        let tangent = ports.add_input(format!("{name}.tangent"), Quantity::Tangent(6 * count));
        let first = |port: &InputPort| self.ports.input_range(*port).start;
        let received = nodes.iter().copied().zip(loads.iter().map(first));
        self.attached.extend(received);
        let remote = Remote::new(
            nodes.to_vec(),
            loads.iter().map(first).collect(),
            found_at.iter().map(first).collect(),
            first(&tangent),
        );
        let element = self.model.element(format!("loads of {name}"), remote);
        if let Some(&load) = loads.first() {
            let first = self.ports.input_range(load).start;
            self.for_ports.push((element, first));
        }
        let shown = nodes.iter().enumerate();
        let motions: Vec<_> = shown
            .map(|(i, &node)| self.observe(&format!("{name}.{i}.motion"), node))
            .collect();
        for (&force, &motion) in loads.iter().zip(&motions) {
            self.ports
                .conjugate(Conjugate::GivesMotion { force, motion });
        }
        Attached {
            motions,
            loads,
            found_at,
            tangent,
        }
    }

    /// Corrections of a step end with a full iteration: dearer, and as exact as an advance.
    pub fn correct_thoroughly(&mut self) {
        self.is_thorough = true;
    }

    /// A part that shares its tangent begins each step with its prescribed nodes where its own formula predicts them,
    /// as it does with all others, and not where the motion that it receives leads. For an owner with the same method and step,
    /// which knows where the loads were found.
    pub fn predict_interface(&mut self) {
        self.predicts_interface = true;
    }

    /// Joints may be redundant: those that hold the same share the load with the least norm, forces
    /// in N beside moments divided by the size of the model. Constraints that follow from others in
    /// the initial position are left out of the equations.
    pub fn share_loads(&mut self) {
        self.shares_loads = true;
    }

    /// A number that the part receives, to be used as a drive by elements that are added to
    /// [`model`](Self::model) afterwards.
    pub fn drive(&mut self, name: &str, unit: Unit) -> (InputPort, Drive) {
        let port = self.ports.add_input(name, Quantity::Scalar(unit));
        let component = self.ports.input_range(port).start;
        (port, Drive::Input(component))
    }

    /// Shows the centres of grains of one kind, given by its name: a part may have only some kinds of the whole.
    pub fn observe_grains(&mut self, name: &str, kind: &str) -> OutputPort {
        let kinds = &self.model.contacts.grains;
        let before = kinds.iter().take_while(|grains| grains.name != kind);
        let first = before.map(|grains| grains.centres.len()).sum();
        let own = kinds.iter().find(|grains| grains.name == kind);
        let count = own.map_or(0, |grains| grains.centres.len());
        self.outputs.push(Output::Grains(first..first + count));
        let quantity = Quantity::Array(Unit::METRE, 3 * count);
        self.ports.add_output(name, quantity)
    }

    /// Shows the force and moment of all contacts on a node, the moment about the node.
    pub fn observe_contacts(&mut self, name: &str, node: NodeId) -> OutputPort {
        self.outputs.push(Output::ContactLoad(node));
        self.ports.add_output(name, Quantity::Wrench)
    }

    /// Shows where these press, in the middle.
    pub fn observe_contact_point(&mut self, name: &str, node: NodeId) -> OutputPort {
        self.outputs.push(Output::ContactPoint(node));
        self.ports.add_output(name, Quantity::Array(Unit::METRE, 3))
    }

    /// Shows the force of contacts on a node along a direction.
    pub fn observe_contact_force(&mut self, name: &str, force: ContactForce) -> OutputPort {
        self.outputs.push(Output::ContactForce(force));
        self.ports.add_output(name, Quantity::Scalar(Unit::NEWTON))
    }

    /// Shows the motion of a node.
    pub fn observe(&mut self, name: &str, node: NodeId) -> OutputPort {
        self.observe_at(name, Marker::on(node))
    }

    /// Shows the motion of a marker: of a point away from its node, with axes of its own.
    pub fn observe_at(&mut self, name: &str, at: Marker) -> OutputPort {
        self.outputs.push(Output::Motion(at));
        self.ports.add_output(name, Quantity::Motion)
    }

    /// Shows the motion of a node or marker along a fixed direction.
    pub fn observe_along(
        &mut self,
        name: &str,
        at: impl Into<Marker>,
        direction: Vec3,
        along: Along,
    ) -> OutputPort {
        self.outputs
            .push(Output::Along(at.into(), direction.unit(), along));
        self.ports.add_output(name, along.quantity())
    }

    /// Shows what a sensor reads.
    pub fn observe_sensor(&mut self, name: &str, sensor: Sensor) -> OutputPort {
        let quantity = Quantity::Scalar(sensor.unit());
        self.outputs.push(Output::Sensor(Box::new(sensor)));
        self.ports.add_output(name, quantity)
    }

    /// Shows the acceleration of the second of two markers as it is seen from the first, along a
    /// direction in the axes of that.
    pub fn observe_relative_acceleration(
        &mut self,
        name: &str,
        ends: [Marker; 2],
        direction: Vec3,
    ) -> OutputPort {
        self.outputs
            .push(Output::RelativeAcceleration(ends, direction.unit()));
        let quantity = Quantity::Scalar(Unit::METRE_PER_SECOND2);
        self.ports.add_output(name, quantity)
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

    fn check_tangent(&self) -> Result<(), Vec<ModelError>> {
        let moved = self.moved.iter().filter(|_| self.shares_tangent);
        let problem = |&node: &NodeId| {
            let node = self.model.node_name(node).to_owned();
            ModelError::VelocityBesideTangent { node }
        };
        let problems: Vec<ModelError> = moved.map(problem).collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems),
        }
    }

    /// Says which outputs depend on inputs at once: forces of elements that inputs drive. Reactions
    /// of joints change with the next step only.
    fn declare_feedthrough(&mut self) {
        for (index, output) in self.outputs.iter().enumerate() {
            let mut driving = DrivingInputs::default();
            for element in shown_elements(output) {
                let element = &mut self.model.elements[element.0].element;
                if element.constraints() == 0 {
                    element.refer(&mut driving);
                }
            }
            for input in 0..self.ports.inputs().len() {
                let range = self.ports.input_range(InputPort(input));
                if driving.0.iter().any(|first| range.contains(first)) {
                    for to in self.ports.output_range(OutputPort(index)) {
                        for from in range.clone() {
                            self.ports.feed_through(to, from);
                        }
                    }
                }
            }
        }
    }

    /// Checks everything; `micro_steps` integrator steps make one macro step.
    pub fn build(
        mut self,
        options: Options,
        micro_steps: usize,
    ) -> Result<MechanismPart, Vec<ModelError>> {
        self.check_tangent()?;
        self.declare_feedthrough();
        let method = options.method;
        let has_tangent = !method.is_explicit() || method == Method::Impulses;
        if self.shares_tangent && !has_tangent || self.uses_tangents && method.is_explicit() {
            return Err(vec![ModelError::NoTangent]);
        }
        let sharing = match self.shares_loads {
            true => {
                let sensors = self
                    .outputs
                    .iter()
                    .filter(|output| matches!(output, Output::Sensor(_)));
                let read: Vec<ElementId> = sensors.flat_map(shown_elements).collect();
                self.model.relieve(self.ports.initial_inputs(), &read)
            }
            false => Vec::new(),
        };
        let mut system = System::new(self.model, options)?;
        if !sharing.is_empty() {
            let sharing = Sharing::new(&sharing, &system.assembly);
            system.sharing = Some(Box::new(sharing));
        }
        let width = self.ports.input_width();
        system.reserve_linearisation(width);
        let prescribed: Vec<PrescribedNode> = self.prescribed.into_iter().map(|(_, p)| p).collect();
        let tangent = self
            .shares_tangent
            .then(|| InterfaceJacobian::new(prescribed.clone(), &system));
        if tangent.is_some() {
            system.prescribed = Prescribed::Change;
            let is_smooth = !method.is_explicit() && system.tree.is_none();
            system.predicts_given = self.predicts_interface && is_smooth && !self.is_thorough;
            system.let_contacts_give_way();
        }
        Ok(MechanismPart {
            tangent,
            is_thorough: self.is_thorough,
            uses_tangents: self.uses_tangents,
            is_corrected: false,
            is_unfinished: false,
            initial: system.motions.clone(),
            started_with: vec![f64::NAN; width],
            inputs: self.ports.initial_inputs().to_vec(),
            ahead: [vec![0.0; width], vec![0.0; width]],
            trusts_received: false,
            early_inputs: [vec![0.0; width], vec![0.0; width]],
            state_names: Vec::new(),
            not_linear: None,
            system,
            ports: self.ports,
            outputs: self.outputs,
            for_ports: self.for_ports,
            loaded: self.loaded,
            thrusts: self.thrusts,
            pushed: self.pushed,
            driven: self.driven,
            interface: None,
            followers: self.followers,
            attached: self.attached,
            prescribed,
            micro_steps: micro_steps.max(1),
        })
    }
}

/// The elements whose loads an output shows.
fn shown_elements(output: &Output) -> Vec<ElementId> {
    match output {
        Output::Element(element, _) => vec![*element],
        Output::Sensor(sensor) => {
            let mut used = Used::default();
            sensor.clone().refer(&mut used);
            used.elements
        }
        _ => Vec::new(),
    }
}

/// Collects the inputs that an element refers to.
#[derive(Default)]
struct DrivingInputs(Vec<usize>);

impl References for DrivingInputs {
    fn node(&mut self, _: &mut NodeId) {}

    fn input(&mut self, component: &mut usize) {
        self.0.push(*component);
    }
}
