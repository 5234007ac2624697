//! What of a macro step need not be probed coordinate by coordinate.
//!
//! Models of a map differ in two numbers, and most of a macro step does not know them: rows of histories,
//! of predictors and of all parts that the two leave alone are the same at every point. Of what is left,
//! many columns are multiples of each other: whatever is behind a force that a part receives
//! reaches that part through the force alone. And parts meet at the exchange only: coordinates that reach
//! none in common can be changed together (Curtis, Powell and Reid, On the estimation of sparse Jacobian
//! matrices, IMA J. Appl. Math. 13, 1974). Half of a state takes no part in any mode besides: what nothing
//! reads any more, and what depends on nothing. Nor has a part in the modes that differ what the two numbers
//! do not reach, or what does not lead back to them; the eigenvalues of that are found once.
//!
//! All this is found out at a few points of the map. Every point checks it: a change must reach nothing
//! else, all coordinates are changed together, and the matrix must say what follows.

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
/// Difference of entries, relative to the most that their coordinate can change by, that is rounding of
/// the probes.
const ROUNDING: f64 = 1e-9;

/// Which coordinates of a recurrence depend on which. Those that take part in modes are busy and have
/// a row and a column in its matrix, in the order of `busy`.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Pattern {
    /// What each coordinate of the state is to the others.
    roles: Vec<Role>,
    /// The busy coordinates.
    busy: Vec<usize>,
    /// Sizes of the busy coordinates that balance the matrix at one of the points.
    balance: Vec<f64>,
    /// The largest eigenvalue that is the same at every point, and no eigenvalue of the matrix.
    rest: Complex<f64>,
    /// Rows of the matrix that are the same at every point; the others are empty.
    known: DMatrix<f64>,
    /// Columns that can be probed together.
    groups: Vec<Vec<Column>>,
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

/// What a change of one busy coordinate reaches, of the rows that are not known.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    /// Its column, and its place in the state.
    pub column: usize,
    pub place: usize,
    /// Rows that it reaches, with their places in the state.
    pub reached: Vec<(usize, usize)>,
    /// The same of rows that are known.
    pub known: Vec<(usize, usize)>,
    /// Columns that are multiples of it, with their factors.
    pub multiples: Vec<(usize, f64)>,
}

impl Pattern {
    /// What simulations have in common; nothing is known of those that are too large for that or
    /// cannot be probed.
    pub fn of_simulations(simulations: impl Iterator<Item = Simulation>) -> Self {
        let matrices: Option<Vec<(DMatrix<f64>, Vec<f64>)>> = simulations
            .map(|mut simulation| {
                if Chart::about(&mut simulation).dimension() > LARGEST {
                    return None;
                }
                let recurrence = Recurrence::of(&mut simulation).ok()?;
                Some((recurrence.matrix().clone(), recurrence.sizes().to_vec()))
            })
            .collect();
        let Some((matrices, sizes)) =
            matrices.map(|all| all.into_iter().unzip::<_, _, Vec<_>, Vec<_>>())
        else {
            return Self::default();
        };
        let is_alike = |matrix: &DMatrix<f64>| matrix.shape() == matrices[0].shape();
        match matrices.iter().all(is_alike) && !matrices.is_empty() {
            true => Self::of(&matrices, &sizes).unwrap_or_default(),
            false => Self::default(),
        }
    }

