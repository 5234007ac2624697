//! Static equilibrium where weight or tension alone gives stiffness: pendulums, chains, cables.
//!
//! The stiffness of such a mechanism depends on reactions that are unknown at first, and it may be
//! zero or negative far from equilibrium. Newton's matrix K is therefore completed to K + σ M, as
//! if the mechanism moved through a viscous medium in time steps of length 1/σ. The work that the
//! forces do on the way tells whether a step was a good one: then σ falls and the iteration becomes
//! Newton's; else the step is taken back and σ rises. Every step ends with the joints assembled, so
//! that reactions do no work. The forces need no potential.
//!
//! # References
//! Kelley, Keyes, "Convergence analysis of pseudo-transient continuation", SIAM J. Numer. Anal. 35
//! (1998) 508–523; Moré, "The Levenberg–Marquardt algorithm", LNM 630 (1978) 105–116.

use crate::assembly::EvaluationPoint;
use crate::element::Weights;
use crate::error::SolveError;
use crate::node::Motion;
use crate::system::System;
use nalgebra::DMatrix;
use oldham_space::Vec3;

const MAX_STEPS: usize = 1000;
/// A step may move nodes so far, relative to the model's size.
const REACH: f64 = 0.2;
/// A correction below this fraction of the model's size is left to Newton's iteration.
const NEAR: f64 = 1e-7;
/// Attempts of Newton's iteration at corrections that are larger than this fraction of the size.
const MOST_ATTEMPTS: usize = 5;
const NOTHING: f64 = 1e-13;
/// A model whose accelerations are below this fraction of what its forces could cause is given at rest: rounding would
/// tell which way is downhill.
const AT_REST: f64 = 1e-10;
/// Fractions of the predicted work above which a step is kept, and above which it is good.
const KEPT: f64 = 0.1;
const GOOD: f64 = 0.6;
/// How σ rises after a bad step and falls after a good one.
const RISE: f64 = 4.0;
const FALL: f64 = 0.2;
/// Inertia that a node without mass gets, relative to the largest.
const FLOOR: f64 = 1e-6;
/// What the medium resists to rotations besides: mass times this fraction of the model's size squared.
/// Slender cables have hardly any inertia about their axis, nor stiffness, and would twist at will.
const GYRATION: f64 = 1e-3;
/// Below this fraction of its first value σ does not fall.
const LEAST: f64 = 1e-9;

/// What a step promises.
struct Trial {
    /// Largest displacement as a length, and its unknown.
    size: f64,
    worst: usize,
    /// Work of the forces along it: by their present values, and with their changes.
    work: f64,
    predicted: f64,
}

impl System {
    /// Brings the model to rest under its full loads, from the present positions.
    pub(crate) fn relax(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        self.assemble_positions(inputs)?;
        let first = self.first_push(inputs)?;
        if first == 0.0 {
            return self.balance_or_name(first, inputs);
        }
        let mut push = first;
        let (mut size, mut worst) = (0.0, 0);
        let mut attempts = 0;
        for _ in 0..MAX_STEPS {
            let Some(trial) = self.trial(push, inputs) else {
                push *= RISE;
                continue;
            };
            (size, worst) = (trial.size, trial.worst);
            if size <= NEAR * self.size {
                // Where the stiffness comes with a tension that this very step brings about, as in
                // a stiff rod that hangs, Newton's matrix is still singular before it.
                attempts += 1;
                let is_last = attempts > MOST_ATTEMPTS || size <= NOTHING * self.size;
                match self.try_to_balance(inputs) {
                    Err(_) if is_last => return self.balance_or_name(first, inputs),
                    Err(_) => {}
                    Ok(()) => return Ok(()),
                }
                // The factors of this step are gone.
                if self.trial(push, inputs).is_none() {
                    push *= RISE;
                    continue;
                }
            }
            let gain = self.follow(&trial, inputs);
            if gain < KEPT {
                push *= RISE;
            } else if gain > GOOD {
                push = (push * FALL).max(first * LEAST);
            }
        }
        Err(if size < NEAR.sqrt() * self.size {
            self.not_converged(self.state.time, MAX_STEPS, size, worst)
        } else {
            self.unheld(worst)
        })
    }

