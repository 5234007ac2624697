//! The energy that the exchange itself creates or destroys.
//!
//! At an interface one part receives a motion and gives a force, the other receives the force and
//! gives the motion. Exact coupling passes on every joule. Explicit coupling does not: each side
//! works with predicted values of the other. So each side keeps an account of the work *it* sees,
//! with the values it really used, and the difference of the accounts is what the exchange made.
//!
//! Work is force times displacement, by the trapezoidal rule, along the path that a side really
//! sees: within a step the predicted motion moves; at an exchange it jumps, and the force changes
//! with it. The account is exact for piecewise linear forces, hence for parts that are solved
//! finely within the macro step; with a single coarse micro step the integrator's own error in
//! work is of the same order and is not included.

use std::ops::Range;

use crate::port::{MOTION_QUATERNION, Quantity, Unit};
use crate::state::{State, Visitor, multiply, rotation_vector_of};

/// How motion becomes work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// First component is a displacement, the force one number.
    Line,
    /// The motion is known as a velocity only.
    Rate,
    /// Pose and wrench.
    Spatial,
}

impl Measure {
    /// The measure for a motion and a force that are power-conjugate, if they are.
    pub fn of(motion: &Quantity, force: &Quantity) -> Option<Self> {
        let scalar = |quantity: &Quantity, units: [Unit; 2]| match quantity {
            Quantity::Scalar(unit) => units.contains(unit),
            _ => false,
        };
        if *motion == Quantity::Motion && *force == Quantity::Wrench {
            return Some(Self::Spatial);
        }
        if !scalar(force, [Unit::NEWTON, Unit::NEWTON_METRE]) {
            return None;
        }
        if matches!(motion, Quantity::Translation | Quantity::Rotation)
            || scalar(motion, [Unit::METRE, Unit::RADIAN])
        {
            return Some(Self::Line);
        }
        let rates = [Unit::METRE_PER_SECOND, Unit::RADIAN_PER_SECOND];
        scalar(motion, rates).then_some(Self::Rate)
    }

    /// Work over a motion from one point to another within a time `h`.
    fn work(self, force: [&[f64]; 2], motion: [&[f64]; 2], h: f64) -> f64 {
        let mean = |i: usize| 0.5 * (force[0][i] + force[1][i]);
        match self {
            Self::Line => mean(0) * (motion[1][0] - motion[0][0]),
            Self::Rate => mean(0) * 0.5 * (motion[1][0] + motion[0][0]) * h,
            Self::Spatial => {
                let quaternion = |m: &[f64]| -> [f64; 4] {
                    m[MOTION_QUATERNION].try_into().expect("four components")
                };
                let [w, x, y, z] = quaternion(motion[0]);
                let turned = multiply(quaternion(motion[1]), [w, -x, -y, -z]);
                let turn = rotation_vector_of(turned);
                let along: f64 = (0..3)
                    .map(|i| mean(i) * (motion[1][i] - motion[0][i]))
                    .sum();
                let about: f64 = (0..3).map(|i| mean(3 + i) * turn[i]).sum();
                along + about
            }
        }
    }
}

/// Which values of a part make up its account.
#[derive(Clone, Debug)]
pub(crate) enum Side {
    /// Receives a motion, gives a force: the work it delivers.
    GivesForce {
        motion: Range<usize>,
        force: Range<usize>,
    },
    /// Receives a force, gives a motion: the work it takes.
    GivesMotion {
        force: Range<usize>,
        motion: Range<usize>,
    },
    /// Receives a motion, sends its own; the force stays inside: work on both ends.
    KeepsForce {
        far: Range<usize>,
        own: Range<usize>,
        force: Range<usize>,
    },
}

/// One side's account of an interface.
pub(crate) struct Account {
    side: Side,
    measure: Measure,
    work: f64,
    /// Inputs and outputs at the end of the last step, and at the start of this one.
    last: (Vec<f64>, Vec<f64>),
    start: (Vec<f64>, Vec<f64>),
    opened: u64,
}

impl Account {
    pub fn new(side: Side, measure: Measure, widths: (usize, usize)) -> Self {
        let blank = || (vec![0.0; widths.0], vec![0.0; widths.1]);
        Self {
            side,
            measure,
            work: 0.0,
            last: blank(),
            start: blank(),
            opened: 0,
        }
    }

    pub fn work(&self) -> f64 {
        self.work
    }

