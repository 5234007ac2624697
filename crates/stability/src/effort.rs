//! How hard the dominant modes of a large model are looked for.
//!
//! Arnoldi's iteration with Λ finds what grows fast within some ten products. With a power of Λ the
//! same number of vectors sees many steps: what grows slowly has grown by then, slow oscillations
//! have turned far enough to be told from rest, and fast ones that the integrator damps are gone.

use std::time::Duration;

use nalgebra::{Complex, DVector};

use crate::krylov::{Goal, Ritz, RitzPairs, dominant};
use crate::product::{PREPARATION, StepProduct};
use crate::recurrence::AnalysisError;
use crate::spectrum::{EigenMode, STABLE};

/// Relative error beyond which a mode is not told.
const VAGUE: f64 = 0.1;
/// Vectors of the first analysis, with Λ itself, if there is a second one.
const FIRST: usize = 40;
/// Vectors that are worth it at least.
const FEWEST: usize = 20;
/// Products that confirm what was found.
const CONFIRMING: usize = 20;
/// Products with the power that tell its noise.
const NOISE: usize = 4;

/// An analysis with a power of Λ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Effort {
    /// Vectors of the basis at most.
    vectors: usize,
    /// The power at most.
    power: usize,
    /// A radius that is small enough for all modes to be left alone, if there is one.
    enough: Option<f64>,
}

/// What an analysis showed.
pub(crate) struct Observation {
    pub modes: Vec<EigenMode>,
    pub reach: f64,
    /// A real vector in the plane of the first mode, of unit length.
    pub shape: DVector<f64>,
    pub products: usize,
}

impl Effort {
    /// Sees what grows within some hundred steps. It does not depend on how fast the machine is:
    /// all commands say the same.
    pub const THOROUGH: Self = Self {
        vectors: 120,
        power: 16,
        enough: Some(STABLE),
    };

    /// Finds what grows fast.
    pub const FIRST: Self = Self {
        vectors: FIRST,
        power: 1,
        enough: None,
    };
    /// The same with more care, for maps and searches.
    pub const QUICK: Self = Self {
        vectors: 120,
        power: 1,
        enough: None,
    };

    /// Of a recurrence over several steps, which is a power of the single step already.
    pub fn over(steps: u64) -> Self {
        let power = (Self::THOROUGH.power as u64).div_ceil(steps.max(1)) as usize;
        Self {
            power,
            ..Self::THOROUGH
        }
    }

    /// As much of it as there is time for, if a product takes so long: first a smaller power, then fewer
    /// vectors.
    pub fn within(self, product: Duration, left: Option<Duration>) -> Self {
        let Some(left) = left else { return self };
        let affordable = (left.as_secs_f64() / product.as_secs_f64().max(1e-9)) as usize;
        let mut effort = self;
        while effort.power > 1 && effort.products() > affordable {
            effort.power -= 1;
        }
        let spare = affordable.saturating_sub(PREPARATION + CONFIRMING);
        if effort.products() > affordable && spare >= FEWEST {
            effort.vectors = effort.vectors.min(spare);
        }
        effort
    }

    /// Products that it takes, about.
    pub fn products(self) -> usize {
        match self.power {
            1 => PREPARATION + self.vectors,
            power => PREPARATION + FIRST + power * (self.vectors + NOISE),
        }
    }

    /// Looks for the dominant modes.
    pub fn analyse(self, product: &mut StepProduct<'_>) -> Result<Observation, AnalysisError> {
        if self.power == 1 {
            let mut found = self.arnoldi(product)?;
            let after = found.confirm(STABLE, |v| product.times(v))?;
            let mut observation = Observation::of(&found, 1, product)?;
            observation.products += after;
            return Ok(observation);
        }
        let first = Self {
            vectors: FIRST,
            power: 1,
            enough: self.enough,
        };
        let found = first.arnoldi(product)?;
        if found.values[0].exceeds(STABLE)
            || self.enough.is_some_and(|enough| found.reach <= enough)
        {
            return Observation::of(&found, 1, product);
        }
        let before = found.products();
        let mut found = self.arnoldi(product)?;
        let after = found.confirm(STABLE, |v| product.power(v, self.power))?;
        let mut observation = Observation::of(&found, self.power, product)?;
        observation.products += before + after * self.power;
        Ok(observation)
    }

    fn arnoldi(self, product: &mut StepProduct<'_>) -> Result<RitzPairs, AnalysisError> {
        let Self {
            vectors,
            power,
            enough,
        } = self;
        let goal = Goal {
            vectors,
            noise: match power {
                1 => product.noise(),
                _ => product.noise_of(power)?,
            },
            limit: STABLE,
            vague: VAGUE * power as f64,
            enough: enough.map(|radius| radius.powi(power as i32)),
        };
        let found = dominant(product.start(), goal, |v| product.power(v, power))?;
        found.ok_or(AnalysisError::NoEigenvalues)
    }
}

impl Observation {
    fn of(
        found: &RitzPairs,
        power: usize,
        product: &mut StepProduct<'_>,
    ) -> Result<Self, AnalysisError> {
        let mut products = found.products() * power;
        let mut modes = Vec::with_capacity(found.values.len());
        for ritz in &found.values {
            modes.push(if power == 1 {
                EigenMode {
                    value: ritz.value,
                    error: ritz.error,
                }
            } else {
                products += 2;
                let near = quotient(found.shape(ritz), product)?;
                root_near(ritz, power, near)
            });
        }
        let [shape, _] = found.shape(&found.values[0]);
        Ok(Self {
            modes,
            reach: found.reach.powf(1.0 / power as f64),
            shape: shape.normalize(),
            products,
        })
    }
}

/// Rayleigh's quotient of a unit vector with Λ.
fn quotient(
    [re, im]: [DVector<f64>; 2],
    product: &mut StepProduct<'_>,
) -> Result<Complex<f64>, AnalysisError> {
    let (image_re, image_im) = (product.times(&re)?, product.times(&im)?);
    Ok(Complex::new(
        re.dot(&image_re) + im.dot(&image_im),
        re.dot(&image_im) - im.dot(&image_re),
    ))
}

/// The root of an eigenvalue of a power that is nearest to a quotient; with nonnegative imaginary
/// part.
fn root_near(ritz: &Ritz, power: usize, near: Complex<f64>) -> EigenMode {
    let power = power as f64;
    let radius = ritz.value.norm().powf(1.0 / power);
    let turns = (near.arg() * power - ritz.value.arg()) / std::f64::consts::TAU;
    let angle = (ritz.value.arg() + turns.round() * std::f64::consts::TAU) / power;
    EigenMode {
        value: Complex::from_polar(radius, angle.abs()),
        error: ritz.error / (power * ritz.value.norm()) * radius,
    }
}
