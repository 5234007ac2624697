//! Equilibria that hold: an unstable one is left along the motion that gives way.
//!
//! An equilibrium holds if the stiffness K, seen along the motions that the joints allow, is positive. Inverse
//! iteration with the factors of the equilibrium gives the motions whose stiffness per mass is nearest to zero, which
//! are those that give way first when a load grows. If one of them is negative, the model is moved a little along it,
//! to both sides, and falls from there, each step from rest, until an equilibrium is close; the side where the forces do more work wins. Slender
//! structures, which do not come to rest so, are led around the bifurcation (`imperfection.rs`). Of several motions that give way those count that the loads
//! have already begun, against which the unstable equilibrium leans: a column is then bent to the side to which it is
//! pushed.
//!
//! Forces that turn with a node have no potential, and K is not symmetric: then a motion gives way if a real eigenvalue
//! is negative. Growing oscillations are not looked for.

use crate::assembly::EvaluationPoint;
use crate::error::SolveError;
use crate::integrator::Method;
use crate::linear::Prescribed;
use crate::node::Motion;
use crate::relaxation::way;
use crate::statics::STATIC;
use crate::system::System;
use nalgebra::{Complex, DMatrix, DVector};
use oldham_space::Vec3;

/// Motions that are looked at.
const WIDTH: usize = 8;
const ITERATIONS: usize = 12;
/// A displacement below this fraction of the model's size tells no direction.
const LEANS: f64 = 1e-9;
/// A stiffness per mass that is negative by no more than this fraction of the largest one found is rounding.
const ROUNDING: f64 = 1e-9;
/// How far the model is moved along a motion that gives way, relative to its size.
const NUDGE: f64 = 1e-3;
/// Steps of a fall, as a fraction of the time in which it grows, and how many there are at most.
const STEP: f64 = 0.5;
const MOST_STEPS: usize = 1000;
/// Iterations of a whole fall at most: most steps take a few. A model that is put together absurdly would take thousands
/// in pieces of each step.
const MOST_ITERATIONS: u64 = 4000;
/// After so many steps each an equilibrium is looked for.
const PAUSE: usize = 5;
/// Steps grow where one moves less than this fraction of the model's size, and shrink where it moves more, by a factor.
const SLOW: f64 = 0.01;
const FAST: f64 = 0.1;
const LONGER: f64 = 1.5;
/// An equilibrium is close if nodes move no more than this fraction of the model's size.
const CLOSE: f64 = 0.1;
/// A motion gives way more slowly if its stiffness is negative by this fraction only: then that equilibrium is left in turn.
const SLOWER: f64 = 0.5;
/// So many unstable equilibria are left before the search ends.
const MOST_LEFT: usize = 8;

/// A motion that gives way.
struct GivingWay {
    /// Its negative stiffness per mass.
    stiffness: f64,
    /// Displacements and spins; the largest is one length of the model's size.
    shape: Vec<f64>,
    /// The unknown that moves most.
    worst: usize,
}

impl System {
    /// From an equilibrium to one that holds; one that does is left as it is. The loads have moved the model from
    /// where it is `given`.
    pub(crate) fn settle(&mut self, given: &[Motion], inputs: &[f64]) -> Result<(), SolveError> {
        for _ in 0..MOST_LEFT {
            let Some(gives_way) = self.find_giving_way(given, inputs) else {
                return Ok(());
            };
            self.leave(&gives_way, given, inputs)?;
        }
        match self.find_giving_way(given, inputs) {
            None => Ok(()),
            Some(gives_way) => Err(self.not_stable(&gives_way)),
        }
    }

    fn not_stable(&self, gives_way: &GivingWay) -> SolveError {
        SolveError::Unstable {
            time: self.state.time,
            unknown: self.assembly.name_of(gives_way.worst).to_owned(),
            rate: (-gives_way.stiffness).sqrt(),
        }
    }

    /// Lets the model fall from both sides of an unstable equilibrium, and takes the side where the forces do more work.
    /// Where it does not come to rest, loads are raised anew beside a push that leads past the bifurcation.
    fn leave(
        &mut self,
        gives_way: &GivingWay,
        unloaded: &[Motion],
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        let given = (self.motions.clone(), self.multipliers.clone());
        let kept = (self.options, self.counters, self.state.memory.clone());
        self.options.method = Method::BackwardEuler;
        self.options.account_energy = false;
        self.options.locates_kinks = false;
        let mut best: Option<(f64, Vec<Motion>, Vec<f64>)> = None;
        for sign in [1.0, -1.0] {
            self.motions.clone_from(&given.0);
            self.multipliers.clone_from(&given.1);
            self.state.memory.clone_from(&kept.2);
            self.work.residual.fill(0.0);
            for (to, shape) in self.work.residual.iter_mut().zip(&gives_way.shape) {
                *to = sign * NUDGE * shape;
            }
            self.move_by_solution();
            let Some(work) = self.fall(gives_way.stiffness, inputs) else {
                continue;
            };
            if best.as_ref().is_none_or(|(most, ..)| work > *most) {
                best = Some((work, self.motions.clone(), self.multipliers.clone()));
            }
        }
        (self.options, self.counters) = (kept.0, kept.1);
        self.state.memory = kept.2;
        (self.state.known, self.state.step) = (0, 0.0);
        self.state.convergence = Default::default();
        self.assembly.separate(&mut self.lu);
        let Some((_, motions, multipliers)) = best else {
            if self.bends_away(gives_way, unloaded, &given.0, inputs) {
                return Ok(());
            }
            (self.motions, self.multipliers) = given;
            self.assembly.separate(&mut self.lu);
            return Err(self.not_stable(gives_way));
        };
        (self.motions, self.multipliers) = (motions, multipliers);
        Ok(())
    }

