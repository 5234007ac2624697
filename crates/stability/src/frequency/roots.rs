//! Zeros of an analytic function in a disc: how many, and where.
//!
//! The function is known by its logarithm, one dear evaluation at a time; it is real on the real
//! axis, so half a circle tells everything. It has no poles near the circle. Wherever it is not
//! smooth along the circle, the zero that makes it so is found by Muller's method and divided out,
//! until the rest is smooth. The phase of the rest along the circle counts the zeros that were not
//! met.

use std::f64::consts::PI;
use std::sync::atomic::{AtomicUsize, Ordering};

use nalgebra::Complex;

use crate::spread::spread;

use super::rest::{ArcSegment, BESIDE, MOST_MOMENTS, Rest, Sample, Zero, wrapped};

type C = Complex<f64>;

/// Segments of the half circle to begin with.
const SEGMENTS: usize = 128;
/// What the logarithm may change otherwise than its slopes say for a segment to count as smooth, and
/// to need no second look at its halves.
const SMOOTH: f64 = 0.5;
const SURE: f64 = 0.1;
/// Segments shorter than this are not divided.
const SHORTEST: f64 = 1e-9;
/// Points of the positive real axis: even ones, and the closer to the middle the denser ones, since
/// modes that grow by large factors are there.
const EVEN_POINTS: usize = 48;
const DENSE_POINTS: usize = 24;
const DENSE_RATIO: f64 = 0.8;
/// Segments longer than this are divided before a zero is looked for.
const LONGEST_HUNT: f64 = 0.02;
/// Open segments, for each to begin with, at which the function is noise rather than rough.
const MOST_OPEN: usize = 12;
/// Places of the circle below which zeros inside are looked for when all else has missed them, and how deep
/// in terms of the rate at which the phase turns there.
const MOST_PLACES: usize = 3;
const DEPTHS: [f64; 4] = [1.0, 0.5, 2.0, 0.2];
/// Circles smaller than this are far from all modes that the formula hardly damps.
const DEEP: f64 = 0.7;
/// Zeros that are looked for although the circle is smooth beside them, and slopes that tell of one.
const MOST_BESIDE: usize = 16;
const STEEP: f64 = 20.0;

/// A function by its logarithm.
pub(super) struct Function<'a> {
    pub log: &'a (dyn Fn(C) -> C + Sync),
    pub evaluations: AtomicUsize,
    pub threads: usize,
}

/// What a circle tells about the zeros inside, and about those near it.
pub(super) struct Census {
    radius: f64,
    rest: Rest,
    /// All of the circle, in pieces along which the rest is smooth.
    segments: Vec<ArcSegment>,
    /// Zeros inside, all of them.
    pub inside: usize,
}

impl Census {
    /// Zeros inside that were not found yet.
    pub fn missing(&self) -> usize {
        let met = self.rest.met_within(self.radius);
        self.inside.saturating_sub(met as usize)
    }

    /// The zeros that were found so far.
    pub fn found(self) -> Found {
        Found {
            zeros: self.rest.zeros,
            inside: self.inside,
        }
    }

    /// Whether those can be told apart from here; on smaller circles there are fewer.
    pub fn is_clear(&self) -> bool {
        self.missing() as i64 <= MOST_MOMENTS
    }
}

/// What a search found.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// Zeros near the circle, and those inside that could be found.
    pub zeros: Vec<Zero>,
    /// Zeros inside, all of them.
    pub inside: usize,
}

/// Why a search ended without a result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unresolved {
    /// The function is not smooth at this angle, and no zero explains it.
    At(f64),
    /// The phases do not add up to a number of zeros.
    Phase(f64),
    /// Out of time.
    TooLong,
}