    /// Estimates the multipliers; gives a σ for which a first step stays within reach. It is zero
    /// if nothing pushes.
    fn first_push(&mut self, inputs: &[f64]) -> Result<f64, SolveError> {
        self.multipliers.fill(0.0);
        let forces = self.forces(inputs);
        self.factor_kinematics(self.state.time, inputs, FLOOR)?;
        self.work.residual.copy_from_slice(&forces);
        self.lu
            .solve(&mut self.work.residual[..self.assembly.unknowns()]);
        let (acceleration, _) = self.correction();
        let nodes = 6 * self.assembly.nodes();
        let found = &self.work.residual[nodes..self.assembly.unknowns()];
        self.multipliers.copy_from_slice(found);
        let push = acceleration / (REACH * self.size);
        let largest = forces.iter().fold(0.0_f64, |m, f| m.max(f.abs()));
        let rounding = AT_REST * largest / self.assembly.largest_inertia.0;
        Ok(if acceleration > rounding { push } else { 0.0 })
    }

    /// Solves for a step; nothing if it would lead uphill, too far, or nowhere.
    fn trial(&mut self, push: f64, inputs: &[f64]) -> Option<Trial> {
        let weights = Weights {
            mass: push,
            damping: 0.0,
            stiffness: 1.0,
        };
        let gyration = GYRATION * self.size * self.size;
        let residual = self.forces(inputs);
        let time = self.state.time;
        let memory = &self.state.memory;
        let at = EvaluationPoint::new(time, &self.motions, &self.multipliers, inputs, memory);
        let factored = self
            .assembly
            .factor_with_floor(&mut self.lu, &at, weights, FLOOR, gyration);
        factored.ok()?;
        self.work.residual.copy_from_slice(&residual);
        let unknowns = self.assembly.unknowns();
        self.lu.solve(&mut self.work.residual[..unknowns]);
        let (size, worst) = self.correction();
        let nodes = 6 * self.assembly.nodes();
        let step = DMatrix::from_column_slice(nodes, 1, &self.work.residual[..nodes]);
        let dot = |a: &[f64]| {
            a.iter()
                .zip(step.as_slice())
                .map(|(a, b)| a * b)
                .sum::<f64>()
        };
        let work = dot(&residual[..nodes]);
        let turned = |turn: &[f64]| turn.iter().map(|angle| angle * angle).sum::<f64>();
        let turns = step.as_slice().chunks_exact(6).map(|d| turned(&d[3..]));
        let turning: f64 = turns.zip(self.assembly.masses()).map(|(t, m)| t * m).sum();
        let drag = push * (dot(self.mass_times(&step).as_slice()) + gyration * turning);
        let sound = size.is_finite() && size <= REACH * self.size && work > 0.0;
        sound.then_some(Trial {
            size,
            worst,
            work,
            predicted: 0.5 * (work + drag),
        })
    }

    /// Takes the step that was solved for, and assembles the joints. Gives the work done as a
    /// fraction of the one predicted; a step that does not do `KEPT` of it is taken back.
    fn follow(&mut self, trial: &Trial, inputs: &[f64]) -> f64 {
        let (motions, multipliers) = (self.motions.clone(), self.multipliers.clone());
        let before = self.applied_forces(inputs);
        self.move_by_solution();
        let gain = match self.assemble_positions(inputs) {
            Err(_) => f64::NEG_INFINITY,
            Ok(()) => {
                let after = self.applied_forces(inputs);
                let mean = before.iter().zip(&after).map(|(a, b)| 0.5 * (a + b));
                let way = way(&motions, &self.motions);
                let work: f64 = mean.zip(&way).map(|(force, way)| force * way).sum();
                // What rounding leaves of forces that balance each other.
                let noise = before.iter().zip(&way).map(|(f, w)| (f * w).abs());
                let noise = 1e-12 * noise.sum::<f64>();
                (work + noise) / trial.predicted.min(trial.work)
            }
        };
        if gain < KEPT || gain.is_nan() {
            self.motions = motions;
            self.multipliers = multipliers;
            return f64::NEG_INFINITY;
        }
        gain
    }

