//! What a jump of held loads does to the histories of a step.
//!
//! A formula with a past joins what was before a jump to what comes after it, as if the motion were smooth; a sampled
//! damper on a mass then has its limit of stability a quarter too high. The past that belongs to the new loads has other
//! accelerations by δ, at the present point and one step back, velocities that differ by -h δ there, poses by h²/2 δ. By
//! the order conditions all of that comes to a change of the known parts of one step.
//!
//! δ is found by sweeps of refinement of M δ = ΔF, G δ = 0 with Newton's own factors: what the step resolves gets nearly
//! M⁻¹ ΔF, a stiff spring next to nothing, which with M⁻¹ itself would ring. Factors may be those of some steps ago; each
//! sweep leaves of that what one of Newton's iterations does.
//!
//! Where joints are curved, a jump of accelerations is one of the third derivatives along the constraints, and with it of
//! the truncation error of the velocities. Left alone, it would make reactions ring with the first order of the step.

use crate::assembly::EvaluationPoint;
use crate::body::Momentum;
use crate::consistency::Derivative;
use crate::failure::Failure;
use crate::integrator::{Formula, Method};
use crate::system::System;
use oldham_space::Vec3;

/// Always as many, so that the shift is linear in the jump: with the factors of the very step two would do.
const SWEEPS: usize = 4;

/// A jump with which a step begins.
#[derive(Clone, Debug, Default)]
pub(crate) struct Jump {
    /// Whether the coming step begins with one, and whether the trial step does.
    pub is_expected: bool,
    pub is_met: bool,
    /// The inputs after it.
    inputs: Vec<f64>,
    /// Of the forces on nodes.
    load: Vec<f64>,
    /// Of accelerations; and of multipliers, times `weight`.
    change: Vec<f64>,
    weight: f64,
    /// Of third derivatives, where joints are curved.
    third: Vec<f64>,
    /// Forces of constraints before it, and with changed multipliers.
    forces: [Vec<f64>; 2],
    multipliers: Vec<f64>,
    /// Rates of the constraints of a model at rest.
    at_rest: Vec<f64>,
}

/// The jump of a node: accelerations, third derivatives, each linear and angular.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct NodeJump {
    pub second: [Vec3; 2],
    pub third: [Vec3; 2],
}

impl Jump {
    /// Room for a model with so many unknowns and constraints.
    pub fn new(unknowns: usize, constraints: usize, length: usize) -> Self {
        Self {
            load: vec![0.0; length],
            change: vec![0.0; unknowns],
            third: vec![0.0; unknowns],
            forces: [vec![0.0; length], vec![0.0; length]],
            multipliers: vec![0.0; constraints],
            at_rest: vec![0.0; constraints],
            ..Self::default()
        }
    }

    /// Room for so many inputs.
    pub fn reserve(&mut self, inputs: usize) {
        self.inputs.reserve(inputs);
    }

    /// Of the forces on nodes.
    pub fn load(&self) -> &[f64] {
        &self.load
    }

    /// The trial step begins with one that bends no constraints; of accelerations and of multipliers, to be filled.
    pub fn meet(&mut self, weight: f64, nodes: usize) -> (&mut [f64], &mut [f64]) {
        (self.is_met, self.weight) = (true, weight);
        self.change.fill(0.0);
        self.third.fill(0.0);
        self.change.split_at_mut(nodes)
    }

    /// Of a node, by its place among those that move.
    pub fn of(&self, place: usize) -> NodeJump {
        let vectors = |values: &[f64]| {
            let d = &values[6 * place..6 * place + 6];
            [Vec3::new(d[0], d[1], d[2]), Vec3::new(d[3], d[4], d[5])]
        };
        NodeJump {
            second: vectors(&self.change),
            third: vectors(&self.third),
        }
    }

    /// Of the multipliers.
    pub fn multipliers(&self, nodes: usize) -> impl Iterator<Item = f64> + '_ {
        let per_weight = 1.0 / self.weight;
        let changes = self.change[6 * nodes..].iter();
        changes.map(move |change| change * per_weight)
    }
}