    /// Whether there is an equilibrium past the bifurcation, to the side to which the loads push or else to the other, that
    /// holds or gives way much more slowly; then the model is in it.
    fn bends_away(
        &mut self,
        gives_way: &GivingWay,
        unloaded: &[Motion],
        left: &[Motion],
        inputs: &[f64],
    ) -> bool {
        let stiffness = gives_way.stiffness;
        [1.0, -1.0].into_iter().any(|sign| {
            let shape: Vec<f64> = gives_way.shape.iter().map(|x| sign * x).collect();
            self.go_around(unloaded, (stiffness, &shape), inputs, |system| {
                let found = system.find_giving_way(left, inputs);
                found.is_none_or(|found| found.stiffness > SLOWER * stiffness)
            })
        })
    }

    /// Falls while the loads stay those of the present time, each step of backward Euler from rest: so energy falls in
    /// every step, and nothing swings. Newton's iteration looks for an equilibrium close by now and then. Gives the work
    /// of the forces; nothing if it does not come to rest.
    fn fall(&mut self, stiffness: f64, inputs: &[f64]) -> Option<f64> {
        let now = self.state.time;
        self.assembly.separate(&mut self.lu);
        let (mut h, mut work) = (STEP / (-stiffness).sqrt(), 0.0);
        let begun = self.counters.iterations;
        for step in 1..=MOST_STEPS {
            if self.counters.iterations - begun > MOST_ITERATIONS {
                return None;
            }
            for motion in &mut self.motions {
                *motion = motion.moving(Vec3::ZERO, Vec3::ZERO);
            }
            self.start(now, inputs).ok()?;
            // Nodes that hardly have inertia would be predicted far away: the step is sought from where they are.
            for record in &mut self.state.now {
                record.acceleration = Vec3::ZERO;
                record.angular_acceleration = Vec3::ZERO;
            }
            self.state.convergence = Default::default();
            let typical = SLOW * self.size / (h * h);
            self.state.convergence.observe_acceleration(typical);
            let before = (self.applied_forces(inputs), self.motions.clone());
            self.step_to(now, h, inputs).ok()?;
            let after = self.applied_forces(inputs);
            let mean = before.0.iter().zip(&after).map(|(a, b)| 0.5 * (a + b));
            let way = way(&before.1, &self.motions);
            work += mean.zip(&way).map(|(force, way)| force * way).sum::<f64>();
            let moved = self.length_of(&way).0;
            if moved.is_nan() || moved > self.size {
                // The iteration has lost the way.
                return None;
            }
            if step % PAUSE == 0 {
                if self.rests(stiffness, inputs) {
                    return Some(work);
                }
                h *= if moved < SLOW * self.size {
                    LONGER
                } else {
                    1.0
                };
            }
            if moved > FAST * self.size {
                h /= LONGER;
            }
        }
        None
    }

    /// Whether there is an equilibrium close by that holds, or gives way much more slowly; then the model is in it.
    fn rests(&mut self, stiffness: f64, inputs: &[f64]) -> bool {
        let (motions, multipliers) = (self.motions.clone(), self.multipliers.clone());
        for motion in &mut self.motions {
            *motion = motion.moving(Vec3::ZERO, Vec3::ZERO);
        }
        self.work.factored.values.clear();
        self.state.convergence.debt = u64::MAX / 2;
        self.assembly.separate(&mut self.lu);
        let is_balanced = self.balance(1.0, inputs).is_ok();
        let moved = self.length_of(&way(&motions, &self.motions)).0;
        if is_balanced && moved <= CLOSE * self.size {
            let gives_way = self.find_giving_way(&motions, inputs);
            if gives_way.is_none_or(|found| found.stiffness > SLOWER * stiffness) {
                return true;
            }
        }
        (self.motions, self.multipliers) = (motions, multipliers);
        self.assembly.separate(&mut self.lu);
        false
    }