    /// What matrices that were probed have in common, with the sizes of the probes; nothing if they have
    /// no eigenvalues.
    fn of(matrices: &[DMatrix<f64>], sizes: &[Vec<f64>]) -> Option<Self> {
        let dimension = matrices[0].nrows();
        let zero = DMatrix::zeros(dimension, dimension);
        let all = matrices.iter().fold(zero, |all, matrix| all + matrix.abs());
        let turning = busy_coordinates(&all);
        let samples = Samples::new(matrices, &turning, sizes);
        let is_known: Vec<bool> = (0..turning.len()).map(|row| samples.is_same(row)).collect();
        let (inner, outer) = parted(&selected(&all, &turning), &is_known);
        let places = |rows: &[usize]| rows.iter().map(|&row| turning[row]).collect::<Vec<usize>>();
        let (busy, others) = (places(&inner), places(&outer));
        let role = |place: usize| match busy.binary_search(&place) {
            Ok(row) => Role::Busy(row),
            Err(_) if busy.iter().all(|&row| all[(row, place)] == 0.0) => Role::Unread,
            Err(_) => Role::Constant,
        };
        let rest = eigenvalues_of(&selected(&matrices[0], &others))?;
        let n = busy.len();
        let samples = Samples::new(matrices, &busy, sizes);
        let (known_rows, others): (Vec<usize>, Vec<usize>) =
            (0..n).partition(|&row| is_known[inner[row]]);
        let mut known = DMatrix::zeros(n, n);
        for &row in &known_rows {
            known.set_row(row, &samples.matrices[0].row(row));
        }
        let mut columns: Vec<Column> = Vec::new();
        for column in samples.strongest_first() {
            let reached_of = |rows: &[usize]| -> Vec<(usize, usize)> {
                let reached = rows.iter().map(|&row| (row, busy[row]));
                let is_there = |&(_, place): &(usize, usize)| all[(place, busy[column])] != 0.0;
                reached.filter(is_there).collect()
            };
            let reached = reached_of(&others);
            if reached.is_empty() {
                continue;
            }
            let factor_of = |before: &Column| samples.factor(column, before.column, &others);
            let found = columns.iter().map(factor_of).enumerate();
            match found
                .filter_map(|(place, factor)| Some((place, factor?)))
                .next()
            {
                Some((place, factor)) => columns[place].multiples.push((column, factor)),
                None => columns.push(Column {
                    column,
                    place: busy[column],
                    reached,
                    known: reached_of(&known_rows),
                    multiples: Vec::new(),
                }),
            }
        }
        let balance = balance_parlett_reinsch(&mut samples.matrices[0].clone());
        Some(Self {
            roles: (0..dimension).map(role).collect(),
            balance: balance.as_slice().to_vec(),
            rest: rest.first().copied().unwrap_or_default(),
            groups: groups_of(columns, n),
            known,
            busy,
        })
    }

