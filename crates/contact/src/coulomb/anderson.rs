//! Sweeps of exact local solutions, accelerated by Anderson's method.
//!
//! A sweep maps impulses x onto g(x). The next impulses are the combination of the last few g whose changes f = g − x, weighed
//! as energies, nearly cancel. Where f grows to the double, the last g stands and the past is forgotten.
//!
//! Reference: D. Anderson, Journal of the ACM 12 (1965) 547–560.

use oldham_space::Vec3;
use oldham_space::kernel::{self, Kernel};

use super::island::{Island, Residual};
use super::local::{Three, length};
use crate::room::Room;

/// How many differences are combined.
const DEPTH: usize = 6;
/// What is added to the normal equations, relative to their trace.
const RIDGE: f64 = 1e-10;
/// Sweeps between two looks at the residual.
const LOOK: usize = 5;

/// Room for the past.
#[derive(Clone, Debug, Default)]
pub struct Anderson {
    /// The change that the last sweep made, weighed, and what it led to.
    change: Vec<f64>,
    reached: Vec<f64>,
    /// The change of the sweep that is looked at.
    next: Vec<f64>,
    /// By how much these two differed from those of the sweep before, for the last few sweeps; one line for each.
    changes: [Vec<f64>; DEPTH],
    ways: [Vec<f64>; DEPTH],
    /// Products of two lines of `changes`.
    products: [[f64; DEPTH]; DEPTH],
    swept: Vec<Three>,
    velocities: Vec<[Vec3; 2]>,
    best: Vec<Three>,
}

/// Solves each contact in turn for what the others do.
pub fn sweep(island: &Island, impulses: &mut [Three], velocities: &mut [[Vec3; 2]]) {
    for (link, impulse) in island.links.iter().zip(impulses) {
        let u = island.relative(link, impulse, velocities);
        let b: Three = std::array::from_fn(|i| {
            let line = &link.w[i];
            u[i] - line[0] * impulse[0] - line[1] * impulse[1] - line[2] * impulse[2]
        });
        // Friction that slides is the sliding over this ratio.
        let friction = length(impulse[1], impulse[2]);
        let guess = (friction > 0.0).then(|| length(u[1], u[2]) / friction);
        let found = link.local.solve(b, guess);
        let change = std::array::from_fn(|i| found[i] - impulse[i]);
        island.apply(link, &change, velocities);
        *impulse = found;
    }
}

impl Anderson {
    /// Sweeps at most so often. Leaves the best impulses by residual, and says how good they are and how many sweeps were taken.
    pub fn run(
        &mut self,
        island: &Island,
        impulses: &mut Vec<Three>,
        tolerance: f64,
        most_sweeps: usize,
    ) -> (Residual, usize) {
        island.velocities(impulses, &mut self.velocities);
        let mut best = island.residual(impulses, &self.velocities);
        self.best.clone_from(impulses);
        // How many lines are known; none before the second sweep.
        let (mut known, mut before) = (None, f64::INFINITY);
        let (mut age, mut sweeps) = (0, 0);
        while sweeps < most_sweeps && !best.is_met(tolerance) {
            self.swept.clone_from(impulses);
            island.velocities(&self.swept, &mut self.velocities);
            sweep(island, &mut self.swept, &mut self.velocities);
            sweeps += 1;
            let place = age % DEPTH;
            let change = self.look(island, impulses);
            if change > 2.0 * before && known.is_some_and(|known| known > 0) {
                // The last sweep before the extrapolation stands.
                let (reached, _) = self.reached.as_chunks::<3>();
                impulses.copy_from_slice(reached);
                (known, before) = (None, f64::INFINITY);
                continue;
            }
            before = change;
            if sweeps == 1 || sweeps % LOOK == 0 || sweeps == most_sweeps || change == 0.0 {
                let now = island.residual(&self.swept, &self.velocities);
                if now.is_better(&best) {
                    best = now;
                    self.best.clone_from(&self.swept);
                }
                if change == 0.0 {
                    break;
                }
            }
            let lines = match known {
                Some(known) => {
                    self.record(place, known);
                    age += 1;
                    DEPTH.min(known + 1)
                }
                None => {
                    self.start();
                    age = 0;
                    0
                }
            };
            self.extrapolate(island, impulses, lines);
            known = Some(lines);
        }
        std::mem::swap(impulses, &mut self.best);
        (best, sweeps)
    }

    /// Plain sweeps: slower, but they arrive in places where extrapolation does not.
    pub fn run_plainly(
        &mut self,
        island: &Island,
        impulses: &mut Vec<Three>,
        tolerance: f64,
        most_sweeps: usize,
    ) -> (Residual, usize) {
        island.velocities(impulses, &mut self.velocities);
        let mut best = island.residual(impulses, &self.velocities);
        self.best.clone_from(impulses);
        let mut sweeps = 0;
        while sweeps < most_sweeps && !best.is_met(tolerance) {
            for _ in 0..LOOK {
                sweep(island, impulses, &mut self.velocities);
            }
            sweeps += LOOK;
            island.velocities(impulses, &mut self.velocities);
            let now = island.residual(impulses, &self.velocities);
            if now.is_better(&best) {
                best = now;
                self.best.clone_from(impulses);
            }
        }
        std::mem::swap(impulses, &mut self.best);
        (best, sweeps)
    }

