//! Products of the linearised macro step with vectors, without its matrix.
//!
//! A product is a central difference of two steps of the simulation. Its coordinates are balanced
//! first: positions, velocities, accelerations and forces differ by many orders of magnitude, and
//! one difference must show all of them. The balance is found by products too (Chen and Demmel,
//! Balancing sparse matrices for computing eigenvalues, Linear Algebra Appl. 309, 2000): a
//! coordinate is as large as its response when all others are as large as theirs.

use std::time::{Duration, Instant};

use nalgebra::DVector;
use oldham_cosim::{Chart, Fault, Simulation};

use crate::random::Random;
use crate::recurrence::{AnalysisError, Base, Image, TimeBudget};

/// Products that are averaged for one balance, and how often it is improved.
const SAMPLES: usize = 2;
const SWEEPS: usize = 3;
/// A coordinate counts as no smaller than this share of its probe: what hardly responds has little
/// but rounding.
const SMALLEST: f64 = 1e-3;
/// Share of the probes that shows how large responses are.
const FINE: f64 = 1e-3;
/// Differences that are tried, each a quarter of the one before it.
const TRIALS: i32 = 16;
const SHRINKING: f64 = 0.25;
const LARGEST: f64 = 64.0;
/// Products before the first one that is asked for.
pub(crate) const PREPARATION: usize = SAMPLES * SWEEPS + TRIALS as usize;

/// The linearised macro step in balanced coordinates.
pub(crate) struct StepProduct<'s> {
    simulation: &'s mut Simulation,
    base: &'s Base,
    image: Image<'s>,
    sizes: DVector<f64>,
    difference: f64,
    noise: f64,
    budget: &'s TimeBudget,
}

impl<'s> StepProduct<'s> {
    /// The product of one period about a base point; `probes` are sizes of changes that
    /// are small for each coordinate.
    pub fn new(
        simulation: &'s mut Simulation,
        base: &'s Base,
        probes: Vec<f64>,
        budget: &'s TimeBudget,
    ) -> Result<Self, AnalysisError> {
        base.chart.base().restore(simulation);
        simulation.steps(base.period)?;
        let image = base.image(simulation);
        let mut product = Self {
            simulation,
            base,
            image,
            sizes: probes.into(),
            difference: 1.0,
            noise: 0.0,
            budget,
        };
        product.balance()?;
        product.choose_difference(&product.start())?;
        Ok(product)
    }

    /// The time that a product takes, by the faster of two steps.
    pub fn duration(
        simulation: &mut Simulation,
        chart: &Chart,
        period: u64,
    ) -> Result<Duration, Fault> {
        let mut shortest = Duration::MAX;
        for _ in 0..2 {
            chart.base().restore(simulation);
            let started = Instant::now();
            simulation.steps(period)?;
            shortest = shortest.min(started.elapsed());
        }
        Ok(2 * shortest)
    }

    /// Norm of the error of a product with a unit vector.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// A change of the state along a vector that is as large as a difference.
    pub fn change(&self, vector: &DVector<f64>) -> DVector<f64> {
        vector.component_mul(&self.sizes) * self.difference
    }

    /// The size of a difference along each coordinate, as large as that of a random vector.
    pub fn differences(&self) -> Vec<f64> {
        let share = self.difference / (self.sizes.len() as f64).sqrt();
        self.sizes.iter().map(|size| size * share).collect()
    }

    /// Λ times a vector, in balanced coordinates.
    pub fn times(&mut self, vector: &DVector<f64>) -> Result<DVector<f64>, AnalysisError> {
        self.times_with(vector, self.difference)
    }

    /// The same by a difference that is so many times as large.
    pub fn times_by(
        &mut self,
        vector: &DVector<f64>,
        size: f64,
    ) -> Result<DVector<f64>, AnalysisError> {
        self.times_with(vector, size * self.difference)
    }

    /// A power of Λ times a vector.
    pub fn power(
        &mut self,
        vector: &DVector<f64>,
        power: usize,
    ) -> Result<DVector<f64>, AnalysisError> {
        self.power_with(vector, power, self.difference)
    }

