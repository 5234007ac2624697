//! How far an eigenvalue of a probed recurrence is off.
//!
//! Differences have errors: rounding where they are small, curvature where they are large. What
//! these do to a simple eigenvalue λ with the right and left eigenvectors x and y is, to first
//! order, y*(Λx − λx) / y*x. So Λx is measured again, along the mode itself, with changes of other
//! sizes, and the two neighbouring sizes that agree best give the eigenvalue and its error. A
//! multiple eigenvalue (a drift) has y*x near zero: its error comes out as large as it is.

use std::time::Duration;

use nalgebra::{Complex, DMatrix, DVector};
use oldham_cosim::{Chart, Fault, Simulation};

use crate::eigen::{Eigenvectors, Reduced};
use crate::recurrence::{AnalysisError, Base, Image, TimeBudget};
use crate::spectrum::{EigenMode, SIDEWAYS};
use crate::subspace::Subspaces;
use crate::turning::Turning;

/// Sizes of the changes along a mode, relative to the probes of the matrix.
const SIZES: [f64; 7] = [1.0 / 8.0, 1.0 / 64.0, 1.0, 1.0 / 512.0, 8.0, 64.0, 512.0];
/// A size at which an eigenvalue must be seen too, and how far off it may be there. What is smaller than the tolerance of a
/// part's iteration is answered by no iteration at all, and that as regularly as if it were the truth.
const LARGE: f64 = 64.0;
const GROSS: f64 = 0.05;
/// Sizes that agree so well need not be followed by others, also where many models are looked at.
pub(crate) const AGREEMENT: f64 = 1e-10;
pub(crate) const QUICK_AGREEMENT: f64 = 1e-8;
/// What a matrix is off at most for the first order to say all.
const FIRST_ORDER: f64 = 1e-5;
/// The same, relative to the eigenvalue, from which on what was taken for its mode is something else.
const NO_MODE: f64 = 1e-2;
/// Two sizes may agree by chance.
const CAUTION: f64 = 10.0;
/// Rounding of the eigenvalue itself, in units of the last place of the matrix.
const ROUNDING: f64 = 10.0 * f64::EPSILON;

/// Other states of a rotor, which may be near its steady rotation only.
struct Others {
    /// One period later, with what follows there; nothing where the model does not survive that.
    next: Option<(Base, Chart)>,
    /// How far the state has moved away from the rotation within the period, with the sign turned.
    moved: DVector<f64>,
}

/// Where a difference is taken.
enum Start {
    Here,
    /// One period later.
    Next,
    /// So far aside.
    Aside(DVector<f64>),
}

/// Measures along the modes of a recurrence.
pub(crate) struct Examiner<'a> {
    simulation: &'a mut Simulation,
    base: &'a Base,
    /// Sizes of the probes of the matrix.
    probes: &'a [f64],
    reduced: &'a Reduced,
    /// Its modes, where they are known already.
    subspaces: Option<&'a Subspaces>,
    image: Image<'a>,
    others: Option<Others>,
    size: f64,
    budget: &'a TimeBudget,
}

impl<'a> Examiner<'a> {
    pub fn new(
        simulation: &'a mut Simulation,
        base: &'a Base,
        probes: &'a [f64],
        reduced: &'a Reduced,
        subspaces: Option<&'a Subspaces>,
        budget: &'a TimeBudget,
    ) -> Result<Self, AnalysisError> {
        base.chart.base().restore(simulation);
        simulation.steps(base.period)?;
        let image = base.image(simulation);
        let rotates = |base: &Base| base.turning.as_ref().and_then(Turning::of_all).is_some();
        let mut others = None;
        if let Some(turning) = base.turning.as_ref().filter(|_| rotates(base)) {
            let led = Chart::about(simulation);
            let mut moved = turning.off(simulation, &base.chart, &led);
            turning.back(&mut moved);
            let next = Base::about(simulation, base.period);
            let is_followed = rotates(&next) && simulation.steps(base.period).is_ok();
            others = Some(Others {
                next: is_followed.then(|| (next, Chart::about(simulation))),
                moved: DVector::from_vec(moved),
            });
        }
        Ok(Self {
            image,
            others,
            simulation,
            base,
            probes,
            reduced,
            subspaces,
            size: reduced.matrix.norm(),
            budget,
        })
    }

