//! A macro step as a linear system from sequence to sequence, for analyses in the frequency domain.
//!
//! A linear part under a linear integration formula turns the sequence of its inputs at the
//! communication points into that of its outputs. With w = 1/z, the delay by one step, it is
//! described by its matrices of mass, damping and stiffness and by two rational functions of w:
//! what the formula makes of a position for its velocity and its acceleration. What happens
//! between the parts, by predictors and the order of the schedule, is a polynomial in w for each
//! connection, read off the running predictors by feeding them a unit sample.

use oldham_space::{Quaternion, V3, Vec3};

use crate::fault::Fault;
use crate::port::{InputPort, MOTION_QUATERNION, OutputPort, Ports, Quantity};
use crate::predictor::Predictor;
use crate::schedule::{Coupling, Duty, SubsystemId};
use crate::simulation::Simulation;
use crate::state::{Snapshot, State, Visitor};
use crate::unit::Unit;

/// Value and derivatives that a motion port carries.
pub const LEVELS: usize = 3;

/// An entry of a sparse matrix: row, column, value.
pub type Entry = (usize, usize, f64);

/// The equations of a part at the end of a step:
/// (a(w) mass + v(w) damping + stiffness) ξ = inputs, where ξ are changes of positions, rotations
/// and multipliers.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceModel {
    /// Number of unknowns.
    pub unknowns: usize,
    /// Entries by accelerations.
    pub mass: Vec<Entry>,
    /// Entries by velocities.
    pub damping: Vec<Entry>,
    /// Entries by positions, gradients of constraints included.
    pub stiffness: Vec<Entry>,
    /// What the formula makes of positions.
    pub operator: Operator,
    /// The inputs that act, by their ports. Other ports do nothing.
    pub inputs: Vec<(InputPort, SequenceInput)>,
    /// The outputs that are known, by their ports.
    pub outputs: Vec<(OutputPort, SequenceOutput)>,
    /// Angular velocities of all nodes; empty where none turns.
    pub spins: Vec<[f64; 3]>,
    /// The same for nodes that turn from step to step, if that is known.
    pub turning: Option<TurningModel>,
}

/// The equations of a part whose nodes turn. Where all turn alike, they are the same at every step in axes that turn
/// along; where round ones spin, in axes that stand still. Blocks take the place of mass and damping of bodies; the damping of elements acts on
/// velocities and spins; stiffness is as it is.
#[derive(Clone, Debug, PartialEq)]
pub struct TurningModel {
    /// Number of nodes: each has six unknowns, positions before rotations, in absolute axes.
    pub nodes: usize,
    /// What acts by velocities of elements.
    pub damping: Vec<Entry>,
    /// What acts by positions, gradients of constraints included.
    pub stiffness: Vec<Entry>,
    /// The inertia of bodies.
    pub blocks: Vec<TurningBlock>,
    /// How the formula takes rotations.
    pub formula: TurningFormula,
    /// For outputs of loads that contain the inertia of a node: the port, and the first unknown of the
    /// node.
    pub loads: Vec<(OutputPort, usize)>,
}

/// Three rows and three columns: left · matrix · right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TurningBlock {
    /// The first row.
    pub row: usize,
    /// The first column.
    pub column: usize,
    /// Numbers in absolute axes.
    pub matrix: [[f64; 3]; 3],
    /// What is done with the product: nothing, or the rate is formed.
    pub is_rate: bool,
    /// What it multiplies.
    pub of: TurningRate,
}

/// What follows from changes of positions or rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurningRate {
    /// They themselves.
    Pose,
    /// Velocities.
    Velocity,
    /// Accelerations.
    Acceleration,
    /// Angular velocities.
    Spin,
    /// Angular accelerations.
    SpinRate,
}

