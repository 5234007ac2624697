//! What of a macro step need not be probed coordinate by coordinate.
//!
//! Models of a map differ in two numbers, and most of a macro step does not know them: rows of histories,
//! of predictors and of all parts that the two leave alone are the same at every point. Of what is left,
//! many columns are multiples of each other: whatever is behind a force that a part receives
//! reaches that part through the force alone. And parts meet at the exchange only: coordinates that reach
//! none in common can be changed together (Curtis, Powell and Reid, On the estimation of sparse Jacobian
//! matrices, IMA J. Appl. Math. 13, 1974). What the two numbers do not reach, or what does not lead back to them, has
//! no part in the modes that differ; its eigenvalues are found once.
//!
//! All this is found out at a few points of the map. Every point checks it: all coordinates are changed together,
//! and the matrix must say what follows for each of them.

use std::borrow::Cow;
use std::cmp::Reverse;

use nalgebra::linalg::balancing::balance_parlett_reinsch;
use nalgebra::{Complex, DMatrix};
use oldham_cosim::{Chart, Simulation};

use crate::eigen::{busy_coordinates, eigenvalues_of, selected};
use crate::probing::reach_of;
use crate::recurrence::Recurrence;

/// Coordinates up to which a search probes a matrix at all.
const LARGEST: usize = 600;
/// Difference of entries, relative to the most that their coordinate changes by when all others change as much as
/// balances the matrix, that is none.
const ROUNDING: f64 = 1e-9;

/// What the matrices of recurrences have in common.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    /// Rows that are the same at every point; the others are empty.
    known: DMatrix<f64>,
    /// Columns that can be probed together.
    groups: Vec<Vec<Column>>,
    /// Coordinates with all eigenvalues that differ between points.
    inner: Vec<usize>,
    /// The largest eigenvalue of the other coordinates.
    rest: Complex<f64>,
    /// Sizes of coordinates that balance the matrices; zero for those that take no part in any mode.
    balance: Vec<f64>,
}

/// What a change of a coordinate reaches, of the rows that are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// The coordinate.
    pub place: usize,
    /// Rows that it reaches.
    pub reached: Vec<usize>,
    /// Known rows that it reaches.
    pub known: Vec<usize>,
    /// Columns that are multiples of it, with their factors.
    pub multiples: Vec<(usize, f64)>,
}

impl Pattern {
    /// What simulations have in common; nothing is known of those that are too large for that or
    /// cannot be probed.
    pub fn of_simulations(simulations: impl Iterator<Item = Simulation>) -> Self {
        let matrices: Option<Vec<DMatrix<f64>>> = simulations
            .map(|mut simulation| {
                if Chart::about(&mut simulation).dimension() > LARGEST {
                    return None;
                }
                let recurrence = Recurrence::of(&mut simulation).ok()?;
                Some(recurrence.matrix().clone())
            })
            .collect();
        let matrices = matrices.unwrap_or_default();
        let is_alike = |matrix: &DMatrix<f64>| matrix.shape() == matrices[0].shape();
        match matrices.iter().all(is_alike) {
            true => Self::of(matrices).unwrap_or_default(),
            false => Self::default(),
        }
    }

