//! Loads of actuators that hold a mechanism at rest.
//!
//! In statics the line of such an actuator is a rod that keeps its length, the coordinate of a joint stays as it is, and the
//! force that takes is the load. In a run the load acts along the line, or a port brings it, and the run starts where the
//! statics ended.

use oldham_cosim::{InputPort, Unit};
use oldham_multibody::contact::ContactModel;
use oldham_multibody::{
    Coordinate, Drive, DrivenCoordinate, ElementId, Joint, Law, Marker, MechanismPart, Model,
    NodeId, PortedModel, Received, Rod, SolveError, Target,
};

use super::spec::{MechanismSpec, initial_inputs};

/// An actuator that statics hold, and whose load is found.
#[derive(Clone, Debug)]
pub(crate) struct StaticLine {
    pub name: String,
    ends: [Marker; 2],
    held: Held,
    bearer: Bearer,
}

/// The length of a line, if it is one, and its load.
pub(crate) type Carried = (Option<f64>, f64);

/// What stays as it is.
#[derive(Clone, Copy, Debug)]
enum Held {
    Length(f64),
    Joint(Coordinate),
}

/// Who pushes in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bearer {
    /// The line itself, always with the static load: an element of the model.
    Line(ElementId),
    /// Another subsystem through a port, which starts with the static load.
    Port,
    /// Another subsystem through a port, which starts as it is given: only statics hold it.
    Given,
}

impl StaticLine {
    /// A line that pushes by itself; it is added to the model, without a load yet.
    pub fn alone(
        model: &mut Model,
        name: &str,
        ends: [Marker; 2],
        length: f64,
    ) -> (Self, ElementId) {
        let element = model.element(name, Rod::new(ends[0], ends[1], length, Law::push(0.0)));
        let line = Self {
            name: name.to_owned(),
            ends,
            held: Held::Length(length),
            bearer: Bearer::Line(element),
        };
        (line, element)
    }

    /// What a port pushes, if that can be held.
    pub fn at_port(whole: &PortedModel, input: InputPort, bearer: Bearer) -> Option<Self> {
        // A mechanism with mistakes may lack inputs that its file names.
        let (name, received) = whole.inputs.get(input.0)?;
        let (held, ends) = match *received {
            Received::Thrust(ends) => {
                let [a, b] = ends.map(|end| whole.model.place_of(&end));
                (Held::Length((b - a).norm()), ends)
            }
            Received::CoordinateForce(coordinate, ends) => (Held::Joint(coordinate), ends),
            _ => return None,
        };
        Some(Self {
            name: name.clone(),
            ends,
            held,
            bearer,
        })
    }

    /// Its length, if it has one.
    pub fn length(&self) -> Option<f64> {
        match self.held {
            Held::Length(length) => Some(length),
            Held::Joint(_) => None,
        }
    }

    /// The unit of its load.
    pub fn unit(&self) -> Unit {
        match self.held {
            Held::Length(_) => Unit::NEWTON,
            Held::Joint(coordinate) => coordinate.force_unit(),
        }
    }

    /// Holds it; the multiplier of the element is the load.
    fn hold(&self, model: &mut Model) -> ElementId {
        let [a, b] = self.ends;
        let name = format!("{}.static", self.name);
        match (self.held, self.bearer) {
            (Held::Length(length), Bearer::Line(element)) => {
                model.replace(element, Joint::distance(a, b, length));
                element
            }
            (Held::Length(length), _) => model.element(name, Joint::distance(a, b, length)),
            (Held::Joint(coordinate), _) => {
                let stays = Target::Rate(Drive::ZERO);
                model.element(name, DrivenCoordinate::new(coordinate, self.ends, stays))
            }
        }
    }

    /// Lets a load push along the line, if that pushes by itself.
    fn push(&self, model: &mut Model, load: f64) {
        if let (Held::Length(length), Bearer::Line(element)) = (self.held, self.bearer) {
            let [a, b] = self.ends;
            model.replace(element, Rod::new(a, b, length, Law::push(load)));
        }
    }
}

/// A mechanism whose static lines are held.
pub(crate) struct HeldMechanism {
    pub model: PortedModel,
    /// What holds them.
    lines: Vec<ElementId>,
}

impl HeldMechanism {
    /// What the lines push with at rest, in their order.
    pub fn loads(&self, part: &MechanismPart) -> Vec<f64> {
        // A rod pulls with its multiplier.
        let load = |line: &ElementId| -part.system().multipliers(*line)[0];
        self.lines.iter().map(load).collect()
    }
}

impl MechanismSpec {
    /// The mechanism with its static lines held at their lengths.
    pub fn held(&self) -> HeldMechanism {
        let mut held = self.whole.clone();
        let lines = self.static_lines.iter();
        let lines = lines.map(|line| line.hold(&mut held.model)).collect();
        if held.model.has_contacts() {
            // What only contacts carry rests where it is given, and nothing else touches anything: a part that runs
            // with contacts need not be able to solve for a rest.
            for node in held.model.unattached_nodes() {
                let name = format!("{}.rest", held.model.node_name(node));
                let here = held.model.place_of(&Marker::on(node));
                let [a, b] = [NodeId::GROUND, node].map(|end| held.model.marker(end, here));
                held.model.element(name, Joint::clamp(a, b));
            }
            *held.model.contacts() = ContactModel::default();
        }
        HeldMechanism { model: held, lines }
    }

    /// Whether it starts at rest under loads that are found.
    pub fn starts_under_static_loads(&self) -> bool {
        let mut lines = self.static_lines.iter();
        lines.any(|line| line.bearer != Bearer::Given)
    }

    /// What an input carries, given the loads of all static lines.
    pub fn carried(&self, input: InputPort, loads: &[f64]) -> Option<Carried> {
        let (name, _) = self.whole.inputs.get(input.0)?;
        let is_it = |(line, _): &(&StaticLine, _)| {
            !matches!(line.bearer, Bearer::Line(_)) && line.name == *name
        };
        let found = self.static_lines.iter().zip(loads).find(is_it);
        found.map(|(line, load)| (line.length(), *load))
    }

    /// The mechanism as it runs: at rest under its static loads, if it has any, else as it is given.
    pub fn balanced(&self, start: f64) -> Result<PortedModel, SolveError> {
        if !self.starts_under_static_loads() {
            return Ok(self.whole.clone());
        }
        let (part, loads) = self.at_rest(start)?;
        let mut balanced = self.whole.clone();
        for (node, given) in self.whole.model.moving_nodes() {
            let rest = part.system().motion(node);
            let motion = rest.moving(given.velocity, given.angular_velocity);
            balanced.model.place(node, motion);
        }
        for (line, load) in self.static_lines.iter().zip(loads) {
            line.push(&mut balanced.model, load);
        }
        Ok(balanced)
    }

    /// The mechanism at rest with its static lines held, and the loads of these, in their order.
    pub fn at_rest(&self, start: f64) -> Result<(MechanismPart, Vec<f64>), SolveError> {
        let held = self.held();
        let part = held.model.builder().build(self.options, self.micro_steps);
        let mut part = part.expect("a checked model has no mistakes in its data");
        let inputs = initial_inputs(&part);
        part.find_static_equilibrium(start, &inputs)?;
        let loads = held.loads(&part);
        Ok((part, loads))
    }
}
