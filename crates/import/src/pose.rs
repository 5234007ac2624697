//! Places with axes.

use oldham_space::{Mat3, Quaternion, Vec3};

/// A place with axes, in those of something else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Pose {
    pub origin: Vec3,
    pub axes: Mat3,
}

impl Default for Pose {
    fn default() -> Self {
        Self {
            origin: Vec3::ZERO,
            axes: Mat3::IDENTITY,
        }
    }
}

impl Pose {
    pub fn at(origin: Vec3) -> Self {
        Self {
            origin,
            ..Self::default()
        }
    }

    /// A pose that is given in this one.
    pub fn then(&self, inner: &Self) -> Self {
        Self {
            origin: self.point(inner.origin),
            axes: self.axes * inner.axes,
        }
    }

    pub fn point(&self, point: Vec3) -> Vec3 {
        self.origin + self.axes * point
    }

    pub fn inverse(&self) -> Self {
        let axes = self.axes.transpose();
        Self {
            origin: axes * self.origin * -1.0,
            axes,
        }
    }
}

/// A rotation about the first axis, then about the fixed second one, then about the fixed third one.
pub(crate) fn roll_pitch_yaw([roll, pitch, yaw]: [f64; 3]) -> Mat3 {
    about(Vec3::Z, yaw) * about(Vec3::Y, pitch) * about(Vec3::X, roll)
}

/// A rotation about an axis of length one.
pub(crate) fn about(axis: Vec3, angle: f64) -> Mat3 {
    let (sin, cos) = angle.sin_cos();
    Mat3::IDENTITY * cos + axis.skew() * sin + axis.outer(axis) * (1.0 - cos)
}

/// The axes that a quaternion stands for, scalar first; nothing where it has no length.
pub(crate) fn of_quaternion(quaternion: [f64; 4]) -> Option<Mat3> {
    let norm = quaternion.iter().map(|q| q * q).sum::<f64>().sqrt();
    (norm > 0.0 && norm.is_finite()).then(|| Quaternion(quaternion.map(|q| q / norm)).matrix())
}

/// The shortest rotation that brings the third axis into a direction of length one.
pub(crate) fn third_along(direction: Vec3) -> Mat3 {
    let axis = Vec3::Z.cross(direction);
    let (sin, cos) = (axis.norm(), Vec3::Z.dot(direction));
    match sin > 1e-12 {
        true => about(axis * (1.0 / sin), sin.atan2(cos)),
        false if cos > 0.0 => Mat3::IDENTITY,
        false => about(Vec3::X, std::f64::consts::PI),
    }
}

/// Brings the first axis where the third one is: round things lie along the first axis here, elsewhere along the third.
pub(crate) fn first_for_third() -> Mat3 {
    Mat3::from_columns(Vec3::Z, Vec3::Y, Vec3::X * -1.0)
}
