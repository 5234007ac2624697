//! A height field. Balls touch the nearest points of its triangles, other bodies touch it with their corners, ends and
//! rims, and its crests and ridges touch them.

use oldham_space::Vec3;

use super::{Point, faces, manifold, ridges};
use crate::field::{HeightField, Triangle};
use crate::polytope::Solid;
use crate::shape::{Pose, Shape};

/// Features: triangles first, then the tips of bodies, then crests.
const TIPS: u32 = 1 << 24;
const CRESTS: u32 = 1 << 25;
/// Contacts of one ball that are kept: it lies in a pit with three.
const MOST_OF_A_BALL: usize = 8;

/// Points of a shape near a ground; normals point from the ground to the shape.
pub fn collide(
    ground: &HeightField,
    at: &Pose,
    shape: &Shape,
    at_shape: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let start = out.len();
    match shape {
        Shape::Sphere { radius } => {
            ball(ground, at, at_shape.position, *radius, reach, 0, out);
        }
        Shape::Capsule {
            half_length,
            radius,
        } => {
            for (feature, sign) in [(0, -1.0), (TIPS, 1.0)] {
                let end = at_shape.position + at_shape.axes.column(2) * (sign * half_length);
                ball(ground, at, end, *radius, reach, feature, out);
            }
            crests(ground, at, shape, at_shape, reach, out);
        }
        Shape::Cylinder {
            half_length,
            radius,
        } => {
            // The rims' lowest points for the slope under the middle.
            let under = ground.under(at.locate(at_shape.position));
            let normal = at.axes * under.map_or(Vec3::Z, |triangle| triangle.normal());
            for (code, point) in faces::rim(at_shape, *half_length, *radius, normal) {
                tip(ground, at, code, point, reach, out);
            }
            crests(ground, at, shape, at_shape, reach, out);
        }
        Shape::Box { .. } | Shape::Mesh(_) => {
            let solid = Solid::of(shape).expect("they have flat faces");
            for (corner, vertex) in solid.vertices().enumerate() {
                tip(
                    ground,
                    at,
                    corner as u32,
                    at_shape.place(vertex),
                    reach,
                    out,
                );
            }
            crests(ground, at, shape, at_shape, reach, out);
        }
        Shape::Plane | Shape::Can(_) | Shape::Field(_) => {}
    }
    ridges::collide(ground, at, shape, at_shape, reach, out);
    manifold::reduce(out, start);
}

/// A ball touches the ground where a point of it is nearest among all around it: not at an edge that the ground passes
/// over without a crest.
fn ball(
    ground: &HeightField,
    at: &Pose,
    centre: Vec3,
    radius: f64,
    reach: f64,
    first: u32,
    out: &mut Vec<Point>,
) {
    let local = at.locate(centre);
    let within = radius + reach;
    let Some(under) = ground.under(local) else {
        return;
    };
    if under.normal().dot(local - under.corners[0]) < 0.0 {
        // The centre is in the ground: out along the slope.
        push(at, local, &under, radius, reach, first, out);
        return;
    }
    let mut found: [(Vec3, u32); MOST_OF_A_BALL] = [(Vec3::ZERO, 0); MOST_OF_A_BALL];
    let mut count = 0;
    ground.triangles(local, within, |triangle| {
        let point = triangle.nearest(local);
        let distance = (local - point).norm();
        if distance >= within || count == MOST_OF_A_BALL {
            return;
        }
        let small = 1e-9 * radius;
        let is_known = (found[..count].iter()).any(|(known, _)| (*known - point).norm() <= small);
        if is_known {
            return;
        }
        // Where some triangle through this point comes nearer to the ball elsewhere, the point is on the way there: no contact. Places
        // tell that apart, distances do not: they are flat where they are least.
        let mut is_nearest = true;
        ground.triangles(point, small, |other| {
            let passes = (other.nearest(point) - point).norm() <= small;
            let goes_on = (other.nearest(local) - point).norm() > 10.0 * small;
            is_nearest &= !(passes && goes_on);
        });
        if is_nearest {
            found[count] = (point, triangle.number);
            count += 1;
        }
    });
    for &(point, number) in &found[..count] {
        let away = local - point;
        let distance = away.norm();
        if distance > 0.0 {
            let normal = at.axes * (away * (1.0 / distance));
            let gap = distance - radius;
            out.push(Point {
                feature: first + number,
                position: centre - normal * (radius + 0.5 * gap),
                normal,
                gap,
            });
        }
    }
}

fn push(
    at: &Pose,
    local: Vec3,
    under: &Triangle,
    radius: f64,
    reach: f64,
    feature: u32,
    out: &mut Vec<Point>,
) {
    let slope = under.normal();
    let gap = slope.dot(local - under.corners[0]) - radius;
    if gap < reach {
        let normal = at.axes * slope;
        out.push(Point {
            feature,
            position: at.place(local) - normal * (radius + 0.5 * gap),
            normal,
            gap,
        });
    }
}

/// A corner, or a point of a rim, over the ground.
fn tip(ground: &HeightField, at: &Pose, code: u32, point: Vec3, reach: f64, out: &mut Vec<Point>) {
    let local = at.locate(point);
    if let Some(under) = ground.under(local) {
        push(at, local, &under, 0.0, reach, TIPS + code, out);
    }
}

/// Crests of the ground that come near a body from below.
fn crests(
    ground: &HeightField,
    at: &Pose,
    shape: &Shape,
    at_shape: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let within = shape.bounding_radius() + reach;
    ground.crests(at.locate(at_shape.position), within, |number, point| {
        let place = at.place(point);
        let near = shape.nearest(at_shape.locate(place));
        let normal = -(at_shape.axes * near.normal);
        // A body stands on the ground: it is not held by its sides.
        let is_below = at.axes.transpose_mul(normal)[2] > 0.5;
        if near.distance < reach && is_below {
            out.push(Point {
                feature: CRESTS + number,
                position: place + normal * (0.5 * near.distance),
                normal,
                gap: near.distance,
            });
        }
    });
}
