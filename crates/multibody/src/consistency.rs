//! What belongs to a state: violations of the constraints, their time derivatives, accelerations and
//! multipliers.
//!
//! Nothing here allocates: an explicit step asks several times. Results are left in
//! `work.consistency.constraint_rhs` and `work.residual`.

use crate::assembly::{Assembly, EvaluationPoint};
use crate::drive::FORWARD;
use crate::error::SolveError;
use crate::node::Motion;
use crate::redundancy;
use crate::system::{System, Work};
use oldham_space::Vec3;

/// Inertia that a node without mass gets where accelerations are sought, relative to the largest.
const FLOOR: f64 = 1e-12;

/// Which time derivative of the violations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Derivative {
    First = 0,
    Second = 1,
}

/// Scratch memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Consistency {
    /// Motions of all nodes some time later.
    extrapolated: Vec<Motion>,
    /// A residual of which only the constraints count.
    residual: Vec<f64>,
    /// First and second derivatives of the violations of one element.
    derivatives: Vec<[f64; 2]>,
    /// Of each constraint: its violation, or a derivative of that.
    pub constraint_rhs: Vec<f64>,
    pub no_multipliers: Vec<f64>,
}

impl Consistency {
    pub fn new(assembly: &Assembly) -> Self {
        Self {
            extrapolated: vec![Motion::default(); assembly.inertia.len()],
            residual: vec![0.0; assembly.residual_length()],
            derivatives: vec![[0.0; 2]; assembly.constraints],
            constraint_rhs: vec![0.0; assembly.constraints],
            no_multipliers: vec![0.0; assembly.constraints],
        }
    }
}

impl System {
    /// Leaves the violations of all constraints in `constraint_rhs`; gives the largest and its row.
    pub(crate) fn find_violations(&mut self, time: f64, inputs: &[f64]) -> (f64, usize) {
        self.work.consistency.constraint_rhs.fill(0.0);
        self.add_violations(1.0, time, 0.0, inputs);
        peak(&self.work.consistency.constraint_rhs)
    }

    /// The same at the end of a step of length `h` whose velocities are those of its end: what is to hold for velocities alone is violated by
    /// as much as it would come to over the step.
    pub(crate) fn find_violations_of_step(
        &mut self,
        time: f64,
        h: f64,
        inputs: &[f64],
    ) -> (f64, usize) {
        let found = self.find_violations(time, inputs);
        if !self.assembly.has_constraints_on_velocities {
            return found;
        }
        let Self {
            assembly,
            motions,
            multipliers,
            state,
            work: Work { consistency, .. },
            ..
        } = self;
        let at = EvaluationPoint::new(time, motions, multipliers, inputs, &state.memory);
        for placed in &assembly.elements {
            let rows = placed.element.on_velocities();
            if rows.is_empty() {
                continue;
            }
            let found = &mut consistency.derivatives[placed.multipliers.clone()];
            let at = at.of(placed, &assembly.elements);
            placed.element.violation_derivatives(&at, h, found);
            let violations = &mut consistency.constraint_rhs[placed.multipliers.clone()];
            for row in rows {
                violations[row] = h * found[row][Derivative::First as usize];
            }
        }
        peak(&consistency.constraint_rhs)
    }

    /// Leaves a time derivative of the violations in `constraint_rhs`, for nodes that keep their
    /// velocities. Drives are taken to be smooth over a step `h`, if there is one.
    pub(crate) fn find_derivative(
        &mut self,
        of: Derivative,
        time: f64,
        h: Option<f64>,
        inputs: &[f64],
    ) {
        if self.assembly.constraints == 0 {
            return;
        }
        let spin = |motion: &Motion| motion.angular_velocity.norm();
        let fastest = self.motions.iter().map(spin).fold(0.0, f64::max);
        let longest = 1e-2 / (10.0 + fastest);
        let step = h.map_or(longest, |h| longest.min(h));
        self.work.consistency.constraint_rhs.fill(0.0);
        if self.assembly.has_unknown_derivatives {
            for (i, weights) in FORWARD.iter().enumerate() {
                let weight = weights[of as usize] / step.powi(of as i32 + 1);
                self.add_violations(weight, time, i as f64 * step, inputs);
            }
        }
        let Self {
            assembly,
            motions,
            multipliers,
            state,
            work: Work { consistency, .. },
            ..
        } = self;
        let at = EvaluationPoint::new(time, motions, multipliers, inputs, &state.memory);
        for placed in &assembly.elements {
            if placed.multipliers.is_empty() || !placed.element.knows_derivatives() {
                continue;
            }
            let found = &mut consistency.derivatives[placed.multipliers.clone()];
            let element = &placed.element;
            element.violation_derivatives(&at.of(placed, &assembly.elements), step, found);
            let constraint_rhs = &mut consistency.constraint_rhs[placed.multipliers.clone()];
            for (constraint_rhs, found) in constraint_rhs.iter_mut().zip(found) {
                *constraint_rhs = found[of as usize];
            }
        }
    }

