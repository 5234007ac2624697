//! The two-step integrator: coefficients, history and prediction.
//!
//! Positions, rotation vectors and momenta all obey
//! `y(k+1) = a1 y(k) + a2 y(k-1) + h (b0 y'(k+1) + b1 y'(k) + b2 y'(k-1))`.
//! With c = h b0, velocities and accelerations are functions of the new pose alone, so the six
//! pose components are the only unknowns of a node.
//!
//! Rotation vectors are relative to the last converged orientation.
//!
//! # References
//! Fontana et al. 2026, Eq. 8–15 and Sect. 4.1.2. There, in the step that applies Eq. 8 to the
//! rotation, ω(k) has to be read as R(k)ᵀ ω(k).

use crate::body::{Inertia, Momentum};
use crate::math::{Mat3, Vec3};
use crate::node::Motion;
use crate::rotation::{Quaternion, inverse_tangent_times, tangent_times};

/// A method of integration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Method {
    /// Second order, two steps, with an asymptotic spectral radius between 0 (second-order
    /// backward differentiation) and 1 (no dissipation). It starts with a Crank–Nicolson step.
    Lms2 {
        /// Asymptotic spectral radius.
        rho: f64,
    },
    /// First order, heavily dissipative.
    BackwardEuler,
}

impl Default for Method {
    fn default() -> Self {
        Self::Lms2 { rho: 0.6 }
    }
}

/// Coefficients of a two-step method.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coefficients {
    pub a1: f64,
    pub a2: f64,
    pub b0: f64,
    pub b1: f64,
    pub b2: f64,
}

impl Method {
    /// The coefficients for a step with `known` earlier states of the same step size.
    pub(crate) fn coefficients(self, known: u64) -> Coefficients {
        let one_step = |b0: f64| Coefficients {
            a1: 1.0,
            a2: 0.0,
            b0,
            b1: 1.0 - b0,
            b2: 0.0,
        };
        match self {
            Self::BackwardEuler => one_step(1.0),
            Self::Lms2 { .. } if known < 2 => one_step(0.5),
            Self::Lms2 { rho } => lms2(rho),
        }
    }
}

/// Fontana 2026, Eq. 12 and 13.
fn lms2(rho: f64) -> Coefficients {
    let square = (1.0 - rho) * (1.0 - rho);
    let beta = (3.0 * square + 4.0 * (2.0 * rho - 1.0)) / (4.0 - square);
    let delta = square / (2.0 * (4.0 - square));
    Coefficients {
        a1: 1.0 - beta,
        a2: beta,
        b0: delta + 0.5,
        b1: 0.5 * beta + 0.5 - 2.0 * delta,
        b2: 0.5 * beta + delta,
    }
}

/// What is remembered of a node at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Record {
    pub motion: Motion,
    pub momentum: Momentum,
    pub momentum_rate: Momentum,
}

/// What a step knows about a node before it is taken: values at the end are
/// `known + c · rate at the end`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Known {
    position: Vec3,
    theta: Vec3,
    momentum: Momentum,
    start: Quaternion,
    axes: Mat3,
}

/// The unknown pose of a node in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pose {
    pub position: Vec3,
    /// Rotation vector from the orientation at the start of the step, in the axes of that.
    pub theta: Vec3,
}