    /// The motion with the most negative stiffness per mass, if one is negative.
    fn find_giving_way(&mut self, given: &[Motion], inputs: &[f64]) -> Option<GivingWay> {
        let nodes = 6 * self.assembly.nodes();
        let free = nodes.saturating_sub(self.assembly.constraints);
        if free == 0 {
            return None;
        }
        let time = self.state.time;
        let at = EvaluationPoint::new(
            time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        );
        let factored = self
            .assembly
            .factor(&mut self.lu, &at, STATIC, Prescribed::Change);
        if factored.is_err() {
            return None;
        }
        let mut width = WIDTH.min(free);
        let start = |i: usize, j: usize| ((1 + i * (j + 1)) as f64 * 0.7391).sin();
        let mut basis = self.independent(DMatrix::from_fn(nodes, width, start));
        width = basis.ncols();
        let mut found = None;
        for _ in 0..ITERATIONS {
            if width == 0 {
                return None;
            }
            let load = self.mass_times(&basis);
            let next = self.solve_columns(&load);
            // K next = M basis but for reactions, which do no work.
            let stiffness = next.tr_mul(&load);
            let mass = next.tr_mul(&self.mass_times(&next));
            found = Some((stiffness, mass, next.clone()));
            basis = self.independent(next);
            width = basis.ncols();
        }
        let (stiffness, mass, vectors) = found?;
        let lean = way(given, &self.motions);
        self.most_negative(&stiffness, &mass, &vectors, &lean)
    }

    fn most_negative(
        &self,
        stiffness: &DMatrix<f64>,
        mass: &DMatrix<f64>,
        vectors: &DMatrix<f64>,
        lean: &[f64],
    ) -> Option<GivingWay> {
        let reduced = mass.clone().lu().solve(stiffness)?;
        let eigenvalues = reduced.complex_eigenvalues();
        let largest = eigenvalues.iter().map(|s| s.norm()).fold(0.0, f64::max);
        let is_real = |s: &&Complex<f64>| s.im.abs() <= 1e-6 * s.norm();
        let real = eigenvalues.iter().filter(is_real).map(|s| s.re);
        let least = real.fold(f64::INFINITY, f64::min);
        if least >= -ROUNDING * largest {
            return None;
        }
        let factor = mass.clone().cholesky()?.l();
        let half = factor.solve_lower_triangular(stiffness)?;
        let whole = factor.solve_lower_triangular(&half.transpose())?;
        let eigen = ((&whole + whole.transpose()) * 0.5).symmetric_eigen();
        let shapes = factor
            .transpose()
            .solve_upper_triangular(&eigen.eigenvectors)?;
        let shapes = vectors * shapes;
        // The present displacement is what the loads do by a negative stiffness: they push the other way.
        let leans = self.mass_times(&DMatrix::from_column_slice(lean.len(), 1, lean));
        let mut shape = DMatrix::zeros(shapes.nrows(), 1);
        let mut first = (0, 0.0);
        for (k, &value) in eigen.eigenvalues.iter().enumerate() {
            if value < 0.0 {
                let share = shapes.column(k).dot(&leans.column(0));
                shape.column_mut(0).axpy(-share, &shapes.column(k), 1.0);
            }
            if value < first.1 {
                first = (k, value);
            }
        }
        // Where nothing leans the one that gives way most is taken.
        let (length, _) = self.length_of(shape.as_slice());
        if length <= LEANS * self.size {
            shape.column_mut(0).copy_from(&shapes.column(first.0));
        }
        let (length, worst) = self.length_of(shape.as_slice());
        let shape = shape.as_slice().iter().map(|d| d * self.size / length);
        (length > 0.0).then(|| GivingWay {
            stiffness: least,
            shape: shape.collect(),
            worst,
        })
    }

    /// Columns made orthonormal by the mass, those that depend on others left out.
    fn independent(&self, columns: DMatrix<f64>) -> DMatrix<f64> {
        let mut kept: Vec<DVector<f64>> = Vec::new();
        let mut weighed: Vec<DVector<f64>> = Vec::new();
        for column in columns.column_iter() {
            let mut x = DMatrix::from_column_slice(columns.nrows(), 1, column.as_slice());
            let norm = |x: &DMatrix<f64>| x.dot(&self.mass_times(x)).max(0.0).sqrt();
            let before = norm(&x);
            for _ in 0..2 {
                for (k, w) in kept.iter().zip(&weighed) {
                    let share = w.dot(&x.column(0));
                    x.column_mut(0).axpy(-share, k, 1.0);
                }
            }
            let after = norm(&x);
            if after > 1e-8 * before && after.is_finite() {
                x /= after;
                weighed.push(self.mass_times(&x).column(0).into_owned());
                kept.push(x.column(0).into_owned());
            }
        }
        match kept.is_empty() {
            true => DMatrix::zeros(columns.nrows(), 0),
            false => DMatrix::from_columns(&kept),
        }
    }
}
