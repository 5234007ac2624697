//! What the extrapolation of accelerations and multipliers misses, from step to step.
//!
//! Accelerations extrapolated along a straight line miss the end of a step by their second difference. That is of the
//! order of what the method itself misses, so that it tells how far the iteration has to go. It hardly changes from
//! one step to the next where the step resolves the motion: added to the next prediction it leaves the third
//! difference, which is smaller by one more order of the step, and so is what an iteration leaves of it. Where the
//! differences do not shrink, nothing is added.

use crate::integrator::Record;
use oldham_cosim::Visitor;
use oldham_space::Vec3;

/// Second differences are added if they change by no more than this fraction of themselves.
const STEADY: f64 = 0.5;

/// Second differences of the last step.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Foresight {
    /// Of accelerations and angular accelerations, node by node, then of the multipliers.
    values: Vec<f64>,
    /// Of accelerations of freedoms, in joint coordinates.
    pub freedoms: Vec<f64>,
    /// The largest of them: as an acceleration, and as a force.
    pub sizes: [f64; 2],
    /// Number of steps in a row from which they could be taken, at most 2.
    known: u64,
    /// Whether those of motions, and of multipliers, are steady.
    steady: [u64; 2],
}

/// Which end of a step the differences are taken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// A new one.
    New,
    /// That of the last step, found once more.
    Again,
}

/// Largest second differences of a step, and by how much they have changed, squared for motions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Largest {
    motion: [f64; 2],
    force: [f64; 2],
}

impl Foresight {
    pub fn new(nodes: usize, constraints: usize, freedoms: usize) -> Self {
        Self {
            values: vec![0.0; 6 * nodes + constraints],
            freedoms: vec![0.0; freedoms],
            ..Self::default()
        }
    }

    pub fn copy_from(&mut self, other: &Self) {
        self.values.clone_from(&other.values);
        self.freedoms.clone_from(&other.freedoms);
        (self.sizes, self.known, self.steady) = (other.sizes, other.known, other.steady);
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(&mut self.values);
        if !self.freedoms.is_empty() {
            visitor.fixed(&mut self.freedoms);
        }
        visitor.fixed(&mut self.sizes);
        visitor.count(&mut self.known);
        for flag in &mut self.steady {
            visitor.count(flag);
        }
    }

    /// After a change of the step or an event there is nothing to go by.
    pub fn forget(&mut self) {
        self.values.fill(0.0);
        self.freedoms.fill(0.0);
        (self.sizes, self.known, self.steady) = ([0.0; 2], 0, [0; 2]);
    }

    /// Whether there are differences of the last step.
    pub fn is_known(&self) -> bool {
        self.known > 0
    }

    /// Whether the differences of motions, or of multipliers, are steady.
    pub fn is_steady(&self, which: usize) -> bool {
        self.steady[which] == 1
    }

    /// What is added to the extrapolated accelerations of a node; the ground is node 0.
    pub fn of_node(&self, node: usize) -> [Vec3; 2] {
        if self.steady[0] == 0 {
            return [Vec3::ZERO; 2];
        }
        let v = &self.values[6 * (node - 1)..6 * node];
        [Vec3::new(v[0], v[1], v[2]), Vec3::new(v[3], v[4], v[5])]
    }

    /// What is added to the extrapolated accelerations of the freedoms, if anything is.
    pub fn of_freedoms(&self) -> Option<&[f64]> {
        (self.steady[0] == 1).then_some(&self.freedoms)
    }

    /// What is added to an extrapolated multiplier.
    pub fn of_multiplier(&self, index: usize, nodes: usize) -> f64 {
        match self.steady[1] {
            0 => 0.0,
            _ => self.values[6 * nodes + index],
        }
    }

    /// Takes the differences of a node: `new` is the end of the step, `last` the record before it. `old` is one step
    /// older, or the end that `new` takes the place of. Angles count times a length whose square is given.
    #[inline(always)]
    pub fn take_node(
        &mut self,
        node: usize,
        [new, last, old]: [[Vec3; 2]; 3],
        end: End,
        length2: f64,
        largest: &mut Largest,
    ) {
        let values = &mut self.values[6 * (node - 1)..6 * node];
        for half in 0..2 {
            let kept = &mut values[3 * half..3 * half + 3];
            let before = Vec3::new(kept[0], kept[1], kept[2]);
            let second = match end {
                End::New => new[half] - last[half] * 2.0 + old[half],
                End::Again => before + new[half] - old[half],
            };
            kept.copy_from_slice(&second.0);
            let unit = if half == 0 { 1.0 } else { length2 };
            let third = second - before;
            let found = [second.dot(second), third.dot(third)];
            for (most, square) in largest.motion.iter_mut().zip(found) {
                *most = most.max(square * unit);
            }
        }
    }

    /// The same of the multipliers, the last ones of a step; `grips` make forces of them.
    pub fn take_multipliers(
        &mut self,
        [new, last, old]: [&[f64]; 3],
        grips: &[f64],
        end: End,
        mut largest: Largest,
    ) {
        let start = self.values.len() - new.len();
        for (i, kept) in self.values[start..].iter_mut().enumerate() {
            let second = match end {
                End::New => new[i] - 2.0 * last[i] + old[i],
                End::Again => *kept + new[i] - old[i],
            };
            let found = [second, second - *kept];
            for (most, change) in largest.force.iter_mut().zip(found) {
                *most = most.max(grips[i] * change.abs());
            }
            *kept = second;
        }
        let [motion, force] = [largest.motion.map(f64::sqrt), largest.force];
        self.sizes = [motion[0], force[0]];
        if end == End::New {
            self.known = (self.known + 1).min(2);
            let is_steady = |[second, third]: [f64; 2]| third <= STEADY * second;
            let known = self.known == 2;
            self.steady = [motion, force].map(|found| u64::from(known && is_steady(found)));
        }
    }
}

/// The accelerations of a record that are extrapolated: those about node axes if the method steps these.
pub(crate) fn foreseen(record: &Record, about_node_axes: bool) -> [Vec3; 2] {
    let alpha = record.angular_acceleration;
    let alpha = match about_node_axes {
        true => record.motion.rotation.transpose_mul(alpha),
        false => alpha,
    };
    [record.acceleration, alpha]
}