impl System {
    /// No jump yet.
    pub(crate) fn forget_jump(&mut self) {
        self.work.jump.is_expected = false;
    }

    /// The coming step begins with inputs that have jumped: these act from now on, those did up to now.
    pub(crate) fn expect_jump(&mut self, inputs: &[f64], before: &[f64]) {
        if self.options.account_energy {
            self.set_powers(inputs);
        }
        if self.options.method.is_explicit() || self.options.method == Method::BackwardEuler {
            return;
        }
        let mut jump = std::mem::take(&mut self.work.jump);
        jump.inputs.clear();
        jump.inputs.extend_from_slice(inputs);
        self.find_forces(inputs, &mut jump.load);
        self.find_forces(before, &mut jump.forces[0]);
        let nodes = 6 * self.assembly.nodes();
        for (load, before) in jump.load[..nodes].iter_mut().zip(&jump.forces[0]) {
            *load -= before;
        }
        jump.is_expected = jump.load[..nodes].iter().any(|load| *load != 0.0);
        self.work.jump = jump;
    }

    /// All forces of elements at the time reached.
    fn find_forces(&self, inputs: &[f64], forces: &mut [f64]) {
        forces.fill(0.0);
        let at = self.evaluation_point(inputs);
        self.assembly.element_residual(&at, forces);
    }

    /// Finds what the jump does to accelerations and multipliers in a step with these gains.
    pub(crate) fn find_shift(
        &mut self,
        time: f64,
        h: f64,
        gains: [f64; 2],
        inputs: &[f64],
    ) -> Result<(), Failure> {
        self.return_to_records();
        self.prepare_factors_for_jump(time, h, gains, inputs)?;
        let mut jump = std::mem::take(&mut self.work.jump);
        let per_c = 1.0 / gains[0];
        jump.weight = per_c / gains[1];
        jump.change.fill(0.0);
        jump.third.fill(0.0);
        if self.assembly.constraints > 0 {
            self.find_constraint_forces(None, &mut jump);
            self.find_rates(&|_| [Vec3::ZERO; 2], &jump.inputs);
            let rates = &self.work.consistency.constraint_rhs;
            jump.at_rest.copy_from_slice(rates);
        }
        for sweep in 0..SWEEPS {
            self.find_what_is_left(sweep, h * per_c, &mut jump);
            self.solve_residual();
            let found = &self.work.residual;
            for (change, found) in jump.change.iter_mut().zip(found) {
                *change += found;
            }
        }
        if self.assembly.constraints > 0 {
            self.find_third_derivatives(h, &mut jump);
        }
        jump.is_met = true;
        self.work.jump = jump;
        self.return_to_records();
        Ok(())
    }

    /// Leaves in `work.residual` what the change found so far lacks.
    fn find_what_is_left(&mut self, sweep: usize, of_rates: f64, jump: &mut Jump) {
        let nodes = self.assembly.nodes();
        let constrained = sweep > 0 && self.assembly.constraints > 0;
        if constrained {
            self.find_constraint_forces(Some(6 * nodes), jump);
            let change = |place: usize| jump.of(place).second;
            self.find_rates(&change, &jump.inputs);
        }
        let residual = &mut self.work.residual;
        residual.fill(0.0);
        let (rows, rest) = residual.split_at_mut(6 * nodes);
        for (i, row) in rows.chunks_exact_mut(6).enumerate() {
            let [a, alpha] = jump.of(i).second;
            let inertia = &self.assembly.inertia[i + 1];
            let Momentum { linear, angular } = inertia.times(&self.motions[i + 1], a, alpha);
            let load = &jump.load[6 * i..6 * i + 6];
            for k in 0..3 {
                row[k] = jump.weight * (load[k] - linear[k]);
                row[3 + k] = jump.weight * (load[3 + k] - angular[k]);
            }
        }
        if !constrained {
            return;
        }
        let [before, after] = &jump.forces;
        for (row, (before, after)) in rows.iter_mut().zip(before.iter().zip(after)) {
            *row += after - before;
        }
        let rates = self.work.consistency.constraint_rhs.iter();
        for (row, (rate, at_rest)) in rest.iter_mut().zip(rates.zip(&jump.at_rest)) {
            *row = at_rest - rate;
        }
        self.scale_rows_on_velocities(of_rates);
    }