/// A formula whose rotations are increments from the last orientation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TurningFormula {
    /// Rotation vectors in the axes of the last orientation, angular velocities and momenta in absolute axes:
    /// a1, a2, b0, b1, b2.
    MultiStep([f64; 2], [f64; 3]),
    /// Angular velocities and accelerations about node axes.
    Newmark {
        /// Weight of the old acceleration.
        alpha_m: f64,
        /// Weight of the old force.
        alpha_f: f64,
        /// Weight of the acceleration in the increment.
        beta: f64,
        /// The same in the velocity.
        gamma: f64,
    },
}

/// How the components of an input act.
#[derive(Clone, Debug, PartialEq)]
pub enum SequenceInput {
    /// Each adds to the right-hand side of a row.
    Load(Vec<usize>),
    /// The pose of a node is prescribed.
    Pose {
        /// Rows of the constraints.
        rows: Vec<usize>,
        /// Unknowns of the node.
        node: Vec<usize>,
        /// Whether its velocity is prescribed, too.
        with_velocity: bool,
    },
}

/// What an output shows.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceOutput {
    /// Component, unknown, factor, and how often the unknown is differentiated.
    pub entries: Vec<(usize, usize, f64, usize)>,
    /// Number of components.
    pub width: usize,
    /// Whether the port shows velocity and acceleration besides.
    pub is_motion: bool,
}

/// Velocity and acceleration over position as rational functions of w.
#[derive(Clone, Debug, PartialEq)]
pub struct Operator {
    /// Numerator and denominator of velocity over position.
    pub velocity: [Vec<f64>; 2],
    /// Numerator and denominator of acceleration over position.
    pub acceleration: [Vec<f64>; 2],
}

impl Operator {
    /// y' = rate with 1·y(n+1) = a1 y(n) + a2 y(n-1) + h (b0 y'(n+1) + b1 y'(n) + b2 y'(n-1)), for
    /// velocities and accelerations alike.
    pub fn multistep([a1, a2]: [f64; 2], [b0, b1, b2]: [f64; 3], h: f64) -> Self {
        let numerator = vec![1.0, -a1, -a2];
        let denominator = vec![h * b0, h * b1, h * b2];
        Self {
            acceleration: [
                product(&numerator, &numerator),
                product(&denominator, &denominator),
            ],
            velocity: [numerator, denominator],
        }
    }
}

/// The product of two polynomials.
pub fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    let mut c = vec![0.0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            c[i + j] += x * y;
        }
    }
    c
}

/// A connection as a filter: what the receiver uses at the end of its step is the sum over k of
/// taps\[k\] times what was sent k steps earlier. Rows and columns of a tap are value, velocity and
/// acceleration; ports that carry no motion use the first only.
#[derive(Clone, Debug, PartialEq)]
pub struct SequenceLink {
    /// The sender and its port.
    pub from: (SubsystemId, OutputPort),
    /// The receiver and its port.
    pub to: (SubsystemId, InputPort),
    /// The filter.
    pub taps: Vec<[[f64; LEVELS]; LEVELS]>,
    /// What it does to orientations that turn steadily, angular velocities and accelerations, in axes that
    /// turn along. Empty where that was not asked for.
    pub turned: Vec<TurnedTap>,
}

/// A tap of a filter of orientations: for rotation, spin and its rate of what is received by those of
/// what was sent, in axes that turn.
pub type TurnedTap = [[[[f64; 3]; 3]; LEVELS]; LEVELS];

/// Samples after which the response to a unit sample must have ended.
const LONGEST: usize = 8;

impl Simulation {
    /// The filters of all connections, where the macro step is one exchange of a linear kind:
    /// explicit coupling with one rate, or a correction that makes it the monolithic step.
    pub fn sequence_links(&mut self) -> Option<Vec<SequenceLink>> {
        self.turning_sequence_links(None)
    }

