//! Ports: the typed sockets of a subsystem.
//!
//! A port has a name and a [`Quantity`], which fixes its width, component names and units. Values travel as flat `f64` slices; [`Ports`] knows where each port lives in them.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use crate::state::Visitor;

/// An SI unit, compared by its symbol.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unit(pub Cow<'static, str>);

impl Unit {
    /// Dimensionless.
    pub const ONE: Self = Self(Cow::Borrowed("1"));
    /// Second.
    pub const SECOND: Self = Self(Cow::Borrowed("s"));
    /// Metre.
    pub const METRE: Self = Self(Cow::Borrowed("m"));
    /// Metre per second.
    pub const METRE_PER_SECOND: Self = Self(Cow::Borrowed("m/s"));
    /// Metre per second squared.
    pub const METRE_PER_SECOND2: Self = Self(Cow::Borrowed("m/s2"));
    /// Radian.
    pub const RADIAN: Self = Self(Cow::Borrowed("rad"));
    /// Radian per second.
    pub const RADIAN_PER_SECOND: Self = Self(Cow::Borrowed("rad/s"));
    /// Radian per second squared.
    pub const RADIAN_PER_SECOND2: Self = Self(Cow::Borrowed("rad/s2"));
    /// Newton.
    pub const NEWTON: Self = Self(Cow::Borrowed("N"));
    /// Newton metre.
    pub const NEWTON_METRE: Self = Self(Cow::Borrowed("N.m"));
    /// Pascal.
    pub const PASCAL: Self = Self(Cow::Borrowed("Pa"));
    /// Joule.
    pub const JOULE: Self = Self(Cow::Borrowed("J"));
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// What a port carries.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// One number.
    Scalar(Unit),
    /// Motion along one line: displacement, velocity, acceleration.
    Translation,
    /// Motion about one axis: angle, rate, acceleration.
    Rotation,
    /// Motion of a node in space, in the absolute frame: position, orientation (unit quaternion,
    /// scalar first), velocity, angular velocity, acceleration, angular acceleration.
    Motion,
    /// Force and moment at a node, in the absolute frame, moment about the node.
    Wrench,
    /// Several numbers of one unit.
    Array(Unit, usize),
    /// A whole number, exact up to 2^53. It is held between samples.
    Whole,
    /// True (1) or false (0). It is held between samples.
    Flag,
    /// A matrix, row by row, in the SI units of what it belongs to: an effective mass. It is held
    /// between samples and not recorded.
    Matrix {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// A square matrix of this order, row by row: an interface Jacobian. What a step does with it
    /// vanishes where nothing changes, so that it is no state that could grow. It is held between
    /// samples and not recorded.
    Tangent(usize),
}

/// Where the orientation quaternion lives inside [`Quantity::Motion`].
pub const MOTION_QUATERNION: Range<usize> = 3..7;

const MOTION_NAMES: [&str; 19] = [
    "px", "py", "pz", "q0", "q1", "q2", "q3", "vx", "vy", "vz", "wx", "wy", "wz", "ax", "ay", "az",
    "alx", "aly", "alz",
];
const MOTION_UNITS: [Unit; 4] = [
    Unit::METRE,
    Unit::RADIAN,
    Unit::METRE_PER_SECOND,
    Unit::RADIAN_PER_SECOND,
];
const WRENCH_NAMES: [&str; 6] = ["fx", "fy", "fz", "mx", "my", "mz"];

impl Quantity {
    /// Shows samples of this quantity as what they are in space.
    pub(crate) fn visit(&self, samples: &mut [f64], visitor: &mut dyn Visitor) {
        match self {
            Self::Motion => {
                for sample in samples.chunks_exact_mut(self.width()) {
                    let (position, rest) = sample.split_at_mut(MOTION_QUATERNION.start);
                    let (orientation, rates) = rest.split_at_mut(MOTION_QUATERNION.len());
                    visitor.point(position);
                    visitor.quaternion(orientation);
                    visitor.spatial(rates);
                }
            }
            Self::Wrench => visitor.spatial(samples),
            _ => visitor.vector(samples),
        }
    }

