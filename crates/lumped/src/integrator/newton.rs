//! One implicit step: find the accelerations for which the equations of motion hold at its end.
//!
//! With `v = v_known + g a` and `x = x_known + g v` the residual is `r(a) = M a - f(t, x, v)` and
//! its derivative `M + g C + g^2 K`; forces with a received tangent T add `-g^2 T`. Linear systems
//! need one correction with a factorisation that is kept as long as g stays the same. Nonlinear
//! ones iterate with a step length that lowers the residual: a full step may jump to and fro over a
//! kink, such as that of a square-root spring.

use oldham_cosim::{Counters, StepError, TwoStep};

use super::shift::Shift;
use crate::lu::{Lu, ZeroPivot};
use crate::plant::Plant;
use crate::tangents::By;

/// Largest residual, relative to the forces and to the change of momentum in the step.
const RESIDUAL_TOLERANCE: f64 = 1e-12;
/// A residual below this is none: its square is still far from underflow.
const NO_FORCE: f64 = 1e-100;
/// Largest change of position, relative to the positions, that no longer counts.
const POSITION_TOLERANCE: f64 = 1e-12;
/// So many of those in a row end the iteration. One alone does not: the first corrections out of an
/// infinite slope are minute, and then grow.
const PATIENCE: usize = 3;
const MAX_ITERATIONS: usize = 50;
/// A step is shortened at most this often.
const MAX_SHORTENINGS: usize = 30;
/// A step must lower the residual by this fraction of what a linear model promises...
const SUFFICIENT_DECREASE: f64 = 1e-4;
/// ...and to this fraction of it where it turns the residual round: beyond, it leapt over a kink,
/// and the next one would leap back.
const OVERSHOOT: f64 = 0.5;

/// The solver with its memory.
#[derive(Clone, Debug)]
pub(crate) struct Newton {
    known_x: Vec<f64>,
    known_v: Vec<f64>,
    guess: Vec<f64>,
    residual: Vec<f64>,
    /// The residual before a search.
    start: Vec<f64>,
    correction: Vec<f64>,
    matrix: Lu,
    /// The g for which `matrix` holds the factors of a linear system, with these tangents.
    factorised_for: Option<f64>,
    tangents: Vec<f64>,
    /// Whether it goes on until rounding stops it.
    is_sharp: bool,
}

impl Newton {
    pub(crate) fn new(plant: &Plant) -> Self {
        let own = plant.own();
        Self {
            known_x: vec![0.0; own],
            known_v: vec![0.0; own],
            guess: vec![0.0; own],
            residual: vec![0.0; own],
            start: vec![0.0; own],
            correction: vec![0.0; own],
            matrix: Lu::with_pattern(own, pattern(plant).into_iter()),
            factorised_for: None,
            tangents: vec![0.0; plant.tangents.entries().count()],
            is_sharp: false,
        }
    }

    /// From now on solutions are as good as rounding allows.
    pub(crate) fn sharpen(&mut self) {
        self.is_sharp = true;
    }

    /// Collects what a formula takes from the present point and from the one before.
    pub(crate) fn collect(
        &mut self,
        plant: &Plant,
        scheme: TwoStep,
        size: f64,
        before: Option<&[Vec<f64>; 3]>,
    ) {
        let [w1, w2] = scheme.values;
        let [_, r1, r2] = scheme.rates.map(|rate| size * rate);
        let now = &plant.motion;
        for i in 0..self.known_x.len() {
            self.known_x[i] = w1 * now.x[i] + r1 * now.v[i];
            self.known_v[i] = w1 * now.v[i] + r1 * now.a[i];
        }
        if let Some([x, v, a]) = before {
            for i in 0..self.known_x.len() {
                self.known_x[i] += w2 * x[i] + r2 * v[i];
                self.known_v[i] += w2 * v[i] + r2 * a[i];
            }
        }
    }

    /// Gives the known parts of the step the past that the new loads would have had, and the plant their acceleration.
    pub(crate) fn shift(&mut self, plant: &mut Plant, shift: &mut Shift, scheme: TwoStep, h: f64) {
        let change = shift.find(plant, &self.matrix);
        let b0 = scheme.rates[0];
        for (i, change) in change.iter().enumerate() {
            self.known_x[i] += h * h * (0.5 - b0) * change;
            self.known_v[i] += h * (1.0 - b0) * change;
            plant.motion.a[i] += change;
        }
    }

    /// Solves for the motion at time t, starting from the accelerations in `plant`.
    pub(crate) fn solve(
        &mut self,
        plant: &mut Plant,
        t: f64,
        g: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        self.guess
            .copy_from_slice(&plant.motion.a[..plant.equations.own]);
        self.correction.fill(0.0);
        if plant.equations.is_linear() {
            self.solve_linear(plant, t, g, counters)
        } else {
            self.solve_nonlinear(plant, t, g, counters)
        }
    }

    fn solve_linear(
        &mut self,
        plant: &mut Plant,
        t: f64,
        g: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        self.evaluate_residual(plant, t, g, 0.0)?;
        self.factorise_once(plant, t, g, counters)?;
        self.back_substitute(plant, g, counters);
        Ok(())
    }

