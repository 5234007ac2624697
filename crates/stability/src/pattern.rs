//! What of a macro step need not be probed coordinate by coordinate.
//!
//! Parts meet at the exchange only: most coordinates reach few others within a step, and those that
//! reach none in common can be changed together (Curtis, Powell and Reid, On the estimation of
//! sparse Jacobian matrices, IMA J. Appl. Math. 13, 1974). A third of a state are histories besides:
//! samples that nothing reads any more, and samples that another coordinate takes over as they are.
//! Which ones is a matter of the schedule and the methods, not of masses and stiffnesses, so that a
//! map finds it out once, at its first point. Every point checks it: what no changed coordinate
//! should reach must stay, all coordinates are changed together, and the matrix must say what
//! follows.

use nalgebra::DMatrix;
use oldham_cosim::{Chart, Simulation};

use crate::recurrence::Recurrence;

/// Coordinates up to which a search probes a matrix at all.
const LARGEST: usize = 600;
/// What a coordinate that is taken over leaves to be said of its one entry.
const ROUNDING: f64 = 1e-9;

/// Which coordinates of a recurrence depend on which.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    dimension: usize,
    /// Coordinates that can be changed together, with what each of them reaches.
    groups: Vec<Vec<Column>>,
    /// Coordinates that another takes over as they are: which, and by which.
    taken_over: Vec<(usize, usize)>,
}

/// What a change of one coordinate reaches.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub place: usize,
    pub reached: Vec<usize>,
}

impl Pattern {
    /// That of a simulation; nothing where it is too large for that or cannot be probed.
    pub fn of_simulation(simulation: &mut Simulation) -> Option<Self> {
        if Chart::about(simulation).dimension() > LARGEST {
            return None;
        }
        let recurrence = Recurrence::of(simulation).ok()?;
        Some(Self::of(recurrence.matrix()))
    }

    /// That of a matrix that was probed.
    fn of(matrix: &DMatrix<f64>) -> Self {
        let mut pattern = Self {
            dimension: matrix.ncols(),
            ..Self::default()
        };
        let mut columns = Vec::new();
        for (place, column) in matrix.column_iter().enumerate() {
            let reached: Vec<usize> = (0..column.len()).filter(|&i| column[i] != 0.0).collect();
            match reached[..] {
                [] => {}
                [by] if (column[by] - 1.0).abs() < ROUNDING => {
                    pattern.taken_over.push((place, by));
                }
                _ => columns.push(Column { place, reached }),
            }
        }
        // Those that reach most are the hardest to place.
        columns.sort_by_key(|column| std::cmp::Reverse(column.reached.len()));
        let mut busy: Vec<Vec<bool>> = Vec::new();
        for column in columns {
            let is_free = |busy: &Vec<bool>| column.reached.iter().all(|&row| !busy[row]);
            let place = busy.iter().position(is_free).unwrap_or_else(|| {
                busy.push(vec![false; pattern.dimension]);
                pattern.groups.push(Vec::new());
                busy.len() - 1
            });
            column
                .reached
                .iter()
                .for_each(|&row| busy[place][row] = true);
            pattern.groups[place].push(column);
        }
        pattern
    }

    /// The pattern of a state of which nothing is known: each coordinate may reach all.
    fn unknown(dimension: usize) -> Self {
        let alone = |place: usize| {
            vec![Column {
                place,
                reached: (0..dimension).collect(),
            }]
        };
        Self {
            dimension,
            groups: (0..dimension).map(alone).collect(),
            taken_over: Vec::new(),
        }
    }

    /// This pattern if it is one of so many coordinates, else one that says nothing.
    pub fn for_dimension(&self, dimension: usize) -> std::borrow::Cow<'_, Self> {
        match self.dimension == dimension {
            true => std::borrow::Cow::Borrowed(self),
            false => std::borrow::Cow::Owned(Self::unknown(dimension)),
        }
    }

    /// Coordinates to be changed together.
    pub fn groups(&self) -> &[Vec<Column>] {
        &self.groups
    }

    /// Coordinates that another takes over as they are: which, and by which.
    pub fn taken_over(&self) -> &[(usize, usize)] {
        &self.taken_over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_and_taken_over_coordinates_are_told_from_others() {
        // 0 follows from all, 1 is taken over by 2, 2 is read by nothing, 3 is scaled.
        let mut matrix = DMatrix::zeros(4, 4);
        matrix[(0, 0)] = 0.5;
        matrix[(1, 0)] = 1.0;
        matrix[(2, 1)] = 1.0 + 1e-12;
        matrix[(0, 3)] = 0.9;
        let pattern = Pattern::of(&matrix);
        assert_eq!(pattern.taken_over(), [(1, 2)]);
        let groups: Vec<Vec<usize>> = pattern.groups().iter().map(|group| places(group)).collect();
        assert_eq!(groups, [[0], [3]]);
        assert_eq!(pattern.for_dimension(5).groups().len(), 5);
    }

    fn places(group: &[Column]) -> Vec<usize> {
        group.iter().map(|column| column.place).collect()
    }

    #[test]
    fn coordinates_that_reach_none_in_common_are_changed_together() {
        // A chain: each reaches itself and its neighbours, so that three groups do.
        let n = 11;
        let matrix = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i.abs_diff(j) < 2)));
        let pattern = Pattern::of(&matrix);
        assert_eq!(pattern.groups().len(), 3);
        let mut all: Vec<usize> = pattern.groups().iter().flat_map(|g| places(g)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n));
    }
}
