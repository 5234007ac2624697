//! A servo in a joint: proportional and derivative feedback of the coordinate, in the equations themselves.
//!
//! Effort = kp (position - q) + kd (velocity - q'), cut off at a limit. It is an element and not a load that reads
//! sensors, so that its derivatives are exact and it may be as stiff as one likes.
//!
//! Energy. With the error e = position - q, the effort is the sum of what a slow motion would meet, cut off at the
//! limit, and what the rates add to it. The first has a potential of e, a parabola that goes on along straight lines
//! beyond the limit. What the rates add is lost on the difference of the rates. All else is supplied: what moves the
//! targets does work on them. Where the position may jump, or follows a sensor or an input, nothing is stored.

use super::{At, Element, ElementEnergy, Jacobian, References, Residual, Weights, refer_nodes};
use crate::drive::Drive;
use crate::joint::{Coordinate, Ends, Geometry};
use crate::kinks::mixed;
use crate::node::{Marker, NodeId};

/// Drives the coordinate of a joint, on its second marker against the first.
#[derive(Clone, Debug)]
pub struct Servo {
    ends: Ends,
    coordinate: Coordinate,
    position: Drive,
    /// By default the rate of the position, where that is a function of time, and zero elsewhere.
    velocity: Option<Drive>,
    kp: f64,
    kd: f64,
    limit: f64,
}

/// A state as the servo sees it.
struct Reading {
    geometry: Geometry,
    /// Position and velocity wanted, less what they are.
    error: f64,
    rate_error: f64,
    /// Rates of the coordinate, of the wanted position, and the wanted one.
    rate: f64,
    position_rate: f64,
    velocity: f64,
}

/// On which side of its limit it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Regime {
    Free,
    Upper,
    Lower,
}

impl Servo {
    /// Holds the coordinate at zero with the gains `kp` by the coordinate and `kd` by its rate.
    pub fn new(coordinate: Coordinate, ends: [Marker; 2], [kp, kd]: [f64; 2]) -> Self {
        Self {
            ends: Ends::of(ends),
            coordinate,
            position: Drive::ZERO,
            velocity: None,
            kp,
            kd,
            limit: f64::INFINITY,
        }
    }

    /// Where the coordinate should be.
    pub fn at_position(self, position: impl Into<Drive>) -> Self {
        Self {
            position: position.into(),
            ..self
        }
    }

    /// The rate that the coordinate should have.
    pub fn at_velocity(self, velocity: impl Into<Drive>) -> Self {
        Self {
            velocity: Some(velocity.into()),
            ..self
        }
    }

    /// The largest torque or force.
    pub fn limited(self, limit: f64) -> Self {
        Self { limit, ..self }
    }

    fn read(&self, at: &At<'_>) -> Reading {
        let geometry = self.ends.geometry(at);
        let rate = self.coordinate.rate(&self.ends, &geometry, at);
        let position_rate = self.position.rate(at.time);
        let velocity = self.velocity.as_ref();
        let velocity = velocity.map_or(position_rate, |given| given.at(at));
        Reading {
            error: self.position.at(at) - self.coordinate.value(&geometry, at.memory[0]),
            rate_error: velocity - rate,
            geometry,
            rate,
            position_rate,
            velocity,
        }
    }

    /// What it would exert without a limit.
    fn wish(&self, r: &Reading) -> f64 {
        self.kp * r.error + self.kd * r.rate_error
    }

    fn effort(&self, r: &Reading) -> f64 {
        self.wish(r).clamp(-self.limit, self.limit)
    }

    /// The same by the law that an iteration assumes, and whether that is the law between the limits.
    fn assumed_effort(&self, r: &Reading, at: &At<'_>) -> (f64, bool) {
        match at.assumed {
            None => (self.effort(r), self.regime_of(r) == Regime::Free),
            Some(0.0) => (self.wish(r), true),
            Some(side) => (side * self.limit, false),
        }
    }