    /// Takes one correction of the accelerations in `plant` with the factors at hand: what the step
    /// needs when inputs at its end have changed a little.
    pub(crate) fn correct(
        &mut self,
        plant: &mut Plant,
        t: f64,
        g: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        let own = plant.own();
        self.guess.copy_from_slice(&plant.motion.a[..own]);
        self.correction.fill(0.0);
        self.evaluate_residual(plant, t, g, 0.0)?;
        self.back_substitute(plant, g, counters);
        Ok(())
    }

    /// The accelerations of the own nodes at the start of the integration, where received tangents
    /// are by acceleration.
    pub(crate) fn start(
        &mut self,
        plant: &mut Plant,
        t: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        let own = plant.own();
        self.factorised_for = None;
        self.factorise(plant, t, By::Acceleration, 0.0, counters)?;
        plant.motion.a[..own].fill(0.0);
        plant.evaluate_forces(By::Acceleration, t)?;
        plant.motion.a[..own].copy_from_slice(&plant.forces);
        self.matrix.solve(&mut plant.motion.a[..own]);
        plant.accelerated(t);
        Ok(())
    }

    /// The factors of the own nodes' matrix at the present point, for which a tangent is sought.
    pub(crate) fn factors(
        &mut self,
        plant: &Plant,
        t: f64,
        g: f64,
        counters: &mut Counters,
    ) -> Result<&Lu, StepError> {
        if plant.equations.is_linear() {
            self.factorise_once(plant, t, g, counters)?;
        } else {
            // Those at hand are of the last iterate but one.
            self.factorise(plant, t, By::Position, g, counters)?;
        }
        Ok(&self.matrix)
    }

    /// Factors of a linear system, unless they are at hand.
    fn factorise_once(
        &mut self,
        plant: &Plant,
        t: f64,
        g: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        if self.factorised_for == Some(g) && self.has_tangents_of(plant) {
            return Ok(());
        }
        self.factorised_for = None;
        self.factorise(plant, t, By::Position, g, counters)?;
        self.factorised_for = Some(g);
        Ok(())
    }

    fn has_tangents_of(&self, plant: &Plant) -> bool {
        let entries = plant.tangents.entries().zip(&self.tangents);
        entries
            .map(|((_, _, component), used)| (plant.inputs()[component], *used))
            .all(|(present, used)| present == used)
    }

    fn back_substitute(&mut self, plant: &mut Plant, g: f64, counters: &mut Counters) {
        counters.iterations += 1;
        self.correction.copy_from_slice(&self.residual);
        self.matrix.solve(&mut self.correction);
        self.place(plant, g, 1.0);
    }

    fn solve_nonlinear(
        &mut self,
        plant: &mut Plant,
        t: f64,
        g: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        self.evaluate_residual(plant, t, g, 0.0)?;
        let before = counters.iterations;
        let mut negligible = 0;
        for _ in 0..MAX_ITERATIONS {
            let is_small = self.residual_is_small(plant, g);
            if is_small && (!self.is_sharp || largest(&self.residual) <= NO_FORCE) {
                return Ok(());
            }
            counters.iterations += 1;
            self.factorise(plant, t, By::Position, g, counters)?;
            self.correction.copy_from_slice(&self.residual);
            self.matrix.solve(&mut self.correction);
            if self.correction_is_small(g) {
                negligible += 1;
            } else {
                negligible = 0;
            }
            let improved = self.search(plant, t, g)?;
            if is_small && !improved {
                return Ok(());
            }
            if negligible == PATIENCE || (negligible > 0 && !improved) {
                return Ok(());
            }
            if !improved {
                break;
            }
        }
        let iterations = (counters.iterations - before) as usize;
        Err(self.not_converged(plant, iterations))
    }

    /// Goes along the correction as far as that lowers the residual. Says whether it did.
    fn search(&mut self, plant: &mut Plant, t: f64, g: f64) -> Result<bool, StepError> {
        self.start.copy_from_slice(&self.residual);
        let start = norm(&self.start);
        let mut length = 1.0;
        for _ in 0..MAX_SHORTENINGS {
            let mut shortening = 0.5;
            // A law that gives NaN so far away may do so nearer.
            if self.evaluate_residual(plant, t, g, length).is_ok() {
                let reached = norm(&self.residual);
                let lower = reached <= start * (1.0 - SUFFICIENT_DECREASE * length);
                let turned = dot(&self.residual, &self.start) < 0.0;
                if lower && !(turned && reached > OVERSHOOT * start) {
                    self.accept(length);
                    return Ok(true);
                }
                if turned {
                    // Where the straight line between both residuals is zero.
                    shortening = (start / (start + reached)).min(0.5);
                }
            }
            length *= shortening;
        }
        self.evaluate_residual(plant, t, g, 0.0)?;
        Ok(false)
    }

    fn accept(&mut self, length: f64) {
        for (guess, correction) in self.guess.iter_mut().zip(&self.correction) {
            *guess -= length * correction;
        }
    }

