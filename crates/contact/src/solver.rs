//! The trait of both solvers, and what they answer.

use oldham_space::Vec3;

use crate::problem::Problem;

/// What a row does at the solution. Rows of friction and of contacts are at a bound or between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowState {
    /// The row holds as an equation: a joint, a pressed contact, a direction that sticks.
    Active,
    /// A contact without impulse, or a direction of friction without bounds to reach.
    #[default]
    Open,
    /// Friction at its lower bound: slip.
    Lower,
    /// Friction at its upper bound: slip.
    Upper,
}

/// What stood in when a solver exceeded its bound of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fallback {
    /// Projected Gauss–Seidel sweeps took the place of pivoting.
    Sweeps,
}

/// Islands by the method of the chain that brought them within the tolerance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SolvedBy {
    /// Impulses of the step before, which still held.
    pub kept: usize,
    /// Sweeps.
    pub sweeps: usize,
    /// The smoothing Newton method.
    pub smoothing: usize,
    /// The semismooth Newton method.
    pub newton: usize,
    /// The interior-point method.
    pub interior: usize,
    /// Sweeps after all of these.
    pub last_sweeps: usize,
    /// Both of Newton's methods from far away.
    pub far_away: usize,
}

impl std::ops::AddAssign for SolvedBy {
    fn add_assign(&mut self, other: Self) {
        self.kept += other.kept;
        self.sweeps += other.sweeps;
        self.smoothing += other.smoothing;
        self.newton += other.newton;
        self.interior += other.interior;
        self.last_sweeps += other.last_sweeps;
        self.far_away += other.far_away;
    }
}

/// What a solver did. It makes no claim on the residual: the caller computes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Solved {
    /// Sweeps over the contacts, or changes of the active set.
    pub iterations: usize,
    /// Factorisations of a matrix.
    pub factorisations: usize,
    /// Groups of contacts that share moving bodies, where they are solved one by one.
    pub islands: usize,
    /// Islands that were solved one by one, by the method that did it. One that contacts join is solved again.
    pub by: SolvedBy,
    /// Islands for which an interior-point method was tried.
    pub interior: usize,
    /// Islands whose residual stayed above the tolerance.
    pub unmet: usize,
    /// Whether the solver met its own test.
    pub is_converged: bool,
    /// Whether something else had to stand in.
    pub fallback: Option<Fallback>,
}

/// The law of friction that a solver follows, by which its answer is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrictionLaw {
    /// Coulomb's law: friction opposite to the sliding at the end of the step, in a disc; sliding contacts stay closed.
    Coulomb,
    /// Impulses in a round cone, velocities in its dual: a sliding contact opens with μ times its sliding velocity.
    Cone,
    /// Coulomb's law along two tangents each: impulses in a box, sliding contacts stay closed.
    Box,
}

/// Finds impulses for a problem, starting from those given.
pub trait ContactSolver: Send {
    /// What the answer satisfies.
    fn law(&self) -> FrictionLaw;

    /// Solves in place. `sets` gets the state of each row; impulses and sets have one entry for
    /// each row of the problem.
    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved;

    /// Normal and tangents of the contacts of the last solution, along which friction in a box was bounded.
    fn frames(&self) -> &[[Vec3; 3]] {
        &[]
    }

    /// Whether it knows rolling and torsional friction.
    fn knows_turning(&self) -> bool {
        false
    }

    /// Moments of impulse of rolling and torsional friction of the contacts of the last solution along the absolute axes, on the second body of each; none
    /// where no surface has such friction.
    fn turns(&self) -> &[Vec3] {
        &[]
    }

    /// Gaps below this count as closed in a step of the given length.
    fn dead_band(&self, _step: f64) -> f64 {
        0.0
    }

    /// The residual in m/s that it accepts.
    fn tolerance(&self) -> f64;

    /// Bytes held.
    fn bytes(&self) -> usize {
        0
    }
}

impl ContactSolver for Box<dyn ContactSolver> {
    fn law(&self) -> FrictionLaw {
        (**self).law()
    }

    fn solve(
        &mut self,
        problem: &Problem<'_>,
        impulses: &mut [f64],
        sets: &mut [RowState],
    ) -> Solved {
        (**self).solve(problem, impulses, sets)
    }

    fn frames(&self) -> &[[Vec3; 3]] {
        (**self).frames()
    }

    fn knows_turning(&self) -> bool {
        (**self).knows_turning()
    }

    fn turns(&self) -> &[Vec3] {
        (**self).turns()
    }

    fn dead_band(&self, step: f64) -> f64 {
        (**self).dead_band(step)
    }

    fn tolerance(&self) -> f64 {
        (**self).tolerance()
    }

    fn bytes(&self) -> usize {
        (**self).bytes()
    }
}
