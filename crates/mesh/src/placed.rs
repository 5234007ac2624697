//! Places in a scene.

use oldham_space::{Mat3, Quaternion, Vec3};

/// A place, with axes that may be stretched.
#[derive(Clone, Copy)]
pub(crate) struct Placed {
    pub axes: Mat3,
    pub origin: Vec3,
}

impl Placed {
    pub const WHERE_IT_IS: Self = Self {
        axes: Mat3::IDENTITY,
        origin: Vec3::ZERO,
    };

    pub fn stretched([x, y, z]: [f64; 3]) -> Self {
        Self {
            axes: Mat3::diagonal(x, y, z),
            ..Self::WHERE_IT_IS
        }
    }

    /// Turned about an axis of any length.
    pub fn turned(axis: Vec3, angle: f64) -> Self {
        let length = axis.norm();
        match length > 0.0 && length.is_finite() {
            true => Self {
                axes: Quaternion::exp(axis * (angle / length)).matrix(),
                ..Self::WHERE_IT_IS
            },
            false => Self::WHERE_IT_IS,
        }
    }

    pub fn then(&self, inner: &Self) -> Self {
        Self {
            axes: self.axes * inner.axes,
            origin: self.axes * inner.origin + self.origin,
        }
    }

    pub fn point(&self, point: Vec3) -> [f32; 3] {
        (self.axes * point + self.origin).0.map(|x| x as f32)
    }

    pub fn is_mirrored(&self) -> bool {
        let [a, b, c] = [0, 1, 2].map(|column| self.axes.column(column));
        a.dot(b.cross(c)) < 0.0
    }
}
