//! Block principal pivoting for given bounds.

use super::cholesky::Cholesky;
use crate::problem::{Dense, RowKind, bounds};
use crate::solver::RowState;

/// The proximal term, relative to the diagonal: impulses of redundant rows stay near those before.
const PROXIMAL: f64 = 1e-10;
/// What counts as the wrong side, relative to the largest velocity or impulse.
const ROUNDING: f64 = 1e-11;
/// Changes of all wrong rows at once that do not lower their number, before they change one by one.
const FUTILE_CHANGES: usize = 3;
/// Repeated proximal steps that refine a solution.
const REFINEMENTS: usize = 3;

/// How the search for the sets ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Solved,
    /// No impulses satisfy the joints: they contradict each other.
    Unsolvable,
    TooManyChanges,
}

/// Scratch of the search, and what it counted.
#[derive(Clone, Debug, Default)]
pub struct ActiveSet {
    pub changes: usize,
    pub factorisations: usize,
    factor: Cholesky,
    active: Vec<usize>,
    right: Vec<f64>,
    velocities: Vec<f64>,
}

impl ActiveSet {
    /// Finds sets and impulses for bounds of friction that belong to `normals`, starting from the
    /// impulses given.
    pub fn solve(
        &mut self,
        problem: &Dense<'_>,
        normals: &[f64],
        impulses: &mut [f64],
        sets: &mut [RowState],
        most_changes: usize,
    ) -> Outcome {
        let n = problem.rows.len();
        (self.changes, self.factorisations) = (0, 0);
        for (row, kind) in problem.rows.iter().enumerate() {
            sets[row] = initial(kind, bounds(kind, normals), impulses[row]);
        }
        let (mut fewest, mut futile_left) = (usize::MAX, FUTILE_CHANGES);
        loop {
            self.find_impulses(problem, normals, impulses, sets);
            let scale = self.scale(problem, impulses);
            let wrong = |row: usize, state: RowState| {
                let limits = bounds(&problem.rows[row], normals);
                correction(state, limits, (impulses[row], self.velocities[row]), scale)
            };
            let count = (0..n)
                .filter(|&row| wrong(row, sets[row]).is_some())
                .count();
            if count == 0 {
                return self.judge(problem, sets, scale);
            }
            if self.changes >= most_changes {
                return Outcome::TooManyChanges;
            }
            self.changes += 1;
            if count < fewest {
                (fewest, futile_left) = (count, FUTILE_CHANGES);
            } else {
                futile_left = futile_left.saturating_sub(1);
            }
            if futile_left > 0 {
                for (row, state) in sets.iter_mut().enumerate() {
                    *state = wrong(row, *state).unwrap_or(*state);
                }
            } else {
                let last = (0..n)
                    .rev()
                    .find_map(|row| Some((row, wrong(row, sets[row])?)));
                let (row, state) = last.expect("some row is wrong");
                sets[row] = state;
            }
        }
    }

    /// Magnitudes of impulses and velocities, below which differences are rounding.
    fn scale(&self, problem: &Dense<'_>, impulses: &[f64]) -> [f64; 2] {
        let n = problem.rows.len();
        let most =
            |values: &mut dyn Iterator<Item = f64>| values.fold(0.0_f64, |m, v| m.max(v.abs()));
        let impulse = most(&mut impulses.iter().copied());
        let diagonal = most(&mut (0..n).map(|i| problem.matrix[i * n + i]));
        let velocity = most(&mut problem.velocities.iter().copied());
        [
            ROUNDING * impulse,
            ROUNDING * (velocity + diagonal * impulse),
        ]
    }

    /// Impulses of the active rows so that their velocities vanish, then the velocities of all.
    fn find_impulses(
        &mut self,
        problem: &Dense<'_>,
        normals: &[f64],
        impulses: &mut [f64],
        sets: &[RowState],
    ) {
        let n = problem.rows.len();
        self.active.clear();
        for (row, kind) in problem.rows.iter().enumerate() {
            let (low, high) = bounds(kind, normals);
            match sets[row] {
                RowState::Active => self.active.push(row),
                RowState::Open => impulses[row] = 0.0,
                RowState::Lower => impulses[row] = low,
                RowState::Upper => impulses[row] = high,
            }
        }
        self.factor
            .factor(problem.matrix, n, &self.active, PROXIMAL);
        self.factorisations += 1;
        self.velocities.resize(n, 0.0);
        // Each proximal step starts from the impulses of the one before.
        for _ in 0..REFINEMENTS {
            self.right.clear();
            let active = self.active.iter();
            self.right
                .extend(active.map(|&row| -problem.velocity(row, impulses)));
            self.factor.solve(&mut self.right);
            for (&row, change) in self.active.iter().zip(&self.right) {
                impulses[row] += change;
            }
        }
        for (row, velocity) in self.velocities.iter_mut().enumerate() {
            *velocity = problem.velocity(row, impulses);
        }
    }

    /// Whether the active rows really hold.
    fn judge(&self, problem: &Dense<'_>, sets: &[RowState], scale: [f64; 2]) -> Outcome {
        let free = problem
            .velocities
            .iter()
            .fold(0.0_f64, |m, v| m.max(v.abs()));
        // Rows without a solution are left with a velocity of their own size.
        let limit = 1e-6 * free + 1e3 * scale[1].min(free * 1e-9);
        let holds = (0..sets.len())
            .filter(|&row| sets[row] == RowState::Active)
            .all(|row| self.velocities[row].abs() <= limit);
        if holds {
            Outcome::Solved
        } else {
            Outcome::Unsolvable
        }
    }
}

/// The set of a row that its impulse suggests.
fn initial(kind: &RowKind, (low, high): (f64, f64), impulse: f64) -> RowState {
    match kind {
        RowKind::Bilateral => RowState::Active,
        RowKind::Unilateral if impulse > 0.0 => RowState::Active,
        RowKind::Unilateral => RowState::Open,
        RowKind::Friction { .. } if high == 0.0 => RowState::Open,
        RowKind::Friction { .. } if impulse >= high => RowState::Upper,
        RowKind::Friction { .. } if impulse <= low => RowState::Lower,
        RowKind::Friction { .. } => RowState::Active,
    }
}

/// The set that a row should be in instead, if it is on the wrong side.
fn correction(
    state: RowState,
    (low, high): (f64, f64),
    (impulse, velocity): (f64, f64),
    [small_impulse, small_velocity]: [f64; 2],
) -> Option<RowState> {
    match state {
        RowState::Active if impulse < low - small_impulse => Some(if low == 0.0 {
            RowState::Open
        } else {
            RowState::Lower
        }),
        RowState::Active if impulse > high + small_impulse => Some(RowState::Upper),
        // Friction without bounds stays open whatever its velocity.
        RowState::Open if high > low && velocity < -small_velocity => Some(RowState::Active),
        RowState::Lower if velocity < -small_velocity => Some(RowState::Active),
        RowState::Upper if velocity > small_velocity => Some(RowState::Active),
        _ => None,
    }
}
