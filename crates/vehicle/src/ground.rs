//! Points of a body that may touch the road: a floor that scrapes, a roll hoop on which a car comes
//! to rest.

use crate::dual::{Real, Varied, carried, varied};
use crate::road::{Road, RoadPoint};
use crate::wrench::add_varied_wrench;
use oldham_multibody::element::{At, ElementEnergy, Jacobian, Residual, Weights};
use oldham_multibody::{Element, Motion, NodeId, References};
use oldham_space::{V3, Vec3};
use std::sync::Arc;

/// One point of a body above a road: a spring and a damper that only push, and friction that grows
/// with the sliding speed up to Coulomb's.
#[derive(Clone, Debug)]
pub struct GroundContact {
    nodes: [NodeId; 1],
    /// In node axes.
    point: Vec3,
    law: GroundLaw,
    road: Arc<Road>,
}

/// How a point is pushed back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GroundLaw {
    /// Stiffness in N/m.
    pub stiffness: f64,
    /// Damping in N·s/m at a depth of 1 cm and beyond, less above.
    pub damping: f64,
    /// Coefficient of friction.
    pub friction: f64,
}

/// Depth in m at which the damping is full.
const FULL_DEPTH: f64 = 0.01;
/// Sliding speed below which friction fades, in m/s.
const SLOW: f64 = 0.05;

impl GroundContact {
    /// A point in node axes.
    pub fn new(node: NodeId, point: Vec3, law: GroundLaw, road: Arc<Road>) -> Self {
        Self {
            nodes: [node],
            point,
            law,
            road,
        }
    }

    /// Force and arm, if it touches.
    fn force<T: Real>(
        &self,
        place: V3<T>,
        v: V3<T>,
        w: V3<T>,
        arm: V3<T>,
        road: &RoadPoint,
    ) -> Option<V3<T>> {
        let normal = V3::<T>::splat(road.normal);
        let depth = (V3::<T>::splat(road.place) - place - arm).dot(normal);
        if depth.value() <= 0.0 {
            return None;
        }
        let velocity = v + w.cross(arm);
        let closing = -velocity.dot(normal);
        let damping = depth
            .times(1.0 / FULL_DEPTH)
            .at_most(1.0)
            .times(self.law.damping);
        let load = depth.times(self.law.stiffness) + damping * closing;
        if load.value() <= 0.0 {
            return None;
        }
        let sliding = velocity + normal * closing;
        let speed = sliding.dot(sliding).plus(SLOW * SLOW).sqrt();
        let friction = load.times(self.law.friction) / speed;
        Some(normal * load - sliding * friction)
    }

    fn road(&self, motion: &Motion) -> RoadPoint {
        self.road
            .under(motion.position + motion.rotation * self.point)
    }

    fn plain_wrench(&self, at: &At<'_>) -> Option<[Vec3; 2]> {
        let motion = at.motion(self.nodes[0]);
        let arm = motion.rotation * self.point;
        let (v, w) = (motion.velocity, motion.angular_velocity);
        let force = self.force(motion.position, v, w, arm, &self.road(motion))?;
        Some([force, arm.cross(force)])
    }

    fn varied_wrench(&self, at: &At<'_>) -> Option<[V3<Varied>; 2]> {
        let motion = at.motion(self.nodes[0]);
        let arm = carried(motion.rotation * self.point);
        let place = varied(motion.position, 0);
        let (v, w) = (
            varied(motion.velocity, 6),
            varied(motion.angular_velocity, 9),
        );
        let force = self.force(place, v, w, arm, &self.road(motion))?;
        Some([force, arm.cross(force)])
    }
}

impl Element for GroundContact {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.node(&mut self.nodes[0]);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        if let Some([force, moment]) = self.plain_wrench(at) {
            out.load(0, force, moment);
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        if let Some([force, moment]) = self.varied_wrench(at) {
            add_varied_wrench(out, 0, &force, &moment, weights);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let motion = at.motion(self.nodes[0]);
        let Some([force, moment]) = self.plain_wrench(at) else {
            return ElementEnergy::default();
        };
        let arm = motion.rotation * self.point;
        let road = self.road(motion);
        let depth = (road.place - motion.position - arm).dot(road.normal);
        let velocity = motion.velocity + motion.angular_velocity.cross(arm);
        let power = force.dot(motion.velocity) + moment.dot(motion.angular_velocity);
        let stored_rate = -self.law.stiffness * depth * velocity.dot(road.normal);
        ElementEnergy {
            stored: 0.5 * self.law.stiffness * depth * depth,
            dissipated: -power - stored_rate,
            supplied: 0.0,
        }
    }
}