    /// Newton's iteration; the model stays where it is if that fails.
    fn try_to_balance(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let (motions, multipliers) = (self.motions.clone(), self.multipliers.clone());
        let balanced = self.balance(1.0, inputs);
        if balanced.is_err() {
            self.motions = motions;
            self.multipliers = multipliers;
            self.assembly.separate(&mut self.lu);
        }
        balanced
    }

    /// Newton's iteration at the end; where it is singular some motion is free.
    fn balance_or_name(&mut self, first: f64, inputs: &[f64]) -> Result<(), SolveError> {
        match self.balance(1.0, inputs) {
            Err(SolveError::Singular { unknown, .. }) => {
                let softest = self.softest(first.max(1.0) * LEAST, inputs);
                Err(softest.map_or(
                    SolveError::Unheld {
                        time: self.state.time,
                        moving: vec![unknown.clone()],
                        unknown,
                    },
                    |node| self.unheld(node),
                ))
            }
            other => other,
        }
    }

    /// An unknown of the node that moves most in the softest motion, by inverse iteration.
    fn softest(&mut self, push: f64, inputs: &[f64]) -> Option<usize> {
        self.factor_shifted(push, inputs).ok()?;
        let nodes = 6 * self.assembly.nodes();
        let mut vector = DMatrix::from_fn(nodes, 1, |i, _| 1.0 + 0.1 * (i % 7) as f64);
        for _ in 0..4 {
            let load = self.mass_times(&vector);
            vector = self.solve_columns(&load);
            vector /= vector.amax();
        }
        self.work.residual[..nodes].copy_from_slice(vector.as_slice());
        let (size, worst) = self.correction();
        size.is_finite().then_some(worst)
    }

    fn unheld(&self, unknown: usize) -> SolveError {
        SolveError::Unheld {
            time: self.state.time,
            unknown: self.assembly.name_of(unknown).to_owned(),
            moving: self.moving_as(unknown),
        }
    }

    /// Names of the nodes that move as much as that of an unknown, by the motion in `work.residual`.
    fn moving_as(&self, unknown: usize) -> Vec<String> {
        /// Of the largest motion.
        const AS_MUCH: f64 = 0.99;
        let length = |d: &[f64]| {
            let norm = |part: &[f64]| part.iter().map(|x| x * x).sum::<f64>().sqrt();
            norm(&d[..3]).max(self.size * norm(&d[3..]))
        };
        let nodes = self.work.residual[..6 * self.assembly.nodes()].chunks_exact(6);
        let lengths: Vec<f64> = nodes.map(length).collect();
        let most = AS_MUCH * lengths[unknown / 6];
        let moves = |&i: &usize| i == unknown / 6 || lengths[i] >= most;
        let moving = (0..lengths.len()).filter(moves);
        moving
            .map(|i| self.assembly.node_names[i + 1].clone())
            .collect()
    }

    /// Forces on all nodes, reactions among them, and negative violations.
    fn forces(&self, inputs: &[f64]) -> Vec<f64> {
        self.forces_with(&self.multipliers, inputs)
    }

    /// Forces on all nodes without reactions.
    pub(crate) fn applied_forces(&self, inputs: &[f64]) -> Vec<f64> {
        let none = vec![0.0; self.multipliers.len()];
        let mut forces = self.forces_with(&none, inputs);
        forces.truncate(6 * self.assembly.nodes());
        forces
    }

    fn forces_with(&self, multipliers: &[f64], inputs: &[f64]) -> Vec<f64> {
        let at = EvaluationPoint {
            multipliers,
            ..self.evaluation_point(inputs)
        };
        let mut values = vec![0.0; self.assembly.residual_length()];
        self.assembly.weight(&at, &mut values);
        self.assembly.element_residual(&at, &mut values);
        values
    }
}

/// Displacements and rotation vectors from one configuration to another.
pub(crate) fn way(from: &[Motion], to: &[Motion]) -> Vec<f64> {
    let node = |(a, b): (&Motion, &Motion)| {
        let turn: Vec3 = b.orientation.times(a.orientation.conjugate()).log();
        let [x, y, z] = (b.position - a.position).0;
        [x, y, z, turn[0], turn[1], turn[2]]
    };
    from.iter().zip(to).skip(1).flat_map(node).collect()
}
