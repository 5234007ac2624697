//! The eigenvalues of a macro step, by whichever way suits the size of the model.

use std::time::Duration;

use nalgebra::{Complex, DVector};
use oldham_cosim::{Chart, Simulation};

use crate::effort::Effort;
use crate::product::StepProduct;
use crate::recurrence::{
    AnalysisError, Base, Recurrence, analyse_ahead, probe_sizes, recurrence_about,
};

/// Rounding moves unit eigenvalues of a dense recurrence by this much.
pub(crate) const ROUNDING: f64 = 1e-8;
/// Radii up to here count as stable.
pub(crate) const STABLE: f64 = 1.0 + ROUNDING;

/// How long a thorough look at a large model may take, about.
const LONGEST_LOOK: Duration = Duration::from_secs(20);
/// Growth per macro step that is looked for in large models. What is slower needs as many products
/// as it needs steps to show.
pub(crate) const VISIBLE: f64 = 0.02;

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
    /// No mode grows; in a large model none that could be seen, see [`Spectrum::reach`].
    Stable,
    /// A mode grows.
    Unstable,
    /// No mode grows for certain, but one could that is fast enough to matter.
    Undecided,
}

impl Decision {
    /// What a radius with its error says, and a radius that no mode exceeds.
    pub(crate) fn on(radius: f64, error: f64, reach: f64, way: Way) -> Self {
        let (known, limit) = match way {
            // The limit of stability allows for the error already.
            Way::Dense => (0.0, STABLE),
            Way::Krylov { .. } => (error, 1.0 + VISIBLE),
        };
        if radius - known > STABLE {
            Self::Unstable
        } else if reach <= limit {
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
    reach: f64,
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
        Self::with(simulation, |product| {
            let effort = Effort::THOROUGH.within(LONGEST_LOOK, product);
            Ok(effort.unwrap_or(Effort::GLANCE))
        })
    }

    /// The same at less cost: the look at a large model ends when no mode can grow fast, or after
    /// `patience`. It is left alone if even the shortest look would take longer.
    pub fn quick(simulation: &mut Simulation, patience: Duration) -> Result<Self, AnalysisError> {
        Self::with(simulation, |product| {
            let effort = Effort::QUICK.within(patience, product);
            effort.map_err(|least| AnalysisError::TooLong {
                seconds: least.as_secs_f64(),
            })
        })
    }

    /// The same with a short look at a large model, which finds what grows fast.
    pub(crate) fn glance(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        Self::with(simulation, |_| Ok(Effort::GLANCE))
    }

    /// `choose` is told how long a product takes.
    fn with(
        simulation: &mut Simulation,
        choose: impl Fn(Duration) -> Result<Effort, AnalysisError>,
    ) -> Result<Self, AnalysisError> {
        let look = |simulation: &mut Simulation, base: Base| {
            if base.is_small() {
                return Self::from_matrix(simulation, base);
            }
            let product = StepProduct::duration(simulation, &base.chart, base.period)?;
            Self::from_products(simulation, base, choose(product)?)
        };
        analyse_ahead(simulation, look, Self::radius)
    }

    /// From products alone, however small the model.
    pub fn by_products(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let look = |simulation: &mut Simulation, base: Base| {
            Self::from_products(simulation, base, Effort::THOROUGH)
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
        let reach = values.as_slice().first().map_or(0.0, |value| value.norm());
        Ok(Self {
            reach,
            modes: values.filter(|value| value.im >= 0.0).map(mode).collect(),
            way: Way::Dense,
            duration: recurrence.duration(),
            source: Source::Matrix(recurrence),
        })
    }

    fn from_products(
        simulation: &mut Simulation,
        base: Base,
        effort: Effort,
    ) -> Result<Self, AnalysisError> {
        let Base { chart, period } = base;
        let duration = period as f64 * simulation.schedule().step;
        let probes = probe_sizes(simulation, &chart);
        let mut product = StepProduct::new(simulation, &chart, period, probes)?;
        let found = effort.look(&mut product)?;
        let mode = product.change(&found.shape);
        chart.base().restore(simulation);
        Ok(Self {
            modes: found.modes,
            reach: found.reach,
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

    /// A radius that no mode exceeds, also none that was not found. For a large model there is a
    /// chance of less than one in a thousand that a mode hides from the random vector of the
    /// search.
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// Whether a mode grows.
    pub fn decision(&self) -> Decision {
        Decision::on(self.radius(), self.dominant().error, self.reach, self.way)
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
