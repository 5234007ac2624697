//! What becomes of a small difference along the motion.
//!
//! A recurrence about a state says what the state's own step would do if it were repeated. The motion
//! goes on to other states: two runs that differ by next to nothing show what it does to a difference.

use std::time::Duration;

use oldham_cosim::{Chart, Simulation};

use crate::probing::probe_sizes;
use crate::random::Random;
use crate::recurrence::{AnalysisError, TimeBudget, prepare};
use crate::spectrum::Spectrum;

/// Macro steps over which a difference is followed, at least a few periods.
const STEPS: u64 = 200;
const PERIODS: u64 = 8;
/// The part of them after which a difference is one of a motion: not all coordinates of the first
/// belong to one.
const SETTLING: u64 = 4;
/// Seeds of the differences: one alone may have little of what grows.
const SEEDS: [u64; 3] = [1, 2, 3];
/// The difference, relative to the probes of a matrix.
const SMALL: f64 = 1e-5;
/// Share of the first difference below which what is left of it is lost in rounding.
const DECAYED: f64 = 1e-2;
/// Steps between two looks at the clock.
const AT_ONCE: u64 = 20;

/// What became of a small difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Followed {
    /// Its size after the time over its size after a quarter of it, or over a hundredth of what it was at
    /// first, if it has decayed by more.
    pub factor: f64,
    /// Macro steps between these two.
    pub steps: u64,
}

/// Follows small random differences from the present state on, where the simulation is left: what becomes of that which
/// grows most.
pub fn follow(
    simulation: &mut Simulation,
    granted: Option<Duration>,
) -> Result<Followed, AnalysisError> {
    prepare(simulation)?;
    let periods = STEPS.div_ceil(simulation.period()).max(PERIODS);
    let start = Chart::about(simulation);
    let sizes = probe_sizes(simulation, &start);
    let mut most: Option<Followed> = None;
    for seed in SEEDS {
        let signs = Random(seed).signs(start.dimension());
        let change: Vec<f64> = signs.iter().zip(&sizes).map(|(s, z)| s * z).collect();
        match follow_change(simulation, &change, periods, granted) {
            Ok(found) if most.is_none_or(|most| found.factor > most.factor) => most = Some(found),
            Ok(_) => {}
            // One that was followed is more than none.
            Err(error) if most.is_none() => return Err(error),
            Err(_) => break,
        }
    }
    start.base().restore(simulation);
    Ok(most.expect("the first one was followed, or is the error"))
}

/// Follows a small difference along the dominant mode of a spectrum over so many periods; nothing where its shape is not
/// known.
pub fn follow_mode(
    simulation: &mut Simulation,
    spectrum: &Spectrum,
    periods: u64,
    granted: Option<Duration>,
) -> Option<Result<Followed, AnalysisError>> {
    let mode = spectrum.shape()?;
    let found = prepare(simulation);
    Some(found.and_then(|()| follow_change(simulation, mode, periods, granted)))
}

fn follow_change(
    simulation: &mut Simulation,
    change: &[f64],
    periods: u64,
    granted: Option<Duration>,
) -> Result<Followed, AnalysisError> {
    let budget = &TimeBudget::new(granted);
    let start = Chart::about(simulation);
    let period = simulation.period();
    let steps = periods * period;
    let settling = (steps / SETTLING / period).max(1) * period;
    let sizes = probe_sizes(simulation, &start);
    let change: Vec<f64> = change.iter().map(|change| SMALL * change).collect();
    let mut images = Vec::with_capacity(2);
    for stretch in [settling, steps - settling] {
        take(simulation, stretch, budget)?;
        images.push(Chart::about(simulation));
    }
    start.apply(simulation, &change);
    let mut lengths = [0.0; 2];
    let mut led = vec![0.0; sizes.len()];
    for ((length, image), stretch) in lengths
        .iter_mut()
        .zip(&images)
        .zip([settling, steps - settling])
    {
        take(simulation, stretch, budget)?;
        image.read(simulation, &mut led);
        *length = length_of(&led, &sizes);
    }
    start.base().restore(simulation);
    let first = length_of(&change, &sizes);
    Ok(Followed {
        factor: lengths[1] / lengths[0].max(DECAYED * first).max(f64::MIN_POSITIVE),
        steps: steps - settling,
    })
}

/// The length of a difference, each coordinate in units of its probe.
fn length_of(difference: &[f64], sizes: &[f64]) -> f64 {
    let shares = difference.iter().zip(sizes);
    let squares = shares.map(|(change, size)| (change / size).powi(2));
    squares.sum::<f64>().sqrt()
}

fn take(simulation: &mut Simulation, steps: u64, budget: &TimeBudget) -> Result<(), AnalysisError> {
    for first in (0..steps).step_by(AT_ONCE as usize) {
        budget.allow(Duration::ZERO)?;
        simulation.steps((steps - first).min(AT_ONCE))?;
    }
    Ok(())
}

/// Whether the simulation is where a period of its steps leaves it, but for rounding: an equilibrium
/// of the whole. It is left where it is.
pub fn is_at_rest(simulation: &mut Simulation) -> Result<bool, AnalysisError> {
    let here = Chart::about(simulation);
    let sizes = probe_sizes(simulation, &here);
    let period = simulation.period();
    let stepped = simulation.steps(period);
    let mut moved = vec![0.0; sizes.len()];
    here.read(simulation, &mut moved);
    here.base().restore(simulation);
    stepped?;
    let mut changes = moved.iter().zip(&sizes);
    Ok(changes.all(|(change, size)| change.abs() <= STILL * size))
}

/// Change of a coordinate in a period, relative to its probe, that is none.
const STILL: f64 = 1e-3;
