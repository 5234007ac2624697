//! Eigenvalues nearest to a shift, by the inverse of the shifted pencil.
//!
//! With x₂ = s x₁ the quadratic problem is one of first order, whose shifted inverse T has the
//! eigenvalues 1/(s - σ). Those of small problems are all found at once. For large ones a Krylov
//! space is built from several start vectors, so that multiple eigenvalues are not missed, until
//! the wanted ones have converged.
//!
//! # References
//! Saad, "Numerical Methods for Large Eigenvalue Problems", 2nd ed., SIAM 2011, Sect. 6.5 and 8.1.

use super::pencil::{Factors, Pencil, add_product, dot, norm};
use faer::{Mat, c64};

/// Up to this order of T all its eigenvalues are found.
const ALL: usize = 240;
/// Start vectors of the Krylov space: the highest multiplicity that is sure to be found.
const BLOCK: usize = 8;
/// Largest dimension of the Krylov space.
const LARGEST: usize = 600;
/// Relative residual at which an eigenvalue counts as found; it is refined afterwards.
const CONVERGED: f64 = 1e-9;
/// Eigenvalues of T below this fraction of the largest belong to motions without mass.
const INFINITE: f64 = 1e-8;

const ZERO: c64 = c64::new(0.0, 0.0);

/// An eigenvalue with its vector.
pub(super) struct EigenPair {
    pub s: c64,
    pub x: Vec<c64>,
}

/// The shifted inverse.
struct Inverse<'a> {
    pencil: &'a Pencil,
    shift: c64,
    factors: Factors,
}

impl Inverse<'_> {
    fn order(&self) -> usize {
        2 * self.pencil.moving
    }

    /// T x. Vectors are changes of what moves, then their rates, scaled by the size of the shift;
    /// multipliers have no part in them, as they are of another size.
    fn apply(&self, x: &[c64]) -> Vec<c64> {
        let n = self.pencil.moving;
        let mut y = self.solve(x);
        y.truncate(n);
        let scale = self.shift.norm();
        let rates: Vec<c64> = (0..n).map(|i| (x[i] + self.shift * y[i]) / scale).collect();
        y.extend(rates);
        y
    }

    /// The changes of T x, and the multipliers.
    fn solve(&self, x: &[c64]) -> Vec<c64> {
        let scale = self.shift.norm();
        let (first, second) = x.split_at(self.pencil.moving);
        let mut y = vec![ZERO; self.pencil.size];
        add_product(&self.pencil.mass, c64::new(-scale, 0.0), second, &mut y);
        add_product(&self.pencil.mass, -self.shift, first, &mut y);
        add_product(&self.pencil.damping, c64::new(-1.0, 0.0), first, &mut y);
        self.factors.solve(&mut y);
        y
    }

    fn pair(&self, mu: c64, vector: &[c64]) -> EigenPair {
        EigenPair {
            s: self.shift + mu.inv(),
            x: self.solve(vector).iter().map(|v| v / mu).collect(),
        }
    }
}

/// The eigenvalues nearest to the shift: as many as `enough` asks for, or all that there are. It is
/// given those found so far, the nearest first.
pub(super) fn nearest(
    pencil: &Pencil,
    shift: c64,
    enough: &dyn Fn(&[c64]) -> bool,
) -> Option<Vec<EigenPair>> {
    let inverse = Inverse {
        pencil,
        shift,
        factors: pencil.factor(shift)?,
    };
    if inverse.order() <= ALL {
        all(&inverse)
    } else {
        krylov(&inverse, enough)
    }
}

fn all(inverse: &Inverse<'_>) -> Option<Vec<EigenPair>> {
    let order = inverse.order();
    let mut matrix = Mat::<c64>::zeros(order, order);
    let mut unit = vec![ZERO; order];
    for j in 0..order {
        unit[j] = c64::new(1.0, 0.0);
        for (i, value) in inverse.apply(&unit).into_iter().enumerate() {
            matrix[(i, j)] = value;
        }
        unit[j] = ZERO;
    }
    let (values, vectors) = eigen(&matrix)?;
    let pairs = by_size(&values).into_iter().map(|j| {
        let vector: Vec<c64> = (0..order).map(|i| vectors[(i, j)]).collect();
        inverse.pair(values[j], &vector)
    });
    Some(pairs.collect())
}

/// Places of the eigenvalues of T that are not those of motions without mass, the largest first.
fn by_size(values: &[c64]) -> Vec<usize> {
    let largest = values.iter().map(|mu| mu.norm()).fold(0.0, f64::max);
    let finite = |&j: &usize| values[j].norm() > INFINITE * largest;
    let mut order: Vec<usize> = (0..values.len()).filter(finite).collect();
    order.sort_by(|&i, &j| values[j].norm().total_cmp(&values[i].norm()));
    order
}

