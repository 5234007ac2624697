//! Modes of a part by itself, its inputs held: the poles of its response.
//!
//! (s² M + s D + K) x = 0 as a linear problem for (x, s x / Ω), shifted and inverted: all modes at
//! once where the part is small; else block Arnoldi iterations about shifts that walk up the
//! imaginary axis, each of which knows how far around it nothing was missed.

use faer::Mat;
use nalgebra::Complex;

use super::band::{BandFamily, Columns};
use crate::eigen::eigenvalues_by_faer;
use oldham_cosim::{Entry, SequenceModel};

type C = Complex<f64>;

/// Unknowns with inertia or damping up to which all modes are found at once.
const SMALL: usize = 220;
/// Vectors that are multiplied together: equal modes up to this multiplicity are told apart.
const BLOCK: usize = 3;
/// Vectors of an Arnoldi iteration, from the first try to the last.
const VECTORS: [usize; 3] = [84, 150, 270];
/// Relative error of a mode that counts as found.
const CONVERGED: f64 = 1e-9;
/// Shifts after which the search is given up.
const MOST_SHIFTS: usize = 200;

/// The part of the s-plane in which modes matter: up to a frequency, about the imaginary axis.
#[derive(Clone, Copy, Debug)]
pub(super) struct Strip {
    pub height: f64,
    pub half_width: f64,
}

/// All modes s of a part in a strip, with nonnegative imaginary part; others may be among them.
/// Nothing if the search does not end.
pub(super) fn modes(model: &SequenceModel, family: &BandFamily, strip: Strip) -> Option<Vec<C>> {
    let problem = Problem::new(model, family, strip);
    if problem.active.is_empty() {
        return Some(Vec::new());
    }
    match problem.active.len() <= SMALL {
        true => problem.all(),
        false => problem.walk(strip),
    }
}

/// Whether all modes of a part are found at once.
pub(super) fn is_small(model: &SequenceModel) -> bool {
    let mut active: Vec<usize> = model
        .mass
        .iter()
        .chain(&model.damping)
        .map(|entry| entry.1)
        .collect();
    active.sort_unstable();
    active.dedup();
    active.len() <= SMALL
}

struct Problem<'a> {
    model: &'a SequenceModel,
    family: &'a BandFamily,
    /// Unknowns that mass or damping touch; the others follow from them.
    active: Vec<usize>,
    place: Vec<Option<usize>>,
    /// Ω.
    rate: f64,
}

impl<'a> Problem<'a> {
    fn new(model: &'a SequenceModel, family: &'a BandFamily, strip: Strip) -> Self {
        let mut is_active = vec![false; model.unknowns];
        for &(_, column, value) in model.mass.iter().chain(&model.damping) {
            is_active[column] |= value != 0.0;
        }
        let active: Vec<usize> = (0..model.unknowns).filter(|&i| is_active[i]).collect();
        let mut place = vec![None; model.unknowns];
        for (index, &unknown) in active.iter().enumerate() {
            place[unknown] = Some(index);
        }
        Self {
            model,
            family,
            active,
            place,
            rate: 0.2 * strip.height,
        }
    }

    /// The shifted and inverted operator on (x, s x / Ω), both on the active unknowns.
    fn apply(
        &self,
        factors: &super::band::BandFactors<'_>,
        shift: C,
        vectors: &[Vec<C>],
    ) -> Vec<Vec<C>> {
        let n = self.active.len();
        let mut load = Columns::zeros(self.model.unknowns, vectors.len());
        let mut add = |entries: &[Entry], from: usize, factor: C| {
            for &(row, column, value) in entries {
                let Some(at) = self.place[column] else {
                    continue;
                };
                for (k, vector) in vectors.iter().enumerate() {
                    load.add(row, k, vector[from + at] * factor * value);
                }
            }
        };
        let minus = C::new(-1.0, 0.0);
        add(&self.model.mass, n, minus * self.rate);
        add(&self.model.mass, 0, -shift);
        add(&self.model.damping, 0, minus);
        factors.solve(&mut load);
        let image = |(k, vector): (usize, &Vec<C>)| {
            let x = self.active.iter().map(|&row| load.get(row, k));
            let mut image: Vec<C> = x.collect();
            for i in 0..n {
                image.push((vector[i] + shift * image[i]) / self.rate);
            }
            image
        };
        vectors.iter().enumerate().map(image).collect()
    }

    /// All modes of a small part.
    fn all(&self) -> Option<Vec<C>> {
        let n = 2 * self.active.len();
        let shift = C::new(0.25 * self.rate, 0.0);
        let factors = self.family.factor(shift * shift, shift);
        let unit = |i: usize| {
            let mut vector = vec![C::default(); n];
            vector[i] = C::new(1.0, 0.0);
            vector
        };
        let columns = self.apply(&factors, shift, &(0..n).map(unit).collect::<Vec<_>>());
        let values = eigenvalues_by_faer(n, |i, j| columns[j][i].re)?;
        let modes = values.into_iter().filter_map(|value| mode(shift, value));
        Some(modes.filter(|s| s.im >= 0.0).collect())
    }

