//! A massless cable through several points, such as over pulleys: one tension along all of it.

use super::law::winding;
use super::{
    At, Element, ElementEnergy, Half, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::drive::Drive;
use crate::node::{Marker, NodeId};
use oldham_space::{Mat3, Vec3};

/// Points that a cable may run through.
const MOST_POINTS: usize = 8;

/// A cable that runs freely through markers, whose first and last are its ends. Pulleys are points:
/// they have no radius, no friction and no inertia of their own. The elongation is that of the whole
/// length.
#[derive(Clone, Debug)]
pub struct Cable {
    nodes: Vec<NodeId>,
    offsets: Vec<Vec3>,
    free_length: Drive,
    law: Law,
}

/// Where the cable runs.
struct Course {
    count: usize,
    arms: [Vec3; MOST_POINTS],
    /// Of each stretch: direction and length.
    directions: [Vec3; MOST_POINTS],
    lengths: [f64; MOST_POINTS],
    /// Of the elongation.
    rate: f64,
    /// Rate of the free length.
    winding: f64,
}

impl Course {
    /// The sum of the directions away from a point along the cable.
    fn pull(&self, point: usize) -> Vec3 {
        let onwards = match point + 1 < self.count {
            true => self.directions[point],
            false => Vec3::ZERO,
        };
        match point {
            0 => onwards,
            _ => onwards - self.directions[point - 1],
        }
    }
}

impl Cable {
    /// Through at least two markers, no two neighbours of which are ever at one place, with a law
    /// that does not remember.
    ///
    /// # Panics
    /// If there are fewer than two markers or more than eight.
    pub fn new(markers: &[Marker], free_length: impl Into<Drive>, law: Law) -> Self {
        assert!((2..=MOST_POINTS).contains(&markers.len()), "2 to 8 points");
        debug_assert!(law.memory() == 0, "the law of a cable has no memory");
        Self {
            nodes: markers.iter().map(|marker| marker.node).collect(),
            offsets: markers.iter().map(|marker| marker.offset).collect(),
            free_length: free_length.into(),
            law,
        }
    }

    /// Points that a cable may run through, at most.
    pub const MOST_POINTS: usize = MOST_POINTS;

    fn course(&self, at: &At<'_>) -> Course {
        let count = self.nodes.len();
        let winding = winding(&self.free_length, at);
        let mut course = Course {
            count,
            arms: [Vec3::ZERO; MOST_POINTS],
            directions: [Vec3::ZERO; MOST_POINTS],
            lengths: [0.0; MOST_POINTS],
            rate: -winding,
            winding,
        };
        let mut before = None;
        for (i, (&node, &offset)) in self.nodes.iter().zip(&self.offsets).enumerate() {
            let motion = at.motion(node);
            let arm = motion.rotation * offset;
            let place = motion.position + arm;
            let velocity = motion.velocity + motion.angular_velocity.cross(arm);
            course.arms[i] = arm;
            if let Some((from, from_velocity)) = before.replace((place, velocity)) {
                let line: Vec3 = place - from;
                let length = line.norm();
                let direction = line * (1.0 / length);
                course.directions[i - 1] = direction;
                course.lengths[i - 1] = length;
                course.rate += direction.dot(velocity - from_velocity);
            }
        }
        course
    }

    fn elongation(&self, course: &Course, at: &At<'_>) -> f64 {
        let length: f64 = course.lengths[..course.count - 1].iter().sum();
        length - self.free_length.at(at)
    }

    /// The tension.
    pub(crate) fn tension(&self, at: &At<'_>) -> f64 {
        let course = self.course(at);
        let elongation = self.elongation(&course, at);
        self.law.evaluate(elongation, course.rate, at).0
    }
}

impl Element for Cable {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
        self.free_length.refer(references);
        self.law.refer(references);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let course = self.course(at);
        let elongation = self.elongation(&course, at);
        let (tension, ..) = self.law.evaluate(elongation, course.rate, at);
        for point in 0..course.count {
            let force = course.pull(point) * tension;
            out.load(point, force, course.arms[point].cross(force));
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let course = self.course(at);
        let elongation = self.elongation(&course, at);
        let (tension, by_length, by_rate) = self.law.evaluate(elongation, course.rate, at);
        let k = weights.stiffness * by_length + weights.damping * by_rate;
        // How the force at one point changes when another point moves.
        let mut between = |row: usize, column: usize, m: Mat3| {
            let arms = [row, column].map(|i| course.arms[i].skew());
            let by_turn = -(m * arms[1]);
            out.add((row, Linear), (column, Linear), m);
            out.add((row, Linear), (column, Angular), by_turn);
            out.add((row, Angular), (column, Linear), arms[0] * m);
            out.add((row, Angular), (column, Angular), arms[0] * by_turn);
        };
        for row in 0..course.count {
            for column in 0..course.count {
                let dyad = course.pull(row).outer(course.pull(column)) * k;
                between(row, column, dyad);
            }
        }
        let tension = tension * weights.stiffness;
        for stretch in 0..course.count - 1 {
            let n = course.directions[stretch];
            let across = (Mat3::IDENTITY - n.outer(n)) * (tension / course.lengths[stretch]);
            for (row, column, sign) in [(0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)] {
                between(stretch + row, stretch + column, across * sign);
            }
        }
        for point in 0..course.count {
            let force = course.pull(point) * tension;
            let turned = force.skew() * course.arms[point].skew();
            out.add((point, Angular), (point, Angular), -turned);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let course = self.course(at);
        let elongation = self.elongation(&course, at);
        let mut energy = self.law.energy(elongation, course.rate, at);
        if course.winding != 0.0 {
            energy.supplied -= self.law.evaluate(elongation, course.rate, at).0 * course.winding;
        }
        energy
    }
}
