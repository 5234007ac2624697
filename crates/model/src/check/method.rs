//! Methods of integration.

use oldham_lumped::{Integrator, StageInputs};

use super::Checker;
use crate::format::{self, At, DEFAULT_RHO, Fraction, InputsWithinStep};
use crate::source::Span;

impl Checker<'_> {
    /// The integrator with its settings.
    pub(super) fn method(
        &mut self,
        name: &At<format::Integrator>,
        rho: &Option<At<Fraction>>,
        inputs: &Option<At<InputsWithinStep>>,
    ) -> Option<Integrator> {
        if let Some(rho) = rho
            && name.value != format::Integrator::Lms2
        {
            self.foreign_setting(&rho.span, "rho", "lms2");
        }
        if let Some(inputs) = inputs
            && name.value != format::Integrator::Rk4
        {
            self.foreign_setting(&inputs.span, "inputs_within_step", "rk4");
        }
        Some(match name.value {
            format::Integrator::SemiImplicitEuler => Integrator::SemiImplicitEuler,
            format::Integrator::BackwardEuler => Integrator::BackwardEuler,
            format::Integrator::Exact => Integrator::Exact,
            format::Integrator::Lms2 => Integrator::Lms2 {
                rho: self.spectral_radius(rho)?,
            },
            format::Integrator::Rk4 => Integrator::Rk4 {
                inputs: match inputs {
                    Some(at) => at.value.into(),
                    None => StageInputs::Interpolated,
                },
            },
        })
    }

    pub(super) fn spectral_radius(&mut self, rho: &Option<At<Fraction>>) -> Option<f64> {
        self.number_or(rho, DEFAULT_RHO)
    }

    pub(super) fn foreign_setting(&mut self, span: &Span, setting: &str, integrator: &str) {
        let message = format!("`{setting}` belongs to the integrator `{integrator}`");
        self.report(span, message)
            .label("not used by this integrator");
    }
}

impl From<InputsWithinStep> for StageInputs {
    fn from(word: InputsWithinStep) -> Self {
        match word {
            InputsWithinStep::Held => Self::Held,
            InputsWithinStep::Interpolated => Self::Interpolated,
        }
    }
}