    /// Moves the plant to the guess, corrected by a fraction of the correction.
    fn place(&self, plant: &mut Plant, g: f64, length: f64) {
        let motion = &mut plant.motion;
        for i in 0..self.guess.len() {
            motion.a[i] = self.guess[i] - length * self.correction[i];
            motion.v[i] = self.known_v[i] + g * motion.a[i];
            motion.x[i] = self.known_x[i] + g * motion.v[i];
        }
    }

    fn evaluate_residual(
        &mut self,
        plant: &mut Plant,
        t: f64,
        g: f64,
        length: f64,
    ) -> Result<(), StepError> {
        self.place(plant, g, length);
        plant.evaluate_forces(By::Position, t)?;
        for (row, residual) in self.residual.iter_mut().enumerate() {
            let inertia = plant.equations.inertia(row, &plant.motion.a);
            *residual = inertia - plant.forces[row];
        }
        Ok(())
    }

    fn residual_is_small(&self, plant: &Plant, g: f64) -> bool {
        let inertia = |row, values: &[f64]| plant.equations.inertia(row, values).abs();
        let scale_of = |row| {
            let of_motion = inertia(row, &plant.motion.a) + inertia(row, &self.known_v) / g;
            plant.forces[row].abs() + of_motion
        };
        let scale = (0..self.residual.len()).map(scale_of).fold(0.0, f64::max);
        largest(&self.residual) <= (RESIDUAL_TOLERANCE * scale).max(NO_FORCE)
    }

    /// Relative to what the positions are summed from: their own resolution is no finer.
    fn correction_is_small(&self, g: f64) -> bool {
        let scale = largest(&self.known_x) + g * largest(&self.known_v);
        g * g * largest(&self.correction) <= POSITION_TOLERANCE * scale
    }

    /// Factors of `M + g C + g^2 K` at the present point, received tangents included.
    fn factorise(
        &mut self,
        plant: &Plant,
        t: f64,
        by: By,
        g: f64,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        let own = plant.own();
        self.matrix.clear();
        dynamic(plant, t, g, |row, slot, value| {
            if row < own && slot < own {
                self.matrix.add(row, slot, value);
            }
        });
        let weight = match by {
            By::Position => g * g,
            By::Acceleration => 1.0,
        };
        let entries = plant.tangents.entries().zip(&mut self.tangents);
        for ((row, column, component), used) in entries {
            *used = plant.inputs()[component];
            self.matrix.add(row, column, -weight * *used);
        }
        counters.factorisations += 1;
        let factorised = self.matrix.factorise();
        factorised.map_err(|ZeroPivot(node)| StepError::Singular {
            unknown: plant.equations.names[node].clone(),
        })
    }

    #[cold]
    fn not_converged(&self, plant: &Plant, iterations: usize) -> StepError {
        let magnitudes = self.residual.iter().map(|r| r.abs()).enumerate();
        let worst = magnitudes.max_by(|a, b| a.1.total_cmp(&b.1));
        let (node, residual) = worst.unwrap_or_default();
        StepError::NotConverged {
            iterations,
            residual,
            worst: plant.equations.names[node].clone(),
        }
    }
}

/// Visits the entries of `M + g C + g^2 K` at the present point: row, slot, value.
pub(super) fn dynamic(plant: &Plant, t: f64, g: f64, mut visit: impl FnMut(usize, usize, f64)) {
    let equations = &plant.equations;
    for (row, slot, mass) in equations.masses.iter() {
        visit(row, slot, *mass);
    }
    for (row, slot, coupling) in equations.couplings.iter() {
        visit(row, slot, g * (coupling.damping + g * coupling.stiffness));
    }
    for law in &equations.laws {
        let (d, v) = law.stretch(&plant.motion.x, &plant.motion.v);
        let (by_d, by_v) = law.slopes(d, v, t);
        let slope = g * (by_v + g * by_d);
        for receiver in &law.receivers {
            for (slot, sign) in law.ends.into_iter().zip([-1.0, 1.0]) {
                visit(receiver.row, slot, -receiver.sign * sign * slope);
            }
        }
    }
}

/// Where the matrix can have entries.
fn pattern(plant: &Plant) -> Vec<(usize, usize)> {
    let equations = &plant.equations;
    let masses = equations.masses.iter().map(|(row, slot, _)| (row, slot));
    let couplings = equations.couplings.iter().map(|(row, slot, _)| (row, slot));
    let laws = equations.laws.iter().flat_map(|law| {
        let rows = law.receivers.iter().map(|receiver| receiver.row);
        rows.flat_map(|row| law.ends.map(|slot| (row, slot)))
    });
    let tangents = plant
        .tangents
        .entries()
        .map(|(row, column, _)| (row, column));
    let own = |place: &(usize, usize)| place.0 < equations.own && place.1 < equations.own;
    let elements = masses.chain(couplings).chain(laws).filter(own);
    elements.chain(tangents).collect()
}

fn norm(values: &[f64]) -> f64 {
    dot(values, values).sqrt()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |most, value| value.abs().max(most))
}
