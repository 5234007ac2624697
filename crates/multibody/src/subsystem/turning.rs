//! A part whose nodes turn, as a linear system from sequence to sequence: inertia as the formula steps
//! it.
//!
//! Momenta p = m v + ω × S and L = S × v + J ω have rates in absolute axes, which turn: the rate of a
//! momentum is the formula's rate of a vector. With δS = -S̃ ψ for a rotation ψ, in present axes
//!
//! δp = m δv - S̃ δω - ω̃ S̃ ψ,   δL = S̃ δv + J δω + (ṽ S̃ - (Jω)~ + J ω̃) ψ,
//!
//! and the equations are δp' for forces, δL' + ṽ δp - p̃ δv for moments. Generalised-α steps
//! accelerations instead; there the rates of momenta are differentiated for them.

use super::MechanismPart;
use crate::body::Inertia;
use crate::integrator::{Formula, Record};
use oldham_cosim::{TurningBlock, TurningFormula, TurningRate};
use oldham_space::{Mat3, Vec3};

use TurningRate::{Acceleration, Pose, Spin, SpinRate, Velocity};

/// Blocks of one node.
struct NodeBlocks {
    first: usize,
    blocks: Vec<TurningBlock>,
}

const FORCE: usize = 0;
const MOMENT: usize = 3;

impl NodeBlocks {
    fn push(&mut self, row: usize, of: TurningRate, is_rate: bool, matrix: Mat3) {
        if matrix.0.iter().flatten().all(|value| *value == 0.0) {
            return;
        }
        // The pose that enters is that of the rotation.
        let column = match of {
            Velocity | Acceleration => 0,
            Pose | Spin | SpinRate => 3,
        };
        self.blocks.push(TurningBlock {
            row: self.first + row,
            column: self.first + column,
            matrix: matrix.0,
            is_rate,
            of,
        });
    }
}

impl MechanismPart {
    /// How the formula takes rotations.
    pub(super) fn turning_formula(&self) -> Option<TurningFormula> {
        Some(match self.system.options.method.formula(2)? {
            Formula::MultiStep(k) => TurningFormula::MultiStep([k.a1, k.a2], [k.b0, k.b1, k.b2]),
            Formula::Newmark(k) => k.turning(),
        })
    }

    /// The inertia of all nodes, and their weight as it changes with rotations.
    pub(super) fn turning_blocks(&self, formula: &TurningFormula) -> [Vec<TurningBlock>; 2] {
        let system = &self.system;
        let mut inertial = Vec::new();
        let mut weight = Vec::new();
        let records = system.state.now.iter().zip(&system.assembly.inertia);
        for (i, (record, inertia)) in records.skip(1).enumerate() {
            let empty = || NodeBlocks {
                first: 6 * i,
                blocks: Vec::new(),
            };
            let mut node = empty();
            match formula {
                TurningFormula::MultiStep(..) => by_momenta(&mut node, inertia, record),
                TurningFormula::Newmark { .. } => by_accelerations(&mut node, inertia, record),
            }
            inertial.append(&mut node.blocks);
            let mut node = empty();
            let first = (record.motion.rotation * inertia.first).skew();
            node.push(
                MOMENT,
                Pose,
                false,
                -(system.assembly.gravity.skew() * first),
            );
            weight.append(&mut node.blocks);
        }
        [inertial, weight]
    }
}

/// What bodies of a node are, in absolute axes.
struct Moving {
    mass: f64,
    first: Mat3,
    second: Mat3,
    velocity: Mat3,
    spin: Mat3,
    momentum: Mat3,
    /// Of the moment of momentum by the spin alone.
    second_spin: Mat3,
}

impl Moving {
    fn new(inertia: &Inertia, record: &Record) -> Self {
        let motion = &record.motion;
        let second = motion.rotation * inertia.second * motion.rotation.transpose();
        Self {
            mass: inertia.mass,
            first: (motion.rotation * inertia.first).skew(),
            second,
            velocity: motion.velocity.skew(),
            spin: motion.angular_velocity.skew(),
            momentum: inertia.momentum(motion).linear.skew(),
            second_spin: (second * motion.angular_velocity).skew(),
        }
    }
}

fn by_momenta(to: &mut NodeBlocks, inertia: &Inertia, record: &Record) {
    let Moving {
        mass,
        first: s,
        second: j,
        velocity: v,
        spin: w,
        momentum: p,
        second_spin: jw,
    } = Moving::new(inertia, record);
    to.push(FORCE, Velocity, true, Mat3::IDENTITY * mass);
    to.push(FORCE, Spin, true, -s);
    to.push(FORCE, Pose, true, -(w * s));
    to.push(MOMENT, Velocity, true, s);
    to.push(MOMENT, Spin, true, j);
    to.push(MOMENT, Pose, true, v * s - jw + j * w);
    to.push(MOMENT, Velocity, false, v * mass - p);
    to.push(MOMENT, Spin, false, -(v * s));
    to.push(MOMENT, Pose, false, -(v * w * s));
}

fn by_accelerations(to: &mut NodeBlocks, inertia: &Inertia, record: &Record) {
    let Moving {
        mass,
        first: s,
        second: j,
        velocity: v,
        spin: w,
        momentum: p,
        second_spin: jw,
    } = Moving::new(inertia, record);
    let a = record.acceleration.skew();
    let arm: Vec3 = record.motion.rotation * inertia.first;
    let turned = record.motion.angular_velocity.cross(arm).skew();
    to.push(FORCE, Acceleration, false, Mat3::IDENTITY * mass);
    to.push(FORCE, SpinRate, false, -s);
    to.push(FORCE, Spin, false, -turned - w * s);
    to.push(FORCE, Pose, false, -(w * w * s));
    to.push(MOMENT, Acceleration, false, s);
    to.push(MOMENT, Velocity, false, turned + v * mass - p);
    to.push(MOMENT, SpinRate, false, j);
    to.push(MOMENT, Spin, false, w * j - jw);
    to.push(MOMENT, Pose, false, a * s + w * (j * w - jw));
}