    /// Number of components.
    pub fn width(&self) -> usize {
        match self {
            Self::Scalar(_) => 1,
            Self::Translation | Self::Rotation => 3,
            Self::Motion => 19,
            Self::Wrench => 6,
            Self::Array(_, n) => *n,
            Self::Whole | Self::Flag => 1,
            Self::Matrix { rows, columns } => rows * columns,
            Self::Tangent(order) => order * order,
        }
    }

    /// Name of a component, empty for a scalar.
    pub fn component_name(&self, component: usize) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Scalar(_) | Self::Whole | Self::Flag => "",
            Self::Translation | Self::Rotation => ["x", "v", "a"][component],
            Self::Motion => MOTION_NAMES[component],
            Self::Wrench => WRENCH_NAMES[component],
            Self::Array(..) => return Cow::Owned((component + 1).to_string()),
            Self::Matrix { columns, .. } | Self::Tangent(columns) => {
                let (row, column) = (component / columns + 1, component % columns + 1);
                return Cow::Owned(format!("{row},{column}"));
            }
        })
    }

    /// Unit of a component.
    pub fn component_unit(&self, component: usize) -> Unit {
        match self {
            Self::Scalar(unit) => unit.clone(),
            Self::Translation => {
                [Unit::METRE, Unit::METRE_PER_SECOND, Unit::METRE_PER_SECOND2][component].clone()
            }
            Self::Rotation => [
                Unit::RADIAN,
                Unit::RADIAN_PER_SECOND,
                Unit::RADIAN_PER_SECOND2,
            ][component]
                .clone(),
            Self::Motion => match component {
                0..3 => Unit::METRE,
                3..7 => Unit::ONE,
                7..10 => Unit::METRE_PER_SECOND,
                10..13 => Unit::RADIAN_PER_SECOND,
                13..16 => Unit::METRE_PER_SECOND2,
                _ => Unit::RADIAN_PER_SECOND2,
            },
            Self::Wrench if component < 3 => Unit::NEWTON,
            Self::Wrench => Unit::NEWTON_METRE,
            Self::Array(unit, _) => unit.clone(),
            Self::Whole | Self::Flag | Self::Matrix { .. } | Self::Tangent(_) => Unit::ONE,
        }
    }

    /// Whether it is a motion, or a part of one.
    pub fn is_motion(&self) -> bool {
        match self {
            Self::Scalar(unit) => MOTION_UNITS.contains(unit),
            Self::Translation | Self::Rotation | Self::Motion => true,
            Self::Array(unit, _) => MOTION_UNITS.contains(unit),
            Self::Wrench | Self::Whole | Self::Flag | Self::Matrix { .. } | Self::Tangent(_) => {
                false
            }
        }
    }

    /// Whether it is held between samples, whatever the predictor: it is no smooth function of time.
    pub fn is_held(&self) -> bool {
        self.is_discrete() || matches!(self, Self::Matrix { .. } | Self::Tangent(_))
    }

    /// Whether it takes single values only.
    fn is_discrete(&self) -> bool {
        matches!(self, Self::Whole | Self::Flag)
    }

    /// Whether a sample of it is a coordinate of the motion: a state that can grow.
    pub fn is_coordinate(&self) -> bool {
        !self.is_discrete() && !matches!(self, Self::Tangent(_))
    }

    /// Whether its components are recorded.
    pub fn is_recorded(&self) -> bool {
        !matches!(self, Self::Matrix { .. } | Self::Tangent(_))
    }

    /// Whether it is a force or a moment.
    pub fn is_force(&self) -> bool {
        match self {
            Self::Scalar(unit) => [Unit::NEWTON, Unit::NEWTON_METRE].contains(unit),
            quantity => *quantity == Self::Wrench,
        }
    }

    /// A neutral value: zeros, and the identity orientation.
    pub fn zero(&self) -> Vec<f64> {
        let mut values = vec![0.0; self.width()];
        if *self == Self::Motion {
            values[MOTION_QUATERNION.start] = 1.0;
        }
        values
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(unit) => write!(f, "scalar in {unit}"),
            Self::Translation => f.write_str("motion along a line (m, m/s, m/s2)"),
            Self::Rotation => f.write_str("motion about an axis (rad, rad/s, rad/s2)"),
            Self::Motion => f.write_str("motion of a node (pose, twist, acceleration)"),
            Self::Wrench => f.write_str("wrench (N, N.m)"),
            Self::Array(unit, n) => write!(f, "{n} numbers in {unit}"),
            Self::Whole => f.write_str("whole number"),
            Self::Flag => f.write_str("flag (0 or 1)"),
            Self::Matrix { rows, columns } => write!(f, "matrix of {rows} x {columns}"),
            Self::Tangent(order) => write!(f, "interface Jacobian of {order} x {order}"),
        }
    }
}

