//! The energy that the exchange itself creates or destroys.
//!
//! At an interface one part receives a motion and gives a force, the other receives the force and
//! gives the motion. Exact coupling passes on every joule. Explicit coupling does not: each side
//! works with predicted values of the other. So each side keeps an integral of the work *it* sees,
//! with the values it really used, and the difference of the two is what the exchange made.
//!
//! Work is force times displacement, by the trapezoidal rule, along the path that a side really
//! sees: within a step the predicted motion moves; at an exchange it jumps, and the force changes
//! with it. A side whose force does not depend on the motion at once, as the reaction of a constraint, follows a motion that was
//! sent for the end of its step within the step. The integral is exact for piecewise linear forces, hence for parts that are solved
//! finely within the macro step; with a single coarse micro step the integrator's own error in
//! work is of the same order and is not included.

use crate::port::{MOTION_QUATERNION, Quantity, Unit};
use crate::state::{State, Visitor};
use oldham_space::Quaternion;

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

    /// Work between two samples that are `h` apart.
    #[inline(always)]
    fn work<const F: usize, const M: usize>(
        self,
        from: &Sample<F, M>,
        to: &Sample<F, M>,
        h: f64,
    ) -> f64 {
        let mean = |i: usize| 0.5 * (from.force[i] + to.force[i]);
        match self {
            Self::Line => mean(0) * (to.motion[0] - from.motion[0]),
            Self::Rate => mean(0) * 0.5 * (to.motion[0] + from.motion[0]) * h,
            Self::Spatial => {
                let orientation = |sample: &Sample<F, M>| {
                    let part = &sample.motion[MOTION_QUATERNION];
                    Quaternion(part.try_into().expect("four components"))
                };
                let turn = orientation(to).times(orientation(from).conjugate()).log();
                let along = (0..3).map(|i| mean(i) * (to.motion[i] - from.motion[i]));
                let about = (0..3).map(|i| mean(3 + i) * turn[i]);
                along.chain(about).sum()
            }
        }
    }
}

/// A force and the motion of its point of action, as far as they make work.
#[derive(Clone, Copy, Debug)]
struct Sample<const F: usize, const M: usize> {
    force: [f64; F],
    motion: [f64; M],
}

impl<const F: usize, const M: usize> Sample<F, M> {
    const ZERO: Self = Self {
        force: [0.0; F],
        motion: [0.0; M],
    };

    #[inline(always)]
    fn take(force: &[f64], motion: &[f64]) -> Self {
        Self {
            force: *force.first_chunk().expect("a port is as wide as its force"),
            motion: *motion
                .first_chunk()
                .expect("a port is as wide as its motion"),
        }
    }
}

/// Which values of a part make up its work integral; places are where a port starts in the part's
/// input or output vector.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Side {
    /// Receives a motion, gives a force: the work it delivers.
    GivesForce { motion: usize, force: usize },
    /// Receives a force, gives a motion: the work it takes.
    GivesMotion { force: usize, motion: usize },
    /// Receives a motion, sends its own; the force stays inside: work on both ends.
    KeepsForce {
        far: usize,
        own: usize,
        force: usize,
    },
}

/// The work that one side sees at an interface.
pub(crate) enum InterfaceWork {
    /// One number each for force and motion.
    Line(WorkIntegral<1, 1>),
    /// Wrench and pose.
    Spatial(Box<WorkIntegral<6, { MOTION_QUATERNION.end }>>),
}

impl InterfaceWork {
    pub fn new(side: Side, measure: Measure) -> Self {
        match measure {
            Measure::Line | Measure::Rate => Self::Line(WorkIntegral::new(side, measure)),
            Measure::Spatial => Self::Spatial(Box::new(WorkIntegral::new(side, measure))),
        }
    }

    pub fn work(&self) -> f64 {
        match self {
            Self::Line(integral) => integral.work,
            Self::Spatial(integral) => integral.work,
        }
    }

    /// The work up to the start of the step that was opened last.
    pub fn opened(&self) -> f64 {
        match self {
            Self::Line(integral) => integral.opened,
            Self::Spatial(integral) => integral.opened,
        }
    }

    /// What the part gains by this work; nothing is known where the force stays
    /// inside.
    pub fn gain(&self, work: f64) -> Option<f64> {
        let side = match self {
            Self::Line(integral) => integral.side,
            Self::Spatial(integral) => integral.side,
        };
        match side {
            Side::GivesForce { .. } => Some(-work),
            Side::GivesMotion { .. } => Some(work),
            Side::KeepsForce { .. } => None,
        }
    }

    /// Places of the outputs that are needed at the start of a step: a force jumps with its inputs,
    /// a motion does not.
    pub fn starting_outputs(&self) -> Vec<usize> {
        let side = match self {
            Self::Line(integral) => integral.side,
            Self::Spatial(integral) => integral.side,
        };
        match side {
            Side::GivesForce { force, .. } => vec![force],
            Side::GivesMotion { .. } => Vec::new(),
            Side::KeepsForce { own, force, .. } => vec![own, force],
        }
    }