    /// Whether the outputs at the start of a step are needed: a force jumps with its inputs, a
    /// motion does not.
    pub fn needs_starting_outputs(&self) -> bool {
        !matches!(self.side, Side::GivesMotion { .. })
    }

    /// The step starts with these values: received motion may have jumped since the last step.
    pub fn open(&mut self, inputs: &[f64], outputs: &[f64]) {
        copy(&mut self.start, inputs, outputs);
        if self.opened > 0 && self.measure != Measure::Rate {
            let (u, y) = (&self.last, &self.start);
            match &self.side {
                Side::GivesForce { motion, force }
                | Side::KeepsForce {
                    far: motion, force, ..
                } => {
                    let forces = [&u.1[force.clone()], &y.1[force.clone()]];
                    let motions = [&u.0[motion.clone()], &y.0[motion.clone()]];
                    self.work += self.measure.work(forces, motions, 0.0);
                }
                Side::GivesMotion { .. } => {}
            }
        }
        self.opened = 1;
    }

    /// The step of length `h` ends with these values.
    pub fn close(&mut self, inputs: &[f64], outputs: &[f64], h: f64) {
        let (u0, y0) = &self.start;
        let measure = self.measure;
        self.work += match &self.side {
            Side::GivesForce { motion, force } => measure.work(
                [&y0[force.clone()], &outputs[force.clone()]],
                [&u0[motion.clone()], &inputs[motion.clone()]],
                h,
            ),
            Side::GivesMotion { force, motion } => measure.work(
                [&u0[force.clone()], &inputs[force.clone()]],
                [&y0[motion.clone()], &outputs[motion.clone()]],
                h,
            ),
            Side::KeepsForce { far, own, force } => {
                let forces = [&y0[force.clone()], &outputs[force.clone()]];
                let fars = [&u0[far.clone()], &inputs[far.clone()]];
                let owns = [&y0[own.clone()], &outputs[own.clone()]];
                measure.work(forces, fars, h) + measure.work(forces, owns, h)
            }
        };
        copy(&mut self.last, inputs, outputs);
    }
}

fn copy(to: &mut (Vec<f64>, Vec<f64>), inputs: &[f64], outputs: &[f64]) {
    to.0.copy_from_slice(inputs);
    to.1.copy_from_slice(outputs);
}

impl State for Account {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(std::slice::from_mut(&mut self.work));
        visitor.fixed(&mut self.last.0);
        visitor.fixed(&mut self.last.1);
        visitor.count(&mut self.opened);
    }
}

/// An interface whose energy is balanced: two accounts, and what they mean together.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub name: String,
    pub kind: InterfaceKind,
    /// Unit and account of each side; for force and motion, the side that gives the force first.
    pub sides: [(usize, usize); 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InterfaceKind {
    /// One side gives the force, the other the motion.
    ForceMotion,
    /// Both give motions and keep a copy of the force.
    MotionMotion,
}

impl Interface {
    /// The energy created by the exchange, from the works of the two sides.
    pub fn created(&self, works: [f64; 2]) -> f64 {
        match self.kind {
            InterfaceKind::ForceMotion => works[1] - works[0],
            // Each copy of the force should be the reaction of the other; the mean of both views
            // of the mismatch is minus half of the net force times the sum of the motions.
            InterfaceKind::MotionMotion => -0.5 * (works[0] + works[1]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_of_a_wrench_is_force_by_path_and_moment_by_turn() {
        let mut from = Quantity::Motion.zero();
        let mut to = Quantity::Motion.zero();
        to[0] = 2.0;
        let angle: f64 = 0.3;
        (to[3], to[6]) = ((angle / 2.0).cos(), (angle / 2.0).sin());
        from[1] = 1.0;
        to[1] = 1.0;
        let wrench = [3.0, 100.0, 0.0, 0.0, 0.0, 10.0];
        let work = Measure::Spatial.work([&wrench, &wrench], [&from, &to], 0.1);
        assert!((work - (6.0 + 3.0)).abs() < 1e-12);
    }

    #[test]
    fn only_conjugate_quantities_make_work() {
        let newton = Quantity::Scalar(Unit::NEWTON);
        assert_eq!(
            Measure::of(&Quantity::Translation, &newton),
            Some(Measure::Line)
        );
        assert_eq!(
            Measure::of(&Quantity::Scalar(Unit::METRE_PER_SECOND), &newton),
            Some(Measure::Rate)
        );
        assert_eq!(Measure::of(&newton, &newton), None);
        assert_eq!(Measure::of(&Quantity::Motion, &newton), None);
    }
}
