//! Models with long delays: a delay line is a shift, which needs no coordinates of its own.
//!
//! Most coordinates of such a model take over what another one was a step before. Which, two random changes of the
//! state tell. With w = 1/z such a coordinate is a power of w times the one at the head of its line, so that the modes are
//! the zeros of det(I - Σ w^(d+1) A_d), as large as what is no line; A_d has the columns of the places at depth d that
//! are read at all, which are found by changing many at once. The zeros near the circle are found by Newton's method,
//! and the argument principle tells that none grows faster.

use std::f64::consts::PI;
use std::time::Duration;

use nalgebra::{Complex, DMatrix};
use oldham_cosim::{Entry, Simulation};

use crate::eigen::busy_coordinates;
use crate::probing::{Probing, probe_sizes};
use crate::random::Random;
use crate::recurrence::{AnalysisError, Base, TimeBudget};

type C = Complex<f64>;
/// A power of w and its matrix.
type Term = (usize, Vec<Entry>);

/// Coordinates of a model that is worth a look.
pub(crate) const FEWEST: usize = 200;
/// Steps of a line that is long.
const LONG: usize = 64;
/// Relative difference up to which a coordinate is what another was.
const SAME: f64 = 1e-8;
/// What a coordinate does, relative to its probe, that is nothing.
const NOTHING: f64 = 1e-10;
/// Sizes of the second differences.
const ANOTHER: f64 = 0.3;
/// Two differences may agree by chance.
const CAUTION: f64 = 10.0;
/// What an eigenvalue is off at least.
const ROUNDING: f64 = 1e-10;
/// Points of the half circle for each turn of the longest line, and besides.
const POINTS: usize = 6;
const MORE_POINTS: usize = 256;
/// Zeros that are looked for in one pass, and passes.
const ZEROS: usize = 48;
const PASSES: usize = 24;
/// Newton steps at most.
const STEPS: usize = 50;
/// The circle on which nothing may be inside, relative to the innermost zero.
const WITHIN: f64 = 1.0 - 1e-8;
/// Intervals of a circle that are shorter are not divided.
const SHORTEST: f64 = 1e-12;
/// Complex multiplications of a second, about.
const SPEED: f64 = 1e8;

/// A model with long delay lines, as a polynomial in w.
pub(crate) struct Lines {
    size: usize,
    /// Powers of w and their matrices, each by its nonzero entries.
    terms: Vec<Term>,
    longest: usize,
}

/// What was found.
pub(crate) struct LineModes {
    /// Eigenvalues with nonnegative imaginary part, the largest first.
    pub values: Vec<C>,
    pub error: f64,
    pub evaluations: usize,
}

/// Who takes over what from whom.
struct Heads {
    /// For each coordinate the head of its line and how many steps before it was there.
    of: Vec<(usize, usize)>,
}

impl Heads {
    /// Nothing if there is no long line.
    fn find(
        probing: &mut Probing<'_>,
        sizes: &[f64],
        dimension: usize,
    ) -> Result<Option<Self>, AnalysisError> {
        let mut parents: Vec<Option<usize>> = vec![None; dimension];
        for (pass, seed) in [11, 13].into_iter().enumerate() {
            let change: Vec<f64> = Random(seed)
                .amounts(dimension)
                .iter()
                .zip(sizes)
                .map(|(amount, size)| amount * size)
                .collect();
            let response = probing.response(&change)?;
            let mut order: Vec<usize> = (0..dimension).collect();
            order.sort_by(|&a, &b| change[a].total_cmp(&change[b]));
            for (place, found) in response.iter().enumerate() {
                let is_same = |&other: &usize| (found - change[other]).abs() <= SAME * found.abs();
                if pass > 0 {
                    parents[place] = parents[place].filter(is_same);
                    continue;
                }
                let at = order.partition_point(|&other| change[other] < *found);
                let near = [at.checked_sub(1), Some(at)];
                let near = near
                    .into_iter()
                    .flatten()
                    .filter_map(|at| order.get(at).copied());
                parents[place] = near.filter(|other| *other != place).find(is_same);
            }
        }
        let of: Vec<(usize, usize)> = (0..dimension)
            .map(|place| {
                let (mut head, mut depth) = (place, 0);
                while let Some(before) = parents[head] {
                    (head, depth) = (before, depth + 1);
                    // A ring has no head.
                    if depth > dimension {
                        return (place, 0);
                    }
                }
                (head, depth)
            })
            .collect();
        let is_long = of.iter().any(|(_, depth)| *depth > LONG);
        Ok(is_long.then_some(Self { of }))
    }
}

