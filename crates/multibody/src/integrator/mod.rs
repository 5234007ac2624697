//! The implicit integrators: coefficients, history and prediction. The explicit one is in
//! `explicit.rs`.
//!
//! Positions, rotation vectors and momenta all obey
//! `y(k+1) = a1 y(k) + a2 y(k-1) + h (b0 y'(k+1) + b1 y'(k) + b2 y'(k-1))`.
//! With c = h b0, poses and accelerations are functions of the new velocities alone, so six
//! components are the only unknowns of a node. Velocities are what is stored and corrected: they
//! then keep their full precision, whatever the distance from the origin and however small the
//! step.
//!
//! Rotation vectors are relative to the last converged orientation.
//!
//! The prediction extrapolates the accelerations and integrates them with the method itself. It is
//! closer to the solution by one order in h than the Hermite formula of Eq. 8, because it shares
//! the truncation error of the method; the converged result is the same.
//!
//! # References
//! Fontana et al. 2026, Eq. 11–15 and Sect. 4.1.2. There, in the step that applies Eq. 8 to the
//! rotation, ω(k) has to be read as R(k)ᵀ ω(k).

pub(crate) mod newmark;

use newmark::{Newmark, NewmarkHistory};

use crate::body::{Inertia, Momentum};
use crate::jump::NodeJump;
use crate::node::Motion;
use oldham_cosim::{StageInputs, TwoStep};
use oldham_space::rotation::{Quaternion, inverse_tangent_times, tangent_times};
use oldham_space::{Mat3, Vec3};

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
    /// Second order, one step, with an asymptotic spectral radius between 0 and 1; on rotations in
    /// its Lie group form.
    GeneralisedAlpha {
        /// Asymptotic spectral radius.
        rho: f64,
    },
    /// The classical explicit method of fourth order. Every motion that the joints allow must move
    /// some mass.
    Rk4 {
        /// Which inputs the stages within a step see.
        inputs: StageInputs,
    },
    /// Semi-implicit Euler at the level of velocities and impulses, the only one for contacts. First order, without
    /// loss of energy in joints; forces are those at the beginning of a step. Every motion that the joints allow must
    /// move some mass.
    Impulses,
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

impl From<TwoStep> for Coefficients {
    fn from(method: TwoStep) -> Self {
        let TwoStep {
            values: [a1, a2],
            rates: [b0, b1, b2],
        } = method;
        Self { a1, a2, b0, b1, b2 }
    }
}

impl Coefficients {
    pub fn is_two_step(&self) -> bool {
        self.a2 != 0.0 || self.b2 != 0.0
    }

    /// Velocities that belong to poses of the method differ from the true ones by this times h² times the third
    /// derivative.
    pub fn velocity_error(&self) -> f64 {
        let rates = self.b0 + self.b1 + self.b2;
        ((1.0 + self.a2) / 6.0 - (self.b0 + self.b2) / 2.0) / rates
    }
}

/// The formula of one step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Formula {
    MultiStep(Coefficients),
    Newmark(Newmark),
}

impl Formula {
    /// The pose at the end of a step of size h changes by c times the change of the velocity, the
    /// velocity by the second number times the change of the acceleration.
    pub fn gains(&self, h: f64) -> [f64; 2] {
        match self {
            Self::MultiStep(k) => [h * k.b0; 2],
            Self::Newmark(k) => [
                h * k.beta / k.gamma,
                h * k.gamma * (1.0 - k.alpha_f) / (1.0 - k.alpha_m),
            ],
        }
    }

    /// Whether a step starts from extrapolated accelerations and multipliers, if two states are known.
    pub fn extrapolates(&self) -> bool {
        match self {
            Self::MultiStep(k) => k.is_two_step(),
            Self::Newmark(_) => true,
        }
    }
}

