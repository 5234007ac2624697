//! Newton's iteration with controlled reuse of the factorisation.
//!
//! A correction is measured as a length (rotations times the size of the model). The step is
//! accepted when the error that is left, estimated from the contraction rate, changes the
//! accelerations by less than the tolerance, and by less than a fraction of what the prediction of
//! the step has missed: that is of the order of the truncation error, so that the tolerance follows
//! the step and the order of the method shows. The rate is measured whenever a step needs two
//! iterations. In between it is taken from the last measurement, so that one iteration a step is
//! the rule; since it grows with the distance from the point of linearisation, it is measured
//! again each time the number of steps since then has grown by a quarter. When the iterations
//! beyond the first have cost as much as a factorisation, the next step factors anew.

use crate::assembly::EvaluationPoint;
use crate::failure::Failure;
use crate::integrator::Method;
use crate::node::Motion;
use crate::system::{System, step_weights};
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// The contraction rate is measured at least after so many steps.
const REMEASURE: u64 = 16;
/// A factorisation costs about as much as so many iterations.
const FACTORISATION: u64 = 4;
/// A rate above this within an iteration makes the next iteration factor anew.
const BAD: f64 = 0.3;
/// A rate from an earlier step is trusted up to this factor.
const CAUTION: f64 = 3.0;
/// Corrections below this fraction of the model's size that do not shrink with fresh factors are
/// round-off, however it was amplified.
const ROUND_OFF: f64 = 1e-11;
/// The same in nearly singular positions.
const NEARLY_SINGULAR: f64 = 1e-8;
/// Rounding errors of places and velocities, in units of the last digit.
const LAST_DIGITS: f64 = 8.0;
/// Corrections up to this multiple of those that were round-off before are round-off again.
const NOISE_AGAIN: f64 = 4.0;
/// The error that is left, as a fraction of what the prediction has missed.
const OF_PREDICTION: f64 = 0.1;
/// The same of a method that predicts with the last acceleration: that misses by the first order of the step, and
/// what is left adds up.
const OF_COARSE_PREDICTION: f64 = 1e-4;
/// The tolerance never asks for less than this fraction of the accelerations.
const FINEST: f64 = 1e-11;
/// What a step leaves of the largest acceleration so far: a spike is forgotten after some
/// thousands of steps.
const FADING: f64 = 1.0 - 1.0 / 256.0;

/// What the iteration remembers from step to step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Convergence {
    /// Largest acceleration of the past, which fades.
    pub acceleration: f64,
    /// Largest correction that was found to be round-off.
    pub noise: f64,
    /// Last measured contraction rate; one if unknown.
    pub rate: f64,
    /// Steps since it was measured.
    pub age: u64,
    /// Steps since the factorisation.
    pub steps: u64,
    /// Iterations that a new factorisation would have saved.
    pub debt: u64,
}

impl Default for Convergence {
    fn default() -> Self {
        Self {
            acceleration: 0.0,
            noise: 0.0,
            rate: 1.0,
            age: 0,
            steps: 0,
            debt: FACTORISATION,
        }
    }
}

impl Convergence {
    fn must_measure(&self) -> bool {
        self.age >= (self.steps / 4).min(REMEASURE)
    }

    /// Books a step that took so many iterations, of which `needed` were not for measurement.
    fn book(&mut self, iterations: usize, needed: usize) {
        self.steps += 1;
        self.age = if iterations == 1 { self.age + 1 } else { 0 };
        self.debt += needed as u64 - 1;
    }

    fn restart(&mut self) {
        *self = Self {
            acceleration: self.acceleration,
            noise: self.noise,
            debt: 0,
            ..Self::default()
        };
    }

    /// Takes note of the largest acceleration at the end of a step.
    pub fn observe_acceleration(&mut self, value: f64) {
        self.acceleration = (FADING * self.acceleration).max(value);
    }

    /// The share of a correction that may be left after it, with the factors at hand. A rate that was
    /// measured in this very step needs no caution.
    fn share_left(&self) -> f64 {
        let caution = if self.age == 0 { 1.0 } else { CAUTION };
        let rate = (caution * self.rate).min(1.0);
        if rate < 1.0 {
            rate / (1.0 - rate)
        } else {
            f64::INFINITY
        }
    }
}