    /// The same while everything turns by a rotation vector in a step.
    pub fn turning_sequence_links(&mut self, turn: Option<[f64; 3]>) -> Option<Vec<SequenceLink>> {
        let plan = &self.plan;
        let is_plain = matches!(plan.schedule.coupling, Coupling::Explicit)
            && plan.timeline.ticks_per_step == 1
            && plan.output_update_passes == 0
            && plan.every.iter().all(|&every| every == 1);
        let is_other = |unit: &Unit| unit.corrects_inputs || unit.inputs.has_held();
        // What is held and jumps shifts the histories of its receivers: no tap of a connection says that.
        if !is_plain || self.units.iter().any(is_other) {
            return None;
        }
        let phases = &plan.timeline.phases;
        let advances = |id: usize| {
            let acts = |phase: &crate::schedule::Phase| {
                phase.duty == Duty::Advance && phase.members.contains(&SubsystemId(id))
            };
            phases.iter().position(acts)
        };
        let corrects = |id: usize| {
            let acts = |phase: &crate::schedule::Phase| {
                phase.duty == Duty::Correct && phase.members.contains(&SubsystemId(id))
            };
            phases.iter().any(acts)
        };
        let places: Option<Vec<usize>> = (0..self.units.len()).map(advances).collect();
        let places = places?;
        let is_corrected: Vec<bool> = (0..self.units.len()).map(corrects).collect();
        let step = plan.schedule.step;
        let mut incoming = Vec::new();
        for to in 0..self.units.len() {
            let wanted: Vec<_> = self.units[to]
                .incoming
                .all()
                .iter()
                .map(|incoming_connection| {
                    (
                        incoming_connection.sender,
                        incoming_connection.sent,
                        incoming_connection.port,
                        incoming_connection.scale.map_or(1.0, |scale| scale.gain),
                    )
                })
                .collect();
            for (sender, sent, port, gain) in wanted {
                let output = sent - self.units[sender.0].places.outputs;
                let ports = &self.units[sender.0].ports;
                let output = port_at(ports, output)?;
                // A step that is corrected ends with what the others have sent at its end, and
                // these have known how it would answer.
                let is_joined = is_corrected[to] || is_corrected[sender.0];
                let is_fresh = places[sender.0] < places[to];
                let unit = &mut self.units[to];
                let ports = &unit.ports;
                let mut taps = if is_joined {
                    vec![identity()]
                } else {
                    unit.inputs.impulse_response(ports, port, step, is_fresh)?
                };
                let is_motion = ports.inputs()[port.0].quantity == Quantity::Motion;
                let turned = match turn.filter(|_| is_motion) {
                    None => Vec::new(),
                    Some(_) if is_joined => vec![turned_identity()],
                    Some(turn) => {
                        let inputs = &mut unit.inputs;
                        inputs.turned_response(ports, port, step, is_fresh, turn)?
                    }
                };
                for entry in taps.iter_mut().flatten().flatten() {
                    *entry *= gain;
                }
                incoming.push(SequenceLink {
                    from: (sender, output),
                    to: (SubsystemId(to), port),
                    taps,
                    turned,
                });
            }
        }
        Some(incoming)
    }

    /// A part as a linear system from sequence to sequence, at the time reached.
    pub fn sequence_model(&mut self, id: SubsystemId) -> Result<Option<SequenceModel>, Fault> {
        let t = self.time();
        let step = self.plan.schedule.step;
        let found = self.units[id.0].linear(t, |part, inputs| part.sequence_model(t, step, inputs));
        Ok(found?.flatten())
    }
}

fn port_at(ports: &Ports, place: usize) -> Option<OutputPort> {
    let all = (0..ports.outputs().len()).map(OutputPort);
    all.into_iter()
        .find(|&port| ports.output_range(port).start == place)
}

fn identity() -> [[f64; LEVELS]; LEVELS] {
    let mut tap = [[0.0; LEVELS]; LEVELS];
    (0..LEVELS).for_each(|i| tap[i][i] = 1.0);
    tap
}

fn turned_identity() -> TurnedTap {
    let mut tap = TurnedTap::default();
    for (level, row) in tap.iter_mut().enumerate() {
        (0..3).for_each(|i| row[level][i][i] = 1.0);
    }
    tap
}

