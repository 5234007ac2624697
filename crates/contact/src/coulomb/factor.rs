//! (1 + A Jᵀ G J) by blocks of bodies, and its factors.
//!
//! A is how bodies answer to impulses, G how impulses of contacts answer to velocities. With A on the left the matrix exists for bodies that
//! guides hold as well, whose mass is infinite in some directions. Its blocks follow the graph of the bodies in contact, in an order of least
//! degree; the bodies of a mechanism are all neighbours of each other.

use oldham_space::kernel::{self, Kernel, add_mul, sub_mul};
use oldham_space::{V3, Vec3};

use super::island::{Island, Link, Mover, NONE};
use super::local::Three;
use crate::room::Room;

/// Rows and columns of a body.
type Block = [[f64; 6]; 6];

const ZERO: Block = [[0.0; 6]; 6];

/// The degree of a body that has its place.
const DONE: u32 = u32::MAX;

/// How many bits are set.
fn count(line: &[u64]) -> u32 {
    line.iter().map(|word| word.count_ones()).sum()
}

/// The matrix of an island, later its factors.
#[derive(Clone, Debug, Default)]
pub struct Factors {
    /// For each place in the order its body, and the other way round.
    bodies: Vec<u32>,
    places: Vec<u32>,
    /// For each place, where its later neighbours begin; they are sorted.
    starts: Vec<u32>,
    later: Vec<u32>,
    diagonal: Vec<Block>,
    /// For each later neighbour the blocks right of and below the diagonal.
    right: Vec<Block>,
    below: Vec<Block>,
    /// Of each diagonal block.
    pivots: Vec<[usize; 6]>,
    /// Neighbours as bits while the order is found.
    graph: Vec<u64>,
    /// How many neighbours bodies have that are left.
    degrees: Vec<u32>,
    /// For each body whether it is in contact with a mechanism, or belongs to it.
    is_near: Vec<bool>,
    column: Vec<Block>,
    sums: Vec<[f64; 6]>,
}

impl Factors {
    /// Finds the order and the pattern. Returns multiplications of a factorisation.
    pub fn analyse(&mut self, island: &Island) -> f64 {
        let n = island.movers.len();
        let words = n.div_ceil(64);
        self.graph.clear();
        self.graph.make_room(n * words);
        self.graph.resize(n * words, 0);
        let graph = &mut self.graph;
        let mut connect = |i: usize, j: usize| {
            if i != j {
                graph[i * words + j / 64] |= 1 << (j % 64);
                graph[j * words + i / 64] |= 1 << (i % 64);
            }
        };
        self.is_near.clear();
        self.is_near.resize(n, false);
        for link in &island.links {
            let [a, b] = link.ends;
            if a != NONE && b != NONE {
                connect(a as usize, b as usize);
            }
            let is_held = |end: &u32| (*end as usize) < island.held;
            if link.ends.iter().any(is_held) {
                let moving = link.ends.into_iter().filter(|end| *end != NONE);
                moving.for_each(|end| self.is_near[end as usize] = true);
            }
        }
        // What one body of a mechanism does to a neighbour, all of them do.
        self.is_near[..island.held].fill(true);
        for near in 0..n {
            if self.is_near[near] {
                (0..island.held).for_each(|held| connect(held, near));
            }
        }
        self.order(n, words)
    }

    /// Eliminates bodies of least degree first.
    fn order(&mut self, n: usize, words: usize) -> f64 {
        let mut work = 0.0;
        self.bodies.clear();
        self.places.clear();
        self.places.resize(n, NONE);
        self.starts.clear();
        self.later.clear();
        self.degrees.clear();
        self.degrees.make_room(n);
        let lines = (0..n).map(|body| &self.graph[body * words..(body + 1) * words]);
        self.degrees.extend(lines.map(count));
        for place in 0..n {
            let least = self.degrees.iter().enumerate().min_by_key(|(_, d)| **d);
            let (body, _) = least.expect("one is left");
            self.degrees[body] = DONE;
            self.places[body] = place as u32;
            self.bodies.put(body as u32);
            self.starts.put(self.later.len() as u32);
            let first = self.later.len();
            for word in 0..words {
                let mut left = self.graph[body * words + word];
                while left != 0 {
                    self.later.put(64 * word as u32 + left.trailing_zeros());
                    left &= left - 1;
                }
            }
            for at in first..self.later.len() {
                let other = self.later[at] as usize;
                for word in 0..words {
                    self.graph[other * words + word] |= self.graph[body * words + word];
                }
                self.graph[other * words + body / 64] &= !(1 << (body % 64));
                self.graph[other * words + other / 64] &= !(1 << (other % 64));
                self.degrees[other] = count(&self.graph[other * words..(other + 1) * words]);
            }
            let neighbours = (self.later.len() - first) as f64;
            work += 216.0 * (neighbours * neighbours + neighbours + 0.4);
        }
        self.starts.put(self.later.len() as u32);
        // From bodies to places, in order.
        for place in 0..n {
            let range = self.starts[place] as usize..self.starts[place + 1] as usize;
            let places = &self.places;
            let later = &mut self.later[range];
            later
                .iter_mut()
                .for_each(|body| *body = places[*body as usize]);
            later.sort_unstable();
        }
        work
    }

