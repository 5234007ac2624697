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
    let budget = &TimeBudget::new(granted);
    let periods = STEPS.div_ceil(simulation.period()).max(PERIODS);
    let path = Path::ahead(simulation, periods, budget)?;
    let mut most: Option<Followed> = None;
    for seed in SEEDS {
        let signs = Random(seed).signs(path.sizes.len());
        let change: Vec<f64> = signs.iter().zip(&path.sizes).map(|(s, z)| s * z).collect();
        match path.follow(simulation, &change, budget) {
            Ok(found) if most.is_none_or(|most| found.factor > most.factor) => most = Some(found),
            Ok(_) => {}
            // One that was followed is more than none.
            Err(error) if most.is_none() => return Err(error),
            Err(_) => break,
        }
    }
    path.start.base().restore(simulation);
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
    let budget = &TimeBudget::new(granted);
    let found = prepare(simulation)
        .and_then(|()| Path::ahead(simulation, periods, budget))
        .and_then(|path| path.follow(simulation, mode, budget));
    Some(found)
}

/// The motion along which differences are followed.
struct Path {
    start: Chart,
    sizes: Vec<f64>,
    /// Macro steps up to each of two points on the way, and the states there.
    stretches: [u64; 2],
    images: [Chart; 2],
}

impl Path {
    /// From the present state on, where the simulation is left. A motion that fails on the way is followed as far as it
    /// goes: what it does until then says more than nothing.
    fn ahead(
        simulation: &mut Simulation,
        periods: u64,
        budget: &TimeBudget,
    ) -> Result<Self, AnalysisError> {
        let start = Chart::about(simulation);
        let sizes = probe_sizes(simulation, &start);
        let period = simulation.period();
        let mut periods = periods;
        loop {
            let steps = periods * period;
            let settling = (steps / SETTLING / period).max(1) * period;
            let stretches = [settling, steps - settling];
            let mut reach = |stretch| {
                take(simulation, stretch, budget)?;
                Ok(Chart::about(simulation))
            };
            let images = reach(settling).and_then(|first| Ok([first, reach(stretches[1])?]));
            start.base().restore(simulation);
            match images {
                Ok(images) => {
                    return Ok(Self {
                        start,
                        sizes,
                        stretches,
                        images,
                    });
                }
                Err(AnalysisError::Fault(_)) if periods > PERIODS => {
                    periods = (periods / 2).max(PERIODS);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// What becomes of a difference. The simulation is left where the path begins.
    fn follow(
        &self,
        simulation: &mut Simulation,
        change: &[f64],
        budget: &TimeBudget,
    ) -> Result<Followed, AnalysisError> {
        let change: Vec<f64> = change.iter().map(|change| SMALL * change).collect();
        self.start.apply(simulation, &change);
        let mut lengths = [0.0; 2];
        let mut led = vec![0.0; self.sizes.len()];
        let stretches = self.images.iter().zip(self.stretches);
        for (length, (image, stretch)) in lengths.iter_mut().zip(stretches) {
            take(simulation, stretch, budget)?;
            image.read(simulation, &mut led);
            *length = length_of(&led, &self.sizes);
        }
        self.start.base().restore(simulation);
        let first = length_of(&change, &self.sizes);
        Ok(Followed {
            factor: lengths[1] / lengths[0].max(DECAYED * first).max(f64::MIN_POSITIVE),
            steps: self.stretches[1],
        })
    }
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
