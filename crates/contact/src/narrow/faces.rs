//! Planes and cans: faces that bound a convex space, touched by corners, ends and rims.

use oldham_space::Vec3;

use super::round_wall::farthest_of_rims;
use super::{Point, manifold};
use crate::polytope::Solid;
use crate::shape::{Pose, Shape};

/// Bits of a feature that say which point of a body it is; the others are the face.
const CODES: u32 = 6;
/// The face of a round can that is not flat.
const ROUND_WALL: u32 = 2;

/// Points of `b` near the faces of `a`.
pub fn collide(a: &Shape, at_a: &Pose, b: &Shape, at_b: &Pose, reach: f64, out: &mut Vec<Point>) {
    let mut touch = |code: u32, tip: Vec3, radius: f64| {
        faces(
            a,
            at_a.locate(tip),
            reach + radius,
            |face, distance, normal| {
                let gap = distance - radius;
                let normal = at_a.axes * normal;
                out.push(Point {
                    feature: face << CODES | code,
                    position: tip - normal * (radius + 0.5 * gap),
                    normal,
                    gap,
                });
            },
        );
    };
    match b {
        Shape::Sphere { radius } => touch(0, at_b.position, *radius),
        Shape::Capsule {
            half_length,
            radius,
        } => {
            let along = at_b.axes.column(2) * *half_length;
            touch(0, at_b.position - along, *radius);
            touch(1, at_b.position + along, *radius);
        }
        Shape::Box { .. } | Shape::Mesh(_) => {
            let start = out.len();
            let solid = Solid::of(b).expect("it has flat faces");
            for (corner, vertex) in solid.vertices().enumerate() {
                let tip = at_b.place(vertex);
                faces(a, at_a.locate(tip), reach, |face, gap, normal| {
                    let normal = at_a.axes * normal;
                    out.push(Point {
                        feature: face << CODES | corner as u32,
                        position: tip - normal * (0.5 * gap),
                        normal,
                        gap,
                    });
                });
            }
            reduce_by_face(out, start);
        }
        Shape::Cylinder {
            half_length,
            radius,
        } => {
            let start = out.len();
            let is_round = matches!(a, Shape::Can(can) if can.is_round());
            // Rims have a lowest point for each face: ask the faces for their normals first.
            faces(
                a,
                at_a.locate(at_b.position),
                f64::INFINITY,
                |face, distance, normal| {
                    if face == ROUND_WALL && is_round {
                        return;
                    }
                    let normal = at_a.axes * normal;
                    let height = |tip: Vec3| distance + normal.dot(tip - at_b.position);
                    for (code, tip) in rim(at_b, *half_length, *radius, normal) {
                        let gap = height(tip);
                        if gap < reach {
                            out.push(Point {
                                feature: face << CODES | code,
                                position: tip - normal * (0.5 * gap),
                                normal,
                                gap,
                            });
                        }
                    }
                },
            );
            if is_round {
                for (code, tip) in farthest_of_rims(at_b, *half_length, *radius, at_a) {
                    faces(a, at_a.locate(tip), reach, |face, gap, normal| {
                        if face == ROUND_WALL {
                            let normal = at_a.axes * normal;
                            out.push(Point {
                                feature: face << CODES | code,
                                position: tip - normal * (0.5 * gap),
                                normal,
                                gap,
                            });
                        }
                    });
                }
            }
            reduce_by_face(out, start);
        }
        Shape::Plane | Shape::Can(_) | Shape::Field(_) => {}
    }
}

/// Calls `touch(face, distance, normal)` for faces nearer to a point than `reach`.
#[inline(always)]
fn faces(a: &Shape, at: Vec3, reach: f64, mut touch: impl FnMut(u32, f64, Vec3)) {
    match a {
        Shape::Can(can) => can.walls(at, reach, touch),
        _ if at[2] < reach => touch(0, at[2], Vec3::Z),
        _ => {}
    }
}

/// Points of a cylinder's rims that may touch a plane with this normal: the lowest of each rim,
/// and two more of the lower rim, which carry it standing.
pub fn rim(at: &Pose, half_length: f64, radius: f64, normal: Vec3) -> [(u32, Vec3); 4] {
    let axis = at.axes.column(2);
    let upward = axis.dot(normal);
    let across = axis * upward - normal;
    let length = across.norm();
    // Standing upright every rim point is lowest: take a direction of the body.
    let down = if length > 1e-9 {
        across * (1.0 / length)
    } else {
        at.axes.column(0)
    };
    let side = axis.cross(down);
    let (lower, code) = if upward >= 0.0 { (-1.0, 0) } else { (1.0, 1) };
    let end = |sign: f64| at.position + axis * (sign * half_length);
    let third = |turn: f64| (down * -0.5 + side * (turn * 0.75_f64.sqrt())) * radius;
    [
        (code, end(lower) + down * radius),
        (1 - code, end(-lower) + down * radius),
        (2 | code, end(lower) + third(1.0)),
        (4 | code, end(lower) + third(-1.0)),
    ]
}

/// Orders points by face and leaves at most four on each.
fn reduce_by_face(points: &mut Vec<Point>, start: usize) {
    points[start..].sort_by_key(|p| p.feature);
    let mut from = start;
    while from < points.len() {
        let face = points[from].feature >> CODES;
        let count = points[from..]
            .iter()
            .take_while(|p| p.feature >> CODES == face)
            .count();
        if count > 4 {
            // Rotate the rest out of the way: only the last group is cut.
            let rest = points.len() - (from + count);
            points[from..].rotate_left(count);
            let group = from + rest;
            manifold::reduce(points, group);
            let kept = points.len() - group;
            points[from..].rotate_right(kept);
            from += kept;
        } else {
            from += count;
        }
    }
}
