//! The eigenvalues of a macro step, by whichever way suits the size of the model.

use std::time::Duration;

use nalgebra::{Complex, DVector};
use oldham_cosim::{Chart, Simulation};

use crate::krylov::{Goal, dominant};
use crate::product::StepProduct;
use crate::recurrence::{
    AnalysisError, Base, Recurrence, analyse_ahead, probe_sizes, recurrence_about,
};

/// Rounding moves unit eigenvalues of a dense recurrence by this much.
pub(crate) const ROUNDING: f64 = 1e-8;
/// Radii up to here count as stable.
pub(crate) const STABLE: f64 = 1.0 + ROUNDING;

/// Vectors of a thorough look at a large model, which tells even slow modes apart, and of a quick
/// one, which finds those that grow fast.
const THOROUGH: usize = 320;
const QUICK: usize = 120;

/// How eigenvalues were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// All of them, from the matrix of the recurrence.
    Dense,
    /// The dominant ones, from products of the recurrence with vectors.
    Krylov {
        /// How many products it took.
        products: usize,
    },
}

/// Whether a mode grows, as far as that could be found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// No mode grows.
    Stable,
    /// A mode grows.
    Unstable,
    /// The dominant radius lies within its error of one.
    Undecided,
}

impl Decision {
    /// What a radius with an error says.
    pub fn on(radius: f64, error: f64, way: Way) -> Self {
        let known = match way {
            // The limit of stability allows for the error already.
            Way::Dense => 0.0,
            Way::Krylov { .. } => error,
        };
        if radius - known > STABLE {
            Self::Unstable
        } else if radius + known <= STABLE {
            Self::Stable
        } else {
            Self::Undecided
        }
    }
}

/// A mode of the recurrence, or a conjugate pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Its eigenvalue, with nonnegative imaginary part.
    pub value: Complex<f64>,
    /// How far that may be off.
    pub error: f64,
}

/// Eigenvalues of the macro step of a simulation.
pub struct Spectrum {
    modes: Vec<Mode>,
    way: Way,
    duration: f64,
    source: Source,
}

/// What the eigenvalues came from.
enum Source {
    Matrix(Recurrence),
    Products { chart: Chart, mode: DVector<f64> },
}

impl Spectrum {
    /// Linearises a simulation about a point a few steps after its present state, where it is
    /// left.
    pub fn of(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let look = |simulation: &mut Simulation, base: Base| match base.is_small() {
            true => Self::from_matrix(simulation, base),
            false => Self::from_products(simulation, base, THOROUGH),
        };
        analyse_ahead(simulation, look, Self::radius)
    }

    /// The same at less cost: of a large model only modes that grow fast are certain, and it is
    /// left alone if even that would take longer than `patience`.
    pub fn quick(simulation: &mut Simulation, patience: Duration) -> Result<Self, AnalysisError> {
        let look = |simulation: &mut Simulation, base: Base| {
            if base.is_small() {
                return Self::from_matrix(simulation, base);
            }
            let expected = StepProduct::duration(simulation, &base.chart, base.period, QUICK)?;
            if expected > patience {
                return Err(AnalysisError::TooLong {
                    seconds: expected.as_secs_f64(),
                });
            }
            Self::from_products(simulation, base, QUICK)
        };
        analyse_ahead(simulation, look, Self::radius)
    }

    /// From products alone, however small the model.
    pub fn by_products(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let look = |simulation: &mut Simulation, base: Base| {
            Self::from_products(simulation, base, THOROUGH)
        };
        analyse_ahead(simulation, look, Self::radius)
    }

    fn from_matrix(simulation: &mut Simulation, base: Base) -> Result<Self, AnalysisError> {
        let (recurrence, _) = recurrence_about(simulation, base, |_| Vec::new())?;
        let mode = |value| Mode {
            value,
            error: ROUNDING,
        };
        let values = recurrence.eigenvalues()?.into_iter();
        Ok(Self {
            modes: values.filter(|value| value.im >= 0.0).map(mode).collect(),
            way: Way::Dense,
            duration: recurrence.duration(),
            source: Source::Matrix(recurrence),
        })
    }

    fn from_products(
        simulation: &mut Simulation,
        base: Base,
        vectors: usize,
    ) -> Result<Self, AnalysisError> {
        let Base { chart, period } = base;
        let duration = period as f64 * simulation.schedule().step;
        let probes = probe_sizes(simulation, &chart);
        let mut product = StepProduct::new(simulation, &chart, period, probes)?;
        let goal = Goal {
            vectors,
            noise: product.noise(),
            limit: STABLE,
        };
        let found = dominant(product.start(), goal, |v| product.times(v))?;
        let found = found.ok_or(AnalysisError::NoEigenvalues)?;
        let mode = product.change(&found.mode);
        chart.base().restore(simulation);
        let modes = found.values.iter().map(|ritz| Mode {
            value: ritz.value,
            error: ritz.error,
        });
        Ok(Self {
            modes: modes.collect(),
            way: Way::Krylov {
                products: found.products,
            },
            duration,
            source: Source::Products { chart, mode },
        })
    }

    /// The modes, all of them or the dominant ones: first those that certainly grow, and of these
    /// as of the others the one with the largest radius.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// How they were found.
    pub fn way(&self) -> Way {
        self.way
    }

    /// Simulated time that the recurrence covers.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Growth rate in 1/s and angular frequency in rad/s of a mode.
    pub fn pole(&self, mode: &Mode) -> Complex<f64> {
        mode.value.ln() / self.duration
    }

    /// Coordinates of the recurrence.
    pub fn dimension(&self) -> usize {
        self.chart().dimension()
    }

    /// The dominant mode; without any, all of the motion is forgotten within a step.
    pub fn dominant(&self) -> Mode {
        self.modes.first().copied().unwrap_or(Mode {
            value: Complex::default(),
            error: ROUNDING,
        })
    }

    /// The spectral radius.
    pub fn radius(&self) -> f64 {
        self.dominant().value.norm()
    }

    /// Whether a mode grows.
    pub fn decision(&self) -> Decision {
        Decision::on(self.radius(), self.dominant().error, self.way)
    }

    /// The point about which the simulation was linearised.
    pub(crate) fn chart(&self) -> &Chart {
        match &self.source {
            Source::Matrix(recurrence) => recurrence.chart(),
            Source::Products { chart, .. } => chart,
        }
    }

    /// A small change of the state along the dominant mode.
    pub(crate) fn along_dominant(&self) -> DVector<f64> {
        match &self.source {
            Source::Matrix(recurrence) => recurrence.growing_mode(),
            Source::Products { mode, .. } => mode.clone(),
        }
    }
}
