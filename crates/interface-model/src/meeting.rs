//! Where a fast subsystem meets a mechanism: how motion and force there are laid out in its vectors, and how the motion
//! goes on under accelerations.

use std::ops::Range;

use oldham_cosim::{InputPort, OutputPort, Ports, Quantity, Visitor};
use oldham_space::{Quaternion, Vec3};

/// A coordinate at which a fast subsystem meets a mechanism, or a node in space, by the ports of the fast subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// It pushes the mechanism, which moves.
    Pushed {
        /// Receives the position: a number, or a motion with its derivatives.
        position: InputPort,
        /// Receives the rate of a number, if anything does.
        rate: Option<InputPort>,
        /// Sends the force, or the wrench on the node.
        force: OutputPort,
    },
    /// It moves the mechanism, which resists.
    Moved {
        /// Sends the motion along a line, about an axis or in space, with its acceleration.
        motion: OutputPort,
        /// Receives the force of the mechanism on it, or the wrench.
        force: InputPort,
    },
}

/// A coordinate that a fast subsystem pushes.
#[derive(Clone, Debug)]
pub(crate) struct Pushed {
    layout: Layout,
    /// Components of the force among the outputs, one for each freedom.
    forces: Range<usize>,
    /// As it was received last, and as it is at the time reached, both laid out as messages are.
    received: Vec<f64>,
    motion: Vec<f64>,
}

/// How a motion arrives.
#[derive(Clone, Copy, Debug)]
enum Layout {
    /// A number, and its rate if that arrives too.
    Numbers {
        position: usize,
        rate: Option<usize>,
    },
    /// Displacement, velocity and acceleration along a line or about an axis, from this component on.
    Line(usize),
    /// Motion of a node in space.
    Space(usize),
}

impl Pushed {
    pub fn new(
        position: InputPort,
        rate: Option<InputPort>,
        force: OutputPort,
        ports: &Ports,
    ) -> Self {
        let first = ports.input_range(position).start;
        let layout = match ports.inputs()[position.0].quantity {
            Quantity::Translation | Quantity::Rotation => Layout::Line(first),
            Quantity::Motion => Layout::Space(first),
            _ => Layout::Numbers {
                position: first,
                rate: rate.map(|port| ports.input_range(port).start),
            },
        };
        let width = match layout {
            Layout::Numbers { .. } => 2,
            Layout::Line(_) => 3,
            Layout::Space(_) => Quantity::Motion.width(),
        };
        Self {
            layout,
            forces: ports.output_range(force),
            received: vec![0.0; width],
            motion: vec![0.0; width],
        }
    }

    /// Starts anew from what the mechanism sent. Without its rate that of the model goes on.
    pub fn start(&mut self, inputs: &[f64]) {
        match self.layout {
            Layout::Numbers { position, rate } => {
                let rate = rate.map_or(self.motion[1], |rate| inputs[rate]);
                self.received.copy_from_slice(&[inputs[position], rate]);
            }
            Layout::Line(first) | Layout::Space(first) => {
                let width = self.received.len();
                self.received.copy_from_slice(&inputs[first..first + width]);
            }
        }
        self.motion.copy_from_slice(&self.received);
    }

    /// Whether the inputs are those from which it started.
    pub fn is_as_received(&self, inputs: &[f64]) -> bool {
        match self.layout {
            Layout::Numbers { position, rate } => {
                let same = rate.is_none_or(|rate| inputs[rate] == self.received[1]);
                inputs[position] == self.received[0] && same
            }
            Layout::Line(first) | Layout::Space(first) => {
                inputs[first..first + self.received.len()] == self.received[..]
            }
        }
    }

    /// Puts the motion among the inputs of the fast subsystem.
    pub fn show(&self, inputs: &mut [f64]) {
        match self.layout {
            Layout::Numbers { position, rate } => {
                inputs[position] = self.motion[0];
                if let Some(place) = rate {
                    inputs[place] = self.motion[1];
                }
            }
            Layout::Line(first) | Layout::Space(first) => {
                inputs[first..first + self.motion.len()].copy_from_slice(&self.motion);
            }
        }
    }

