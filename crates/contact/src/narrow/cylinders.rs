//! Two cylinders. Sides touch along a line or at a point, ends on what is before them, rims on the side or the rim of
//! the other. The direction in which the two are farthest apart says which of these it is.

use oldham_space::Vec3;

use super::convex::golden;
use super::{Point, faces, manifold};
use crate::shape::{Pose, Shape};

/// Places around a rim where the search for its nearest points begins.
const AROUND: usize = 16;
/// Sides and ends are preferred to rims unless these separate by so much more, relative to the radii.
const PREFERENCE: f64 = 1e-6;
/// Axes that differ by less than this, in radians, are nearly parallel.
const PARALLEL: f64 = 1e-3;

#[derive(Clone, Copy)]
struct Cylinder<'a> {
    at: &'a Pose,
    shape: &'a Shape,
    half_length: f64,
    radius: f64,
}

impl<'a> Cylinder<'a> {
    fn new(shape: &'a Shape, at: &'a Pose) -> Option<Self> {
        match *shape {
            Shape::Cylinder {
                half_length,
                radius,
            } => Some(Self {
                at,
                shape,
                half_length,
                radius,
            }),
            _ => None,
        }
    }

    fn axis(&self) -> Vec3 {
        self.at.axes.column(2)
    }

    fn end(&self, sign: f64) -> Vec3 {
        self.at.position + self.axis() * (sign * self.half_length)
    }

    /// How far it reaches along a unit direction, from its centre.
    fn support(&self, along: Vec3) -> f64 {
        let cosine = self.axis().dot(along);
        let sine = (1.0 - cosine * cosine).max(0.0).sqrt();
        self.half_length * cosine.abs() + self.radius * sine
    }

    /// The farthest point along a direction.
    fn tip(&self, along: Vec3) -> Vec3 {
        let cosine = self.axis().dot(along);
        let across = along - self.axis() * cosine;
        let length = across.norm();
        let outward = if length > 1e-12 {
            across * (1.0 / length)
        } else {
            Vec3::ZERO
        };
        self.end(1.0_f64.copysign(cosine)) + outward * self.radius
    }

    /// Whether a point is over an end, seen along the axis.
    fn is_over(&self, point: Vec3) -> bool {
        let from = point - self.at.position;
        let across = from - self.axis() * self.axis().dot(from);
        across.norm() <= self.radius * (1.0 + 1e-9)
    }
}

/// What meets.
#[derive(Clone, Copy)]
enum Meeting {
    Sides,
    /// An end of the first, or of the second.
    FirstEnd,
    SecondEnd,
    Rims,
}

/// Points of two cylinders; normals point from the first to the second.
pub fn collide(a: &Shape, at_a: &Pose, b: &Shape, at_b: &Pose, reach: f64, out: &mut Vec<Point>) {
    let (Some(a), Some(b)) = (Cylinder::new(a, at_a), Cylinder::new(b, at_b)) else {
        return;
    };
    let [on_a, on_b] = nearest_of_axes(&a, &b);
    // Each cylinder is within the capsule of its axis and radius.
    if (on_b - on_a).norm() >= a.radius + b.radius + reach {
        return;
    }
    let Some((separation, normal, meeting)) = separating_axis(&a, &b, [on_a, on_b]) else {
        return;
    };
    if separation >= reach {
        return;
    }
    let start = out.len();
    match meeting {
        Meeting::Sides => touch_sides(&a, &b, reach, out),
        Meeting::FirstEnd => touch_end(&a, &b, normal, 16, reach, out),
        Meeting::SecondEnd => {
            touch_end(&b, &a, -normal, 64, reach, out);
            for point in &mut out[start..] {
                point.normal = -point.normal;
            }
        }
        Meeting::Rims => {
            let [p, q] = [a.tip(normal), b.tip(-normal)];
            out.push(Point {
                feature: 8,
                position: (p + q) * 0.5,
                normal,
                gap: separation,
            });
        }
    }
    manifold::reduce(out, start);
}

