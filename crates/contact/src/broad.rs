//! Pairs of objects that may touch, found on a uniform grid and kept while nobody has moved far.
//!
//! The list holds every pair nearer than the reach and a slack. It is made anew when two objects
//! together have moved by the slack, so that what is found from it never depends on when that was.

use oldham_space::{V3, Vec3};

use crate::room::Room;

/// A ball about an object; the radius of a large one may be infinite.
#[derive(Clone, Copy, Debug)]
pub struct Ball {
    pub centre: Vec3,
    pub radius: f64,
}

/// Median radius of the objects of finite size, if there are any.
pub fn median_radius(radii: impl Iterator<Item = f64>) -> Option<f64> {
    let mut finite: Vec<f64> = radii.filter(|r| r.is_finite()).collect();
    let middle = finite.len() / 2;
    (!finite.is_empty()).then(|| *finite.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// Objects this many times larger than the median are tested against all others.
const LARGE: f64 = 4.0;

/// For each object those with a larger index that may touch it, in order.
#[derive(Clone, Debug, Default)]
pub struct Neighbours {
    starts: Vec<u32>,
    others: Vec<u32>,
    grid: Grid,
    large: Vec<u32>,
}

impl Neighbours {
    /// The partners of an object.
    #[inline(always)]
    pub fn of(&self, object: usize) -> &[u32] {
        &self.others[self.starts[object] as usize..self.starts[object + 1] as usize]
    }

    /// Makes the list: pairs of balls nearer than `margin` that `accept(i, j)` admits. Pairs
    /// with an object much larger than the median are left to `accept` alone.
    pub fn build(
        &mut self,
        count: usize,
        ball: impl Fn(usize) -> Ball,
        median: f64,
        margin: f64,
        mut accept: impl FnMut(usize, usize) -> bool,
    ) {
        let limit = LARGE * median;
        let is_large = |i: usize| ball(i).radius > limit;
        self.large.clear();
        self.large
            .extend((0..count as u32).filter(|&i| is_large(i as usize)));
        let small = (0..count).filter(|&i| !is_large(i));
        let largest = small.clone().map(|i| ball(i).radius).fold(0.0, f64::max);
        self.grid.fill(small, &ball, 2.0 * largest + margin);

        self.starts.clear();
        self.starts.reserve_exact(count + 1);
        self.others.clear();
        self.starts.push(0);
        for i in 0..count {
            let from = self.others.len();
            if is_large(i) {
                let partners = (i + 1..count).filter(|&j| accept(i, j));
                partners.for_each(|j| self.others.put(j as u32));
            } else {
                let here = ball(i);
                let others = &mut self.others;
                self.grid.near(here.centre, |j| {
                    let there = ball(j as usize);
                    let apart = there.centre - here.centre;
                    let touching = here.radius + there.radius + margin;
                    if (j as usize) > i
                        && apart.dot(apart) < touching * touching
                        && accept(i, j as usize)
                    {
                        others.put(j);
                    }
                });
                let larger = self.large.iter().filter(|&&j| j as usize > i);
                larger
                    .filter(|&&j| accept(i, j as usize))
                    .for_each(|&j| others.put(j));
                others[from..].sort_unstable();
            }
            self.starts.push(self.others.len() as u32);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let grid = self.grid.starts.held() + self.grid.members.held();
        self.starts.held() + self.others.held() + self.large.held() + grid
    }
}

/// Objects by cells, each in the cell of its centre.
#[derive(Clone, Debug, Default)]
struct Grid {
    lowest: Vec3,
    per_cell: f64,
    cells: [usize; 3],
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Grid {
    fn fill(
        &mut self,
        objects: impl Iterator<Item = usize> + Clone,
        ball: &impl Fn(usize) -> Ball,
        size: f64,
    ) {
        let (mut lowest, mut highest) = (V3([f64::INFINITY; 3]), V3([f64::NEG_INFINITY; 3]));
        let mut count = 0;
        for i in objects.clone() {
            let centre = ball(i).centre;
            for axis in 0..3 {
                lowest[axis] = lowest[axis].min(centre[axis]);
                highest[axis] = highest[axis].max(centre[axis]);
            }
            count += 1;
        }
        self.starts.clear();
        self.members.clear();
        self.cells = [0; 3];
        if count == 0 {
            return;
        }
        // A few stragglers far away must not make a grid of empty cells.
        let mut size = size.max(f64::MIN_POSITIVE);
        loop {
            let along = |axis: usize| ((highest[axis] - lowest[axis]) / size).floor() + 1.0;
            if along(0) * along(1) * along(2) <= (8 * count + 64) as f64 {
                self.cells = [along(0) as usize, along(1) as usize, along(2) as usize];
                break;
            }
            size *= 1.5;
        }
        self.lowest = lowest;
        self.per_cell = 1.0 / size;
        // Counting sort.
        let cells = self.cells.iter().product::<usize>();
        self.starts.make_room(cells + 1);
        self.starts.resize(cells + 1, 0);
        for i in objects.clone() {
            let cell = self.cell(ball(i).centre);
            self.starts[cell + 1] += 1;
        }
        for cell in 1..self.starts.len() {
            self.starts[cell] += self.starts[cell - 1];
        }
        self.members.reserve_exact(count);
        self.members.resize(count, 0);
        for i in objects {
            let cell = self.cell(ball(i).centre);
            self.members[self.starts[cell] as usize] = i as u32;
            self.starts[cell] += 1;
        }
        // Each start has moved to its cell's end: the start of the next.
        self.starts.rotate_right(1);
        self.starts[0] = 0;
    }

    fn coordinates(&self, at: Vec3) -> [usize; 3] {
        [0, 1, 2].map(|axis| {
            let cell = ((at[axis] - self.lowest[axis]) * self.per_cell) as usize;
            cell.min(self.cells[axis] - 1)
        })
    }

    fn cell(&self, at: Vec3) -> usize {
        let [x, y, z] = self.coordinates(at);
        (z * self.cells[1] + y) * self.cells[0] + x
    }

    /// All objects in the cells around a point.
    fn near(&self, at: Vec3, mut visit: impl FnMut(u32)) {
        let [x, y, z] = self.coordinates(at);
        let around = |c: usize, cells: usize| c.saturating_sub(1)..(c + 2).min(cells);
        for z in around(z, self.cells[2]) {
            for y in around(y, self.cells[1]) {
                let row = (z * self.cells[1] + y) * self.cells[0];
                let along = around(x, self.cells[0]);
                let members =
                    self.starts[row + along.start] as usize..self.starts[row + along.end] as usize;
                self.members[members].iter().for_each(|&j| visit(j));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thousand balls of different sizes, some far away: the grid finds what testing all pairs finds.
    #[test]
    fn the_grid_finds_every_near_pair_and_no_other() {
        let mut seed = 1_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 53) as f64
        };
        let balls: Vec<Ball> = (0..1000)
            .map(|i| Ball {
                centre: Vec3::new(random(), random(), random())
                    * if i % 100 == 7 { 50.0 } else { 1.0 },
                radius: 0.01 + 0.03 * random() + if i % 200 == 3 { 0.5 } else { 0.0 },
            })
            .collect();
        let margin = 0.02;
        let near = |i: usize, j: usize| {
            (balls[i].centre - balls[j].centre).norm() < balls[i].radius + balls[j].radius + margin
        };
        let mut neighbours = Neighbours::default();
        let median = median_radius(balls.iter().map(|b| b.radius)).unwrap();
        neighbours.build(balls.len(), |i| balls[i], median, margin, near);
        let mut pairs = 0;
        for i in 0..balls.len() {
            let expected: Vec<u32> = (i + 1..balls.len())
                .filter(|&j| near(i, j))
                .map(|j| j as u32)
                .collect();
            assert_eq!(neighbours.of(i), expected);
            pairs += expected.len();
        }
        assert!(pairs > 1000, "{pairs} pairs are too few for a test");
    }
}
