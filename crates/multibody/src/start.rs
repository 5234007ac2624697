//! Consistent initial values: positions, velocities, accelerations, multipliers.

use crate::assembly::Everywhere;
use crate::error::SolveError;
use crate::math::Vec3;
use crate::node::Motion;
use crate::redundancy;
use crate::rotation::Quaternion;
use crate::system::System;

/// Inertia that a node without mass gets in kinematic problems, relative to the largest.
const FLOOR: f64 = 1e-6;
/// Constraints count as fulfilled below this, relative to the size of the model.
const ASSEMBLED: f64 = 1e-12;
const MAX_ASSEMBLY_ITERATIONS: usize = 50;

/// Weights of f(0), f(ε), … f(5 ε) in the first and second derivative at 0: forward differences,
/// since a drive may begin at the start.
const FIRST: [f64; 6] = [-137.0 / 60.0, 5.0, -5.0, 10.0 / 3.0, -5.0 / 4.0, 1.0 / 5.0];
const SECOND: [f64; 6] = [
    15.0 / 4.0,
    -77.0 / 6.0,
    107.0 / 6.0,
    -13.0,
    61.0 / 12.0,
    -5.0 / 6.0,
];

impl System {
    /// Makes the initial state consistent at `time`: moves the nodes as little as possible (in the
    /// sense of the mass matrix) until all joints fit, changes the velocities as little as
    /// possible until they obey the joints, and computes accelerations and multipliers.
    pub fn start(&mut self, time: f64, inputs: &[f64]) -> Result<(), SolveError> {
        self.state.time = time;
        self.state.known = 0;
        self.state.convergence = Default::default();
        self.multipliers.fill(0.0);
        self.state.memory.fill(0.0);
        self.remember(time, 0.0, inputs);
        self.assemble_positions(inputs)?;
        self.correct_velocities(inputs)?;
        self.remember(time, 0.0, inputs);
        self.find_accelerations(inputs)?;
        self.reserve_linearisation(inputs.len());
        self.work.factored.values.clear();
        self.state.known = 1;
        (self.state.dissipated, self.state.supplied) = (0.0, 0.0);
        self.set_powers(inputs);
        Ok(())
    }

    /// Makes room for the point of linearisation, whose size must not change in a run.
    pub(crate) fn reserve_linearisation(&mut self, inputs: usize) {
        let others = self.assembly.constraints + self.assembly.memory + inputs;
        for linearisation in [&mut self.state.linearisation, &mut self.work.factored] {
            linearisation.reserve(self.motions.len(), others);
        }
    }

    pub(crate) fn assemble_positions(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        for _ in 0..MAX_ASSEMBLY_ITERATIONS {
            let violation = self.violation(0.0, inputs);
            let (largest, _) = peak(&violation);
            if largest <= ASSEMBLED * self.size {
                return Ok(());
            }
            let change = self.solve_kinematics(inputs, violation, FLOOR)?;
            for (motion, d) in self.motions[1..].iter_mut().zip(change.chunks_exact(6)) {
                motion.position += Vec3::new(d[0], d[1], d[2]);
                let turn = Quaternion::exp(Vec3::new(d[3], d[4], d[5]));
                motion.orientation = turn.times(motion.orientation).normalised();
                motion.rotation = motion.orientation.matrix();
            }
        }
        let (violation, row) = peak(&self.violation(0.0, inputs));
        let joint = self
            .assembly
            .name_of(6 * self.assembly.nodes() + row)
            .to_owned();
        Err(SolveError::NotAssembled { violation, joint })
    }

    fn correct_velocities(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let rate = self.violation_derivative(&FIRST, 1, inputs);
        let change = self.solve_kinematics(inputs, rate, FLOOR)?;
        for (motion, d) in self.motions[1..].iter_mut().zip(change.chunks_exact(6)) {
            motion.velocity += Vec3::new(d[0], d[1], d[2]);
            motion.angular_velocity += Vec3::new(d[3], d[4], d[5]);
        }
        Ok(())
    }

    /// Finds the accelerations and multipliers of the present state.
    pub(crate) fn find_accelerations(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let mut x = self.acceleration_load(inputs);
        self.factor_accelerations(inputs)?;
        self.lu.solve(&mut x);
        self.record_start(&x, 6 * self.assembly.nodes());
        Ok(())
    }

    /// Factors the matrix whose solution for [`acceleration_load`](Self::acceleration_load) are
    /// accelerations and multipliers.
    pub(crate) fn factor_accelerations(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        if self.factor_kinematics(inputs, 0.0).is_err() {
            self.factor_kinematics(inputs, FLOOR * FLOOR)?;
        }
        Ok(())
    }