    /// An eigenvalue with its error, measured with as many other sizes as it takes for that to be
    /// small enough.
    pub fn examine(
        &mut self,
        value: Complex<f64>,
        enough: f64,
    ) -> Result<EigenMode, AnalysisError> {
        let Some(vectors) = self.vectors(value) else {
            return Ok(EigenMode {
                value,
                error: f64::INFINITY,
            });
        };
        let floor = ROUNDING * self.size * vectors.condition();
        let change = self.change(&vectors.right);
        let mut before = value;
        let mut best = EigenMode {
            value,
            error: f64::INFINITY,
        };
        for size in SIZES {
            self.budget.allow(Duration::ZERO)?;
            // A size that a part cannot follow says nothing.
            let Ok(product) = self.product(&change, size) else {
                continue;
            };
            let rest = product - vectors.right.map(|x| x * value);
            let off = vectors.left.dotc(&rest) / vectors.left.dotc(&vectors.right);
            let measured = value + off;
            let mut error = CAUTION * (measured - before).norm();
            // Where the matrix is that far off, so are its eigenvectors.
            if off.norm() > FIRST_ORDER {
                error = error.max(off.norm());
            }
            if error < best.error {
                // What was measured along a vector that is none of them is no eigenvalue either, and no reason to
                // forget one that grows.
                let is_lost = off.norm() > NO_MODE * value.norm() && value.norm() > 1.0;
                best = EigenMode {
                    value: if is_lost { value } else { before },
                    error,
                };
            }
            before = measured;
            if best.error <= enough {
                break;
            }
        }
        if let Ok(product) = self.product(&change, LARGE) {
            let rest = product - vectors.right.map(|x| x * value);
            let off = vectors.left.dotc(&rest) / vectors.left.dotc(&vectors.right);
            let apart = (value + off - best.value).norm();
            if apart > GROSS * best.value.norm() {
                best.error = best.error.max(apart);
            }
        }
        best.error += floor + self.unsteadiness(value, &vectors, &change);
        Ok(best)
    }

    /// By how much the radius of an eigenvalue differs from that in another state of the same motion, to first order.
    fn unsteadiness(
        &mut self,
        value: Complex<f64>,
        vectors: &Eigenvectors,
        change: &[DVector<f64>; 2],
    ) -> f64 {
        let Some(others) = &self.others else {
            return 0.0;
        };
        // Where what grows has carried the state away in a period, that was shorter by its growth the period before.
        let before = Start::Aside(&others.moved / value.norm().max(1.0));
        let next = others.next.is_some().then_some(Start::Next);
        let states = next.into_iter().chain([before]);
        let size = SIZES[0];
        let Ok(now) = self.product_at(&Start::Here, change, size) else {
            return 0.0;
        };
        let mut found = states.filter_map(|state| self.product_at(&state, change, size).ok());
        let Some(other) = found.next() else {
            return 0.0;
        };
        let moved = vectors.left.dotc(&(other - now)) / vectors.left.dotc(&vectors.right);
        let grown = ((value + moved).norm() - value.norm()).abs();
        grown.max(SIDEWAYS * moved.norm())
    }

    fn vectors(&self, value: Complex<f64>) -> Option<Eigenvectors> {
        match self.subspaces {
            Some(subspaces) => subspaces.vectors(value),
            None => Eigenvectors::of(&self.reduced.matrix, value),
        }
    }

    /// A real change of the state along the mode of an eigenvalue, as large as the probes, by the
    /// matrix of the whole state.
    pub fn along(&self, value: Complex<f64>, matrix: &DMatrix<f64>) -> Option<DVector<f64>> {
        let vectors = self.vectors(value)?;
        let [real, _] = self.change(&vectors.right);
        // Coordinates that only listen are part of the mode too.
        Some(matrix * real / value.norm().max(f64::MIN_POSITIVE))
    }

