//! The cone solver: projected Gauss–Seidel sweeps with conjugate directions, for many contacts.
//!
//! A sweep minimises the convex program of the problem contact by contact, each within its friction cone.
//! Between sweeps the impulses move on along the change of the last one and of those before, with the
//! weight of Fletcher and Reeves, and start afresh where that weight exceeds one (Silcowitz, Niebuhr, Erleben
//! 2010: nonsmooth nonlinear conjugate gradients). Contacts that are open and stay so take no part; all of them
//! are looked at before the answer counts.
//!
//! Reference: M. Silcowitz-Hansen, S. Niebe, K. Erleben, "A nonsmooth nonlinear conjugate gradient method for
//! interactive contact force problems", The Visual Computer 26 (2010) 893–901.

mod bodies;
mod dense;

use crate::problem::Problem;
use crate::solver::{ContactSolver, RowState, Solved};

/// Projected Gauss–Seidel with conjugate directions on the friction cones.
#[derive(Clone, Debug)]
pub struct Cone {
    /// The largest residual that is accepted, in m/s.
    pub tolerance: f64,
    /// Most sweeps of a step.
    pub most_sweeps: usize,
    bodies: bodies::ActiveContacts,
    dense: dense::DenseBlocks,
}

impl Cone {
    /// A solver that sweeps until the residual is below a tolerance in m/s.
    pub fn new(tolerance: f64, most_sweeps: usize) -> Self {
        Self {
            tolerance,
            most_sweeps,
            bodies: bodies::ActiveContacts::default(),
            dense: dense::DenseBlocks::default(),
        }
    }
}

impl ContactSolver for Cone {
    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        match problem {
            Problem::Bodies(problem) => {
                self.bodies.start(problem, impulses, self.tolerance);
                let blocks = &mut bodies::Sweeping {
                    problem,
                    active: &mut self.bodies,
                };
                let solved = iterate(blocks, self.tolerance, self.most_sweeps);
                self.bodies.finish(problem, impulses, sets);
                solved
            }
            Problem::Dense(problem) => {
                self.dense.start(problem, impulses);
                let blocks = &mut dense::Sweeping {
                    problem,
                    blocks: &mut self.dense,
                };
                let solved = iterate(blocks, self.tolerance, self.most_sweeps);
                self.dense.finish(impulses, sets);
                solved
            }
        }
    }

    fn bytes(&self) -> usize {
        self.bodies.bytes()
    }
}

/// What a sweep did.
#[derive(Clone, Copy, Debug)]
struct Change {
    /// Sum of the squares of all changes, weighed as energies.
    square: f64,
    /// The largest change of a contact's own velocity, in m/s.
    largest: f64,
}

/// What a look at all contacts found.
enum Verdict {
    Solved,
    Unsolved,
    /// Contacts have joined: directions of before mean nothing now.
    Joined,
}

/// Blocks of rows that can be swept over.
trait Blocks {
    /// Minimises over each block in turn.
    fn sweep(&mut self) -> Change;
    /// Moves on along the directions times `weight`, within the cones; the directions take up the last change.
    fn advance(&mut self, weight: f64);
    /// Looks at every contact.
    fn judge(&mut self, tolerance: f64) -> Verdict;
}

/// Sweeps after which all contacts are looked at even where the changes are still large.
const LOOK: usize = 12;

fn iterate(blocks: &mut impl Blocks, tolerance: f64, most_sweeps: usize) -> Solved {
    let mut before = f64::INFINITY;
    let mut solved = Solved::default();
    for sweep in 1..=most_sweeps {
        let change = blocks.sweep();
        solved.iterations = sweep;
        if change.largest < tolerance || sweep % LOOK == 0 || sweep == most_sweeps {
            match blocks.judge(tolerance) {
                Verdict::Solved => {
                    solved.is_converged = true;
                    break;
                }
                Verdict::Unsolved => {}
                Verdict::Joined => before = f64::INFINITY,
            }
        }
        // Fletcher and Reeves; a growing change starts afresh.
        let weight = change.square / before;
        blocks.advance(if weight < 1.0 { weight } else { 0.0 });
        before = change.square;
    }
    solved
}