impl Method {
    /// What it is called in model files.
    pub fn word(self) -> &'static str {
        match self {
            Self::Lms2 { .. } => "lms2",
            Self::BackwardEuler => "backward-euler",
            Self::GeneralisedAlpha { .. } => "generalised-alpha",
            Self::Rk4 { .. } => "rk4",
            Self::Impulses => "impulses",
        }
    }

    /// Whether a step needs no iteration.
    pub fn is_explicit(self) -> bool {
        matches!(self, Self::Rk4 { .. } | Self::Impulses)
    }

    /// Whether rotations are stepped in the axes of their nodes.
    pub(crate) fn steps_node_axes(self) -> bool {
        matches!(self, Self::GeneralisedAlpha { .. })
    }

    /// The implicit formula for a step with `known` earlier states of the same step size.
    pub(crate) fn formula(self, known: u64) -> Option<Formula> {
        Some(match self {
            Self::BackwardEuler => Formula::MultiStep(TwoStep::BACKWARD_EULER.into()),
            Self::Lms2 { .. } if known < 2 => Formula::MultiStep(TwoStep::CRANK_NICOLSON.into()),
            Self::Lms2 { rho } => Formula::MultiStep(TwoStep::lms2(rho).into()),
            Self::GeneralisedAlpha { rho } => Formula::Newmark(Newmark::new(rho)),
            Self::Rk4 { .. } | Self::Impulses => return None,
        })
    }
}

/// What is remembered of a node at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Record {
    pub motion: Motion,
    pub acceleration: Vec3,
    pub angular_acceleration: Vec3,
    pub momentum: Momentum,
    pub momentum_rate: Momentum,
    /// Algorithmic accelerations of the generalised-α method: in the absolute frame, and about
    /// node axes.
    pub algorithmic: [Vec3; 2],
}

impl Record {
    /// Accelerations are others, by a jump of loads; so is the velocity by a little, where joints are curved.
    pub fn jump(&mut self, inertia: &Inertia, [a, alpha]: [Vec3; 2], [v, omega]: [Vec3; 2]) {
        self.motion.velocity += v;
        self.motion.angular_velocity += omega;
        self.acceleration += a;
        self.angular_acceleration += alpha;
        self.momentum = inertia.momentum(&self.motion);
        let Momentum { linear, angular } = inertia.times(&self.motion, a, alpha);
        self.momentum_rate.linear += linear;
        self.momentum_rate.angular += angular;
    }

    /// Force and moment that accelerate the bodies of the node.
    pub fn inertia_load(&self) -> (Vec3, Vec3) {
        let rate = &self.momentum_rate;
        let convected = self.motion.velocity.cross(self.momentum.linear);
        (rate.linear, rate.angular + convected)
    }
}

/// What a step knows about a node before it is taken: values at the end are
/// `known + c · rate at the end`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct StepHistory {
    position: Vec3,
    theta: Vec3,
    velocity: Vec3,
    angular_velocity: Vec3,
    momentum: Momentum,
    start: Quaternion,
    axes: Mat3,
    newmark: Option<NewmarkHistory>,
}

/// The unknowns of a node in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Rates {
    velocity: Vec3,
    /// Rate of the rotation vector from the orientation at the start of the step, in the axes of
    /// that; for the generalised-α method the angular velocity in node axes.
    theta: Vec3,
}

/// The step from `now`, `before` being the state one step earlier: the known parts, and the
/// rates with predicted accelerations.
#[inline(always)]
pub(crate) fn begin(
    now: &Record,
    before: &Record,
    h: f64,
    k: &Coefficients,
    [a, alpha]: [Vec3; 2],
) -> (StepHistory, Rates) {
    let known = known(now, before, h, k);
    let rates = known.predict(a, alpha, h * k.b0);
    (known, rates)
}

