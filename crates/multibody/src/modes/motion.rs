//! The motion linearised exactly at a moving state, in frames in which its coefficients stand
//! still.
//!
//! A change of a node's pose is a displacement δx and a spin δφ in the absolute frame, so that
//! δω = δφ' - ω × δφ and δα = δω'. In a frame that turns with Ω the changes are seen as ξ:
//! δq' = ξ' + Ω × ξ. About a steady rotation the coefficients are constant in the frame that turns
//! with it. What is round, turning about its own axis, has constant coefficients in the absolute
//! frame as well; that is where its vibrations are usually counted.

use super::pencil::Pencil;
use crate::assembly::EvaluationPoint;
use crate::linearised::rows::ConstraintRows;
use crate::linearised::states::{PlacedStates, Unlinear};
use crate::linearised::{Entry, LinearisedMatrices, elements};
use crate::node::{Motion, NodeId};
use crate::system::System;
use faer::c64;
use oldham_space::{Mat3, Vec3};
use std::collections::HashMap;

/// Time over which coefficients are watched, as an angle of the fastest rotation.
const WATCHED: f64 = 1e-3;
/// Nodes that differ by less than this fraction in their spin turn together.
const TOGETHER: f64 = 1e-6;
/// Relative asymmetry below which something that turns counts as round: its effect on frequencies
/// is of second order.
const ROUND: f64 = 2e-2;
/// Newton's iteration to the steady motion ends at changes of this fraction of the model's size,
/// or where they are small and shrink no more: motions that nothing resists magnify rounding.
const STEADY: f64 = 1e-10;
const SMALL: f64 = 1e-5;
const MAX_ITERATIONS: usize = 30;
/// Smallest fraction of the loads by which they are raised.
const SMALLEST_STEP: f64 = 1.0 / 64.0;
/// Displacement to the steady motion, relative to the size and to the angle turned, up to which a
/// motion stays steady.
const STILL_STEADY: f64 = 1e-3;
/// Frequency whose inertia holds motions that nothing resists, in rad/s.
const HELD: f64 = 0.05;

/// Spin of the frame of each node, the ground first.
pub(super) type Frames = Vec<Vec3>;

impl System {
    /// The frames in which the linearised motion has constant coefficients.
    pub(super) fn frames(&self, inputs: &[f64]) -> Frames {
        let spins: Vec<Vec3> = self.motions.iter().map(|m| m.angular_velocity).collect();
        let fastest = spins.iter().map(|w| w.norm()).fold(0.0, f64::max);
        let mut frames = vec![Vec3::ZERO; spins.len()];
        if fastest == 0.0 {
            return frames;
        }
        let dt = WATCHED / fastest;
        let at = self.evaluation_point(inputs);
        let later: Vec<Motion> = self.motions.iter().map(|m| turned_on(m, dt)).collect();
        let now = self.diagonal_blocks(&at);
        let then = self.diagonal_blocks(&EvaluationPoint {
            motions: &later,
            ..at
        });
        for group in self.groups(&spins, TOGETHER * fastest) {
            let spin = spins[group[0]];
            let change = |turning: bool| {
                let turn = match turning {
                    true => crate::Quaternion::exp(spin * dt).matrix(),
                    false => Mat3::IDENTITY,
                };
                let of = |&node: &usize| asymmetry(&now[node], &then[node], turn, spin.norm());
                group.iter().map(of).fold(0.0, f64::max)
            };
            let as_seen = WATCHED * spin.norm() / fastest;
            let (absolute, turning) = (change(false), change(true));
            if absolute > ROUND * as_seen && turning < absolute {
                group.iter().for_each(|&node| frames[node] = spin);
            }
        }
        frames
    }

    /// Nodes that turn, in groups of those that are connected and turn alike.
    fn groups(&self, spins: &[Vec3], slack: f64) -> Vec<Vec<usize>> {
        let mut representative: Vec<usize> = (0..spins.len()).collect();
        fn root(representative: &mut [usize], mut i: usize) -> usize {
            while representative[i] != i {
                representative[i] = representative[representative[i]];
                i = representative[i];
            }
            i
        }
        for placed in &self.assembly.elements {
            let nodes = placed.element.nodes();
            for pair in nodes.windows(2) {
                let [a, b] = [pair[0].0, pair[1].0];
                let alike = (spins[a] - spins[b]).norm() <= slack;
                if alike && pair.iter().all(|&node| node != NodeId::GROUND) {
                    let (a, b) = (root(&mut representative, a), root(&mut representative, b));
                    representative[a.max(b)] = a.min(b);
                }
            }
        }
        let mut groups = vec![Vec::new(); spins.len()];
        for (node, spin) in spins.iter().enumerate().skip(1) {
            if spin.norm() > slack {
                groups[root(&mut representative, node)].push(node);
            }
        }
        groups.retain(|group| !group.is_empty());
        groups
    }

