//! An engine with its final drive and differential: it sits in the chassis and drives two rims.
//!
//! The engine turns `ratio` times as fast as the mean of both wheels, but not below its idle speed:
//! there a clutch slips. A differential divides the torque equally; its lock carries some from the
//! faster to the slower wheel, preloaded and in proportion to what is driven.

use crate::dual::{Dual, Real};
use oldham_multibody::element::{At, ElementEnergy, Half, Jacobian, Residual, Weights};
use oldham_multibody::{Drive, Element, NodeId, References};
use oldham_space::Vec3;

/// Torque of an engine over its speed: straight lines between points, constant beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineMap {
    /// Rising speeds in rad/s.
    pub speeds: Vec<f64>,
    /// Torque at full throttle in N·m.
    pub full: Vec<f64>,
    /// Torque with which it drags without throttle, in N·m.
    pub drag: Vec<f64>,
}

impl EngineMap {
    /// The torque at a throttle between 0 and 1.
    pub fn torque<T: Real>(&self, throttle: f64, speed: T) -> T {
        let throttle = throttle.clamp(0.0, 1.0);
        let at = |i: usize| throttle * self.full[i] - (1.0 - throttle) * self.drag[i];
        let next = self.speeds.partition_point(|known| *known <= speed.value());
        if next == 0 || next == self.speeds.len() {
            return T::splat(at(next.saturating_sub(1)));
        }
        let [low, high] = [next - 1, next];
        let slope = (at(high) - at(low)) / (self.speeds[high] - self.speeds[low]);
        speed.plus(-self.speeds[low]).times(slope).plus(at(low))
    }
}

/// What is between an engine and two wheels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinalDrive {
    /// Turns of the engine for one of the wheels.
    pub ratio: f64,
    /// Speed in rad/s below which the clutch slips.
    pub idle: f64,
    /// Torque of the lock without load in N·m.
    pub preload: f64,
    /// Torque of the lock over the driving torque.
    pub locking: f64,
}

/// Difference of the wheels' speeds over which the lock engages, in rad/s.
const HOLD: f64 = 0.5;
/// Torque around zero where the lock's share of it is rounded, in N·m.
const ROUNDED: f64 = 5.0;

/// An engine with a differential.
#[derive(Clone, Debug)]
pub struct DrivenAxle {
    /// Chassis, left rim, right rim.
    nodes: [NodeId; 3],
    /// In axes of the chassis, to the left.
    axis: Vec3,
    throttle: Drive,
    map: EngineMap,
    drive: FinalDrive,
}

/// Torques on the left and on the right rim, and what the lock carries over.
struct Torques {
    rims: [Dual<2>; 2],
    driving: f64,
    lock: f64,
}

impl DrivenAxle {
    /// An axle; `axis` is that of the wheels in axes of the chassis, to the left: a positive torque
    /// drives forward.
    pub fn new(
        nodes: [NodeId; 3],
        axis: Vec3,
        throttle: Drive,
        map: EngineMap,
        drive: FinalDrive,
    ) -> Self {
        Self {
            nodes,
            axis: axis.unit(),
            throttle,
            map,
            drive,
        }
    }

    fn axis(&self, at: &At<'_>) -> Vec3 {
        at.motion(self.nodes[0]).rotation * self.axis
    }

    /// Angular velocities of the rims relative to the chassis.
    fn rates(&self, at: &At<'_>) -> [f64; 2] {
        let axis = self.axis(at);
        let [chassis, left, right] = self.nodes.map(|node| at.motion(node).angular_velocity);
        [left, right].map(|rim| axis.dot(rim - chassis))
    }

    fn torques(&self, at: &At<'_>) -> Torques {
        let [left, right] = self.rates(at);
        let [left, right] = [Dual::variable(left, 0), Dual::variable(right, 1)];
        let FinalDrive {
            ratio,
            idle,
            preload,
            locking,
        } = self.drive;
        let engine = (left + right).times(0.5 * ratio).at_least(idle);
        let driving = self.map.torque(self.throttle.at(at), engine);
        let driving = driving.times(ratio * at.load_factor);
        let size = (driving * driving).plus(ROUNDED * ROUNDED).sqrt();
        let lock = size.times(locking).plus(preload) * (left - right).smooth_sign(HOLD);
        Torques {
            rims: [driving - lock, driving + lock].map(|twice| twice.times(0.5)),
            driving: driving.value,
            lock: lock.value,
        }
    }
}

impl Element for DrivenAxle {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.nodes.iter_mut().for_each(|node| references.node(node));
        self.throttle.refer(references);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let axis = self.axis(at);
        let [left, right] = self.torques(at).rims.map(|torque| axis * torque.value);
        out.load(0, Vec3::ZERO, -(left + right));
        out.load(1, Vec3::ZERO, left);
        out.load(2, Vec3::ZERO, right);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let axis = self.axis(at);
        let along = axis.outer(axis) * -weights.damping;
        for (rim, torque) in self.torques(at).rims.into_iter().enumerate() {
            let [left, right] = torque.slopes.map(|slope| along * slope);
            // The axis turns with the chassis, and rates are relative to it.
            let turned = axis.skew() * (torque.value * weights.stiffness) - (left + right);
            for (node, sign) in [(0, -1.0), (1 + rim, 1.0)] {
                let row = (node, Half::Angular);
                for (column, block) in [(0, turned), (1, left), (2, right)] {
                    out.add(row, (column, Half::Angular), block * sign);
                }
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let [left, right] = self.rates(at);
        let torques = self.torques(at);
        ElementEnergy {
            stored: 0.0,
            dissipated: 0.5 * torques.lock * (left - right),
            supplied: 0.5 * torques.driving * (left + right),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_has_the_torque_of_its_map() {
        let map = EngineMap {
            speeds: vec![100.0, 300.0, 500.0],
            full: vec![40.0, 60.0, 0.0],
            drag: vec![5.0, 10.0, 20.0],
        };
        let torque = |throttle: f64, speed: f64| map.torque(throttle, speed);
        assert_eq!(torque(1.0, 200.0), 50.0);
        assert_eq!(torque(0.0, 400.0), -15.0);
        assert_eq!(torque(0.5, 300.0), 25.0);
        assert_eq!((torque(1.0, 20.0), torque(2.0, 900.0)), (40.0, 0.0));
        assert_eq!(
            map.torque(1.0, Dual::<1>::variable(400.0, 0)).slopes,
            [-0.3]
        );
    }
}