/// The same for a step that begins with a jump: the past is the one that the new loads would have had.
pub(crate) fn begin_with_jump(
    now: &Record,
    before: &Record,
    h: f64,
    k: &Coefficients,
    inertia: &Inertia,
    jump: &NodeJump,
    [a, alpha]: [Vec3; 2],
) -> (StepHistory, Rates) {
    let mut known = known(now, before, h, k);
    let [second, third] = [jump.second, jump.third];
    let error = k.velocity_error();
    // What both make of velocities and poses.
    let to_velocity = [h * (1.0 - k.b0), h * h * (0.5 - k.b0 + error)];
    let to_pose = [
        h * h * (0.5 - k.b0),
        h.powi(3) * (k.b2 / 2.0 - k.a2 / 6.0 + error * (k.b1 + k.b2)),
    ];
    let sum = |[a, b]: [f64; 2], i: usize| second[i] * a + third[i] * b;
    known.position += sum(to_pose, 0);
    known.theta += known.axes.transpose_mul(sum(to_pose, 1));
    let [velocity, spin] = [0, 1].map(|i| sum(to_velocity, i));
    known.velocity += velocity;
    known.angular_velocity += spin;
    let Momentum { linear, angular } = inertia.times(&now.motion, velocity, spin);
    known.momentum.linear += linear;
    known.momentum.angular += angular;
    let rates = known.predict(a + second[0], alpha + second[1], h * k.b0);
    (known, rates)
}

/// The known parts of the step alone.
#[inline(always)]
pub(crate) fn known(now: &Record, before: &Record, h: f64, k: &Coefficients) -> StepHistory {
    let axes = now.motion.rotation;
    let theta_rate = axes.transpose_mul(now.motion.angular_velocity);
    let (g1, g2) = (h * k.b1, h * k.b2);
    let m = &now.motion;
    let mut known = StepHistory {
        position: m.position * k.a1 + m.velocity * g1,
        theta: theta_rate * g1,
        velocity: m.velocity * k.a1 + now.acceleration * g1,
        angular_velocity: m.angular_velocity * k.a1 + now.angular_acceleration * g1,
        momentum: Momentum {
            linear: now.momentum.linear * k.a1 + now.momentum_rate.linear * g1,
            angular: now.momentum.angular * k.a1 + now.momentum_rate.angular * g1,
        },
        start: m.orientation,
        axes,
        newmark: None,
    };
    if k.is_two_step() {
        let old = &before.motion;
        let theta = m.orientation.conjugate().times(old.orientation).log();
        let rate = inverse_tangent_times(theta, axes.transpose_mul(old.angular_velocity));
        known.position += old.position * k.a2 + old.velocity * g2;
        known.theta += theta * k.a2 + rate * g2;
        known.velocity += old.velocity * k.a2 + before.acceleration * g2;
        known.angular_velocity += old.angular_velocity * k.a2 + before.angular_acceleration * g2;
        let (p, p_rate) = (&before.momentum, &before.momentum_rate);
        known.momentum.linear += p.linear * k.a2 + p_rate.linear * g2;
        known.momentum.angular += p.angular * k.a2 + p_rate.angular * g2;
    }
    known
}

impl StepHistory {
    /// The rates at the end of the step if the accelerations there are `a` and `alpha`.
    #[inline(always)]
    fn predict(&self, a: Vec3, alpha: Vec3, c: f64) -> Rates {
        let spin = self.axes.transpose_mul(self.angular_velocity + alpha * c);
        // θ' = G(known + c θ')⁻¹ ω, by two sweeps from θ' = ω.
        let first = inverse_tangent_times(self.theta + spin * c, spin);
        Rates {
            velocity: self.velocity + a * c,
            theta: inverse_tangent_times(self.theta + first * c, spin),
        }
    }

    /// What is remembered of a motion at the end of the step.
    #[inline(always)]
    pub fn record(&self, inertia: &Inertia, motion: Motion, per_c: f64) -> Record {
        let (momentum, momentum_rate) = self.momentum(inertia, &motion, per_c);
        if let Some(newmark) = &self.newmark {
            let spin = motion.rotation.transpose_mul(motion.angular_velocity);
            let [acceleration, angular_acceleration] = newmark.accelerations(&motion);
            let algorithmic = |v: Vec3, i: usize| (v - newmark.velocities[i]) * newmark.per_gain;
            return Record {
                motion,
                acceleration,
                angular_acceleration,
                momentum,
                momentum_rate,
                algorithmic: [algorithmic(motion.velocity, 0), algorithmic(spin, 1)],
            };
        }
        Record {
            algorithmic: [Vec3::ZERO; 2],
            motion,
            acceleration: (motion.velocity - self.velocity) * per_c,
            angular_acceleration: (motion.angular_velocity - self.angular_velocity) * per_c,
            momentum,
            momentum_rate,
        }
    }

