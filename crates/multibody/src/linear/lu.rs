//! The numerical factorisation.

use super::equilibrate::Equilibrate;
use super::front;
use super::symbolic::{Destination, FrontPlan, Structure, Symbolic};
use oldham_cosim::Visitor;
use oldham_space::kernel::{self, Kernel};

/// A pivot that vanished for good: the matrix is singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SingularPivot {
    /// The unknown at whose turn it showed.
    pub unknown: usize,
}

/// Block LU with a fixed pattern.
///
/// Order of calls: fill [`matrix`](Self::matrix) at the places that
/// [`destination`](Self::destination) names, [`factor`](Self::factor), any number of
/// [`solve`](Self::solve). After `Ok(false)` the pattern has changed: fill again.
#[derive(Clone, Debug)]
pub struct BlockLu {
    pub(super) plan: Symbolic,
    pub(super) fronts: Vec<f64>,
    /// Updates of fronts whose parents have not taken them yet.
    updates: Vec<f64>,
    swaps: Vec<usize>,
    pub(super) scale: Vec<f64>,
    pub(super) sizes: Vec<f64>,
    /// One number for each kind of unknown.
    pub(super) kinds: Vec<f64>,
    /// Whether rows and columns are scaled with care; see [`super::equilibrate`].
    pub(super) balanced: bool,
    pub(super) prescribed: Prescribed,
    /// The largest stride of a front.
    pub(super) widest: usize,
    /// Room for two rows of the widest front.
    pub(super) work: Vec<f64>,
}

/// What becomes of [prescribed](Structure::prescribed) unknowns in the solutions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prescribed {
    /// They change as the right-hand side says.
    Change,
    /// They do not change: the factors do without their columns, and there is no
    /// [`response`](BlockLu::response).
    Stay,
}

/// Unknowns that are eliminated together to save a weak pivot, at most: a singular matrix must not
/// become one dense block.
const MOST_TOGETHER: usize = 150;

impl BlockLu {
    /// Analyses the pattern.
    pub fn new(structure: Structure) -> Self {
        Self::within(structure, u64::MAX).expect("no limit")
    }

    /// Analyses the pattern. If matrix and factors would take more than so many bytes, gives how
    /// many.
    pub fn within(structure: Structure, most_bytes: u64) -> Result<Self, u64> {
        let plan = Symbolic::within(structure, most_bytes)?;
        let mut lu = Self {
            plan,
            fronts: Vec::new(),
            updates: Vec::new(),
            swaps: Vec::new(),
            scale: Vec::new(),
            sizes: Vec::new(),
            kinds: Vec::new(),
            balanced: false,
            prescribed: Prescribed::Change,
            widest: 0,
            work: Vec::new(),
        };
        lu.allocate();
        Ok(lu)
    }

    fn allocate(&mut self) {
        let unknowns = self.unknowns();
        let strides = self.plan.fronts.iter().map(|front| front.shape.stride);
        self.widest = strides.max().unwrap_or(0);
        self.fronts = vec![0.0; self.plan.storage];
        self.updates = vec![0.0; self.plan.updates];
        self.swaps = vec![0; unknowns];
        self.scale = vec![1.0; unknowns];
        self.sizes = vec![0.0; unknowns];
        let kinds = self.plan.kinds.iter().flatten().max();
        self.kinds = vec![0.0; kinds.map_or(0, |last| last + 1)];
        self.work = vec![0.0; 2 * self.widest];
    }

    /// Number of unknowns.
    pub fn unknowns(&self) -> usize {
        *self.plan.block_start.last().expect("never empty")
    }

    /// Multiplications and additions of a factorisation, and of a solution.
    pub fn operations(&self) -> (u64, u64) {
        let (mut factor, mut solve) = (0, 0);
        for front in &self.plan.fronts {
            let (own, order) = (front.shape.own as u64, front.shape.order as u64);
            // For the k-th pivot a column of what is left is divided and a square updated.
            factor += (1..=own)
                .map(|k| (order - k) + 2 * (order - k) * (order - k))
                .sum::<u64>();
            solve += (1..=own).map(|k| 4 * (order - k) + 1).sum::<u64>();
        }
        (factor, solve)
    }

    /// First unknown of a block.
    pub fn block_start(&self, block: usize) -> usize {
        self.plan.block_start[block]
    }

