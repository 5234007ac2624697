//! Two boxes: the axis that separates them most, then the points of the faces or edges that meet
//! there. The gap is measured along that axis.

use oldham_space::{Mat3, Vec3};

use super::{Point, manifold};
use crate::shape::Pose;

/// A face is preferred to a pair of edges unless the edges separate by so much more, relative to the boxes.
const PREFERENCE: f64 = 1e-6;

/// Points of two boxes with the given halves of their edges.
pub fn collide(a: Vec3, at_a: &Pose, b: Vec3, at_b: &Pose, reach: f64, out: &mut Vec<Point>) {
    // The second box in the frame of the first.
    let turned = at_a.axes.transpose() * at_b.axes;
    let offset = at_a.locate(at_b.position);
    let Some(axis) = separating_axis(a, b, &turned, offset, reach) else {
        return;
    };
    let start = out.len();
    match axis {
        Axis::First { axis, sign } => {
            let normal = at_a.axes.column(axis) * sign;
            clip((a, at_a, axis, sign), (b, at_b), normal, 0, reach, out);
        }
        Axis::Second { axis, sign } => {
            let normal = at_b.axes.column(axis) * sign;
            // The face of the second box looks at the first: clip there and turn back.
            clip((b, at_b, axis, -sign), (a, at_a), -normal, 1, reach, out);
            for point in &mut out[start..] {
                point.normal = normal;
            }
        }
        Axis::Edges {
            first,
            second,
            normal,
        } => {
            let normal = at_a.axes * normal;
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
            let gap = normal.dot(q - p);
            if gap < reach {
                out.push(Point {
                    feature: 1 << 12 | code << 4 | (first * 3 + second) as u32,
                    position: (p + q) * 0.5,
                    normal,
                    gap,
                });
            }
        }
    }
    manifold::reduce(out, start);
}

/// Along what two boxes are apart, from the first to the second.
enum Axis {
    First {
        axis: usize,
        sign: f64,
    },
    Second {
        axis: usize,
        sign: f64,
    },
    Edges {
        first: usize,
        second: usize,
        /// In the frame of the first box.
        normal: Vec3,
    },
}

fn separating_axis(a: Vec3, b: Vec3, turned: &Mat3, offset: Vec3, reach: f64) -> Option<Axis> {
    let size = a.norm().min(b.norm());
    let mut best = (f64::NEG_INFINITY, None);
    let half = |axis: Vec3| {
        let seen = turned.transpose_mul(axis);
        (0..3)
            .map(|i| a[i] * axis[i].abs() + b[i] * seen[i].abs())
            .sum::<f64>()
    };
    for axis in 0..3 {
        let mut unit = Vec3::ZERO;
        unit[axis] = 1.0;
        let separation = offset[axis].abs() - half(unit);
        let sign = 1.0_f64.copysign(offset[axis]);
        if separation > best.0 {
            best = (separation, Some(Axis::First { axis, sign }));
        }
    }
    for axis in 0..3 {
        let unit = turned.column(axis);
        let along = unit.dot(offset);
        let separation = along.abs() - half(unit);
        let sign = 1.0_f64.copysign(along);
        if separation > best.0 + PREFERENCE * size {
            best = (separation, Some(Axis::Second { axis, sign }));
        }
    }
    for first in 0..3 {
        let mut edge = Vec3::ZERO;
        edge[first] = 1.0;
        for second in 0..3 {
            let across = edge.cross(turned.column(second));
            let length = across.norm();
            // Edges that are nearly parallel add nothing to the faces beside them.
            if length < 1e-6 {
                continue;
            }
            let along = across.dot(offset) / length;
            let normal = across * (1.0_f64.copysign(along) / length);
            let separation = along.abs() - half(normal);
            if separation > best.0 + PREFERENCE * size {
                let edges = Axis::Edges {
                    first,
                    second,
                    normal,
                };
                best = (separation, Some(edges));
            }
        }
    }
    if best.0 < reach { best.1 } else { None }
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
    let facing = (0..3)
        .map(|i| (i, at_other.axes.column(i).dot(normal)))
        .max_by(|x, y| x.1.abs().total_cmp(&y.1.abs()).then(y.0.cmp(&x.0)))
        .expect("three axes");
    let (incident, side) = (facing.0, -1.0_f64.copysign(facing.1));
    let (u, v) = ((incident + 1) % 3, (incident + 2) % 3);
    let corner = |s: f64, t: f64| {
        let mut local = Vec3::ZERO;
        local[incident] = side * other[incident];
        local[u] = s * other[u];
        local[v] = t * other[v];
        at.locate(at_other.place(local))
    };
    let mut polygon = Polygon::new([
        corner(-1.0, -1.0),
        corner(1.0, -1.0),
        corner(1.0, 1.0),
        corner(-1.0, 1.0),
    ]);
    for beside in [(axis + 1) % 3, (axis + 2) % 3] {
        for end in [-1.0, 1.0] {
            polygon.cut(beside, end, half[beside]);
        }
    }
    let code = |axis: usize, side: f64| axis as u32 * 2 + u32::from(side > 0.0);
    let faces = (code(axis, sign) << 3) | code(incident, side);
    for (k, &local) in polygon.points().iter().enumerate() {
        let gap = sign * local[axis] - half[axis];
        if gap < reach {
            let position = at.place(local) - normal * (0.5 * gap);
            out.push(Point {
                feature: which << 11 | faces << 4 | k as u32,
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
    count: usize,
}

impl Polygon {
    fn new(corners: [Vec3; 4]) -> Self {
        let mut all = [Vec3::ZERO; 8];
        all[..4].copy_from_slice(&corners);
        Self {
            corners: all,
            count: 4,
        }
    }

    fn points(&self) -> &[Vec3] {
        &self.corners[..self.count]
    }

    /// Keeps what has `end * coordinate <= limit`.
    fn cut(&mut self, axis: usize, end: f64, limit: f64) {
        let mut kept = [Vec3::ZERO; 8];
        let mut count = 0;
        for i in 0..self.count {
            let (here, next) = (self.corners[i], self.corners[(i + 1) % self.count]);
            let (inside, ahead) = (limit - end * here[axis], limit - end * next[axis]);
            if inside >= 0.0 && count < 8 {
                kept[count] = here;
                count += 1;
            }
            if inside * ahead < 0.0 && count < 8 {
                kept[count] = here + (next - here) * (inside / (inside - ahead));
                count += 1;
            }
        }
        self.corners = kept;
        self.count = count;
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
