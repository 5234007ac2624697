//! The coordinate of a joint with one degree of freedom: an angle or a distance.
//!
//! The angle is the twist of the second marker against the first about their third axes z₁ and z₂: the
//! relative rotation is one from z₁ to z₂, the shortest, after one about z₁ by that angle. Where a joint keeps the
//! axes aligned, that is the angle between the first axes. Where none does, it is defined up to opposite axes, and its
//! gradient n = (z₁ + z₂) / (1 + z₁ · z₂) by spins makes a moment that is a law of it store energy.

use super::row::{Gradient, Moving, Row, TurnRates};
use super::{Ends, Geometry};
use crate::element::{At, Half, Jacobian};
use oldham_cosim::Unit;
use oldham_space::{Mat3, Vec3};
use std::f64::consts::{PI, TAU};

/// What is measured between two markers, as a rule with third axes that stay aligned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coordinate {
    /// Angle about the third axis, over any number of turns: the twist, where the axes are not aligned.
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
                let [[x1, y1], [x2, y2]] = g.axes.map(|axes| [axes.column(0), axes.column(1)]);
                let sine = y1.dot(x2) - x1.dot(y2);
                let cosine = x1.dot(x2) + y1.dot(y2);
                nearest_angle(sine.atan2(cosine), near)
            }
        }
    }

    pub(crate) fn gradient(self, g: &Geometry) -> Gradient {
        match self {
            Self::Slide => along_axis().gradient(g),
            Self::Angle => {
                let axis = Twist::new(g).axis;
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
                let by_spin = Twist::new(g).axis_by_spin();
                for (column, by_spin) in by_spin.into_iter().enumerate() {
                    let turned = by_spin * multiplier;
                    out.add((0, Half::Angular), (column, Half::Angular), -turned);
                    out.add((1, Half::Angular), (column, Half::Angular), turned);
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

    /// First and second time derivative while the nodes keep their velocities.
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
                let twist = Twist::new(&g);
                let [by_first, by_second] = twist.axis_by_spin();
                let turning = by_first * a + by_second * b;
                [twist.axis.dot(b - a), turning.dot(b - a)]
            }
        }
    }

    /// How the rate changes with the poses while the nodes keep their velocities.
    pub(crate) fn rate_gradient(self, ends: &Ends, g: &Geometry, at: &At<'_>) -> Gradient {
        let motions = ends.nodes.map(|node| at.motion(node));
        let [a, b] = motions.map(|motion| motion.angular_velocity);
        match self {
            Self::Slide => {
                let axis = g.axes[0].column(2);
                let turning = a.cross(axis);
                let between = motions[1].velocity + b.cross(g.arms[1])
                    - motions[0].velocity
                    - a.cross(g.arms[0]);
                let swung = axis.cross(b) + turning;
                Gradient {
                    position: [-turning, turning],
                    rotation: [
                        axis.cross(between + g.between.cross(a)),
                        g.arms[1].cross(swung),
                    ],
                }
            }
            Self::Angle => {
                let by_spin = Twist::new(g).axis_by_spin();
                Gradient {
                    position: [Vec3::ZERO; 2],
                    rotation: by_spin.map(|by_spin| by_spin.transpose_mul(b - a)),
                }
            }
        }
    }

    pub(crate) fn rate(self, ends: &Ends, g: &Geometry, at: &At<'_>) -> f64 {
        let motions = ends.nodes.map(|node| at.motion(node));
        self.gradient(g).rate(motions)
    }
}

/// What the twist changes with.
struct Twist {
    /// Third axes of the markers.
    thirds: [Vec3; 2],
    /// One plus their scalar product: 2 where they are aligned, 0 where they are opposite.
    alignment: f64,
    /// The gradient of the angle by spins of the second marker: the common axis, where there is one.
    axis: Vec3,
}

impl Twist {
    fn new(g: &Geometry) -> Self {
        let thirds = [g.axes[0].column(2), g.axes[1].column(2)];
        let alignment = 1.0 + thirds[0].dot(thirds[1]);
        Self {
            thirds,
            alignment,
            axis: (thirds[0] + thirds[1]) * (1.0 / alignment),
        }
    }

    /// How the axis changes with spins of both markers.
    fn axis_by_spin(&self) -> [Mat3; 2] {
        let [first, second] = self.thirds;
        let across = self.axis.outer(first.cross(second));
        let per = -1.0 / self.alignment;
        [
            (first.skew() + across) * per,
            (second.skew() - across) * per,
        ]
    }
}

/// The same angle but for whole turns, within half a turn of `near`.
fn nearest_angle(angle: f64, near: f64) -> f64 {
    angle + TAU * ((near - angle + PI) / TAU).floor()
}

fn along_axis() -> Row {
    Row::along(2, 0.0)
}
