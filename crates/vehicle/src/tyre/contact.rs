//! Where a wheel touches the road, and how its contact point moves.

use crate::dual::Real;
use crate::road::RoadPoint;
use oldham_space::V3;

/// The motion of a wheel: of its centre, and of its axis, which points to the left.
pub(super) struct WheelMotion<T> {
    pub centre: V3<T>,
    pub axis: V3<T>,
    pub velocity: V3<T>,
    pub angular_velocity: V3<T>,
}

/// A wheel on the plane that touches the road beneath it.
pub(super) struct Contact<T> {
    /// Forward and to the left along the road, and normal to it.
    pub axes: [V3<T>; 3],
    /// From the centre to the contact point.
    pub arm: V3<T>,
    /// Radius that the contact point leaves, its rate, forward and side speed of the contact
    /// point, spin and camber.
    pub kinematics: [T; 6],
}

/// Cosine of the camber below which a wheel is taken to lie on its side and not to roll.
const LYING: f64 = 0.3;

impl<T: Real> Contact<T> {
    /// None if the wheel lies on its side.
    pub fn new(wheel: &WheelMotion<T>, road: &RoadPoint) -> Option<Self> {
        let normal = V3::<T>::splat(road.normal);
        let place = V3::<T>::splat(road.place);
        let sine = normal.dot(wheel.axis);
        let cosine = (-(sine * sine)).plus(1.0).at_least(0.0).sqrt();
        if cosine.value() < LYING {
            return None;
        }
        let per_cosine = T::splat(1.0) / cosine;
        let height = normal.dot(wheel.centre - place);
        let loaded_radius = height * per_cosine;
        // In the plane of the wheel, down to the road.
        let down = (wheel.axis * sine - normal) * per_cosine;
        let arm = down * loaded_radius;
        let forward = wheel.axis.cross(normal) * per_cosine;
        let left = normal.cross(forward);
        let spin = wheel.angular_velocity.dot(wheel.axis);
        let turning = wheel.angular_velocity - wheel.axis * spin;
        let velocity = wheel.velocity + turning.cross(arm);
        let sine_rate = normal.dot(wheel.angular_velocity.cross(wheel.axis));
        let height_rate = normal.dot(wheel.velocity);
        let radius_rate =
            (height_rate + loaded_radius * sine * sine_rate * per_cosine) * per_cosine;
        Some(Self {
            axes: [forward, left, normal],
            arm,
            kinematics: [
                loaded_radius,
                radius_rate,
                velocity.dot(forward),
                velocity.dot(left),
                spin,
                sine.asin(),
            ],
        })
    }

    /// Force and moment about the centre of the wheel, from those at the contact point.
    pub fn wrench(&self, [fx, fy, fz, mx, my, mz]: [T; 6]) -> [V3<T>; 2] {
        let [x, y, z] = self.axes;
        let force = x * fx + y * fy + z * fz;
        [force, self.arm.cross(force) + x * mx + y * my + z * mz]
    }
}
