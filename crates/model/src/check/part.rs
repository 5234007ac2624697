//! A subsystem as far as it could be read, whatever its kind.

use oldham_cosim::Quantity;

use super::keys::read;
use super::predictor::Choice;
use super::{Checker, Pace};
use crate::format::{At, Division, Entry, MicroSteps, Number, Pacing};
use crate::model::{Content, PartSpec};
use crate::source::Span;

/// A subsystem as far as it could be read.
pub(super) struct Checked {
    pub name: String,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    /// With the place where it is given.
    pub every: Option<(u32, Span)>,
    pub predictor: Choice,
    /// If nothing is wrong with it.
    pub part: Option<PartSpec>,
}

/// A port as far as it could be read: another check still needs its name when its node is wrong.
pub(super) struct Port {
    pub name: At<String>,
    pub quantity: Option<Quantity>,
}

impl Port {
    /// What it is called in the results.
    pub fn columns(&self, part: &Checked) -> Vec<String> {
        let name = format!("{}.{}.", part.name, self.name.value);
        let column = |component: &str| (name.clone() + component).trim_end_matches('.').to_owned();
        let quantity = self.quantity.iter();
        let components = quantity.flat_map(|it| (0..it.width()).map(|c| it.component_name(c)));
        components.map(|component| column(&component)).collect()
    }

    /// A port that belongs to something with a name, and is called after it.
    pub fn of(owner: &At<String>, name: &str, quantity: Quantity) -> Self {
        Self {
            name: At::new(format!("{}.{name}", owner.value), &owner.span),
            quantity: Some(quantity),
        }
    }
}

/// What all subsystems have, as far as it could be read.
pub(super) struct Paced<'f> {
    name: &'f At<String>,
    every: Option<(u32, Span)>,
    /// The subsystem's own macro step.
    pub own_step: Option<f64>,
    pub micro_steps: Option<u32>,
    predictor: Choice,
    chooses_predictor: bool,
}

impl Paced<'_> {
    /// The subsystem, if it has content. Its integrator has this spectral radius.
    pub fn checked(self, rho: f64, content: Option<Content>, ports: [Vec<Port>; 2]) -> Checked {
        let part = content.map(|content| PartSpec {
            name: self.name.value.clone(),
            span: self.name.span.clone(),
            every: self.every.as_ref().map_or(1, |(every, _)| *every),
            chooses_predictor: self.chooses_predictor,
            prediction: self.predictor.prediction(rho),
            content,
        });
        let [inputs, outputs] = ports;
        Checked {
            name: self.name.value.clone(),
            inputs,
            outputs,
            every: self.every,
            predictor: self.predictor,
            part,
        }
    }
}

impl Checker<'_> {
    /// The one thing that a port carries; `does` completes the message.
    pub(super) fn one_of<'f, T, K: Copy>(
        &mut self,
        entry: &Entry<T>,
        kinds: &[(&str, K, &'f Option<At<String>>)],
        does: &str,
    ) -> Option<(K, &'f At<String>)> {
        let ways: Vec<_> = kinds
            .iter()
            .map(|(key, _, of)| (*key, of.is_some()))
            .collect();
        let what = format!("the port `{}` {does}", entry.name.value);
        self.one_way(&entry.value.span, &ways, [&what, "things"])?;
        let mut kinds = kinds.iter();
        kinds.find_map(|(_, kind, of)| Some((*kind, of.as_ref()?)))
    }

    /// Reads what all subsystems have.
    pub(super) fn head<'f>(
        &mut self,
        name: &'f At<String>,
        pacing: &Pacing,
        division: &Division,
        pace: &Pace,
    ) -> Paced<'f> {
        let every = read(&pacing.every, |at| Some((self.count(at)?, at.span.clone())));
        let multiple = every.as_ref().map_or(1.0, |(every, _)| f64::from(*every));
        let own_step = pace.step.map(|step| step * multiple);
        let micro_steps = self.micro_steps(division, multiple, own_step);
        let predictor = self.predictor(&pacing.predictor);
        Paced {
            name,
            every,
            own_step,
            micro_steps,
            predictor: predictor.unwrap_or_else(|| pace.predictor.clone()),
            chooses_predictor: pacing.predictor.is_some(),
        }
    }

    /// Micro steps of a subsystem that advances with every so many macro steps, if its own macro step is
    /// known.
    fn micro_steps(&mut self, given: &Division, every: f64, own_step: Option<f64>) -> Option<u32> {
        let Some(micro_step) = &given.micro_step else {
            return self.count_or(&given.micro_steps, 1);
        };
        self.not_both(
            ("micro_steps", &given.micro_steps),
            ("micro_step", &given.micro_step),
        );
        let length = self.number(micro_step)?;
        let grain = length / every;
        self.step_grain = Some(self.step_grain.map_or(grain, |known| known.max(grain)));
        let own_step = own_step?;
        let steps = own_step / length;
        let whole = steps.round();
        let range = MicroSteps::RANGE;
        if range.holds(whole) && (steps - whole).abs() <= 1e-9 * whole {
            return Some(whole as u32);
        }
        if whole > 1.0 && !range.holds(whole) {
            let message = format!("the number of micro steps {}", range.requirement());
            self.report(&micro_step.span, message)
                .label(format!("makes {whole:e} of a macro step of {own_step} s"))
                .help(MicroSteps::REMEDY);
            return None;
        }
        let message =
            format!("a macro step of {own_step} s is no whole number of micro steps of {length} s");
        let fewer = steps.floor().max(1.0);
        let help = format!(
            "micro_steps = {fewer} makes them {} s long",
            own_step / fewer
        );
        self.report(&micro_step.span, message)
            .label("does not divide the macro step")
            .help(help);
        None
    }

    /// Columns of the results have the names of ports: one name, one port.
    pub(super) fn port_names<'n>(
        &mut self,
        inputs: impl Iterator<Item = &'n str>,
        outputs: impl Iterator<Item = &'n At<String>>,
    ) {
        let inputs: std::collections::HashSet<_> = inputs.collect();
        for output in outputs {
            let name = output.value.as_str();
            if inputs.contains(name) {
                let message = format!("an input of this subsystem is called `{name}` as well");
                self.report(&output.span, message)
                    .label("choose another name");
            }
        }
    }
}
