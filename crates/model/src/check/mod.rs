//! From what the file says to a model that makes sense: names, references, numbers, units.
//!
//! Each section is checked by a file of its own. A check reports what it finds and goes on with
//! what is left, so that one mistake does not hide another; nothing of a model with findings is
//! ever used.

mod clock;
mod cockpit;
mod compensator;
mod control;
mod foreign;
mod implicit;
pub(crate) mod keys;
mod lumped;
mod method;
mod mirror;
mod monolithic;
mod motion_law;
mod multibody;
mod part;
mod predictor;
mod schedule;
mod static_loads;
mod switchboard;
mod tables;
mod tangent;
mod trim;
mod wiring;

use std::collections::HashMap;

use oldham_cosim::Quantity;
use oldham_expression::Expression;

pub(crate) use multibody::{Bench, MechanismDraft, Samples, word};
use part::Checked;
use predictor::Choice;

use crate::at_rest::Wires;
use crate::data::DataFile;
use crate::extensions::Extensions;
use crate::format::{At, DEFAULT_ENERGY_BOUND, File, Formula, Number, Subsystem};
use crate::model::{ConnectionSpec, Content, ModelSpec, Prediction, Record};
use crate::parameters::Parameters;
use crate::problem::{Findings, Reported};
use crate::source::{Source, Span};
use crate::words;

/// Names that columns of the engine start with.
const RESERVED_SUBSYSTEMS: [&str; 2] = ["energy", "exchange"];

/// Most macro steps after which the pattern of all multiples repeats: an analysis takes as many.
const MAX_PATTERN: u64 = 1_000_000;

/// Remarks on mechanisms that hold a motion which they follow: after the first of several micro steps they rest where it was, and
/// what they send back lacks their inertia, however short the steps are.
fn held_motions(parts: &[Checked], connections: &[ConnectionSpec]) -> Vec<String> {
    let mut notes = Vec::new();
    for connection in connections {
        let (place, port) = connection.to;
        let Some(part) = &parts[place].part else {
            continue;
        };
        let Some(input) = parts[place].inputs.get(port.0) else {
            continue;
        };
        let is_motion = matches!(
            input.quantity,
            Some(Quantity::Translation | Quantity::Rotation | Quantity::Motion)
        );
        let is_mechanism = matches!(part.content, Content::Multibody(_));
        if is_mechanism
            && is_motion
            && part.micro_steps() > 1
            && part.prediction == Prediction::Hold(0)
        {
            notes.push(format!(
                "`{name}` holds the motion that `{name}.{}` receives over its {} micro steps: it rests at their end, and what it sends back lacks its inertia; give it `predictor = \"hermite\"`, or one micro step",
                input.name.value,
                part.micro_steps(),
                name = part.name,
            ));
        }
    }
    notes
}

/// What all checks need.
pub(crate) struct Checker<'a> {
    pub parameters: Parameters<'a>,
    pub findings: &'a mut Findings,
    pub extensions: &'a Extensions,
    /// Remarks that a user should read.
    pub notes: Vec<String>,
    /// Files that registered kinds read.
    pub data: Vec<DataFile>,
    /// What registered kinds have claimed for themselves.
    pub claims: std::collections::BTreeSet<String>,
    /// The length of which the macro step is a multiple, where micro steps are given by theirs.
    pub step_grain: Option<f64>,
    /// The text, with what came from the command line.
    pub source: &'a Source,
}

/// When a subsystem advances, and what it guesses meanwhile.
#[derive(Clone)]
struct Pace {
    /// Initial time.
    start: f64,
    /// Macro step of its stage, if that is known.
    step: Option<f64>,
    /// Predictor of its inputs, if it chooses none.
    predictor: Choice,
    /// Whether steps are iterated.
    is_implicit: bool,
}

/// Checks a whole file, with other values of some parameters. The specification is worth something only if nothing was
/// found.
pub(crate) fn check(
    file: &File,
    source: &Source,
    given: &[(&str, f64)],
    extensions: &Extensions,
    findings: &mut Findings,
) -> Option<ModelSpec> {
    let parameters = Parameters::evaluate(&file.parameters, given, source, findings);
    let mut checker = Checker {
        parameters,
        findings,
        extensions,
        notes: Vec::new(),
        data: Vec::new(),
        claims: std::collections::BTreeSet::new(),
        step_grain: None,
        source,
    };
    checker.file(file, source)
}