fn eigen(matrix: &Mat<c64>) -> Option<(Vec<c64>, Mat<c64>)> {
    let is_finite = |j: usize| (0..matrix.nrows()).all(|i| matrix[(i, j)].norm().is_finite());
    if !(0..matrix.ncols()).all(is_finite) {
        return None;
    }
    let eigen = matrix.eigen().ok()?;
    let values = eigen.S().column_vector().iter().copied().collect();
    Some((values, eigen.U().to_owned()))
}

fn krylov(inverse: &Inverse<'_>, enough: &dyn Fn(&[c64]) -> bool) -> Option<Vec<EigenPair>> {
    let order = inverse.order();
    let largest = LARGEST.min(order);
    let mut basis: Vec<Vec<c64>> = Vec::new();
    // Columns of the projection of T, as long as the basis was when they were found.
    let mut columns: Vec<Vec<c64>> = Vec::new();
    for vector in start_vectors(order) {
        // The inverse takes away what no motion can be.
        let mut vector = inverse.apply(&inverse.apply(&vector));
        orthogonalise(&mut vector, &mut basis);
    }
    let mut next_look = 4 * BLOCK;
    loop {
        let processed = columns.len();
        let is_complete = processed == basis.len() || processed == largest;
        if processed == next_look || is_complete {
            next_look += next_look / 4;
            let found = ritz(
                inverse,
                &basis,
                &columns,
                is_complete && processed < largest,
            )?;
            let poles: Vec<c64> = found
                .iter()
                .map(|(mu, _)| inverse.shift + mu.inv())
                .collect();
            if is_complete || enough(&poles) {
                let pairs = found.into_iter().map(|(mu, y)| {
                    let mut x = vec![ZERO; order];
                    for (vector, weight) in basis.iter().zip(y) {
                        x.iter_mut().zip(vector).for_each(|(x, v)| *x += weight * v);
                    }
                    inverse.pair(mu, &x)
                });
                return Some(pairs.collect());
            }
        }
        let mut image = inverse.apply(&basis[processed]);
        if !norm(&image).is_finite() {
            return None;
        }
        let column = orthogonalise(&mut image, &mut basis);
        columns.push(column);
    }
}

/// The eigenvalues of T, the largest first, up to the first that has not converged.
fn ritz(
    inverse: &Inverse<'_>,
    basis: &[Vec<c64>],
    columns: &[Vec<c64>],
    is_invariant: bool,
) -> Option<Vec<(c64, Vec<c64>)>> {
    let n = columns.len();
    let mut projected = Mat::<c64>::zeros(n, n);
    for (j, column) in columns.iter().enumerate() {
        for (i, &value) in column.iter().take(n).enumerate() {
            projected[(i, j)] = value;
        }
    }
    let _ = inverse;
    let (values, vectors) = eigen(&projected)?;
    let mut found = Vec::new();
    for j in by_size(&values) {
        let y: Vec<c64> = (0..n).map(|i| vectors[(i, j)]).collect();
        let mut beyond = vec![ZERO; basis.len() - n.min(basis.len())];
        for (column, weight) in columns.iter().zip(&y) {
            for (sum, value) in beyond.iter_mut().zip(column.iter().skip(n)) {
                *sum += weight * value;
            }
        }
        if !is_invariant && norm(&beyond) > CONVERGED * values[j].norm() * norm(&y) {
            break;
        }
        found.push((values[j], y));
    }
    Some(found)
}

/// Takes away what a vector shares with the basis, gives the shares, and adds the rest to the
/// basis if there is any.
fn orthogonalise(vector: &mut [c64], basis: &mut Vec<Vec<c64>>) -> Vec<c64> {
    let before = norm(vector);
    let mut shares = vec![ZERO; basis.len()];
    for _ in 0..2 {
        for (share, base) in shares.iter_mut().zip(basis.iter()) {
            let along = dot(base, vector);
            *share += along;
            vector
                .iter_mut()
                .zip(base)
                .for_each(|(v, b)| *v -= along * b);
        }
    }
    let rest = norm(vector);
    if rest > 1e-11 * before && rest > 0.0 {
        basis.push(vector.iter().map(|v| v / rest).collect());
        shares.push(c64::new(rest, 0.0));
    }
    shares
}

/// Repeatable vectors without any symmetry.
fn start_vectors(rows: usize) -> Vec<Vec<c64>> {
    let mut seed = 1_u64;
    let mut random = || {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    let mut vector = || (0..rows).map(|_| c64::new(random(), 0.0)).collect();
    (0..BLOCK).map(|_| vector()).collect()
}