/// The state at which the matrix was evaluated. It is part of the state of a run: a restored run
/// makes its factors from it again and so continues with the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FactoredAt {
    /// Gains, time, then motions, multipliers, memory and inputs.
    pub values: Vec<f64>,
}

/// Both gains and the time.
const HEADER: usize = 3;
const NUMBERS_PER_MOTION: usize = 13;

impl FactoredAt {
    /// Makes room, so that recording allocates nothing.
    pub fn reserve(&mut self, nodes: usize, others: usize) {
        let length = HEADER + NUMBERS_PER_MOTION * nodes + others;
        self.values.resize(length, f64::NAN);
    }

    fn gains(&self) -> [f64; 2] {
        let value = |i: usize| self.values.get(i).copied().unwrap_or(f64::NAN);
        [value(0), value(1)]
    }

    fn record(&mut self, gains: [f64; 2], at: &EvaluationPoint<'_>) {
        self.values.clear();
        self.values.extend(gains);
        self.values.push(at.time);
        for motion in at.motions {
            self.values.extend(motion.position.0);
            self.values.extend(motion.orientation.0);
            self.values.extend(motion.velocity.0);
            self.values.extend(motion.angular_velocity.0);
        }
        self.values.extend(at.multipliers);
        self.values.extend(at.memory);
        self.values.extend(at.inputs);
    }

    pub fn motions(&self) -> impl Iterator<Item = Motion> + '_ {
        self.values[HEADER..]
            .chunks_exact(NUMBERS_PER_MOTION)
            .map(|n| {
                let v = |i: usize| Vec3::new(n[i], n[i + 1], n[i + 2]);
                let orientation = Quaternion([n[3], n[4], n[5], n[6]]);
                Motion {
                    position: v(0),
                    orientation,
                    rotation: orientation.matrix(),
                    velocity: v(7),
                    angular_velocity: v(10),
                }
            })
    }
}

impl System {
    /// Iterates from the predicted state to the solution at `time`. The last correction is left in
    /// `work.residual`, to be applied by whoever asked. A step that is found once more has the
    /// `target` of the first time.
    pub(crate) fn converge(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
        target: Option<f64>,
    ) -> Result<(), Failure> {
        if self.work.is_sharp {
            return self.converge_to_rounding(time, h, gains, inputs);
        }
        self.prepare_factors(time, h, gains, inputs)?;
        let [c, gain] = gains;
        let per_c = 1.0 / c;
        let memory = self.state.convergence;
        let scale = memory.acceleration.max(self.assembly.gravity.norm()) * c * gain;
        let must_measure = memory.must_measure();
        let mut only_measures = false;
        let mut is_fresh = false;
        let mut last = None;
        let mut rate = (CAUTION * memory.rate).min(1.0);
        for iteration in 1..=self.options.max_iterations {
            self.remove_drift(time, h, c, inputs);
            self.evaluate(time, h, per_c, inputs);
            let unknowns = self.assembly.unknowns();
            self.lu.solve(&mut self.work.residual[..unknowns]);
            let (size, worst) = self.correction();
            self.counters.iterations += 1;
            if !size.is_finite() {
                return Err(self.diverged(time, iteration, worst, inputs));
            }
            if iteration == 1 {
                let share = match self.options.method {
                    Method::GeneralisedAlpha { .. } => OF_COARSE_PREDICTION,
                    _ => OF_PREDICTION,
                };
                let finest = (share * size).max(FINEST * scale);
                let follows = (self.options.tolerance * scale).min(finest);
                self.work.target = target.unwrap_or(follows);
            }
            let target = self.work.target;
            if let Some(last) = last {
                rate = size / last;
            }
            let remaining = if rate < 1.0 {
                size * rate / (1.0 - rate)
            } else {
                f64::INFINITY
            };
            let converges = size <= target || remaining <= target;
            let stagnates = !converges
                && match last {
                    None => !must_measure && size <= NOISE_AGAIN * memory.noise,
                    Some(_) => rate > BAD && self.is_noise(size, c, is_fresh, time, inputs),
                };
            if stagnates {
                self.counters.stagnations += u64::from(size > self.options.tolerance * scale);
                if last.is_some() {
                    let noise = &mut self.state.convergence.noise;
                    *noise = noise.max(size);
                }
            } else if last.is_some() {
                self.state.convergence.rate = rate;
            }
            let enough = converges || stagnates;
            only_measures |= enough && iteration == 1;
            if enough && !(must_measure && iteration == 1 && size > target) {
                let needed = if only_measures { 1 } else { iteration };
                self.state.convergence.book(iteration, needed);
                return Ok(());
            }
            self.correct(c);
            if iteration == self.options.max_iterations {
                return Err(Failure::NotConverged {
                    iterations: iteration,
                    corrections: [last.unwrap_or(f64::NAN), size],
                    worst,
                });
            }
            if last.is_some() && rate > BAD {
                self.factor_here(time, h, gains, inputs)?;
                (last, rate, is_fresh) = (None, 1.0, true);
            } else {
                last = Some(size);
            }
        }
        unreachable!("the loop returns in its last iteration")
    }

