//! The frame that turns with an element: the rotation that brings the unloaded corners closest to
//! the present ones, in the sense of least squares.
//!
//! With X the unloaded corners and p the present ones, both about their means and in the frame's
//! axes, the sum of X × p vanishes. Its variation gives the spin of the frame in its own axes,
//! A ω = Σ X × δp, with A = tr(M) I - M and M = Σ p Xᵀ, which is symmetric there.

use oldham_space::Quaternion;
use oldham_space::{M3, Mat3, Vec3};

/// An angle below which the rotation is found.
const CONVERGED: f64 = 1e-13;
/// The iteration converges quadratically; more steps only happen in a hopeless configuration.
const MAX_ITERATIONS: usize = 12;

/// The frame and what it sees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub orientation: Quaternion,
    /// Frame axes to absolute axes.
    pub axes: Mat3,
    /// The present corners about their mean, in frame axes.
    pub places: [Vec3; 4],
    /// A⁻¹.
    pub inverse: Mat3,
    /// Whether the iteration that fits it has converged.
    pub is_fitted: bool,
}

impl Frame {
    /// Fits the frame, starting from a guess.
    #[inline(always)]
    pub fn fit(unloaded: &[Vec3; 4], positions: [Vec3; 4], guess: Quaternion) -> Self {
        let mean = (positions[0] + positions[1] + positions[2] + positions[3]) * 0.25;
        let arms = positions.map(|x| x - mean);
        let mut frame = Self::seen_from(unloaded, &arms, guess);
        for _ in 0..MAX_ITERATIONS {
            let turn = frame.inverse * moment(unloaded, &frame.places);
            if turn.dot(turn) < CONVERGED * CONVERGED {
                frame.is_fitted = true;
                break;
            }
            let half = turn * 0.5;
            let step = Quaternion([1.0, half[0], half[1], half[2]]);
            let orientation = frame.orientation.times(step).normalised();
            frame = Self::seen_from(unloaded, &arms, orientation);
        }
        frame
    }

    #[inline(always)]
    fn seen_from(unloaded: &[Vec3; 4], arms: &[Vec3; 4], orientation: Quaternion) -> Self {
        let axes = orientation.matrix();
        let places = arms.map(|arm| axes.transpose_mul(arm));
        let mut second = Mat3::ZERO;
        for (p, x) in places.iter().zip(unloaded) {
            second += p.outer(*x);
        }
        let m = &second.0;
        let trace = m[0][0] + m[1][1] + m[2][2];
        let inverse = inverse(&(M3::scaled_identity(trace) - second));
        Self {
            orientation,
            axes,
            places,
            inverse,
            is_fitted: false,
        }
    }

    /// Spin of the frame, in its axes, when the corners move.
    #[inline(always)]
    pub fn spin(&self, unloaded: &[Vec3; 4], velocities: &[Vec3; 4]) -> Vec3 {
        self.inverse * moment(unloaded, velocities)
    }
}

#[inline(always)]
fn moment(arms: &[Vec3; 4], vectors: &[Vec3; 4]) -> Vec3 {
    let c = |i: usize| arms[i].cross(vectors[i]);
    c(0) + c(1) + c(2) + c(3)
}

#[inline(always)]
fn inverse(m: &Mat3) -> Mat3 {
    let [a, b, c] = [0, 1, 2].map(|j| m.column(j));
    let (bc, ca, ab) = (b.cross(c), c.cross(a), a.cross(b));
    M3([bc.0, ca.0, ab.0]) * (1.0 / a.dot(bc))
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLOADED: [Vec3; 4] = [
        Vec3::new(-1.0, -0.9, 0.1),
        Vec3::new(1.3, -0.6, -0.12),
        Vec3::new(0.8, 0.9, 0.09),
        Vec3::new(-1.1, 0.6, -0.07),
    ];

    #[test]
    fn a_rigid_motion_is_found_from_a_bad_guess() {
        let turn = Quaternion::exp(Vec3::new(0.4, -1.0, 2.0));
        let positions = UNLOADED.map(|x| turn.matrix() * x + Vec3::new(3.0, 4.0, 5.0));
        let guess = turn.times(Quaternion::exp(Vec3::new(0.5, 0.3, -0.4)));
        let frame = Frame::fit(&UNLOADED, positions, guess);
        for (place, x) in frame.places.iter().zip(&UNLOADED) {
            assert!((*place - *x).norm() < 1e-14);
        }
    }

    #[test]
    fn the_spin_is_the_derivative_of_the_rotation() {
        let deformed = |s: f64| {
            [0, 1, 2, 3].map(|i| {
                let v = Vec3::new(0.3 * i as f64, -0.2, 0.1 * (i * i) as f64);
                UNLOADED[i] * 1.1 + v * (0.1 + s)
            })
        };
        let mean = (UNLOADED[0] + UNLOADED[1] + UNLOADED[2] + UNLOADED[3]) * 0.25;
        let unloaded = UNLOADED.map(|x| x - mean);
        let fit = |s: f64| Frame::fit(&unloaded, deformed(s), Quaternion::IDENTITY);
        let (here, step) = (fit(0.0), 1e-5);
        let relative = fit(-step)
            .orientation
            .conjugate()
            .times(fit(step).orientation);
        let velocities = [0, 1, 2, 3].map(|i| {
            let v = Vec3::new(0.3 * i as f64, -0.2, 0.1 * (i * i) as f64);
            here.axes.transpose_mul(v)
        });
        let difference = relative.log() * (0.5 / step);
        assert!((difference - here.spin(&unloaded, &velocities)).norm() < 1e-9);
    }
}
