//! The classical Runge–Kutta method on the accelerations of a state (index 1).
//!
//! Positions, rotation vectors from the orientation at the start of the step, and velocities are
//! integrated as if there were no constraints but those on the accelerations. Then poses and
//! velocities are projected onto the constraints, in the sense of the mass matrix: what the
//! accelerations miss of what a constraint requires lies in the directions of the projection, and
//! is taken away by it. Work is one more unknown of the same method.
//!
//! Stages are off the constraints by the square of the step, which a singular position nearby
//! magnifies without bound: there the stages are projected, too. That is the same method for
//! another extension of the accelerations beyond the constraints, so that its order stays.
//!
//! # References
//! Projection after each step: Hairer and Wanner, Solving Ordinary Differential Equations II,
//! Sect. VII.2.

use crate::consistency::Derivative;
use crate::determinants::Determinants;
use crate::error::{Passage, SolveError};
use crate::integrator::Record;
use crate::linear::BlockLu;
use crate::moved::Moved;
use crate::node::Motion;
use crate::system::System;
use oldham_space::Vec3;
use oldham_space::rotation::{Quaternion, inverse_tangent_times};

/// Violations below this, relative to the size of the model, are rounding errors.
const ROUNDING: f64 = 1e-15;
/// A projection that has come to a halt must be below this.
const CLOSED: f64 = 1e-9;

/// Energy of what the projection at the end of a step changes, as a fraction of that of the bodies it moves: more
/// is not believed next to a singular position, be it in a house or on a train.
const CHANGED: f64 = 2e-6;

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

/// What becomes of stages that are off the constraints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stray {
    Stays,
    IsProjected,
}

/// Scratch memory of a step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stages {
    /// Slopes of all nodes at the newest stage.
    newest: Vec<Slope>,
    /// Weighted sums over the stages.
    sum: Vec<Slope>,
    /// Weighted sums of dissipated, supplied and taken power.
    powers: [f64; 3],
    determinants: Determinants,
    /// Where the stages have led, before the projection.
    reached: Vec<Motion>,
}

impl Stages {
    pub fn new(nodes: usize, lu: &BlockLu) -> Self {
        Self {
            newest: vec![Slope::default(); nodes],
            sum: vec![Slope::default(); nodes],
            powers: [0.0; 3],
            determinants: Determinants::new(lu),
            reached: vec![Motion::default(); nodes],
        }
    }

    fn clear(&mut self) {
        self.newest.fill(Slope::default());
        self.sum.fill(Slope::default());
        self.powers = [0.0; 3];
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
        if self.tree.is_some() {
            return self.tree_step(time, h, stages, end);
        }
        let found = self.run_stages(time, h, stages, Stray::Stays);
        let found = found.and_then(|is_near| match is_near {
            true => self.run_stages(time, h, stages, Stray::IsProjected),
            false => Ok(false),
        });
        let found = found.and_then(|_| self.close(time, h, end));
        found.map_err(|error| {
            self.return_to_records();
            self.name_position(error, h, end)
        })
    }

    /// Fails if the motion is about to pass a singular position.
    fn doubt(&self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        match self.singular_position(h, inputs) {
            Some(joints) => Err(SolveError::singular_position(
                time,
                joints,
                Passage::Explicit,
            )),
            None => Ok(()),
        }
    }

    /// Goes through the stages. Gives whether they were left off the constraints, but a singular
    /// position is so near that they must not be.
    fn run_stages(
        &mut self,
        time: f64,
        h: f64,
        inputs: [&[f64]; 3],
        stray: Stray,
    ) -> Result<bool, SolveError> {
        let from = self.state.time;
        let has_joints = self.assembly.constraints > 0;
        self.work.stages.clear();
        for (index, stage) in STAGES.iter().enumerate() {
            let slopes = &self.work.stages.newest;
            follow(slopes, &self.state.now, stage.place * h, &mut self.motions);
            let now = from + stage.place * (time - from);
            let inputs = inputs[stage.inputs];
            match stray {
                Stray::IsProjected if index > 0 => {
                    self.project(now, h, inputs)?;
                }
                _ => self.factor_stage(now, inputs)?,
            }
            if has_joints {
                let determinants = &mut self.work.stages.determinants;
                match index {
                    0 => determinants.begin(&self.lu),
                    _ => determinants.follow(&self.lu),
                }
                match stray {
                    Stray::Stays if determinants.have_fallen() => return Ok(true),
                    // At the same time, but not in the same position.
                    Stray::IsProjected if index == 2 && determinants.have_jumped() => {
                        self.doubt(now, h, inputs)?;
                    }
                    _ => {}
                }
            }
            self.solve_accelerations(now, h, inputs)?;
            self.collect(stage.place * h, stage.weight);
            if self.options.account_energy {
                self.collect_powers(now, inputs, stage.weight);
            }
        }
        let slopes = &self.work.stages.sum;
        follow(slopes, &self.state.now, h, &mut self.motions);
        Ok(false)
    }

    /// Factors the matrix of accelerations at the motions reached.
    pub(crate) fn factor_stage(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        if let Some(node) = self.motions.iter().position(is_lost) {
            return Err(self.diverged_at(time, 6 * (node - 1)));
        }
        let factored = self.factor_accelerations(time, inputs);
        self.counters.factorisations += 1;
        factored.map_err(|error| match error {
            // They were not at the start.
            SolveError::Redundant { joints } => {
                SolveError::singular_position(time, joints, self.passage())
            }
            other => other,
        })
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
        match self.assembly.constraints > 0 {
            true => {
                self.work.stages.reached.copy_from_slice(&self.motions);
                self.project(time, h, inputs)?;
                self.work.stages.determinants.follow(&self.lu);
                if self.work.stages.determinants.have_varied() && self.projection_is_large(h) {
                    self.doubt(time, h, inputs)?;
                }
            }
            false => self.factor_stage(time, inputs)?,
        }
        self.solve_accelerations(time, h, inputs)?;
        self.remember(time, h, inputs);
        let state = &mut self.state;
        std::mem::swap(&mut state.now, &mut state.before);
        std::mem::swap(&mut state.multipliers, &mut state.multipliers_before);
        self.record_accelerations();
        let state = &mut self.state;
        let [dissipated, supplied, taken] = self.work.stages.powers;
        state.dissipated += h * dissipated;
        state.supplied += h * supplied;
        state.taken += h * taken;
        state.time = time;
        state.step = h;
        state.known = (state.known + 1).min(2);
        self.counters.micro_steps += 1;
        Ok(())
    }

    /// Makes poses and velocities consistent with the constraints, and the factors theirs.
    fn project(&mut self, time: f64, h: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.factor_stage(time, inputs)?;
        self.project_poses(time, inputs)?;
        self.factor_stage(time, inputs)?;
        self.find_derivative(Derivative::First, time, Some(h), inputs);
        self.find_smallest_change();
        self.change_velocities();
        Ok(())
    }

    /// Whether the projection at the end of a step of length `h` has changed more than can be believed.
    fn projection_is_large(&self, h: f64) -> bool {
        let ways = self.work.stages.reached.iter().zip(&self.motions);
        let each = ways.zip(&self.assembly.inertia);
        let moved = Moved::of(each.map(|((reached, end), inertia)| {
            let way = inertia.energy_of_way(reached, end, h);
            (inertia.energy_between(reached, end) + way, inertia, end)
        }));
        moved.change > CHANGED * moved.relative_energy
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
