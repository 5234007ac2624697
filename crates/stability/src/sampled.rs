//! Models with parts that sample, as one linear system from sample to sample.
//!
//! Between samples continuous parts move on under outputs that are held, x' = F x + H h + P p, which the matrix
//! exponential does exactly. At a sample, parts read their inputs, set what they hold, and take their states to the
//! next one; what feeds what at the same time is solved at once. Where parts sample with different periods, the
//! linear system is that of the time after which all sample together again.

use nalgebra::DMatrix;

use crate::poles::{CoupledModel, Push, Readout};
use crate::recurrence::AnalysisError;

/// Parts of the shortest period that the others may be multiples of.
const MOST_PARTS: u32 = 20;
/// Ticks at most until all sample together.
const MOST_TICKS: u64 = 10_000;
/// Relative error up to which a ratio of periods is a whole number.
const WHOLE: f64 = 1e-9;

/// A linear system from sample to sample.
pub(crate) struct Discrete {
    /// A, B, C and D: the inputs are held from sample to sample, the outputs are those at the sample.
    pub matrices: [DMatrix<f64>; 4],
    /// The time from one state to the next in s.
    pub period: f64,
}

/// When parts sample, counted in ticks.
struct Ticks {
    length: f64,
    count: u64,
    every: Vec<Option<u64>>,
}

impl Ticks {
    fn new(periods: &[Option<f64>]) -> Result<Self, AnalysisError> {
        let known = || periods.iter().flatten().copied();
        let shortest = known().fold(f64::INFINITY, f64::min);
        let is_whole = |length: f64, period: f64| {
            let ratio = period / length;
            (ratio - ratio.round()).abs() < WHOLE * ratio
        };
        let mut parts = (1..=MOST_PARTS).map(|k| shortest / f64::from(k));
        let length = parts.find(|&length| known().all(|period| is_whole(length, period)));
        let length = length.ok_or(AnalysisError::SamplesApart)?;
        let ticks = |period: f64| (period / length).round() as u64;
        let every: Vec<Option<u64>> = periods.iter().map(|period| period.map(ticks)).collect();
        let mut count = 1;
        for &ticks in every.iter().flatten() {
            count *= ticks / greatest_divisor(count, ticks);
            if count > MOST_TICKS {
                return Err(AnalysisError::SamplesApart);
            }
        }
        Ok(Self {
            length,
            count,
            every,
        })
    }

    /// Which parts sample at a tick.
    fn at(&self, tick: u64) -> Vec<bool> {
        let samples = |every: &Option<u64>| every.is_some_and(|every| tick.is_multiple_of(every));
        self.every.iter().map(samples).collect()
    }
}

fn greatest_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => greatest_divisor(b, a % b),
    }
}

/// Everything as functions of (x, h, p): states, held outputs, pushes.
struct Joined<'a> {
    model: &'a CoupledModel,
    given: DMatrix<f64>,
    size: [usize; 3],
    /// For each output: is it of a part that samples? And for each state.
    outputs: Vec<usize>,
    states: Vec<usize>,
}