    /// Whether a correction that does not shrink consists of rounding errors: those of places and
    /// velocities, or, if not even `fresh` factors make it shrink, what ill-conditioned
    /// equations make of them. Close to a singular position they make most of them; there the
    /// constraints must be fulfilled to rounding.
    fn is_noise(&mut self, size: f64, c: f64, fresh: bool, time: f64, inputs: &[f64]) -> bool {
        let digits = |motion: &Motion| {
            let linear = motion.position.norm() + c * motion.velocity.norm();
            linear + self.size * (1.0 + c * motion.angular_velocity.norm())
        };
        let largest = self.motions.iter().map(digits).fold(0.0, f64::max);
        let rounding = LAST_DIGITS * f64::EPSILON * largest;
        if size <= rounding || (fresh && size <= ROUND_OFF * self.size) {
            return true;
        }
        fresh
            && self.assembly.constraints > 0
            && size <= NEARLY_SINGULAR * self.size
            && self.find_violations(time, inputs).0 <= rounding
    }

    /// Whether a correction with the factors at hand leaves more than the last iteration was allowed
    /// to.
    pub(crate) fn leaves_too_much(&self, correction: f64) -> bool {
        correction > 0.0 && correction * self.state.convergence.share_left() > self.work.target
    }

    /// Largest correction as a length, and its unknown.
    pub(crate) fn correction(&self) -> (f64, usize) {
        self.length_of(&self.work.residual)
    }

    /// The same of any change of the unknowns.
    pub(crate) fn length_of(&self, change: &[f64]) -> (f64, usize) {
        let (mut largest, mut worst) = (0.0, 0);
        let nodes = &change[..6 * self.assembly.nodes()];
        let size2 = self.size * self.size;
        for (i, d) in nodes.chunks_exact(6).enumerate() {
            let linear = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            let angular = (d[3] * d[3] + d[4] * d[4] + d[5] * d[5]) * size2;
            // `f64::max` drops a NaN in one half, the sum does not.
            let sum = linear + angular;
            let square = if sum.is_nan() {
                sum
            } else {
                linear.max(angular)
            };
            if square > largest || square.is_nan() {
                (largest, worst) = (square, 6 * i);
            }
        }
        (largest.sqrt(), worst)
    }

    /// Keeps the factors, makes them again after a restore, or makes new ones.
    fn prepare_factors(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        if self.state.convergence.debt >= FACTORISATION || self.state.factored_at.gains() != gains {
            return self.factor_here(time, h, gains, inputs);
        }
        if self.work.factored.values.is_empty() {
            return self.factor_again(h);
        }
        Ok(())
    }

    /// The same before a step that begins with a jump. Where steps are solved to rounding, so is what the jump does.
    pub(crate) fn prepare_factors_for_jump(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        match self.work.is_sharp {
            true => self.factor_here(time, h, gains, inputs),
            false => self.prepare_factors(time, h, gains, inputs),
        }
    }

