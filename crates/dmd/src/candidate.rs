//! One model: its shape, the factor of its window, its coefficients.

use crate::factor::Size;
use crate::frames::Frames;
use crate::kinematics::Kinematics;
use crate::settings::ModelSize;
use crate::sliding::Sliding;
use crate::solver::Solver;

/// A model of the deviation from kinematics, linear in the newest and some earlier snapshots.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    shape: ModelSize,
    size: Size,
    sliding: Sliding,
    solver: Solver,
    /// One row for each received component.
    coefficients: Vec<f64>,
    rank: usize,
    solved: bool,
}

impl Candidate {
    pub fn new(shape: ModelSize, received: usize, sent: usize, truncation: f64) -> Self {
        let size = Size {
            columns: shape.columns(received + sent),
            sides: received,
        };
        let sliding = Sliding::new(shape.window, size);
        Self {
            shape: ModelSize {
                window: sliding.window(),
                ..shape
            },
            size,
            sliding,
            solver: Solver::new(size, truncation),
            coefficients: vec![0.0; size.columns * received],
            rank: 0,
            solved: false,
        }
    }

    pub fn shape(&self) -> ModelSize {
        self.shape
    }

    /// Entries of the vector that the model acts on.
    pub fn columns(&self) -> usize {
        self.size.columns
    }

    /// Rank of the data at the last solution.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Pairs in the window.
    pub fn pairs(&self) -> usize {
        self.sliding.rows_in_window()
    }

    /// Whether the data could determine every coefficient.
    pub fn is_determined(&self) -> bool {
        self.pairs() >= self.size.columns
    }

    /// Whether the newest pair was the first with which they could.
    pub fn is_just_determined(&self) -> bool {
        self.sliding.rows() == self.size.columns as u64
    }

    /// Snapshots that a window and the one being received need.
    pub fn snapshots(&self) -> usize {
        self.shape.window + self.shape.delays + 2
    }

    pub fn clear(&mut self) {
        self.sliding.clear();
        self.solved = false;
    }

    /// Takes up the pairs among the first `snapshots` snapshots that are still missing.
    pub fn learn(&mut self, frames: &Frames, kinematics: &Kinematics, snapshots: u64) {
        let pairs = snapshots.saturating_sub(1 + self.shape.delays as u64);
        while self.sliding.rows() < pairs {
            let (size, delays) = (self.size, self.shape.delays as u64);
            self.sliding
                .add(|number, row| write_pair(frames, kinematics, size, delays, number, row));
            self.solved = false;
        }
    }

    /// Learns anew from the first `snapshots` snapshots.
    pub fn relearn(&mut self, frames: &Frames, kinematics: &Kinematics, snapshots: u64) {
        let pairs = snapshots.saturating_sub(1 + self.shape.delays as u64);
        let (size, delays) = (self.size, self.shape.delays as u64);
        self.sliding.rebuild(pairs, |number, row| {
            write_pair(frames, kinematics, size, delays, number, row);
        });
        self.solved = false;
    }

    /// Fits the coefficients to the window, unless that is done.
    pub fn solve(&mut self) {
        if !self.solved {
            let stack = self.sliding.stack();
            self.rank = self.solver.solve(stack, &mut self.coefficients);
            self.solved = true;
        }
    }

    /// How far these signals lie outside of what was learned from, at the last solution.
    pub fn leverage(&mut self, signals: &[f64]) -> f64 {
        self.solver.leverage(signals)
    }

    /// Coefficients of one received component: newest signals, earlier ones, the constant.
    pub fn coefficients(&self, component: usize) -> &[f64] {
        let columns = self.size.columns;
        &self.coefficients[component * columns..(component + 1) * columns]
    }

    /// Adds the learned deviation to `out`.
    pub fn add_deviation(&self, signals: &[f64], out: &mut [f64]) {
        let rows = self.coefficients.chunks_exact(self.size.columns);
        for (value, row) in out.iter_mut().zip(rows) {
            let products = row.iter().zip(signals).map(|(a, b)| a * b);
            *value += products.sum::<f64>();
        }
    }

    /// The vector that the model acts on, at the newest snapshot.
    pub fn write_signals(&self, frames: &Frames, signals: &mut [f64]) {
        let newest = frames.count() - 1;
        embed(frames, newest, self.shape.delays as u64, signals);
        signals[self.size.columns - 1] = 1.0;
    }
}

/// The pair with this number: signals, the constant, and by how much the next received values
/// deviate from the Taylor step. Zero if its snapshots are gone, or out of line.
fn write_pair(
    frames: &Frames,
    kinematics: &Kinematics,
    size: Size,
    delays: u64,
    number: u64,
    row: &mut [f64],
) {
    let newest = number + delays;
    let gone = !frames.holds(number) || !frames.holds(newest + 1);
    if gone || (number + 1..=newest + 1).any(|step| frames.is_outlier(step)) {
        row.fill(0.0);
        return;
    }
    let (signals, deviation) = row.split_at_mut(size.columns);
    embed(frames, newest, delays, signals);
    signals[size.columns - 1] = 1.0;
    let step = frames.time(newest + 1) - frames.time(newest);
    kinematics.taylor(frames.received(newest), step, deviation);
    for (value, next) in deviation.iter_mut().zip(frames.received(newest + 1)) {
        *value = next - *value;
    }
}

/// Snapshot `newest` and those before it, one after the other.
fn embed(frames: &Frames, newest: u64, delays: u64, signals: &mut [f64]) {
    let width = frames.signals(newest).len();
    for (delay, part) in (0..=delays).zip(signals.chunks_exact_mut(width)) {
        part.copy_from_slice(frames.signals(newest - delay));
    }
}
