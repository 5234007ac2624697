//! Steps whose iteration fails are taken again in shorter pieces.
//!
//! The pieces are equal halves, quarters, and so on of the step, so that their sizes and times are
//! exact and the run is the same for any number of threads. Nothing is left of them afterwards:
//! the next step has its given size again. A two-step method starts anew with its one-step formula
//! at each change of the size, which is of second order too.

use crate::error::SolveError;
use crate::system::System;

/// Into so many pieces a step is divided at most.
const MOST_PIECES: u32 = 1024;

impl System {
    /// Takes an implicit step by `h` between two times, in pieces if need be. At the start `inputs`
    /// are those of the end; `receive` gives those of any time between.
    pub(crate) fn step_or_retry(
        &mut self,
        [from, to]: [f64; 2],
        h: f64,
        inputs: &mut [f64],
        mut receive: impl FnMut(f64, &mut [f64]),
    ) -> Result<(), SolveError> {
        if self.try_step(to, h, inputs).is_ok() {
            self.finish_step(inputs);
            return Ok(());
        }
        self.counters.retries += 1;
        self.work.whole.copy_from(&self.state);
        let (mut pieces, mut done) = (2, 0);
        while done < pieces {
            let part = f64::from(done + 1) / f64::from(pieces);
            let time = if done + 1 == pieces {
                to
            } else {
                from + (to - from) * part
            };
            receive(time, inputs);
            match self.try_step(time, h / f64::from(pieces), inputs) {
                Ok(()) => {
                    self.finish_step(inputs);
                    done += 1;
                }
                Err(failure) if pieces == MOST_PIECES => {
                    self.state.copy_from(&self.work.whole);
                    self.return_to_records();
                    self.forget_foreign_factors();
                    let error = self.explain(time, failure).after_retries(pieces);
                    return Err(self.name_position(error, h, inputs));
                }
                Err(_) => (pieces, done) = (2 * pieces, 2 * done),
            }
        }
        Ok(())
    }
}
