//! How a part that computes velocities follows a motion that is prescribed to it.
//!
//! Reference: R. Zhang, H. Zhang, A. Zanoni, A. Tasora, P. Masarati, "Explicit smooth/nonsmooth
//! cosimulation using kinematic constraints", Multibody System Dynamics, 2022, Sect. 2.3.

/// The velocity at the end of a step of a node whose motion is prescribed.
///
/// The weights are free of dimension: the paper's α Δt², β Δt and γ, so that a law means the same at
/// every step size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MotionLaw {
    /// The prescribed velocity, and what is missing of the position at the start of the step
    /// (Eq. 20).
    Original,
    /// The mean of three velocities: the one that reaches the prescribed position, the prescribed
    /// one, and the own one with the prescribed acceleration (Eq. 26).
    Baumgarte {
        /// Of the position.
        alpha: f64,
        /// Of the velocity.
        beta: f64,
        /// Of the acceleration.
        gamma: f64,
    },
}

/// What a law reads, along one direction.
#[derive(Clone, Copy, Debug)]
pub struct Followed {
    /// The own velocity at the start of the step.
    pub velocity: f64,
    /// The prescribed position at the start of the step, from the own one.
    pub gap_at_start: f64,
    /// The prescribed position at its end, from the own one at its start.
    pub gap_at_end: f64,
    /// The prescribed velocity and acceleration at its end.
    pub rates_at_end: [f64; 2],
}

impl MotionLaw {
    /// Position, velocity and acceleration together.
    pub const INDEX_1: Self = Self::baumgarte(2.0, 2.0, 1.0);
    /// Position and velocity.
    pub const INDEX_2: Self = Self::baumgarte(1.0, 1.0, 0.0);
    /// The position alone.
    pub const INDEX_3: Self = Self::baumgarte(1.0, 0.0, 0.0);

    /// With these weights of position, velocity and acceleration.
    pub const fn baumgarte(alpha: f64, beta: f64, gamma: f64) -> Self {
        Self::Baumgarte { alpha, beta, gamma }
    }

    /// The velocity at the end of a step of this size.
    pub fn velocity(self, followed: Followed, size: f64) -> f64 {
        let Followed {
            velocity,
            gap_at_start,
            gap_at_end,
            rates_at_end: [rate, acceleration],
        } = followed;
        match self {
            Self::Original => rate + gap_at_start / size,
            Self::Baumgarte { alpha, beta, gamma } => {
                let reaching = gap_at_end / size;
                let continued = velocity + size * acceleration;
                (alpha * reaching + beta * rate + gamma * continued) / (alpha + beta + gamma)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Eq. 21: the weighted errors of position, velocity and acceleration vanish at the end of the
    /// step, where the own position and acceleration follow from the own velocity (Eq. 12).
    #[test]
    fn the_weighted_errors_of_position_velocity_and_acceleration_vanish() {
        let (h, x, v) = (0.01, 0.3, -1.2);
        let end = [0.31, -0.9, 4.0];
        for (alpha, beta, gamma) in [(2.0, 2.0, 1.0), (1.0, 1.0, 0.0), (1.0, 0.0, 0.0)] {
            let followed = Followed {
                velocity: v,
                gap_at_start: f64::NAN,
                gap_at_end: end[0] - x,
                rates_at_end: [end[1], end[2]],
            };
            let velocity = MotionLaw::baumgarte(alpha, beta, gamma).velocity(followed, h);
            let (position, acceleration) = (x + h * velocity, (velocity - v) / h);
            let error = alpha / (h * h) * (position - end[0])
                + beta / h * (velocity - end[1])
                + gamma * (acceleration - end[2]);
            assert!(error.abs() < 1e-9, "{error}");
        }
    }
}