impl Lines {
    /// Of a simulation about a point; nothing where no line is long.
    pub fn of(
        simulation: &mut Simulation,
        base: &Base,
        scale: f64,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        let sizes = probe_sizes(simulation, &base.chart);
        let sizes: Vec<f64> = sizes.iter().map(|size| size * scale).collect();
        let dimension = base.chart.dimension();
        let mut probing = Probing::about(simulation, base, budget)?;
        let Some(heads) = Heads::find(&mut probing, &sizes, dimension)? else {
            return Ok(None);
        };
        let (kept, rest): (Vec<usize>, Vec<usize>) =
            (0..dimension).partition(|&place| heads.of[place].1 == 0);
        let mut search = Search {
            probing,
            sizes: &sizes,
            kept: &kept,
            random: Random(17),
            columns: Vec::new(),
            budget,
        };
        for &place in &kept {
            search.look(&[place])?;
        }
        search.look(&rest)?;
        Ok(Some(Self::from_columns(
            &search.columns,
            &kept,
            &heads,
            &sizes,
        )))
    }

    fn from_columns(
        columns: &[(usize, Vec<f64>)],
        kept: &[usize],
        heads: &Heads,
        sizes: &[f64],
    ) -> Self {
        let place_of = |head: usize| kept.binary_search(&head).expect("heads are kept");
        // In units of the probes.
        let entries = columns.iter().map(|(column, values)| {
            let (head, depth) = heads.of[*column];
            let scaled = values
                .iter()
                .zip(kept)
                .map(|(value, &row)| value * sizes[head] / sizes[row]);
            (depth + 1, place_of(head), scaled.collect::<Vec<f64>>())
        });
        let entries: Vec<(usize, usize, Vec<f64>)> = entries.collect();
        // What nothing depends on, or what depends on nothing, has no mode.
        let mut pattern = DMatrix::zeros(kept.len(), kept.len());
        for (_, column, values) in &entries {
            for (row, value) in values.iter().enumerate() {
                pattern[(row, *column)] += value.abs();
            }
        }
        let busy = busy_coordinates(&pattern);
        let mut terms: Vec<Term> = Vec::new();
        for (power, column, values) in &entries {
            let Ok(column) = busy.binary_search(column) else {
                continue;
            };
            let nonzero = busy
                .iter()
                .enumerate()
                .filter(|(_, row)| values[**row] != 0.0);
            let nonzero = nonzero.map(|(place, &row)| (place, column, values[row]));
            match terms.iter_mut().find(|(known, _)| known == power) {
                Some((_, entries)) => entries.extend(nonzero),
                None => terms.push((*power, nonzero.collect())),
            }
        }
        Self {
            size: busy.len(),
            longest: terms.iter().map(|(power, _)| *power).max().unwrap_or(1),
            terms,
        }
    }

    /// How long an evaluation of all points of a circle takes, about.
    pub fn duration(&self) -> Duration {
        let work = (self.size as f64).powi(3) + 50.0;
        Duration::from_secs_f64(work * self.points() as f64 / SPEED)
    }

    fn points(&self) -> usize {
        POINTS * self.longest + MORE_POINTS
    }

