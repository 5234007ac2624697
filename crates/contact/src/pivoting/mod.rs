//! The pivoting solver: exact active sets for few contacts, joints among them.
//!
//! A mixed linear complementarity problem with bounds: joints without bounds, contacts bounded below,
//! friction in a box. Its sets are found by block principal pivoting (Júdice and Pires): all rows on the wrong
//! side change at once while their number falls, and one by one, the last first (Murty), when it does not, which ends
//! after finitely many changes. Redundant rows are admitted: a proximal term of relative size 1e-10 shares impulses among
//! them and leaves the velocities as they are.
//!
//! The bounds of friction follow normal impulses, of the last step or iterated until they agree. A
//! box allows √2 times the friction along its diagonal; the first tangent therefore follows the sliding, that at the end of the step where
//! impulses of Coulomb's law are given. Then the answer is Coulomb's, with exact sets.
//!
//! Reference: J. Júdice, F. Pires, "A block principal pivoting algorithm for large-scale strictly monotone
//! linear complementarity problems", Computers & Operations Research 21 (1994) 587–596.

mod active_set;
mod assemble;
mod cholesky;
mod coupled;

use oldham_space::Vec3;

use crate::cone::Cone;
use crate::problem::{Dense, Problem, RowKind};
use crate::solver::{ContactSolver, Fallback, FrictionLaw, RowState, Solved};
use active_set::{ActiveSet, Outcome};
use assemble::Assembled;
pub(crate) use cholesky::Cholesky;
use coupled::Coupled;

/// A residual of an answer that stands although its bounds do not quite agree, relative to the largest velocity without impulses.
const NEARLY: f64 = 1e-3;

/// Where the bounds of friction come from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FrictionBounds {
    /// From the normal impulses given, those of the last step.
    Last,
    /// From the normal impulses of this step, found again until they agree.
    Iterated {
        /// Most repetitions.
        most: usize,
        /// The residual that is accepted, relative to the largest velocity without impulses.
        tolerance: f64,
    },
}

/// Block principal pivoting with box friction.
#[derive(Clone, Debug)]
pub struct Pivoting {
    /// Where the bounds of friction come from.
    pub bounds: FrictionBounds,
    /// Most changes of the sets for given bounds; then sweeps stand in.
    pub most_changes: usize,
    /// Whether impulses given are those of Coulomb's law: friction at its bound tells the direction of the sliding at the end of the step. Else the
    /// first tangent follows the sliding without impulses.
    pub follows_impulses: bool,
    /// How often sweeps had to stand in so far.
    pub fallbacks: u64,
    sweeps: Cone,
    sets: ActiveSet,
    assembled: Assembled,
    coupled: Coupled,
    normals: Vec<f64>,
    given: Vec<f64>,
}

impl Pivoting {
    /// A solver with bounds of friction that are iterated.
    pub fn new() -> Self {
        Self::with_bounds(FrictionBounds::Iterated {
            most: 200,
            tolerance: 1e-8,
        })
    }

    /// A solver with bounds of friction from a given source.
    pub fn with_bounds(bounds: FrictionBounds) -> Self {
        Self {
            bounds,
            most_changes: 200,
            follows_impulses: false,
            fallbacks: 0,
            sweeps: Cone::new(1e-9, 5000),
            sets: ActiveSet::default(),
            assembled: Assembled::default(),
            coupled: Coupled::default(),
            normals: Vec::new(),
            given: Vec::new(),
        }
    }

    fn solve_dense(
        &mut self,
        problem: &Dense<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        let mut solved = Solved::default();
        let (most, tolerance) = match self.bounds {
            FrictionBounds::Last => (1, 0.0),
            FrictionBounds::Iterated { most, tolerance } => (most, tolerance),
        };
        let fastest = problem
            .velocities
            .iter()
            .fold(0.0, |most: f64, u| most.max(u.abs()));
        self.given.clear();
        self.given.extend_from_slice(impulses);
        self.normals.clear();
        self.normals.extend_from_slice(impulses);
        for _ in 0..most {
            let outcome =
                (self.sets).solve(problem, &self.normals, impulses, sets, self.most_changes);
            solved.iterations += self.sets.changes;
            solved.factorisations += self.sets.factorisations;
            match outcome {
                Outcome::Solved => {}
                // Joints that contradict each other have no answer; contacts alone always have one.
                Outcome::Unsolvable if problem.rows.contains(&RowKind::Bilateral) => return solved,
                Outcome::Unsolvable | Outcome::TooManyChanges => {
                    return self.sweep(problem, impulses, sets, solved);
                }
            }
            if self.bounds == FrictionBounds::Last {
                solved.is_converged = true;
                return solved;
            }
            self.normals.copy_from_slice(impulses);
            // Redundant contacts may share impulses in many ways: velocities tell whether the bounds agree.
            if problem.box_residual(impulses, impulses) <= tolerance * fastest {
                solved.is_converged = true;
                return solved;
            }
            // With the sets of these bounds, friction and normal impulses that agree; where that fails, the
            // next bounds are those just found.
            solved.factorisations += 1;
            if self.coupled.solve(problem, sets, &mut self.normals) {
                impulses.copy_from_slice(&self.normals);
            } else {
                self.normals.copy_from_slice(impulses);
            }
        }
        // Bounds that nearly agree are an answer that has not converged.
        if problem.box_residual(impulses, impulses) <= NEARLY * fastest {
            return solved;
        }
        self.sweep(problem, impulses, sets, solved)
    }

    /// Sweeps stand in: sets that do not settle, or bounds that do not agree, as where friction jams.
    fn sweep(
        &mut self,
        problem: &Dense<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
        solved: Solved,
    ) -> Solved {
        self.fallbacks += 1;
        impulses.copy_from_slice(&self.given);
        let swept = self.sweeps.solve(&Problem::Dense(*problem), impulses, sets);
        Solved {
            iterations: solved.iterations + swept.iterations,
            factorisations: solved.factorisations,
            is_converged: swept.is_converged,
            fallback: Some(Fallback::Sweeps),
            ..solved
        }
    }
}

impl Default for Pivoting {
    fn default() -> Self {
        Self::new()
    }
}

impl ContactSolver for Pivoting {
    fn law(&self) -> FrictionLaw {
        FrictionLaw::Box
    }

    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        match problem {
            Problem::Dense(problem) => self.solve_dense(problem, impulses, sets),
            Problem::Bodies(bodies) => {
                let mut assembled = std::mem::take(&mut self.assembled);
                let given = self.follows_impulses.then_some(&*impulses);
                assembled.fill(bodies, given);
                assembled.to_frames(impulses);
                let solved = self.solve_dense(&assembled.problem(), impulses, sets);
                assembled.to_axes(impulses);
                self.assembled = assembled;
                solved
            }
        }
    }

    fn frames(&self) -> &[[Vec3; 3]] {
        self.assembled.frames()
    }

    /// Sets are exact.
    fn tolerance(&self) -> f64 {
        0.0
    }
}