    /// Place of a block in [`matrix`](Self::matrix), if it is stored.
    pub fn destination(&self, row: usize, column: usize) -> Option<Destination> {
        self.plan.destination(row, column)
    }

    /// The matrix, set to zero, to be filled.
    pub fn matrix(&mut self) -> &mut [f64] {
        self.fronts.fill(0.0);
        &mut self.fronts
    }

    /// Factors. `Ok(false)`: a pivot was too weak, so from now on rows are balanced with care, or,
    /// if they are already, its block is eliminated together with the next one; fill the matrix
    /// again and repeat.
    pub fn factor(&mut self, prescribed: Prescribed) -> Result<bool, SingularPivot> {
        self.prescribed = prescribed;
        kernel::run(Equilibrate { lu: self });
        let failed = kernel::run(Factor { lu: self });
        let Some((front, pivot)) = failed else {
            return Ok(true);
        };
        if !self.balanced {
            self.balanced = true;
            return Ok(false);
        }
        let own = |front: usize| self.plan.fronts[front].shape.own;
        let is_eliminated = |&parent: &usize| parent < self.plan.eliminated();
        let parent = self.plan.fronts[front].parent.filter(is_eliminated);
        if parent.is_some_and(|parent| own(front) + own(parent) <= MOST_TOGETHER) {
            self.plan.merge_with_parent(front);
            self.allocate();
            return Ok(false);
        }
        let unknown = self.plan.fronts[front].unknowns[pivot];
        Err(SingularPivot { unknown })
    }

    /// Undoes the changes of the pattern that weak pivots have caused: another matrix may not need
    /// them.
    pub fn separate(&mut self) {
        self.plan.separate();
        self.balanced = false;
        self.allocate();
    }

    /// Whether the matrix is laid out as another of the same structure: weak pivots change the layout.
    pub fn is_laid_out_as(&self, other: &Self) -> bool {
        self.plan.is_grouped_as(&other.plan)
    }

    /// Shows what weak pivots have changed so far: it decides about the bits of all later factors,
    /// so that it belongs to the state of whoever owns them. Gives whether the visitor has put
    /// another pattern in its place; then the matrix must be connected anew.
    pub fn visit_pattern(&mut self, visitor: &mut dyn Visitor) -> bool {
        let mut balanced = u64::from(self.balanced);
        visitor.count(&mut balanced);
        self.balanced = balanced != 0;
        if !self.plan.visit_groups(visitor) {
            return false;
        }
        self.plan.regroup();
        self.allocate();
        true
    }

    /// Solves in place.
    pub fn solve(&mut self, x: &mut [f64]) {
        self.substitute(x, 0);
    }

    /// Solves in place for a right-hand side that is zero but where it
    /// [gives](Structure::prescribed) unknowns.
    pub fn solve_given(&mut self, x: &mut [f64]) {
        self.substitute(x, self.plan.eliminated());
    }

    /// How the unknowns that give others change with these: minus what elimination has left of
    /// the matrix, row by row, in the order of [`Structure::prescribed`].
    pub fn response(&self, matrix: &mut [f64]) {
        let Some(front) = self.plan.fronts.get(self.plan.eliminated()) else {
            return;
        };
        let order = front.shape.order;
        let scale = |i: usize| self.scale[front.unknowns[i]];
        for (i, row) in matrix.chunks_exact_mut(order).enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let left = self.fronts[front.start + j * front.shape.stride + i];
                *entry = -left / (scale(i) * scale(j));
            }
        }
    }

    /// Logarithms of the sizes of the determinants of what the fronts eliminate, one after the other,
    /// prescribed unknowns left out: smooth functions of the matrix, however rows were scaled and
    /// exchanged. Their sum is that of the whole matrix.
    pub fn log_determinants(&self) -> impl Iterator<Item = f64> + '_ {
        let eliminated = &self.plan.fronts[..self.plan.eliminated()];
        eliminated.iter().map(|front| {
            let shape = front.shape;
            let reciprocals = self.fronts[front.start..].iter().step_by(shape.stride + 1);
            // Few logarithms, of products that stay within range.
            let (mut sum, mut product) = (0.0, 1.0);
            for (reciprocal, &unknown) in reciprocals.zip(&front.unknowns[..shape.own]) {
                let scale = self.scale[unknown];
                product *= reciprocal.abs() * scale * scale;
                if !(1e-100..1e100).contains(&product) {
                    sum -= f64::ln(product);
                    product = 1.0;
                }
            }
            sum - product.ln()
        })
    }

    /// How many fronts there are; weak pivots join some.
    pub fn fronts(&self) -> usize {
        self.plan.fronts.len()
    }

    /// Forward from one front on, then backward through all.
    fn substitute(&mut self, x: &mut [f64], from: usize) {
        assert_eq!(x.len(), self.unknowns());
        kernel::run(Solve { lu: self, x, from });
    }
}