    fn slot(&mut self, row: usize, column: usize) -> &mut Block {
        let (low, high) = (row.min(column), row.max(column));
        if low == high {
            return &mut self.diagonal[low];
        }
        let at = self.beside(low, high);
        match row < column {
            true => &mut self.right[at],
            false => &mut self.below[at],
        }
    }

    /// Where a later neighbour of a place is in the lists.
    #[inline(always)]
    fn beside(&self, low: usize, high: usize) -> usize {
        let range = self.starts[low] as usize..self.starts[low + 1] as usize;
        let at = self.later[range.clone()].binary_search(&(high as u32));
        range.start + at.expect("the pattern holds all neighbours")
    }

    /// Fills the matrix in, and factors it. Returns whether all pivots are usable.
    pub fn factor(&mut self, island: &Island, g: &[[Three; 3]]) -> bool {
        kernel::run(Factor {
            factors: self,
            island,
            g,
        })
    }

    /// Jᵀ G J: with G in absolute axes, a block is G with the cross products of arms on either side.
    #[inline(always)]
    fn fill<const FUSED: bool>(&mut self, island: &Island, g: &[[Three; 3]]) {
        let n = island.movers.len();
        self.diagonal.clear();
        self.diagonal.resize(n, ZERO);
        self.right.clear();
        self.right.resize(self.later.len(), ZERO);
        self.below.clear();
        self.below.resize(self.later.len(), ZERO);
        for (link, g) in island.links.iter().zip(g) {
            let turned = in_absolute_axes::<FUSED>(link, g);
            // For each side six columns of what its velocities ask of the impulse: G, and G times the cross product with the arm.
            let asked = [0, 1].map(|side| beside_arm::<FUSED>(&turned, link.arms[side]));
            let places = link.ends.map(|end| match end {
                NONE => None,
                end => Some(self.places[end as usize] as usize),
            });
            for (side, place) in places.into_iter().enumerate() {
                if let Some(place) = place {
                    add_product::<FUSED>(
                        &asked[side],
                        link.arms[side],
                        1.0,
                        &mut self.diagonal[place],
                    );
                }
            }
            if let [Some(one), Some(other)] = places {
                let at = self.beside(one.min(other), one.max(other));
                // Above the diagonal the row is the place that comes first.
                let (row, column) = if one < other { (0, 1) } else { (1, 0) };
                let arms = link.arms;
                add_product::<FUSED>(&asked[column], arms[row], -1.0, &mut self.right[at]);
                add_product::<FUSED>(&asked[row], arms[column], -1.0, &mut self.below[at]);
            }
        }
    }

    /// Multiplies by A from the left, and adds one.
    #[inline(always)]
    fn multiply(&mut self, island: &Island) {
        let n = island.movers.len();
        let held = island.held;
        for place in 0..n {
            let mover = &island.movers[self.bodies[place] as usize];
            let is_free = self.bodies[place] as usize >= held;
            if is_free {
                answered(mover, &mut self.diagonal[place]);
            }
            for at in self.starts[place] as usize..self.starts[place + 1] as usize {
                if is_free {
                    answered(mover, &mut self.right[at]);
                }
                let below = self.bodies[self.later[at] as usize] as usize;
                if below >= held {
                    answered(&island.movers[below], &mut self.below[at]);
                }
            }
        }
        if held > 0 {
            self.multiply_held(island);
        }
        for block in &mut self.diagonal {
            for (k, row) in block.iter_mut().enumerate() {
                row[k] += 1.0;
            }
        }
    }

    #[inline(never)]
    fn multiply_held(&mut self, island: &Island) {
        let (held, n) = (island.held, island.movers.len());
        let mut column = std::mem::take(&mut self.column);
        for body in 0..n {
            let to = self.places[body] as usize;
            if !self.is_near[body] {
                continue;
            }
            column.clear();
            for other in 0..held {
                let from = self.places[other] as usize;
                let block = *self.slot(from, to);
                column.put(block);
            }
            for moved in 0..held {
                let mut sum = ZERO;
                for (pushed, block) in column.iter().enumerate() {
                    for (i, row) in sum.iter_mut().enumerate() {
                        let start = (6 * moved + i) * 6 * held + 6 * pushed;
                        let answers = &island.mobility[start..start + 6];
                        for (answer, line) in answers.iter().zip(block) {
                            for k in 0..6 {
                                row[k] += answer * line[k];
                            }
                        }
                    }
                }
                let from = self.places[moved] as usize;
                *self.slot(from, to) = sum;
            }
        }
        self.column = column;
    }