    /// What matrices that were probed have in common; nothing if there are none, or they have no
    /// eigenvalues.
    fn of(matrices: Vec<DMatrix<f64>>) -> Option<Self> {
        let n = matrices.first()?.nrows();
        let all = matrices
            .iter()
            .fold(DMatrix::zeros(n, n), |all, matrix| all + matrix.abs());
        let mut balanced = all.clone();
        if !all.iter().all(|entry| entry.is_finite()) {
            return None;
        }
        let balance = balance_parlett_reinsch(&mut balanced).as_slice().to_vec();
        let samples = Samples::new(matrices, &balance);
        let is_known: Vec<bool> = (0..n).map(|row| samples.is_same(row)).collect();
        let (known_rows, others): (Vec<usize>, Vec<usize>) = (0..n).partition(|&row| is_known[row]);
        let busy = busy_coordinates(&all);
        let (inner, outer) = parted(&all, &busy, &is_known);
        let rest = eigenvalues_of(&selected(&samples.matrices[0], &outer))?;
        let mut known = DMatrix::zeros(n, n);
        for &row in &known_rows {
            known.set_row(row, &samples.matrices[0].row(row));
        }
        let mut columns: Vec<Column> = Vec::new();
        for place in samples.strongest_first() {
            let reached_of = |rows: &[usize]| -> Vec<usize> {
                let rows = rows.iter().copied();
                rows.filter(|&row| all[(row, place)] != 0.0).collect()
            };
            let reached = reached_of(&others);
            if reached.is_empty() {
                continue;
            }
            let factor_of = |before: &Column| samples.factor(place, before.place, &others);
            let mut found = columns.iter().map(factor_of).enumerate();
            match found.find_map(|(index, factor)| Some((index, factor?))) {
                Some((index, factor)) => columns[index].multiples.push((place, factor)),
                None => columns.push(Column {
                    place,
                    reached,
                    known: reached_of(&known_rows),
                    multiples: Vec::new(),
                }),
            }
        }
        Some(Self {
            known,
            groups: groups_of(columns, n),
            inner,
            rest: rest.first().copied().unwrap_or_default(),
            balance: (0..n)
                .map(|i| busy.binary_search(&i).map_or(0.0, |_| balance[i]))
                .collect(),
        })
    }

    /// The pattern of a state of which nothing is known: each coordinate may reach all.
    fn unknown(dimension: usize) -> Self {
        let alone = |place: usize| {
            vec![Column {
                place,
                reached: (0..dimension).collect(),
                known: Vec::new(),
                multiples: Vec::new(),
            }]
        };
        Self {
            known: DMatrix::zeros(dimension, dimension),
            groups: (0..dimension).map(alone).collect(),
            inner: (0..dimension).collect(),
            rest: Complex::default(),
            balance: Vec::new(),
        }
    }

    /// This pattern if it is one of so many coordinates, else one that says nothing.
    pub fn for_dimension(&self, dimension: usize) -> Cow<'_, Self> {
        match self.known.nrows() == dimension {
            true => Cow::Borrowed(self),
            false => Cow::Owned(Self::unknown(dimension)),
        }
    }

    /// Rows that are the same at every point; the others are empty.
    pub fn known(&self) -> &DMatrix<f64> {
        &self.known
    }

    /// Columns to be probed together.
    pub fn groups(&self) -> &[Vec<Column>] {
        &self.groups
    }

    /// Coordinates with all eigenvalues that differ between points.
    pub fn inner(&self) -> &[usize] {
        &self.inner
    }

    /// The largest eigenvalue of the other coordinates.
    pub fn rest(&self) -> Complex<f64> {
        self.rest
    }

    /// Sizes of coordinates that balance the matrices, zero for those that take no part in any mode; nothing where they are
    /// not known.
    pub fn balance(&self) -> Option<&[f64]> {
        (!self.balance.is_empty()).then_some(&self.balance)
    }
}

/// Coordinates that depend on a row that is not known and lead to one, without those that take no part in any mode; and the others.
fn parted(matrix: &DMatrix<f64>, busy: &[usize], is_known: &[bool]) -> (Vec<usize>, Vec<usize>) {
    let n = matrix.nrows();
    let spread = |leads: &dyn Fn(usize, usize) -> bool| {
        let mut is_reached: Vec<bool> = is_known.iter().map(|is_known| !is_known).collect();
        let mut new: Vec<usize> = (0..n).filter(|&i| is_reached[i]).collect();
        while let Some(i) = new.pop() {
            for j in (0..n).filter(|&j| leads(i, j)) {
                if !std::mem::replace(&mut is_reached[j], true) {
                    new.push(j);
                }
            }
        }
        is_reached
    };
    let depends = spread(&|i, j| matrix[(j, i)] != 0.0);
    let leads = spread(&|i, j| matrix[(i, j)] != 0.0);
    (0..n).partition(|&i| depends[i] && leads[i] && busy.binary_search(&i).is_ok())
}

