//! What a jump of held loads does to the history of a multistep formula.
//!
//! A formula with a past joins what was before the jump to what comes after it, as if the motion were smooth. The past
//! that belongs to the new loads has other accelerations by δ, at the present point and one step back, velocities that
//! differ by -h δ there, positions by h²/2 δ. By the order conditions all of that comes to a change of the known parts of
//! one step. Two sweeps of refinement of M δ = ΔF with Newton's matrix S = M + g C + g² K give a mass its M⁻¹ ΔF, what
//! the step resolves nearly that, and a stiff spring next to nothing: with M⁻¹ itself that would ring.

use crate::lu::Lu;
use crate::plant::Plant;

/// With the factors of the very step two sweeps leave the square of what one does.
const SWEEPS: usize = 2;

#[derive(Clone, Debug)]
pub(crate) struct Shift {
    /// Jump of the loads on own nodes.
    loads: Vec<f64>,
    /// Whether it is still to be met.
    is_expected: bool,
    /// That of the accelerations.
    change: Vec<f64>,
    residual: Vec<f64>,
}

impl Shift {
    pub(crate) fn new(own: usize) -> Self {
        Self {
            loads: vec![0.0; own],
            is_expected: false,
            change: vec![0.0; own],
            residual: vec![0.0; own],
        }
    }

    /// The next step begins with this jump.
    pub(crate) fn expect(&mut self, loads: &[f64]) {
        self.loads.copy_from_slice(loads);
        self.is_expected = loads.iter().any(|load| *load != 0.0);
    }

    /// Whether this step begins with a jump.
    pub(crate) fn take(&mut self) -> bool {
        std::mem::take(&mut self.is_expected)
    }

    /// The jump of the accelerations, by the factors of the step.
    pub(crate) fn find(&mut self, plant: &Plant, factors: &Lu) -> &[f64] {
        self.change.fill(0.0);
        for _ in 0..SWEEPS {
            for (row, residual) in self.residual.iter_mut().enumerate() {
                *residual = self.loads[row] - plant.equations.inertia(row, &self.change);
            }
            factors.solve(&mut self.residual);
            for (change, found) in self.change.iter_mut().zip(&self.residual) {
                *change += found;
            }
        }
        &self.change
    }
}
