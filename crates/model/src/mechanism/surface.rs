//! Surfaces with two parameters from 0 to 1.

use oldham_expression::Expression;
use oldham_multibody::Vec3;

use super::Pose;

/// A surface in space.
#[derive(Clone, Debug)]
pub(crate) enum Surface {
    /// A corner, and the sides from there.
    Parallelogram([Vec3; 3]),
    /// Expressions of both parameters, in a frame.
    Formula(Pose, Box<[Expression; 3]>),
}

impl Surface {
    pub fn at(&self, u: f64, v: f64) -> Vec3 {
        match self {
            Self::Parallelogram([corner, along, across]) => *corner + *along * u + *across * v,
            Self::Formula(frame, components) => {
                let [x, y, z] = &**components;
                let point = [x, y, z].map(|component| component.eval(&[u, v]));
                frame.point(Vec3::new(point[0], point[1], point[2]))
            }
        }
    }
}
