//! Signals and energy of a run, and how far two runs are apart.

use oldham_cosim::{Simulation, SubsystemId};
use oldham_results::plot::Series;

/// What was recorded of a run.
pub(crate) struct Track {
    pub times: Vec<f64>,
    /// Signal by signal.
    pub signals: Vec<Vec<f64>>,
    /// Stored energy, where all parts know theirs.
    pub energy: Vec<f64>,
    /// Whether the run ended before its time.
    pub failed: bool,
}

impl Track {
    /// Runs so many macro steps and records every one of them.
    pub fn of(simulation: &mut Simulation, signals: &[&str], steps: usize) -> Self {
        Self::every(simulation, signals, steps, 1)
    }

    /// Runs so many times `every` macro steps and records the last of each.
    pub fn every(simulation: &mut Simulation, signals: &[&str], rows: usize, every: u64) -> Self {
        let places: Vec<_> = signals.iter().map(|name| place(simulation, name)).collect();
        let mut track = Self {
            times: Vec::new(),
            signals: vec![Vec::new(); signals.len()],
            energy: Vec::new(),
            failed: false,
        };
        track.record(simulation, &places);
        for _ in 0..rows {
            if simulation.steps(every).is_err() {
                track.failed = true;
                break;
            }
            track.record(simulation, &places);
        }
        track
    }

    /// The same with every so many rows only.
    pub fn thinned(&self, every: usize) -> Self {
        let thin = |values: &[f64]| values.iter().step_by(every).copied().collect();
        Self {
            times: thin(&self.times),
            signals: self.signals.iter().map(|signal| thin(signal)).collect(),
            energy: thin(&self.energy),
            failed: self.failed,
        }
    }

    /// The same between two times, as far as it goes.
    pub fn within(&self, from: f64, to: f64) -> Self {
        let first = self.times.partition_point(|t| *t < from);
        let end = self.times.partition_point(|t| *t <= to);
        let part = |values: &[f64]| values.get(first..end).unwrap_or_default().to_vec();
        Self {
            times: part(&self.times),
            signals: self.signals.iter().map(|signal| part(signal)).collect(),
            energy: part(&self.energy),
            failed: self.failed,
        }
    }

    fn record(&mut self, simulation: &mut Simulation, places: &[(SubsystemId, usize)]) {
        self.times.push(simulation.time());
        for (signal, &(part, component)) in self.signals.iter_mut().zip(places) {
            signal.push(simulation.outputs(part)[component]);
        }
        self.energy
            .extend(simulation.energy().map(|energy| energy.stored()));
    }

    /// One of the signals as a curve.
    pub fn curve(&self, signal: usize, label: &str) -> Series {
        Series::new(label, self.times.clone(), self.signals[signal].clone())
    }

    /// The difference of one of the signals to that of another run as a curve.
    pub fn error_curve(&self, signal: usize, reference: &Self, label: &str) -> Series {
        let pairs = self.signals[signal].iter().zip(&reference.signals[signal]);
        let errors: Vec<f64> = pairs.map(|(a, b)| a - b).collect();
        Series::new(label, self.times[..errors.len()].to_vec(), errors)
    }

    /// The largest of those differences.
    pub fn worst(&self, signal: usize, reference: &Self) -> f64 {
        let pairs = self.signals[signal].iter().zip(&reference.signals[signal]);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    }

    /// The root of the mean square of those differences (Peiret et al. 2020, Eq. 55). Infinite for a
    /// run that failed.
    pub fn rms(&self, signal: usize, reference: &Self) -> f64 {
        if self.failed {
            return f64::INFINITY;
        }
        let pairs = self.signals[signal].iter().zip(&reference.signals[signal]);
        let squares: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
        (squares / self.times.len() as f64).sqrt()
    }

    /// The root of the mean square of a signal.
    pub fn size(&self, signal: usize) -> f64 {
        let squares: f64 = self.signals[signal].iter().map(|x| x * x).sum();
        (squares / self.times.len() as f64).sqrt()
    }

    /// Relative difference of the energy to that of another run, step by step.
    pub fn energy_errors(&self, reference: &Self) -> Vec<f64> {
        let pairs = self.energy.iter().zip(&reference.energy);
        pairs.map(|(a, b)| (a - b) / b).collect()
    }

    /// Normalised squared error, Eq. 21: the mean over the signals of the sum over the steps of
    /// squared errors in units of the signal's variance. Infinite for a run that failed.
    pub fn nmse(&self, reference: &Self) -> f64 {
        if self.failed {
            return f64::INFINITY;
        }
        let one = |(own, reference): (&Vec<f64>, &Vec<f64>)| {
            let squares = own.iter().zip(reference).map(|(a, b)| (a - b) * (a - b));
            squares.sum::<f64>() / variance(reference)
        };
        let each = self.signals.iter().zip(&reference.signals).map(one);
        each.sum::<f64>() / self.signals.len() as f64
    }
}

fn variance(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / count
}

/// Where a signal such as `left.x1` is, in a coupled simulation or in its monolithic model.
fn place(simulation: &Simulation, signal: &str) -> (SubsystemId, usize) {
    for (index, part) in simulation.names().enumerate() {
        let ports = simulation.ports(SubsystemId(index));
        for component in 0..ports.output_width() {
            let inner = ports.output_component_name(component);
            let name = match part {
                "" => inner,
                _ => format!("{part}.{inner}"),
            };
            if name == signal {
                return (SubsystemId(index), component);
            }
        }
    }
    panic!("the paper's model has no signal `{signal}`");
}
