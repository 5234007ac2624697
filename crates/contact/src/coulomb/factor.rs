//! (1 + A Jᵀ G J) by blocks of bodies, and its factors.
//!
//! A is how bodies answer to impulses, G how impulses of contacts answer to velocities. With A on the left the matrix exists for bodies that
//! guides hold as well, whose mass is infinite in some directions. Its blocks follow the graph of the bodies in contact, in an order of least
//! degree; the bodies of a mechanism are all neighbours of each other.

use oldham_space::{V3, Vec3};

use super::island::{Island, Mover, NONE};
use super::local::Three;
use crate::room::Room;

/// Rows and columns of a body.
type Block = [[f64; 6]; 6];

const ZERO: Block = [[0.0; 6]; 6];

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
        for place in 0..n {
            let degree = |body: usize| -> u32 {
                let line = &self.graph[body * words..(body + 1) * words];
                line.iter().map(|word| word.count_ones()).sum()
            };
            let left = (0..n).filter(|&body| self.places[body] == NONE);
            let body = left.min_by_key(|&body| degree(body)).expect("one is left");
            self.places[body] = place as u32;
            self.bodies.put(body as u32);
            self.starts.put(self.later.len() as u32);
            let first = self.later.len();
            for other in 0..n {
                if self.graph[body * words + other / 64] >> (other % 64) & 1 == 1 {
                    self.later.put(other as u32);
                }
            }
            for at in first..self.later.len() {
                let other = self.later[at] as usize;
                for word in 0..words {
                    self.graph[other * words + word] |= self.graph[body * words + word];
                }
                self.graph[other * words + body / 64] &= !(1 << (body % 64));
                self.graph[other * words + other / 64] &= !(1 << (other % 64));
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
        let range = self.starts[low] as usize..self.starts[low + 1] as usize;
        let at = self.later[range.clone()].binary_search(&(high as u32));
        let at = range.start + at.expect("the pattern holds all neighbours");
        match row < column {
            true => &mut self.right[at],
            false => &mut self.below[at],
        }
    }

    /// Fills the matrix in, and factors it. Returns whether all pivots are usable.
    pub fn factor(&mut self, island: &Island, g: &[[Three; 3]]) -> bool {
        let n = island.movers.len();
        self.diagonal.clear();
        self.diagonal.resize(n, ZERO);
        self.right.clear();
        self.right.resize(self.later.len(), ZERO);
        self.below.clear();
        self.below.resize(self.later.len(), ZERO);
        for (link, g) in island.links.iter().zip(g) {
            for (one, end) in link.ends.into_iter().enumerate() {
                for (other, to) in link.ends.into_iter().enumerate() {
                    if end == NONE || to == NONE {
                        continue;
                    }
                    let rows = [0, 1, 2].map(|axis| link.row(one, axis));
                    let columns = [0, 1, 2].map(|axis| link.row(other, axis));
                    let places = [end, to].map(|body| self.places[body as usize] as usize);
                    let block = self.slot(places[0], places[1]);
                    for (a, row) in rows.iter().enumerate() {
                        let mut line = [0.0; 6];
                        for (b, column) in columns.iter().enumerate() {
                            for k in 0..6 {
                                line[k] += g[a][b] * column[k];
                            }
                        }
                        for i in 0..6 {
                            for k in 0..6 {
                                block[i][k] += row[i] * line[k];
                            }
                        }
                    }
                }
            }
        }
        self.multiply(island);
        self.eliminate(n)
    }

    /// Multiplies by A from the left, and adds one.
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

    fn eliminate(&mut self, n: usize) -> bool {
        self.pivots.clear();
        self.pivots.resize(n, [0; 6]);
        for place in 0..n {
            if !pivoted(&mut self.diagonal[place], &mut self.pivots[place]) {
                return false;
            }
            let range = self.starts[place] as usize..self.starts[place + 1] as usize;
            // Right of the diagonal: D⁻¹ U.
            for at in range.clone() {
                solved_all(
                    &self.diagonal[place],
                    &self.pivots[place],
                    &mut self.right[at],
                );
            }
            for below in range.clone() {
                for right in range.clone() {
                    let (row, column) = (self.later[below] as usize, self.later[right] as usize);
                    let (left, top) = (self.below[below], self.right[right]);
                    subtract_product(&left, &top, self.slot(row, column));
                }
            }
        }
        true
    }

    /// Solves for changes of velocities in place; given are those that impulses would cause alone.
    pub fn solve(&mut self, velocities: &mut [[Vec3; 2]]) {
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

/// What a free body answers to the rows of a block.
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

fn subtract(block: &Block, by: &[f64; 6], from: &mut [f64; 6]) {
    for (sum, row) in from.iter_mut().zip(block) {
        *sum -= row.iter().zip(by).map(|(a, b)| a * b).sum::<f64>();
    }
}

/// Factors of one block, with partial pivoting.
#[allow(clippy::needless_range_loop)] // Indices are those of the textbook.
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
fn solved_all(block: &Block, order: &[usize; 6], right: &mut Block) {
    for k in 0..6 {
        right.swap(k, order[k]);
    }
    for i in 1..6 {
        let mut row = right[i];
        for j in 0..i {
            let (factor, line) = (block[i][j], right[j]);
            for k in 0..6 {
                row[k] -= factor * line[k];
            }
        }
        right[i] = row;
    }
    for i in (0..6).rev() {
        let mut row = right[i];
        for j in i + 1..6 {
            let (factor, line) = (block[i][j], right[j]);
            for k in 0..6 {
                row[k] -= factor * line[k];
            }
        }
        let per_pivot = 1.0 / block[i][i];
        right[i] = row.map(|entry| entry * per_pivot);
    }
}

/// Takes the product of two blocks from a third.
#[inline(always)]
fn subtract_product(left: &Block, top: &Block, from: &mut Block) {
    for (target, factors) in from.iter_mut().zip(left) {
        let mut row = *target;
        for (factor, line) in factors.iter().zip(top) {
            for k in 0..6 {
                row[k] -= factor * line[k];
            }
        }
        *target = row;
    }
}

#[allow(clippy::needless_range_loop)]
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
