//! Scaling of rows and columns alike, so that pivots can be judged by their size whatever the
//! units of the unknowns.
//!
//! The quick way makes every diagonal one, and the largest entry one in rows without a diagonal.
//! It is perfect where the principal part is definite. It fails where a diagonal says nothing
//! about its row, such as the rounding errors on that of a node without mass: some pivot is weak
//! then. The balanced way asks that the squares of each row sum up to one. That scaling is unique,
//! hence free of units, and no entry is trusted more than the others; but it has to be iterated.
//!
//! # References
//! Sinkhorn, Knopp, "Concerning nonnegative matrices and doubly stochastic matrices", Pacific J.
//! Math. 21 (1967) 343–348; Knight, Ruiz, Uçar, "A symmetry preserving algorithm for matrix
//! scaling", SIAM J. Matrix Anal. Appl. 35 (2014) 931–955.

use super::front;
use super::lu::{BlockLu, worked_columns};
use oldham_space::kernel::Kernel;

/// Sweeps of the balanced way, at most.
const SWEEPS: usize = 60;
/// A row is balanced when its squares sum up to one within this factor.
const BALANCED: f64 = 2.0;

/// Finds the scales and applies them.
pub(super) struct Equilibrate<'a> {
    pub lu: &'a mut BlockLu,
}

impl Kernel for Equilibrate<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let lu = self.lu;
        if lu.balanced {
            lu.balance();
        } else {
            lu.scale_by_diagonals();
        }
        unscaled_to_one(&mut lu.scale);
        for front in &lu.plan.fronts {
            let local = &mut lu.work[..front.shape.stride];
            gather(&lu.scale, &front.unknowns, local);
            let worked = worked_columns(front, lu.prescribed);
            let matrix = &mut lu.fronts[front.start..][..front.shape.factors()];
            front::scale(matrix, front.shape, worked, local);
        }
    }
}

impl BlockLu {
    #[inline(always)]
    fn scale_by_diagonals(&mut self) {
        for front in &self.plan.fronts {
            let shape = front.shape;
            for (i, &unknown) in front.unknowns[..shape.own].iter().enumerate() {
                let diagonal = self.fronts[front.start + i * (shape.stride + 1)].abs();
                self.scale[unknown] = inverse(diagonal.sqrt());
            }
        }
        self.spread();
    }

    #[inline(always)]
    fn balance(&mut self) {
        self.scale_by_kinds();
        for _ in 0..SWEEPS {
            self.find_sizes(front::row_squares, |a, b| a + b);
            let mut done = true;
            for (scale, &size) in self.scale.iter_mut().zip(&self.sizes) {
                let sum = *scale * *scale * size;
                if sum > 0.0 {
                    *scale *= sum.sqrt().sqrt().recip();
                    done &= sum < BALANCED && sum * BALANCED > 1.0;
                }
            }
            if done {
                break;
            }
        }
    }

    /// A first guess that is free of units too: what stands at the same place in its block is of
    /// the same kind, and the largest diagonal of a kind scales it everywhere.
    #[inline(always)]
    fn scale_by_kinds(&mut self) {
        let plan = &self.plan;
        self.kinds.fill(0.0);
        for front in &plan.fronts {
            let shape = front.shape;
            for (i, &unknown) in front.unknowns[..shape.own].iter().enumerate() {
                if let Some(kind) = plan.kinds[unknown] {
                    let diagonal = self.fronts[front.start + i * (shape.stride + 1)].abs();
                    self.kinds[kind] = self.kinds[kind].max(diagonal);
                }
            }
        }
        for (scale, kind) in self.scale.iter_mut().zip(&plan.kinds) {
            *scale = kind.map_or(0.0, |kind| inverse(self.kinds[kind].sqrt()));
        }
        self.spread();
        self.spread();
        unscaled_to_one(&mut self.scale);
    }

    /// Rows without a scale, marked by zero, take it from their neighbours.
    #[inline(always)]
    fn spread(&mut self) {
        if self.scale.iter().all(|&s| s > 0.0) {
            return;
        }
        self.find_sizes(front::row_maxima, f64::max);
        for (scale, &largest) in self.scale.iter_mut().zip(&self.sizes) {
            if *scale == 0.0 {
                *scale = inverse(largest);
            }
        }
    }

    /// A measure of each row, columns scaled.
    #[inline(always)]
    fn find_sizes(
        &mut self,
        of_front: impl Fn(&[f64], front::FrontShape, &[f64], &mut [f64]),
        join: impl Fn(f64, f64) -> f64,
    ) {
        self.sizes.fill(0.0);
        for front in &self.plan.fronts {
            let (scale, size) = self.work.split_at_mut(self.widest);
            gather(&self.scale, &front.unknowns, scale);
            let matrix = &self.fronts[front.start..][..front.shape.factors()];
            of_front(matrix, front.shape, scale, size);
            for (&unknown, &value) in front.unknowns.iter().zip(&*size) {
                self.sizes[unknown] = join(self.sizes[unknown], value);
            }
        }
    }
}

/// Copies the values of some unknowns side by side.
#[inline(always)]
fn gather(values: &[f64], unknowns: &[usize], local: &mut [f64]) {
    for (target, &unknown) in local.iter_mut().zip(unknowns) {
        *target = values[unknown];
    }
}

/// The reciprocal; zero of zero.
#[inline(always)]
fn inverse(value: f64) -> f64 {
    if value > 0.0 { value.recip() } else { 0.0 }
}

#[inline(always)]
fn unscaled_to_one(scale: &mut [f64]) {
    scale
        .iter_mut()
        .filter(|s| **s == 0.0)
        .for_each(|s| *s = 1.0);
}
