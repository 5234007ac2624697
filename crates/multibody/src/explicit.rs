//! The classical Runge–Kutta method on the accelerations of a state (index 1).
//!
//! Positions, rotation vectors from the orientation at the start of the step, and velocities are
//! integrated as if there were no constraints but those on the accelerations. Then poses and
//! velocities are projected onto the constraints, in the sense of the mass matrix: what the
//! accelerations miss of what a constraint requires lies in the directions of the projection, and
//! is taken away by it. Work is one more unknown of the same method.
//!
//! # References
//! Projection after each step: Hairer and Wanner, Solving Ordinary Differential Equations II,
//! Sect. VII.2.

use crate::consistency::Derivative;
use crate::error::SolveError;
use crate::integrator::Record;
use crate::node::Motion;
use crate::system::System;
use oldham_space::Vec3;
use oldham_space::rotation::{Quaternion, inverse_tangent_times};

/// Violations below this, relative to the size of the model, are rounding errors.
const ROUNDING: f64 = 1e-15;
/// A projection that has come to a halt must be below this.
const CLOSED: f64 = 1e-9;

/// A stage of the method.
struct RungeKuttaStage {
    /// Its place within the step.
    place: f64,
    /// Weight of its slopes.
    weight: f64,
    /// Which of the inputs at the start, in the middle and at the end act.
    inputs: usize,
}

const STAGES: [RungeKuttaStage; 4] = [
    RungeKuttaStage::new(0.0, 1.0 / 6.0, 0),
    RungeKuttaStage::new(0.5, 1.0 / 3.0, 1),
    RungeKuttaStage::new(0.5, 1.0 / 3.0, 1),
    RungeKuttaStage::new(1.0, 1.0 / 6.0, 2),
];

impl RungeKuttaStage {
    const fn new(place: f64, weight: f64, inputs: usize) -> Self {
        Self {
            place,
            weight,
            inputs,
        }
    }
}

/// Scratch memory of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages {
    /// Slopes of all nodes at the newest stage.
    newest: Vec<Slope>,
    /// Weighted sums over the stages.
    sum: Vec<Slope>,
    /// Weighted sums of dissipated and supplied power.
    powers: [f64; 2],
}

impl Stages {
    pub fn new(nodes: usize) -> Self {
        Self {
            newest: vec![Slope::default(); nodes],
            sum: vec![Slope::default(); nodes],
            powers: [0.0; 2],
        }
    }

    fn clear(&mut self) {
        self.newest.fill(Slope::default());
        self.sum.fill(Slope::default());
        self.powers = [0.0; 2];
    }
}

/// Rates of what is integrated.
#[derive(Clone, Copy, Debug, Default)]
struct Slope {
    velocity: Vec3,
    /// Rate of the rotation vector, in node axes at the start of the step.
    turn: Vec3,
    acceleration: Vec3,
    angular_acceleration: Vec3,
}

impl Slope {
    fn add(&mut self, other: &Self, weight: f64) {
        self.velocity += other.velocity * weight;
        self.turn += other.turn * weight;
        self.acceleration += other.acceleration * weight;
        self.angular_acceleration += other.angular_acceleration * weight;
    }

    /// The motion from a start along the slope.
    fn follow(&self, start: &Motion, distance: f64) -> Motion {
        let turn = Quaternion::exp(self.turn * distance);
        let orientation = start.orientation.times(turn).normalised();
        Motion {
            position: start.position + self.velocity * distance,
            orientation,
            rotation: orientation.matrix(),
            velocity: start.velocity + self.acceleration * distance,
            angular_velocity: start.angular_velocity + self.angular_acceleration * distance,
        }
    }
}

impl System {
    /// Advances by `h` to `time`. The stages see the inputs at the start, in the middle and at the
    /// end that are given first; the state reached goes with `end`.
    pub(crate) fn explicit_step(
        &mut self,
        time: f64,
        h: f64,
        stages: [&[f64]; 3],
        end: &[f64],
    ) -> Result<(), SolveError> {
        let found = self.run_stages(time, h, stages);
        let found = found.and_then(|()| self.close(time, h, end));
        if found.is_err() {
            self.return_to_records();
        }
        found
    }

    fn run_stages(&mut self, time: f64, h: f64, inputs: [&[f64]; 3]) -> Result<(), SolveError> {
        let from = self.state.time;
        self.work.stages.clear();
        for stage in &STAGES {
            let slopes = &self.work.stages.newest;
            follow(slopes, &self.state.now, stage.place * h, &mut self.motions);
            let now = from + stage.place * (time - from);
            self.accelerate(now, h, inputs[stage.inputs])?;
            self.collect(stage.place * h, stage.weight);
            if self.options.account_energy {
                self.collect_powers(now, inputs[stage.inputs], stage.weight);
            }
        }
        let slopes = &self.work.stages.sum;
        follow(slopes, &self.state.now, h, &mut self.motions);
        Ok(())
    }

    /// Accelerations and multipliers at a stage.
    fn accelerate(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.factor_stage(time, inputs)?;
        self.solve_accelerations(time, h, inputs)
    }

    /// Factors the matrix of accelerations at the motions reached.
    pub(crate) fn factor_stage(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if let Some(node) = self.motions.iter().position(is_lost) {
            return Err(self.diverged_at(time, 6 * (node - 1)));
        }
        self.factor_accelerations(time, inputs)?;
        self.counters.factorisations += 1;
        Ok(())
    }