    /// Real and imaginary part of the mode as changes of the state, of the size of the probes.
    fn change(&self, right: &DVector<Complex<f64>>) -> [DVector<f64>; 2] {
        let probes = self.probes;
        let kept = self.reduced.kept.iter().zip(self.reduced.sizes.iter());
        let squares = kept.zip(right.iter()).map(|((&place, size), share)| {
            let change = share.norm() * size / probes[place];
            change * change
        });
        let length = (squares.sum::<f64>() / right.len() as f64).sqrt();
        let mut parts = [(); 2].map(|()| DVector::zeros(probes.len()));
        for ((&place, size), share) in self.reduced.kept.iter().zip(&self.reduced.sizes).zip(right)
        {
            parts[0][place] = share.re * size / length;
            parts[1][place] = share.im * size / length;
        }
        for &(copy, original) in &self.reduced.copies {
            for part in &mut parts {
                part[copy] = part[original];
            }
        }
        parts
    }

    /// Λ times the right eigenvector in balanced coordinates, measured.
    fn product(
        &mut self,
        change: &[DVector<f64>; 2],
        size: f64,
    ) -> Result<DVector<Complex<f64>>, Fault> {
        self.product_at(&Start::Here, change, size)
    }

    /// The same from somewhere else.
    fn product_at(
        &mut self,
        from: &Start,
        change: &[DVector<f64>; 2],
        size: f64,
    ) -> Result<DVector<Complex<f64>>, Fault> {
        let [re, im] = change;
        let zero = im.iter().all(|x| *x == 0.0);
        let re = self.difference(from, re, size)?;
        let im = match zero {
            true => DVector::zeros(re.len()),
            false => self.difference(from, im, size)?,
        };
        // Back from the size of the change to the unit vector.
        let length = self.length_of(change);
        Ok(DVector::from_fn(re.len(), |i, _| {
            Complex::new(re[i], im[i]) / length
        }))
    }

    /// How many times the unit eigenvector a change is.
    fn length_of(&self, [re, im]: &[DVector<f64>; 2]) -> f64 {
        let kept = self.reduced.kept.iter().zip(&self.reduced.sizes);
        let squares =
            kept.map(|(&place, size)| (re[place] / size).powi(2) + (im[place] / size).powi(2));
        squares.sum::<f64>().sqrt()
    }

    /// What follows from a change, per unit of it, in balanced coordinates.
    fn difference(
        &mut self,
        from: &Start,
        change: &DVector<f64>,
        size: f64,
    ) -> Result<DVector<f64>, Fault> {
        let mut ends = [(); 2].map(|()| DVector::zeros(change.len()));
        for (end, signed) in ends.iter_mut().zip([size, -size]) {
            let mut point = change * signed;
            let next = self.others.as_ref().and_then(|others| others.next.as_ref());
            match (from, next) {
                (Start::Next, Some((next, led))) => {
                    let turning = self.base.turning.as_ref();
                    if let Some(turning) = turning {
                        turning.on(point.as_mut_slice());
                    }
                    next.chart.apply(self.simulation, point.as_slice());
                    self.simulation.steps(self.base.period)?;
                    led.read(self.simulation, end.as_mut_slice());
                    for turning in next.turning.iter().chain(turning) {
                        turning.back(end.as_mut_slice());
                    }
                }
                _ => {
                    if let Start::Aside(aside) = from {
                        point += aside;
                    }
                    self.base.chart.apply(self.simulation, point.as_slice());
                    self.simulation.steps(self.base.period)?;
                    self.image.read(self.simulation, end.as_mut_slice());
                }
            }
        }
        let [up, down] = ends;
        let kept = self.reduced.kept.iter().zip(&self.reduced.sizes);
        let values = kept.map(|(&place, scale)| (up[place] - down[place]) / (2.0 * size * scale));
        Ok(DVector::from_iterator(self.reduced.kept.len(), values))
    }
}
