//! Two boxes: the axis that separates them most, then the points of the faces or edges that meet
//! there. The gap is measured along that axis.
//!
//! Where two edges meet, the points of the best face come along.

use oldham_space::{Mat3, Vec3};

use super::{Point, manifold};
use crate::shape::Pose;

/// A face is preferred to a pair of edges unless the edges separate by so much more, relative to the boxes.
const PREFERENCE: f64 = 1e-6;
/// Edges whose directions are nearer than this add nothing to the faces beside them.
const PARALLEL: f64 = 1e-6;
/// Marks the features of edges.
const EDGES: u32 = 1 << 20;

/// Points of two boxes with the given halves of their edges.
pub fn collide(a: Vec3, at_a: &Pose, b: Vec3, at_b: &Pose, reach: f64, out: &mut Vec<Point>) {
    // The second box in the frame of the first.
    let turned = at_a.axes.transpose() * at_b.axes;
    let offset = at_a.locate(at_b.position);
    let Some((face, edges)) = separating_axis(a, b, &turned, offset, reach) else {
        return;
    };
    let start = out.len();
    if let Some(edges) = edges {
        let point = cross(edges, (a, at_a), (b, at_b));
        if point.gap >= reach {
            return;
        }
        out.push(point);
    }
    let sign = 1.0_f64.copysign(face.along);
    let axis = face.axis;
    if face.is_second {
        let normal = at_b.axes.column(axis) * sign;
        let first = out.len();
        // The face of the second box looks at the first: clip there and turn back.
        clip((b, at_b, axis, -sign), (a, at_a), -normal, 1, reach, out);
        for point in &mut out[first..] {
            point.normal = normal;
        }
    } else {
        let normal = at_a.axes.column(axis) * sign;
        clip((a, at_a, axis, sign), (b, at_b), normal, 0, reach, out);
    }
    if edges.is_some() {
        manifold::beside_edges(out, start, a.norm() + b.norm());
    }
    manifold::reduce(out, start);
}

/// An axis of one of the boxes, and where the other one is along it.
#[derive(Clone, Copy)]
struct Face {
    is_second: bool,
    axis: usize,
    along: f64,
}

/// An axis of each, and their common perpendicular in the frame of the first box.
#[derive(Clone, Copy)]
struct Edges {
    first: usize,
    second: usize,
    normal: Vec3,
}

/// The face that separates two boxes most, and a pair of edges where these do it better.
fn separating_axis(
    a: Vec3,
    b: Vec3,
    turned: &Mat3,
    offset: Vec3,
    reach: f64,
) -> Option<(Face, Option<Edges>)> {
    let r = &turned.0;
    let size = r.map(|row| row.map(f64::abs));
    let preference = PREFERENCE * a.norm().min(b.norm());
    let mut best = f64::NEG_INFINITY;
    let mut face = Face {
        is_second: false,
        axis: 0,
        along: 0.0,
    };
    for axis in 0..3 {
        let line = &size[axis];
        let half = a[axis] + b[0] * line[0] + b[1] * line[1] + b[2] * line[2];
        let separation = offset[axis].abs() - half;
        if separation > best {
            best = separation;
            face = Face {
                is_second: false,
                axis,
                along: offset[axis],
            };
        }
    }
    if best >= reach {
        return None;
    }
    for axis in 0..3 {
        let along = offset[0] * r[0][axis] + offset[1] * r[1][axis] + offset[2] * r[2][axis];
        let half = b[axis] + a[0] * size[0][axis] + a[1] * size[1][axis] + a[2] * size[2][axis];
        let separation = along.abs() - half;
        if separation > best + preference {
            best = separation;
            face = Face {
                is_second: true,
                axis,
                along,
            };
        }
    }
    if best >= reach {
        return None;
    }
    let mut edges = None;
    for first in 0..3 {
        let (i, j) = ((first + 1) % 3, (first + 2) % 3);
        for second in 0..3 {
            let (k, l) = ((second + 1) % 3, (second + 2) % 3);
            // The unit vector of the first times the second's axis is (−r_j, r_i) in the plane across the first.
            let length = r[i][second].hypot(r[j][second]);
            if length < PARALLEL {
                continue;
            }
            let along = offset[j] * r[i][second] - offset[i] * r[j][second];
            let half = a[i] * size[j][second]
                + a[j] * size[i][second]
                + b[k] * size[first][l]
                + b[l] * size[first][k];
            let separation = (along.abs() - half) / length;
            if separation > best + preference {
                best = separation;
                let mut normal = Vec3::ZERO;
                let scale = 1.0_f64.copysign(along) / length;
                (normal[i], normal[j]) = (-r[j][second] * scale, r[i][second] * scale);
                edges = Some(Edges {
                    first,
                    second,
                    normal,
                });
            }
        }
    }
    (best < reach).then_some((face, edges))
}

