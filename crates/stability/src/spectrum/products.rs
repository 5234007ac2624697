//! The dominant modes, from products of the recurrence with vectors.

use oldham_cosim::Simulation;

use super::{Source, Spectrum, Way, doubt_turning};
use crate::effort::{Effort, Observation};
use crate::probing::probe_sizes;
use crate::product::StepProduct;
use crate::recurrence::{AnalysisError, Base, TimeBudget};
use crate::twice::{self, modes_found_twice};

impl Spectrum {
    pub(super) fn from_products(
        simulation: &mut Simulation,
        base: Base,
        effort: Effort,
        budget: &TimeBudget,
    ) -> Result<Self, AnalysisError> {
        let search = |product: &mut StepProduct<'_>| effort.analyse(product).map(Some);
        let found = Self::by_search(simulation, base, effort.products(), budget, search)?;
        found.ok_or(AnalysisError::NoEigenvalues)
    }

    /// From products, with errors by a second search; nothing where that finds something else, or there is no time for it.
    pub(super) fn found_twice(
        simulation: &mut Simulation,
        base: Base,
        budget: &TimeBudget,
    ) -> Result<Option<Self>, AnalysisError> {
        match Self::by_search(simulation, base, twice::PRODUCTS, budget, modes_found_twice) {
            Err(AnalysisError::Fault(_) | AnalysisError::TooLong { .. }) => Ok(None),
            found => found,
        }
    }

    /// From as many products as a search takes.
    fn by_search(
        simulation: &mut Simulation,
        base: Base,
        products: usize,
        budget: &TimeBudget,
        search: impl FnOnce(&mut StepProduct<'_>) -> Result<Option<Observation>, AnalysisError>,
    ) -> Result<Option<Self>, AnalysisError> {
        let step = simulation.schedule().step;
        let duration = base.period as f64 * step;
        let one = StepProduct::duration(simulation, &base.chart, base.period)?;
        budget.allow(one * products as u32)?;
        let probes = probe_sizes(simulation, &base.chart);
        let mut product = StepProduct::new(simulation, &base, probes, budget)?;
        let Some(found) = search(&mut product)? else {
            return Ok(None);
        };
        let mode = product.change(&found.shape);
        let Base { chart, turning, .. } = base;
        chart.base().restore(simulation);
        let mut modes = found.modes;
        let varying = doubt_turning(&mut modes, turning.as_ref());
        let far = modes.iter().map(|mode| mode.value.norm() + mode.error);
        Ok(Some(Self {
            reach: match varying {
                true => far.fold(found.reach, f64::max),
                false => found.reach,
            },
            varying,
            modes,
            way: Way::Krylov {
                products: found.products,
            },
            duration,
            step,
            source: Source {
                chart,
                mode: Some(mode),
            },
            own: Vec::new(),
            unlisted: 0,
            between: None,
        }))
    }
}