impl Function<'_> {
    /// The logarithm, counted.
    pub fn at(&self, w: C) -> C {
        self.evaluations.fetch_add(1, Ordering::Relaxed);
        (self.log)(w)
    }

    fn samples(&self, angles: &[f64], radius: f64) -> Vec<Sample> {
        spread(angles, self.threads, |&angle| {
            let w = [angle, angle + BESIDE].map(|angle| C::from_polar(radius, angle));
            Sample {
                angle,
                w,
                raw: w.map(|w| self.at(w)),
            }
        })
    }

    /// The zeros in a disc of this radius, and beside it.
    pub fn zeros_within(
        &self,
        radius: f64,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Found, Unresolved> {
        let mut census = self.census(radius, goes_on)?;
        self.find_inside(&mut census, goes_on);
        if radius >= DEEP {
            self.find_beside(&mut census);
        }
        Ok(census.found())
    }

    /// How many zeros are in a disc of this radius; only those are found that are near its rim.
    pub fn census(&self, radius: f64, goes_on: &dyn Fn() -> bool) -> Result<Census, Unresolved> {
        let mut rest = Rest::default();
        // Deep inside there is nothing sharp.
        let segments = if radius < DEEP {
            SEGMENTS / 4
        } else {
            SEGMENTS
        };
        let angles: Vec<f64> = (0..=segments)
            .map(|i| PI * i as f64 / segments as f64)
            .collect();
        let samples = self.samples(&angles, radius);
        let mut open: Vec<ArcSegment> = samples
            .windows(2)
            .map(|ends| ArcSegment {
                ends: [ends[0], ends[1]],
                is_confirmed: false,
            })
            .collect();
        let most = MOST_OPEN * SEGMENTS;
        let mut done: Vec<ArcSegment> = Vec::new();
        while !open.is_empty() {
            if !goes_on() {
                return Err(Unresolved::TooLong);
            }
            if open.len() > most {
                return Err(Unresolved::At(open[open.len() / 2].ends[0].angle));
            }
            let middles: Vec<f64> = open
                .iter()
                .map(|segment| 0.5 * (segment.ends[0].angle + segment.ends[1].angle))
                .collect();
            let middles = self.samples(&middles, radius);
            let mut rough: Vec<(ArcSegment, Sample)> = Vec::new();
            let mut next: Vec<ArcSegment> = Vec::new();
            for (segment, middle) in open.into_iter().zip(middles) {
                match rest.roughness(&segment, &middle) {
                    roughness if roughness < SURE => done.extend(halves(segment, middle, true)),
                    roughness if roughness < SMOOTH => {
                        accept(segment, middle, &mut done, &mut next)
                    }
                    _ => rough.push((segment, middle)),
                }
            }
            let new = spread(&rough, self.threads, |(segment, middle)| {
                self.hunt(segment, middle, &rest)
            });
            for zero in new.into_iter().flatten() {
                self.add(&mut rest, zero);
            }
            for (segment, middle) in rough {
                let [a, b] = segment.ends;
                if rest.roughness(&segment, &middle) < SMOOTH {
                    accept(segment, middle, &mut done, &mut next);
                } else if b.angle - a.angle < SHORTEST {
                    return Err(Unresolved::At(middle.angle));
                } else {
                    next.extend(halves(segment, middle, false));
                }
            }
            open = next;
        }
        done.sort_by(|a, b| a.ends[0].angle.total_cmp(&b.ends[0].angle));
        let turned: f64 = done.iter().map(|segment| rest.turn(&segment.ends)).sum();
        let count = turned / PI;
        if (count - count.round()).abs() > 0.05 {
            return Err(Unresolved::Phase(count));
        }
        let inside = count.round() as i64 + rest.met_within(radius);
        if inside < 0 {
            return Err(Unresolved::Phase(inside as f64));
        }
        Ok(Census {
            radius,
            rest,
            segments: done,
            inside: inside as usize,
        })
    }

    /// Zeros inside that are not near the circle turn the phase slowly: they are looked for on the
    /// real axis, where powers along the circle say they are, and where the phase turns fastest.
    pub fn find_inside(&self, census: &mut Census, goes_on: &dyn Fn() -> bool) {
        let radius = census.radius;
        let inside = census.inside as i64;
        let (rest, done) = (&mut census.rest, &census.segments);
        if rest.met_within(radius) < inside {
            self.find_real(rest, radius);
        }
        // So many cannot be told apart from here: smaller circles have fewer.
        if inside - rest.met_within(radius) > MOST_MOMENTS {
            return;
        }
        let starts: Vec<[C; 3]> = rest
            .by_moments(done, inside - rest.met_within(radius))
            .into_iter()
            .map(|start| [start * 1.001, start * 0.999, start])
            .collect();
        self.meet(rest, radius, &starts, &|_, _| true);
        for place in 0..MOST_PLACES {
            if rest.met_within(radius) >= inside || !goes_on() {
                return;
            }
            let mut fastest: Vec<(f64, &ArcSegment)> = done
                .iter()
                .map(|segment| {
                    let [a, b] = &segment.ends;
                    (rest.turn(&segment.ends) / (b.angle - a.angle), segment)
                })
                .collect();
            fastest.sort_by(|a, b| b.0.total_cmp(&a.0));
            let (rate, segment) = fastest[place.min(fastest.len() - 1)];
            let depth = 1.0 / rate.max(1.0);
            let angle = 0.5 * (segment.ends[0].angle + segment.ends[1].angle);
            let starts = DEPTHS.map(|scale| {
                let start = C::from_polar(radius * (1.0 - scale * depth).max(0.02), angle);
                let aside = 0.1 * scale * depth;
                [start * (1.0 + aside), start, start * (1.0 - aside)]
            });
            self.meet(rest, radius, &starts, &|_, _| false);
        }
    }

    /// Zeros outside that leave the circle smooth, a few of them: where the slope is largest.
    fn find_beside(&self, census: &mut Census) {
        let (rest, done) = (&mut census.rest, &census.segments);
        let mut tried = vec![false; done.len()];
        for _ in 0..MOST_BESIDE {
            let slope = |place: &usize| rest.with_slope(&done[*place].ends[0])[1].norm();
            let untried = (0..done.len()).filter(|&place| !tried[place]);
            let steepest = untried.max_by(|a, b| slope(a).total_cmp(&slope(b)));
            let Some(place) = steepest.filter(|place| slope(place) > STEEP) else {
                return;
            };
            // Its neighbours would lead to the same zero.
            let near = place.saturating_sub(2)..(place + 3).min(done.len());
            tried[near].fill(true);
            let sample = &done[place].ends[0];
            let distance = 1.0 / slope(&place);
            let start = sample.w[0];
            let points = [
                start,
                start * (1.0 + 0.2 * distance),
                start * (1.0 + 0.5 * distance),
            ];
            let logs = [sample.raw[0], self.at(points[1]), self.at(points[2])];
            if let Some(zero) = self.muller(points, logs, rest)
                && (zero.at.norm() - 1.0).abs() < 1.0
            {
                self.add(rest, zero);
            }
        }
    }

    /// Between two points of the real axis where the function has different signs is a zero.
    fn find_real(&self, rest: &mut Rest, radius: f64) {
        let even = (2..=EVEN_POINTS)
            .rev()
            .map(|i| i as f64 / EVEN_POINTS as f64);
        let first = 1.0 / EVEN_POINTS as f64;
        let dense = (0..DENSE_POINTS).map(|i| first * DENSE_RATIO.powi(i as i32));
        let positive: Vec<f64> = even.chain(dense).map(|share| radius * share).collect();
        let negative = positive.iter().map(|x| -x);
        let points: Vec<C> = negative
            .chain(positive.iter().rev().copied())
            .map(C::from)
            .collect();
        let values = spread(&points, self.threads, |&w| self.at(w));
        let has_zero = |rest: &Rest, i: usize| {
            let [a, b] = [i, i + 1].map(|i| rest.of(points[i], values[i]));
            wrapped(b.im - a.im).abs() >= 0.5 * PI
        };
        let places: Vec<usize> = (0..points.len() - 1)
            .filter(|&i| has_zero(rest, i))
            .collect();
        let starts: Vec<[C; 3]> = places
            .iter()
            .map(|&i| [points[i], points[i + 1], 0.5 * (points[i] + points[i + 1])])
            .collect();
        self.meet(rest, radius, &starts, &|rest, i| has_zero(rest, places[i]));
    }

    /// Looks for zeros of a disc from several starts at once. Two may lead to the same: from the later
    /// one it is looked for another, if that is still worth it.
    fn meet(
        &self,
        rest: &mut Rest,
        radius: f64,
        starts: &[[C; 3]],
        is_worth_it: &dyn Fn(&Rest, usize) -> bool,
    ) {
        let from = |points: &[C; 3], rest: &Rest| {
            let found = self.muller(*points, points.map(|w| self.at(w)), rest);
            found.filter(|zero| zero.at.norm() < radius)
        };
        let found = spread(starts, self.threads, |points| from(points, rest));
        for (i, zero) in found.into_iter().enumerate() {
            let Some(zero) = zero else { continue };
            let known = rest.zeros.len();
            self.add(rest, zero);
            if rest.zeros.len() == known
                && is_worth_it(rest, i)
                && let Some(zero) = from(&starts[i], rest)
            {
                self.add(rest, zero);
            }
        }
    }

    /// The zero that keeps a segment from being smooth, if it is not far.
    fn hunt(&self, segment: &ArcSegment, middle: &Sample, rest: &Rest) -> Option<Zero> {
        let [a, b] = segment.ends;
        if b.angle - a.angle > LONGEST_HUNT {
            return None;
        }
        let samples = [&a, &b, middle];
        let points = samples.map(|sample| sample.w[0]);
        let zero = self.muller(points, samples.map(|sample| sample.raw[0]), rest)?;
        let reach = 3.0 * (points[1] - points[0]).norm() + 1e-12;
        let distance = |at: C| (at - points[2]).norm();
        (distance(zero.at) < reach || distance(zero.at.conj()) < reach).then_some(zero)
    }
}

