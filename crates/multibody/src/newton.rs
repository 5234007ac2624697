//! Newton's iteration with controlled reuse of the factorisation.
//!
//! A correction is measured as a length (rotations times the size of the model), and that of the multipliers as a
//! force. The step is accepted when the error that is left, estimated from the contraction rate, changes the
//! accelerations and the reactions by less than the tolerance, and by less than a small fraction of what the method
//! itself misses: so the tolerance follows the step, and the order of the method shows. What the method misses is
//! of the order of the second differences of accelerations and multipliers (`foresight.rs`). Where they are steady
//! the prediction is one order closer than that, and one iteration a step is the rule.
//!
//! Reactions are judged apart: where motions are prescribed, these converge at once with any factors, and only the
//! multipliers feel how old those are. What a correction of the motion leaves of the forces is proportional to it; the
//! next iteration, if there is one, measures how much that is.
//!
//! The rate is measured whenever a step needs two
//! iterations. In between it is taken from the last measurement; since it grows with the distance from the point of
//! linearisation, it is measured
//! again each time the number of steps since then has grown by a quarter. When the iterations
//! beyond the first have cost as much as a factorisation, the next step factors anew.

use crate::assembly::EvaluationPoint;
use crate::failure::Failure;
use crate::linear::Prescribed;
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
/// The error that is left, as a fraction of what the prediction has missed ...
const OF_PREDICTION: f64 = 0.1;
/// (the same of reactions, which are no sums: what is left of one step is gone in the next, but it is seen)
const OF_FORCES: f64 = 0.03;
/// ... or of what an extrapolation along a straight line would have missed, if that is more. What is left adds up, and
/// what the method misses may cancel: of a free body it leaves the momentum alone.
const OF_TRUNCATION: f64 = 1e-4;
/// The share of the tolerance that is used where the prediction misses the same way from step to step, so that what is
/// left adds up.
const STEADILY: f64 = 0.1;
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
    /// Largest force of the past that a multiplier stands for, which fades.
    pub force: f64,
    /// Largest correction of such a force that was round-off, which fades.
    pub force_noise: f64,
    /// What a correction of the motion left of these when it was last measured, by its length; infinite if unknown.
    pub force_left: f64,
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
            force: 0.0,
            force_noise: 0.0,
            force_left: f64::INFINITY,
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
        self.noise *= FADING;
        self.force_noise *= FADING;
    }

    fn restart(&mut self) {
        *self = Self {
            acceleration: self.acceleration,
            noise: self.noise,
            force: self.force,
            force_noise: self.force_noise,
            debt: 0,
            ..Self::default()
        };
    }

    /// Takes note of the largest acceleration at the end of a step.
    pub fn observe_acceleration(&mut self, value: f64) {
        self.acceleration = (FADING * self.acceleration).max(value);
    }

    /// Takes note of the largest force that a multiplier stands for at the end of a step.
    pub fn observe_force(&mut self, value: f64) {
        self.force = (FADING * self.force).max(value);
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

/// What a correction of this size leaves at this contraction rate.
fn left_of(size: f64, rate: f64) -> f64 {
    if rate < 1.0 {
        size * rate / (1.0 - rate)
    } else {
        f64::INFINITY
    }
}

/// The state at which the matrix was evaluated. It is part of the state of a run: a restored run
/// makes its factors from it again and so continues with the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FactoredAt {
    /// Gains, time, then motions, multipliers, accelerations of the columns of a tree, memory, inputs and regimes.
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

    fn record(&mut self, gains: [f64; 2], at: &EvaluationPoint<'_>, accelerations: &[f64]) {
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
        self.values.extend(accelerations);
        self.values.extend(at.memory);
        self.values.extend(at.inputs);
        self.values.extend(at.regimes);
    }

    /// The last of what was recorded: so many regimes.
    pub fn regimes(&self, count: usize) -> &[f64] {
        &self.values[self.values.len().saturating_sub(count)..]
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
    /// `targets` of the first time.
    pub(crate) fn converge(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
        targets: Option<[f64; 2]>,
    ) -> Result<(), Failure> {
        if self.work.is_sharp {
            return self.converge_to_rounding(time, h, gains, inputs);
        }
        match self.begin_regimes(inputs) {
            true => self.factor_here(time, h, gains, inputs)?,
            false => self.prepare_factors(time, h, gains, inputs)?,
        }
        let [c, gain] = gains;
        let memory = self.state.convergence;
        let scale = memory.acceleration.max(self.assembly.gravity.norm()) * c * gain;
        let must_measure = memory.must_measure();
        let mut only_measures = false;
        let mut is_fresh = false;
        let mut last = None;
        let mut last_force = f64::INFINITY;
        let mut rate = (CAUTION * memory.rate).min(1.0);
        let mut force_left = CAUTION * memory.force_left;
        for iteration in 1..=self.options.max_iterations {
            self.find_correction(time, h, c, inputs);
            let (size, worst) = self.correction();
            let force = self.force_of_correction();
            self.counters.iterations += 1;
            if !size.is_finite() {
                return Err(self.diverged(time, iteration, worst, inputs));
            }
            if iteration == 1 {
                let follows = self.targets([size, force], scale, [c, gain]);
                self.work.targets = targets.unwrap_or(follows);
                self.work.most = self.options.tolerance * scale;
            }
            let [target, force_target] = self.work.targets;
            if let Some(last) = last {
                rate = size / last;
                force_left = force / last;
            }
            let converges = size <= target || left_of(size, rate) <= target;
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
            // Reactions may ask for more iterations, but a step does not fail because of them. Where other parts correct
            // the step by its tangent, the iteration ends where the tangent is judged: with the motion.
            let holds = match last {
                _ if self.prescribed == Prescribed::Change => true,
                None => {
                    let is_noise = !must_measure && force <= NOISE_AGAIN * memory.force_noise;
                    size == 0.0 || force_left * size <= force_target || is_noise
                }
                Some(_) => force <= force_target || force_left * size <= force_target,
            };
            let rests = !holds && last.is_some() && force > BAD * last_force && is_fresh;
            if rests {
                let noise = &mut self.state.convergence.force_noise;
                *noise = noise.max(force);
            } else if last.is_some() {
                self.state.convergence.force_left = force_left;
            }
            let moves = !(converges || stagnates);
            let enough = !moves && (holds || rests);
            only_measures |= enough && iteration == 1;
            let least = match self.prescribed {
                Prescribed::Stay => FINEST * scale,
                Prescribed::Change => target,
            };
            let measures = must_measure && iteration == 1 && size > least;
            let is_done = enough && !measures;
            let needed = if only_measures { 1 } else { iteration };
            if is_done && self.assembly.limited.is_empty() {
                self.state.convergence.book(iteration, needed);
                return Ok(());
            }
            self.correct(c);
            let switches = self.follow_regimes(time, h, inputs);
            if is_done && !switches {
                self.work.residual.fill(0.0);
                self.state.convergence.book(iteration, needed);
                return Ok(());
            }
            if iteration == self.options.max_iterations {
                if !moves && !switches {
                    self.work.residual.fill(0.0);
                    self.state.convergence.book(iteration, iteration);
                    return Ok(());
                }
                return Err(Failure::NotConverged {
                    iterations: iteration,
                    corrections: [last.unwrap_or(f64::NAN), size],
                    worst,
                });
            }
            let is_slow = if moves {
                rate > BAD
            } else {
                force > BAD * last_force
            };
            if switches || (last.is_some() && is_slow) {
                self.factor_here(time, h, gains, inputs)?;
                (last, last_force) = (None, f64::INFINITY);
                (rate, force_left, is_fresh) = (1.0, f64::INFINITY, true);
            } else {
                (last, last_force) = (Some(size), force);
            }
        }
        unreachable!("the loop returns in its last iteration")
    }

    /// Leaves in `work.residual` how the trial state has to be changed, as far as the factors tell.
    pub(crate) fn find_correction(&mut self, time: f64, h: f64, c: f64, inputs: &[f64]) {
        if self.tree.is_some() {
            return self.find_tree_correction(time, h, inputs);
        }
        self.remove_drift(time, h, c, inputs);
        self.evaluate(time, h, 1.0 / c, inputs);
        let unknowns = self.assembly.unknowns();
        self.lu.solve(&mut self.work.residual[..unknowns]);
    }

    /// What the iteration may leave, as a length and as a force, where the first corrections are `first`.
    fn targets(&self, first: [f64; 2], scale: f64, [c, gain]: [f64; 2]) -> [f64; 2] {
        if self.prescribed == Prescribed::Change {
            // What is left of such a step is corrected with the tangent when the others have done theirs.
            let follows = (OF_PREDICTION * first[0]).max(FINEST * scale);
            return [follows.min(self.options.tolerance * scale), f64::INFINITY];
        }
        let [missed, missed_force] = self.state.foresight.sizes;
        // What rounding errors of places do to the forces of inertia.
        let per_length = self.assembly.largest_inertia.0 / (c * gain);
        let noise = self.rounding(c)[1] * per_length;
        let force = self.state.convergence.force.max(per_length * scale);
        let follows = |i: usize, of_prediction: f64, missed: f64, scale: f64| {
            let is_steady = self.state.foresight.is_steady(i);
            let share = if is_steady { STEADILY } else { 1.0 };
            let follows = (of_prediction * first[i]).max(OF_TRUNCATION * missed);
            let most = share * self.options.tolerance;
            follows.min(most * scale).max(FINEST * scale)
        };
        [
            follows(0, OF_PREDICTION, missed * c * gain, scale),
            follows(1, OF_FORCES, missed_force, force).max(noise),
        ]
    }

    /// Rounding errors as a length: of velocities and spins, and of places and turns.
    fn rounding(&self, c: f64) -> [f64; 2] {
        let mut largest = [0.0_f64; 3];
        for motion in &self.motions {
            let vectors = [motion.position, motion.velocity, motion.angular_velocity];
            for (most, v) in largest.iter_mut().zip(vectors) {
                *most = most.max(v.dot(v));
            }
        }
        let [place, velocity, spin] = largest.map(f64::sqrt);
        let unit = LAST_DIGITS * f64::EPSILON;
        let moving = c * (velocity + self.size * spin);
        [unit * moving, unit * (place + self.size + moving)]
    }

    /// The largest correction of a multiplier, as a force.
    fn force_of_correction(&self) -> f64 {
        let start = 6 * self.assembly.nodes();
        let changes = &self.work.residual[start..self.assembly.unknowns()];
        self.assembly.largest_force(changes)
    }

    /// Whether a correction that does not shrink consists of rounding errors: those of places and
    /// velocities, or, if not even `fresh` factors make it shrink, what ill-conditioned
    /// equations make of them. Close to a singular position they make most of them; there the
    /// constraints must be fulfilled to rounding.
    fn is_noise(&mut self, size: f64, c: f64, fresh: bool, time: f64, inputs: &[f64]) -> bool {
        let [of_velocities, rounding] = self.rounding(c);
        if size <= of_velocities || (fresh && size <= ROUND_OFF * self.size) {
            return true;
        }
        fresh
            && self.assembly.constraints > 0
            && size <= NEARLY_SINGULAR * self.size
            && self.find_violations(time, inputs).0 <= rounding
    }

    /// Whether a correction with the factors at hand leaves more than the last iteration was allowed
    /// to. Where given nodes were predicted as the others, by the formula, their correction tells as well
    /// what that has missed.
    pub(crate) fn leaves_too_much(&self, correction: f64, by_formula: bool) -> bool {
        let share = self.state.convergence.share_left();
        let mut target = self.work.targets[0];
        if self.predicts_given && by_formula {
            target = target.max((OF_PREDICTION * correction).min(self.work.most));
        }
        correction > 0.0 && correction * share > target
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
        let at = EvaluationPoint {
            regimes: &self.work.regimes,
            ..at
        };
        let tree = self.tree.as_mut();
        let accelerations = tree
            .as_ref()
            .map_or(&[][..], |tree| tree.column_accelerations());
        self.state.factored_at.record(gains, &at, accelerations);
        self.work.factored.values.clear();
        let factored = match tree {
            Some(tree) => tree.factor_step(&self.assembly, &at, gains, None),
            None => {
                let weights = step_weights(gains);
                let (lu, prescribed) = (&mut self.lu, self.prescribed);
                let factored = self.assembly.factor(lu, &at, weights, prescribed);
                factored.map_err(|pivot| pivot.unknown)
            }
        };
        self.counters.factorisations += 1;
        self.state.convergence.restart();
        factored.map_err(|unknown| Failure::Singular { unknown })?;
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
        let tree = self.tree.as_mut();
        let columns = tree
            .as_ref()
            .map_or(0, |tree| tree.recorded_accelerations());
        let (accelerations, rest) = rest.split_at(columns);
        let (memory, rest) = rest.split_at(self.assembly.memory);
        let (inputs, regimes) = rest.split_at(rest.len() - self.assembly.limited.len());
        let at = EvaluationPoint {
            time: recorded.values[2],
            motions,
            multipliers,
            inputs,
            input_time: recorded.values[2],
            load_factor: 1.0,
            memory,
            elapsed: h,
            regimes,
        };
        let gains = recorded.gains();
        let factored = match tree {
            Some(tree) => {
                let recorded = Some(accelerations);
                tree.factor_step(&self.assembly, &at, gains, recorded)
            }
            None => {
                let weights = step_weights(gains);
                let (lu, prescribed) = (&mut self.lu, self.prescribed);
                let factored = self.assembly.factor(lu, &at, weights, prescribed);
                factored.map_err(|pivot| pivot.unknown)
            }
        };
        factored.map_err(|unknown| Failure::Singular { unknown })?;
        self.note_factored();
        Ok(())
    }

    /// The next step makes its factors anew: those at hand may come from where an iteration went astray.
    pub(crate) fn distrust_factors(&mut self) {
        self.work.factored.values.clear();
        self.state.convergence.debt = u64::MAX / 2;
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
