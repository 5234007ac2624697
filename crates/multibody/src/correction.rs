//! The end of the last step, found once more with other inputs.

use crate::element::{ElementId, Weights};
use crate::error::SolveError;
use crate::foresight::End;
use crate::integrator::Record;
use crate::node::NodeId;
use crate::system::System;
use oldham_space::{Mat3, Vec3};

/// What a step leaves behind so that its end can be found again.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LastStep {
    pub time: f64,
    pub h: f64,
    pub gains: [f64; 2],
    /// Energy integrals before the step.
    pub dissipated: f64,
    pub supplied: f64,
    pub taken: f64,
    pub powers: [f64; 3],
}

impl System {
    /// Changes with every factorisation.
    pub(crate) fn factor_stamp(&self) -> u64 {
        self.work.stamp
    }

    /// First unknown among the multipliers of an element.
    pub(crate) fn constraint_row(&self, element: ElementId) -> usize {
        let multipliers = &self.assembly.elements[element.0].multipliers;
        6 * self.assembly.nodes() + multipliers.start
    }

    /// A multiplier, by its place among the unknowns, after the last correction of an unfinished step.
    pub(crate) fn multiplier_at(&self, unknown: usize) -> f64 {
        let share = self.work.residual[unknown];
        self.multipliers[unknown - 6 * self.assembly.nodes()] + share
    }

    /// How the inertia load of a node changes with its pose, where the step was linearised; or
    /// with its acceleration.
    pub(crate) fn inertia_jacobian(&self, node: NodeId, weights: Weights) -> [Mat3; 4] {
        let inertia = &self.assembly.inertia[node.0];
        let recorded = self.state.factored_at.motions().nth(node.0);
        let motion = match recorded {
            Some(motion) if weights.stiffness > 0.0 => motion,
            _ => self.motions[node.0],
        };
        let spin_coupling = motion.angular_velocity.skew() * -0.5;
        inertia.jacobian(&motion, Vec3::ZERO, weights, spin_coupling)
    }

    /// Iterates from the end of the last step to its end with other inputs.
    pub(crate) fn repeat(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        self.reopen();
        let (time, h, gains) = (self.state.time, self.state.step, self.work.last_step.gains);
        self.place_prescribed(gains[0], inputs);
        if let Err(failure) = self.converge(time, h, gains, inputs, Some(self.work.targets)) {
            self.return_to_records();
            return Err(self.name_position(self.explain(time, failure), h, inputs));
        }
        self.correct(gains[0]);
        self.close_again(inputs);
        Ok(())
    }

    /// Applies the correction that an unfinished step still has to apply, and iterates on: what is
    /// left of it is linear in the correction, as long as the factors are those of some steps ago.
    pub(crate) fn refine(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let LastStep { time, h, gains, .. } = self.work.last_step;
        self.correct(gains[0]);
        self.place_prescribed(gains[0], inputs);
        if let Err(failure) = self.converge(time, h, gains, inputs, Some(self.work.targets)) {
            self.return_to_records();
            return Err(self.name_position(self.explain(time, failure), h, inputs));
        }
        self.counters.refinements += 1;
        Ok(())
    }

    /// What a node will be at the end of a step that is not finished yet. The node gets its share
    /// of the last correction at once.
    pub(crate) fn finish_node(&mut self, node: NodeId) -> Record {
        let (i, [c, _]) = (node.0, self.work.last_step.gains);
        let share = &mut self.work.residual[6 * (i - 1)..6 * i];
        let displacement = Vec3::new(share[0], share[1], share[2]);
        let spin = Vec3::new(share[3], share[4], share[5]);
        share.fill(0.0);
        let (known, rates) = (&self.work.known[i], &mut self.work.rates[i]);
        known.correct(rates, displacement, spin, c);
        self.motions[i] = known.motion(rates, c);
        known.record(&self.assembly.inertia[i], self.motions[i], 1.0 / c)
    }

    /// Gives the multipliers their share of the last correction at once.
    pub(crate) fn finish_multipliers(&mut self) {
        let start = 6 * self.assembly.nodes();
        let shares = &mut self.work.residual[start..start + self.multipliers.len()];
        for (multiplier, share) in self.multipliers.iter_mut().zip(shares) {
            *multiplier += std::mem::take(share);
        }
    }

    /// Takes back what elements remembered of the end, and the energy integrals.
    fn reopen(&mut self) {
        if self.assembly.memory > 0 {
            std::mem::swap(&mut self.state.memory, &mut self.work.memory);
        }
        let (state, last_step) = (&mut self.state, &self.work.last_step);
        state.dissipated = last_step.dissipated;
        state.supplied = last_step.supplied;
        state.taken = last_step.taken;
        state.powers = last_step.powers;
    }

    fn close_again(&mut self, inputs: &[f64]) {
        let (time, h) = (self.state.time, self.state.step);
        if self.tree.is_some() {
            self.close_tree(time, h, inputs);
        }
        self.remember(time, h, inputs);
        self.record_end(1.0 / self.work.last_step.gains[0], End::Again);
        if self.options.account_energy {
            self.accumulate_energy(h, inputs);
        }
    }
}
