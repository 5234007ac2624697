//! What the steps of a scene have come to so far.

use super::StepReport;
use crate::solver::SolvedBy;

/// Words of its state.
pub(super) const WORDS: usize = 11;

/// Counts of all steps since the start. They are state: a step that is taken back is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Tally {
    /// Steps with contacts within reach.
    pub steps: usize,
    /// Steps whose residual stayed above the tolerance.
    pub unmet: usize,
    /// The largest residual of these in m/s.
    pub worst: f64,
    /// Islands that stayed above it.
    pub unmet_islands: usize,
    /// Islands by the method that solved them.
    pub by: SolvedBy,
}

impl Tally {
    pub(super) fn add(&mut self, report: &StepReport, tolerance: f64) {
        self.steps += usize::from(report.contacts > 0);
        self.by += report.solved.by;
        self.unmet_islands += report.solved.unmet;
        // Solvers with exact sets have no tolerance of their own; a residual that is not a number is not met.
        let is_met = report.residual <= tolerance || tolerance == 0.0 && report.solved.is_converged;
        if !is_met {
            self.unmet += 1;
            self.worst = self.worst.max(report.residual);
        }
    }

    pub(super) fn save(&self, words: &mut Vec<u64>) {
        let by = &self.by;
        let counts = [
            self.steps,
            self.unmet,
            self.unmet_islands,
            by.kept,
            by.sweeps,
        ];
        let later = [
            by.smoothing,
            by.newton,
            by.interior,
            by.last_sweeps,
            by.far_away,
        ];
        words.push(self.worst.to_bits());
        words.extend(counts.iter().chain(&later).map(|&count| count as u64));
    }

    pub(super) fn restore(words: &[u64]) -> Self {
        let count = |place: usize| words[place] as usize;
        Self {
            worst: f64::from_bits(words[0]),
            steps: count(1),
            unmet: count(2),
            unmet_islands: count(3),
            by: SolvedBy {
                kept: count(4),
                sweeps: count(5),
                smoothing: count(6),
                newton: count(7),
                interior: count(8),
                last_sweeps: count(9),
                far_away: count(10),
            },
        }
    }
}