    /// The phase of the determinant, and by how much its logarithm changes with w.
    fn at(&self, w: C) -> (f64, C) {
        let n = self.size;
        let mut matrix = DMatrix::<C>::identity(n, n);
        let mut slope = DMatrix::<C>::zeros(n, n);
        for (power, entries) in &self.terms {
            let before = w.powu(*power as u32 - 1);
            for &(row, column, value) in entries {
                matrix[(row, column)] -= before * w * value;
                slope[(row, column)] -= before * (*power as f64 * value);
            }
        }
        let factors = matrix.lu();
        let mut phase = factors.p().determinant::<f64>().acos();
        for pivot in factors.u().diagonal().iter() {
            phase += pivot.arg();
        }
        let logarithmic = match factors.solve_mut(&mut slope) {
            true => slope.trace(),
            false => C::from(f64::INFINITY),
        };
        (phase, logarithmic)
    }

    /// The zero near a place, by Newton's method.
    fn zero_near(&self, start: C) -> Option<(C, usize)> {
        let mut w = start;
        for step in 1..=STEPS {
            let (_, slope) = self.at(w);
            if !slope.norm().is_finite() {
                return Some((w, step));
            }
            let change = -slope.inv();
            if !change.norm().is_finite() {
                return None;
            }
            w += change;
            if change.norm() < 1e-14 * w.norm() {
                return Some((w, step));
            }
        }
        None
    }

    /// How many zeros are within a circle; nothing where it cannot be told.
    fn count(&self, radius: f64, evaluations: &mut usize) -> Option<i64> {
        let points = self.points();
        let angle = |place: usize| PI * place as f64 / points as f64;
        let mut look = |angle: f64| {
            *evaluations += 1;
            let (phase, slope) = self.at(C::from_polar(radius, angle));
            (angle, phase, slope.norm() * radius)
        };
        let mut turned = 0.0;
        let mut before = look(0.0);
        for place in 1..=points {
            let mut ahead = vec![look(angle(place))];
            while let Some(&next) = ahead.last() {
                let width = next.0 - before.0;
                let turn = (next.1 - before.1 + PI).rem_euclid(2.0 * PI) - PI;
                let steepest = before.2.max(next.2);
                if steepest * width < 0.8 && turn.abs() < 1.2 {
                    turned += turn;
                    before = next;
                    ahead.pop();
                } else if width < SHORTEST {
                    return None;
                } else {
                    ahead.push(look(0.5 * (before.0 + next.0)));
                }
            }
        }
        let count = turned / PI;
        ((count - count.round()).abs() < 0.1).then(|| count.round() as i64)
    }

    /// Zeros that Newton's method finds from the points of a circle at which they seem nearest to the middle.
    fn near_circle(&self, radius: f64, evaluations: &mut usize) -> Vec<C> {
        let points = self.points();
        let mut starts: Vec<(f64, C)> = Vec::new();
        let guesses: Vec<(f64, C)> = (0..=points)
            .map(|place| {
                let w = C::from_polar(radius, PI * place as f64 / points as f64);
                let change = -self.at(w).1.inv();
                (change.norm(), w + change)
            })
            .collect();
        *evaluations += points + 1;
        for (place, &(distance, guess)) in guesses.iter().enumerate() {
            let neighbours = [place.checked_sub(1), Some(place + 1)];
            let mut neighbours = neighbours
                .into_iter()
                .flatten()
                .filter_map(|i| guesses.get(i));
            if neighbours.all(|(other, _)| distance <= *other) && guess.norm().is_finite() {
                starts.push((guess.norm(), guess));
            }
        }
        starts.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut zeros: Vec<C> = Vec::new();
        for (_, start) in starts.into_iter().take(ZEROS) {
            let Some((zero, steps)) = self.zero_near(start) else {
                continue;
            };
            *evaluations += steps;
            let zero = C::new(zero.re, zero.im.abs());
            let is_new = |known: &C| (known - zero).norm() > 1e-9 * zero.norm();
            if zero.norm() > 0.0 && zeros.iter().all(is_new) {
                zeros.push(zero);
            }
        }
        zeros.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
        zeros
    }