/// The places of value, velocity and acceleration in a direction within a port.
fn levels_of(quantity: &Quantity) -> &'static [usize] {
    match quantity {
        Quantity::Motion => &[0, 7, 13],
        Quantity::Translation | Quantity::Rotation => &[0, 1, 2],
        _ => &[0],
    }
}

/// What a predictor makes of a unit sample at one of its ports, step by step: at the end of the
/// step in whose course the sample arrives first, if that is delivered before the receiver
/// advances. Nothing if the response does not end, or is not the same for any size of the sample.
pub fn impulse_response(
    predictor: &mut dyn Predictor,
    ports: &Ports,
    port: InputPort,
    step: f64,
    is_fresh: bool,
) -> Option<Vec<[[f64; LEVELS]; LEVELS]>> {
    let mut saved = Snapshot::default();
    saved.save(&mut Whole(predictor));
    let quantity = &ports.inputs()[port.0].quantity;
    let range = ports.input_range(port);
    let levels = levels_of(quantity);
    let rest = quantity.zero();
    let mut taps = vec![[[0.0; LEVELS]; LEVELS]; LONGEST + 1];
    let mut inputs = vec![0.0; ports.input_width()];
    let mut is_linear = true;
    for (column, &place) in levels.iter().enumerate() {
        for size in [1.0, -0.5] {
            predictor.reset();
            let mut sample = rest.clone();
            for n in -(LONGEST as i64)..=LONGEST as i64 {
                let t = n as f64 * step;
                sample[place] = rest[place] + if n == 0 { size } else { 0.0 };
                if is_fresh {
                    predictor.receive(port, t, &sample);
                    predictor.predict(t, None, &mut inputs);
                } else {
                    // The sample of time t is used for the step that ends at t + step.
                    predictor.receive(port, t, &sample);
                    predictor.predict(t + step, None, &mut inputs);
                }
                let delay = n + i64::from(!is_fresh);
                let Ok(delay) = usize::try_from(delay) else {
                    continue;
                };
                for (row, &level) in levels.iter().enumerate() {
                    let value = (inputs[range.start + level] - rest[level]) / size;
                    if delay > LONGEST {
                        is_linear &= value == 0.0;
                    } else if size == 1.0 {
                        taps[delay][row][column] = value;
                    } else {
                        let expected = taps[delay][row][column];
                        is_linear &= (value - expected).abs() <= 1e-9 * expected.abs().max(1.0);
                    }
                }
            }
        }
    }
    saved.restore(&mut Whole(predictor));
    let is_over = taps[LONGEST] == [[0.0; LEVELS]; LEVELS];
    while taps.last() == Some(&[[0.0; LEVELS]; LEVELS]) {
        taps.pop();
    }
    (is_linear && is_over).then_some(taps)
}

/// Size of the change of a rotation, and the shares of it that must do the same.
const SMALL_TURN: f64 = 1e-5;
/// What is left of a response that has ended, and by which two may differ.
const ENDED: f64 = 1e-7;

