//! The section `[monolithic]`: how the monolithic model is solved.

use oldham_lumped::Integrator;

use super::Checker;
use super::keys::all;
use super::part::Checked;
use crate::format::{At, DEFAULT_RHO, Monolithic, place};
use crate::model::{MonolithicSpec, PartSpec};

impl Checker<'_> {
    pub(super) fn monolithic(
        &mut self,
        section: Option<&At<Monolithic>>,
        parts: &[Checked],
        rates: &[f64],
    ) -> Option<MonolithicSpec> {
        let default = default_monolithic(parts, rates);
        let Some(At { value, span }) = section else {
            return default;
        };
        let section = value;
        let integrator = match &section.integrator {
            Some(name) => self.method(name, &section.rho, &section.inputs_within_step),
            None => {
                self.settings_without_integrator(section);
                default.as_ref().map(|monolithic| monolithic.integrator)
            }
        };
        let micro_steps = match &section.micro_steps {
            Some(count) => self.count(count).map(|count| count as usize),
            None => default.as_ref().map(|monolithic| monolithic.micro_steps),
        };
        Some(MonolithicSpec {
            span: span.clone(),
            integrator: integrator?,
            micro_steps: micro_steps?,
        })
    }

    fn settings_without_integrator(&mut self, section: &Monolithic) {
        let inputs = place(&section.inputs_within_step);
        let settings = [
            (place(&section.rho), "rho", "lms2"),
            (inputs, "inputs_within_step", "rk4"),
        ];
        for (span, setting, integrator) in settings {
            let Some(span) = span else { continue };
            let message = format!("`{setting}` needs `integrator = \"{integrator}\"` beside it");
            self.report(span, message).label("of which integrator?");
        }
    }
}

/// The integrator of the first lumped part, and steps as fine as the finest part's.
fn default_monolithic(parts: &[Checked], rates: &[f64]) -> Option<MonolithicSpec> {
    let parts: Vec<&PartSpec> = all(parts.iter().map(|part| part.part.as_ref()))?;
    let steps = |(part, rate): (&&PartSpec, &f64)| {
        let per_macro_step = part.micro_steps() as f64 * rate / f64::from(part.every);
        per_macro_step.ceil() as usize
    };
    let lumped = parts.iter().find_map(|part| part.lumped());
    Some(MonolithicSpec {
        span: 0..0,
        integrator: lumped.map_or(Integrator::Lms2 { rho: DEFAULT_RHO }, |spec| {
            spec.integrator
        }),
        micro_steps: parts.iter().zip(rates).map(steps).max()?,
    })
}