/// The direction from the first to the second in which they are farthest apart, and how far.
fn separating_axis(
    a: &Cylinder<'_>,
    b: &Cylinder<'_>,
    [on_a, on_b]: [Vec3; 2],
) -> Option<(f64, Vec3, Meeting)> {
    let offset = b.at.position - a.at.position;
    let separation = |n: Vec3| n.dot(offset) - a.support(n) - b.support(n);
    let preference = PREFERENCE * a.radius.min(b.radius);
    let mut best: Option<(f64, Vec3, Meeting)> = None;
    let mut consider = |n: Vec3, margin: f64, meeting: Meeting| {
        let value = separation(n);
        if best.is_none_or(|(most, ..)| value > most + margin) {
            best = Some((value, n, meeting));
        }
    };
    let toward = |axis: Vec3| axis * 1.0_f64.copysign(axis.dot(offset));
    consider(toward(a.axis()), 0.0, Meeting::FirstEnd);
    consider(toward(b.axis()), preference, Meeting::SecondEnd);
    // Nearly parallel sides are judged where they have most in common, and by their points later; a direction across one of
    // them loses what the other is tilted by.
    let tilt = a.axis().cross(b.axis()).norm();
    let is_parallel = tilt < PARALLEL;
    let [low, high] = common(a, b);
    let between = match is_parallel && high > low {
        true => {
            let (on_a, on_b) = beside(a, b, 0.5 * (low + high));
            on_b - on_a - a.axis() * a.axis().dot(on_b - on_a)
        }
        false => on_b - on_a,
    };
    let length = between.norm();
    let is_across =
        |axis: Vec3| is_parallel && high > low || axis.dot(between).abs() <= 1e-9 * length;
    if length > 0.0 && is_across(a.axis()) && is_across(b.axis()) {
        consider(between * (1.0 / length), preference, Meeting::Sides);
    }
    let lost = match is_parallel {
        true => tilt * (a.half_length + b.half_length),
        false => 0.0,
    };
    for (rims_of, solid, turn) in [(a, b, -1.0), (b, a, 1.0)] {
        for sign in [-1.0, 1.0] {
            let near = nearest_of_rim(rims_of, sign, solid);
            let local = solid.at.locate(near);
            let normal = solid.at.axes * solid.shape.nearest(local).normal;
            consider(normal * turn, preference + lost, Meeting::Rims);
        }
    }
    best
}

/// The point of a rim that is nearest to a solid.
fn nearest_of_rim(of: &Cylinder<'_>, sign: f64, solid: &Cylinder<'_>) -> Vec3 {
    let (centre, x, y) = (of.end(sign), of.at.axes.column(0), of.at.axes.column(1));
    let point = |angle: f64| centre + (x * angle.cos() + y * angle.sin()) * of.radius;
    let distance = |angle: f64| solid.shape.distance(solid.at.locate(point(angle)));
    let step = std::f64::consts::TAU / AROUND as f64;
    let angles = (0..AROUND).map(|i| i as f64 * step);
    let nearest = angles.min_by(|p, q| distance(*p).total_cmp(&distance(*q)));
    let coarse = nearest.expect("there are places");
    let fine = golden(&|t: f64| distance(coarse + t * step));
    point(coarse + fine * step)
}

/// The nearest points of the two axes.
fn nearest_of_axes(a: &Cylinder<'_>, b: &Cylinder<'_>) -> [Vec3; 2] {
    let (d, e) = (a.axis(), b.axis());
    let between = b.at.position - a.at.position;
    let c = d.dot(e);
    let (s, t) = (between.dot(d), between.dot(e));
    let determinant = 1.0 - c * c;
    let mut along_a = if determinant > 1e-12 {
        ((s - c * t) / determinant).clamp(-a.half_length, a.half_length)
    } else {
        // Parallel: in the middle of what they have in common.
        let [low, high] = common(a, b);
        0.5 * (low + high)
    };
    let along_b = (c * along_a - t).clamp(-b.half_length, b.half_length);
    along_a = (s + c * along_b).clamp(-a.half_length, a.half_length);
    [a.at.position + d * along_a, b.at.position + e * along_b]
}

/// The part of the first axis beside the second cylinder.
fn common(a: &Cylinder<'_>, b: &Cylinder<'_>) -> [f64; 2] {
    let at = |sign: f64| a.axis().dot(b.end(sign) - a.at.position);
    let (p, q) = (at(-1.0), at(1.0));
    [p.min(q), p.max(q)].map(|t| t.clamp(-a.half_length, a.half_length))
}

/// A point of the first axis, and the nearest of the second.
fn beside(a: &Cylinder<'_>, b: &Cylinder<'_>, t: f64) -> (Vec3, Vec3) {
    let on_a = a.at.position + a.axis() * t;
    let along = b.axis().dot(on_a - b.at.position);
    let along = along.clamp(-b.half_length, b.half_length);
    (on_a, b.at.position + b.axis() * along)
}

