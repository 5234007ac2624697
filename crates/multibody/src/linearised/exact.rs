//! The motion linearised exactly at a moving state: what bodies and the spins of nodes add to what
//! elements know.
//!
//! A change of a node's pose is a displacement δx and a spin δφ in the absolute frame, so that
//! δω = δφ' - ω × δφ and δα = δω'.

use super::{Entry, LinearisedMatrices, add_node_blocks, elements, left_out};
use crate::assembly::EvaluationPoint;
use crate::body::Inertia;
use crate::node::Motion;
use crate::system::System;
use oldham_space::{Mat3, Vec3};

impl System {
    /// All matrices at a state, exactly, for given accelerations of the nodes.
    pub(crate) fn exact_matrices(
        &self,
        at: &EvaluationPoint<'_>,
        accelerations: &[[Vec3; 2]],
    ) -> LinearisedMatrices {
        let mut matrices = elements(&self.assembly, at, |_| true);
        matrices.left_out = left_out::left_out(&self.assembly, at, self.size);
        self.add_bodies(at, accelerations, &mut matrices);
        matrices
    }

    /// The accelerations of the present state.
    pub(crate) fn present_accelerations(&self) -> Vec<[Vec3; 2]> {
        let records = self.state.now.iter();
        let present = records.map(|r| [r.acceleration, r.angular_acceleration]);
        present.collect()
    }

    /// Adds what bodies contribute for given accelerations, and what dampers owe to the spins.
    pub(crate) fn add_bodies(
        &self,
        at: &EvaluationPoint<'_>,
        accelerations: &[[Vec3; 2]],
        to: &mut LinearisedMatrices,
    ) {
        // δω = δφ' - ω × δφ: what depends on spins depends on rotations.
        let more = by_rotation(&to.damping, at.motions);
        to.stiffness.extend(more);
        let more = by_rotation(&to.left_out.damping, at.motions);
        to.left_out.stiffness.extend(more);
        let bodies = self.assembly.inertia.iter().zip(at.motions).skip(1);
        for (i, (inertia, motion)) in bodies.enumerate() {
            let [a, alpha] = accelerations[i + 1];
            let blocks = body(
                inertia,
                motion,
                a - self.assembly.gravity * at.load_factor,
                alpha,
            );
            for (blocks, entries) in
                blocks
                    .iter()
                    .zip([&mut to.mass, &mut to.damping, &mut to.stiffness])
            {
                add_node_blocks(entries, 6 * i, blocks);
            }
        }
    }
}

/// What depends on angular velocities depends on rotations: the entries by rotations that follow from
/// those by the velocities of nodes.
pub(crate) fn by_rotation(entries: &[Entry], motions: &[Motion]) -> Vec<Entry> {
    let nodes = motions.len() - 1;
    let mut more = Vec::new();
    for &(i, j, value) in entries {
        if j >= 6 * nodes || j % 6 < 3 {
            continue;
        }
        let spin = motions[j / 6 + 1].angular_velocity;
        let line = (-spin.skew()).0[j % 6 - 3];
        for (k, factor) in line.into_iter().enumerate().filter(|(_, f)| *f != 0.0) {
            more.push((i, j - j % 6 + 3 + k, value * factor));
        }
    }
    more
}