struct Factor<'a> {
    lu: &'a mut BlockLu,
}

impl Kernel for Factor<'_> {
    type Output = Option<(usize, usize)>;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> Self::Output {
        let BlockLu {
            plan,
            fronts,
            updates,
            swaps,
            balanced,
            prescribed,
            ..
        } = self.lu;
        let mut first = 0;
        for (index, front) in plan.fronts.iter().enumerate() {
            let shape = front.shape;
            let matrix = &mut fronts[front.start..][..shape.factors()];
            updates[front.update..][..shape.update()].fill(0.0);
            for &child in &front.children {
                take_update(matrix, updates, front, &plan.fronts[child], *prescribed);
            }
            if index == plan.eliminated() {
                break;
            }
            let update = &mut updates[front.update..][..shape.update()];
            let swaps = &mut swaps[first..first + shape.own];
            // With the prescribed unknowns nothing is eliminated: whose parent they are is a root.
            let is_inner = front
                .parent
                .is_some_and(|parent| parent < plan.eliminated());
            let weakest = match (*balanced, is_inner) {
                (false, _) => front::Weakest::QUICK,
                (true, true) => front::Weakest::INNER,
                (true, false) => front::Weakest::ROOT,
            };
            let columns = worked_columns(front, *prescribed);
            let done = front::eliminate::<FUSED>(matrix, update, shape, columns, swaps, weakest);
            if let Err(pivot) = done {
                return Some((index, pivot));
            }
            first += shape.own;
        }
        None
    }
}

/// Adds what a child has left to its parent.
#[inline(always)]
fn take_update(
    matrix: &mut [f64],
    updates: &mut [f64],
    parent: &FrontPlan,
    child: &FrontPlan,
    prescribed: Prescribed,
) {
    let (shape, from) = (parent.shape, child.shape);
    // The two updates lie side by side in one vector, in either order.
    let (own_update, child_update) = if parent.update < child.update {
        let (before, after) = updates.split_at_mut(child.update);
        (&mut before[parent.update..], &after[..])
    } else {
        let (before, after) = updates.split_at_mut(parent.update);
        (&mut after[..], &before[child.update..])
    };
    let (panel, upper) = matrix.split_at_mut(shape.panel());
    let columns = worked_columns(child, prescribed) - from.own;
    let taken = child_update.chunks_exact(from.update_stride().max(1));
    // Boundary unknowns are in order, so that those which the parent owns are the first.
    let owned = child.owned_by_parent;
    for (column, &j) in taken.zip(&child.in_parent).take(columns) {
        let (first, rest) = column[..from.boundary()].split_at(owned);
        let (first_places, rest_places) = child.in_parent.split_at(owned);
        if j < shape.own {
            let target = &mut panel[j * shape.stride..][..shape.order];
            for (value, &i) in column.iter().zip(&child.in_parent) {
                target[i] += value;
            }
        } else {
            let j = j - shape.own;
            let target = &mut upper[j * shape.own..][..shape.own];
            for (value, &i) in first.iter().zip(first_places) {
                target[i] += value;
            }
            let target = &mut own_update[j * shape.update_stride()..][..shape.boundary()];
            for (value, &i) in rest.iter().zip(rest_places) {
                target[i - shape.own] += value;
            }
        }
    }
}

struct Solve<'a> {
    lu: &'a mut BlockLu,
    x: &'a mut [f64],
    from: usize,
}

