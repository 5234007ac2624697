//! Aerodynamic forces on a chassis: drag and downforce from the ride heights at both axles, side
//! force and yawing moment from the direction of the flow.

use crate::dual::{Real, Varied, carried, varied};
use crate::road::{HeightGrid, Road};
use crate::wrench::add_varied_wrench;
use oldham_multibody::element::{At, ElementEnergy, Jacobian, Residual, Weights};
use oldham_multibody::{Element, NodeId, References};
use oldham_space::{V3, Vec3};
use std::sync::Arc;

/// Coefficients over dynamic pressure and area.
#[derive(Clone, Debug)]
pub struct AeroMap {
    /// Drag, downforce at the front and downforce at the rear, over the front (x) and the rear (y)
    /// ride height in m. Beyond its edges a map is level.
    pub drag: HeightGrid,
    /// Downforce at the front axle.
    pub front: HeightGrid,
    /// Downforce at the rear axle.
    pub rear: HeightGrid,
    /// How drag and downforce grow with the square of the sine of the yaw angle.
    pub by_yaw: [f64; 3],
    /// Side force over the sine of the yaw angle, against the flow.
    pub side: f64,
    /// Yawing moment over that and over the distance of the axles, turning the nose into the
    /// flow.
    pub yawing: f64,
}

/// The air around a chassis.
#[derive(Clone, Debug)]
pub struct Aerodynamics {
    nodes: [NodeId; 1],
    /// Points on the chassis above the front and the rear axle, in node axes. Ride heights are
    /// theirs.
    points: [Vec3; 2],
    /// Half of density times reference area, in kg/m.
    pressure: f64,
    map: AeroMap,
    road: Arc<Road>,
}

/// Speed that smooths the yaw angle at standstill, in m/s.
const SLOW: f64 = 1.0;

impl Aerodynamics {
    /// Forces on the chassis at a node whose axes point forward, to the left and up; `density` in
    /// kg/m³, `area` in m².
    pub fn new(
        chassis: NodeId,
        points: [Vec3; 2],
        density: f64,
        area: f64,
        map: AeroMap,
        road: Arc<Road>,
    ) -> Self {
        Self {
            nodes: [chassis],
            points,
            pressure: 0.5 * density * area,
            map,
            road,
        }
    }

    /// Force and moment about the node. The vectors are place, velocity, the three axes and the arms
    /// of both points.
    fn wrench<T: Real>(
        &self,
        place: V3<T>,
        v: V3<T>,
        axes: [V3<T>; 3],
        arms: [V3<T>; 2],
    ) -> [V3<T>; 2] {
        let heights = arms.map(|arm| {
            let point = place + arm;
            let road = self.road.under(V3(point.0.map(T::value)));
            (point - V3::splat(road.place)).dot(V3::splat(road.normal))
        });
        let [x, y, z] = axes;
        let squared = v.dot(v);
        let yaw = v.dot(y) / squared.plus(SLOW * SLOW).sqrt();
        let q = squared.times(self.pressure);
        let [drag, front, rear] =
            [&self.map.drag, &self.map.front, &self.map.rear].map(|map| looked_up(map, heights));
        let by_yaw = self
            .map
            .by_yaw
            .map(|factor| (yaw * yaw).times(factor).plus(1.0));
        let direction = v.dot(x) / squared.plus(SLOW * SLOW).sqrt();
        let along = x * -(q * drag * by_yaw[0] * direction);
        let side = y * -(q * yaw).times(self.map.side);
        let down = [front * by_yaw[1], rear * by_yaw[2]].map(|c| z * -(q * c));
        let middle = (arms[0] + arms[1]) * T::splat(0.5);
        let base = (self.points[0] - self.points[1]).norm();
        let turning = z * (q * yaw).times(self.map.yawing * base);
        let moment =
            middle.cross(along + side) + arms[0].cross(down[0]) + arms[1].cross(down[1]) + turning;
        [along + side + down[0] + down[1], moment]
    }

    fn plain_wrench(&self, at: &At<'_>) -> [Vec3; 2] {
        let motion = at.motion(self.nodes[0]);
        let axes = [0, 1, 2].map(|i| motion.rotation.column(i));
        let arms = self.points.map(|point| motion.rotation * point);
        self.wrench(motion.position, motion.velocity, axes, arms)
    }

    fn varied_wrench(&self, at: &At<'_>) -> [V3<Varied>; 2] {
        let motion = at.motion(self.nodes[0]);
        let axes = [0, 1, 2].map(|i| carried(motion.rotation.column(i)));
        let arms = self.points.map(|point| carried(motion.rotation * point));
        self.wrench(
            varied(motion.position, 0),
            varied(motion.velocity, 6),
            axes,
            arms,
        )
    }
}

/// A map at two ride heights.
fn looked_up<T: Real>(map: &HeightGrid, [front, rear]: [T; 2]) -> T {
    let (value, slopes) = map.at(front.value(), rear.value());
    front.with_slope(value, slopes[0]) + rear.with_slope(0.0, slopes[1])
}

impl Element for Aerodynamics {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.node(&mut self.nodes[0]);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let [force, moment] = self.plain_wrench(at);
        out.load(0, force, moment);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let [force, moment] = self.varied_wrench(at);
        add_varied_wrench(out, 0, &force, &moment, weights);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let motion = at.motion(self.nodes[0]);
        let [force, moment] = self.plain_wrench(at);
        ElementEnergy {
            dissipated: -force.dot(motion.velocity) - moment.dot(motion.angular_velocity),
            ..ElementEnergy::default()
        }
    }
}