    /// The modes that grow fastest, or decay slowest; nothing where they cannot be told for certain.
    fn modes(&self, budget: &TimeBudget) -> Result<Option<(Vec<C>, usize)>, AnalysisError> {
        let (mut radius, mut evaluations) = (1.0, 0);
        let mut zeros: Vec<C> = Vec::new();
        for _ in 0..PASSES {
            budget.allow(self.duration())?;
            for zero in self.near_circle(radius, &mut evaluations) {
                if zeros
                    .iter()
                    .all(|known| (known - zero).norm() > 1e-9 * zero.norm())
                {
                    zeros.push(zero);
                }
            }
            zeros.sort_by(|a, b| a.norm().total_cmp(&b.norm()));
            let Some(innermost) = zeros.first() else {
                radius *= 1.5;
                continue;
            };
            let within = innermost.norm() * WITHIN;
            match self.count(within, &mut evaluations) {
                Some(0) => return Ok(Some((zeros, evaluations))),
                Some(_) => radius = 0.9 * within,
                None => radius *= 0.97,
            }
        }
        Ok(None)
    }

    /// The modes of a simulation with long delay lines, with their error; nothing where no line is long, or where it
    /// would take too long.
    pub fn analyse(
        simulation: &mut Simulation,
        base: &Base,
        budget: &TimeBudget,
    ) -> Result<Option<LineModes>, AnalysisError> {
        let Some(lines) = Self::of(simulation, base, 1.0, budget)? else {
            return Ok(None);
        };
        let undecided = || AnalysisError::LongDelay {
            steps: lines.longest as u64 * base.period,
            others: lines.size,
        };
        let Some((zeros, evaluations)) = lines.modes(budget)? else {
            return Err(undecided());
        };
        // Differences of another size tell how far they are off.
        let again = Self::of(simulation, base, ANOTHER, budget)?;
        let again = again.ok_or_else(undecided)?;
        let innermost = zeros[0];
        let (moved, _) = again.zero_near(innermost).ok_or_else(undecided)?;
        let off = (moved.inv() - innermost.inv()).norm();
        base.chart.base().restore(simulation);
        Ok(Some(LineModes {
            values: zeros
                .iter()
                .map(|w| w.inv())
                .map(|z| C::new(z.re, z.im.abs()))
                .collect(),
            error: CAUTION * off + ROUNDING,
            evaluations,
        }))
    }
}

/// Looks for columns that reach what is kept, many at once.
struct Search<'a> {
    probing: Probing<'a>,
    sizes: &'a [f64],
    kept: &'a [usize],
    random: Random,
    /// A place and what its change does to all that is kept, per unit.
    columns: Vec<(usize, Vec<f64>)>,
    budget: &'a TimeBudget,
}

impl Search<'_> {
    fn look(&mut self, places: &[usize]) -> Result<(), AnalysisError> {
        if places.is_empty() {
            return Ok(());
        }
        self.budget.allow(Duration::ZERO)?;
        let mut change = vec![0.0; self.sizes.len()];
        let amounts = self.random.amounts(places.len());
        for (&place, amount) in places.iter().zip(amounts.iter()) {
            change[place] = match places.len() {
                1 => self.sizes[place],
                _ => amount * self.sizes[place],
            };
        }
        let response = self.probing.response(&change)?;
        let reaches = |&row: &usize| response[row].abs() > NOTHING * self.sizes[row];
        if !self.kept.iter().any(reaches) {
            return Ok(());
        }
        if let [place] = places {
            let size = self.sizes[*place];
            let values = self.kept.iter().map(|row| match reaches(row) {
                true => response[*row] / size,
                false => 0.0,
            });
            self.columns.push((*place, values.collect()));
            return Ok(());
        }
        let (first, second) = places.split_at(places.len() / 2);
        self.look(first)?;
        self.look(second)
    }
}