impl Checker<'_> {
    fn file(&mut self, file: &File, source: &Source) -> Option<ModelSpec> {
        let mut data = self.tables(file, source);
        let heading = file.model.as_ref();
        let heading_span = heading.map_or(0..0, |heading| heading.span.clone());
        let clock = self.clock(file.simulation.as_ref());
        let subsystems = file.subsystems();
        let names = self.subsystem_names(&subsystems, &heading_span);
        let mut timing = self.schedule(&file.schedule, &names);
        let mut parts = Vec::new();
        for (index, subsystem) in subsystems.iter().enumerate() {
            let rate = timing.rates.get(index).copied().unwrap_or(1.0);
            let pace = Pace {
                start: clock.as_ref().map_or(0.0, |clock| clock.start),
                step: clock.as_ref().map(|clock| clock.step / rate),
                predictor: timing.default_predictor.clone(),
                is_implicit: timing.is_implicit(),
            };
            parts.push(match subsystem {
                Subsystem::Lumped(entry) => self.lumped(entry, pace),
                Subsystem::Multibody(entry) => self.multibody(entry, pace, &file.record),
                Subsystem::Control(entry) => self.control(entry, pace),
                Subsystem::Foreign(kind, entry) => self.foreign_part(kind, entry, pace),
            });
        }
        self.multiples(&parts, &timing, clock.as_ref());
        let wiring = self.wiring(file, source, &mut parts);
        data.extend(wiring.data);
        data.append(&mut self.data);
        let wires = Wires {
            connections: &wiring.connections,
            drives: &wiring.drives,
            time: clock.as_ref().map_or(0.0, |clock| clock.start),
        };
        self.static_loads(&subsystems, &mut parts, wires);
        self.strokes(&subsystems, &mut parts, wires);
        self.tangents(&file.schedule, &mut parts, &wiring.connections, &mut timing);
        let mut remarks = self.learners(&mut parts, &wiring.connections);
        remarks.extend(held_motions(&parts, &wiring.connections));
        self.notes.extend(remarks);
        self.tolerances(&file.schedule, &parts);
        let monolithic = self.monolithic(file.monolithic.as_ref(), &parts, &timing.rates);
        let record = self.record(file);
        let trim = self.trim(&file.trim);
        let made = parts.iter().filter_map(|part| part.part.as_ref());
        let cockpit = self.cockpit(&file.cockpit, made);
        let energy_bound = keys::read(&file.simulation, |at| {
            self.number_or(&at.value.energy_bound, DEFAULT_ENERGY_BOUND)
        });
        let threads = keys::read(&file.simulation, |at| self.count_or(&at.value.threads, 1));
        let clock = clock?;
        Some(ModelSpec {
            name: heading?.value.name.as_ref()?.value.clone(),
            description: heading?.value.description.clone(),
            is_sequential: timing.is_sequential,
            schedule: timing.schedule(&clock),
            clock,
            parameters: self.parameters.known(),
            energy_bound: energy_bound?,
            threads: threads? as usize,
            parts: keys::all(parts.into_iter().map(|part| part.part))?,
            connections: wiring.connections,
            drives: wiring.drives,
            compensators: wiring.compensators,
            monolithic_spec: monolithic?,
            record: record?,
            trim: trim?,
            cockpit: cockpit?,
            notes: std::mem::take(&mut self.notes),
            data,
            former_words: None,
            step_grain: self.step_grain,
        })
    }

    /// Reports unusable names; gives the place of each subsystem in the order of the file.
    fn subsystem_names<'f>(
        &mut self,
        subsystems: &[Subsystem<'f>],
        heading: &Span,
    ) -> HashMap<&'f str, usize> {
        let mut places = HashMap::new();
        for (place, subsystem) in subsystems.iter().enumerate() {
            let name = subsystem.name();
            self.name(name, "a subsystem");
            if RESERVED_SUBSYSTEMS.contains(&name.value.as_str()) {
                let message = format!("no subsystem can be called `{}`", name.value);
                self.report(&name.span, message)
                    .label("reserved for columns of the results");
            }
            if places.insert(name.value.as_str(), place).is_some() {
                let message = format!("there are two subsystems called `{}`", name.value);
                self.report(&name.span, message)
                    .label("choose another name");
            }
        }
        if subsystems.is_empty() && !self.findings.is_damaged(&(0..0)) {
            self.report(heading, "the model has no subsystem")
                .help("add a section such as [lumped.left] or [multibody.arm]");
        }
        places
    }

    /// Adds a problem at a place; what is returned takes a label and help.
    pub(crate) fn report(&mut self, span: &Span, message: impl Into<String>) -> Reported<'_> {
        self.findings.report(span, message)
    }

    /// There is nothing of this name in a subsystem: `what` says what was looked for, `known` what there is.
    pub(crate) fn unknown<'n>(
        &mut self,
        name: &At<String>,
        what: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> Reported<'_> {
        let message = format!("there is no {what} `{}` in this subsystem", name.value);
        self.report(&name.span, message)
            .label(format!("unknown {what}"))
            .suggest(&name.value, known)
    }

    fn unknown_subsystem<'n>(
        &mut self,
        name: &At<String>,
        known: impl IntoIterator<Item = &'n str>,
    ) {
        let message = format!("there is no subsystem `{}`", name.value);
        self.report(&name.span, message)
            .label("unknown subsystem")
            .suggest(&name.value, known);
    }

    /// What goes by this name in a subsystem; nothing for what could not be read.
    pub(crate) fn known<'k, T>(
        &mut self,
        name: &At<String>,
        what: &str,
        known: &'k HashMap<&str, Option<T>>,
    ) -> Option<&'k T> {
        let found = known.get(name.value.as_str());
        if found.is_none() {
            let help = format!("{what}s are made in `{what}s`");
            self.unknown(name, what, known.keys().copied())
                .or_help(help);
        }
        found?.as_ref()
    }

    /// The same for something that a table lacks.
    pub(crate) fn report_missing(
        &mut self,
        table: &Span,
        message: impl Into<String>,
    ) -> Reported<'_> {
        self.findings.report_missing(table, message)
    }

    fn name(&mut self, name: &At<String>, of: &str) -> bool {
        if !words::is_name(&name.value) {
            let message = format!("`{}` cannot be the name of {of}", name.value);
            self.report(&name.span, message)
                .label("not a name")
                .help("a name has letters, digits, `_` and `-`, and starts with a letter or `_`");
            return false;
        }
        true
    }

    fn record(&mut self, file: &File) -> Option<Record> {
        let signals = file.record.signals.as_ref().map(|signals| {
            let signals = signals
                .iter()
                .map(|name| (name.value.clone(), name.span.clone()));
            signals.collect()
        });
        Some(Record {
            every: self.count_or(&file.record.every, 1)?,
            signals,
        })
    }

    /// A number within the bounds of its type.
    pub(crate) fn number<T: Number>(&mut self, at: &At<T>) -> Option<f64> {
        self.parameters.number(at, self.findings)
    }

    /// An expression of `variables`, with the parameters put in.
    pub(crate) fn expression(
        &mut self,
        formula: &At<Formula>,
        variables: &[&str],
    ) -> Option<Expression> {
        self.parameters
            .expression(formula, variables, self.findings)
    }

    /// A number that satisfies a condition; `requirement` says which.
    pub(crate) fn number_where<T: Number>(
        &mut self,
        formula: &At<T>,
        holds: impl Fn(f64) -> bool,
        requirement: &str,
    ) -> Option<f64> {
        let value = self.number(formula)?;
        if holds(value) {
            return Some(value);
        }
        let message = format!("the number {requirement}");
        self.report(&formula.span, message)
            .label(format!("is {value}"));
        None
    }

    /// A whole number within the bounds of its type.
    fn count<T: Number>(&mut self, count: &At<T>) -> Option<u32> {
        self.parameters.count(count, self.findings)
    }
}
