//! `oldham compare`: one model under several schemes, against a reference.
//!
//! Everything that can be refused is refused before anything is computed. Variant and reference then
//! advance side by side, a stretch at a time, so that long runs need no more memory than short ones.

mod picture;
mod ranking;
mod reference;
mod report;
mod stretch;
mod variants;

use std::collections::HashSet;

use oldham_cosim::{Column, End, Outcome};

use crate::args::Compare;
use crate::failure::Failure;
use crate::progress::Bar;
use crate::say;
use crate::{interrupt, load};
use ranking::{Kind, errors};
use reference::{Choice, Found};
use stretch::{Channel, Pace};
use variants::Variant;

/// Columns that are no signals: energy balances, of which one is compared on its own.
const ENERGY_COLUMNS: [&str; 2] = ["energy.", "exchange."];
const STORED: &str = "energy.total";

pub fn execute(arguments: &Compare) -> Result<(), Failure> {
    let model = load::model(&arguments.model)?;
    let choice = Choice::of(&model, arguments)?;
    choice.columns(&model)?;
    let (variants, alike) = variants::of(&model, arguments)?;
    let mut jobs = Vec::new();
    for variant in variants {
        jobs.push(Job::of(variant, &choice, arguments)?);
    }
    let bar = Bar::of_items(jobs.len() as u64, arguments.json);
    let mut found = Vec::new();
    let mut tried = Vec::new();
    let tracks = jobs.len();
    for (position, job) in jobs.into_iter().enumerate() {
        let announce = |what: &str| bar.item(position as u64, what);
        tried.push(job.run(&choice, &mut found, tracks, &announce)?);
    }
    drop(bar);
    let drawn = ranking::drawn(arguments, &tried);
    let out = arguments.out.clone();
    let out = out.unwrap_or_else(|| load::beside(&arguments.model.model, "-compare.svg"));
    picture::draw(&model, &tried, drawn.as_deref(), &out)?;
    let report = report::Report {
        model: &model,
        choice: &choice,
        tried: &tried,
        alike: &alike,
        drawn: drawn.as_deref(),
        out: &out,
    };
    match arguments.json {
        true => say!("{:#}", report.as_json()),
        false => say!("{report}"),
    }
    Ok(())
}

/// A variant that can be run and compared: all that may be refused has been.
struct Job {
    variant: Variant,
    /// Places of the compared columns in the variant, and what they are.
    places: Vec<usize>,
    columns: Vec<Column>,
    /// Which are followed for the picture.
    followed: Vec<bool>,
}

impl Job {
    fn of(variant: Variant, choice: &Choice, arguments: &Compare) -> Result<Self, Failure> {
        let model = &variant.model;
        let simulation = &variant.simulation;
        let known: HashSet<String> = choice.columns(model)?.into_iter().collect();
        let columns = simulation.columns();
        let places = model.recorded(columns)?;
        let is_known = |column: &Column| known.contains(&column.name);
        let is_account = |column: &Column| {
            let mut energies = ENERGY_COLUMNS.iter();
            energies.any(|start| column.name.starts_with(start))
        };
        let mut places: Vec<usize> = places
            .into_iter()
            .filter(|&place| is_known(&columns[place]) && !is_account(&columns[place]))
            .collect();
        if places.is_empty() {
            return Err(Failure::NoCommonSignal {
                reference: choice.name(),
            });
        }
        let names = || places.iter().map(|&place| columns[place].name.as_str());
        if let Some(wanted) = &arguments.signal
            && !names().any(|name| name == wanted)
        {
            return Err(Failure::unknown("signal", wanted, names()));
        }
        let stored = columns.iter().position(|column| column.name == STORED);
        places.extend(stored.filter(|&place| is_known(&columns[place])));
        let columns: Vec<Column> = places.iter().map(|&place| columns[place].clone()).collect();
        let followed = columns.iter().map(|column| match &arguments.signal {
            _ if column.name == STORED => true,
            Some(wanted) => column.name == *wanted,
            None => true,
        });
        Ok(Self {
            followed: followed.collect(),
            places,
            columns,
            variant,
        })
    }