    /// Goes faster by accelerations that last for some time.
    pub fn kick(&mut self, accelerations: &[f64], time: f64) {
        match (self.layout, accelerations, &mut self.motion[..]) {
            (Layout::Numbers { .. }, [a], [_, v]) => *v += time * a,
            (Layout::Line(_), [now], [_, v, a]) => {
                *a = *now;
                *v += time * *a;
            }
            (Layout::Space(_), now, motion) => {
                let (velocities, second) = motion[POSE..].split_at_mut(now.len());
                second.copy_from_slice(now);
                for (v, a) in velocities.iter_mut().zip(now) {
                    *v += time * a;
                }
            }
            _ => unreachable!("as many accelerations as degrees of freedom"),
        }
    }

    /// Goes on for some time with the velocities that it has.
    pub fn drift(&mut self, time: f64) {
        match (self.layout, &mut self.motion[..]) {
            (Layout::Numbers { .. } | Layout::Line(_), [x, v, ..]) => *x += time * *v,
            (Layout::Space(_), motion) => drift_in_space(motion, time),
            _ => unreachable!("a position and a rate at least"),
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self.layout {
            Layout::Numbers { .. } | Layout::Line(_) => visitor.vector(&mut self.motion),
            Layout::Space(_) => {
                let (place, rest) = self.motion.split_at_mut(3);
                let (orientation, rates) = rest.split_first_chunk_mut().expect("a quaternion");
                visitor.vector(place);
                visitor.rotation(orientation);
                visitor.vector(rates);
            }
        }
        visitor.fixed(&mut self.received);
    }
}

/// Numbers of a pose: a place and a quaternion.
const POSE: usize = 7;

/// A node in space: the angular velocity is in the absolute frame.
fn drift_in_space(motion: &mut [f64], time: f64) {
    let (pose, velocities) = motion.split_at_mut(POSE);
    for (x, v) in pose.iter_mut().zip(&velocities[..3]) {
        *x += time * v;
    }
    let turn = Vec3::new(velocities[3], velocities[4], velocities[5]) * time;
    let [q0, q1, q2, q3] = [pose[3], pose[4], pose[5], pose[6]];
    let turned = Quaternion::exp(turn)
        .times(Quaternion([q0, q1, q2, q3]))
        .normalised();
    pose[3..].copy_from_slice(&turned.0);
}

/// Components of the acceleration in a motion that takes up these components.
pub(crate) fn accelerations(motion: &Quantity, components: Range<usize>) -> Range<usize> {
    let rates = match motion {
        // Pose and velocities.
        Quantity::Motion => 13,
        _ => 2,
    };
    components.start + rates..components.end
}

/// A coordinate that a fast subsystem moves.
#[derive(Clone, Debug)]
pub(crate) struct Moved {
    /// Components of the acceleration among the outputs, one for each freedom.
    pub accelerations: Range<usize>,
    /// Components of the force among the inputs.
    pub forces: Range<usize>,
    /// The force as it was received last, and as the model has it.
    received: Vec<f64>,
    pub resistance: Vec<f64>,
    /// The same at the start of the step before, if there was one in this macro step.
    before: Vec<f64>,
    has_before: bool,
}

impl Moved {
    pub fn new(motion: OutputPort, force: InputPort, ports: &Ports) -> Self {
        let sent = ports.output_range(motion);
        let accelerations = accelerations(&ports.outputs()[motion.0].quantity, sent);
        let none = vec![0.0; accelerations.len()];
        Self {
            accelerations,
            forces: ports.input_range(force),
            received: none.clone(),
            resistance: none.clone(),
            before: none,
            has_before: false,
        }
    }

