//! Spectral radii over a grid of two parameters, and the border of stability along one.

use std::sync::atomic::{AtomicUsize, Ordering};

use oldham_cosim::Simulation;

use crate::pattern::Pattern;
use crate::spectrum::{Decision, STABLE, Spectrum};
use crate::spread::spread;

/// Bisections at most, and how well a border is known then.
const BISECTIONS: usize = 45;
const KNOWN: f64 = 1e-10;

/// Points from which on more than two are worth a closer look.
const MANY: usize = 64;

/// The spectral radius of a simulation; NaN where it cannot be analysed, where it is not decided whether a mode grows, or
/// where something is at a limit. Where nothing grows it is at most one, however vague the radius is.
pub fn radius(simulation: &mut Simulation) -> f64 {
    radius_with(simulation, &Pattern::default())
}

fn radius_with(simulation: &mut Simulation, pattern: &Pattern) -> f64 {
    let found = Spectrum::quick(simulation, pattern);
    // A loop that is open at a limit says nothing of the loop.
    if simulation
        .switches()
        .is_ok_and(|found| !found.saturated().is_empty())
    {
        return f64::NAN;
    }
    match found {
        Ok((mode, Decision::Unstable)) => mode.value.norm(),
        Ok((mode, Decision::Stable)) => mode.value.norm().min(1.0),
        Ok((_, Decision::Undecided)) | Err(_) => f64::NAN,
    }
}

/// Whether a spectral radius counts as stable.
pub fn is_stable(radius: f64) -> bool {
    radius <= STABLE
}

/// The radius at every point of a grid, row by row: `x` varies fastest.
///
/// `build` makes the simulation at a point, or nothing where there is none; `progress` is told
/// how many points are done. The result does not depend on the number of threads.
pub fn map(
    x: &[f64],
    y: &[f64],
    threads: usize,
    build: impl Fn(f64, f64) -> Option<Simulation> + Sync,
    progress: impl Fn(usize) + Sync,
) -> Vec<f64> {
    let points = x.len() * y.len();
    let simulation_at = |point: usize| build(x[point % x.len()], y[point / x.len()]);
    let pattern = match points {
        0 | 1 => Pattern::default(),
        _ => Pattern::of_simulations(samples(x.len(), y.len()).filter_map(simulation_at)),
    };
    let done = AtomicUsize::new(0);
    let places: Vec<usize> = (0..points).collect();
    spread(&places, threads, |&point| {
        let radius = simulation_at(point).map_or(f64::NAN, |mut simulation| {
            radius_with(&mut simulation, &pattern)
        });
        progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        radius
    })
}

/// Points of a grid at which it is found out what all have in common: the corners, and one inside
/// that is on no diagonal.
fn samples(columns: usize, rows: usize) -> impl Iterator<Item = usize> {
    let (right, top) = (columns - 1, (rows - 1) * columns);
    let inside = rows / 3 * columns + columns / 2;
    let mut places = vec![0, top + right, right, top, inside];
    if columns * rows < MANY {
        places.truncate(2);
    }
    places.sort_unstable();
    places.dedup();
    places.into_iter()
}

/// What is known of one value of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// No mode grows.
    Stable,
    /// A mode grows.
    Unstable,
    /// It could not be analysed, or that did not decide.
    Unknown,
}

impl Point {
    fn at(simulation: Option<Simulation>) -> Self {
        let radius = simulation.map_or(f64::NAN, |mut simulation| radius(&mut simulation));
        match radius {
            radius if radius.is_nan() => Self::Unknown,
            radius if is_stable(radius) => Self::Stable,
            _ => Self::Unstable,
        }
    }
}

/// A value at which stability changes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Border {
    /// The value.
    pub value: f64,
    /// Whether the model is stable below it, and unstable above.
    pub is_stable_below: bool,
}

/// What is known of a range.
#[derive(Clone, Debug, PartialEq)]
pub struct Borders {
    /// The values that were looked at first, and what was found there.
    pub samples: Vec<(f64, Point)>,
    /// Every change of stability between neighbouring samples.
    pub borders: Vec<Border>,
}

/// The middle of a range: geometric where both ends are positive.
fn between(low: f64, high: f64, share: f64) -> f64 {
    if low > 0.0 && high > 0.0 {
        low * (high / low).powf(share)
    } else {
        low + share * (high - low)
    }
}

/// Looks at so many values from `low` to `high` and finds every border between neighbours of which
/// one is stable and the other is not. Where a bisection comes to a value that cannot be analysed
/// it ends there: the border is not known better.
pub fn borders(
    low: f64,
    high: f64,
    samples: usize,
    build: impl Fn(f64) -> Option<Simulation>,
) -> Borders {
    borders_among(low, high, samples, |value| value, build)
}

/// The same where not every value is possible, with the nearest one that is. Then the last one that
/// is stable is the border.
pub fn borders_among(
    low: f64,
    high: f64,
    samples: usize,
    nearest: impl Fn(f64) -> f64,
    build: impl Fn(f64) -> Option<Simulation>,
) -> Borders {
    let last = samples.max(2) - 1;
    let value = |k: usize| match k {
        0 => low,
        k if k == last => high,
        k => nearest(between(low, high, k as f64 / last as f64)),
    };
    let mut values: Vec<f64> = (0..=last).map(value).collect();
    values.dedup();
    let samples: Vec<(f64, Point)> = values
        .into_iter()
        .map(|value| (value, Point::at(build(value))))
        .collect();
    let mut borders = Vec::new();
    for pair in samples.windows(2) {
        let [(low, below), (high, above)] = [pair[0], pair[1]];
        if below != above && below != Point::Unknown && above != Point::Unknown {
            borders.push(Border {
                value: bisect(low, high, below, &nearest, &build),
                is_stable_below: below == Point::Stable,
            });
        }
    }
    Borders { samples, borders }
}

fn bisect(
    low: f64,
    high: f64,
    below: Point,
    nearest: impl Fn(f64) -> f64,
    build: impl Fn(f64) -> Option<Simulation>,
) -> f64 {
    let (mut low, mut high) = (low, high);
    for _ in 0..BISECTIONS {
        if (high - low).abs() <= KNOWN * high.abs() {
            break;
        }
        let middle = nearest(between(low, high, 0.5));
        if middle == low || middle == high {
            return if below == Point::Stable { low } else { high };
        }
        match Point::at(build(middle)) {
            Point::Unknown => break,
            point if point == below => low = middle,
            _ => high = middle,
        }
    }
    0.5 * (low + high)
}

/// The value between `low` and `high` at which stability changes; nothing if both ends agree or
/// one of them cannot be analysed. Bisection is geometric where both ends are positive.
pub fn critical(low: f64, high: f64, build: impl Fn(f64) -> Option<Simulation>) -> Option<f64> {
    let found = borders(low, high, 2, build).borders;
    found.first().map(|border| border.value)
}