    /// The same for a step with impulses; where the interface was asked for since the last step, the factors are there.
    pub(crate) fn factor_impulses(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let is_made = self.knows_next_factors(time);
        self.work.impulse_factors.0 = f64::NAN;
        match is_made {
            true => Ok(()),
            false => self.factor_stage(time, inputs),
        }
    }

    /// Whether the factors at hand are those of the present motions.
    fn knows_next_factors(&self, time: f64) -> bool {
        let (at, motions, number) = &self.work.impulse_factors;
        *at == time && *number == self.work.stamp && *motions == self.motions
    }

    /// Factors the matrix of the next step with impulses, which takes it over.
    pub(crate) fn factor_next_step(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if self.knows_next_factors(time) {
            return Ok(());
        }
        self.factor_stage(time, inputs)?;
        let stamp = self.work.stamp;
        let (at, motions, number) = &mut self.work.impulse_factors;
        (*at, *number) = (time, stamp);
        motions.clone_from(&self.motions);
        Ok(())
    }

    /// Solves for them with the factors that there are.
    fn solve_accelerations(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.find_acceleration_load(time, Some(h), inputs);
        self.solve_residual();
        let solved = &self.work.residual[6 * self.assembly.nodes()..self.assembly.unknowns()];
        self.multipliers.copy_from_slice(solved);
        let values = &self.work.residual[..self.assembly.unknowns()];
        match values.iter().position(|value| !value.is_finite()) {
            None => Ok(()),
            Some(worst) => Err(self
                .not_finite(time, inputs)
                .unwrap_or_else(|| self.diverged_at(time, worst))),
        }
    }

    /// Adds the slopes of a stage; `distance` is its time from the start of the step.
    fn collect(&mut self, distance: f64, weight: f64) {
        let nodes = self.work.residual.chunks_exact(6);
        let records = self.state.now[1..].iter().zip(&self.motions[1..]);
        let Stages { newest, sum, .. } = &mut self.work.stages;
        let slopes = newest[1..].iter_mut().zip(&mut sum[1..]);
        for ((d, (record, motion)), (newest, sum)) in nodes.zip(records).zip(slopes) {
            let start = &record.motion;
            let theta = newest.turn * distance;
            let spin = start.rotation.transpose_mul(motion.angular_velocity);
            *newest = Slope {
                velocity: motion.velocity,
                turn: inverse_tangent_times(theta, spin),
                acceleration: Vec3::new(d[0], d[1], d[2]),
                angular_acceleration: Vec3::new(d[3], d[4], d[5]),
            };
            sum.add(newest, weight);
        }
    }

    fn collect_powers(&mut self, time: f64, inputs: &[f64], weight: f64) {
        let powers = self.powers(time, inputs);
        for (sum, power) in self.work.stages.powers.iter_mut().zip(powers) {
            *sum += weight * power;
        }
    }

    /// Makes the motions reached consistent and the new state.
    fn close(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.factor_stage(time, inputs)?;
        if self.assembly.constraints > 0 {
            self.project_poses(time, inputs)?;
            self.factor_stage(time, inputs)?;
            self.find_derivative(Derivative::First, time, Some(h), inputs);
            self.find_smallest_change();
            self.change_velocities();
        }
        self.solve_accelerations(time, h, inputs)?;
        self.remember(time, h, inputs);
        let state = &mut self.state;
        std::mem::swap(&mut state.now, &mut state.before);
        std::mem::swap(&mut state.multipliers, &mut state.multipliers_before);
        self.record_accelerations();
        let state = &mut self.state;
        let [dissipated, supplied] = self.work.stages.powers;
        state.dissipated += h * dissipated;
        state.supplied += h * supplied;
        state.time = time;
        state.step = h;
        state.known = (state.known + 1).min(2);
        self.counters.micro_steps += 1;
        Ok(())
    }

    /// Moves the nodes, with the factors that there are, until the constraints are fulfilled up to
    /// rounding.
    pub(crate) fn project_poses(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let mut before = f64::INFINITY;
        loop {
            let (largest, row) = self.find_violations(time, inputs);
            if largest <= ROUNDING * self.size {
                return Ok(());
            }
            // Neither does NaN.
            let shrinks = largest < 0.5 * before;
            if !shrinks {
                return match largest <= CLOSED * self.size {
                    true => Ok(()),
                    false => Err(self.diverged_at(time, 6 * self.assembly.nodes() + row)),
                };
            }
            before = largest;
            self.find_smallest_change();
            self.change_poses();
        }
    }

    pub(crate) fn diverged_at(&self, time: f64, unknown: usize) -> SolveError {
        SolveError::Diverged {
            time,
            unknown: self.assembly.name_of(unknown).to_owned(),
        }
    }
}

/// Moves all nodes from the start of the step along slopes; the ground stays.
fn follow(slopes: &[Slope], starts: &[Record], distance: f64, motions: &mut [Motion]) {
    let nodes = slopes.iter().zip(starts);
    for (motion, (slope, start)) in motions.iter_mut().zip(nodes).skip(1) {
        *motion = slope.follow(&start.motion, distance);
    }
}

/// Whether the motion, or a product of two of its values, is beyond all numbers.
fn is_lost(motion: &Motion) -> bool {
    let vectors = [motion.position, motion.velocity, motion.angular_velocity];
    vectors.iter().any(|v| !v.dot(*v).is_finite())
}