/// Where two edges meet.
fn cross(edges: Edges, (a, at_a): (Vec3, &Pose), (b, at_b): (Vec3, &Pose)) -> Point {
    let Edges { first, second, .. } = edges;
    let normal = at_a.axes * edges.normal;
    let (mut on_a, mut on_b, mut code) = (at_a.position, at_b.position, 0);
    for axis in 0..3 {
        let (one, other) = (at_a.axes.column(axis), at_b.axes.column(axis));
        if axis != first {
            let sign = 1.0_f64.copysign(one.dot(normal));
            on_a += one * (a[axis] * sign);
            code = code << 1 | u32::from(sign > 0.0);
        }
        if axis != second {
            let sign = -1.0_f64.copysign(other.dot(normal));
            on_b += other * (b[axis] * sign);
            code = code << 1 | u32::from(sign > 0.0);
        }
    }
    let (p, q) = nearest_of_lines(
        (on_a, at_a.axes.column(first)),
        (on_b, at_b.axes.column(second)),
    );
    Point {
        feature: EDGES | code << 4 | (first * 3 + second) as u32,
        position: (p + q) * 0.5,
        normal,
        gap: normal.dot(q - p),
    }
}

/// The face of one box, given by an axis and its side, clips the facing face of the other.
fn clip(
    (half, at, axis, sign): (Vec3, &Pose, usize, f64),
    (other, at_other): (Vec3, &Pose),
    normal: Vec3,
    which: u32,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let seen = at_other.axes.transpose_mul(normal);
    let mut incident = 0;
    for i in 1..3 {
        if seen[i].abs() > seen[incident].abs() {
            incident = i;
        }
    }
    let side = -1.0_f64.copysign(seen[incident]);
    let (u, v) = ((incident + 1) % 3, (incident + 2) % 3);
    // The facing face in the frame of the first box: its middle and two halves.
    let turned = |k: usize| at.axes.transpose_mul(at_other.axes.column(k)) * other[k];
    let middle = at.locate(at_other.position) + turned(incident) * side;
    let (along, across) = (turned(u), turned(v));
    let mut polygon = Polygon::new([
        middle - along - across,
        middle + along - across,
        middle + along + across,
        middle - along + across,
    ]);
    for (k, beside) in [(axis + 1) % 3, (axis + 2) % 3].into_iter().enumerate() {
        for (l, end) in [-1.0, 1.0].into_iter().enumerate() {
            polygon.cut(beside, end, half[beside], (4 + 2 * k + l) as u8);
        }
    }
    let code = |axis: usize, side: f64| axis as u32 * 2 + u32::from(side > 0.0);
    let faces = (code(axis, sign) << 3) | code(incident, side);
    for k in 0..polygon.count {
        let local = polygon.corners[k];
        let gap = sign * local[axis] - half[axis];
        if gap < reach {
            let position = at.place(local) - normal * (0.5 * gap);
            out.push(Point {
                feature: which << 12 | faces << 6 | polygon.code(k),
                position,
                normal,
                gap,
            });
        }
    }
}

/// A convex polygon: four corners, at most one more for each cut.
struct Polygon {
    corners: [Vec3; 8],
    /// For each corner the side that begins there: one of the four at first, or the cut that made it. Two sides name a corner from step to step.
    sides: [u8; 8],
    count: usize,
}

impl Polygon {
    fn new(corners: [Vec3; 4]) -> Self {
        let mut all = [Vec3::ZERO; 8];
        all[..4].copy_from_slice(&corners);
        Self {
            corners: all,
            sides: [0, 1, 2, 3, 0, 0, 0, 0],
            count: 4,
        }
    }

    /// Names a corner.
    fn code(&self, corner: usize) -> u32 {
        let before = self.sides[(corner + self.count - 1) % self.count];
        u32::from(before) << 3 | u32::from(self.sides[corner])
    }

    fn put(&mut self, corner: Vec3, side: u8) {
        if self.count < 8 {
            (self.corners[self.count], self.sides[self.count]) = (corner, side);
            self.count += 1;
        }
    }

    /// Keeps what has `end * coordinate <= limit`.
    fn cut(&mut self, axis: usize, end: f64, limit: f64, name: u8) {
        let is_inside = |corner: &Vec3| end * corner[axis] <= limit;
        if self.corners[..self.count].iter().all(is_inside) {
            return;
        }
        let old = Self { ..*self };
        self.count = 0;
        for i in 0..old.count {
            let (here, next) = (old.corners[i], old.corners[(i + 1) % old.count]);
            let (inside, ahead) = (limit - end * here[axis], limit - end * next[axis]);
            if inside >= 0.0 {
                let leaves = inside == 0.0 && ahead < 0.0;
                self.put(here, if leaves { name } else { old.sides[i] });
            }
            if inside * ahead < 0.0 {
                let crossing = here + (next - here) * (inside / (inside - ahead));
                self.put(crossing, if inside > 0.0 { name } else { old.sides[i] });
            }
        }
    }
}

/// The nearest points of two lines that are not parallel, each a point and a unit direction.
fn nearest_of_lines((p, d): (Vec3, Vec3), (q, e): (Vec3, Vec3)) -> (Vec3, Vec3) {
    let between = q - p;
    let c = d.dot(e);
    let determinant = 1.0 - c * c;
    let (s, t) = (between.dot(d), between.dot(e));
    (
        p + d * ((s - c * t) / determinant),
        q + e * ((c * s - t) / determinant),
    )
}