    /// Mass, damping, stiffness and what constraints hold of each node alone, as 6 × 6 blocks. Reactions do
    /// not count: those of a joint whose directions turn need not turn with them.
    fn diagonal_blocks(&self, at: &EvaluationPoint<'_>) -> Vec<Blocks> {
        let none = vec![0.0; at.multipliers.len()];
        let at = &EvaluationPoint {
            multipliers: &none,
            ..*at
        };
        let mut matrices = elements(&self.assembly, at, |_| true);
        let still = vec![[Vec3::ZERO; 2]; at.motions.len()];
        self.add_bodies(at, &still, &mut matrices);
        let mut blocks = vec![[[[0.0; 6]; 6]; 4]; at.motions.len()];
        let kinds = [&matrices.mass, &matrices.damping, &matrices.stiffness];
        for (kind, entries) in kinds.into_iter().enumerate() {
            for &(i, j, value) in entries.iter().filter(|(i, j, _)| i / 6 == j / 6) {
                blocks[i / 6 + 1][kind][i % 6][j % 6] += value;
            }
        }
        // Gradients times themselves: the same for any directions in which a joint counts.
        let mut rows: HashMap<(usize, usize), [f64; 6]> = HashMap::new();
        for &(row, j, value) in &matrices.constraint_rows {
            rows.entry((row, j / 6)).or_default()[j % 6] += value;
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|(place, _)| *place);
        for ((_, node), gradient) in rows {
            for (i, line) in blocks[node + 1][3].iter_mut().enumerate() {
                for (entry, other) in line.iter_mut().zip(gradient) {
                    *entry += gradient[i] * other;
                }
            }
        }
        blocks
    }

    /// The accelerations of the steady motion: constant velocities in the frames.
    pub(super) fn steady_accelerations(&self, frames: &Frames) -> Vec<[Vec3; 2]> {
        let nodes = self.motions.iter().zip(frames);
        let steady = |(motion, frame): (&Motion, &Vec3)| {
            [motion.velocity, motion.angular_velocity].map(|v| frame.cross(v))
        };
        nodes.map(steady).collect()
    }

    /// Mass, stiffness and constraints in the frames, for displacements: rolling is held.
    fn pencil_at(
        &self,
        at: &EvaluationPoint<'_>,
        frames: &Frames,
        accelerations: &[[Vec3; 2]],
    ) -> Pencil {
        let matrices = in_frames(self.exact_matrices(at, accelerations), frames);
        Pencil::new(matrices)
    }

    /// The linearised motion in the frames, with constraints on velocities and the states of elements.
    pub(super) fn equations(
        &self,
        inputs: &[f64],
        frames: &Frames,
        accelerations: &[[Vec3; 2]],
    ) -> Result<Equations, Unlinear> {
        let at = self.evaluation_point(inputs);
        let mut states = PlacedStates::at(&self.assembly, &at)?;
        let more = turned(&states.by_velocity, frames, 1.0);
        states.by_pose.extend(more);
        let mut rows = ConstraintRows::at(&self.assembly, &at);
        let of_slips = rows.gradients.iter();
        let of_slips: Vec<Entry> = of_slips
            .filter(|entry| rows.on_velocities[entry.0])
            .copied()
            .collect();
        rows.by_pose.extend(turned(&of_slips, frames, 1.0));
        let matrices = self.exact_matrices(&at, accelerations);
        Ok(Equations {
            matrices: in_frames(matrices, frames),
            rows,
            states,
        })
    }

    /// What is missing to the steady motion: forces on the nodes, and negative violations.
    fn steady_residual(&self, at: &EvaluationPoint<'_>, accelerations: &[[Vec3; 2]]) -> Vec<f64> {
        let mut values = vec![0.0; self.assembly.residual_length()];
        self.assembly.weight(at, &mut values);
        self.assembly.element_residual(at, &mut values);
        let bodies = self.assembly.inertia.iter().zip(&self.motions).skip(1);
        for (i, (inertia, motion)) in bodies.enumerate() {
            let [a, alpha] = accelerations[i + 1];
            let rate = inertia.momentum_rate(motion, a, alpha);
            let moment = rate.angular + motion.velocity.cross(inertia.momentum(motion).linear);
            for k in 0..3 {
                values[6 * i + k] -= rate.linear[k];
                values[6 * i + 3 + k] -= moment[k];
            }
        }
        values.truncate(self.assembly.unknowns());
        values
    }

