//! The coordinate of a joint with one freedom: an angle or a distance.

use super::row::{Gradient, Row};
use super::{Ends, Geometry};
use crate::element::At;
use crate::math::Vec3;
use std::f64::consts::{PI, TAU};

/// What is measured between two markers whose third axes stay aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// Angle about the third axis, over any number of turns.
    Angle,
    /// Distance along the third axis.
    Slide,
}

impl Coordinate {
    /// The value; an angle is the one nearest to `near`.
    pub(crate) fn value(self, g: &Geometry, near: f64) -> f64 {
        match self {
            Self::Slide => along_axis().value(g),
            Self::Angle => {
                let x = g.axes[1].column(0);
                let angle = g.axes[0].column(1).dot(x).atan2(g.axes[0].column(0).dot(x));
                angle + TAU * ((near - angle + PI) / TAU).floor()
            }
        }
    }

    pub(crate) fn gradient(self, g: &Geometry) -> Gradient {
        match self {
            Self::Slide => along_axis().gradient(g),
            Self::Angle => {
                let axis = g.axes[0].column(2);
                Gradient {
                    position: [Vec3::ZERO; 2],
                    rotation: [-axis, axis],
                }
            }
        }
    }

    pub(crate) fn rate(self, ends: &Ends, g: &Geometry, at: &At<'_>) -> f64 {
        let motions = ends.nodes.map(|node| at.motion(node));
        self.gradient(g).rate(motions)
    }
}

fn along_axis() -> Row {
    Row::along(2, 0.0)
}