/// Index of an input port within its subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InputPort(pub usize);

/// Index of an output port within its subsystem.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OutputPort(pub usize);

/// One named, typed port.
#[derive(Clone, Debug)]
pub struct Port {
    /// Unique among the ports of its subsystem.
    pub name: String,
    /// What it carries.
    pub quantity: Quantity,
}

/// A power-conjugate pair at one point of a subsystem: what it receives there and what it gives
/// back. From these the engine finds the interfaces whose energy it balances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conjugate {
    /// Receives a motion, gives the force it exerts on whoever owns that motion.
    GivesForce {
        /// The received motion.
        motion: InputPort,
        /// The force exerted on it.
        force: OutputPort,
    },
    /// Receives a force, gives the motion of the point where the force acts.
    GivesMotion {
        /// The received force.
        force: InputPort,
        /// The motion of its point of action.
        motion: OutputPort,
    },
}

impl Conjugate {
    /// Whether its input is this one.
    pub(crate) fn receives(&self, port: InputPort) -> bool {
        match self {
            Self::GivesForce { motion, .. } => *motion == port,
            Self::GivesMotion { force, .. } => *force == port,
        }
    }
}

/// All ports of a subsystem, with their places in the flat input and output vectors.
#[derive(Clone, Debug, Default)]
pub struct Ports {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_starts: Vec<usize>,
    output_starts: Vec<usize>,
    input_width: usize,
    output_width: usize,
    initial: Vec<f64>,
    direct: Vec<Vec<usize>>,
    conjugates: Vec<Conjugate>,
    /// Outputs, and those that send their rates.
    rates: Vec<(OutputPort, OutputPort)>,
    /// Outputs, and what is sent instead of them.
    sent: Vec<(OutputPort, OutputPort)>,
    /// Outputs that are held from sample to sample.
    held: Vec<OutputPort>,
}

impl Ports {
    /// No ports yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an input. Until its first sample arrives it has the neutral value of its quantity.
    pub fn add_input(&mut self, name: impl Into<String>, quantity: Quantity) -> InputPort {
        let initial = quantity.zero();
        self.add_input_with(name, quantity, initial)
    }

    /// Adds an input with the value it has until its first sample arrives.
    pub fn add_input_with(
        &mut self,
        name: impl Into<String>,
        quantity: Quantity,
        initial: Vec<f64>,
    ) -> InputPort {
        assert_eq!(initial.len(), quantity.width(), "initial value of an input");
        self.input_starts.push(self.input_width);
        self.input_width += quantity.width();
        self.initial.extend(initial);
        self.inputs.push(Port {
            name: name.into(),
            quantity,
        });
        InputPort(self.inputs.len() - 1)
    }

    /// Adds an output without direct feedthrough (see [`Ports::feed_through`]).
    pub fn add_output(&mut self, name: impl Into<String>, quantity: Quantity) -> OutputPort {
        self.output_starts.push(self.output_width);
        self.output_width += quantity.width();
        self.direct.resize(self.output_width, Vec::new());
        self.outputs.push(Port {
            name: name.into(),
            quantity,
        });
        OutputPort(self.outputs.len() - 1)
    }

    /// Declares that an output component depends directly on an input component, both as places
    /// in the flat vectors.
    pub fn feed_through(&mut self, output_component: usize, input_component: usize) {
        self.direct[output_component].push(input_component);
    }

    /// Declares a power-conjugate pair.
    pub fn conjugate(&mut self, pair: Conjugate) {
        self.conjugates.push(pair);
    }

    /// Declares that an output sends the rate of another one.
    pub fn declare_rate(&mut self, of: OutputPort, rate: OutputPort) {
        self.rates.push((of, rate));
    }

    /// The output that sends the rate of this one, if one does.
    pub fn rate_of(&self, output: OutputPort) -> Option<OutputPort> {
        let mut rates = self.rates.iter();
        rates.find(|(of, _)| *of == output).map(|(_, rate)| *rate)
    }