    #[inline(always)]
    fn eliminate<const FUSED: bool>(&mut self, n: usize) -> bool {
        self.pivots.clear();
        self.pivots.resize(n, [0; 6]);
        for place in 0..n {
            let (diagonal, pivots) = (&mut self.diagonal[place], &mut self.pivots[place]);
            if !pivoted(diagonal, pivots) {
                return false;
            }
            let range = self.starts[place] as usize..self.starts[place + 1] as usize;
            // Right of the diagonal: D⁻¹ U.
            for right in &mut self.right[range.clone()] {
                solved_all::<FUSED>(&self.diagonal[place], &self.pivots[place], right);
            }
            for one in range.clone() {
                let row = self.later[one] as usize;
                let (left, top) = (self.below[one], self.right[one]);
                subtract_product::<FUSED>(&left, &top, &mut self.diagonal[row]);
                // Both lists are sorted, and what is later here is later there.
                let mut at = self.starts[row] as usize;
                for other in one + 1..range.end {
                    let column = self.later[other];
                    while self.later[at] != column {
                        at += 1;
                    }
                    let (beside, under) = (self.right[other], self.below[other]);
                    subtract_product::<FUSED>(&left, &beside, &mut self.right[at]);
                    subtract_product::<FUSED>(&under, &top, &mut self.below[at]);
                }
            }
        }
        true
    }

    /// Solves for changes of velocities in place; given are those that impulses would cause alone.
    pub fn solve(&mut self, velocities: &mut [[Vec3; 2]]) {
        kernel::run(Solve {
            factors: self,
            velocities,
        });
    }

    #[inline(always)]
    fn substitute(&mut self, velocities: &mut [[Vec3; 2]]) {
        let n = velocities.len();
        self.sums.clear();
        self.sums.make_room(n);
        self.sums.extend(self.bodies.iter().map(|&body| {
            let [v, w] = velocities[body as usize];
            [v[0], v[1], v[2], w[0], w[1], w[2]]
        }));
        for place in 0..n {
            solved(
                &self.diagonal[place],
                &self.pivots[place],
                &mut self.sums[place],
            );
            let known = self.sums[place];
            for at in self.starts[place] as usize..self.starts[place + 1] as usize {
                let sum = &mut self.sums[self.later[at] as usize];
                subtract(&self.below[at], &known, sum);
            }
        }
        for place in (0..n).rev() {
            let mut sum = self.sums[place];
            for at in self.starts[place] as usize..self.starts[place + 1] as usize {
                subtract(
                    &self.right[at],
                    &self.sums[self.later[at] as usize],
                    &mut sum,
                );
            }
            self.sums[place] = sum;
        }
        for (place, [a, b, c, d, e, f]) in self.sums.iter().copied().enumerate() {
            velocities[self.bodies[place] as usize] = [V3([a, b, c]), V3([d, e, f])];
        }
    }
}

struct Factor<'a> {
    factors: &'a mut Factors,
    island: &'a Island,
    g: &'a [[Three; 3]],
}

impl Kernel for Factor<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let Self { factors, island, g } = self;
        factors.fill::<FUSED>(island, g);
        factors.multiply(island);
        factors.eliminate::<FUSED>(island.movers.len())
    }
}

struct Solve<'a> {
    factors: &'a mut Factors,
    velocities: &'a mut [[Vec3; 2]],
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        self.factors.substitute(self.velocities);
    }
}

/// Fᵀ G F for a contact's axes F.
#[inline(always)]
fn in_absolute_axes<const FUSED: bool>(link: &Link, g: &[Three; 3]) -> [Three; 3] {
    let frame = &link.frame;
    let lines: [Three; 3] = std::array::from_fn(|a| {
        std::array::from_fn(|k| {
            let sum = add_mul::<FUSED>(g[a][0] * frame[0][k], g[a][1], frame[1][k]);
            add_mul::<FUSED>(sum, g[a][2], frame[2][k])
        })
    });
    std::array::from_fn(|i| {
        std::array::from_fn(|k| {
            let sum = add_mul::<FUSED>(frame[0][i] * lines[0][k], frame[1][i], lines[1][k]);
            add_mul::<FUSED>(sum, frame[2][i], lines[2][k])
        })
    })
}

/// Three rows for velocity and angular velocity at an arm from where a matrix of three rows takes a velocity: v + ω × r.
#[inline(always)]
fn beside_arm<const FUSED: bool>(matrix: &[Three; 3], arm: Vec3) -> [[f64; 6]; 3] {
    matrix.map(|[x, y, z]| {
        // Of g · (ω × r) = (r × g) · ω.
        let minus = |a: f64, b: f64, c: f64, d: f64| sub_mul::<FUSED>(a * b, c, d);
        [
            x,
            y,
            z,
            minus(arm[1], z, arm[2], y),
            minus(arm[2], x, arm[0], z),
            minus(arm[0], y, arm[1], x),
        ]
    })
}

