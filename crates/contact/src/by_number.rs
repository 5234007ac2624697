//! Pivoting for few contacts, something else for many.

use oldham_space::Vec3;

use crate::pivoting::Pivoting;
use crate::problem::Problem;
use crate::solver::{ContactSolver, FrictionLaw, RowState, Solved};

/// Chooses a solver by the number of contacts of each step.
///
/// Few contacts are pivoted, with exact sets; many are solved by another solver. Where that one follows Coulomb's law, it tells the directions of the
/// sliding first. The choice depends on the contacts of the step
/// alone, not on the past.
#[derive(Clone, Debug)]
pub struct ByNumber<S> {
    /// Most contacts that are solved by pivoting.
    pub few: usize,
    pivoting: Pivoting,
    many: S,
    last: FrictionLaw,
}

impl<S: ContactSolver> ByNumber<S> {
    /// Pivoting for at most `few` contacts, else another solver.
    pub fn new(few: usize, many: S) -> Self {
        Self {
            few,
            pivoting: Pivoting::new(),
            last: many.law(),
            many,
        }
    }
}

impl<S: ContactSolver> ContactSolver for ByNumber<S> {
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
            let mut before = Solved::default();
            self.pivoting.follows_impulses = self.many.law() == FrictionLaw::Coulomb;
            if self.pivoting.follows_impulses {
                before = self.many.solve(problem, impulses, sets);
            }
            let solved = self.pivoting.solve(problem, impulses, sets);
            Solved {
                iterations: before.iterations + solved.iterations,
                factorisations: before.factorisations + solved.factorisations,
                islands: before.islands,
                by: before.by,
                interior: before.interior,
                ..solved
            }
        } else {
            self.last = self.many.law();
            self.many.solve(problem, impulses, sets)
        }
    }

    fn frames(&self) -> &[[Vec3; 3]] {
        match self.last {
            FrictionLaw::Box => self.pivoting.frames(),
            _ => self.many.frames(),
        }
    }

    /// Pivoting does not.
    fn knows_turning(&self) -> bool {
        self.few == 0 && self.many.knows_turning()
    }

    fn turns(&self) -> &[Vec3] {
        self.many.turns()
    }

    fn dead_band(&self, step: f64) -> f64 {
        self.many.dead_band(step)
    }

    fn tolerance(&self) -> f64 {
        self.many.tolerance()
    }

    fn bytes(&self) -> usize {
        self.pivoting.bytes() + self.many.bytes()
    }
}
