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

use crate::recurrence::AnalysisError;

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
const PREPARATION: usize = SAMPLES * SWEEPS + TRIALS as usize;

/// The linearised macro step in balanced coordinates.
pub(crate) struct StepProduct<'s> {
    simulation: &'s mut Simulation,
    chart: &'s Chart,
    image: Chart,
    period: u64,
    sizes: DVector<f64>,
    difference: f64,
    noise: f64,
}

impl<'s> StepProduct<'s> {
    /// The product of one period about the chart's base point; `probes` are sizes of changes that
    /// are small for each coordinate.
    pub fn new(
        simulation: &'s mut Simulation,
        chart: &'s Chart,
        period: u64,
        probes: Vec<f64>,
    ) -> Result<Self, AnalysisError> {
        chart.base().restore(simulation);
        simulation.steps(period)?;
        let image = Chart::about(simulation);
        let mut product = Self {
            simulation,
            chart,
            image,
            period,
            sizes: probes.into(),
            difference: 1.0,
            noise: 0.0,
        };
        product.balance()?;
        product.choose_difference()?;
        Ok(product)
    }

    /// The time that so many products and their preparation take.
    pub fn duration(
        simulation: &mut Simulation,
        chart: &Chart,
        period: u64,
        products: usize,
    ) -> Result<Duration, Fault> {
        chart.base().restore(simulation);
        let started = Instant::now();
        simulation.steps(period)?;
        let steps = 2 * (products + PREPARATION);
        Ok(started.elapsed().mul_f64(steps as f64))
    }

    /// Norm of the error of a product with a unit vector.
    pub fn noise(&self) -> f64 {
        self.noise
    }

    /// A change of the state along a vector that is as large as a difference.
    pub fn change(&self, vector: &DVector<f64>) -> DVector<f64> {
        vector.component_mul(&self.sizes) * self.difference
    }

    /// Λ times a vector, in balanced coordinates.
    pub fn times(&mut self, vector: &DVector<f64>) -> Result<DVector<f64>, Fault> {
        self.times_with(vector, self.difference)
    }

    /// A unit vector without preferred directions, always the same.
    pub fn start(&self) -> DVector<f64> {
        Signs(0).vector(self.sizes.len()).normalize()
    }

    fn times_with(&mut self, vector: &DVector<f64>, size: f64) -> Result<DVector<f64>, Fault> {
        let mut ends = [(); 2].map(|()| DVector::zeros(vector.len()));
        for (end, signed) in ends.iter_mut().zip([size, -size]) {
            let point = vector.component_mul(&self.sizes) * signed;
            self.chart.apply(self.simulation, point.as_slice());
            self.simulation.steps(self.period)?;
            self.image.read(self.simulation, end.as_mut_slice());
        }
        let [up, down] = ends;
        Ok((up - down).component_div(&self.sizes) / (2.0 * size))
    }

    fn balance(&mut self) -> Result<(), Fault> {
        let floors = &self.sizes * SMALLEST;
        let mut signs = Signs(1);
        for _ in 0..SWEEPS {
            let mut squares = DVector::zeros(floors.len());
            for _ in 0..SAMPLES {
                let response = self.times_with(&signs.vector(floors.len()), FINE)?;
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
    fn choose_difference(&mut self) -> Result<(), AnalysisError> {
        let vector = self.start();
        self.noise = f64::INFINITY;
        let mut before: Option<Result<DVector<f64>, Fault>> = None;
        for trial in 0..TRIALS {
            let size = LARGEST * SHRINKING.powi(trial);
            let product = self.times_with(&vector, size);
            if let (Some(Ok(before)), Ok(product)) = (&before, &product) {
                let noise = (product - before).norm();
                if noise < self.noise {
                    self.noise = noise;
                    self.difference = size;
                }
            }
            before = Some(product);
        }
        match before {
            Some(Err(fault)) if self.noise.is_infinite() => Err(fault.into()),
            _ => Ok(()),
        }
    }
}

/// Signs without pattern, always the same (SplitMix64).
struct Signs(u64);

impl Signs {
    fn vector(&mut self, length: usize) -> DVector<f64> {
        DVector::from_fn(length, |_, _| {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = self.0;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            if (mixed >> 63) == 0 { 1.0 } else { -1.0 }
        })
    }
}
