//! A box and a cylinder: edges of the box against the distance from the cylinder, and rims of the cylinder
//! against the faces of the box.

use oldham_space::Vec3;

use super::convex::golden;
use super::{Point, faces, manifold};
use crate::shape::{Pose, Shape};

/// Points of a box near a cylinder; normals point from the box to the cylinder.
pub fn collide(
    half: Vec3,
    at: &Pose,
    cylinder: &Shape,
    at_cylinder: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let start = out.len();
    touch_edges(half, at, cylinder, at_cylinder, reach, out);
    touch_faces(half, at, cylinder, at_cylinder, reach, out);
    manifold::reduce(out, start);
}

/// Corners, and the nearest inner point of each edge.
fn touch_edges(
    half: Vec3,
    at: &Pose,
    cylinder: &Shape,
    at_cylinder: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let mut touch = |feature: u32, tip: Vec3| {
        let near = cylinder.nearest(at_cylinder.locate(tip));
        if near.distance < reach {
            let normal = -(at_cylinder.axes * near.normal);
            out.push(Point {
                feature,
                position: tip + normal * (0.5 * near.distance),
                normal,
                gap: near.distance,
            });
        }
    };
    let sign = |bits: u32, axis: usize| if bits >> axis & 1 == 1 { 1.0 } else { -1.0 };
    for corner in 0..8 {
        let local = [0, 1, 2].map(|axis| sign(corner, axis) * half[axis]);
        touch(corner, at.place(Vec3::new(local[0], local[1], local[2])));
    }
    for axis in 0..3 {
        for side in 0..4 {
            let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
            let mut middle = Vec3::ZERO;
            middle[u] = sign(side, 0) * half[u];
            middle[v] = sign(side, 1) * half[v];
            let middle = at.place(middle);
            let along = at.axes.column(axis) * half[axis];
            let distance = |t: f64| cylinder.distance(at_cylinder.locate(middle + along * t));
            if distance(0.0) > reach + half[axis] {
                continue;
            }
            let lowest = golden(&distance);
            // At its ends the edge is a corner.
            if lowest.abs() < 1.0 - 1e-6 {
                touch(8 + 4 * axis as u32 + side, middle + along * lowest);
            }
        }
    }
}

/// Points of the rims on faces of the box.
fn touch_faces(
    half: Vec3,
    at: &Pose,
    cylinder: &Shape,
    at_cylinder: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let &Shape::Cylinder {
        half_length,
        radius,
    } = cylinder
    else {
        return;
    };
    for axis in 0..3 {
        for (side, sign) in [-1.0, 1.0].into_iter().enumerate() {
            let normal = at.axes.column(axis) * sign;
            for (code, tip) in faces::rim(at_cylinder, half_length, radius, normal) {
                let local = at.locate(tip);
                let gap = sign * local[axis] - half[axis];
                // Over the face, and where it is within the box, nearest to this face.
                let over = |k: usize| local[k].abs() - half[k] <= gap.min(0.0);
                if gap < reach && over((axis + 1) % 3) && over((axis + 2) % 3) {
                    out.push(Point {
                        feature: 32 + (axis as u32 * 2 + side as u32) * 8 + code,
                        position: tip - normal * (0.5 * gap),
                        normal,
                        gap,
                    });
                }
            }
        }
    }
}