    /// Declares that an output is held from one sample to the next, as that of a sampled controller: whoever receives
    /// it holds it too, whatever its predictor, and is told when it jumps.
    pub fn declare_held(&mut self, output: OutputPort) {
        self.held.push(output);
    }

    /// Whether an output is held between samples.
    pub fn is_held(&self, output: OutputPort) -> bool {
        self.held.contains(&output)
    }

    /// Adds an output that is sent instead of another one, wherever that is connected. Results show
    /// the other one only.
    pub fn add_sent(&mut self, instead_of: OutputPort) -> OutputPort {
        let Port { name, quantity } = &self.outputs[instead_of.0];
        let sent = self.add_output(format!("{name} as sent"), quantity.clone());
        if self.is_held(instead_of) {
            self.declare_held(sent);
        }
        self.sent.push((instead_of, sent));
        sent
    }

    /// What is sent where this output is connected.
    pub fn sent_for(&self, output: OutputPort) -> OutputPort {
        let mut sent = self.sent.iter();
        let found = sent.find(|(of, _)| *of == output);
        found.map_or(output, |(_, sent)| *sent)
    }

    /// Adds all ports of another subsystem behind these; their names begin with `prefix`.
    pub fn append(&mut self, prefix: &str, other: &Self) {
        let (inputs, outputs) = (self.inputs.len(), self.outputs.len());
        let (wide, tall) = (self.input_width, self.output_width);
        let input = |port: InputPort| InputPort(inputs + port.0);
        let output = |port: OutputPort| OutputPort(outputs + port.0);
        for (index, port) in other.inputs.iter().enumerate() {
            let initial = other.initial[other.input_range(InputPort(index))].to_vec();
            let name = format!("{prefix}{}", port.name);
            self.add_input_with(name, port.quantity.clone(), initial);
        }
        for port in &other.outputs {
            self.add_output(format!("{prefix}{}", port.name), port.quantity.clone());
        }
        for (own, direct) in self.direct[tall..].iter_mut().zip(&other.direct) {
            own.extend(direct.iter().map(|component| wide + component));
        }
        let pairs = other.conjugates.iter().map(|pair| match *pair {
            Conjugate::GivesForce { motion, force } => Conjugate::GivesForce {
                motion: input(motion),
                force: output(force),
            },
            Conjugate::GivesMotion { force, motion } => Conjugate::GivesMotion {
                force: input(force),
                motion: output(motion),
            },
        });
        self.conjugates.extend(pairs);
        let moved = |pairs: &[(OutputPort, OutputPort)]| -> Vec<(OutputPort, OutputPort)> {
            let pairs = pairs.iter();
            pairs.map(|&(a, b)| (output(a), output(b))).collect()
        };
        self.rates.extend(moved(&other.rates));
        self.sent.extend(moved(&other.sent));
        self.held
            .extend(other.held.iter().map(|&port| output(port)));
    }

    /// Whether results show an output: all but matrices and what is sent instead of another one.
    pub fn is_recorded(&self, output: OutputPort) -> bool {
        let is_sent = self.sent.iter().any(|(_, sent)| *sent == output);
        self.outputs[output.0].quantity.is_recorded() && !is_sent
    }

    /// The inputs in order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The outputs in order.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// The declared power-conjugate pairs.
    pub fn conjugates(&self) -> &[Conjugate] {
        &self.conjugates
    }

    /// Length of the flat input vector.
    pub fn input_width(&self) -> usize {
        self.input_width
    }

    /// Length of the flat output vector.
    pub fn output_width(&self) -> usize {
        self.output_width
    }

    /// Input values before the first exchange.
    pub fn initial_inputs(&self) -> &[f64] {
        &self.initial
    }

    /// The input components on which an output component depends directly.
    pub fn direct_inputs(&self, output_component: usize) -> &[usize] {
        &self.direct[output_component]
    }

    /// Whether its outputs are held from sample to sample and follow from inputs: those of the instant of a sample.
    pub fn takes_samples(&self) -> bool {
        !self.held.is_empty() && !self.inputs.is_empty()
    }