    /// How far the state is from a steady motion: the displacement that would bring it there, as
    /// a fraction of the model's size, where motions that nothing resists are held by inertia.
    pub(super) fn distance_from_steady(&self, inputs: &[f64], frames: &Frames) -> f64 {
        let at = self.evaluation_point(inputs);
        let change = self.steady_change(&at, frames, std::f64::consts::TAU);
        change.map_or(f64::INFINITY, |change| self.largest_change(&change))
    }

    /// Newton's step to the steady motion.
    fn steady_change(
        &self,
        at: &EvaluationPoint<'_>,
        frames: &Frames,
        held: f64,
    ) -> Option<Vec<f64>> {
        let accelerations = self.steady_accelerations(frames);
        let pencil = self.pencil_at(at, frames, &accelerations);
        solved(pencil, held, &self.steady_residual(at, &accelerations))
    }

    fn largest_change(&self, change: &[f64]) -> f64 {
        let nodes = change[..6 * self.assembly.nodes()].chunks_exact(6);
        let largest = nodes.map(|d| {
            let moved = Vec3::new(d[0], d[1], d[2]).norm() / self.size;
            moved.max(Vec3::new(d[3], d[4], d[5]).norm())
        });
        largest.fold(0.0, f64::max)
    }

    /// Whether a state that is steady now is so a little later: weight across the axis of a
    /// rotation lets it be so only for a moment.
    pub(super) fn stays_steady(&mut self, inputs: &[f64], frames: &Frames) -> bool {
        let fastest = frames.iter().map(|w| w.norm()).fold(0.0, f64::max);
        if fastest == 0.0 {
            return true;
        }
        let kept = self.motions.clone();
        for (motion, frame) in self.motions.iter_mut().zip(frames) {
            *motion = gone_on(motion, *frame, WATCHED / fastest);
        }
        let distance = self.distance_from_steady(inputs, frames);
        self.motions = kept;
        distance <= STILL_STEADY * WATCHED
    }

    /// Moves to the steady motion near the present state: at rest in the turning frames. Gives
    /// back whether it seems to be found; if not, the state is as before. Where the iteration
    /// does not get there at once, the rotation comes first, and the loads are raised afterwards.
    pub(super) fn seek_steady(&mut self, inputs: &[f64], frames: &Frames) -> bool {
        if self.balance_steadily(1.0, inputs, frames) {
            return true;
        }
        let kept = (self.motions.clone(), self.multipliers.clone());
        let (mut reached, mut step) = (0.0, 0.25);
        let mut is_found = self.balance_steadily(0.0, inputs, frames);
        while is_found && reached < 1.0 {
            let factor = f64::min(reached + step, 1.0);
            if self.balance_steadily(factor, inputs, frames) {
                reached = factor;
            } else {
                step *= 0.5;
                is_found = step >= SMALLEST_STEP;
            }
        }
        if !is_found {
            (self.motions, self.multipliers) = kept;
        }
        is_found
    }

    /// Newton's iteration to the steady motion under a fraction of the loads.
    fn balance_steadily(&mut self, load_factor: f64, inputs: &[f64], frames: &Frames) -> bool {
        let kept = (self.motions.clone(), self.multipliers.clone());
        let mut before = f64::INFINITY;
        for _ in 0..MAX_ITERATIONS {
            let at = EvaluationPoint {
                load_factor,
                ..self.evaluation_point(inputs)
            };
            let Some(change) = self.steady_change(&at, frames, HELD) else {
                break;
            };
            let size = self.largest_change(&change);
            if !size.is_finite() || size > 0.5 {
                break;
            }
            let nodes = self.assembly.nodes();
            for (i, d) in change[..6 * nodes].chunks_exact(6).enumerate() {
                let (moved, turn) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
                let (motion, frame) = (&mut self.motions[i + 1], frames[i + 1]);
                let spin = (frame - motion.angular_velocity).cross(turn);
                *motion = motion.displaced(moved, turn);
                motion.velocity += frame.cross(moved);
                motion.angular_velocity += spin;
            }
            for (multiplier, d) in self.multipliers.iter_mut().zip(&change[6 * nodes..]) {
                *multiplier += d;
            }
            if size < STEADY || (size < SMALL && size > 0.3 * before) {
                return true;
            }
            before = size;
        }
        (self.motions, self.multipliers) = kept;
        false
    }
}

