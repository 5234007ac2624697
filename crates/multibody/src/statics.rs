//! Static equilibrium with load stepping.

use crate::assembly::EvaluationPoint;
use crate::element::Weights;
use crate::error::SolveError;
use crate::linear::Prescribed;
use crate::node::Motion;
use crate::system::System;
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// Converged when the last correction is below this fraction of the model's size.
const CONVERGED: f64 = 1e-11;
const MAX_ITERATIONS: usize = 30;
/// Smallest fraction of the load by which it is raised.
const SMALLEST_STEP: f64 = 1.0 / 4096.0;

pub(crate) const STATIC: Weights = Weights {
    mass: 0.0,
    damping: 0.0,
    stiffness: 1.0,
};

impl System {
    /// Brings the model to rest under its loads at `time`, which are raised in `steps` steps (in
    /// more, where the iteration asks for it). Where weight or tension alone gives stiffness, as
    /// in a pendulum or a chain, it goes downhill from where it is under its full loads. An equilibrium that does not
    /// hold, such as that of a buckled column which is still straight, is left for one that does. A
    /// [`start`](Self::start) from there finds no acceleration. A mechanism with a motion that nothing resists is
    /// refused.
    pub fn equilibrium(
        &mut self,
        time: f64,
        steps: usize,
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        self.state.time = time;
        self.state.known = 0;
        self.work.factored.values.clear();
        for motion in &mut self.motions {
            *motion = motion.moving(Vec3::ZERO, Vec3::ZERO);
        }
        self.multipliers.fill(0.0);
        self.state.memory.fill(0.0);
        self.remember(time, 0.0, inputs);
        let given = self.motions.clone();
        match self.raise_loads(steps, inputs) {
            Err(SolveError::Singular { .. } | SolveError::NotConverged { .. }) => {
                self.motions.clone_from(&given);
                self.assembly.separate(&mut self.lu);
                self.relax(inputs)?;
            }
            raised => raised?,
        }
        self.settle(&given, inputs)?;
        self.assembly.separate(&mut self.lu);
        for (record, motion) in self.state.now.iter_mut().zip(&self.motions) {
            record.motion = *motion;
        }
        self.state.multipliers.copy_from_slice(&self.multipliers);
        Ok(())
    }

    /// Newton's iteration at rising loads, for models whose stiffness is there without any load.
    pub(crate) fn raise_loads(&mut self, steps: usize, inputs: &[f64]) -> Result<(), SolveError> {
        let (mut reached, mut step) = (0.0, 1.0 / steps.max(1) as f64);
        let mut good: (Vec<Motion>, Vec<f64>) = (self.motions.clone(), self.multipliers.clone());
        while reached < 1.0 {
            let factor = f64::min(reached + step, 1.0);
            match self.balance(factor, inputs) {
                Ok(()) => {
                    reached = factor;
                    good.0.copy_from_slice(&self.motions);
                    good.1.copy_from_slice(&self.multipliers);
                }
                Err(error) => {
                    self.motions.copy_from_slice(&good.0);
                    self.multipliers.copy_from_slice(&good.1);
                    step *= 0.5;
                    if step < SMALLEST_STEP || matches!(error, SolveError::Singular { .. }) {
                        return Err(error);
                    }
                }
            }
        }
        Ok(())
    }

    /// Newton's iteration at one load.
    pub(crate) fn balance(&mut self, load_factor: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let time = self.state.time;
        let mut size = f64::INFINITY;
        let mut worst = 0;
        for _ in 0..MAX_ITERATIONS {
            let at = EvaluationPoint {
                load_factor,
                ..EvaluationPoint::new(
                    time,
                    &self.motions,
                    &self.multipliers,
                    inputs,
                    &self.state.memory,
                )
            };
            let x = &mut self.work.residual;
            x.fill(0.0);
            self.assembly.weight(&at, x);
            self.assembly.element_residual(&at, x);
            self.work.push.add_to(x, load_factor);
            let factored = self
                .assembly
                .factor(&mut self.lu, &at, STATIC, Prescribed::Change);
            factored.map_err(|pivot| self.singular(time, pivot.unknown))?;
            let unknowns = self.assembly.unknowns();
            self.lu.solve(&mut self.work.residual[..unknowns]);
            (size, worst) = self.correction();
            if !size.is_finite() || size > 2.0 * self.size {
                break;
            }
            self.move_by_solution();
            if size <= CONVERGED * self.size {
                return Ok(());
            }
        }
        Err(self.not_converged(time, MAX_ITERATIONS, size, worst))
    }

    pub(crate) fn move_by_solution(&mut self) {
        let (nodes, multipliers) = self.work.residual.split_at(6 * self.assembly.nodes());
        for (motion, d) in self.motions[1..].iter_mut().zip(nodes.chunks_exact(6)) {
            motion.position += Vec3::new(d[0], d[1], d[2]);
            let turn = Quaternion::exp(Vec3::new(d[3], d[4], d[5]));
            motion.orientation = turn.times(motion.orientation).normalised();
            motion.rotation = motion.orientation.matrix();
        }
        for (multiplier, d) in self.multipliers.iter_mut().zip(multipliers) {
            *multiplier += d;
        }
    }
}
