//! Pivoting for few contacts, sweeps for many.

use crate::cone::Cone;
use crate::pivoting::Pivoting;
use crate::problem::Problem;
use crate::solver::{ContactSolver, FrictionLaw, RowState, Solved};

/// Chooses a solver by the number of contacts of each step.
///
/// Few contacts are solved exactly, with friction in a box; many by sweeps, with friction in a round cone. The
/// choice depends on the contacts of the step alone, not on the past.
#[derive(Clone, Debug)]
pub struct ByNumber {
    /// Most contacts that are solved by pivoting.
    pub few: usize,
    pivoting: Pivoting,
    cone: Cone,
    last: FrictionLaw,
}

impl ByNumber {
    /// Pivoting for at most `few` contacts, else sweeps until the residual is below a tolerance in m/s.
    pub fn new(few: usize, tolerance: f64, most_sweeps: usize) -> Self {
        Self {
            few,
            pivoting: Pivoting::new(),
            cone: Cone::new(tolerance, most_sweeps),
            last: FrictionLaw::Box,
        }
    }
}

impl ContactSolver for ByNumber {
    /// That of the last solution.
    fn law(&self) -> FrictionLaw {
        self.last
    }

    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        if problem.rows() <= 3 * self.few {
            self.last = self.pivoting.law();
            self.pivoting.solve(problem, impulses, sets)
        } else {
            self.last = self.cone.law();
            self.cone.solve(problem, impulses, sets)
        }
    }

    fn bytes(&self) -> usize {
        self.pivoting.bytes() + self.cone.bytes()
    }
}
