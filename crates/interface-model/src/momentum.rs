//! The force that brings a mechanism the momentum which its fast subsystems have spent.
//!
//! Within a macro step the model moves under forces that change; the mechanism takes its step under one force. If that is the
//! force at the end of the step, what went on before is lost: where friction brings the model to rest within a step, nothing
//! of that reaches the mechanism. So the mean f̄ of the forces is what it has to take. A method
//! `v = a1 v1 + a2 v2 + h (b0 v' + b1 v1' + b2 v2')` takes b0 f + b1 f1 + b2 f2 - a2 f̄1 of forces f, f1, f2 at the end of this step
//! and of earlier ones, and of the mean f̄1 that it took in the last one. With a1 + a2 = 1 that is f̄ for
//! f = (f̄ + a2 f̄1 - b1 f1 - b2 f2)/b0.

use oldham_cosim::{TwoStep, Visitor};

/// Numbers by which a formula is shown: a2, b0, b1.
pub(crate) const SHOWN: usize = 3;

/// How a formula is shown; all of them are zero where there is none.
pub(crate) fn show(formula: Option<TwoStep>, shown: &mut [f64]) {
    shown.fill(0.0);
    if let Some(TwoStep { values, rates }) = formula {
        shown[..SHOWN].copy_from_slice(&[values[1], rates[0], rates[1]]);
    }
}

/// Momentum that is spent on the coordinates of an interface.
#[derive(Clone, Debug, Default)]
pub(crate) struct Momentum {
    /// Since the start of the macro step.
    spent: Vec<f64>,
    /// The mean force of the last step, and what acted at its start.
    mean: Vec<f64>,
    acted: Vec<f64>,
    /// What has to act at the end of this one.
    forces: Vec<f64>,
    /// Zero where the mechanism does not tell how it makes momentum of a force.
    is_known: u64,
}

impl Momentum {
    pub fn new(rows: usize) -> Self {
        let none = || vec![0.0; rows];
        Self {
            spent: none(),
            mean: none(),
            acted: none(),
            forces: none(),
            is_known: 0,
        }
    }

    /// A macro step begins.
    pub fn begin(&mut self) {
        self.spent.fill(0.0);
    }

    /// A force acts on a row for some time.
    pub fn spend(&mut self, row: usize, force: f64, time: f64) {
        self.spent[row] += force * time;
    }

    /// Finds the forces that bring what was spent in this time, under which the mechanism shows what acted.
    pub fn finish(&mut self, time: f64, shown: &[f64]) {
        let count = self.spent.len();
        let (rows, formula) = shown.split_at(count * (count + 2));
        let [a2, b0, b1] = *formula.first_chunk().expect("three numbers at least");
        let b2 = 1.0 + a2 - b0 - b1;
        self.is_known = u64::from(b0 != 0.0);
        for row in 0..count {
            let (mean, acted) = (self.spent[row] / time, rows[(count + 2) * row + 1]);
            if self.is_known == 1 {
                let before = a2 * self.mean[row] - b1 * acted - b2 * self.acted[row];
                self.forces[row] = (mean + before) / b0;
            }
            self.mean[row] = mean;
            self.acted[row] = acted;
        }
    }

    /// The force that has to act on a row, if it is known.
    pub fn force(&self, row: usize) -> Option<f64> {
        (self.is_known == 1).then(|| self.forces[row])
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.mean);
        visitor.vector(&mut self.acted);
        visitor.fixed(&mut self.forces);
        visitor.count(&mut self.is_known);
    }
}