    /// Places of a received motion and of the force that is given for it.
    pub fn received_motion(&self) -> Option<[usize; 2]> {
        let side = match self {
            Self::Line(integral) => integral.side,
            Self::Spatial(integral) => integral.side,
        };
        match side {
            Side::GivesForce { motion, force } => Some([motion, force]),
            _ => None,
        }
    }

    /// The step starts as the last one ended: what was received since is reached at its end.
    pub fn go_on(&mut self) {
        match self {
            Self::Line(integral) => integral.go_on(),
            Self::Spatial(integral) => integral.go_on(),
        }
    }

    /// The run starts with these values.
    pub fn begin(&mut self, inputs: &[f64], outputs: &[f64]) {
        match self {
            Self::Line(integral) => integral.begin(inputs, outputs),
            Self::Spatial(integral) => integral.begin(inputs, outputs),
        }
    }

    /// The step starts with these values: received motion may have jumped since the last step.
    pub fn open(&mut self, inputs: &[f64], outputs: &[f64]) {
        match self {
            Self::Line(integral) => integral.open(inputs, outputs),
            Self::Spatial(integral) => integral.open(inputs, outputs),
        }
    }

    /// The step of length `h` ends with these values.
    pub fn close(&mut self, inputs: &[f64], outputs: &[f64], h: f64) {
        match self {
            Self::Line(integral) => integral.close(inputs, outputs, h),
            Self::Spatial(integral) => integral.close(inputs, outputs, h),
        }
    }
}

impl State for InterfaceWork {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        match self {
            Self::Line(integral) => integral.visit(visitor),
            Self::Spatial(integral) => integral.visit(visitor),
        }
    }
}

/// A work integral with its samples of fixed size.
pub(crate) struct WorkIntegral<const F: usize, const M: usize> {
    side: Side,
    measure: Measure,
    work: f64,
    /// Work before the step, so that a corrected step can be closed again.
    opened: f64,
    /// At the end of the last step, and at the start of this one.
    last: Sample<F, M>,
    start: Sample<F, M>,
    /// The same for the own end of a side that keeps its force.
    own_start: Sample<F, M>,
}

impl<const F: usize, const M: usize> WorkIntegral<F, M> {
    fn new(side: Side, measure: Measure) -> Self {
        Self {
            side,
            measure,
            work: 0.0,
            opened: 0.0,
            last: Sample::ZERO,
            start: Sample::ZERO,
            own_start: Sample::ZERO,
        }
    }

    fn begin(&mut self, inputs: &[f64], outputs: &[f64]) {
        self.last = self.sample(inputs, outputs);
    }

    #[inline(always)]
    fn open(&mut self, inputs: &[f64], outputs: &[f64]) {
        self.opened = self.work;
        if let Side::GivesMotion { force, .. } = self.side {
            self.start = Sample::take(&inputs[force..], &self.last.motion);
            return;
        }
        self.start = self.sample(inputs, outputs);
        if self.measure != Measure::Rate {
            self.opened += self.measure.work(&self.last, &self.start, 0.0);
        }
        if let Some(own) = self.own_sample(outputs) {
            self.own_start = own;
        }
    }

    fn go_on(&mut self) {
        self.opened = self.work;
        self.start = self.last;
    }

    #[inline(always)]
    fn close(&mut self, inputs: &[f64], outputs: &[f64], h: f64) {
        let end = self.sample(inputs, outputs);
        self.work = self.opened + self.measure.work(&self.start, &end, h);
        if let Some(own_end) = self.own_sample(outputs) {
            self.work += self.measure.work(&self.own_start, &own_end, h);
        }
        self.last = end;
    }

    /// Force and motion at the interface.
    #[inline(always)]
    fn sample(&self, inputs: &[f64], outputs: &[f64]) -> Sample<F, M> {
        match self.side {
            Side::GivesForce { motion, force }
            | Side::KeepsForce {
                far: motion, force, ..
            } => Sample::take(&outputs[force..], &inputs[motion..]),
            Side::GivesMotion { force, motion } => {
                Sample::take(&inputs[force..], &outputs[motion..])
            }
        }
    }

    /// Force and motion at the own end of a side that keeps its force.
    #[inline(always)]
    fn own_sample(&self, outputs: &[f64]) -> Option<Sample<F, M>> {
        match self.side {
            Side::KeepsForce { own, force, .. } => {
                Some(Sample::take(&outputs[force..], &outputs[own..]))
            }
            _ => None,
        }
    }

    fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(std::slice::from_mut(&mut self.work));
        visitor.fixed(&mut self.last.force);
        visitor.fixed(&mut self.last.motion);
    }
}

/// An interface whose energy is balanced: two work integrals, and what they mean together.
#[derive(Clone, Debug)]
pub(crate) struct Interface {
    pub name: String,
    pub kind: InterfaceKind,
    /// Unit and work integral of each side; for force and motion, the side that gives the force
    /// first.
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
        let angle: f64 = 0.3;
        let force = [3.0, 100.0, 0.0, 0.0, 0.0, 10.0];
        let from = Sample {
            force,
            motion: [0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        };
        let (cosine, sine) = ((angle / 2.0).cos(), (angle / 2.0).sin());
        let to = Sample {
            force,
            motion: [2.0, 1.0, 0.0, cosine, 0.0, 0.0, sine],
        };
        let work = Measure::Spatial.work(&from, &to, 0.1);
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