impl Kernel for Solve<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let BlockLu {
            plan,
            fronts,
            swaps,
            scale,
            work,
            prescribed,
            ..
        } = self.lu;
        let x = self.x;
        x.iter_mut().zip(&*scale).for_each(|(x, s)| *x *= s);
        let (eliminated, left) = plan.fronts.split_at(plan.eliminated());
        let (skipped, taken) = eliminated.split_at(self.from);
        let mut first = skipped.iter().map(|front| front.shape.own).sum();
        for front in taken {
            let shape = front.shape;
            let (own, boundary) = front.unknowns.split_at(shape.own);
            let local = &mut work[..shape.stride];
            for (value, &unknown) in local.iter_mut().zip(own) {
                *value = x[unknown];
            }
            local[shape.own..].fill(0.0);
            let swaps = &swaps[first..first + shape.own];
            front::forward::<FUSED>(&fronts[front.start..][..shape.panel()], shape, swaps, local);
            for (value, &unknown) in local.iter().zip(own) {
                x[unknown] = *value;
            }
            for (value, &unknown) in local[shape.own..].iter().zip(boundary) {
                x[unknown] += value;
            }
            first += shape.own;
        }
        if let [front] = left {
            let matrix = &fronts[front.start..][..front.shape.panel()];
            match prescribed {
                Prescribed::Change => prescribe(matrix, front, &plan.prescribers, scale, x),
                Prescribed::Stay => hold(front, &plan.prescribers, scale, x),
            }
        }
        // Columns that would be multiplied by zero are passed by, which leaves the same bits.
        let given = left.iter().flat_map(|front| &front.unknowns);
        let changing = match given.into_iter().all(|&unknown| x[unknown] == 0.0) {
            true => Prescribed::Stay,
            false => *prescribed,
        };
        for front in eliminated.iter().rev() {
            let shape = front.shape;
            let local = &mut work[..shape.stride];
            for (value, &unknown) in local.iter_mut().zip(&front.unknowns) {
                *value = x[unknown];
            }
            let columns = worked_columns(front, changing);
            let matrix = &fronts[front.start..][..shape.factors()];
            front::backward::<FUSED>(matrix, shape, columns, local);
            for (value, &unknown) in local.iter().zip(&front.unknowns[..shape.own]) {
                x[unknown] = *value;
            }
        }
        x.iter_mut().zip(&*scale).for_each(|(x, s)| *x *= s);
    }
}

/// Columns of a front that factors need.
#[inline(always)]
pub(super) fn worked_columns(front: &FrontPlan, prescribed: Prescribed) -> usize {
    match prescribed {
        Prescribed::Change => front.shape.order,
        Prescribed::Stay => front.free,
    }
}

/// Leaves prescribed unknowns where they are; their prescribers get what that needs.
#[inline(always)]
fn hold(front: &FrontPlan, prescribers: &[usize], scale: &[f64], x: &mut [f64]) {
    for (&prescribed, &prescriber) in front.unknowns.iter().zip(prescribers) {
        // NaN is found by whoever asked for the solution.
        let stays = x[prescriber] == 0.0 || x[prescriber].is_nan();
        debug_assert!(stays, "a held unknown does not change");
        x[prescriber] = x[prescribed] / scale[prescribed];
        x[prescribed] = 0.0;
    }
}