/// Solution of (ω² M + K) x = b.
fn solved(pencil: Pencil, omega: f64, b: &[f64]) -> Option<Vec<f64>> {
    let undamped = Pencil {
        damping: Vec::new(),
        ..pencil
    };
    let factors = undamped.factor(c64::new(omega, 0.0))?;
    let mut x: Vec<c64> = b.iter().map(|&v| c64::new(v, 0.0)).collect();
    factors.solve(&mut x);
    let x: Vec<f64> = x.iter().map(|v| v.re).collect();
    x.iter().all(|v| v.is_finite()).then_some(x)
}

/// The linearised motion: matrices, constraints, and what elements remember.
pub(super) struct Equations {
    pub matrices: LinearisedMatrices,
    pub rows: ConstraintRows,
    pub states: PlacedStates,
}

/// Matrices for changes that are seen in the frames: D ξ' + D Ω ξ, M ξ'' + 2 M Ω ξ' + M Ω² ξ.
fn in_frames(mut matrices: LinearisedMatrices, frames: &Frames) -> LinearisedMatrices {
    let turning = |entries: &[Entry]| turned(entries, frames, 1.0);
    let twice = turning(&matrices.mass);
    let damped = turning(&matrices.damping);
    let damped_more = turning(&matrices.left_out.damping);
    matrices.stiffness.extend(damped);
    matrices.stiffness.extend(damped_more);
    matrices.stiffness.extend(turning(&twice));
    let coriolis = twice.iter().map(|&(i, j, v)| (i, j, 2.0 * v));
    matrices.damping.extend(coriolis);
    matrices
}

/// Entries times the matrix of Ω × in the frame of each node.
fn turned(entries: &[Entry], frames: &Frames, factor: f64) -> Vec<Entry> {
    let nodes = frames.len() - 1;
    let mut product = Vec::new();
    for &(i, j, value) in entries {
        if j >= 6 * nodes || frames[j / 6 + 1] == Vec3::ZERO {
            continue;
        }
        let line = frames[j / 6 + 1].skew().0[j % 3];
        for (k, spin) in line.into_iter().enumerate().filter(|(_, w)| *w != 0.0) {
            product.push((i, j - j % 3 + k, factor * value * spin));
        }
    }
    product
}

/// A node some time later, if it goes on turning as it does.
fn turned_on(motion: &Motion, dt: f64) -> Motion {
    let turn = crate::Quaternion::exp(motion.angular_velocity * dt).matrix();
    let moved = motion.displaced(motion.velocity * dt, motion.angular_velocity * dt);
    moved.moving(turn * motion.velocity, motion.angular_velocity)
}

/// A node some time later, at rest in a frame that turns.
fn gone_on(motion: &Motion, frame: Vec3, dt: f64) -> Motion {
    let angle = frame.norm() * dt;
    if angle == 0.0 {
        return motion.displaced(motion.velocity * dt, motion.angular_velocity * dt);
    }
    let turn = crate::Quaternion::exp(frame * dt).matrix();
    // ∫ exp(Ω τ) v dτ, with v along the axis and across it.
    let axis = frame.unit();
    let along = axis * axis.dot(motion.velocity);
    let (v, w) = (motion.velocity - along, axis.cross(motion.velocity));
    let arc = (v * angle.sin() + w * (1.0 - angle.cos())) * (dt / angle);
    let moved = motion.displaced(along * dt + arc, motion.angular_velocity * dt);
    moved.moving(turn * motion.velocity, turn * motion.angular_velocity)
}

/// Mass, damping, stiffness and constraints of a node.
type Blocks = [[[f64; 6]; 6]; 4];

/// Largest relative change of the blocks of a node, seen in a frame that has turned. Damping and
/// stiffness matter where they are not small beside what the mass contributes at the rate of the
/// rotation.
fn asymmetry(now: &Blocks, then: &Blocks, turn: Mat3, rate: f64) -> f64 {
    let part = |block: &[[f64; 6]; 6], row: usize, column: usize| {
        crate::M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| block[3 * row + i][3 * column + j])))
    };
    let size = |m: &Mat3| m.0.iter().flatten().map(|v| v * v).sum::<f64>().sqrt();
    let inertia = [0, 1].map(|i| size(&part(&now[0], i, i)));
    let mut largest = 0.0_f64;
    for (order, (now, then)) in now.iter().zip(then).enumerate() {
        let least = match order {
            3 => 0.0,
            _ => rate.powi(order as i32),
        };
        let scale = [0, 1].map(|i| size(&part(now, i, i)).max(least * inertia[i]));
        for row in 0..2 {
            for column in 0..2 {
                let seen = turn.transpose() * part(then, row, column) * turn;
                let typical = (scale[row] * scale[column]).sqrt();
                if typical > 0.0 {
                    largest = largest.max(size(&(seen - part(now, row, column))) / typical);
                }
            }
        }
    }
    largest
}