    /// Whether any output depends directly on an input.
    pub fn has_feedthrough(&self) -> bool {
        self.direct.iter().any(|inputs| !inputs.is_empty())
    }

    /// Place of an input in the flat vector.
    pub fn input_range(&self, port: InputPort) -> Range<usize> {
        let start = self.input_starts[port.0];
        start..start + self.inputs[port.0].quantity.width()
    }

    /// Place of an output in the flat vector.
    pub fn output_range(&self, port: OutputPort) -> Range<usize> {
        let start = self.output_starts[port.0];
        start..start + self.outputs[port.0].quantity.width()
    }

    /// Finds an input by name.
    pub fn input(&self, name: &str) -> Option<InputPort> {
        let found = self.inputs.iter().position(|port| port.name == name);
        found.map(InputPort)
    }

    /// Finds an output by name.
    pub fn output(&self, name: &str) -> Option<OutputPort> {
        let found = self.outputs.iter().position(|port| port.name == name);
        found.map(OutputPort)
    }

    /// Name of an output component, such as `tip.x` or, for a scalar, `force`.
    pub fn output_component_name(&self, component: usize) -> String {
        component_name(&self.outputs, &self.output_starts, component)
    }

    /// Name of an input component.
    pub fn input_component_name(&self, component: usize) -> String {
        component_name(&self.inputs, &self.input_starts, component)
    }
}

fn component_name(ports: &[Port], starts: &[usize], component: usize) -> String {
    let index = starts.partition_point(|&start| start <= component) - 1;
    let port = &ports[index];
    let inner = port.quantity.component_name(component - starts[index]);
    component_of(&port.name, &inner)
}

/// The name of a component of something.
pub(crate) fn component_of(name: &str, component: &str) -> String {
    match component {
        "" => name.into(),
        _ => format!("{name}.{component}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_lie_one_after_the_other() {
        let mut ports = Ports::new();
        let far = ports.add_input("far", Quantity::Translation);
        let load = ports.add_input("load", Quantity::Scalar(Unit::NEWTON));
        let tip = ports.add_output("tip", Quantity::Motion);
        let grip = ports.add_output("grip", Quantity::Wrench);
        assert_eq!(ports.input_range(far), 0..3);
        assert_eq!(ports.input_range(load), 3..4);
        assert_eq!(ports.output_range(tip), 0..19);
        assert_eq!(ports.output_range(grip), 19..25);
        assert_eq!(ports.output_component_name(3), "tip.q0");
        assert_eq!(ports.output_component_name(24), "grip.mz");
        assert_eq!(ports.input_component_name(3), "load");
        assert_eq!(ports.input("load"), Some(load));
        assert_eq!(ports.output("nothing"), None);
    }

    #[test]
    fn appended_ports_keep_what_is_declared_about_them() {
        let mut one = Ports::new();
        one.add_input("other", Quantity::Translation);
        one.add_output("other", Quantity::Motion);
        let mut two = Ports::new();
        let length = two.add_input_with("length", Quantity::Scalar(Unit::METRE), vec![0.7]);
        let force = two.add_output("force", Quantity::Scalar(Unit::NEWTON));
        let rate = two.add_output("rate", Quantity::Scalar(Unit::NEWTON));
        two.feed_through(0, 0);
        two.declare_rate(force, rate);
        two.declare_held(rate);
        two.conjugate(Conjugate::GivesForce {
            motion: length,
            force,
        });
        one.append("oil.", &two);
        let (length, force) = (one.input("oil.length"), one.output("oil.force"));
        let (length, force) = (length.unwrap(), force.unwrap());
        assert_eq!(one.initial_inputs()[one.input_range(length)], [0.7]);
        assert_eq!(one.direct_inputs(19), [3]);
        assert_eq!(one.rate_of(force), one.output("oil.rate"));
        assert!(one.is_held(one.output("oil.rate").unwrap()));
        assert!(!one.is_held(force));
        let pair = Conjugate::GivesForce {
            motion: length,
            force,
        };
        assert_eq!(one.conjugates(), [pair]);
    }

    #[test]
    fn a_motion_starts_with_the_identity_orientation() {
        let zero = Quantity::Motion.zero();
        assert_eq!(zero.iter().sum::<f64>(), 1.0);
        assert_eq!(zero[MOTION_QUATERNION.start], 1.0);
    }
}