fn halves(segment: ArcSegment, middle: Sample, is_confirmed: bool) -> [ArcSegment; 2] {
    let [a, b] = segment.ends;
    [[a, middle], [middle, b]].map(|ends| ArcSegment { ends, is_confirmed })
}

/// A segment that is smooth is looked at once more in its halves.
fn accept(
    segment: ArcSegment,
    middle: Sample,
    done: &mut Vec<ArcSegment>,
    next: &mut Vec<ArcSegment>,
) {
    let parts = halves(segment, middle, true);
    match segment.is_confirmed {
        true => done.extend(parts),
        false => next.extend(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(zeros: &[C], radius: f64) -> Found {
        let log = |w: C| {
            let factor = |&zero: &C| match zero.im > 0.0 {
                true => ((w - zero) * (w - zero.conj())).ln(),
                false => (w - zero).ln(),
            };
            zeros.iter().map(factor).sum::<C>() + w * 0.3
        };
        let function = Function {
            log: &log,
            evaluations: AtomicUsize::new(0),
            threads: 1,
        };
        function
            .zeros_within(radius, &|| true)
            .expect("it is smooth between its zeros")
    }

    /// Zeros deep inside, where the phase on the circle tells little about each.
    #[test]
    fn zeros_deep_inside_are_found() {
        let polar = [(0.3, 0.7), (0.35, 0.9), (0.5, 2.0), (0.2, 2.2), (0.6, 1.4)];
        let zeros: Vec<C> = polar.iter().map(|&(r, at)| C::from_polar(r, at)).collect();
        let found = count(&zeros, 1.0 - 1e-6);
        assert_eq!(found.inside, 10);
        for zero in &zeros {
            let nearest = found.zeros.iter().map(|other| (other.at - zero).norm());
            assert!(nearest.fold(1.0, f64::min) < 1e-9, "{zero}");
        }
    }

    /// Zeros a hair inside and outside, in clusters, some of them twice.
    #[test]
    fn zeros_are_counted_however_near_the_circle() {
        let mut zeros = Vec::new();
        let mut inside = 0;
        for k in 0..60 {
            let angle = 0.02 + 0.011 * k as f64;
            let outside = if k % 7 == 3 { -3e-6 } else { 1e-7 };
            inside += if k % 7 == 3 { 2 } else { 0 };
            zeros.push(C::from_polar(1.0 + outside, angle + 1e-5));
            if k % 5 == 0 {
                // As in the two planes of a round beam.
                zeros.push(C::from_polar(1.0 + 1e-7, angle + 0.002));
                zeros.push(C::from_polar(1.0 + 1e-7, angle + 0.002 + 1e-7));
            }
        }
        zeros.push(C::new(0.4, 0.0));
        zeros.push(C::from_polar(0.5, 2.0));
        let found = count(&zeros, 1.0 - 1e-6);
        assert_eq!(found.inside, inside + 3);
        for zero in &zeros {
            let nearest = found.zeros.iter().map(|other| (other.at - zero).norm());
            assert!(nearest.fold(1.0, f64::min) < 1e-9, "{zero}");
        }
    }
}