    /// Modes about shifts along the imaginary axis.
    fn walk(&self, strip: Strip) -> Option<Vec<C>> {
        let mut found: Vec<C> = Vec::new();
        let mut covered = 0.0;
        let mut stride = 0.1 * strip.height;
        for _ in 0..MOST_SHIFTS {
            let centre = C::new(0.0, covered + stride);
            let (modes, radius) = VECTORS.iter().find_map(|&vectors| {
                let (modes, radius) = self.around(centre, vectors)?;
                (radius > 1.05 * strip.half_width).then_some((modes, radius))
            })?;
            // The part of the strip that the disc covers whole.
            let half = (radius * radius - strip.half_width * strip.half_width).sqrt();
            let (from, to) = (centre.im - half, centre.im + half);
            if from > covered {
                // A gap: take a shorter stride from where it began.
                stride = 0.9 * half;
                continue;
            }
            let fresh = modes
                .into_iter()
                .filter(|s| (s - centre).norm() <= radius && s.im >= covered && s.im >= 0.0);
            found.extend(fresh.filter(|s| s.im < to));
            covered = to;
            if covered >= strip.height {
                return Some(found);
            }
            stride = 0.85 * half;
        }
        None
    }

    /// Modes about a shift, and the distance within which none was missed.
    fn around(&self, shift: C, wanted: usize) -> Option<(Vec<C>, f64)> {
        let n = 2 * self.active.len();
        let count = wanted.min(n / 2) / BLOCK * BLOCK;
        let factors = self.family.factor(shift * shift, shift);
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = || {
            seed = seed
                .wrapping_mul(6364136223846793005)
                .wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
        };
        let mut basis: Vec<Vec<C>> = Vec::with_capacity(count + BLOCK);
        while basis.len() < BLOCK {
            let start: Vec<C> = (0..n).map(|_| C::new(random(), random())).collect();
            let mut block = self.apply(&factors, shift, &[start]);
            let mut vector = block.pop().expect("one for one");
            orthogonalise(&basis, &mut vector, |_, _| {});
            normalise(&mut vector);
            basis.push(vector);
        }
        let mut hessenberg = Mat::<C>::zeros(count + BLOCK, count);
        for first in (0..count).step_by(BLOCK) {
            let images = self.apply(&factors, shift, &basis[first..first + BLOCK]);
            for (k, mut image) in images.into_iter().enumerate() {
                let column = first + k;
                orthogonalise(&basis, &mut image, |row, part| {
                    hessenberg[(row, column)] += part
                });
                hessenberg[(basis.len(), column)] = C::new(normalise(&mut image), 0.0);
                basis.push(image);
            }
        }
        let square = hessenberg.as_ref().subrows(0, count);
        if !(0..count).all(|j| (0..count).all(|i| square[(i, j)].is_finite())) {
            return None;
        }
        let eigen = square.eigen().ok()?;
        let (vectors, values) = (eigen.U(), eigen.S().column_vector());
        let mut modes = Vec::new();
        let mut radius = f64::INFINITY;
        for j in 0..count {
            let value = values[j];
            let size = |i: usize| vectors[(i, j)].norm_sqr();
            let norm = (0..count).map(size).sum::<f64>().sqrt();
            let left: f64 = (0..BLOCK)
                .map(|row| {
                    let sum: C = (count - BLOCK..count)
                        .map(|i| hessenberg[(count + row, i)] * vectors[(i, j)])
                        .sum();
                    sum.norm_sqr()
                })
                .sum::<f64>()
                .sqrt();
            let Some(s) = mode(shift, value) else {
                continue;
            };
            if left <= CONVERGED * norm * value.norm() {
                modes.push(s);
            } else {
                radius = radius.min((s - shift).norm());
            }
        }
        Some((modes, 0.95 * radius))
    }
}

/// The mode that belongs to an eigenvalue of the inverted operator; none for what has no inertia.
fn mode(shift: C, value: C) -> Option<C> {
    let s = shift + value.inv();
    (value.norm() > 0.0 && s.is_finite()).then_some(s)
}

/// Takes away what lies along the basis, twice; tells each part.
fn orthogonalise(basis: &[Vec<C>], vector: &mut [C], mut tell: impl FnMut(usize, C)) {
    for _ in 0..2 {
        for (row, other) in basis.iter().enumerate() {
            let part: C = other.iter().zip(&*vector).map(|(a, b)| a.conj() * b).sum();
            for (value, direction) in vector.iter_mut().zip(other) {
                *value -= direction * part;
            }
            tell(row, part);
        }
    }
}

fn normalise(vector: &mut [C]) -> f64 {
    let norm = vector.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
    if norm > 0.0 {
        vector.iter_mut().for_each(|x| *x /= norm);
    }
    norm
}
