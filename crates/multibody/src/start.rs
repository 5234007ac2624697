//! Consistent initial values: positions, velocities, accelerations, multipliers.

use crate::consistency::Derivative;
use crate::error::SolveError;
use crate::system::System;

/// Inertia that a node without mass gets in kinematic problems, relative to the largest.
const FLOOR: f64 = 1e-6;
/// Constraints count as fulfilled below this, relative to the size of the model.
const ASSEMBLED: f64 = 1e-12;
const MAX_ASSEMBLY_ITERATIONS: usize = 50;

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
        self.start_contacts(inputs)?;
        self.correct_velocities(inputs)?;
        self.remember(time, 0.0, inputs);
        self.find_accelerations(time, inputs)?;
        self.record_accelerations();
        self.reserve_linearisation(inputs.len());
        self.work.factored.values.clear();
        self.state.known = 1;
        (self.state.dissipated, self.state.supplied) = (0.0, 0.0);
        self.state.taken = 0.0;
        self.set_powers(inputs);
        Ok(())
    }

    /// Makes room for the point of linearisation, whose size must not change in a run.
    pub(crate) fn reserve_linearisation(&mut self, inputs: usize) {
        let others = self.assembly.constraints + self.assembly.memory + inputs;
        let others = others + self.assembly.limited.len();
        self.work.inputs.reserve(inputs);
        let mut others = others;
        if let Some(tree) = &mut self.tree {
            tree.reserve(inputs, self.assembly.memory);
            others += tree.recorded_accelerations();
        }
        self.work.jump.reserve(inputs);
        let whole = &mut self.work.whole.factored_at;
        whole.reserve(self.motions.len(), others);
        for factored_at in [&mut self.state.factored_at, &mut self.work.factored] {
            factored_at.reserve(self.motions.len(), others);
        }
    }

    pub(crate) fn assemble_positions(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let time = self.state.time;
        for _ in 0..MAX_ASSEMBLY_ITERATIONS {
            let (largest, _) = self.find_violations(time, inputs);
            if largest <= ASSEMBLED * self.size {
                return Ok(());
            }
            self.factor_kinematics(time, inputs, FLOOR)?;
            self.find_smallest_change();
            self.change_poses();
        }
        let (violation, row) = self.find_violations(time, inputs);
        let joint = self.assembly.name_of(6 * self.assembly.nodes() + row);
        Err(SolveError::NotAssembled {
            violation,
            joint: joint.to_owned(),
        })
    }

    fn correct_velocities(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let time = self.state.time;
        self.find_derivative(Derivative::First, time, None, inputs);
        self.factor_kinematics(time, inputs, FLOOR)?;
        self.find_smallest_change();
        self.change_velocities();
        Ok(())
    }
}