    /// Forces of the constraints; with the changed multipliers, where these begin at a place among the unknowns.
    fn find_constraint_forces(&self, changed: Option<usize>, jump: &mut Jump) {
        jump.multipliers.copy_from_slice(&self.state.multipliers);
        if let Some(start) = changed {
            let changes = &jump.change[start..];
            for (multiplier, change) in jump.multipliers.iter_mut().zip(changes) {
                *multiplier += change;
            }
        }
        let forces = &mut jump.forces[usize::from(changed.is_some())];
        forces.fill(0.0);
        let at = EvaluationPoint {
            multipliers: &jump.multipliers,
            ..self.evaluation_point(&jump.inputs)
        };
        self.assembly.violations(&at, forces);
    }

    /// Rates of the constraints if the nodes had these velocities.
    fn find_rates(&mut self, velocity: &dyn Fn(usize) -> [Vec3; 2], inputs: &[f64]) {
        for (i, motion) in self.motions[1..].iter_mut().enumerate() {
            [motion.velocity, motion.angular_velocity] = velocity(i);
        }
        self.find_derivative(Derivative::First, self.state.time, None, inputs);
        self.return_to_records();
    }

    /// Rows of what holds for velocities alone are larger in the matrix of a step.
    fn scale_rows_on_velocities(&mut self, factor: f64) {
        if !self.assembly.has_constraints_on_velocities {
            return;
        }
        let start = 6 * self.assembly.nodes();
        for placed in &self.assembly.elements {
            let first = start + placed.multipliers.start;
            for row in placed.element.on_velocities() {
                self.work.residual[first + row] *= factor;
            }
        }
    }

    /// The jump of the third derivatives along curved constraints.
    fn find_third_derivatives(&mut self, h: f64, jump: &mut Jump) {
        let start = 6 * self.assembly.nodes();
        // The convective term is a quadratic form of the velocities: its polar form from two values.
        for (sign, weight) in [(1.0, -0.75 / h), (-1.0, 0.75 / h)] {
            for (i, motion) in self.motions[1..].iter_mut().enumerate() {
                let [a, alpha] = jump.of(i).second;
                motion.velocity += a * (sign * h);
                motion.angular_velocity += alpha * (sign * h);
            }
            let time = self.state.time;
            self.find_derivative(Derivative::Second, time, None, &jump.inputs);
            self.return_to_records();
            let found = self.work.consistency.constraint_rhs.iter();
            for (sum, convective) in jump.third[start..].iter_mut().zip(found) {
                *sum += weight * convective;
            }
        }
        let residual = &mut self.work.residual;
        residual.fill(0.0);
        residual[start..start + self.assembly.constraints].copy_from_slice(&jump.third[start..]);
        self.scale_rows_on_velocities(0.0);
        self.solve_residual();
        let found = &self.work.residual[..jump.third.len()];
        jump.third.copy_from_slice(found);
    }

    /// The step that began with the jump is done: its start is the past of the next one, as it would have been.
    pub(crate) fn leave_jump(&mut self, h: f64) {
        let jump = &mut self.work.jump;
        (jump.is_expected, jump.is_met) = (false, false);
        let Some(Formula::MultiStep(k)) = self.options.method.formula(self.state.known) else {
            return;
        };
        let error = h * h * k.velocity_error();
        for (i, before) in self.state.before[1..].iter_mut().enumerate() {
            if !self.assembly.is_given[i + 1] {
                let NodeJump { second, third } = jump.of(i);
                let inertia = &self.assembly.inertia[i + 1];
                before.jump(inertia, second, third.map(|third| third * error));
            }
        }
        let changes = jump.multipliers(self.assembly.nodes());
        let multipliers = self.state.multipliers_before.iter_mut();
        for (multiplier, change) in multipliers.zip(changes) {
            *multiplier += change;
        }
    }
}
