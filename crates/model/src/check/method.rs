//! Methods of integration.

use oldham_lumped::{Integrator, StageInputs};

use super::Checker;
use crate::format::{self, At, DEFAULT_RHO, Fraction, InputsWithinStep, place};
use crate::source::Span;

impl Checker<'_> {
    /// The integrator with its settings.
    pub(super) fn method(
        &mut self,
        name: &At<format::Integrator>,
        rho: &Option<At<Fraction>>,
        inputs: &Option<At<InputsWithinStep>>,
    ) -> Option<Integrator> {
        use format::Integrator as Word;
        if name.value != Word::Lms2 {
            self.foreign_setting(place(rho), "rho", "lms2");
        }
        if name.value != Word::Rk4 {
            self.foreign_setting(place(inputs), "inputs_within_step", "rk4");
        }
        Some(match name.value {
            Word::SemiImplicitEuler => Integrator::SemiImplicitEuler,
            Word::BackwardEuler => Integrator::BackwardEuler,
            Word::Exact => Integrator::Exact,
            Word::Lms2 => Integrator::Lms2 {
                rho: self.number_or(rho, DEFAULT_RHO)?,
            },
            Word::Rk4 => Integrator::Rk4 {
                inputs: stage_inputs(inputs, StageInputs::Interpolated),
            },
        })
    }

    pub(super) fn foreign_setting(&mut self, given: Option<&Span>, setting: &str, of: &str) {
        if let Some(span) = given {
            let message = format!("`{setting}` belongs to the integrator `{of}`");
            self.report(span, message)
                .label("not used by this integrator");
        }
    }
}

/// How a step sees its inputs.
pub(super) fn stage_inputs(
    given: &Option<At<InputsWithinStep>>,
    default: StageInputs,
) -> StageInputs {
    given.as_ref().map_or(default, |at| at.value.into())
}