/// Matrices at several points.
struct Samples<'b> {
    matrices: Vec<DMatrix<f64>>,
    /// Sizes that balance them.
    balance: &'b [f64],
    /// The most that each coordinate of each matrix changes by when all others change by these.
    reach: Vec<Vec<f64>>,
}

impl<'b> Samples<'b> {
    fn new(matrices: Vec<DMatrix<f64>>, balance: &'b [f64]) -> Self {
        Self {
            reach: matrices.iter().map(|m| reach_of(m, balance)).collect(),
            matrices,
            balance,
        }
    }

    /// Whether two values of an entry are the same.
    fn agree(&self, sample: usize, (row, column): (usize, usize), values: [f64; 2]) -> bool {
        let [a, b] = values;
        let nothing = ROUNDING * self.reach[sample][row] / self.balance[column];
        (a == 0.0) == (b == 0.0) && (a - b).abs() <= nothing
    }

    /// Whether a row is the same in all of them.
    fn is_same(&self, row: usize) -> bool {
        let [first, others @ ..] = &self.matrices[..] else {
            return false;
        };
        !others.is_empty()
            && others.iter().zip(1..).all(|(other, sample)| {
                (0..first.ncols()).all(|column| {
                    let entry = (row, column);
                    self.agree(sample, entry, [first[entry], other[entry]])
                })
            })
    }

    /// The columns, those first that do most.
    fn strongest_first(&self) -> Vec<usize> {
        let strength = |column: usize| -> f64 {
            let samples = self.matrices.iter().zip(&self.reach);
            let strengths = samples.flat_map(|(matrix, reach)| {
                let entries = matrix.column(column).into_iter().zip(reach);
                entries.map(|(entry, reach)| entry.abs() / reach.max(f64::MIN_POSITIVE))
            });
            self.balance[column] * strengths.fold(0.0, f64::max)
        };
        let columns = 0..self.balance.len();
        let mut order: Vec<(usize, f64)> = columns.map(|j| (j, strength(j))).collect();
        order.sort_by(|a, b| b.1.total_cmp(&a.1));
        order.into_iter().map(|(column, _)| column).collect()
    }

    /// By which factor a column is another one in these rows, the same in all matrices; nothing
    /// where it is not.
    fn factor(&self, column: usize, other: usize, rows: &[usize]) -> Option<f64> {
        if self.matrices.len() < 2 {
            return None;
        }
        let samples = 0..self.matrices.len();
        let places = || {
            samples
                .clone()
                .flat_map(|k| rows.iter().map(move |&row| (k, row)))
        };
        let entry = |(k, row): (usize, usize), column: usize| self.matrices[k][(row, column)];
        let (mut product, mut square) = (0.0, 0.0);
        for place in places() {
            let weight = self.reach[place.0][place.1].max(f64::MIN_POSITIVE).recip();
            let along = entry(place, other) * weight;
            product += entry(place, column) * weight * along;
            square += along * along;
        }
        let factor = product / square;
        let is_multiple = |(k, row): (usize, usize)| {
            let values = [entry((k, row), column), factor * entry((k, row), other)];
            self.agree(k, (row, column), values)
        };
        places().all(is_multiple).then_some(factor)
    }
}