    /// The motion that belongs to the rates at the end of the step.
    #[inline(always)]
    pub fn motion(&self, rates: &Rates, c: f64) -> Motion {
        let theta = self.theta + rates.theta * c;
        let orientation = self.start.times(Quaternion::exp(theta)).normalised();
        let rotation = orientation.matrix();
        let angular_velocity = if self.newmark.is_some() {
            rotation * rates.theta
        } else {
            self.axes * tangent_times(theta, rates.theta)
        };
        Motion {
            position: self.position + rates.velocity * c,
            orientation,
            rotation,
            velocity: rates.velocity,
            angular_velocity,
        }
    }

    /// Changes the rates so that the pose changes by a displacement and a spin.
    #[inline(always)]
    pub fn correct(&self, rates: &mut Rates, displacement: Vec3, spin: Vec3, c: f64) {
        let per_c = 1.0 / c;
        let theta = self.theta + rates.theta * c;
        rates.velocity += displacement * per_c;
        rates.theta += inverse_tangent_times(theta, self.axes.transpose_mul(spin)) * per_c;
    }

    /// Moves the pose without changing the velocity.
    pub fn shift(&mut self, rates: &Rates, displacement: Vec3, spin: Vec3, c: f64) {
        let theta = self.theta + rates.theta * c;
        self.position += displacement;
        self.theta += inverse_tangent_times(theta, self.axes.transpose_mul(spin));
    }

    /// The rates with which the step ends in a pose.
    pub fn reach(&self, position: Vec3, orientation: Quaternion, c: f64) -> Rates {
        let theta = self.start.conjugate().times(orientation).log();
        let per_c = 1.0 / c;
        Rates {
            velocity: (position - self.position) * per_c,
            theta: (theta - self.theta) * per_c,
        }
    }

    /// Replaces what is known of the pose so that the step ends with a motion, and gives the rates
    /// with which it does.
    pub fn end_with(&mut self, motion: &Motion, c: f64) -> Rates {
        let theta = self.start.conjugate().times(motion.orientation).log();
        let spin = match self.newmark {
            Some(_) => motion.rotation.transpose_mul(motion.angular_velocity),
            None => {
                let spin = self.axes.transpose_mul(motion.angular_velocity);
                inverse_tangent_times(theta, spin)
            }
        };
        self.position = motion.position - motion.velocity * c;
        self.theta = theta - spin * c;
        Rates {
            velocity: motion.velocity,
            theta: spin,
        }
    }

    /// Momenta at the end of the step, and their rates.
    #[inline(always)]
    pub fn momentum(&self, inertia: &Inertia, motion: &Motion, per_c: f64) -> (Momentum, Momentum) {
        let momentum = inertia.momentum(motion);
        if let Some(newmark) = &self.newmark {
            let [a, alpha] = newmark.accelerations(motion);
            return (momentum, inertia.momentum_rate(motion, a, alpha));
        }
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
        let k = Coefficients::from(TwoStep::lms2(0.0));
        let close = |a: f64, b: f64| (a - b).abs() < 1e-15;
        assert!(close(k.a1, 4.0 / 3.0) && close(k.a2, -1.0 / 3.0));
        assert!(close(k.b0, 2.0 / 3.0) && close(k.b1, 0.0) && close(k.b2, 0.0));
    }

    /// Two-step formulas of order two fulfil three conditions.
    #[test]
    fn order_conditions_hold_for_every_radius() {
        for rho in [0.0, 0.3, 0.6, 1.0] {
            let k = Coefficients::from(TwoStep::lms2(rho));
            assert!((k.a1 + k.a2 - 1.0).abs() < 1e-15);
            assert!((-k.a2 + k.b0 + k.b1 + k.b2 - 1.0).abs() < 1e-15);
            assert!((0.5 * k.a2 + k.b0 - k.b2 - 0.5).abs() < 1e-15);
        }
    }
}
