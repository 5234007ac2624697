//! Hub motors: a commanded torque between a rim and its upright, within the limits of the machine.

use crate::axle::Axle;
use crate::dual::{Dual, Real};
use oldham_multibody::element::{At, ElementEnergy, Jacobian, Residual, Weights};
use oldham_multibody::{Drive, Element, NodeId, References};
use oldham_space::Vec3;

/// What a motor and its gear can do, as seen at the wheel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MotorLimits {
    /// Largest torque in N·m.
    pub torque: f64,
    /// Largest power in W.
    pub power: f64,
    /// Speed in rad/s beyond which it does not drive.
    pub speed: f64,
}

/// Share of the largest speed over which the torque fades to nothing.
const FADING: f64 = 0.02;

impl MotorLimits {
    /// The torque that is there of a commanded one. Against the motion it brakes with the same
    /// limits, at any speed.
    pub fn limited<T: Real>(&self, command: f64, speed: T) -> T {
        let size = speed.abs();
        let by_power = if size.value() * self.torque > self.power {
            T::splat(self.power) / size
        } else {
            T::splat(self.torque)
        };
        let drives = command * speed.value() > 0.0;
        let fading = match drives {
            true => (-size)
                .plus(self.speed)
                .times(1.0 / (FADING * self.speed))
                .at_least(0.0)
                .at_most(1.0),
            false => T::splat(1.0),
        };
        let most = by_power * fading;
        if command.abs() <= most.value() {
            T::splat(command)
        } else {
            most.times(command.signum())
        }
    }
}

/// A hub motor.
#[derive(Clone, Debug)]
pub struct HubMotor {
    axle: Axle,
    /// Commanded torque in N·m.
    command: Drive,
    limits: MotorLimits,
}

impl HubMotor {
    /// A motor that drives the `rim` and is held by the `upright`; `axis` is that of the wheel in
    /// axes of the upright.
    pub fn new(
        [upright, rim]: [NodeId; 2],
        axis: Vec3,
        command: Drive,
        limits: MotorLimits,
    ) -> Self {
        Self {
            axle: Axle::new(upright, rim, axis),
            command,
            limits,
        }
    }

    fn torque(&self, at: &At<'_>) -> Dual<1> {
        let command = self.command.at(at) * at.load_factor;
        self.limits
            .limited(command, Dual::variable(self.axle.rate(at), 0))
    }
}

impl Element for HubMotor {
    fn nodes(&self) -> &[NodeId] {
        &self.axle.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.axle.refer(references);
        self.command.refer(references);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        self.axle.residual(at, self.torque(at).value, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let torque = self.torque(at);
        self.axle
            .jacobian(at, torque.value, torque.slopes[0], weights, out);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        ElementEnergy {
            supplied: self.torque(at).value * self.axle.rate(at),
            ..ElementEnergy::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torque_power_and_speed_are_limited() {
        let limits = MotorLimits {
            torque: 300.0,
            power: 30e3,
            speed: 150.0,
        };
        let torque = |command: f64, speed: f64| limits.limited(command, speed);
        assert_eq!(torque(100.0, 20.0), 100.0);
        assert_eq!(torque(900.0, 20.0), 300.0);
        assert_eq!(torque(-900.0, 0.0), -300.0);
        assert!((torque(900.0, 120.0) - 250.0).abs() < 1e-12);
        assert!((torque(900.0, 148.5) - 30e3 / 148.5 * 0.5).abs() < 1e-9);
        assert_eq!(torque(900.0, 160.0), 0.0);
        assert_eq!(torque(-50.0, 160.0), -50.0);
    }
}
