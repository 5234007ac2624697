//! What is left of a function along a circle when the zeros that are known are divided out.

use std::f64::consts::PI;

use nalgebra::Complex;

type C = Complex<f64>;

/// Angle over which a slope is measured.
pub(super) const BESIDE: f64 = 1e-7;
/// Zeros that powers along the circle still tell apart.
pub(super) const MOST_MOMENTS: i64 = 12;
/// Zeros nearer than this may be one.
pub(super) const SAME: f64 = 1e-8;
/// Imaginary parts below this belong to real zeros.
pub(super) const REAL: f64 = 1e-9;

/// A zero, with nonnegative imaginary part: a conjugate pair if that is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Zero {
    pub at: C,
    /// How far that may be off.
    pub error: f64,
}

impl Zero {
    /// How many zeros it stands for.
    pub fn multiplicity(&self) -> usize {
        if self.at.im > 0.0 { 2 } else { 1 }
    }

    /// Whether another may be the same, found from elsewhere.
    pub fn is_same(&self, other: &Self) -> bool {
        (self.at - other.at).norm() <= SAME + self.error + other.error
    }
}

/// The function at a place of the circle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub angle: f64,
    /// The place, and one beside it.
    pub w: [C; 2],
    /// The logarithms there as evaluated.
    pub raw: [C; 2],
}

/// A segment of the circle.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArcSegment {
    pub ends: [Sample; 2],
    /// Whether a coarser look was smooth already.
    pub is_confirmed: bool,
}

/// What is left of a function when known zeros are divided out.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// The known zeros.
    pub zeros: Vec<Zero>,
}

impl Rest {
    /// Known zeros in a disc.
    pub fn met_within(&self, radius: f64) -> i64 {
        let met = self.zeros.iter().filter(|zero| zero.at.norm() < radius);
        met.map(|zero| zero.multiplicity() as i64).sum()
    }

    /// The logarithm of the rest.
    pub fn of(&self, w: C, raw: C) -> C {
        let mut sum = raw;
        let mut product = C::new(1.0, 0.0);
        let mut take = |factor: C| {
            product *= factor;
            let size = product.norm_sqr();
            if !(1e-100..1e100).contains(&size) {
                sum += product.ln();
                product = C::new(1.0, 0.0);
            }
        };
        for zero in &self.zeros {
            take((w - zero.at).inv());
            if zero.at.im > 0.0 {
                take((w - zero.at.conj()).inv());
            }
        }
        sum + product.ln()
    }

    /// About where so many zeros are that were not met yet, in the upper half plane: integrals of
    /// powers along the circle are the sums of the powers of the zeros, from which Newton's identities
    /// make their polynomial.
    pub fn by_moments(&self, done: &[ArcSegment], missing: i64) -> Vec<C> {
        if !(1..=MOST_MOMENTS).contains(&missing) {
            return Vec::new();
        }
        let mut sums = vec![0.0; missing as usize];
        for ArcSegment { ends, .. } in done {
            let [a, b] = ends.map(|sample| self.of(sample.w[0], sample.raw[0]));
            let change = C::new(b.re - a.re, self.turn(ends));
            let mut powers = ends.map(|sample| sample.w[0]);
            for sum in &mut sums {
                // The lower half circle adds the conjugate.
                *sum += (0.5 * (powers[0] + powers[1]) * change).im / PI;
                powers = [powers[0] * ends[0].w[0], powers[1] * ends[1].w[0]];
            }
        }
        let mut elementary = vec![1.0];
        for k in 1..=sums.len() {
            let terms = (1..=k).map(|i| {
                let sign = if i % 2 == 1 { 1.0 } else { -1.0 };
                sign * elementary[k - i] * sums[i - 1]
            });
            elementary.push(terms.sum::<f64>() / k as f64);
        }
        let coefficient = |k: usize| {
            let from_top = sums.len() - k;
            let sign = if from_top % 2 == 1 { -1.0 } else { 1.0 };
            C::new(sign * elementary[from_top], 0.0)
        };
        let polynomial: Vec<C> = (0..=sums.len()).map(coefficient).collect();
        let zeros = super::operator::roots(&polynomial).into_iter();
        zeros.filter(|zero| zero.im > -REAL).collect()
    }

    /// The logarithm at a sample, and its slope along the circle.
    pub fn with_slope(&self, sample: &Sample) -> [C; 2] {
        let [here, beside] = [0, 1].map(|i| self.of(sample.w[i], sample.raw[i]));
        let change = C::new(beside.re - here.re, wrapped(beside.im - here.im));
        [here, change / BESIDE]
    }

    /// How far the phase turns from one sample to the next, whole turns by the slopes.
    pub fn turn(&self, ends: &[Sample; 2]) -> f64 {
        let [a, b] = [0, 1].map(|i| self.with_slope(&ends[i]));
        let expected = 0.5 * (a[1] + b[1]).im * (ends[1].angle - ends[0].angle);
        expected + wrapped(b[0].im - a[0].im - expected)
    }

    /// By how much logarithm and slopes do not agree on the halves of a segment.
    pub fn roughness(&self, segment: &ArcSegment, middle: &Sample) -> f64 {
        let [from, to] = &segment.ends;
        let [a, m, b] = [from, middle, to].map(|sample| self.with_slope(sample));
        let half = middle.angle - from.angle;
        let off = |start: [C; 2], end: [C; 2]| {
            let expected = (start[1] + end[1]) * (0.5 * half);
            let off = end[0] - start[0] - expected;
            C::new(off.re, wrapped(off.im)).norm()
        };
        let bend = (m[1] - (a[1] + b[1]) * 0.5) * half;
        // NaN is not smooth.
        let most = |most: f64, off: f64| {
            if off.is_nan() {
                f64::INFINITY
            } else {
                most.max(off)
            }
        };
        [off(a, m), off(m, b), bend.norm()]
            .into_iter()
            .fold(0.0, most)
    }
}

/// An angle less its whole turns.
pub(super) fn wrapped(angle: f64) -> f64 {
    angle - 2.0 * PI * (angle / (2.0 * PI)).round()
}
