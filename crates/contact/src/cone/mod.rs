//! The cone solver: accelerated projected Gauss–Seidel sweeps, for many contacts.
//!
//! A sweep minimises the convex program of the problem contact by contact, each within its friction cone.
//! Between sweeps the impulses move on in the direction in which they went, with Nesterov's weights
//! (k − 1)/(k + 2); the count k starts afresh when a sweep turns back (the gradient scheme of O'Donoghue and
//! Candès). Contacts that are open and stay so take no part; all of them are looked at before the answer
//! counts. Heaps that are jammed converge within a few hundred sweeps; without the weights they
//! take tens of thousands, and conjugate directions (Fletcher and Reeves) do not help there.
//!
//! Reference: B. O'Donoghue, E. Candès, "Adaptive restart for accelerated gradient schemes", Foundations of
//! Computational Mathematics 15 (2015) 715–732.

mod bodies;
mod dense;

use crate::problem::{Bodies, Problem};
use crate::solver::{ContactSolver, FrictionLaw, RowState, Solved};

/// Accelerated projected Gauss–Seidel on the friction cones.
#[derive(Clone, Debug)]
pub struct Cone {
    /// The largest residual that is accepted, in m/s.
    pub tolerance: f64,
    /// Most sweeps of a step.
    pub most_sweeps: usize,
    law: FrictionLaw,
    bodies: bodies::ActiveContacts,
    dense: dense::DenseBlocks,
}

impl Cone {
    /// A solver that sweeps until the residual is below a tolerance in m/s.
    pub fn new(tolerance: f64, most_sweeps: usize) -> Self {
        Self {
            tolerance,
            most_sweeps,
            law: FrictionLaw::Cone,
            bodies: bodies::ActiveContacts::default(),
            dense: dense::DenseBlocks::default(),
        }
    }

    /// The same sweeps with de Saxcé's term for Coulomb's law: no program is minimised then, and nothing says that they arrive.
    pub(crate) fn by_coulomb(tolerance: f64, most_sweeps: usize) -> Self {
        Self {
            law: FrictionLaw::Coulomb,
            ..Self::new(tolerance, most_sweeps)
        }
    }

    /// Sweeps over contacts of free bodies.
    pub(crate) fn sweep(&mut self, problem: &Bodies<'_>, impulses: &mut [f64]) -> Solved {
        (self.bodies).start(self.law, problem, impulses, self.tolerance);
        let blocks = &mut bodies::Sweeping {
            problem,
            active: &mut self.bodies,
            impulses,
            law: self.law,
        };
        iterate(blocks, self.tolerance, self.most_sweeps)
    }
}

impl ContactSolver for Cone {
    fn law(&self) -> FrictionLaw {
        self.law
    }

    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        match problem {
            Problem::Bodies(problem) => {
                let solved = self.sweep(problem, impulses);
                problem.classify(impulses, sets);
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

    fn tolerance(&self) -> f64 {
        self.tolerance
    }

    fn bytes(&self) -> usize {
        self.bodies.bytes()
    }
}

/// What a sweep did.
#[derive(Clone, Copy, Debug, Default)]
struct Change {
    /// Sum of the products of the changes with the ways gone since the sweep before, weighed as energies.
    agreement: f64,
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
    /// Moves on by `weight` times the way gone since the sweep before, within the cones.
    fn advance(&mut self, weight: f64);
    /// Looks at every contact.
    fn judge(&mut self, tolerance: f64) -> Verdict;
}

/// Sweeps after which all contacts are looked at even where the changes are still large.
const LOOK: usize = 8;
/// Changes below so many tolerances are worth a look.
const PROMISING: f64 = 3.0;

fn iterate(blocks: &mut impl Blocks, tolerance: f64, most_sweeps: usize) -> Solved {
    let mut age = 0.0_f64;
    let mut solved = Solved::default();
    for sweep in 1..=most_sweeps {
        let change = blocks.sweep();
        solved.iterations = sweep;
        if change.largest < PROMISING * tolerance || sweep % LOOK == 0 || sweep == most_sweeps {
            match blocks.judge(tolerance) {
                Verdict::Solved => {
                    solved.is_converged = true;
                    break;
                }
                Verdict::Unsolved => {}
                Verdict::Joined => age = 0.0,
            }
        }
        // Nesterov's weights; a change that turns back starts them afresh.
        age = if change.agreement < 0.0 {
            0.0
        } else {
            age + 1.0
        };
        blocks.advance(((age - 1.0) / (age + 2.0)).max(0.0));
    }
    solved
}