    /// All forces but those of the multipliers, less the inertia forces that do not depend on the
    /// accelerations; and what the constraints demand of the accelerations.
    pub(crate) fn acceleration_load(&self, inputs: &[f64]) -> Vec<f64> {
        let second = self.violation_derivative(&SECOND, 2, inputs);
        let nodes = 6 * self.assembly.nodes();
        let mut x = vec![0.0; self.assembly.residual_length()];
        let none = vec![0.0; self.assembly.constraints];
        let at = Everywhere {
            multipliers: &none,
            ..self.everywhere(inputs)
        };
        self.assembly.element_residual(&at, &mut x);
        self.assembly.weight(&at, &mut x);
        for (i, row) in x[..nodes].chunks_exact_mut(6).enumerate() {
            let (inertia, motion) = (&self.assembly.inertia[i + 1], &self.motions[i + 1]);
            let rate = inertia.momentum_rate(motion, Vec3::ZERO, Vec3::ZERO);
            let convected = motion.velocity.cross(inertia.momentum(motion).linear);
            for k in 0..3 {
                row[k] -= rate.linear[k];
                row[3 + k] -= rate.angular[k] + convected[k];
            }
        }
        x.truncate(self.assembly.unknowns());
        for (row, value) in x[nodes..].iter_mut().zip(&second) {
            *row = -value;
        }
        x
    }

    fn record_start(&mut self, x: &[f64], nodes: usize) {
        for (i, d) in x[..nodes].chunks_exact(6).enumerate() {
            let (inertia, motion) = (&self.assembly.inertia[i + 1], self.motions[i + 1]);
            let (a, alpha) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
            let record = &mut self.state.now[i + 1];
            record.motion = motion;
            (record.acceleration, record.angular_acceleration) = (a, alpha);
            record.algorithmic = [a, motion.rotation.transpose_mul(alpha)];
            record.momentum = inertia.momentum(&motion);
            record.momentum_rate = inertia.momentum_rate(&motion, a, alpha);
            if inertia.mass > 0.0 {
                let scale = &mut self.state.convergence;
                scale.observe_acceleration(a.norm().max(alpha.norm() * self.size));
            }
        }
        let constraints = self.assembly.constraints;
        self.multipliers
            .copy_from_slice(&x[nodes..nodes + constraints]);
        self.state.multipliers.copy_from_slice(&self.multipliers);
    }

    /// Solves for the smallest change of the poses, or of the velocities, that takes `violation`
    /// away.
    fn solve_kinematics(
        &mut self,
        inputs: &[f64],
        violation: Vec<f64>,
        floor: f64,
    ) -> Result<Vec<f64>, SolveError> {
        self.factor_kinematics(inputs, floor)?;
        let mut x = vec![0.0; 6 * self.assembly.nodes()];
        x.extend(violation.into_iter().map(|value| -value));
        self.lu.solve(&mut x);
        Ok(x)
    }

    pub(crate) fn factor_kinematics(
        &mut self,
        inputs: &[f64],
        floor: f64,
    ) -> Result<(), SolveError> {
        let at = Everywhere {
            time: self.state.time,
            motions: &self.motions,
            multipliers: &self.multipliers,
            inputs,
            input_time: self.state.time,
            load_factor: 1.0,
            memory: &self.state.memory,
            elapsed: 0.0,
        };
        self.work.factored.values.clear();
        self.work.stamp += 1;
        let factored = self.assembly.factor_kinematics(&mut self.lu, &at, floor);
        let Err(pivot) = factored else { return Ok(()) };
        let joints = redundancy::dependent_joints(&self.assembly, &at, self.size);
        if joints.is_empty() {
            return Err(self.singular(self.state.time, pivot.unknown));
        }
        Err(SolveError::Redundant { joints })
    }

    /// Violations of all constraints when every node has drifted for `dt` at its velocity.
    fn violation(&self, dt: f64, inputs: &[f64]) -> Vec<f64> {
        let drifted: Vec<Motion> = self.motions.iter().map(|m| m.drifted(dt)).collect();
        let time = self.state.time;
        let at = Everywhere {
            time: time + dt,
            motions: if dt == 0.0 { &self.motions } else { &drifted },
            multipliers: &self.multipliers,
            inputs,
            input_time: time,
            load_factor: 1.0,
            memory: &self.state.memory,
            elapsed: 0.0,
        };
        let mut values = vec![0.0; self.assembly.residual_length()];
        self.assembly.element_residual(&at, &mut values);
        let rows = 6 * self.assembly.nodes()..self.assembly.unknowns();
        values[rows].iter().map(|value| -value).collect()
    }

    /// Time derivative of the violations along that drift.
    fn violation_derivative(&self, stencil: &[f64; 6], order: i32, inputs: &[f64]) -> Vec<f64> {
        let spin = |motion: &Motion| motion.angular_velocity.norm();
        let fastest = self.motions.iter().map(spin).fold(0.0, f64::max);
        let step = 1e-2 / (10.0 + fastest);
        let mut sum = vec![0.0; self.assembly.constraints];
        for (i, weight) in stencil.iter().enumerate() {
            let violation = self.violation(i as f64 * step, inputs);
            for (sum, value) in sum.iter_mut().zip(violation) {
                *sum += weight * value / step.powi(order);
            }
        }
        sum
    }
}

fn peak(values: &[f64]) -> (f64, usize) {
    let mut largest = (0.0, 0);
    for (i, value) in values.iter().enumerate() {
        if value.abs() > largest.0 || value.is_nan() {
            largest = (value.abs(), i);
        }
    }
    largest
}
