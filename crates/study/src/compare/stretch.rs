//! Runs taken a stretch at a time, and what is kept of them.

use oldham_cosim::{Cancel, InMemory, Outcome, Run, Simulation};
use oldham_model::Model;

/// Values of a stretch that are held at a time, roughly.
const HELD: u64 = 1 << 18;
/// The energy bound is looked at after so many steps: stretches are whole multiples, so that a run
/// in stretches ends where a run in one go does.
const WATCHED: u64 = 64;
/// Memory for curves, in samples over all signals and variants.
const SAMPLES: u64 = 1 << 21;
/// Parts of a run of which a curve keeps its extremes.
const PARTS: std::ops::RangeInclusive<u64> = 64..=800;

/// How a variant and its reference advance together.
pub struct Pace {
    /// Macro steps between rows.
    pub every: u64,
    /// Macro steps at a time.
    pub stretch: u64,
    steps: u64,
    threads: usize,
    energy_bound: Option<f64>,
}

impl Pace {
    pub fn of(model: &Model, columns: usize) -> Self {
        let every = model.record_every();
        let unit = every * WATCHED;
        let fitting = HELD / (columns.max(1) as u64 * WATCHED);
        Self {
            every,
            stretch: unit * fitting.max(1),
            steps: model.steps(),
            threads: model.threads(),
            energy_bound: model.energy_bound(),
        }
    }

    /// Rows of the whole run, the initial one included.
    pub fn rows(&self) -> u64 {
        self.steps.div_ceil(self.every) + 1
    }

    /// The same with steps that are finer by this factor, and rows at the same times.
    pub fn refined(&self, finer: u64) -> Self {
        Self {
            every: self.every * finer,
            stretch: self.stretch * finer,
            steps: self.steps * finer,
            ..*self
        }
    }

    /// The same with fewer rows by this factor.
    pub fn rarer(self, factor: u64) -> Self {
        Self {
            every: self.every * factor,
            stretch: self.stretch * factor,
            ..self
        }
    }

    /// So many steps, these columns recorded.
    pub fn advance(
        &self,
        simulation: &mut Simulation,
        columns: &[usize],
        steps: u64,
        cancel: Option<&Cancel>,
    ) -> (InMemory, Outcome) {
        let mut rows = InMemory::default();
        let outcome = simulation.run(Run {
            threads: self.threads,
            record_every: self.every,
            record_columns: Some(columns.to_vec()),
            energy_bound: self.energy_bound,
            cancel: cancel.cloned(),
            ..Run::new(steps, &mut rows)
        });
        (rows, outcome)
    }
}

/// One signal beside its reference: sums for the error, extremes for the picture.
pub struct Channel {
    count: u64,
    squares: f64,
    low: f64,
    high: f64,
    /// The largest magnitude of the reference.
    pub size: f64,
    last: Option<(f64, f64)>,
    track: Option<Track>,
}

impl Channel {
    /// A channel whose curve is kept, if it is followed: the number of curves in all and the rows
    /// of the run say how finely.
    pub fn new(followed: Option<(usize, u64)>) -> Self {
        Self {
            count: 0,
            squares: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            size: 0.0,
            last: None,
            track: followed.map(|(curves, rows)| Track::new(curves, rows)),
        }
    }

    /// Adds a value beside that of the reference.
    pub fn take(&mut self, time: f64, value: f64, reference: f64) {
        self.count += 1;
        self.squares += (value - reference).powi(2);
        self.low = self.low.min(reference);
        self.high = self.high.max(reference);
        // Unlike `max`, this keeps a reference that is NaN.
        if reference.abs() > self.size || reference.is_nan() {
            self.size = reference.abs();
        }
        self.last = Some((value, reference));
        if let Some(track) = &mut self.track {
            track.take(Sample {
                time,
                value,
                reference,
            });
        }
    }

    /// Whether there is a reference at all times.
    pub fn is_defined(&self) -> bool {
        self.count > 0 && self.size.is_finite()
    }

    /// Root mean square difference.
    pub fn rms(&self) -> f64 {
        (self.squares / self.count as f64).sqrt()
    }

    /// The distance between the reference's largest and smallest value.
    pub fn range(&self) -> f64 {
        (self.high - self.low).max(0.0)
    }

    /// Normalised root mean square error (Tamellin 2022, Eq. 42), where it is defined: not for what is conserved, which
    /// only rounding moves.
    pub fn nrms(&self) -> Option<f64> {
        let variation = oldham_results::metrics::variation(self.low, self.high);
        (variation > 0.0).then(|| self.rms() / variation)
    }

    /// The last values of signal and reference.
    pub fn last(&self) -> Option<(f64, f64)> {
        self.last
    }

    /// What is drawn, in the order of time.
    pub fn samples(&self) -> Vec<Sample> {
        self.track.as_ref().map(Track::samples).unwrap_or_default()
    }
}

/// A signal and its reference at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// The time in s.
    pub time: f64,
    /// The signal.
    pub value: f64,
    /// The reference.
    pub reference: f64,
}

impl Sample {
    /// Signal less reference.
    pub fn difference(&self) -> f64 {
        self.value - self.reference
    }
}

/// The extremes of a signal and of its difference from the reference in each part of a run.
struct Track {
    rows_per_part: u64,
    row: u64,
    parts: Vec<[Sample; 4]>,
}

impl Track {
    fn new(curves: usize, rows: u64) -> Self {
        let fitting = SAMPLES / (4 * curves.max(1) as u64);
        let parts = fitting.clamp(*PARTS.start(), *PARTS.end());
        Self {
            rows_per_part: rows.div_ceil(parts).max(1),
            row: 0,
            parts: Vec::new(),
        }
    }

    fn take(&mut self, sample: Sample) {
        if self.row.is_multiple_of(self.rows_per_part) {
            self.parts.push([sample; 4]);
        }
        self.row += 1;
        let Some([lowest, highest, least, most]) = self.parts.last_mut() else {
            return;
        };
        if sample.value < lowest.value {
            *lowest = sample;
        }
        if sample.value > highest.value {
            *highest = sample;
        }
        if sample.difference() < least.difference() {
            *least = sample;
        }
        if sample.difference() > most.difference() {
            *most = sample;
        }
    }

    fn samples(&self) -> Vec<Sample> {
        let mut samples: Vec<Sample> = self.parts.iter().flatten().copied().collect();
        samples.sort_by(|a, b| a.time.total_cmp(&b.time));
        samples.dedup_by(|a, b| a.time == b.time);
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_signal_keeps_few_samples_and_all_its_extremes() {
        let rows = 1_000_000;
        let mut channel = Channel::new(Some((100, rows)));
        for row in 0..rows {
            let spike = if row == 700_003 { 1.0 } else { 0.0 };
            let wave = (row as f64 * 0.01).sin();
            channel.take(row as f64, wave + spike, wave);
        }
        let samples = channel.samples();
        assert!(samples.len() <= 4 * 800, "{}", samples.len());
        let most = samples
            .iter()
            .fold(0.0_f64, |most, s| most.max(s.difference().abs()));
        assert!((most - 1.0).abs() < 1e-15);
        assert!((channel.rms() - 1e-3).abs() < 1e-12);
        assert!((channel.range() - 2.0).abs() < 1e-4);
    }

    #[test]
    fn a_reference_that_is_no_number_is_none() {
        let mut channel = Channel::new(None);
        channel.take(0.0, 1.0, f64::NAN);
        channel.take(1.0, 1.0, 2.0);
        assert!(!channel.is_defined());
    }
}
