//! What laws store, lose and are supplied with.
//!
//! A tension is the sum of three: what it is at time zero in slow motion, which has a potential; what
//! time has added since, whose work is supplied, however suddenly it comes; and what the rate adds, which
//! is lost. A free length or angle that moves does work besides. Where that may jump, or where its rate
//! is not known since it follows a sensor or an input, the law counts as an actuator: it stores nothing,
//! and all that it does is supplied.

use super::law::area;
use super::{At, ElementEnergy, Law};
use crate::drive::{Drive, interpolate};
use oldham_space::work_from_zero;

impl Law {
    /// The stored energy.
    pub(super) fn stored(&self, elongation: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Linear { stiffness, .. } | Self::Viscoelastic { stiffness, .. } => {
                0.5 * stiffness * elongation * elongation
            }
            Self::Table { points, .. } => area(points, elongation) - area(points, 0.0),
            Self::Given(law) => law.stored(elongation),
            Self::Hysteresis(law) => {
                let (z, _) = law.advance(at.memory[1], elongation - at.memory[0]);
                law.stored(elongation, z)
            }
            Self::Function(_) => self.work_at_zero(elongation, at),
            Self::Pulling(law) | Self::Pushing(law) => match **law {
                Self::Function(_) => self.work_at_zero(elongation, at),
                _ if self.acts_at(elongation) => law.stored(elongation, at),
                _ => 0.0,
            },
            Self::Stops { stiffness, .. } => {
                let depth = self.penetration(elongation).0.max(0.0);
                0.5 * stiffness * depth * depth
            }
            Self::Prescribed(_) | Self::Thrust { .. } | Self::Motor { .. } => 0.0,
        }
    }

    /// Work to stretch it slowly from zero, as it is at time zero.
    fn work_at_zero(&self, elongation: f64, at: &At<'_>) -> f64 {
        work_from_zero(elongation, false, |e| self.elastic(e, at))
    }

    /// Whether one that only pulls or only pushes may act.
    fn acts_at(&self, elongation: f64) -> bool {
        match self {
            Self::Pulling(_) => elongation > 0.0,
            Self::Pushing(_) => elongation < 0.0,
            _ => true,
        }
    }

    /// The tension that has a potential: the derivative of what is stored by the elongation.
    fn elastic(&self, elongation: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Linear { stiffness, .. } => stiffness * elongation,
            Self::Table { points, .. } => interpolate(points, elongation),
            Self::Function(function) => (function.tension)(elongation, 0.0, 0.0),
            Self::Pulling(law) if self.acts_at(elongation) => law.elastic(elongation, at).max(0.0),
            Self::Pushing(law) if self.acts_at(elongation) => law.elastic(elongation, at).min(0.0),
            Self::Pulling(_) | Self::Pushing(_) => 0.0,
            Self::Given(_)
            | Self::Stops { .. }
            | Self::Viscoelastic { .. }
            | Self::Hysteresis(_) => self.tension(elongation, 0.0, at),
            Self::Prescribed(_) | Self::Thrust { .. } | Self::Motor { .. } => 0.0,
        }
    }

    /// Power lost, but that in viscoelastic branches: what the rate adds to a slow motion.
    pub(super) fn dissipated(&self, elongation: f64, rate: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Linear { damping, .. } | Self::Table { damping, .. } => damping * rate * rate,
            Self::Function(_)
            | Self::Given(_)
            | Self::Pulling(_)
            | Self::Pushing(_)
            | Self::Stops { .. } => {
                let tension = |rate: f64| self.tension(elongation, rate, at);
                (tension(rate) - tension(0.0)) * rate
            }
            Self::Hysteresis(law) => {
                let (z, _) = law.advance(at.memory[1], elongation - at.memory[0]);
                law.dissipated(z, rate)
            }
            Self::Prescribed(_)
            | Self::Thrust { .. }
            | Self::Motor { .. }
            | Self::Viscoelastic { .. } => 0.0,
        }
    }

    /// Power that it brings in from outside while its free length rests: that of the tension that is
    /// neither stored nor lost.
    pub(super) fn supplied(&self, elongation: f64, rate: f64, at: &At<'_>) -> f64 {
        match self {
            Self::Prescribed(_) | Self::Thrust { .. } | Self::Motor { .. } => {
                -self.tension(elongation, rate, at) * rate
            }
            Self::Function(_) | Self::Pulling(_) | Self::Pushing(_) => {
                let slow = self.tension(elongation, 0.0, at);
                -(slow - self.elastic(elongation, at)) * rate
            }
            Self::Linear { .. } | Self::Table { .. } | Self::Given(_) | Self::Stops { .. } => 0.0,
            Self::Viscoelastic { .. } | Self::Hysteresis(_) => 0.0,
        }
    }

    /// Energy and powers, but those of viscoelastic branches.
    pub(crate) fn energy(&self, elongation: f64, rate: f64, at: &At<'_>) -> ElementEnergy {
        ElementEnergy {
            stored: self.stored(elongation, at),
            dissipated: self.dissipated(elongation, rate, at),
            supplied: self.supplied(elongation, rate, at),
        }
    }
}

/// A law of what is beyond a free length or angle that is given.
#[derive(Clone, Debug)]
pub(super) struct Beyond {
    pub law: Law,
    pub free: Drive,
    /// Whether the rate that the law sees is that of the elongation, the free length's included, or only
    /// that of the points.
    pub follows: bool,
}

impl Beyond {
    /// Whether it counts as a spring, and not as an actuator. What remembers always does: what it loses goes
    /// with what it stores.
    fn stores(&self) -> bool {
        !self.free.may_jump() || self.law.memory() > 0
    }

    /// The rate of the free length; zero where it is not known.
    pub fn winding(&self, at: &At<'_>) -> f64 {
        self.free.rate(at.time)
    }

    pub fn stored(&self, elongation: f64, at: &At<'_>) -> f64 {
        match self.stores() {
            true => self.law.stored(elongation, at),
            false => 0.0,
        }
    }

    /// Powers that are dissipated and supplied, but those of viscoelastic branches, at the rate that the
    /// law sees. On the way of the points the tension does what is stored, lost and supplied together.
    pub fn powers(&self, elongation: f64, rate: f64, at: &At<'_>) -> [f64; 2] {
        let law = &self.law;
        let mut supplied = law.supplied(elongation, rate, at);
        if !self.stores() {
            supplied -= law.elastic(elongation, at) * rate;
        }
        let winding = self.winding(at);
        if winding != 0.0 && self.follows {
            supplied -= law.tension(elongation, rate, at) * winding;
        } else if winding != 0.0 && self.stores() {
            supplied -= law.elastic(elongation, at) * winding;
        }
        [law.dissipated(elongation, rate, at), supplied]
    }

    /// All of these.
    pub fn energy(&self, elongation: f64, rate: f64, at: &At<'_>) -> ElementEnergy {
        let [dissipated, supplied] = self.powers(elongation, rate, at);
        ElementEnergy {
            stored: self.stored(elongation, at),
            dissipated,
            supplied,
        }
    }
}