    fn run(
        self,
        choice: &Choice,
        found: &mut Vec<Found>,
        variants: usize,
        announce: &dyn Fn(&str),
    ) -> Result<Tried, Failure> {
        let model = &self.variant.model;
        let pace = Pace::of(model, self.columns.len());
        let rarer = choice.rarer(pace.rows(), self.columns.len());
        let pace = pace.rarer(rarer);
        let mut reference = choice.reference(model, &self.columns, &pace, found, announce)?;
        announce(&self.variant.name);
        let followed = self.followed.iter().filter(|is| **is).count() * variants;
        let mut channels: Vec<Channel> = self
            .followed
            .iter()
            .map(|&followed_too| Channel::new(followed_too.then_some((followed, pace.rows()))))
            .collect();
        let mut simulation = self.variant.simulation;
        let mut done = 0;
        let outcome = loop {
            let steps = pace.stretch.min(model.steps() - done);
            let (rows, outcome) =
                pace.advance(&mut simulation, &self.places, steps, interrupt::watch());
            if outcome.end == Ok(End::Cancelled) {
                return Err(Failure::Interrupted);
            }
            let expected = reference.rows(&rows.times, steps, &pace)?;
            for ((time, row), expected) in rows.times.iter().zip(&rows.rows).zip(&expected) {
                for ((channel, value), expected) in channels.iter_mut().zip(row).zip(expected) {
                    channel.take(*time, *value, *expected);
                }
            }
            done += steps;
            if outcome.end.is_err() || done >= model.steps() {
                break outcome;
            }
        };
        let kinds: Vec<Kind> = self.columns.iter().map(Kind::of).collect();
        let errors = errors(&kinds, &channels);
        let mut signals: Vec<Signal> = Vec::new();
        let mut energy = None;
        for ((column, channel), error) in self.columns.into_iter().zip(channels).zip(errors) {
            if column.name == STORED {
                energy = Some(channel);
            } else if channel.is_defined() {
                let kind = Kind::of(&column);
                signals.push(Signal {
                    name: column.name,
                    unit: column.unit.to_string(),
                    kind,
                    error,
                    channel,
                });
            }
        }
        Ok(Tried {
            name: self.variant.name,
            settings: self.variant.settings,
            signals,
            energy,
            outcome,
            reference: reference.about(),
        })
    }
}

/// A variant that was run, beside its reference.
struct Tried {
    name: String,
    settings: variants::Settings,
    signals: Vec<Signal>,
    energy: Option<Channel>,
    outcome: Outcome,
    /// What is to be said of the reference.
    reference: reference::About,
}

struct Signal {
    name: String,
    unit: String,
    kind: Kind,
    /// Root mean square difference, relative to the largest range of its kind; nothing where the
    /// whole kind is rounding.
    error: Option<f64>,
    channel: Channel,
}

impl Tried {
    /// The signal that is furthest from the reference.
    fn worst(&self) -> Option<&Signal> {
        let ranked = self.signals.iter().filter(|signal| signal.error.is_some());
        ranked.max_by(|a, b| {
            let key = |signal: &Signal| {
                (
                    signal.kind != Kind::Orientation,
                    signal.error.unwrap_or(0.0),
                )
            };
            let (a, b) = (key(a), key(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
    }

    /// Difference of the final energies, relative to the reference's largest.
    fn energy_error(&self) -> Option<f64> {
        let energy = self.energy.as_ref()?;
        let (value, reference) = energy.last()?;
        (energy.size > 0.0).then(|| (value - reference) / energy.size)
    }

    fn status(&self) -> &'static str {
        match self.outcome.end {
            Ok(_) => "ran",
            Err(_) => "stopped",
        }
    }
}