/// The step from `now`, `before` being the state one step earlier: the known parts, and the
/// predicted pose.
#[inline(always)]
pub(crate) fn begin(
    now: &Record,
    before: &Record,
    h: f64,
    k: &Coefficients,
) -> (Known, Pose) {
    let axes = now.motion.rotation;
    let theta_rate = axes.transpose_mul(now.motion.angular_velocity);
    let mut known = Known {
        position: now.motion.position * k.a1 + now.motion.velocity * (h * k.b1),
        theta: theta_rate * (h * k.b1),
        momentum: Momentum {
            linear: now.momentum.linear * k.a1 + now.momentum_rate.linear * (h * k.b1),
            angular: now.momentum.angular * k.a1 + now.momentum_rate.angular * (h * k.b1),
        },
        start: now.motion.orientation,
        axes,
    };
    // Fontana 2026, Eq. 14: the first rates are those of the start.
    let (mut velocity, mut theta_velocity) = (now.motion.velocity, theta_rate);
    if k.b2 != 0.0 {
        let old = &before.motion;
        let back = now.motion.orientation.conjugate().times(old.orientation);
        let old_theta = back.log();
        let old_rate =
            inverse_tangent_times(old_theta, axes.transpose_mul(old.angular_velocity));
        known.position += old.position * k.a2 + old.velocity * (h * k.b2);
        known.theta += old_theta * k.a2 + old_rate * (h * k.b2);
        known.momentum.linear +=
            before.momentum.linear * k.a2 + before.momentum_rate.linear * (h * k.b2);
        known.momentum.angular +=
            before.momentum.angular * k.a2 + before.momentum_rate.angular * (h * k.b2);
        // Fontana 2026, Eq. 8 and 10.
        let change = now.motion.position - old.position;
        velocity = change * (-12.0 / h) + now.motion.velocity * 8.0 + old.velocity * 5.0;
        theta_velocity = old_theta * (12.0 / h) + theta_rate * 8.0 + old_rate * 5.0;
    }
    let c = h * k.b0;
    let pose = Pose {
        position: known.position + velocity * c,
        theta: known.theta + theta_velocity * c,
    };
    (known, pose)
}

impl Known {
    /// The motion that belongs to a pose at the end of the step.
    #[inline(always)]
    pub fn motion(&self, pose: &Pose, per_c: f64) -> Motion {
        let orientation = self.start.times(Quaternion::exp(pose.theta)).normalised();
        let theta_rate = (pose.theta - self.theta) * per_c;
        Motion {
            position: pose.position,
            orientation,
            rotation: orientation.matrix(),
            velocity: (pose.position - self.position) * per_c,
            angular_velocity: self.axes * tangent_times(pose.theta, theta_rate),
        }
    }

    /// Changes a pose by a displacement and a spin.
    #[inline(always)]
    pub fn correct(&self, pose: &mut Pose, displacement: Vec3, spin: Vec3) {
        pose.position += displacement;
        pose.theta += inverse_tangent_times(pose.theta, self.axes.transpose_mul(spin));
    }

    /// Momenta at the end of the step, and their rates.
    #[inline(always)]
    pub fn momentum(&self, inertia: &Inertia, motion: &Motion, per_c: f64) -> (Momentum, Momentum) {
        let momentum = inertia.momentum(motion);
        let rate = Momentum {
            linear: (momentum.linear - self.momentum.linear) * per_c,
            angular: (momentum.angular - self.momentum.angular) * per_c,
        };
        (momentum, rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With ρ∞ = 0 the method is the second-order backward differentiation formula.
    #[test]
    fn without_a_radius_it_is_bdf2() {
        let k = lms2(0.0);
        let close = |a: f64, b: f64| (a - b).abs() < 1e-15;
        assert!(close(k.a1, 4.0 / 3.0) && close(k.a2, -1.0 / 3.0));
        assert!(close(k.b0, 2.0 / 3.0) && close(k.b1, 0.0) && close(k.b2, 0.0));
    }

    /// Two-step formulas of order two fulfil three conditions.
    #[test]
    fn order_conditions_hold_for_every_radius() {
        for rho in [0.0, 0.3, 0.6, 1.0] {
            let k = lms2(rho);
            assert!((k.a1 + k.a2 - 1.0).abs() < 1e-15);
            assert!((-k.a2 + k.b0 + k.b1 + k.b2 - 1.0).abs() < 1e-15);
            assert!((0.5 * k.a2 + k.b0 - k.b2 - 0.5).abs() < 1e-15);
        }
    }
}
