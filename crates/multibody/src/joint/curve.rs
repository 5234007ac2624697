//! A point on a plane curve: cams, slots, tracks.
//!
//! The violation is the signed distance φ of the point from the curve, both in the plane. With c(s)
//! the foot of the point, t and n the tangent and the normal there and κ the curvature, ∇φ = n and
//! ∇²φ = -κ / (1 - κ φ) t tᵀ, so that no unknown for the place on the curve is needed.

use super::row::{Gradient, add_along_hessian};
use super::{Ends, Geometry};
use crate::element::{At, Element, Jacobian, References, Residual, Weights, refer_nodes};
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;
use std::sync::Arc;

/// A plane curve through points: a cubic spline, with continuous curvature.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaneCurve {
    points: Vec<[f64; 2]>,
    /// Second derivatives by the place, which is the number of the point.
    bends: Vec<[f64; 2]>,
    is_closed: bool,
}

/// A place on a curve: point, first and second derivative by the place.
type Sample = [[f64; 2]; 3];

impl PlaneCurve {
    /// Through these points in order; a closed curve goes on from the last to the first. Nothing if
    /// there are fewer than four, or two neighbours coincide.
    pub fn new(points: Vec<[f64; 2]>, is_closed: bool) -> Option<Self> {
        let count = points.len();
        let coincide = |i: usize| points[i] == points[(i + 1) % count];
        let pairs = if is_closed { count } else { count.max(1) - 1 };
        if count < 4 || (0..pairs).any(coincide) || points.iter().flatten().any(|x| !x.is_finite())
        {
            return None;
        }
        let bends = match is_closed {
            true => closed_bends(&points),
            false => natural_bends(&points),
        };
        Some(Self {
            points,
            bends,
            is_closed,
        })
    }

    /// Number of stretches between points.
    fn stretches(&self) -> usize {
        self.points.len() - usize::from(!self.is_closed)
    }

    /// Beyond the ends of an open curve its end stretches go on.
    fn sample(&self, place: f64) -> Sample {
        let stretches = self.stretches();
        let i = match self.is_closed {
            true => place.floor().rem_euclid(stretches as f64) as usize % stretches,
            false => (place.floor().max(0.0) as usize).min(stretches - 1),
        };
        let u = match self.is_closed {
            true => place - place.floor(),
            false => place - i as f64,
        };
        let j = (i + 1) % self.points.len();
        let (v, both) = (1.0 - u, [0, 1]);
        let (p, q) = (self.points[i], self.points[j]);
        let (a, b) = (self.bends[i], self.bends[j]);
        let value = |k: usize| {
            v * p[k] + u * q[k] + ((v * v * v - v) * a[k] + (u * u * u - u) * b[k]) / 6.0
        };
        let slope = |k: usize| {
            q[k] - p[k] + ((1.0 - 3.0 * v * v) * a[k] + (3.0 * u * u - 1.0) * b[k]) / 6.0
        };
        [
            both.map(value),
            both.map(slope),
            both.map(|k: usize| v * a[k] + u * b[k]),
        ]
    }

    /// The place of the foot of a point, searched from a place near it.
    fn foot(&self, point: [f64; 2], near: f64) -> f64 {
        const ITERATIONS: usize = 30;
        let mut place = near;
        for _ in 0..ITERATIONS {
            let [c, t, b] = self.sample(place);
            let away = [point[0] - c[0], point[1] - c[1]];
            let slope = dot(away, t);
            let square = dot(t, t);
            // Far from the curve the second derivative may have the wrong sign.
            let bend = (square - dot(away, b)).max(0.1 * square);
            let step = (slope / bend).clamp(-1.0, 1.0);
            place += step;
            if step.abs() < 1e-14 * (1.0 + place.abs()) {
                break;
            }
        }
        place
    }

    /// The point of the curve nearest to a point, among all stretches.
    pub fn nearest(&self, point: [f64; 2]) -> f64 {
        let distance = |place: f64| {
            let [c, ..] = self.sample(place);
            (point[0] - c[0]).hypot(point[1] - c[1])
        };
        let starts = (0..2 * self.stretches()).map(|i| self.foot(point, 0.5 * i as f64));
        let better = |a: f64, b: f64| if distance(b) < distance(a) { b } else { a };
        starts.fold(0.0, better)
    }
}

fn dot(a: [f64; 2], b: [f64; 2]) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

/// Right-hand sides of the equations of the second derivatives.
fn second_differences(points: &[[f64; 2]], i: usize) -> [f64; 2] {
    let count = points.len();
    let (before, here, after) = (
        points[(i + count - 1) % count],
        points[i],
        points[(i + 1) % count],
    );
    [0, 1].map(|k| 6.0 * (before[k] - 2.0 * here[k] + after[k]))
}

/// Solves m_(i-1) + 4 m_i + m_(i+1) = d_i with zero at both ends.
fn natural_bends(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let count = points.len();
    let mut bends = vec![[0.0; 2]; count];
    let mut factors = vec![0.0; count];
    for i in 1..count - 1 {
        let d = second_differences(points, i);
        let pivot = 4.0 - factors[i - 1];
        factors[i] = 1.0 / pivot;
        bends[i] = [0, 1].map(|k| (d[k] - bends[i - 1][k]) / pivot);
    }
    for i in (1..count - 1).rev() {
        let next = bends[i + 1];
        for (bend, next) in bends[i].iter_mut().zip(next) {
            *bend -= factors[i] * next;
        }
    }
    bends
}