    pub(crate) fn factor_here(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        let motions = &mut self.work.recorded;
        motions.clear();
        motions.extend_from_slice(&self.motions);
        let Err(failure) = self.factor_recorded(time, h, gains, inputs) else {
            return Ok(());
        };
        if let Some(cause) = self.find_not_finite(time, inputs) {
            return Err(cause);
        }
        // The end of the step may be a singular position, through which the motion passes. Its
        // start was none: the matrix there leads on.
        let motions = &mut self.work.recorded;
        motions.clear();
        motions.extend(self.state.now.iter().map(|record| record.motion));
        let again = self.factor_recorded(time, h, gains, inputs);
        again.map_err(|_| failure)
    }

    /// Makes the factors at the motions in `work.recorded`.
    fn factor_recorded(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        let at = EvaluationPoint::new(
            time,
            &self.work.recorded,
            &self.multipliers,
            inputs,
            &self.state.memory,
        )
        .after(h);
        self.state.factored_at.record(gains, &at);
        let weights = step_weights(gains);
        self.work.factored.values.clear();
        let factored = self
            .assembly
            .factor(&mut self.lu, &at, weights, self.prescribed);
        self.counters.factorisations += 1;
        self.state.convergence.restart();
        let singular = |unknown| Failure::Singular { unknown };
        factored.map_err(|pivot| singular(pivot.unknown))?;
        self.note_factored();
        Ok(())
    }

    /// Makes the factors of the recorded linearisation.
    fn factor_again(&mut self, h: f64) -> Result<(), Failure> {
        let recorded = &self.state.factored_at;
        let motions = &mut self.work.recorded;
        motions.clear();
        motions.extend(recorded.motions().take(self.motions.len()));
        let rest = &recorded.values[HEADER + NUMBERS_PER_MOTION * motions.len()..];
        let (multipliers, rest) = rest.split_at(self.multipliers.len());
        let (memory, inputs) = rest.split_at(self.assembly.memory);
        let at = EvaluationPoint {
            time: recorded.values[2],
            motions,
            multipliers,
            inputs,
            input_time: recorded.values[2],
            load_factor: 1.0,
            memory,
            elapsed: h,
        };
        let weights = step_weights(recorded.gains());
        let factored = self
            .assembly
            .factor(&mut self.lu, &at, weights, self.prescribed);
        let singular = |unknown| Failure::Singular { unknown };
        factored.map_err(|pivot| singular(pivot.unknown))?;
        self.note_factored();
        Ok(())
    }

    fn note_factored(&mut self) {
        self.work.stamp += 1;
        let values = &mut self.work.factored.values;
        values.clear();
        values.extend_from_slice(&self.state.factored_at.values);
    }

    /// Called when the state may have been replaced: the factors stay only if they belong to it.
    pub(crate) fn forget_foreign_factors(&mut self) {
        let same = |a: &f64, b: &f64| a.to_bits() == b.to_bits();
        let (made, needed) = (&self.work.factored.values, &self.state.factored_at.values);
        let belongs =
            made.len() == needed.len() && made.iter().zip(needed).all(|(a, b)| same(a, b));
        if !belongs {
            self.work.factored.values.clear();
        }
    }

    /// The first cause of a correction that is not finite.
    pub(crate) fn diverged(
        &self,
        time: f64,
        iterations: usize,
        worst: usize,
        inputs: &[f64],
    ) -> Failure {
        let cause = self.find_not_finite(time, inputs);
        cause.unwrap_or(Failure::NotConverged {
            iterations,
            corrections: [f64::NAN; 2],
            worst,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One spike of 1e5 m/s² left 0.1 m/s² of error for the rest of a run.
    #[test]
    fn a_spike_of_acceleration_is_forgotten() {
        let mut convergence = Convergence::default();
        convergence.observe_acceleration(1e5);
        for _ in 0..4000 {
            convergence.observe_acceleration(1.0);
        }
        assert_eq!(convergence.acceleration, 1.0);
        convergence.restart();
        assert_eq!(convergence.acceleration, 1.0);
    }
}