    /// The pattern of a state of which nothing is known: each coordinate may reach all.
    fn unknown(dimension: usize) -> Self {
        let alone = |place: usize| {
            vec![Column {
                column: place,
                place,
                reached: (0..dimension).map(|row| (row, row)).collect(),
                known: Vec::new(),
                multiples: Vec::new(),
            }]
        };
        Self {
            roles: (0..dimension).map(Role::Busy).collect(),
            busy: (0..dimension).collect(),
            balance: vec![1.0; dimension],
            rest: Complex::default(),
            known: DMatrix::zeros(dimension, dimension),
            groups: (0..dimension).map(alone).collect(),
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

    /// Sizes of the busy coordinates that balance the matrix at one of the points.
    pub fn balance(&self) -> &[f64] {
        &self.balance
    }

    /// The largest eigenvalue that is the same at every point, and no eigenvalue of the matrix.
    pub fn rest(&self) -> Complex<f64> {
        self.rest
    }

    /// Rows of the matrix that are the same at every point; the others are empty.
    pub fn known(&self) -> &DMatrix<f64> {
        &self.known
    }

    /// Columns to be probed together.
    pub fn groups(&self) -> &[Vec<Column>] {
        &self.groups
    }
}

/// Coordinates that depend on a row that is not known and lead to one, and the others.
fn parted(matrix: &DMatrix<f64>, is_known: &[bool]) -> (Vec<usize>, Vec<usize>) {
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
    (0..n).partition(|&i| depends[i] && leads[i])
}

/// The busy parts of matrices at several points.
struct Samples {
    matrices: Vec<DMatrix<f64>>,
    /// Sizes of the probes of each.
    sizes: Vec<Vec<f64>>,
    /// The most that each coordinate of each matrix can change by.
    reach: Vec<Vec<f64>>,
}

impl Samples {
    fn new(matrices: &[DMatrix<f64>], busy: &[usize], sizes: &[Vec<f64>]) -> Self {
        let of_busy = |sizes: &Vec<f64>| busy.iter().map(|&place| sizes[place]).collect();
        let sizes: Vec<Vec<f64>> = sizes.iter().map(of_busy).collect();
        let matrices: Vec<DMatrix<f64>> = matrices.iter().map(|m| selected(m, busy)).collect();
        let reach = matrices
            .iter()
            .zip(&sizes)
            .map(|(matrix, sizes)| reach_of(matrix, sizes))
            .collect();
        Self {
            matrices,
            sizes,
            reach,
        }
    }

    /// Whether two values of an entry are the same but for rounding.
    fn agree(&self, sample: usize, (row, column): (usize, usize), values: [f64; 2]) -> bool {
        let [a, b] = values;
        let rounding = ROUNDING * self.reach[sample][row] / self.sizes[sample][column];
        (a == 0.0) == (b == 0.0) && (a - b).abs() <= rounding
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

    /// The columns, those first of which a probe does most.
    fn strongest_first(&self) -> Vec<usize> {
        let strength = |column: usize| -> f64 {
            let samples = self.matrices.iter().zip(&self.reach).zip(&self.sizes);
            let strengths = samples.flat_map(|((matrix, reach), sizes)| {
                let entries = matrix.column(column).into_iter().zip(reach);
                let size = sizes[column];
                entries.map(move |(entry, reach)| size * entry.abs() / reach.max(f64::MIN_POSITIVE))
            });
            strengths.fold(0.0, f64::max)
        };
        let columns = 0..self.matrices[0].ncols();
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
        let places =
            || (0..self.matrices.len()).flat_map(|k| rows.iter().map(move |&row| (k, row)));
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
    columns.sort_by_key(|column| (Reverse(column.reached.len()), column.column));
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

    fn of(matrices: &[DMatrix<f64>]) -> Pattern {
        let sizes = vec![vec![1.0; matrices[0].nrows()]; matrices.len()];
        Pattern::of(matrices, &sizes).unwrap()
    }

    fn places(group: &[Column]) -> Vec<usize> {
        group.iter().map(|column| column.place).collect()
    }

    #[test]
    fn coordinates_that_take_no_part_in_modes_are_told_from_others() {
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
        assert_eq!(pattern.busy(), [0, 1, 3]);
        let roles = [
            Role::Busy(0),
            Role::Busy(1),
            Role::Unread,
            Role::Busy(2),
            Role::Constant,
        ];
        assert_eq!(pattern.roles(), roles);
        assert_eq!(pattern.for_dimension(6).groups().len(), 6);
        // Only what reaches 0 is to be probed: 0 itself and 3. Both reach it, one after the other.
        let groups: Vec<Vec<usize>> = pattern.groups().iter().map(|group| places(group)).collect();
        assert_eq!(groups, [[0], [3]]);
        let known = [[0.0, 0.0, 0.0], [0.3, 0.0, 0.0], [0.0, 1.0, 0.0]];
        assert_eq!(*pattern.known(), DMatrix::from_fn(3, 3, |i, j| known[i][j]));
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
        let mut probed: Vec<&Column> = pattern.groups().iter().flatten().collect();
        probed.sort_by_key(|column| column.column);
        assert_eq!(probed.len(), 2);
        assert_eq!((probed[0].column, probed[1].column), (0, 3));
        let mut multiples = probed[0].multiples.clone();
        multiples.sort_by_key(|(column, _)| *column);
        for ((column, factor), (expected, ratio)) in
            multiples.iter().zip([(1, -2.0 / 3.0), (2, 0.5 / 3.0)])
        {
            assert_eq!(*column, expected);
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
            ];
            DMatrix::from_fn(4, 4, |i, j| {
                rows.get(i).map_or(f64::from(u8::from(j == 3)), |r| r[j])
            })
        };
        let pattern = of(&[at(0.1), at(0.7)]);
        assert_eq!(pattern.busy(), [0, 1]);
        assert_eq!(pattern.roles()[2..], [Role::Unread, Role::Constant]);
        assert!((pattern.rest() - Complex::from(1.0)).norm() < 1e-12);
    }

    #[test]
    fn coordinates_that_reach_none_in_common_are_changed_together() {
        // A chain: each reaches itself and its neighbours, so that three groups do.
        let n = 11;
        let matrix = DMatrix::from_fn(n, n, |i, j| f64::from(u8::from(i.abs_diff(j) < 2)));
        let pattern = of(&[matrix]);
        assert_eq!(pattern.groups().len(), 3);
        let mut all: Vec<usize> = pattern.groups().iter().flat_map(|g| places(g)).collect();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..n));
    }
}
