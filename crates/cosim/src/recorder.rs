//! Where a run's results go.

use crate::port::Unit;

/// One recorded quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Such as `left.x1.v`, or `energy.total`.
    pub name: String,
    /// Its SI unit.
    pub unit: Unit,
}

/// Takes one row at each recorded time, after the exchange at that time.
///
/// `record` is called in the step loop: it must not block for long, and it says when the disk
/// does not take the data.
pub trait Recorder {
    /// Values in the order of [`crate::Simulation::columns`], time not among them.
    fn record(&mut self, t: f64, row: &[f64]) -> std::io::Result<()>;
}

/// Keeps nothing.
pub struct Discard;

impl Recorder for Discard {
    fn record(&mut self, _t: f64, _row: &[f64]) -> std::io::Result<()> {
        Ok(())
    }
}

/// Keeps everything in memory, for tests and analyses.
#[derive(Clone, Debug, Default)]
pub struct InMemory {
    /// Times of the rows.
    pub times: Vec<f64>,
    /// One row a time.
    pub rows: Vec<Vec<f64>>,
}

impl InMemory {
    /// One column as a time history.
    pub fn column(&self, index: usize) -> Vec<f64> {
        self.rows.iter().map(|row| row[index]).collect()
    }
}

impl Recorder for InMemory {
    fn record(&mut self, t: f64, row: &[f64]) -> std::io::Result<()> {
        self.times.push(t);
        self.rows.push(row.to_vec());
        Ok(())
    }
}
