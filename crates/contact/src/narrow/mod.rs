//! Contact points of two shapes. Nothing here remembers anything: points and their order depend on
//! the shapes and poses alone.
//!
//! Spheres and capsules are tested against the distance of any solid. Planes and cans are
//! faces that corners, ends and rims touch. Two boxes are separated along fifteen axes and clipped, other solids with flat
//! faces along the normals and pairs of edges that count. Such a solid and a cylinder meet with the edges of the one or the rims
//! of the other. A height field is touched by corners, ends and rims, and touches with its crests and ridges.

mod boxes;
mod capsule;
mod convex;
mod cylinder;
mod cylinders;
mod faces;
mod field;
mod manifold;
mod polytopes;
mod ridges;
mod round_wall;

use oldham_space::Vec3;

use crate::polytope::Solid;
use crate::shape::{Can, Pose, Shape};

/// A point where two shapes are near.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Which features of the shapes meet here; the same from step to step while they do.
    pub feature: u32,
    /// In the middle of the gap, in absolute coordinates.
    pub position: Vec3,
    /// From the first shape to the second.
    pub normal: Vec3,
    /// Distance along the normal, negative in penetration.
    pub gap: f64,
}

/// Adds the points of two shapes that are nearer than `reach`, at most four for each pair of
/// faces, ordered by feature. Planes, cans and grounds among themselves give none.
pub fn collide(a: &Shape, at_a: &Pose, b: &Shape, at_b: &Pose, reach: f64, out: &mut Vec<Point>) {
    let start = out.len();
    if rank(a) <= rank(b) {
        collide_ordered(a, at_a, b, at_b, reach, out);
    } else {
        collide_ordered(b, at_b, a, at_a, reach, out);
        for point in &mut out[start..] {
            point.normal = -point.normal;
        }
    }
}

/// Shapes with faces first, round ones last: what is first asks the second for its points.
fn rank(shape: &Shape) -> u8 {
    match shape {
        Shape::Plane => 0,
        Shape::Can(_) => 1,
        Shape::Field(_) => 2,
        Shape::Mesh(_) => 3,
        Shape::Box { .. } => 4,
        Shape::Cylinder { .. } => 5,
        Shape::Capsule { .. } => 6,
        Shape::Sphere { .. } => 7,
    }
}

fn collide_ordered(
    a: &Shape,
    at_a: &Pose,
    b: &Shape,
    at_b: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    match (a, b) {
        (Shape::Can(can), _) if is_outside(can, at_a, b, at_b) => {}
        (Shape::Plane | Shape::Can(_), _) => faces::collide(a, at_a, b, at_b, reach, out),
        (Shape::Field(ground), _) => field::collide(ground, at_a, b, at_b, reach, out),
        (_, Shape::Sphere { radius }) => sphere(a, at_a, *radius, at_b.position, reach, out),
        (
            _,
            Shape::Capsule {
                half_length,
                radius,
            },
        ) => {
            capsule::collide(a, at_a, *half_length, *radius, at_b, reach, out);
        }
        (Shape::Box { half: one }, Shape::Box { half: other }) => {
            boxes::collide(*one, at_a, *other, at_b, reach, out);
        }
        (Shape::Cylinder { .. }, Shape::Cylinder { .. }) => {
            cylinders::collide(a, at_a, b, at_b, reach, out);
        }
        (_, Shape::Cylinder { .. }) => {
            if let Some(solid) = Solid::of(a) {
                cylinder::collide(&solid, at_a, b, at_b, reach, out);
            }
        }
        _ => {
            if let (Some(one), Some(other)) = (Solid::of(a), Solid::of(b)) {
                polytopes::collide((&one, at_a), (&other, at_b), reach, out);
            }
        }
    }
}

/// Whether a shape is not in a can: a ball by its whole radius, others by their centre. A can is touched from inside only.
fn is_outside(can: &Can, at_can: &Pose, shape: &Shape, at: &Pose) -> bool {
    let beyond = match shape {
        Shape::Sphere { radius } => *radius,
        _ => 0.0,
    };
    can.distance(at_can.locate(at.position)) < -beyond
}

/// A ball against any solid with one distance.
fn sphere(a: &Shape, at: &Pose, radius: f64, centre: Vec3, reach: f64, out: &mut Vec<Point>) {
    let near = a.nearest(at.locate(centre));
    let gap = near.distance - radius;
    if gap < reach {
        let normal = at.axes * near.normal;
        out.push(Point {
            feature: 0,
            position: centre - normal * (radius + 0.5 * gap),
            normal,
            gap,
        });
    }
}