    /// Adds the violations, weighted, when every node has drifted for `dt` at its velocity.
    fn add_violations(&mut self, weight: f64, time: f64, dt: f64, inputs: &[f64]) {
        let Self {
            assembly,
            motions,
            multipliers,
            state,
            work: Work { consistency, .. },
            ..
        } = self;
        if dt != 0.0 {
            for (extrapolated, motion) in consistency.extrapolated.iter_mut().zip(&*motions) {
                *extrapolated = motion.extrapolated(dt);
            }
        }
        let at = EvaluationPoint {
            time: time + dt,
            motions: match dt == 0.0 {
                true => motions,
                false => &consistency.extrapolated,
            },
            multipliers,
            inputs,
            input_time: time,
            load_factor: 1.0,
            memory: &state.memory,
            elapsed: 0.0,
            regimes: &[],
        };
        assembly.violations(&at, &mut consistency.residual);
        let rows = &consistency.residual[6 * assembly.nodes()..assembly.unknowns()];
        for (sum, negative) in consistency.constraint_rhs.iter_mut().zip(rows) {
            *sum -= weight * negative;
        }
    }

    /// Finds the accelerations and multipliers of the present motions, and leaves them in
    /// `work.residual`.
    pub(crate) fn find_accelerations(
        &mut self,
        time: f64,
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        self.find_acceleration_load(time, None, inputs);
        self.factor_accelerations(time, inputs)?;
        self.solve_residual();
        Ok(())
    }

    /// Solves for `work.residual` with the factors that there are.
    pub(crate) fn solve_residual(&mut self) {
        let unknowns = self.assembly.unknowns();
        let rows = &mut self.work.residual[..unknowns];
        match &mut self.tree {
            Some(tree) if self.work.solves_by_tree => tree.solve_rows(rows),
            _ => self.lu.solve(rows),
        }
    }

    /// Factors the matrix whose solution for the [load of
    /// accelerations](Self::find_acceleration_load) are accelerations and multipliers. Only an
    /// explicit method needs the acceleration of every node.
    pub(crate) fn factor_accelerations(
        &mut self,
        time: f64,
        inputs: &[f64],
    ) -> Result<(), SolveError> {
        match self.factor_kinematics(time, inputs, 0.0) {
            Err(SolveError::Singular { time, unknown, .. })
                if self.options.method.is_explicit() =>
            {
                Err(SolveError::WithoutInertia { time, unknown })
            }
            Err(_) if !self.options.method.is_explicit() => {
                self.factor_kinematics(time, inputs, FLOOR)
            }
            done => done,
        }
    }