/// Columns that reach no row in common, together.
fn groups_of(mut columns: Vec<Column>, rows: usize) -> Vec<Vec<Column>> {
    // Those that reach most are the hardest to place.
    columns.sort_by_key(|column| (Reverse(column.reached.len()), column.place));
    let mut groups: Vec<(Vec<Column>, Vec<bool>)> = Vec::new();
    for column in columns {
        let is_free = |group: &(_, Vec<bool>)| column.reached.iter().all(|&row| !group.1[row]);
        let place = groups.iter().position(is_free).unwrap_or_else(|| {
            groups.push((Vec::new(), vec![false; rows]));
            groups.len() - 1
        });
        let (members, taken) = &mut groups[place];
        column.reached.iter().for_each(|&row| taken[row] = true);
        members.push(column);
    }
    groups.into_iter().map(|(members, _)| members).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(matrices: &[DMatrix<f64>]) -> Pattern {
        Pattern::of(matrices.to_vec()).unwrap()
    }

    fn places(pattern: &Pattern) -> Vec<Vec<usize>> {
        let places = |group: &Vec<Column>| group.iter().map(|column| column.place).collect();
        pattern.groups().iter().map(places).collect()
    }

    #[test]
    fn only_what_differs_is_probed() {
        // 0 and 3 turn, 3 by way of 1, which takes 0 over; 2 listens only, 4 speaks only.
        let at = |feedback: f64| {
            let mut matrix = DMatrix::zeros(5, 5);
            matrix[(0, 0)] = 0.5;
            matrix[(0, 3)] = feedback;
            matrix[(1, 0)] = 0.3;
            matrix[(3, 1)] = 1.0;
            matrix[(2, 1)] = 7.0;
            matrix[(0, 4)] = 2.0;
            matrix
        };
        let pattern = of(&[at(0.9), at(0.8)]);
        assert_eq!(pattern.inner(), [0, 1, 3]);
        assert_eq!(pattern.for_dimension(6).groups().len(), 6);
        // What reaches 0, and nothing else; 4 does four times what 0 does.
        assert_eq!(places(&pattern), [[0], [3]]);
        assert_eq!(pattern.groups()[0][0].multiples, [(4, 4.0)]);
        let mut known = at(0.0);
        known.row_mut(0).fill(0.0);
        assert_eq!(*pattern.known(), known);
    }

    /// All act on the last by way of one force, and it on itself.
    #[test]
    fn columns_behind_one_force_are_probed_once() {
        let at = |mass: f64| {
            let forces = [3.0, -2.0, 0.5];
            DMatrix::from_fn(4, 4, |i, j| match (i, j) {
                (3, 3) => 0.9 + 0.01 / mass,
                (3, _) => forces[j] / mass,
                (_, 3) => 0.1,
                _ if i == j => 0.5,
                _ => 0.0,
            })
        };
        let pattern = of(&[at(1.0), at(20.0), at(0.3)]);
        let probed: Vec<&Column> = pattern.groups().iter().flatten().collect();
        assert_eq!(probed.len(), 2);
        let multiples = probed.iter().flat_map(|column| {
            let multiples = column.multiples.iter();
            multiples.map(|&(place, factor)| (column.place, place, factor))
        });
        let forces = [3.0, -2.0, 0.5];
        assert_eq!(multiples.clone().count(), 2);
        for (of, place, factor) in multiples {
            let ratio: f64 = forces[place] / forces[of];
            assert!((factor - ratio).abs() < 1e-14, "{factor}");
        }
        // One point alone tells nothing of others.
        assert_eq!(of(&[at(1.0)]).groups().iter().flatten().count(), 4);
    }

    /// A filter that only listens has its own eigenvalue, which no number of the map changes.
    #[test]
    fn what_does_not_lead_back_to_what_differs_is_left_out() {
        let at = |gain: f64| {
            let rows = [
                [0.5, gain, 0.0, 0.0],
                [0.2, 0.3, 0.0, 0.4],
                [1.0, 0.0, 0.95, 0.0],
                [0.0, 0.0, 0.0, 1.0],
            ];
            DMatrix::from_fn(4, 4, |i, j| rows[i][j])
        };
        let pattern = of(&[at(0.1), at(0.7)]);
        assert_eq!(pattern.inner(), [0, 1]);
        assert!((pattern.rest() - Complex::from(1.0)).norm() < 1e-12);
    }

    #[test]
    fn coordinates_that_reach_none_in_common_are_changed_together() {
        // A chain: each reaches itself and its neighbours, so that three groups do.
        let n = 11;
        let matrix = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i.abs_diff(j) < 2)));
        let groups = places(&of(&[matrix]));
        assert_eq!(groups.len(), 3);
        let mut all: Vec<usize> = groups.into_iter().flatten().collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n));
    }
}
