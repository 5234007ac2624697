//! A solid cylinder in a round can. The can is convex, and the cylinder the hull of its two rims: only points of the rims touch the wall.

use std::f64::consts::{FRAC_PI_2, PI, TAU};

use oldham_space::Vec3;

use crate::shape::Pose;

/// Places at which a rim is looked at first. Its distance from the axis of the can has at most two maxima.
const PLACES: usize = 16;
/// Halvings of the distance of two places.
const HALVINGS: usize = 48;
/// A rim whose distance from the axis varies by less, relative to its radius, is about the axis.
const CONCENTRIC: f64 = 1e-12;

/// Points of the rims that are farthest from the axis of the can, two for each rim, with codes. Where there is one such
/// point, the one across is the second: it is the next to touch.
pub fn farthest_of_rims(at: &Pose, half_length: f64, radius: f64, can: &Pose) -> [(u32, Vec3); 4] {
    let mut points = [(0, Vec3::ZERO); 4];
    for (rim, sign) in [-1.0, 1.0].into_iter().enumerate() {
        let local = |v: Vec3| can.axes.transpose_mul(v);
        let circle = Circle {
            centre: can.locate(at.position + at.axes.column(2) * (sign * half_length)),
            axes: [
                local(at.axes.column(0)) * radius,
                local(at.axes.column(1)) * radius,
            ],
        };
        let angles = circle.farthest(rim as f64 * FRAC_PI_2);
        for (which, angle) in angles.into_iter().enumerate() {
            let code = (2 * rim + which) as u32;
            points[2 * rim + which] = (code, can.place(circle.point(angle)));
        }
    }
    points
}

/// A circle in the frame of a can.
struct Circle {
    centre: Vec3,
    /// To the points at 0° and 90°.
    axes: [Vec3; 2],
}

impl Circle {
    fn point(&self, angle: f64) -> Vec3 {
        let (sin, cos) = angle.sin_cos();
        self.centre + self.axes[0] * cos + self.axes[1] * sin
    }

    /// The square of the distance from the axis of the can.
    fn square(&self, angle: f64) -> f64 {
        let [x, y, _] = self.point(angle).0;
        x * x + y * y
    }

    /// Whether that grows with the angle.
    fn grows(&self, angle: f64) -> bool {
        let (sin, cos) = angle.sin_cos();
        let [x, y, _] = self.point(angle).0;
        let along = self.axes[1] * cos - self.axes[0] * sin;
        x * along[0] + y * along[1] > 0.0
    }

    /// Angles of the two farthest points, the farther one first; `otherwise` and across where all are the same.
    fn farthest(&self, otherwise: f64) -> [f64; 2] {
        let place = |k: usize| TAU * k as f64 / PLACES as f64;
        let mut squares = [0.0; PLACES];
        for (k, square) in squares.iter_mut().enumerate() {
            *square = self.square(place(k));
        }
        let most = squares.iter().copied().fold(0.0, f64::max);
        let least = squares.iter().copied().fold(f64::INFINITY, f64::min);
        let size = self.axes[0].dot(self.axes[0]);
        if most - least <= CONCENTRIC * size.max(most) {
            return [otherwise, otherwise + PI];
        }
        let is_top = |k: usize| {
            let (before, after) = ((k + PLACES - 1) % PLACES, (k + 1) % PLACES);
            squares[k] >= squares[before] && squares[k] > squares[after]
        };
        let mut tops = [(f64::NEG_INFINITY, 0.0); 2];
        for angle in (0..PLACES)
            .filter(|&k| is_top(k))
            .map(|k| self.top_near(place(k)))
        {
            let found = (self.square(angle), angle);
            if found.0 > tops[0].0 {
                tops = [found, tops[0]];
            } else if found.0 > tops[1].0 {
                tops[1] = found;
            }
        }
        match tops {
            [first, (f64::NEG_INFINITY, _)] => [first.1, first.1 + PI],
            [first, second] => [first.1, second.1],
        }
    }

    /// The maximum within one place of an angle.
    fn top_near(&self, angle: f64) -> f64 {
        let mut step = TAU / PLACES as f64;
        let mut at = angle;
        for _ in 0..HALVINGS {
            step *= 0.5;
            at += if self.grows(at) { step } else { -step };
        }
        at
    }
}
