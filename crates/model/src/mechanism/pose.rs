//! A place with axes.

use oldham_multibody::{Motion, Quaternion, Vec3};

/// A place with axes, in the absolute frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pose {
    /// Its origin in m.
    pub position: Vec3,
    /// Its axes.
    pub orientation: Quaternion,
}

impl Pose {
    /// The absolute frame.
    pub const ABSOLUTE: Self = Self {
        position: Vec3::ZERO,
        orientation: Quaternion::IDENTITY,
    };

    /// A direction given in its axes.
    pub fn direction(&self, given: Vec3) -> Vec3 {
        self.orientation.matrix() * given
    }

    /// A point given in its axes, from its origin.
    pub fn point(&self, given: Vec3) -> Vec3 {
        self.position + self.direction(given)
    }

    /// A pose given in it.
    pub(crate) fn pose(&self, given: Self) -> Self {
        Self {
            position: self.point(given.position),
            orientation: self.orientation.times(given.orientation),
        }
    }
}

impl From<&Motion> for Pose {
    fn from(motion: &Motion) -> Self {
        Self {
            position: motion.position,
            orientation: motion.orientation,
        }
    }
}
