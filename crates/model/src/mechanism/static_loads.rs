//! Loads of actuators that hold a mechanism at rest.
//!
//! In statics the line of such an actuator is a rod that keeps its length, the coordinate of a joint stays as it is, and the
//! force that takes is the load. In a run the load acts along the line, or a port brings it, and the run starts where the
//! statics ended.
//!
//! What only statics hold is held as far as that is independent of all else. A cylinder beside one that holds the same pushes
//! with what it starts with.

use oldham_cosim::{Conjugate, InputPort, OutputPort, Subsystem, Unit};
use oldham_multibody::contact::ContactModel;
use oldham_multibody::{
    Coordinate, Coordinates, Drive, DrivenCoordinate, ElementId, Joint, Law, Marker, MechanismPart,
    Model, NodeId, Options, PortedModel, Received, Rod, SolveError, Target,
};

use super::spec::{MechanismSpec, initial_inputs};

/// An actuator that statics hold, and whose load is found.
#[derive(Clone, Debug)]
pub(crate) struct StaticLine {
    pub name: String,
    ends: [Marker; 2],
    held: Held,
    bearer: Bearer,
    /// The port that brings its force in a run, if there is one.
    input: Option<InputPort>,
}

/// What an input carries at rest.
pub(crate) struct Carried {
    /// The length of its line, if it is one, and the output that tells it.
    pub length: Option<(OutputPort, f64)>,
    pub load: f64,
}

/// What stays as it is.
#[derive(Clone, Copy, Debug)]
enum Held {
    Length(f64),
    Joint(Coordinate),
}

/// Who pushes in a run.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Bearer {
    /// The line itself, always with the static load: an element of the model.
    Line(ElementId),
    /// Another subsystem through a port, which starts with the static load.
    Port,
    /// Another subsystem through a port, which starts with this force: only statics hold it.
    Given(f64),
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
            input: None,
        };
        (line, element)
    }

    /// What a port pushes, if that can be held; it starts with the static load.
    pub fn at_port(whole: &PortedModel, input: InputPort) -> Option<Self> {
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
            bearer: Bearer::Port,
            input: Some(input),
        })
    }

    /// The same where a port starts with a given force.
    pub fn starting_with(self, force: f64) -> Self {
        Self {
            bearer: Bearer::Given(force),
            ..self
        }
    }

    /// Its length, if it has one.
    fn length(&self) -> Option<f64> {
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
    lines: Vec<Acting>,
}

/// What a static line does in statics.
#[derive(Clone, Copy)]
enum Acting {
    /// An element holds it.
    Held(ElementId),
    /// It pushes with a given force at an input.
    Pushing(InputPort, f64),
}

impl HeldMechanism {
    /// What the lines push with at rest, in their order, and whether that was found.
    pub fn loads(&self, part: &MechanismPart) -> Vec<(f64, bool)> {
        let load = |line: &Acting| match *line {
            // A rod pulls with its multiplier.
            Acting::Held(element) => (-part.system().multipliers(element)[0], true),
            Acting::Pushing(_, force) => (force, false),
        };
        self.lines.iter().map(load).collect()
    }

    /// What the mechanism receives: what it has before the first exchange, and the forces that are given.
    pub fn inputs(&self, part: &MechanismPart) -> Vec<f64> {
        let mut inputs = initial_inputs(part);
        for line in &self.lines {
            if let Acting::Pushing(input, force) = *line {
                inputs[part.ports().input_range(input).start] = force;
            }
        }
        inputs
    }
}

impl MechanismSpec {
    /// The mechanism with its static lines held at their lengths.
    pub fn held(&self, time: f64) -> HeldMechanism {
        let mut held = self.whole.clone();
        let mut lines = vec![None; self.static_lines.len()];
        let both = self.static_lines.iter().enumerate();
        for (place, line) in both.clone() {
            if !matches!(line.bearer, Bearer::Given(_)) {
                lines[place] = Some(Acting::Held(line.hold(&mut held.model)));
            }
        }
        for (place, line) in both {
            if let (Bearer::Given(force), Some(input)) = (line.bearer, line.input) {
                let mut more = held.clone();
                let element = line.hold(&mut more.model);
                let redundant = |model: &PortedModel| model.degrees_of_freedom(time).redundant();
                let is_independent = redundant(&more) == redundant(&held);
                lines[place] = Some(match is_independent {
                    true => Acting::Held(element),
                    false => Acting::Pushing(input, force),
                });
                if is_independent {
                    held = more;
                }
            }
        }
        let lines = lines.into_iter().flatten().collect();
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
        lines.any(|line| !matches!(line.bearer, Bearer::Given(_)))
    }

    /// What an input carries, given the loads of all static lines.
    pub fn carried(&self, input: InputPort, loads: &[f64]) -> Option<Carried> {
        let is_it = |(line, _): &(&StaticLine, _)| line.input == Some(input);
        let (line, load) = self.static_lines.iter().zip(loads).find(is_it)?;
        Some(self.carrying(line, *load))
    }

    /// A line of it under a load.
    pub fn carrying(&self, line: &StaticLine, load: f64) -> Carried {
        let length = line.length().and_then(|length| {
            let part = self.part_before_statics().ok()?;
            let mut pairs = part.ports().conjugates().iter();
            let port = pairs.find_map(|pair| match *pair {
                Conjugate::GivesMotion { force, motion } if Some(force) == line.input => {
                    Some(motion)
                }
                _ => None,
            });
            Some((port?, length))
        });
        Carried { length, load }
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
        let held = self.held(start);
        // What is held closes loops.
        let options = Options {
            coordinates: Coordinates::Absolute,
            ..self.options
        };
        let part = held.model.builder().build(options, self.micro_steps);
        let mut part = part.expect("a checked model has no mistakes in its data");
        let inputs = held.inputs(&part);
        part.find_static_equilibrium(start, &inputs)?;
        let loads = held.loads(&part).into_iter();
        let loads = loads.map(|(load, _)| load).collect();
        Ok((part, loads))
    }
}
