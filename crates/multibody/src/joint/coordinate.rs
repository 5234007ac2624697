//! The coordinate of a joint with one degree of freedom: an angle or a distance.

use super::row::{Gradient, Moving, Row, TurnRates};
use super::{Ends, Geometry};
use crate::element::{At, Half, Jacobian};
use oldham_cosim::Unit;
use oldham_space::Vec3;
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
    /// The unit of what acts on it.
    pub fn force_unit(self) -> Unit {
        match self {
            Self::Angle => Unit::NEWTON_METRE,
            Self::Slide => Unit::NEWTON,
        }
    }

    /// The value; an angle is the one nearest to `near`.
    pub(crate) fn value(self, g: &Geometry, near: f64) -> f64 {
        match self {
            Self::Slide => along_axis().value(g),
            Self::Angle => {
                let x = g.axes[1].column(0);
                let angle = g.axes[0].column(1).dot(x).atan2(g.axes[0].column(0).dot(x));
                nearest_angle(angle, near)
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

    /// Adds the derivative of `multiplier · gradient`.
    pub(crate) fn add_hessian(self, g: &Geometry, multiplier: f64, out: &mut Jacobian<'_>) {
        match self {
            Self::Slide => along_axis().add_hessian(g, multiplier, out),
            Self::Angle => {
                // The axis turns with the first node.
                let turned = g.axes[0].column(2).skew() * multiplier;
                for (row, m) in [turned, -turned].into_iter().enumerate() {
                    out.add((row, Half::Angular), (0, Half::Angular), m);
                }
            }
        }
    }

    /// The second time derivative under these accelerations and angular accelerations.
    pub(crate) fn acceleration(
        self,
        ends: &Ends,
        at: &At<'_>,
        accelerations: [[Vec3; 2]; 2],
    ) -> f64 {
        let gradient = self.gradient(&ends.geometry(at));
        let [_, convective] = self.derivatives(ends, at);
        let node = |i: usize| {
            let [linear, angular] = accelerations[i];
            gradient.position[i].dot(linear) + gradient.rotation[i].dot(angular)
        };
        convective + node(0) + node(1)
    }

    /// First and second time derivative while the nodes keep their velocities, the axes being
    /// aligned.
    pub(crate) fn derivatives(self, ends: &Ends, at: &At<'_>) -> [f64; 2] {
        let g = ends.geometry(at);
        let motions = ends.nodes.map(|node| at.motion(node));
        match self {
            Self::Slide => {
                let moving = Moving::new(&g, motions);
                along_axis().derivatives(&g, &moving, &TurnRates::default())
            }
            Self::Angle => {
                let [a, b] = motions.map(|motion| motion.angular_velocity);
                let axis = g.axes[0].column(2);
                [axis.dot(b - a), a.cross(axis).dot(b)]
            }
        }
    }

    pub(crate) fn rate(self, ends: &Ends, g: &Geometry, at: &At<'_>) -> f64 {
        let motions = ends.nodes.map(|node| at.motion(node));
        self.gradient(g).rate(motions)
    }
}

/// The same angle but for whole turns, within half a turn of `near`.
fn nearest_angle(angle: f64, near: f64) -> f64 {
    angle + TAU * ((near - angle + PI) / TAU).floor()
}

fn along_axis() -> Row {
    Row::along(2, 0.0)
}