/// Puts prescribed values in place; their prescribers get what that needs.
#[inline(always)]
fn prescribe(
    matrix: &[f64],
    front: &FrontPlan,
    prescribers: &[usize],
    scale: &[f64],
    x: &mut [f64],
) {
    let columns = matrix.chunks_exact(front.shape.stride);
    // Rows of prescribers have the scale one.
    for ((column, &prescribed), &prescriber) in columns.zip(&front.unknowns).zip(prescribers) {
        let value = x[prescriber] / scale[prescribed];
        if value == 0.0 {
            continue;
        }
        for (entry, &row) in column.iter().zip(&front.unknowns) {
            x[row] -= entry * value;
        }
    }
    for (&prescribed, &prescriber) in front.unknowns.iter().zip(prescribers) {
        let value = x[prescriber] / scale[prescribed];
        x[prescriber] = x[prescribed] / scale[prescribed];
        x[prescribed] = value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A repeatable sequence of numbers in (-1, 1).
    struct Numbers(u64);

    impl Numbers {
        fn next(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (self.0 >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        }
    }

    /// Fills a matrix block by block, with a dense copy beside it.
    struct Filled {
        dense: Vec<Vec<f64>>,
    }

    impl Filled {
        fn random(lu: &mut BlockLu, structure: &Structure, mass: &[f64]) -> Self {
            let mut numbers = Numbers(7);
            let n = lu.unknowns();
            let mut dense = vec![vec![0.0; n]; n];
            for clique in &structure.cliques {
                for &a in clique {
                    for &b in clique {
                        let (rows, columns) = (range(lu, a), range(lu, b));
                        for i in rows.clone() {
                            for j in columns.clone() {
                                let bordering = |k| k >= structure.principal.len();
                                if bordering(a) && bordering(b) {
                                    continue;
                                }
                                dense[i][j] += numbers.next();
                            }
                        }
                    }
                }
            }
            for (block, &m) in mass.iter().enumerate() {
                range(lu, block).for_each(|i| dense[i][i] += m);
            }
            let filled = Self { dense };
            filled.write(lu, structure);
            filled
        }

        fn write(&self, lu: &mut BlockLu, structure: &Structure) {
            let mut pairs: Vec<(usize, usize)> = structure
                .cliques
                .iter()
                .flat_map(|c| c.iter().flat_map(|&a| c.iter().map(move |&b| (a, b))))
                .collect();
            pairs.sort_unstable();
            pairs.dedup();
            lu.matrix();
            for (a, b) in pairs {
                let Some(to) = lu.destination(a, b) else {
                    continue;
                };
                let (rows, columns) = (range(lu, a), range(lu, b));
                for (i, row) in rows.enumerate() {
                    for (j, column) in columns.clone().enumerate() {
                        lu.fronts[to.start + j * to.stride + i] = self.dense[row][column];
                    }
                }
            }
        }

        fn factor(&self, lu: &mut BlockLu, structure: &Structure) -> Result<(), SingularPivot> {
            self.factor_with(lu, structure, Prescribed::Change)
        }

        fn factor_with(
            &self,
            lu: &mut BlockLu,
            structure: &Structure,
            prescribed: Prescribed,
        ) -> Result<(), SingularPivot> {
            loop {
                self.write(lu, structure);
                if lu.factor(prescribed)? {
                    return Ok(());
                }
            }
        }

        fn residual(&self, x: &[f64], b: &[f64]) -> f64 {
            let row = |(a, b): (&Vec<f64>, &f64)| -> f64 {
                (a.iter().zip(x).map(|(a, x)| a * x).sum::<f64>() - b).abs()
            };
            self.dense.iter().zip(b).map(row).fold(0.0, f64::max)
        }
    }

    fn range(lu: &BlockLu, block: usize) -> std::ops::Range<usize> {
        lu.block_start(block)..lu.block_start(block + 1)
    }

    /// A loop of nodes with joints between neighbours and one joint to the ground.
    fn ring(nodes: usize) -> Structure {
        let mut structure = Structure {
            principal: vec![6; nodes],
            ..Structure::default()
        };
        for i in 0..nodes {
            let ends = vec![i, (i + 1) % nodes];
            structure
                .cliques
                .push([ends.clone(), vec![nodes + i]].concat());
            structure.bordering.push((2, ends));
        }
        structure.bordering.push((3, vec![0]));
        structure.cliques.push(vec![0, 2 * nodes]);
        structure
    }

    fn solve_and_check(mass: &[f64], tolerance: f64) {
        let structure = ring(mass.len());
        let mut lu = BlockLu::new(structure.clone());
        let filled = Filled::random(&mut lu, &structure, mass);
        filled.factor(&mut lu, &structure).unwrap();
        let mut numbers = Numbers(3);
        let b: Vec<f64> = (0..lu.unknowns()).map(|_| numbers.next()).collect();
        let mut x = b.clone();
        lu.solve(&mut x);
        let residual = filled.residual(&x, &b);
        assert!(residual < tolerance, "{residual:e}");
    }

    #[test]
    fn a_loop_with_zero_diagonals_is_solved() {
        solve_and_check(&[30.0; 9], 1e-12);
    }

    /// Two blocks that are given, in a dense solution and without elimination.
    #[test]
    fn given_blocks_are_not_eliminated() {
        let nodes = 9;
        let mut plain = ring(nodes);
        let first = nodes + plain.bordering.len();
        for (index, node) in [3, 7].into_iter().enumerate() {
            plain.bordering.push((6, vec![node]));
            plain.cliques.push(vec![node, first + index]);
        }
        let mut structure = plain.clone();
        structure.prescribed = vec![(3, first), (7, first + 1)];
        let mut whole = BlockLu::new(plain.clone());
        let mut filled = Filled::random(&mut whole, &plain, &[30.0; 9]);
        for (node, prescriber) in &structure.prescribed {
            for (i, j) in range(&whole, *node).zip(range(&whole, *prescriber)) {
                for k in range(&whole, *prescriber) {
                    filled.dense[i][k] = f64::from(u8::from(k == j));
                    filled.dense[k][i] = f64::from(u8::from(k == j));
                }
            }
        }
        filled.factor(&mut whole, &plain).unwrap();
        let mut lu = BlockLu::new(structure.clone());
        filled.factor(&mut lu, &structure).unwrap();
        let mut expected: Vec<f64> = (0..lu.unknowns()).map(|i| 1.0 + i as f64).collect();
        let mut found = expected.clone();
        whole.solve(&mut expected);
        lu.solve(&mut found);
        let size = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (x, y) in expected.iter().zip(&found) {
            assert!((x - y).abs() < 1e-12 * size, "{x} {y}");
        }
        let mut response = vec![0.0; 144];
        lu.response(&mut response);
        let prescriber = |k: usize| range(&lu, first + k / 6).start + k % 6;
        let (from, to) = (prescriber(2), prescriber(9));
        let mut x = vec![0.0; lu.unknowns()];
        x[from] = 1.0;
        lu.solve_given(&mut x);
        assert!((x[to] - response[9 * 12 + 2]).abs() < 1e-12 * x[to].abs().max(1.0));
    }

    /// Where given unknowns stay, the others are solved as if they always had been zero.
    #[test]
    fn given_blocks_that_stay_give_the_same_solution() {
        let nodes = 9;
        let mut structure = ring(nodes);
        let prescriber = nodes + structure.bordering.len();
        structure.bordering.push((6, vec![4]));
        structure.cliques.push(vec![4, prescriber]);
        structure.prescribed = vec![(4, prescriber)];
        let mut lu = BlockLu::new(structure.clone());
        let mut filled = Filled::random(&mut lu, &structure, &[30.0; 9]);
        for (i, j) in range(&lu, 4).zip(range(&lu, prescriber)) {
            for k in range(&lu, prescriber) {
                filled.dense[i][k] = f64::from(u8::from(k == j));
                filled.dense[k][i] = f64::from(u8::from(k == j));
            }
        }
        let mut numbers = Numbers(5);
        let mut b: Vec<f64> = (0..lu.unknowns()).map(|_| numbers.next()).collect();
        b[range(&lu, prescriber)].fill(0.0);
        filled
            .factor_with(&mut lu, &structure, Prescribed::Stay)
            .unwrap();
        let mut x = b.clone();
        lu.solve(&mut x);
        assert!(x[range(&lu, 4)].iter().all(|&x| x == 0.0));
        let residual = filled.residual(&x, &b);
        assert!(residual < 1e-12, "{residual:e}");
    }

    #[test]
    fn units_of_very_different_size_do_not_matter() {
        let mass = [30.0, 1e6, 40.0, 1e8, 30.0, 2e3, 50.0];
        solve_and_check(&mass, 1e-6);
    }

    /// Units of the unknowns that differ by up to twelve orders, and nodes without any stiffness
    /// but rounding errors.
    #[test]
    fn the_solution_does_not_depend_on_units() {
        let structure = ring(7);
        let solve = |units: &dyn Fn(usize) -> f64| -> Vec<f64> {
            let mut lu = BlockLu::new(structure.clone());
            let mass = [30.0, 40.0, 0.0, 30.0, 30.0, 0.0, 50.0];
            let mut filled = Filled::random(&mut lu, &structure, &mass);
            for hollow in [2, 5] {
                let block = range(&lu, hollow);
                for (i, j) in block
                    .clone()
                    .flat_map(|i| block.clone().map(move |j| (i, j)))
                {
                    filled.dense[i][j] *= 1e-17;
                }
            }
            for (i, row) in filled.dense.iter_mut().enumerate() {
                for (j, entry) in row.iter_mut().enumerate() {
                    *entry *= units(i) * units(j);
                }
            }
            filled.factor(&mut lu, &structure).unwrap();
            let mut x: Vec<f64> = (0..lu.unknowns()).map(units).collect();
            lu.solve(&mut x);
            x.iter().enumerate().map(|(i, x)| x * units(i)).collect()
        };
        let expected = solve(&|_| 1.0);
        let found = solve(&|i| 10.0_f64.powi((i * 7 % 13) as i32 - 6));
        let size = expected.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
        for (x, y) in expected.iter().zip(&found) {
            assert!((x - y).abs() < 1e-9 * size, "{x} {y}");
        }
    }

    #[test]
    fn a_singular_pivot_block_is_eliminated_with_its_parent() {
        let structure = Structure {
            principal: vec![1, 1],
            bordering: vec![(1, vec![0, 1])],
            cliques: vec![vec![0, 1, 2]],
            prescribed: Vec::new(),
        };
        let mut lu = BlockLu::new(structure.clone());
        let dense = vec![
            vec![0.0, 2.0, 1.0],
            vec![2.0, 3.0, -1.0],
            vec![1.0, -1.0, 0.0],
        ];
        let filled = Filled { dense };
        filled.write(&mut lu, &structure);
        assert_eq!(
            lu.factor(Prescribed::Change),
            Ok(false),
            "the first pivot is zero where it stands"
        );
        filled.factor(&mut lu, &structure).unwrap();
        let b = [1.0, 2.0, 3.0];
        let mut x = b;
        lu.solve(&mut x);
        assert!(filled.residual(&x, &b) < 1e-14);
    }

    /// A soft node beside one that is given: its pivot is weak, but there is nothing that it could be
    /// eliminated with, and nothing is singular.
    #[test]
    fn a_weak_pivot_beside_a_given_block_is_not_singular() {
        let structure = Structure {
            principal: vec![1, 1],
            bordering: vec![(1, vec![1])],
            cliques: vec![vec![0, 1], vec![1, 2]],
            prescribed: vec![(1, 2)],
        };
        let mut lu = BlockLu::new(structure.clone());
        let dense = vec![
            vec![1e-8, 1.0, 0.0],
            vec![1.0, 2.0, 1.0],
            vec![0.0, 1.0, 0.0],
        ];
        let filled = Filled { dense };
        filled.factor(&mut lu, &structure).unwrap();
        let mut x = [3.0, 2.0, 5.0];
        lu.solve(&mut x);
        // The given one is 5, so that the soft one is (3 - 5) / 1e-8.
        let soft = -2e8;
        for (x, expected) in x.iter().zip([soft, 5.0, 2.0 - soft - 10.0]) {
            assert!((x / expected - 1.0).abs() < 1e-12, "{x} {expected}");
        }
    }

    /// 2 · 3 · (−½ − ⅓) by hand, for the two diagonals bordered by a constraint.
    #[test]
    fn the_determinant_is_that_of_the_matrix() {
        let structure = Structure {
            principal: vec![1, 1],
            bordering: vec![(1, vec![0, 1])],
            cliques: vec![vec![0, 1, 2]],
            prescribed: Vec::new(),
        };
        let mut lu = BlockLu::new(structure.clone());
        let dense = vec![
            vec![2.0, 0.0, 1.0],
            vec![0.0, 3.0, -1.0],
            vec![1.0, -1.0, 0.0],
        ];
        let filled = Filled { dense };
        filled.factor(&mut lu, &structure).unwrap();
        let found: f64 = lu.log_determinants().sum();
        assert!((found - 5.0_f64.ln()).abs() < 1e-14);
    }

    #[test]
    fn a_singular_matrix_names_its_unknown() {
        let structure = Structure {
            principal: vec![1, 1],
            bordering: vec![(2, vec![0, 1])],
            cliques: vec![vec![0, 1, 2]],
            prescribed: Vec::new(),
        };
        let mut lu = BlockLu::new(structure.clone());
        let row = vec![1.0, -1.0, 0.0, 0.0];
        let dense = vec![
            vec![2.0, 0.0, 1.0, 1.0],
            vec![0.0, 3.0, -1.0, -1.0],
            row.clone(),
            row,
        ];
        let filled = Filled { dense };
        let singular = filled.factor(&mut lu, &structure).unwrap_err();
        assert!(singular.unknown >= 2, "one of the two equal constraints");
    }
}