/// Sides that are nearly parallel touch at both ends of what they have in common, others where they cross.
fn touch_sides(a: &Cylinder<'_>, b: &Cylinder<'_>, reach: f64, out: &mut Vec<Point>) {
    let mut touch = |feature: u32, on_a: Vec3, on_b: Vec3| {
        let between = on_b - on_a;
        let length = between.norm();
        let gap = length - a.radius - b.radius;
        if length > 0.0 && gap < reach {
            let normal = between * (1.0 / length);
            out.push(Point {
                feature,
                position: on_a + normal * (a.radius + 0.5 * gap),
                normal,
                gap,
            });
        }
    };
    let [low, high] = common(a, b);
    let is_parallel = a.axis().cross(b.axis()).norm() < PARALLEL;
    if is_parallel && high > low {
        for (feature, t) in [(0, low), (1, high)] {
            let (on_a, on_b) = beside(a, b, t);
            touch(feature, on_a, on_b);
        }
    } else {
        let [on_a, on_b] = nearest_of_axes(a, b);
        touch(2, on_a, on_b);
    }
}

/// What of `b` is before an end of `a` whose outward normal is given; normals point to `b`.
fn touch_end(
    a: &Cylinder<'_>,
    b: &Cylinder<'_>,
    normal: Vec3,
    first: u32,
    reach: f64,
    out: &mut Vec<Point>,
) {
    let end = a.at.position + normal * a.half_length;
    let mut touch = |feature: u32, tip: Vec3| {
        let gap = normal.dot(tip - end);
        if gap < reach && a.is_over(tip) {
            out.push(Point {
                feature: first + feature,
                position: tip - normal * (0.5 * gap),
                normal,
                gap,
            });
        }
    };
    let rim = faces::rim(b.at, b.half_length, b.radius, normal);
    for (code, tip) in rim {
        touch(code, tip);
    }
    // A side that lies across the end: where it comes over the rim.
    let (near, far) = (rim[0].1, rim[1].1);
    for (i, tip) in crossings_of_line(a, near, far)
        .into_iter()
        .flatten()
        .enumerate()
    {
        touch(8 + i as u32, tip);
    }
    // An end that lies on the end: where the rims cross, and the own rim where it is under the other.
    let cosine = b.axis().dot(normal);
    if cosine.abs() > 1.0 - 1e-4 {
        let centre = b.at.position - b.axis() * (b.half_length * 1.0_f64.copysign(cosine));
        let on_b = |p: Vec3| p + normal * (b.axis().dot(centre - p) / cosine);
        for (i, p) in crossings_of_rims(end, a.radius, centre, b.radius, normal)
            .into_iter()
            .flatten()
            .enumerate()
        {
            touch(16 + i as u32, on_b(p));
        }
        for quarter in 0..4 {
            let angle = std::f64::consts::FRAC_PI_2 * quarter as f64;
            let (x, y) = (a.at.axes.column(0), a.at.axes.column(1));
            let p = end + (x * angle.cos() + y * angle.sin()) * a.radius;
            if b.is_over(p) {
                touch(20 + quarter, on_b(p));
            }
        }
    }
}

/// Where a segment passes over the rim of a cylinder, seen along its axis.
fn crossings_of_line(a: &Cylinder<'_>, from: Vec3, to: Vec3) -> [Option<Vec3>; 2] {
    let flat = |v: Vec3| v - a.axis() * a.axis().dot(v);
    let (start, along) = (flat(from - a.at.position), flat(to - from));
    let (square, half) = (along.dot(along), start.dot(along));
    let rest = half * half - square * (start.dot(start) - a.radius * a.radius);
    if square <= 0.0 || rest <= 0.0 {
        return [None; 2];
    }
    [-1.0, 1.0].map(|sign| {
        let t = (-half + sign * rest.sqrt()) / square;
        (t > 0.0 && t < 1.0).then(|| from + (to - from) * t)
    })
}

/// Where two circles across a normal cross.
fn crossings_of_rims(
    one: Vec3,
    radius: f64,
    other: Vec3,
    other_radius: f64,
    normal: Vec3,
) -> [Option<Vec3>; 2] {
    let between = other - one;
    let between = between - normal * normal.dot(between);
    let apart = between.norm();
    let is_crossing = apart < radius + other_radius && apart > (radius - other_radius).abs();
    if !is_crossing {
        return [None; 2];
    }
    let along = (apart * apart + radius * radius - other_radius * other_radius) / (2.0 * apart);
    let across = (radius * radius - along * along).max(0.0).sqrt();
    let direction = between * (1.0 / apart);
    let side = normal.cross(direction);
    [-1.0, 1.0].map(|sign| Some(one + direction * along + side * (sign * across)))
}
