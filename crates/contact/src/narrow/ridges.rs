//! Ridges of a height field against the edges of a body, between grid points and corners. Where two edges cross, the normal is perpendicular to both; it
//! counts where the ground falls away from it on both sides of the ridge, and the body on both sides of its edge.

use oldham_space::Vec3;

use super::Point;
use crate::field::{HeightField, Ridge};
use crate::polytope::Solid;
use crate::shape::{Pose, Shape};

/// Features of crossings come after all others of a ground.
const CROSSINGS: u32 = 1 << 26;
/// Bits of a feature that say which edge of the body it is.
const EDGES: u32 = 8;
/// Ridges are told apart up to this many.
const RIDGES: u32 = 1 << 18;
/// Edges nearer in direction than this do not cross; nearer to an end than this share of the length, corners and crests touch.
const SMALL: f64 = 1e-9;

/// Points of a body's edges near the ridges of a ground; normals point from the ground to the body.
pub fn collide(
    ground: &HeightField,
    at: &Pose,
    shape: &Shape,
    at_shape: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let within = shape.bounding_radius() + reach;
    let local = |point: Vec3| at.locate(at_shape.place(point));
    ground.ridges(at.locate(at_shape.position), within, |ridge| {
        let [from, to] = ridge.ends;
        let middle = at_shape.locate(at.place((from + to) * 0.5));
        if shape.distance(middle) > 0.5 * (to - from).norm() + reach {
            return;
        }
        let mut touch = |edge: usize, found: Option<Crossing>, radius: f64| {
            let Some(Crossing {
                on_ridge,
                normal,
                gap,
            }) = found
            else {
                return;
            };
            let gap = gap - radius;
            if gap < reach {
                let normal_there = at.axes * normal;
                out.push(Point {
                    feature: CROSSINGS | (ridge.number % RIDGES) << EDGES | edge as u32,
                    position: at.place(on_ridge) + normal_there * (0.5 * gap),
                    normal: normal_there,
                    gap,
                });
            }
        };
        match shape {
            Shape::Box { .. } | Shape::Mesh(_) => {
                let solid = Solid::of(shape).expect("they have flat faces");
                for (k, edge) in solid.edges().iter().enumerate() {
                    let found = crossing(&ridge, edge.ends.map(|v| local(solid.vertex(v))));
                    let outward = edge.faces.map(|f| {
                        let normal = solid.faces()[f as usize].normal;
                        at.axes.transpose_mul(at_shape.axes * normal)
                    });
                    let found = found.filter(|crossing| is_between(-crossing.normal, outward));
                    touch(k, found, 0.0);
                }
            }
            Shape::Capsule {
                half_length,
                radius,
            }
            | Shape::Cylinder {
                half_length,
                radius,
            } => {
                let ends = [-*half_length, *half_length].map(|z| local(Vec3::Z * z));
                touch(0, crossing(&ridge, ends), *radius);
            }
            Shape::Sphere { .. } | Shape::Plane | Shape::Can(_) | Shape::Field(_) => {}
        }
    });
}

struct Crossing {
    on_ridge: Vec3,
    /// Out of the ground.
    normal: Vec3,
    /// Distance of the two lines along it.
    gap: f64,
}

/// Where a segment passes a ridge, if both are nearest between their ends and the ridge is the highest of the ground along the normal.
fn crossing(ridge: &Ridge, [from, to]: [Vec3; 2]) -> Option<Crossing> {
    let [start, end] = ridge.ends;
    let (along, other, between) = (end - start, to - from, from - start);
    let across = along.cross(other);
    let square = across.dot(across);
    if square <= SMALL * SMALL * along.dot(along) * other.dot(other) {
        return None;
    }
    let s = between.cross(other).dot(across) / square;
    let t = between.cross(along).dot(across) / square;
    let is_inside = |share: f64| share > SMALL && share < 1.0 - SMALL;
    if !is_inside(s) || !is_inside(t) {
        return None;
    }
    let upward = across.dot(ridge.normals[0] + ridge.normals[1]);
    let normal = across * (1.0_f64.copysign(upward) / square.sqrt());
    is_between(normal, ridge.normals).then(|| Crossing {
        on_ridge: start + along * s,
        normal,
        gap: normal.dot(between),
    })
}

/// Whether a normal of an edge is between those of its two faces.
fn is_between(normal: Vec3, [one, other]: [Vec3; 2]) -> bool {
    let spread = one.dot(other) - SMALL;
    normal.dot(one) >= spread && normal.dot(other) >= spread
}