/// What a predictor makes of a small change of one sample of a steady turn, step by step and in axes that
/// turn along. Nothing if the response does not end.
pub fn turned_response(
    predictor: &mut dyn Predictor,
    ports: &Ports,
    port: InputPort,
    step: f64,
    is_fresh: bool,
    turn: [f64; 3],
) -> Option<Vec<TurnedTap>> {
    let turn: Vec3 = V3(turn);
    let mut saved = Snapshot::default();
    saved.save(&mut Whole(predictor));
    let range = ports.input_range(port);
    let mut inputs = vec![0.0; ports.input_width()];
    // Orientation, spin and its rate at all delays, with a change of the sample at time zero.
    let mut respond = |level: usize, change: Vec3| -> Vec<(Quaternion, [Vec3; 2])> {
        predictor.reset();
        let mut found = Vec::new();
        for n in -(LONGEST as i64)..=LONGEST as i64 {
            let t = n as f64 * step;
            let changes = match n {
                0 => change,
                _ => Vec3::ZERO,
            };
            let at = |wanted: usize| if level == wanted { changes } else { Vec3::ZERO };
            let orientation = Quaternion::exp(at(0)).times(Quaternion::exp(turn * n as f64));
            let mut sample = Quantity::Motion.zero();
            sample[MOTION_QUATERNION].copy_from_slice(&orientation.0);
            sample[10..13].copy_from_slice(&(turn * (1.0 / step) + at(1)).0);
            sample[16..19].copy_from_slice(&at(2).0);
            predictor.receive(port, t, &sample);
            predictor.predict(if is_fresh { t } else { t + step }, None, &mut inputs);
            if n + i64::from(!is_fresh) >= 0 {
                let read = |first: usize| {
                    let values = &inputs[range.start + first..];
                    V3([values[0], values[1], values[2]])
                };
                let q = &inputs[range.clone()][MOTION_QUATERNION];
                let orientation = Quaternion([q[0], q[1], q[2], q[3]]);
                found.push((orientation, [read(10), read(16)]));
            }
        }
        found
    };
    let mut taps = vec![TurnedTap::default(); LONGEST + 1];
    for level in 0..LEVELS {
        let size = SMALL_TURN / step.powi(level as i32);
        for component in 0..3 {
            let mut change = Vec3::ZERO;
            change[component] = size;
            let (up, down) = (respond(level, change), respond(level, -change));
            for (delay, (tap, (up, down))) in taps.iter_mut().zip(up.iter().zip(&down)).enumerate()
            {
                let back = Quaternion::exp(turn * -(delay as f64));
                let changes = [
                    up.0.times(down.0.conjugate()).log(),
                    up.1[0] - down.1[0],
                    up.1[1] - down.1[1],
                ];
                for (row, change) in changes.into_iter().enumerate() {
                    let seen = back.rotate(change) * (0.5 / size);
                    (0..3).for_each(|i| tap[row][level][i][component] = seen[i]);
                }
            }
        }
    }
    saved.restore(&mut Whole(predictor));
    let scale = |row: usize, level: usize| step.powi(level as i32 - row as i32);
    let is_nothing = |tap: &TurnedTap| {
        let mut places = (0..LEVELS).flat_map(|row| (0..LEVELS).map(move |level| (row, level)));
        places.all(|(row, level)| {
            let mut entries = tap[row][level].iter().flatten();
            entries.all(|entry| entry.abs() <= ENDED * scale(row, level))
        })
    };
    let is_over = is_nothing(&taps[LONGEST]);
    while taps.last().is_some_and(is_nothing) {
        taps.pop();
    }
    is_over.then_some(taps)
}

/// A predictor seen as its state alone.
struct Whole<'a>(&'a mut dyn Predictor);

impl State for Whole<'_> {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.0.visit(visitor);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::port::Unit;
    use crate::predictor::Hold;

    #[test]
    fn a_hold_answers_with_its_weights() {
        let mut ports = Ports::new();
        let port = ports.add_input("u", Quantity::Scalar(Unit::ONE));
        let expected: [&[f64]; 3] = [&[0.0, 1.0], &[0.0, 2.0, -1.0], &[0.0, 3.0, -3.0, 1.0]];
        for (order, expected) in expected.into_iter().enumerate() {
            let mut hold = Hold::new(order, &ports);
            let taps = impulse_response(&mut hold, &ports, port, 0.5, false).unwrap();
            let found: Vec<f64> = taps.iter().map(|tap| tap[0][0]).collect();
            assert_eq!(found, expected, "order {order}");
            let fresh = impulse_response(&mut hold, &ports, port, 0.5, true).unwrap();
            assert_eq!(fresh.len(), 1);
            assert_eq!(fresh[0][0][0], 1.0);
        }
    }
}
