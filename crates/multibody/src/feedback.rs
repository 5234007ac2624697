//! Feedback by sensors in Newton's matrix.
//!
//! What sensors read moves the loads, lengths and targets of an element, at nodes that it need not touch. Those
//! derivatives join its own: the readings alone are changed, by central differences, while the element stays where it
//! is. So every sensor is covered, also those of other crates; for laws that are linear in what is read, such as those
//! of servos, the derivative is exact but for rounding. What reactions do that are read is left to the iteration.

use crate::assembly::{Assembly, EvaluationPoint, Placed, lone_residual};
use crate::element::{At, NOWHERE, Weights};
use crate::node::Motion;
use oldham_space::Vec3;

/// Step of the differences, as a fraction of what matters.
const STEP: f64 = 1e-5;

impl Assembly {
    /// Names of the elements that sensors drive.
    pub(crate) fn driven_by_sensors(&self) -> Vec<String> {
        let measured = self.measured.iter();
        measured
            .map(|&index| self.elements[index].name.clone())
            .collect()
    }

    /// Adds the derivatives by poses and velocities that sensors read.
    pub(crate) fn add_feedback(
        &mut self,
        matrix: &mut [f64],
        at: &EvaluationPoint<'_>,
        weights: Weights,
    ) {
        if self.measured.is_empty() || (weights.stiffness == 0.0 && weights.damping == 0.0) {
            return;
        }
        let mut sensed = std::mem::take(&mut self.sensed);
        sensed.clear();
        sensed.extend_from_slice(at.motions);
        for &index in &self.measured {
            let placed = &self.elements[index];
            let nodes = placed.rows.len() - 1;
            let rows = 6 * nodes + placed.multipliers.len();
            let found = |place: usize, component: usize, row: usize, slope: f64| {
                let block = (row / 6).min(nodes);
                let to = placed.feedback[block * placed.reads.len() + place];
                if to != NOWHERE {
                    matrix[to.start + component * to.stride + row - 6 * block] += slope;
                }
            };
            self.find_feedback(placed, &mut sensed, at, weights, rows, found);
        }
        self.sensed = sensed;
    }

    /// Gives the derivatives of an element by what its sensors read, row by row of so many: place of the node among those
    /// that are read, component of its motion, row, and value. `sensed` has the motions.
    pub(crate) fn find_feedback(
        &self,
        placed: &Placed,
        sensed: &mut [Motion],
        at: &EvaluationPoint<'_>,
        weights: Weights,
        rows: usize,
        mut found: impl FnMut(usize, usize, usize, f64),
    ) {
        for (place, node) in placed.reads.iter().enumerate() {
            if node.0 == 0 {
                continue;
            }
            let kept = sensed[node.0];
            for component in 0..6 {
                let reach = match component {
                    0..3 => [self.lever, self.lever + kept.velocity.norm()],
                    _ => [1.0, 1.0 + kept.angular_velocity.norm()],
                };
                // Pose and velocity change at once, as they do in an iteration.
                let weights = [weights.stiffness, weights.damping];
                let longest = |i: usize| reach[i] / weights[i].abs();
                let step = STEP * longest(0).min(longest(1));
                let mut read = |step: f64| {
                    let [way, change] = weights.map(|weight| weight * step);
                    sensed[node.0] = sped(&moved(&kept, component, way), component, change);
                    let there = At {
                        sensed,
                        ..at.of(placed, &self.elements)
                    };
                    lone_residual(&*placed.element, &there)
                };
                let (plus, minus) = (read(step), read(-step));
                for row in 0..rows {
                    let slope = (minus[row] - plus[row]) * (0.5 / step);
                    if slope != 0.0 {
                        found(place, component, row, slope);
                    }
                }
            }
            sensed[node.0] = kept;
        }
    }
}

fn along(component: usize, step: f64) -> Vec3 {
    let mut vector = Vec3::ZERO;
    vector[component % 3] = step;
    vector
}

fn moved(motion: &Motion, component: usize, step: f64) -> Motion {
    let way = along(component, step);
    match component {
        0..3 => motion.displaced(way, Vec3::ZERO),
        _ => motion.displaced(Vec3::ZERO, way),
    }
}

fn sped(motion: &Motion, component: usize, step: f64) -> Motion {
    let mut motion = *motion;
    match component {
        0..3 => motion.velocity += along(component, step),
        _ => motion.angular_velocity += along(component, step),
    }
    motion
}
