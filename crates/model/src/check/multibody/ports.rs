//! What a mechanism receives and sends.

use oldham_cosim::{Quantity, Unit};
use oldham_multibody::{Along, Coordinate, LineValue, Marker, NodeId, Received, Sent, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::part::Port;
use crate::format::multibody::{Input, Multibody, Orientation, Output, Vector};
use crate::format::{At, Entry};
use crate::mechanism::Pose;

/// One thing that an output sends.
#[derive(Clone, Copy)]
enum Kind {
    Motion,
    Along(Along),
    Reaction,
    Line(LineValue),
    Coordinate(Coordinate),
    Sensor,
}

impl Checker<'_> {
    /// Notes which component of the input vector each scalar input is, for those who use them.
    pub(super) fn scalar_inputs<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        let mut component = 0;
        for entry in &section.inputs {
            let input = &entry.value.value;
            let quantity = if input.wrench.is_some() {
                Quantity::Wrench
            } else if input.pose.is_some() {
                Quantity::Motion
            } else if input.rotation.is_some() || input.sliding.is_some() {
                Quantity::Rotation
            } else if input.scalar.is_none() {
                Quantity::Scalar(Unit::ONE)
            } else {
                draft.scalars.insert(&entry.name.value, component);
                Quantity::Scalar(Unit::ONE)
            };
            component += quantity.width();
        }
    }

    /// Inputs and outputs, in the order in which the solver has them: what it sends in return for
    /// an input comes before the outputs.
    pub(super) fn ports<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) -> [Vec<Port>; 2] {
        let (mut inputs, mut outputs, mut shown) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &section.inputs {
            self.name(&entry.name, "a port");
            let received = self.received(entry, draft);
            inputs.push(Port {
                name: entry.name.clone(),
                quantity: received.as_ref().map(Received::quantity),
            });
            if let Some(received) = received {
                outputs.extend(answers(entry, &received));
                let whole = &mut draft.spec.whole;
                whole.inputs.push((entry.name.value.clone(), received));
            }
        }
        for entry in &section.outputs {
            self.name(&entry.name, "a port");
            let sent = self.sent(entry, draft);
            outputs.push(Port {
                name: entry.name.clone(),
                quantity: sent.as_ref().map(Sent::quantity),
            });
            shown.extend(sent.map(|sent| (entry.name.value.clone(), sent)));
        }
        // What is recorded besides, such as contacts and particles, comes after them.
        draft.spec.whole.outputs.splice(0..0, shown);
        [inputs, outputs]
    }

    fn received(
        &mut self,
        entry: &Entry<Input>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<Received> {
        let input = &entry.value.value;
        if input.pressure.is_none() {
            self.unused(&input.area, "only a pressure acts on an area");
        }
        if input.wrench.is_none() {
            let message = "only a wrench acts on a point of a node";
            self.unused(&input.offset, message);
            self.unused(&input.orientation, message);
        }
        let kinds = [
            ("wrench", &input.wrench),
            ("pose", &input.pose),
            ("torque", &input.torque),
            ("force", &input.force),
            ("rotation", &input.rotation),
            ("sliding", &input.sliding),
            ("scalar", &input.scalar),
            ("thrust", &input.thrust),
            ("pressure", &input.pressure),
        ];
        let kinds = kinds.map(|(key, given)| (key, (), given));
        self.one_of(entry, &kinds, "receives")?;
        let at_joints = [
            (Coordinate::Angle, &input.torque, &input.rotation),
            (Coordinate::Slide, &input.force, &input.sliding),
        ];
        for (coordinate, force, motion) in at_joints {
            if let Some(joint) = force {
                let ends = self.joint_with(joint, coordinate, draft)?;
                return Some(Received::CoordinateForce(coordinate, ends));
            }
            if let Some(joint) = motion {
                let ends = self.joint_with(joint, coordinate, draft)?;
                self.driven_once(joint, coordinate, draft)?;
                return Some(Received::CoordinateMotion(coordinate, ends));
            }
        }
        if let Some(node) = &input.wrench {
            let at = self.point(node, &input.offset, &input.orientation, draft);
            return Some(Received::Wrench(at?));
        }
        if let Some(node) = &input.pose {
            let node = self.moving_node_named(node, draft)?;
            draft.held.insert(node);
            return Some(Received::Pose(node));
        }
        if let Some(unit) = &input.scalar {
            return Some(Received::Scalar(Unit(unit.value.clone().into())));
        }
        if let Some(actuator) = &input.thrust {
            return Some(Received::Thrust(self.actuator_named(actuator, draft)?));
        }
        let ends = self.actuator_named(input.pressure.as_ref()?, draft);
        let area = self.pressed_area(entry);
        Some(Received::Pressure(ends?, area?))
    }

    /// A coordinate whose motion nothing else prescribes.
    fn driven_once(
        &mut self,
        joint: &At<String>,
        coordinate: Coordinate,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<()> {
        let key = (joint.value.clone(), coordinate == Coordinate::Angle);
        if draft.driven.insert(key) {
            return Some(());
        }
        let word = super::word(coordinate);
        let message = format!("the {word} of `{}` is prescribed already", joint.value);
        self.report(&joint.span, message)
            .label("prescribed twice")
            .help(format!(
                "leave out this input or the `{word}` of the joint, or receive a `{}` instead",
                coordinate.force_name()
            ));
        None
    }

    fn pressed_area(&mut self, entry: &Entry<Input>) -> Option<f64> {
        if let Some(area) = &entry.value.value.area {
            return self.number(area);
        }
        let message = "a pressure needs the `area` on which it acts";
        self.report_missing(&entry.value.span, message)
            .label("has no `area`")
            .help("such as area = 65e-4, in m²; negative where the pressure pulls together");
        None
    }

    fn sent(&mut self, entry: &Entry<Output>, draft: &MechanismDraft<'_>) -> Option<Sent> {
        let output = &entry.value.value;
        let of_nodes = [
            ("translation", Along::Motion, &output.translation),
            ("displacement", Along::Displacement, &output.displacement),
            ("velocity", Along::Velocity, &output.velocity),
            ("acceleration", Along::Acceleration, &output.acceleration),
        ];
        let of_joints = [
            ("rotation", Coordinate::Angle, &output.rotation),
            ("sliding", Coordinate::Slide, &output.sliding),
        ];
        let others = [
            ("motion", Kind::Motion, &output.motion),
            ("sensor", Kind::Sensor, &output.sensor),
            ("reaction", Kind::Reaction, &output.reaction),
            ("length", Kind::Line(LineValue::Length), &output.length),
            ("rate", Kind::Line(LineValue::Rate), &output.rate),
        ];
        let of_nodes = of_nodes.map(|(key, along, of)| (key, Kind::Along(along), of));
        let of_joints = of_joints.map(|(key, which, of)| (key, Kind::Coordinate(which), of));
        let all = [&of_nodes[..], &of_joints, &others].concat();
        let (sent, of) = self.one_of(entry, &all, "sends")?;
        let is_along = matches!(sent, Kind::Along(_));
        if !is_along {
            self.unused(&output.axis, "only motions along a line have an axis");
        }
        if !matches!(sent, Kind::Reaction) {
            self.unused(&output.on, "only a reaction is on a node of its element");
        }
        if !is_along && !matches!(sent, Kind::Motion) {
            let message = "only the motion of a node can be that of a point";
            self.unused(&output.offset, message);
        }
        if !matches!(sent, Kind::Motion) {
            self.unused(&output.orientation, "only a motion in space has axes");
        }
        match sent {
            Kind::Motion => {
                let at = self.point(of, &output.offset, &output.orientation, draft);
                Some(Sent::Motion(at?))
            }
            Kind::Along(along) => {
                let axis = self.output_axis(entry);
                let at = self.point(of, &output.offset, &None, draft);
                Some(Sent::Along(at?, axis?, along))
            }
            Kind::Line(value) => Some(Sent::Line(self.actuator_named(of, draft)?, value)),
            Kind::Coordinate(coordinate) => {
                let ends = self.joint_with(of, coordinate, draft)?;
                Some(Sent::Coordinate(coordinate, ends))
            }
            Kind::Sensor => Some(self.sensor_named(of, draft)?.sent()),
            Kind::Reaction => self.reaction(of, &output.on, draft),
        }
    }

    /// A point of a node that can move, given in node axes.
    fn point(
        &mut self,
        node: &At<String>,
        offset: &Option<At<Vector>>,
        orientation: &Option<At<Orientation>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Marker> {
        let offset = self.vector_or_zero(offset);
        let axes = self.orientation_in(&Pose::ABSOLUTE, orientation);
        let node = self.moving_node_named(node, draft)?;
        Some(Marker {
            node,
            offset: offset?,
            orientation: axes?,
        })
    }

    fn output_axis(&mut self, entry: &Entry<Output>) -> Option<Vec3> {
        if let Some(axis) = &entry.value.value.axis {
            return self.direction(axis);
        }
        let message = "a motion along a line needs the `axis` of the line";
        self.report_missing(&entry.value.span, message)
            .label("has no `axis`")
            .help("such as axis = [1, 0, 0]");
        None
    }

    fn reaction(
        &mut self,
        element: &At<String>,
        on: &Option<At<String>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Sent> {
        let holder = self.holder_named(element, "element", draft)?;
        let nodes = draft.spec.whole.model.nodes_of(holder);
        let node = match on {
            None => usize::from(nodes.get(1).is_some_and(|&second| second != NodeId::GROUND)),
            Some(on) => self.node_of(element, on, nodes, draft)?,
        };
        if nodes[node] == NodeId::GROUND {
            let message = "the reaction on the ground is the opposite of that on the other node";
            let place = on.as_ref().map_or(&element.span, |on| &on.span);
            self.report(place, message).help("ask for the other node");
            return None;
        }
        Some(Sent::Reaction {
            element: holder,
            node,
        })
    }
}

/// The outputs that the solver adds to an input.
fn answers(entry: &Entry<Input>, received: &Received) -> Vec<Port> {
    let port = |(suffix, quantity): (&str, _)| Port::of(&entry.name, suffix, quantity);
    received.answers().into_iter().map(port).collect()
}