impl Joined<'_> {
    fn width(&self) -> usize {
        self.size.iter().sum()
    }

    /// Inputs and outputs where the outputs of some parts are as their equations say, and others held.
    fn signals(&self, is_fresh: &dyn Fn(usize) -> bool) -> Option<[DMatrix<f64>; 2]> {
        let [n, count, pushes] = self.size;
        let model = self.model;
        let mut direct = model.d.clone();
        let mut sent = DMatrix::zeros(count, self.width());
        for (output, &part) in self.outputs.iter().enumerate() {
            if is_fresh(part) {
                sent.view_mut((output, 0), (1, n))
                    .copy_from(&model.c.row(output));
            } else {
                direct.row_mut(output).fill(0.0);
                sent[(output, n + output)] = 1.0;
            }
        }
        let mut inputs = &model.wiring * &sent;
        let mut pushed = inputs.view_mut((0, n + count), (self.given.nrows(), pushes));
        pushed += &self.given;
        if inputs.nrows() > 0 {
            let loops = DMatrix::identity(inputs.nrows(), inputs.nrows()) - &model.wiring * &direct;
            inputs = loops.lu().solve(&inputs)?;
        }
        let outputs = sent + direct * &inputs;
        Some([inputs, outputs])
    }

    /// What a sample of some parts makes of everything.
    fn sample(&self, samples: &[bool]) -> Option<DMatrix<f64>> {
        let [n, count, _] = self.size;
        let is_fresh = |part: usize| self.model.samples[part].is_none() || samples[part];
        let [inputs, outputs] = self.signals(&is_fresh)?;
        let mut next = DMatrix::identity(self.width(), self.width());
        let taken = &self.model.b * &inputs;
        for (state, &part) in self.states.iter().enumerate() {
            if samples[part] {
                let mut row = taken.row(state).into_owned();
                let mut own = row.view_mut((0, 0), (1, n));
                own += self.model.a.row(state);
                next.set_row(state, &row);
            }
        }
        for (output, &part) in self.outputs.iter().enumerate() {
            if samples[part] || self.model.samples[part].is_none() {
                next.set_row(n + output, &outputs.row(output));
            }
        }
        debug_assert_eq!(next.nrows(), n + count + self.size[2]);
        Some(next)
    }

    /// What a time between samples makes of everything.
    fn flow(&self, time: f64) -> Option<DMatrix<f64>> {
        let n = self.size[0];
        let is_fresh = |part: usize| self.model.samples[part].is_none();
        let [inputs, _] = self.signals(&is_fresh)?;
        let moved = &self.model.b * &inputs;
        let mut rates = DMatrix::zeros(self.width(), self.width());
        for (state, &part) in self.states.iter().enumerate() {
            if is_fresh(part) {
                let mut row = moved.row(state).into_owned();
                let mut own = row.view_mut((0, 0), (1, n));
                own += self.model.a.row(state);
                rates.set_row(state, &row);
            }
        }
        Some((rates * time).exp())
    }
}

impl CoupledModel {
    /// Whether a part samples.
    pub fn is_sampled(&self) -> bool {
        self.samples.iter().any(Option::is_some)
    }

    /// From sample to sample, from pushes to inputs and readouts; connections have no delay.
    pub(crate) fn discrete(
        &self,
        pushes: &[Push],
        readouts: &[Readout],
    ) -> Result<Discrete, AnalysisError> {
        let ticks = Ticks::new(&self.samples)?;
        let (n, count) = (self.a.nrows(), self.c.nrows());
        let mut given = DMatrix::zeros(self.wiring.nrows(), pushes.len());
        for (column, push) in pushes.iter().enumerate() {
            match *push {
                Push::Input(part, component) => {
                    given[(self.starts[part.0].0 + component, column)] += 1.0;
                }
                Push::Sent(part, component) => {
                    let sent = self.wiring.column(self.starts[part.0].1 + component);
                    given.set_column(column, &sent);
                }
            }
        }
        let parts = self.states.len();
        let of_outputs = (0..parts).flat_map(|part| {
            let width = self.starts[part + 1].1 - self.starts[part].1;
            std::iter::repeat_n(part, width)
        });
        let of_states = (0..parts).flat_map(|part| std::iter::repeat_n(part, self.states[part]));
        let joined = Joined {
            model: self,
            given,
            size: [n, count, pushes.len()],
            outputs: of_outputs.collect(),
            states: of_states.collect(),
        };
        let mut whole = DMatrix::identity(joined.width(), joined.width());
        let flow = joined
            .flow(ticks.length)
            .ok_or(AnalysisError::AlgebraicLoop)?;
        for tick in 0..ticks.count {
            let samples = ticks.at(tick);
            if samples.contains(&true) {
                let sample = joined
                    .sample(&samples)
                    .ok_or(AnalysisError::AlgebraicLoop)?;
                whole = sample * whole;
            }
            whole = &flow * whole;
        }
        let [inputs, outputs] = joined
            .signals(&|_| true)
            .ok_or(AnalysisError::AlgebraicLoop)?;
        let mut shown = DMatrix::zeros(readouts.len(), joined.width());
        for (line, readout) in readouts.iter().enumerate() {
            match *readout {
                Readout::Input(part, component) => {
                    shown.set_row(line, &inputs.row(self.starts[part.0].0 + component));
                }
                Readout::Output(part, component) => {
                    shown.set_row(line, &outputs.row(self.starts[part.0].1 + component));
                }
            }
        }
        let block = |matrix: &DMatrix<f64>, rows: usize, from: usize, columns: usize| {
            matrix.view((0, from), (rows, columns)).into_owned()
        };
        Ok(Discrete {
            matrices: [
                block(&whole, n, 0, n),
                block(&whole, n, n + count, pushes.len()),
                block(&shown, readouts.len(), 0, n),
                block(&shown, readouts.len(), n + count, pushes.len()),
            ],
            period: ticks.length * ticks.count as f64,
        })
    }
}
