//! Singular positions: where some joints ask for less than they do elsewhere, and more ways to go
//! on are open than degrees of freedom.
//!
//! A motion that passes one is told by the gradients of its constraints, which become dependent
//! within a few steps. Gradients that are nearly dependent all the time, as those of a short lever
//! in a long mechanism, are none.

use crate::assembly::EvaluationPoint;
use crate::error::{Passage, SolveError};
use crate::node::Motion;
use crate::redundancy;
use crate::system::System;

/// What is left of a gradient next to a singular position, at most.
const LITTLE: f64 = 0.1;
/// It falls, or grows, at least to this fraction from one step before to one step later: the
/// position is at most four steps away.
const CHANGING: f64 = 0.6;

impl System {
    /// Who is told about a singular position.
    pub(crate) fn passage(&self) -> Passage {
        match self.options.method.is_explicit() {
            true => Passage::Explicit,
            false => Passage::Implicit,
        }
    }

    /// Names the singular position that is the reason for a failure, if there is one within a few
    /// steps of length `h`.
    pub(crate) fn name_position(&self, error: SolveError, h: f64, inputs: &[f64]) -> SolveError {
        use SolveError::{Diverged, NotConverged, Singular, WithoutInertia};
        let time = match error {
            NotConverged { time, .. } | Singular { time, .. } => time,
            Diverged { time, .. } | WithoutInertia { time, .. } => time,
            _ => return error,
        };
        match self.singular_position(h, inputs) {
            Some(joints) => {
                SolveError::singular_position(time, joints, self.passage()).because(error)
            }
            None => error,
        }
    }

    /// The joints whose constraints depend on each other in a singular position that the motion
    /// passes within a few steps of length `h`.
    pub(crate) fn singular_position(&self, h: f64, inputs: &[f64]) -> Option<Vec<String>> {
        let found = [-h, 0.0, h].map(|dt| {
            let records = self.state.now.iter();
            let motions: Vec<Motion> = records.map(|r| r.motion.extrapolated(dt)).collect();
            let at = EvaluationPoint {
                motions: &motions,
                ..self.evaluation_point(inputs)
            };
            redundancy::remainders(&self.assembly, &at, self.size)
        });
        // Row by row: the least of all may be one that is always small.
        let mut passed: Option<(f64, &[usize])> = None;
        for row in 0..found[0].len() {
            let mut times = found.each_ref().map(|remainders| &remainders[row]);
            times.sort_by(|a, b| a.left.total_cmp(&b.left));
            let [least, _, most] = times;
            let ratio = least.left / most.left;
            let is_first = passed.is_none_or(|(other, _)| ratio < other);
            if least.left < LITTLE && ratio <= CHANGING && is_first {
                passed = Some((ratio, &least.involved));
            }
        }
        let (_, rows) = passed?;
        Some(redundancy::names_of(&self.assembly, rows.iter().copied()))
    }
}
