//! Spectral radii over a grid of two parameters, and the border of stability along one.

use std::sync::atomic::{AtomicUsize, Ordering};

use oldham_cosim::Simulation;

use crate::spectrum::{Decision, STABLE, Spectrum};

/// Bisections after which a border is known to twelve digits.
const BISECTIONS: usize = 45;

/// The spectral radius of a simulation; not a number where it cannot be analysed. Where no growth
/// was found it is at most one, however vague the radius is.
pub fn radius(simulation: &mut Simulation) -> f64 {
    match Spectrum::glance(simulation) {
        Ok(spectrum) => match spectrum.decision() {
            Decision::Unstable => spectrum.radius(),
            Decision::Stable | Decision::Undecided => spectrum.radius().min(1.0),
        },
        Err(_) => f64::NAN,
    }
}

/// Whether a spectral radius counts as stable.
pub fn is_stable(radius: f64) -> bool {
    radius <= STABLE
}

/// The radius at every point of a grid, row by row: `x` varies fastest.
///
/// `build` makes the simulation at a point, or nothing where there is none; `progress` is told
/// how many points are done. Points are shared among the threads as they become free; each is
/// computed by one thread alone, so the result does not depend on their number.
pub fn map(
    x: &[f64],
    y: &[f64],
    threads: usize,
    build: impl Fn(f64, f64) -> Option<Simulation> + Sync,
    progress: impl Fn(usize) + Sync,
) -> Vec<f64> {
    let points = x.len() * y.len();
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let work = || {
        let mut found = Vec::new();
        loop {
            let point = next.fetch_add(1, Ordering::Relaxed);
            if point >= points {
                return found;
            }
            let simulation = build(x[point % x.len()], y[point / x.len()]);
            let value = simulation.map_or(f64::NAN, |mut simulation| radius(&mut simulation));
            found.push((point, value));
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
        }
    };
    let mut radii = vec![f64::NAN; points];
    std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(work)).collect();
        let mut found = work();
        for other in others {
            found.extend(other.join().expect("a worker does not panic"));
        }
        for (point, value) in found {
            radii[point] = value;
        }
    });
    radii
}

/// The value between `low` and `high` at which stability changes; nothing if both ends agree.
/// Bisection is geometric where both ends are positive.
pub fn critical(low: f64, high: f64, build: impl Fn(f64) -> Option<Simulation>) -> Option<f64> {
    let stable_at = |value: f64| build(value).map(|mut s| is_stable(radius(&mut s)));
    let (mut low, mut high) = (low, high);
    let at_low = stable_at(low)?;
    if stable_at(high)? == at_low {
        return None;
    }
    for _ in 0..BISECTIONS {
        let middle = if low > 0.0 && high > 0.0 {
            (low * high).sqrt()
        } else {
            0.5 * (low + high)
        };
        if stable_at(middle)? == at_low {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}