    /// Leaves in `work.residual` all forces but those of the multipliers, less the inertia forces
    /// that do not depend on the accelerations; and what the constraints require of the
    /// accelerations.
    pub(crate) fn find_acceleration_load(&mut self, time: f64, h: Option<f64>, inputs: &[f64]) {
        self.find_derivative(Derivative::Second, time, h, inputs);
        let Self {
            assembly,
            motions,
            state,
            work:
                Work {
                    consistency,
                    residual,
                    ..
                },
            ..
        } = self;
        let at = EvaluationPoint::new(
            time,
            motions,
            &consistency.no_multipliers,
            inputs,
            &state.memory,
        );
        residual.fill(0.0);
        assembly.element_residual(&at, residual);
        assembly.weight(&at, residual);
        let (nodes, rest) = residual.split_at_mut(6 * assembly.nodes());
        for (i, row) in nodes.chunks_exact_mut(6).enumerate() {
            let (inertia, motion) = (&assembly.inertia[i + 1], &motions[i + 1]);
            let rate = inertia.momentum_rate(motion, Vec3::ZERO, Vec3::ZERO);
            let convected = motion.velocity.cross(inertia.momentum(motion).linear);
            for k in 0..3 {
                row[k] -= rate.linear[k];
                row[3 + k] -= rate.angular[k] + convected[k];
            }
        }
        for (row, second) in rest.iter_mut().zip(&consistency.constraint_rhs) {
            *row = -second;
        }
    }

    /// Makes the solution in `work.residual` the accelerations and multipliers of the newest
    /// records, and the present motions theirs.
    pub(crate) fn record_accelerations(&mut self) {
        let (nodes, multipliers) = self.work.residual.split_at(6 * self.assembly.nodes());
        let mut largest = 0.0_f64;
        for (i, d) in nodes.chunks_exact(6).enumerate() {
            let (inertia, motion) = (&self.assembly.inertia[i + 1], self.motions[i + 1]);
            let (a, alpha) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
            let record = &mut self.state.now[i + 1];
            record.motion = motion;
            (record.acceleration, record.angular_acceleration) = (a, alpha);
            record.algorithmic = [a, motion.rotation.transpose_mul(alpha)];
            record.momentum = inertia.momentum(&motion);
            record.momentum_rate = inertia.momentum_rate(&motion, a, alpha);
            if inertia.is_massive() {
                largest = largest.max(a.norm()).max(alpha.norm() * self.size);
            }
        }
        self.state.convergence.observe_acceleration(largest);
        let constraints = self.assembly.constraints;
        self.multipliers
            .copy_from_slice(&multipliers[..constraints]);
        self.state.multipliers.copy_from_slice(&self.multipliers);
    }

    /// Solves, with the factors that there are, for the smallest change of the poses, or of the
    /// velocities, that takes the violation away.
    pub(crate) fn find_smallest_change(&mut self) {
        let Work {
            consistency,
            residual,
            ..
        } = &mut self.work;
        let (nodes, rest) = residual.split_at_mut(6 * self.assembly.nodes());
        nodes.fill(0.0);
        for (row, constraint_rhs) in rest.iter_mut().zip(&consistency.constraint_rhs) {
            *row = -constraint_rhs;
        }
        self.solve_residual();
    }

    /// Moves all nodes by the solution in `work.residual`.
    pub(crate) fn change_poses(&mut self) {
        let changes = self.work.residual.chunks_exact(6);
        for (motion, d) in self.motions[1..].iter_mut().zip(changes) {
            let (displacement, turn) = (Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5]));
            *motion = motion.displaced(displacement, turn);
        }
    }

    /// Changes all velocities by the solution in `work.residual`.
    pub(crate) fn change_velocities(&mut self) {
        let changes = self.work.residual.chunks_exact(6);
        for (motion, d) in self.motions[1..].iter_mut().zip(changes) {
            motion.velocity += Vec3::new(d[0], d[1], d[2]);
            motion.angular_velocity += Vec3::new(d[3], d[4], d[5]);
        }
    }

    /// Factors a matrix with mass (at least `floor` times the largest) and constraint gradients
    /// only.
    pub(crate) fn factor_kinematics(
        &mut self,
        time: f64,
        inputs: &[f64],
        floor: f64,
    ) -> Result<(), SolveError> {
        let at = EvaluationPoint::new(
            time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        );
        self.work.factored.values.clear();
        self.work.stamp += 1;
        let factored = self.assembly.factor_kinematics(&mut self.lu, &at, floor);
        let Err(pivot) = factored else { return Ok(()) };
        let joints = redundancy::dependent_joints(&self.assembly, &at, self.size);
        if joints.is_empty() {
            return Err(self.singular(time, pivot.unknown));
        }
        Err(SolveError::Redundant { joints })
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