/// Mass, damping and stiffness of a body at a node, for `a`, its acceleration less gravity, and
/// its angular acceleration; each as four 3 × 3 blocks.
///
/// The forces are m a + α × S + ω × (ω × S) and S × a + J α + ω × J ω.
fn body(inertia: &Inertia, motion: &Motion, a: Vec3, alpha: Vec3) -> [[Mat3; 4]; 3] {
    let omega = motion.angular_velocity;
    let first = motion.rotation * inertia.first;
    let s = first.skew();
    let j = motion.rotation * inertia.second * motion.rotation.transpose();
    let (w, turn) = (omega.skew(), alpha.skew());
    let momentum = (j * omega).skew();
    // By changes of the angular acceleration, of the spin, and of the orientation.
    let by_alpha = [-s, j];
    let by_spin = [-(omega.cross(first).skew()) - w * s, w * j - momentum];
    let by_turn = [
        -(turn * s) - w * w * s,
        a.skew() * s - (j * alpha).skew() + j * turn + w * (j * w - momentum),
    ];
    let zero = Mat3::ZERO;
    let mass = Mat3::IDENTITY * inertia.mass;
    let damping = [0, 1].map(|i| by_spin[i] - by_alpha[i] * w);
    let stiffness = [0, 1].map(|i| by_turn[i] - by_alpha[i] * turn - by_spin[i] * w);
    [
        [mass, by_alpha[0], s, by_alpha[1]],
        [zero, damping[0], zero, damping[1]],
        [zero, stiffness[0], zero, stiffness[1]],
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use oldham_space::Quaternion;

    /// A motion x(t), R(t) = exp(φ(t)) exp(θ(t)) R₀ whose change φ is known: forces along both
    /// differ by what the matrices say.
    #[test]
    fn a_body_is_linearised_exactly_while_it_turns_and_accelerates() {
        let mut inertia = Inertia::default();
        let shape = Mat3::diagonal(0.3, 0.5, 0.4);
        inertia.add(&Body::centred(2.0, shape).with_centre(Vec3::new(0.2, -0.1, 0.3)));
        let start = Quaternion::exp(Vec3::new(0.3, -0.6, 0.2));
        let path = |t: f64, e: f64| {
            let theta = Vec3::new(1.0, -2.0, 0.7) * t + Vec3::new(0.5, 0.8, -1.1) * (t * t);
            let phi = Vec3::new(0.3 + 0.7 * t - t * t, 0.5 - t, 1.1 * t + 2.0 * t * t) * e;
            let x = Vec3::new(t * t, 2.0 * t, -t) + Vec3::new(1.0 - t, t * t, 0.4) * e;
            let turn = Quaternion::exp(phi).times(Quaternion::exp(theta));
            (x, turn.times(start))
        };
        let force = |e: f64| {
            let h = 1e-3;
            // Rates by differences of fourth order of positions and rotation matrices.
            let at = |k: i32| path(f64::from(k) * h, e);
            let first =
                |f: &dyn Fn(i32) -> f64| (8.0 * (f(1) - f(-1)) - (f(2) - f(-2))) / (12.0 * h);
            let second = |f: &dyn Fn(i32) -> f64| {
                (16.0 * (f(1) + f(-1)) - (f(2) + f(-2)) - 30.0 * f(0)) / (12.0 * h * h)
            };
            let entry = |k: i32, i: usize, j: usize| at(k).1.matrix().0[i][j];
            let all = |of: &dyn Fn(usize, usize) -> f64| {
                crate::M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| of(i, j))))
            };
            let r = at(0).1.matrix();
            let r1 = all(&|i, j| first(&|k| entry(k, i, j)));
            let r2 = all(&|i, j| second(&|k| entry(k, i, j)));
            let w = r1 * r.transpose();
            let omega = Vec3::new(w.0[2][1], w.0[0][2], w.0[1][0]);
            let dw = r2 * r.transpose() - w * w;
            let alpha = Vec3::new(dw.0[2][1], dw.0[0][2], dw.0[1][0]);
            let x = |i: usize| move |k: i32| path(f64::from(k) * h, e).0[i];
            let v = Vec3::new(first(&x(0)), first(&x(1)), first(&x(2)));
            let a = Vec3::new(second(&x(0)), second(&x(1)), second(&x(2)));
            let motion = Motion::at_rest(at(0).0, at(0).1).moving(v, omega);
            let rate = inertia.momentum_rate(&motion, a, alpha);
            let moment = rate.angular + v.cross(inertia.momentum(&motion).linear);
            (rate.linear, moment, motion, a, alpha)
        };
        let (_, _, motion, a, alpha) = force(0.0);
        // Of fourth order too: rounding of the rates, divided by the change, must stay small.
        let e = 1e-2;
        let [far, plus, minus, back] = [2.0 * e, e, -e, -2.0 * e].map(force);
        let slope = |of: fn(&(Vec3, Vec3, Motion, Vec3, Vec3)) -> Vec3| {
            ((of(&plus) - of(&minus)) * 8.0 - (of(&far) - of(&back))) * (1.0 / (12.0 * e))
        };
        let [m, d, k] = body(&inertia, &motion, a, alpha);
        let change = [
            [Vec3::new(1.0, 0.0, 0.4), Vec3::new(0.3, 0.5, 0.0)],
            [Vec3::new(-1.0, 0.0, 0.0), Vec3::new(0.7, -1.0, 1.1)],
            [Vec3::new(0.0, 2.0, 0.0), Vec3::new(-2.0, 0.0, 4.0)],
        ];
        let product = |row: usize| {
            let of = |blocks: &[Mat3; 4], q: &[Vec3; 2]| {
                blocks[2 * row] * q[0] + blocks[2 * row + 1] * q[1]
            };
            of(&k, &change[0]) + of(&d, &change[1]) + of(&m, &change[2])
        };
        let slope = [slope(|f| f.0), slope(|f| f.1)];
        for (row, slope) in slope.into_iter().enumerate() {
            let off = (product(row) - slope).norm();
            assert!(off < 1e-6, "{row}: {:?} {slope:?}", product(row));
        }
    }
}
