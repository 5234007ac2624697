//! A cylinder against a solid with flat faces: corners and edges of the one on the round solid, rims of the other on the
//! faces.

use oldham_space::Vec3;

use super::convex::golden;
use super::{Point, faces, manifold};
use crate::polytope::{Polytope, Solid};
use crate::shape::{Pose, Shape};

/// Features: vertices, then edges, then faces with the points of rims on each.
const EDGES: u32 = Polytope::MOST_POINTS as u32;
const FACES: u32 = 4 * EDGES;

/// Points of a solid near a cylinder; normals point from the solid to the cylinder.
pub fn collide(
    solid: &Solid<'_>,
    at: &Pose,
    cylinder: &Shape,
    at_cylinder: &Pose,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let start = out.len();
    touch_edges(solid, at, cylinder, at_cylinder, reach, out);
    touch_faces(solid, at, cylinder, at_cylinder, reach, out);
    manifold::reduce(out, start);
}

/// Corners, and the nearest inner point of each edge.
fn touch_edges(
    solid: &Solid<'_>,
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
    for (corner, vertex) in solid.vertices().enumerate() {
        touch(corner as u32, at.place(vertex));
    }
    for (number, edge) in solid.edges().iter().enumerate() {
        let [from, to] = edge.ends.map(|end| at.place(solid.vertex(end)));
        let (middle, along) = ((from + to) * 0.5, (to - from) * 0.5);
        let distance = |t: f64| cylinder.distance(at_cylinder.locate(middle + along * t));
        if distance(0.0) > reach + along.norm() {
            continue;
        }
        let lowest = golden(&distance);
        // At its ends the edge is a corner.
        if lowest.abs() < 1.0 - 1e-6 {
            touch(EDGES + number as u32, middle + along * lowest);
        }
    }
}

/// Points of the rims on faces of the solid.
fn touch_faces(
    solid: &Solid<'_>,
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
    for (number, face) in solid.faces().iter().enumerate() {
        let normal = at.axes * face.normal;
        let offset = solid.offset(number);
        for (code, tip) in faces::rim(at_cylinder, half_length, radius, normal) {
            let local = at.locate(tip);
            let gap = face.normal.dot(local) - offset;
            let is_near = match gap >= 0.0 {
                true => gap < reach && solid.within_face(number, local) >= 0.0,
                false => is_nearest_face(solid, number, local, gap),
            };
            if is_near {
                out.push(Point {
                    feature: FACES + number as u32 * 8 + code,
                    position: tip - normal * (0.5 * gap),
                    normal,
                    gap,
                });
            }
        }
    }
}

/// Whether a point below a face is in the solid, and no other face is nearer.
fn is_nearest_face(solid: &Solid<'_>, face: usize, at: Vec3, height: f64) -> bool {
    let others = solid.faces().iter().enumerate().filter(|(i, _)| *i != face);
    others
        .map(|(i, other)| other.normal.dot(at) - solid.offset(i))
        .all(|above| above <= height)
}