    /// What rounding errors of the coordinate may do to the wish.
    fn rounding(&self, r: &Reading) -> f64 {
        let coordinate = 1.0 + r.error.abs() + r.rate.abs() + r.velocity.abs();
        1e-12 * self.limit + 16.0 * f64::EPSILON * (self.kp + self.kd) * coordinate
    }

    fn regime_of(&self, r: &Reading) -> Regime {
        match self.wish(r) {
            wish if wish > self.limit => Regime::Upper,
            wish if wish < -self.limit => Regime::Lower,
            _ => Regime::Free,
        }
    }

    /// What it exerts in slow motion.
    fn slow_effort(&self, r: &Reading) -> f64 {
        (self.kp * r.error).clamp(-self.limit, self.limit)
    }

    fn stores(&self) -> bool {
        !self.position.may_jump()
    }

    fn stored(&self, r: &Reading) -> f64 {
        let slow = self.slow_effort(r);
        match self.stores() && self.kp > 0.0 {
            true => slow * (r.error - 0.5 * slow / self.kp),
            false => 0.0,
        }
    }

    /// Powers that are dissipated and supplied.
    fn powers_of(&self, r: &Reading) -> [f64; 2] {
        let slow = self.slow_effort(r);
        let fast = self.effort(r) - slow;
        let moved = match self.stores() {
            true => r.position_rate,
            false => r.rate,
        };
        [fast * r.rate_error, slow * moved + fast * r.velocity]
    }
}

impl Element for Servo {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
        self.position.refer(references);
        if let Some(velocity) = &mut self.velocity {
            velocity.refer(references);
        }
    }

    /// The coordinate, to count whole turns.
    fn memory(&self) -> usize {
        1
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let geometry = self.ends.geometry(at);
        memory[0] = self.coordinate.value(&geometry, at.memory[0]);
    }

    fn side(&self, at: &At<'_>) -> u64 {
        let drives = [Some(&self.position), self.velocity.as_ref()];
        let sides = drives.into_iter().flatten().map(|drive| drive.side(at));
        sides.fold(self.regime_of(&self.read(at)) as u64, mixed)
    }

    fn saturates(&self, at: &At<'_>) -> bool {
        self.regime_of(&self.read(at)) != Regime::Free
    }

    fn has_regimes(&self) -> bool {
        self.limit.is_finite()
    }

    fn regime(&self, at: &At<'_>) -> f64 {
        let r = self.read(at);
        let (wish, limit) = (self.wish(&r), self.limit);
        let beyond = |limit: f64| match wish {
            wish if wish > limit => 1.0,
            wish if wish < -limit => -1.0,
            _ => 0.0,
        };
        match at.assumed {
            None => beyond(limit),
            Some(0.0) => beyond(limit + self.rounding(&r)),
            Some(side) if side * wish < limit - self.rounding(&r) => 0.0,
            Some(side) => side,
        }
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let r = self.read(at);
        let gradient = self.coordinate.gradient(&r.geometry);
        gradient.load(self.assumed_effort(&r, at).0, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let r = self.read(at);
        let gradient = self.coordinate.gradient(&r.geometry);
        let (effort, is_between) = self.assumed_effort(&r, at);
        if is_between {
            let k = weights.stiffness * self.kp + weights.damping * self.kd;
            let mut by_motion = gradient.scaled(k);
            if self.kd != 0.0 {
                let by_pose = self.coordinate.rate_gradient(&self.ends, &r.geometry, at);
                by_motion.add_scaled(&by_pose, weights.stiffness * self.kd);
            }
            gradient.add_dyad(&by_motion, 1.0, out);
        }
        let tension = -effort * weights.stiffness;
        self.coordinate.add_hessian(&r.geometry, tension, out);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let r = self.read(at);
        let [dissipated, supplied] = self.powers_of(&r);
        ElementEnergy {
            stored: self.stored(&r),
            dissipated,
            supplied,
        }
    }

    fn powers(&self, at: &At<'_>) -> [f64; 2] {
        self.powers_of(&self.read(at))
    }
}