    /// Shows the force at the end of a step that has begun: it goes on changing as in the step before.
    fn show_end(&self, inputs: &mut [f64]) {
        let shown = inputs[self.forces.clone()].iter_mut();
        for ((shown, now), before) in shown.zip(&self.resistance).zip(&self.before) {
            let change = if self.has_before { now - before } else { 0.0 };
            *shown = now + change;
        }
    }

    /// A step of the model has been taken.
    fn remember(&mut self) {
        self.before.copy_from_slice(&self.resistance);
        self.has_before = true;
    }

    /// Whether it moves a node in space.
    pub fn is_in_space(&self) -> bool {
        self.accelerations.len() > 1
    }

    /// Starts anew from what the mechanism sent.
    pub fn start(&mut self, inputs: &[f64]) {
        self.received.copy_from_slice(&inputs[self.forces.clone()]);
        self.resistance.copy_from_slice(&self.received);
        self.has_before = false;
    }

    /// Whether the inputs are those from which it started.
    pub fn is_as_received(&self, inputs: &[f64]) -> bool {
        inputs[self.forces.clone()] == self.received[..]
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.resistance);
        visitor.fixed(&mut self.received);
    }
}

/// A coordinate of either kind.
#[derive(Clone, Debug)]
pub(crate) enum Meeting {
    Pushed(Pushed),
    Moved(Moved),
}

impl Meeting {
    pub fn new(coordinate: Coordinate, ports: &Ports) -> Self {
        match coordinate {
            Coordinate::Pushed {
                position,
                rate,
                force,
            } => Self::Pushed(Pushed::new(position, rate, force, ports)),
            Coordinate::Moved { motion, force } => Self::Moved(Moved::new(motion, force, ports)),
        }
    }

    pub fn is_pushed(&self) -> bool {
        matches!(self, Self::Pushed(_))
    }

    /// The outputs of the fast subsystem to which the mechanism answers: forces, or an acceleration.
    pub fn causes(&self) -> Range<usize> {
        match self {
            Self::Pushed(pushed) => pushed.forces.clone(),
            Self::Moved(moved) => moved.accelerations.clone(),
        }
    }

    /// Starts anew from what the mechanism sent.
    pub fn start(&mut self, inputs: &[f64]) {
        match self {
            Self::Pushed(pushed) => pushed.start(inputs),
            Self::Moved(moved) => moved.start(inputs),
        }
    }

    /// Whether the inputs are those from which it started.
    pub fn is_as_received(&self, inputs: &[f64]) -> bool {
        match self {
            Self::Pushed(pushed) => pushed.is_as_received(inputs),
            Self::Moved(moved) => moved.is_as_received(inputs),
        }
    }

    /// Puts what the model knows among the inputs of the fast subsystem.
    pub fn show(&self, inputs: &mut [f64]) {
        match self {
            Self::Pushed(pushed) => pushed.show(inputs),
            Self::Moved(moved) => {
                inputs[moved.forces.clone()].copy_from_slice(&moved.resistance);
            }
        }
    }

    /// The same at the end of a step that has begun.
    pub fn show_end(&self, inputs: &mut [f64]) {
        match self {
            Self::Pushed(pushed) => pushed.show(inputs),
            Self::Moved(moved) => moved.show_end(inputs),
        }
    }

    /// Goes faster by accelerations that last for some time. The force on something that is moved is found
    /// otherwise.
    pub fn kick(&mut self, answers: &[f64], time: f64) {
        if let Self::Pushed(pushed) = self {
            pushed.kick(answers, time);
        }
    }

    /// Goes on for some time with the velocities that it has.
    pub fn drift(&mut self, time: f64) {
        if let Self::Pushed(pushed) = self {
            pushed.drift(time);
        }
    }

    /// A step of the model has been taken.
    pub fn remember(&mut self) {
        if let Self::Moved(moved) = self {
            moved.remember();
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self {
            Self::Pushed(pushed) => pushed.visit(visitor),
            Self::Moved(moved) => moved.visit(visitor),
        }
    }
}