    /// Norm of the error of a power's product with a unit vector: by how much two differences do
    /// not agree, for a random vector and for what is left of it after some steps. Four products.
    pub fn noise_of(&mut self, power: usize) -> Result<f64, AnalysisError> {
        let mut vector = self.start();
        let mut noise = self.noise;
        for _ in 0..2 {
            let coarse = self.power_with(&vector, power, self.difference)?;
            let fine = self.power_with(&vector, power, self.difference * SHRINKING)?;
            noise = noise.max((&coarse - fine).norm());
            vector = coarse.normalize();
        }
        Ok(noise)
    }

    /// A random unit vector without preferred directions, always the same.
    pub fn start(&self) -> DVector<f64> {
        self.start_of(0)
    }

    /// One for each seed.
    pub fn start_of(&self, seed: u64) -> DVector<f64> {
        Random(seed).direction(self.sizes.len())
    }

    fn power_with(
        &mut self,
        vector: &DVector<f64>,
        power: usize,
        size: f64,
    ) -> Result<DVector<f64>, AnalysisError> {
        let mut image = vector.clone();
        let mut length = 1.0;
        for _ in 0..power {
            // Differences are taken with unit vectors, whatever they have grown to.
            let norm = image.norm().max(f64::MIN_POSITIVE);
            length *= norm;
            image = self.times_with(&(image / norm), size)?;
        }
        Ok(image * length)
    }

    fn times_with(
        &mut self,
        vector: &DVector<f64>,
        size: f64,
    ) -> Result<DVector<f64>, AnalysisError> {
        self.budget.allow(Duration::ZERO)?;
        let mut ends = [(); 2].map(|()| DVector::zeros(vector.len()));
        for (end, signed) in ends.iter_mut().zip([size, -size]) {
            let point = vector.component_mul(&self.sizes) * signed;
            self.base.chart.apply(self.simulation, point.as_slice());
            self.simulation.steps(self.base.period)?;
            self.image.read(self.simulation, end.as_mut_slice());
        }
        let [up, down] = ends;
        Ok((up - down).component_div(&self.sizes) / (2.0 * size))
    }

    fn balance(&mut self) -> Result<(), AnalysisError> {
        let floors = &self.sizes * SMALLEST;
        let mut random = Random(1);
        for _ in 0..SWEEPS {
            let mut squares = DVector::zeros(floors.len());
            for _ in 0..SAMPLES {
                let response = self.times_with(&random.signs(floors.len()), FINE)?;
                squares += response.component_mul(&response);
            }
            let responses = (squares / SAMPLES as f64).map(f64::sqrt);
            self.sizes.component_mul_assign(&responses);
            self.sizes
                .zip_apply(&floors, |size, floor| *size = size.max(floor));
        }
        Ok(())
    }

    /// Large differences show curvature, or are more than a part can follow; small ones show
    /// rounding. The best ones agree with their neighbours; by how much they do not is the noise.
    pub fn choose_difference(&mut self, vector: &DVector<f64>) -> Result<(), AnalysisError> {
        self.noise = f64::INFINITY;
        let mut best = f64::INFINITY;
        let mut before: Option<Result<DVector<f64>, AnalysisError>> = None;
        for trial in 0..TRIALS {
            let size = LARGEST * SHRINKING.powi(trial);
            let product = match self.times_with(vector, size) {
                // What is too large for a part to follow says nothing.
                Err(error) if !matches!(error, AnalysisError::Fault(_)) => return Err(error),
                product => product,
            };
            if let (Some(Ok(before)), Ok(product)) = (&before, &product) {
                // Relative to the product: beyond a kink products differ in size, not in share.
                let noise = (product - before).norm();
                let share = noise / product.norm().max(f64::MIN_POSITIVE);
                if share < best {
                    best = share;
                    self.noise = noise;
                    self.difference = size;
                }
            }
            before = Some(product);
        }
        match before {
            Some(Err(error)) if self.noise.is_infinite() => Err(error),
            _ => Ok(()),
        }
    }
}
