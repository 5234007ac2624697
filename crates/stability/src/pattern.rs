//! What of a macro step need not be probed coordinate by coordinate.
//!
//! Parts meet at the exchange only: most coordinates reach few others within a step, and those that
//! reach none in common can be changed together (Curtis, Powell and Reid, On the estimation of
//! sparse Jacobian matrices, IMA J. Appl. Math. 13, 1974). Half of a state takes no part in any mode
//! besides: what nothing reads any more, and what depends on nothing. Which coordinates these are is
//! a matter of the schedule and the methods, not of masses and stiffnesses, so that a map finds it
//! out once, at its first point. Every point checks it: a change must reach nothing else, all
//! coordinates are changed together, and the matrix must say what follows.

use std::borrow::Cow;

use nalgebra::DMatrix;
use oldham_cosim::{Chart, Simulation};

use crate::eigen::busy_coordinates;
use crate::recurrence::Recurrence;

/// Coordinates up to which a search probes a matrix at all.
const LARGEST: usize = 600;
/// What a coordinate that is taken over leaves to be said of its one entry.
const ROUNDING: f64 = 1e-9;

/// Which coordinates of a recurrence depend on which. Those that take part in modes are busy and have
/// a row and a column in its matrix, in the order of `busy`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    /// What each coordinate of the state is to the others.
    roles: Vec<Role>,
    /// The busy coordinates.
    busy: Vec<usize>,
    /// Columns that can be probed together.
    groups: Vec<Vec<Column>>,
    /// Entries that are one: columns of coordinates that another takes over as they are, with its
    /// row.
    taken_over: Vec<(usize, usize)>,
}

/// What a coordinate is to the others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Role {
    /// It takes part in modes, with this row and column.
    Busy(usize),
    /// No busy coordinate depends on it.
    Unread,
    /// It depends on no busy coordinate.
    Constant,
}

/// What a change of one busy coordinate reaches.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// Its column, and its place in the state.
    pub column: usize,
    pub place: usize,
    /// Rows that it reaches, with their places in the state.
    pub reached: Vec<(usize, usize)>,
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
        let busy = busy_coordinates(matrix);
        let role = |place: usize| match busy.binary_search(&place) {
            Ok(row) => Role::Busy(row),
            Err(_) if busy.iter().all(|&row| matrix[(row, place)] == 0.0) => Role::Unread,
            Err(_) => Role::Constant,
        };
        let roles = (0..matrix.ncols()).map(role).collect();
        let (mut columns, mut taken_over) = (Vec::new(), Vec::new());
        for (column, &place) in busy.iter().enumerate() {
            let rows = busy.iter().copied().enumerate();
            let is_there = |&(_, row): &(usize, usize)| matrix[(row, place)] != 0.0;
            let reached: Vec<(usize, usize)> = rows.filter(is_there).collect();
            match reached[..] {
                [(row, by)] if (matrix[(by, place)] - 1.0).abs() < ROUNDING => {
                    taken_over.push((column, row));
                }
                _ => columns.push(Column {
                    column,
                    place,
                    reached,
                }),
            }
        }
        Self {
            groups: groups_of(columns, busy.len()),
            roles,
            busy,
            taken_over,
        }
    }

    /// The pattern of a state of which nothing is known: each coordinate may reach all.
    fn unknown(dimension: usize) -> Self {
        let alone = |place: usize| {
            vec![Column {
                column: place,
                place,
                reached: (0..dimension).map(|row| (row, row)).collect(),
            }]
        };
        Self {
            roles: (0..dimension).map(Role::Busy).collect(),
            busy: (0..dimension).collect(),
            groups: (0..dimension).map(alone).collect(),
            taken_over: Vec::new(),
        }
    }

    /// This pattern if it is one of so many coordinates, else one that says nothing.
    pub fn for_dimension(&self, dimension: usize) -> Cow<'_, Self> {
        match self.roles.len() == dimension {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Self::unknown(dimension)),
        }
    }

    /// What each coordinate of the state is to the others.
    pub fn roles(&self) -> &[Role] {
        &self.roles
    }

    /// The coordinates of the matrix.
    pub fn busy(&self) -> &[usize] {
        &self.busy
    }

    /// Columns to be probed together.
    pub fn groups(&self) -> &[Vec<Column>] {
        &self.groups
    }

    /// Entries that are one: columns of coordinates that another takes over as they are, with its
    /// row.
    pub fn taken_over(&self) -> &[(usize, usize)] {
        &self.taken_over
    }
}

/// Columns that reach no row in common, together.
fn groups_of(mut columns: Vec<Column>, rows: usize) -> Vec<Vec<Column>> {
    // Those that reach most are the hardest to place.
    columns.sort_by_key(|column| std::cmp::Reverse(column.reached.len()));
    let mut groups: Vec<(Vec<Column>, Vec<bool>)> = Vec::new();
    for column in columns {
        let reached = || column.reached.iter().map(|&(row, _)| row);
        let is_free = |group: &(_, Vec<bool>)| reached().all(|row| !group.1[row]);
        let place = groups.iter().position(is_free).unwrap_or_else(|| {
            groups.push((Vec::new(), vec![false; rows]));
            groups.len() - 1
        });
        let (members, taken) = &mut groups[place];
        reached().for_each(|row| taken[row] = true);
        members.push(column);
    }
    groups.into_iter().map(|(members, _)| members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn coordinates_that_take_no_part_in_modes_are_told_from_others() {
        // 0 and 3 turn, 3 by way of 1, which takes 0 over; 2 listens only, 4 speaks only.
        let mut matrix = DMatrix::zeros(5, 5);
        matrix[(0, 0)] = 0.5;
        matrix[(0, 3)] = 0.9;
        matrix[(1, 0)] = 0.3;
        matrix[(3, 1)] = 1.0 + 1e-12;
        matrix[(2, 1)] = 7.0;
        matrix[(0, 4)] = 2.0;
        let pattern = Pattern::of(&matrix);
        assert_eq!(pattern.busy(), [0, 1, 3]);
        let roles = [
            Role::Busy(0),
            Role::Busy(1),
            Role::Unread,
            Role::Busy(2),
            Role::Constant,
        ];
        assert_eq!(pattern.roles(), roles);
        assert_eq!(pattern.taken_over(), [(1, 2)]);
        let groups: Vec<Vec<usize>> = pattern.groups().iter().map(|group| places(group)).collect();
        assert_eq!(groups, [[0], [3]]);
        assert_eq!(pattern.for_dimension(6).groups().len(), 6);
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