/// The same around a closed curve; the iteration halves the error at least.
fn closed_bends(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    const SWEEPS: usize = 60;
    let count = points.len();
    let mut bends = vec![[0.0; 2]; count];
    for _ in 0..SWEEPS {
        for i in 0..count {
            let d = second_differences(points, i);
            let (before, after) = (bends[(i + count - 1) % count], bends[(i + 1) % count]);
            bends[i] = [0, 1].map(|k| 0.25 * (d[k] - before[k] - after[k]));
        }
    }
    bends
}

/// Keeps the second marker on a curve in the plane of the first two axes of the first; across the
/// plane it is free.
#[derive(Clone, Debug)]
pub struct PointOnCurve {
    ends: Ends,
    curve: Arc<PlaneCurve>,
}

/// The foot of the point, in the axes of the first marker.
struct Foot {
    place: f64,
    distance: f64,
    tangent: Vec3,
    normal: Vec3,
    curvature: f64,
}

impl PointOnCurve {
    /// Of the second marker on a curve that is fixed to the first.
    pub fn new(ends: [Marker; 2], curve: PlaneCurve) -> Self {
        Self {
            ends: Ends::of(ends),
            curve: Arc::new(curve),
        }
    }

    fn foot(&self, g: &Geometry, at: &At<'_>) -> Foot {
        let seen = g.axes[0].transpose_mul(g.between);
        let point = [seen[0], seen[1]];
        // The first value is a flag: at the start nothing is remembered.
        let place = match at.memory[0] {
            0.0 => self.curve.nearest(point),
            _ => self.curve.foot(point, at.memory[1]),
        };
        let [c, t, b] = self.curve.sample(place);
        let length = dot(t, t).sqrt();
        let [tx, ty] = t.map(|x| x / length);
        let away = [point[0] - c[0], point[1] - c[1]];
        Foot {
            place,
            distance: dot(away, [-ty, tx]),
            tangent: Vec3::new(tx, ty, 0.0),
            normal: Vec3::new(-ty, tx, 0.0),
            curvature: dot(b, [-ty, tx]) / (length * length),
        }
    }
}

impl Element for PointOnCurve {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
    }

    fn constraints(&self) -> usize {
        1
    }

    /// Whether the foot is known, and its place.
    fn memory(&self) -> usize {
        2
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let place = self.foot(&self.ends.geometry(at), at).place;
        memory.copy_from_slice(&[1.0, place]);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let g = self.ends.geometry(at);
        let foot = self.foot(&g, at);
        out.constraint(0, foot.distance);
        Gradient::along(&g, foot.normal).load(-at.multipliers[0], out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let g = self.ends.geometry(at);
        let foot = self.foot(&g, at);
        let gradient = Gradient::along(&g, foot.normal);
        for node in 0..2 {
            out.constraint(0, node, gradient.position[node], gradient.rotation[node]);
        }
        let multiplier = at.multipliers[0] * weights.stiffness;
        add_along_hessian(&g, g.axes[0] * foot.normal * multiplier, out);
        let bend = -foot.curvature / (1.0 - foot.curvature * foot.distance);
        let across = Gradient::along(&g, foot.tangent);
        across.add_dyad(&across, multiplier * bend, out);
    }

    fn is_conservative(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circle(count: usize) -> PlaneCurve {
        let angle = |i: usize| std::f64::consts::TAU * i as f64 / count as f64;
        let points = (0..count).map(|i| [2.0 * angle(i).cos(), 2.0 * angle(i).sin()]);
        PlaneCurve::new(points.collect(), true).unwrap()
    }

    /// The spline of a circle has its radius and its curvature, to fourth and second order.
    #[test]
    fn a_circle_is_met() {
        for (count, radius_error, bend_error) in [(50, 2e-6, 2e-3), (100, 1.3e-7, 5e-4)] {
            let curve = circle(count);
            for i in 0..37 {
                let [c, t, b] = curve.sample(i as f64 * 1.37 - 3.0);
                assert!((c[0].hypot(c[1]) - 2.0).abs() < radius_error);
                let length = dot(t, t).sqrt();
                let curvature = (t[0] * b[1] - t[1] * b[0]) / length.powi(3);
                assert!((curvature - 0.5).abs() < bend_error, "{curvature}");
            }
        }
    }

    #[test]
    fn the_nearest_point_is_found_from_anywhere() {
        let curve = circle(60);
        for angle in [0.1, 1.0, 2.5, 4.0, 6.0_f64] {
            for radius in [1.2, 2.0, 3.3] {
                let point = [radius * angle.cos(), radius * angle.sin()];
                let [c, tangent, ..] = curve.sample(curve.nearest(point));
                // The line to the nearest point is at right angles to the curve.
                let along: f64 = (0..2).map(|i| (point[i] - c[i]) * tangent[i]).sum();
                assert!(along.abs() < 1e-8, "{along}");
                let found = c[1].atan2(c[0]).rem_euclid(std::f64::consts::TAU);
                // The spline is the circle but for the fourth power of its spacing.
                assert!((found - angle).abs() < 1e-4, "{found} {angle}");
            }
        }
    }

    #[test]
    fn an_open_curve_ends_straight() {
        let points = (0..6).map(|i| [f64::from(i), f64::from(i * i) * 0.1]);
        let curve = PlaneCurve::new(points.collect(), false).unwrap();
        assert_eq!(curve.sample(0.0)[2], [0.0; 2]);
        for (place, expected) in [(0.0, [0.0, 0.0]), (3.0, [3.0, 0.9]), (5.0, [5.0, 2.5])] {
            let [c, ..] = curve.sample(place);
            assert!((c[0] - expected[0]).abs() + (c[1] - expected[1]).abs() < 1e-14);
        }
        assert!(PlaneCurve::new(vec![[0.0; 2]; 5], false).is_none());
    }
}
