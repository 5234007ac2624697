//! Newton's iteration to the last digit, for analyses that take differences of steps.
//!
//! Every step starts with fresh factors, so that what depends on them (the interface tangent) is a
//! smooth function of the state, and goes on until corrections stop to shrink.

use crate::failure::Failure;
use crate::system::System;

/// Corrections below this fraction of the model's size are rounding, whatever they do.
const NOTHING: f64 = 1e-17;
/// Below this they may be; they are if they do not shrink any more.
const SMALL: f64 = 1e-9;
/// Corrections shrink if each is at most this fraction of the one before.
const SHRINKING: f64 = 0.5;
/// A worse contraction far from the solution asks for new factors.
const SLOW: f64 = 0.1;

impl System {
    /// As [`converge`](Self::converge): the last correction is left to whoever asked.
    pub(crate) fn converge_to_rounding(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        self.begin_regimes(inputs);
        self.factor_here(time, h, gains, inputs)?;
        let c = gains[0];
        let mut last = f64::INFINITY;
        let most = 2 * self.options.max_iterations;
        for iteration in 1..=most {
            self.find_correction(time, h, c, inputs);
            let (size, worst) = self.correction();
            self.counters.iterations += 1;
            let is_small = size <= SMALL * self.size;
            let stands_still = is_small && size > SHRINKING * last;
            if size <= NOTHING * self.size || stands_still || (is_small && iteration == most) {
                if self.assembly.limited.is_empty() {
                    return Ok(());
                }
                self.correct(c);
                let switches = self.follow_regimes(time, h, inputs);
                self.work.residual.fill(0.0);
                if !switches || iteration == most {
                    return Ok(());
                }
                self.factor_here(time, h, gains, inputs)?;
                last = f64::INFINITY;
                continue;
            }
            if !size.is_finite() {
                return Err(self.diverged(time, iteration, worst, inputs));
            }
            if iteration == most {
                return Err(Failure::NotConverged {
                    iterations: iteration,
                    corrections: [last, size],
                    worst,
                });
            }
            self.correct(c);
            let switches = self.follow_regimes(time, h, inputs);
            if switches || !is_small && size > SLOW * last {
                self.factor_here(time, h, gains, inputs)?;
            }
            last = size;
        }
        unreachable!("the loop returns in its last iteration")
    }
}