    /// The change that a sweep made, weighed, is left in the line that is next; returns its size.
    fn look(&mut self, island: &Island, impulses: &[Three]) -> f64 {
        let new = &mut self.next;
        new.clear();
        new.make_room(3 * impulses.len());
        for ((new_impulse, old), link) in self.swept.iter().zip(impulses).zip(&island.links) {
            let weight = link.mean.sqrt();
            new.extend((0..3).map(|i| (new_impulse[i] - old[i]) * weight));
        }
        dot(new, new).sqrt()
    }

    /// Begins anew with the last sweep.
    fn start(&mut self) {
        self.change.clone_from(&self.next);
        self.reached.clear();
        self.reached.make_room(3 * self.swept.len());
        self.reached.extend_from_slice(self.swept.as_flattened());
    }

    /// Keeps by how much the last sweep differs from the one before in one of the lines, of which some are known.
    fn record(&mut self, place: usize, known: usize) {
        kernel::run(Record {
            own: self,
            place,
            known,
        });
    }

    /// Combines what is known, within the cones.
    fn extrapolate(&mut self, island: &Island, impulses: &mut [Three], known: usize) {
        let mut matrix = self.products;
        let mut right = [0.0; DEPTH];
        for (entry, line) in right.iter_mut().zip(&self.changes).take(known) {
            *entry = dot(line, &self.change);
        }
        let trace: f64 = (0..known).map(|i| matrix[i][i]).sum();
        for (i, row) in matrix.iter_mut().enumerate().take(known) {
            row[i] += RIDGE * trace + f64::MIN_POSITIVE;
        }
        impulses.copy_from_slice(&self.swept);
        if known == 0 || trace <= 0.0 || trace.is_nan() {
            return;
        }
        cholesky(&mut matrix, &mut right, known);
        let flat = impulses.as_flattened_mut();
        for (weight, way) in right.iter().zip(&self.ways).take(known) {
            for (impulse, by) in flat.iter_mut().zip(way) {
                *impulse -= weight * by;
            }
        }
        for (link, impulse) in island.links.iter().zip(impulses) {
            *impulse = link.admit(*impulse);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let lines = self.changes.iter().chain(&self.ways);
        lines.map(|line| line.held()).sum::<usize>()
            + self.change.held()
            + self.next.held()
            + self.reached.held()
            + self.swept.held()
            + self.velocities.held()
            + self.best.held()
    }
}

struct Record<'a> {
    own: &'a mut Anderson,
    place: usize,
    known: usize,
}

impl Kernel for Record<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let Self { own, place, known } = self;
        differ(&mut own.change, &own.next, &mut own.changes[place]);
        differ(
            &mut own.reached,
            own.swept.as_flattened(),
            &mut own.ways[place],
        );
        for other in 0..DEPTH.min(known + 1) {
            let product = dot(&own.changes[place], &own.changes[other]);
            own.products[place][other] = product;
            own.products[other][place] = product;
        }
    }
}

/// Puts the new in place of the old, and by how much they differ in a line.
#[inline(always)]
fn differ(old: &mut [f64], new: &[f64], line: &mut Vec<f64>) {
    line.clear();
    line.make_room(new.len());
    line.extend(old.iter().zip(new).map(|(old, new)| new - old));
    old.copy_from_slice(new);
}

/// A product in four sums, which is how it is computed fast.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0_f64; 4];
    let ((a, left), (b, right)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    for (x, y) in a.iter().zip(b) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = left.iter().zip(right).map(|(x, y)| x * y).sum();
    sums[0] + sums[1] + (sums[2] + sums[3]) + rest
}

/// Solves a small symmetric system in place.
#[allow(clippy::needless_range_loop)]
fn cholesky(matrix: &mut [[f64; DEPTH]; DEPTH], right: &mut [f64; DEPTH], size: usize) {
    for i in 0..size {
        for j in 0..=i {
            let sum: f64 = (0..j).map(|k| matrix[i][k] * matrix[j][k]).sum();
            matrix[i][j] = match i == j {
                true => (matrix[i][i] - sum).max(f64::MIN_POSITIVE).sqrt(),
                false => (matrix[i][j] - sum) / matrix[j][j],
            };
        }
        let sum: f64 = (0..i).map(|k| matrix[i][k] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
    for i in (0..size).rev() {
        let sum: f64 = (i + 1..size).map(|k| matrix[k][i] * right[k]).sum();
        right[i] = (right[i] - sum) / matrix[i][i];
    }
}
