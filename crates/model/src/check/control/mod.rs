//! A section `[control.*]`: from its text to a controller.

mod blocks;

use oldham_control::{Control, ControlError, Controller, Timing};
use oldham_cosim::{Quantity, Unit};
use oldham_expression::Expression;

use super::keys::{read, read_or};
use super::part::{Checked, Port};
use super::{Checker, Pace};
use crate::format::{self, At, BlockKind, DEFAULT_RHO, Division, Entry, Formula, place};
use crate::model::Content;
use crate::words;

/// Words with a meaning of their own in the expressions of a controller.
const RESERVED: [&str; 3] = ["t", "pi", "e"];

/// A controller on its way.
struct Draft<'f> {
    controller: Controller,
    /// What expressions may use: time, inputs, signals, states and blocks.
    names: Vec<String>,
    section: &'f format::Control,
}

impl Checker<'_> {
    pub(super) fn control(&mut self, entry: &Entry<format::Control>, pace: Pace) -> Checked {
        let section = &entry.value.value;
        let undivided = Division::default();
        let paced = self.head(&entry.name, &section.pacing, &undivided, &pace);
        let sample = section.sample.as_ref();
        if let (Some(_), Some(every)) = (sample, &section.pacing.every) {
            let message = "a sampled controller advances with every macro step";
            self.report(&every.span, message).label("leave it out");
        }
        if let (Some(sample), true) = (sample, pace.is_implicit) {
            let message = "a sampled controller needs explicit coupling: an iterated step would see \
                           the outputs of the coming sample";
            self.report(&sample.span, message)
                .help("take `schedule.coupling = \"explicit\"`, or leave `sample` out");
        }
        let before = self.findings.len();
        let controller = self.controller(section);
        let timing = paced.own_step.map(|step| Timing {
            start: pace.start,
            step,
        });
        let is_whole =
            self.findings.len() == before && !self.findings.is_damaged(&entry.value.span);
        let sound = controller.filter(|controller| {
            let Some(timing) = timing.filter(|_| is_whole) else {
                return is_whole;
            };
            self.is_sound_controller(entry, controller, timing)
        });
        let ports = self.control_ports(section);
        paced.checked(
            DEFAULT_RHO,
            sound.map(|c| Content::Control(Box::new(c))),
            ports,
        )
    }

    fn controller(&mut self, section: &format::Control) -> Option<Controller> {
        let controller = match &section.sample {
            Some(sample) => Controller::sampled(self.number(sample)?),
            None => Controller::default(),
        };
        let names = self.control_names(section);
        let mut draft = Draft {
            controller,
            names,
            section,
        };
        for entry in &section.inputs {
            let unit = self.port_unit(&entry.value);
            draft.controller.input(&entry.name.value, unit?);
        }
        for entry in &section.signals {
            if let Some(value) = self.control_expression(&entry.value, &draft) {
                draft.controller.signal(&entry.name.value, value);
            }
        }
        for entry in &section.states {
            self.control_state(entry, &mut draft);
        }
        for entry in &section.blocks {
            self.block(entry, &mut draft);
        }
        for entry in &section.outputs {
            let output = &entry.value.value;
            let unit = read_or(&output.unit, Unit::ONE, |unit| self.port_unit(unit));
            let value = read(&output.value, |value| {
                self.control_expression(value, &draft)
            });
            if let (Some(unit), Some(value)) = (unit, value) {
                draft.controller.output(&entry.name.value, unit, value);
            }
        }
        Some(draft.controller)
    }

    /// All names that expressions may use; a problem for those that they cannot.
    fn control_names(&mut self, section: &format::Control) -> Vec<String> {
        let inputs = section.inputs.iter().map(|entry| &entry.name);
        let signals = section.signals.iter().map(|entry| &entry.name);
        let states = section.states.iter().map(|entry| &entry.name);
        let blocks = section.blocks.iter().map(|entry| &entry.name);
        let mut names = vec!["t".to_owned()];
        for name in inputs.chain(signals).chain(states).chain(blocks) {
            let message = if !words::is_variable(&name.value) {
                format!("`{}` cannot be used in an expression", name.value)
            } else if RESERVED.contains(&name.value.as_str()) {
                format!("`{}` has another meaning in expressions", name.value)
            } else if names.contains(&name.value) {
                let name = &name.value;
                format!("there are two things called `{name}` in this controller")
            } else {
                names.push(name.value.clone());
                continue;
            };
            self.report(&name.span, message)
                .label("choose another name")
                .help(words::VARIABLES);
        }
        for entry in &section.outputs {
            self.name(&entry.name, "a port");
        }
        for entry in &section.blocks {
            let block = &entry.value.value;
            let is_space = block.kind.as_ref().map(|at| at.value) == Some(BlockKind::StateSpace);
            let outputs = block.c.as_ref().map_or(1, |c| c.value.len());
            if is_space && outputs > 1 {
                let name = &entry.name.value;
                names.extend((1..=outputs).map(|k| format!("{name}{k}")));
            }
        }
        names
    }

    fn control_expression(&mut self, at: &At<Formula>, draft: &Draft<'_>) -> Option<Expression> {
        let names: Vec<&str> = draft.names.iter().map(String::as_str).collect();
        self.expression(at, &names)
    }

    fn control_state(&mut self, entry: &Entry<format::ControlState>, draft: &mut Draft<'_>) {
        let given = &entry.value.value;
        let is_sampled = draft.section.sample.is_some();
        let (change, other, needed, useless) = match is_sampled {
            true => (&given.next, place(&given.rate), "next", "rate"),
            false => (&given.rate, place(&given.next), "rate", "next"),
        };
        if let Some(span) = other {
            let message = match is_sampled {
                true => {
                    "a sampled controller has no rates: give `next`, the value at the next sample"
                }
                false => "a continuous controller has no next value: give its `rate`",
            };
            let help = format!("replace `{useless}` by `{needed}`, or change `sample`");
            self.report(span, message).label("here").help(help);
        } else if change.is_none() {
            let message = format!("the state `{}` has no `{needed}`", entry.name.value);
            self.report_missing(&entry.value.span, message);
        }
        let initial = self.number_or(&given.initial, 0.0);
        let change = read(change, |change| self.control_expression(change, draft));
        if let (Some(initial), Some(change)) = (initial, change) {
            draft.controller.state(&entry.name.value, initial, change);
        }
    }

    /// What only the whole controller can tell.
    fn is_sound_controller(
        &mut self,
        entry: &Entry<format::Control>,
        controller: &Controller,
        timing: Timing,
    ) -> bool {
        let Err(error) = Control::new(controller, timing) else {
            return true;
        };
        let section = &entry.value.value;
        let block = |name: &str| section.blocks.find(name).map(|it| &it.name.span);
        let signal = |name: &str| section.signals.find(name).map(|it| &it.name.span);
        // Inner parts of a block are called after it.
        let outer = |name: &String| {
            let end = name.find(|c: char| !c.is_ascii()).unwrap_or(name.len());
            name[..end].to_owned()
        };
        let (span, help) = match &error {
            ControlError::SamplesBetweenSteps { .. } => (
                place(&section.sample),
                "change `sample` or `simulation.step`",
            ),
            ControlError::AlgebraicLoop(names) => {
                let mut names = names.iter().map(outer);
                let span = names.find_map(|name| signal(&name).or_else(|| block(&name)));
                let help = "put a state into the loop: a `delay`, a filter, or a block without \
                            direct feedthrough";
                (span, help)
            }
            ControlError::ShortDelay { name, .. } => {
                (block(name), "change `time` or `simulation.step`")
            }
            _ => (None, "change what the message names"),
        };
        let message = match &error {
            ControlError::AlgebraicLoop(names) => {
                let mut names: Vec<String> = names.iter().map(outer).collect();
                names.dedup();
                if names.len() == 1 {
                    names.push(names[0].clone());
                }
                ControlError::AlgebraicLoop(names).to_string()
            }
            error => error.to_string(),
        };
        let span = span.unwrap_or(&entry.name.span);
        self.report(span, message).help(help);
        false
    }

    /// A unit as ports have it: the common spelling of SI units, others as they are written.
    fn port_unit(&mut self, at: &At<String>) -> Option<Unit> {
        const USUAL: [Unit; 12] = [
            Unit::ONE,
            Unit::SECOND,
            Unit::METRE,
            Unit::METRE_PER_SECOND,
            Unit::METRE_PER_SECOND2,
            Unit::RADIAN,
            Unit::RADIAN_PER_SECOND,
            Unit::RADIAN_PER_SECOND2,
            Unit::NEWTON,
            Unit::NEWTON_METRE,
            Unit::PASCAL,
            Unit::JOULE,
        ];
        let written = Unit(at.value.clone().into());
        if USUAL.contains(&written) {
            return Some(written);
        }
        let unit = self.unit(at)?;
        let same = |usual: &&Unit| {
            let usual = crate::quantity::Unit::parse(&usual.0);
            usual.is_ok_and(|usual| usual == unit)
        };
        Some(USUAL.iter().find(same).cloned().unwrap_or(written))
    }

    fn control_ports(&mut self, section: &format::Control) -> [Vec<Port>; 2] {
        let port = |name: &At<String>, unit: Option<Unit>| Port {
            name: name.clone(),
            quantity: unit.map(Quantity::Scalar),
        };
        // What is wrong with a unit is told twice in the same words, and reported once.
        let inputs = section.inputs.iter();
        let inputs = inputs.map(|entry| port(&entry.name, self.port_unit(&entry.value)));
        let inputs = inputs.collect();
        let outputs = section.outputs.iter();
        let outputs = outputs.map(|entry| {
            let unit = &entry.value.value.unit;
            port(
                &entry.name,
                read_or(unit, Unit::ONE, |unit| self.port_unit(unit)),
            )
        });
        [inputs, outputs.collect()]
    }
}
