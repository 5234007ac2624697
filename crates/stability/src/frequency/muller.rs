//! One zero at a time, by Muller's method, and whether it is one.

use std::f64::consts::PI;

use nalgebra::Complex;

use super::rest::{REAL, Rest, SAME, Zero, wrapped};
use super::roots::Function;

type C = Complex<f64>;

const MULLER_STEPS: usize = 24;
/// Points about a zero by which it is told how many there are, and the turn over which the phase is
/// watched at each.
const DISC: usize = 8;
const TURN: f64 = 1e-3;
/// Steps towards several zeros at one place, and over which share of a step slopes are measured.
const GATHERED_STEPS: usize = 10;
const ASIDE: f64 = 0.01;
/// Zeros that are found to this error need no confirmation.
const CERTAIN: f64 = 1e-10;
/// Steps of Muller's method that may be rounding.
const NOISE: f64 = 1e-7;
/// How far aside of a zero, in terms of its error and at least, the function is how much larger.
const DEPTH: f64 = 1e3;
const NARROWEST: f64 = 1e-9;
const HOLE: f64 = 3.0;

impl Function<'_> {
    /// A zero of what is left of the function, by Muller's method from these points.
    pub fn muller(&self, points: [C; 3], logs: [C; 3], rest: &Rest) -> Option<Zero> {
        let found = match self.approach(points, logs, rest) {
            Some(found) if found.error < CERTAIN => found,
            vague => {
                let gathered = self.approach_gathered(points, rest);
                let both = vague.into_iter().chain(gathered);
                both.min_by(|a, b| a.error.total_cmp(&b.error))?
            }
        };
        // The steps are short too where the function is steep without being zero: beside many zeros it
        // falls by orders of magnitude. A zero is a hole.
        let aside = found.at + C::new(1.0, 1.0) * (DEPTH * found.error).max(NARROWEST);
        let depth = |w: C| rest.of(w, self.at(w)).re;
        (depth(aside) - depth(found.at) > HOLE).then_some(found)
    }

    /// Several zeros at one place, which Muller's method creeps towards: with any number of them the
    /// inverse of the slope of the logarithm has one there, to which Newton's method goes.
    fn approach_gathered(&self, points: [C; 3], rest: &Rest) -> Option<Zero> {
        let log = |w: C| rest.of(w, self.at(w));
        let mut at = points[2];
        let mut last = (points[1] - points[0]).norm();
        for _ in 0..GATHERED_STEPS {
            let aside = ASIDE * last.max(NARROWEST * ASIDE);
            let middle = log(at);
            let [up, down] = [aside, -aside].map(|aside| {
                let change = log(at + aside) - middle;
                C::new(change.re, wrapped(change.im))
            });
            let (slope, bend) = ((up - down) / (2.0 * aside), (up + down) / (aside * aside));
            let step = slope / bend;
            if !step.is_finite() || step.norm() > 1e3 * last {
                return None;
            }
            at += step;
            let size = step.norm();
            if size < CERTAIN * ASIDE || (size < NOISE && size >= 0.5 * last) {
                return Some(zero(at, 10.0 * size.min(last)));
            }
            last = size;
        }
        None
    }

    /// Where Muller's method ends, if it does.
    pub fn approach(&self, points: [C; 3], logs: [C; 3], rest: &Rest) -> Option<Zero> {
        let mut x = points;
        let mut logs = [0, 1, 2].map(|i| rest.of(points[i], logs[i]));
        let mut last = f64::INFINITY;
        for _ in 0..MULLER_STEPS {
            let scale = logs[2];
            let f = logs.map(|log| (log - scale).exp());
            let (h0, h1) = (x[1] - x[0], x[2] - x[1]);
            let (d0, d1) = ((f[1] - f[0]) / h0, (f[2] - f[1]) / h1);
            let a = (d1 - d0) / (h1 + h0);
            let b = a * h1 + d1;
            let c = f[2];
            let root = (b * b - a * c * 4.0).sqrt();
            let below = if (b + root).norm() > (b - root).norm() {
                b + root
            } else {
                b - root
            };
            let mut step = c * -2.0 / below;
            if !step.is_finite() {
                return None;
            }
            // Far extrapolations lead astray.
            let longest = 10.0 * (h1.norm() + h0.norm());
            if step.norm() > longest {
                step *= longest / step.norm();
            }
            let at = x[2] + step;
            let size = step.norm();
            // Rounding moves it no less than before: it is found.
            if size < 1e-14 * at.norm() || (size < NOISE && size >= 0.5 * last) {
                return Some(zero(at, 10.0 * size.min(last)));
            }
            last = size;
            let log = rest.of(at, self.at(at));
            if log.re == f64::NEG_INFINITY {
                return Some(zero(at, 1e-14));
            }
            if !log.is_finite() {
                return None;
            }
            x = [x[1], x[2], at];
            logs = [logs[1], logs[2], log];
        }
        (last < NOISE).then(|| zero(x[2], 10.0 * last))
    }

    /// Divides out a zero. Near a known one it may be what the error of that has left: then there
    /// is none in a small disc about it.
    pub fn add(&self, rest: &mut Rest, zero: Zero) {
        let is_near = |known: &Zero| (known.at - zero.at).norm() < SAME + 100.0 * zero.error;
        let nearest = rest
            .zeros
            .iter()
            .filter(|known| is_near(known))
            .map(|known| (known.at - zero.at).norm() + known.error)
            .fold(f64::NAN, f64::max);
        if nearest.is_nan() && zero.error < CERTAIN {
            rest.zeros.push(zero);
            return;
        }
        let radius = 10.0 * (nearest.max(0.0) + zero.error).max(1e-10);
        let found = self.count_about(zero.at, radius, rest).round();
        // Conjugates that are so near are counted, too.
        let is_pair = zero.at.im > 0.0 && zero.at.im < radius;
        let copies = if is_pair { 0.5 * found } else { found };
        rest.zeros
            .extend(std::iter::repeat_n(zero, copies.max(0.0) as usize));
    }

    /// How many zeros of the rest are in a small disc: the mean turn of the phase about it.
    pub fn count_about(&self, centre: C, radius: f64, rest: &Rest) -> f64 {
        let phase = |angle: f64| {
            let w = centre + C::from_polar(radius, angle);
            rest.of(w, self.at(w)).im
        };
        let turned = (0..DISC).map(|k| {
            let angle = 2.0 * PI * k as f64 / DISC as f64;
            wrapped(phase(angle + TURN) - phase(angle)) / TURN
        });
        turned.sum::<f64>() / DISC as f64
    }
}

/// A zero in the upper half plane.
fn zero(at: C, error: f64) -> Zero {
    let im = if at.im.abs() < REAL { 0.0 } else { at.im.abs() };
    Zero {
        at: C::new(at.re, im),
        error: error.max(1e-14),
    }
}