/// Adds forces and their moments at an arm, by columns, with a sign.
#[inline(always)]
fn add_product<const FUSED: bool>(asked: &[[f64; 6]; 3], arm: Vec3, sign: f64, block: &mut Block) {
    let [x, y, z] = asked;
    let [a, b, c] = [sign * arm[0], sign * arm[1], sign * arm[2]];
    for k in 0..6 {
        block[0][k] = add_mul::<FUSED>(block[0][k], sign, x[k]);
        block[1][k] = add_mul::<FUSED>(block[1][k], sign, y[k]);
        block[2][k] = add_mul::<FUSED>(block[2][k], sign, z[k]);
        block[3][k] += sub_mul::<FUSED>(b * z[k], c, y[k]);
        block[4][k] += sub_mul::<FUSED>(c * x[k], a, z[k]);
        block[5][k] += sub_mul::<FUSED>(a * y[k], b, x[k]);
    }
}

/// What a free body answers to the rows of a block.
#[inline(always)]
fn answered(mover: &Mover, block: &mut Block) {
    let inertia = &mover.inverse_inertia.0;
    let old = *block;
    for k in 0..6 {
        for i in 0..3 {
            block[i][k] = mover.inverse_mass * old[i][k];
            block[3 + i][k] =
                inertia[i][0] * old[3][k] + inertia[i][1] * old[4][k] + inertia[i][2] * old[5][k];
        }
    }
}

#[inline(always)]
fn subtract(block: &Block, by: &[f64; 6], from: &mut [f64; 6]) {
    for (sum, row) in from.iter_mut().zip(block) {
        *sum -= row.iter().zip(by).map(|(a, b)| a * b).sum::<f64>();
    }
}

/// Factors of one block, with partial pivoting.
#[allow(clippy::needless_range_loop)] // Indices are those of the textbook.
#[inline(always)]
fn pivoted(block: &mut Block, order: &mut [usize; 6]) -> bool {
    for k in 0..6 {
        let best = (k..6).max_by(|&a, &b| block[a][k].abs().total_cmp(&block[b][k].abs()));
        let best = best.expect("k is below six");
        block.swap(k, best);
        order[k] = best;
        let pivot = block[k][k];
        if pivot == 0.0 || !pivot.is_finite() {
            return false;
        }
        for i in k + 1..6 {
            let factor = block[i][k] / pivot;
            block[i][k] = factor;
            for j in k + 1..6 {
                block[i][j] -= factor * block[k][j];
            }
        }
    }
    true
}

/// The same for all columns of a block at once.
#[allow(clippy::needless_range_loop)]
#[inline(always)]
fn solved_all<const FUSED: bool>(block: &Block, order: &[usize; 6], right: &mut Block) {
    for k in 0..6 {
        right.swap(k, order[k]);
    }
    for i in 1..6 {
        let mut row = right[i];
        for j in 0..i {
            let (factor, line) = (block[i][j], right[j]);
            for k in 0..6 {
                row[k] = sub_mul::<FUSED>(row[k], factor, line[k]);
            }
        }
        right[i] = row;
    }
    for i in (0..6).rev() {
        let mut row = right[i];
        for j in i + 1..6 {
            let (factor, line) = (block[i][j], right[j]);
            for k in 0..6 {
                row[k] = sub_mul::<FUSED>(row[k], factor, line[k]);
            }
        }
        let per_pivot = 1.0 / block[i][i];
        right[i] = row.map(|entry| entry * per_pivot);
    }
}

/// Takes the product of two blocks from a third.
#[inline(always)]
fn subtract_product<const FUSED: bool>(left: &Block, top: &Block, from: &mut Block) {
    for (target, factors) in from.iter_mut().zip(left) {
        let mut row = *target;
        for (factor, line) in factors.iter().zip(top) {
            for k in 0..6 {
                row[k] = sub_mul::<FUSED>(row[k], *factor, line[k]);
            }
        }
        *target = row;
    }
}

#[allow(clippy::needless_range_loop)]
#[inline(always)]
fn solved(block: &Block, order: &[usize; 6], right: &mut [f64; 6]) {
    for k in 0..6 {
        right.swap(k, order[k]);
    }
    for i in 1..6 {
        for j in 0..i {
            right[i] -= block[i][j] * right[j];
        }
    }
    for i in (0..6).rev() {
        for j in i + 1..6 {
            right[i] -= block[i][j] * right[j];
        }
        right[i] /= block[i][i];
    }
}
