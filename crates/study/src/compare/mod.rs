//! One model under several schemes, against a reference.
//!
//! Everything that can be refused is refused before anything is computed. Variant and reference then
//! advance side by side, a stretch at a time, so that long runs need no more memory than short ones.

mod figure;
mod ranking;
mod reference;
mod stretch;
mod variants;

use std::collections::HashSet;

use oldham_cosim::{Cancel, Column, End, Outcome};
use oldham_model::Model;
use serde::{Serialize, Serializer};

use crate::{Draw, ModelFile, Settings, StudyError, Variation};
pub use ranking::Kind;
pub(crate) use ranking::errors;
pub use reference::Refined;
use reference::{Choice, Found};
use stretch::Pace;
pub use stretch::{Channel, Sample};
pub use variants::Alike;
use variants::Variant;

/// Columns that are no signals: energy balances, of which one is compared on its own.
const ENERGY_COLUMNS: [&str; 2] = ["energy.", "exchange."];
const STORED: &str = "energy.total";

/// What is compared, and with what.
#[derive(Clone, Copy, Default)]
pub struct CompareOptions<'a> {
    /// Settings and the values that each takes; the usual schemes if there are none.
    pub vary: &'a [Variation],
    /// How values are drawn at random.
    pub draw: Draw,
    /// `monolithic`, `exact`, `converged` or the path of a result; by default what suits the model.
    pub reference: Option<&'a str>,
    /// The signal to draw; by default the one that shows the differences best.
    pub signal: Option<&'a str>,
    /// Ends the comparison when set.
    pub cancel: Option<&'a Cancel>,
    /// Is told what is being computed.
    pub progress: Option<&'a dyn Fn(CompareProgress<'_>)>,
}

/// How far a comparison has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CompareProgress<'a> {
    /// Variants that are done.
    pub done: usize,
    /// Variants in all.
    pub variants: usize,
    /// What is being computed: a variant or a reference.
    pub what: &'a str,
}

/// Variants of a model beside their reference.
#[derive(Serialize)]
pub struct Comparison {
    /// Title of the model.
    pub model: String,
    /// What the variants were compared with.
    pub reference: String,
    /// The variants that were run.
    pub variants: Vec<Tried>,
    /// Variants that would have repeated others.
    pub left_out: Vec<Alike>,
    /// The signal to draw.
    pub drawn: Option<String>,
}

/// Solves a model in several ways and compares them with a reference.
///
/// ```
/// use oldham_study::{CompareOptions, ModelFile, compare};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-tight.toml"));
/// let model = file.read()?;
/// let comparison = compare(&file, &model, &CompareOptions::default())?;
/// for variant in &comparison.variants {
///     println!("{}: {:?}", variant.name, variant.worst().and_then(|signal| signal.error));
/// }
/// let svg = comparison.figure().to_svg();
/// # assert!(svg.starts_with("<svg") && comparison.variants.len() > 2);
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn compare(
    file: &ModelFile,
    model: &Model,
    options: &CompareOptions<'_>,
) -> Result<Comparison, StudyError> {
    let mut choice = Choice::of(model, options)?;
    choice.columns(model)?;
    let (variants, left_out) = variants::of(file, model, options.vary, &options.draw)?;
    let mut jobs = Vec::new();
    for variant in variants {
        jobs.push(Job::of(variant, &choice, options)?);
    }
    let mut found = Vec::new();
    let mut tried = Vec::new();
    let count = jobs.len();
    for (done, job) in jobs.into_iter().enumerate() {
        let announce = |what: &str| {
            if let Some(progress) = options.progress {
                progress(CompareProgress {
                    done,
                    variants: count,
                    what,
                });
            }
        };
        let watch = Watch {
            cancel: options.cancel,
            announce: &announce,
        };
        tried.push(job.run(&mut choice, &mut found, count, &watch)?);
    }
    Ok(Comparison {
        model: model.name().into(),
        reference: choice.name(),
        drawn: ranking::drawn(options.signal, &tried),
        variants: tried,
        left_out,
    })
}

/// Who looks at a comparison while it goes on.
struct Watch<'a> {
    cancel: Option<&'a Cancel>,
    announce: &'a dyn Fn(&str),
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
    fn of(
        variant: Variant,
        choice: &Choice,
        options: &CompareOptions<'_>,
    ) -> Result<Self, StudyError> {
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
            return Err(StudyError::NoCommonSignal {
                reference: choice.name(),
            });
        }
        let names = || places.iter().map(|&place| columns[place].name.as_str());
        if let Some(wanted) = options.signal
            && !names().any(|name| name == wanted)
        {
            return Err(StudyError::unknown("signal", wanted, names()));
        }
        let stored = columns.iter().position(|column| column.name == STORED);
        places.extend(stored.filter(|&place| is_known(&columns[place])));
        let columns: Vec<Column> = places.iter().map(|&place| columns[place].clone()).collect();
        let followed = columns.iter().map(|column| match options.signal {
            _ if column.name == STORED => true,
            Some(wanted) => column.name == wanted,
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
        choice: &mut Choice,
        found: &mut Vec<Found>,
        variants: usize,
        watch: &Watch<'_>,
    ) -> Result<Tried, StudyError> {
        let model = &self.variant.model;
        let pace = Pace::of(model, self.columns.len());
        let rarer = choice.rarer(pace.rows(), self.columns.len());
        let pace = pace.rarer(rarer);
        let mut reference = choice.reference(model, &self.columns, &pace, found, watch)?;
        (watch.announce)(&self.variant.name);
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
            let (rows, outcome) = pace.advance(&mut simulation, &self.places, steps, watch.cancel);
            if outcome.end == Ok(End::Cancelled) {
                return Err(StudyError::Cancelled);
            }
            let expected = reference.rows(&rows.times, steps, &pace, watch.cancel)?;
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
            refined: reference.refined(),
        })
    }
}

/// A variant that was run, beside its reference.
pub struct Tried {
    /// What it is called.
    pub name: String,
    /// Its changes to the file.
    pub settings: Settings,
    /// Signals that it shares with the reference.
    pub signals: Vec<Signal>,
    /// Its stored energy.
    pub energy: Option<Channel>,
    /// How it ended, and what it did.
    pub outcome: Outcome,
    /// How far its reference was refined, if it was.
    pub refined: Option<Refined>,
}

/// A signal beside its reference.
pub struct Signal {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it is.
    pub kind: Kind,
    /// Root mean square difference, relative to the largest range of its kind; nothing where the
    /// whole kind is rounding.
    pub error: Option<f64>,
    /// Its values beside those of the reference.
    pub channel: Channel,
}

impl Tried {
    /// The signal that is furthest from the reference.
    pub fn worst(&self) -> Option<&Signal> {
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
    pub fn energy_error(&self) -> Option<f64> {
        let energy = self.energy.as_ref()?;
        let (value, reference) = energy.last()?;
        (energy.size > 0.0).then(|| (value - reference) / energy.size)
    }

    /// `ran` or `stopped`.
    pub fn status(&self) -> &'static str {
        match self.outcome.end {
            Ok(_) => "ran",
            Err(_) => "stopped",
        }
    }
}

impl Serialize for Signal {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            name: &'a str,
            unit: &'a str,
            error: Option<f64>,
            rms: f64,
            nrms: Option<f64>,
        }
        let data = Data {
            name: &self.name,
            unit: &self.unit,
            error: self.error,
            rms: self.channel.rms(),
            nrms: self.channel.nrms().filter(|_| self.error.is_some()),
        };
        data.serialize(serializer)
    }
}

impl Serialize for Tried {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            name: &'a str,
            set: Vec<String>,
            status: &'static str,
            fault: Option<String>,
            worst: Option<&'a str>,
            error: Option<f64>,
            signals: &'a [Signal],
            energy_error: Option<f64>,
            refined: Option<Refined>,
            summary: &'a oldham_cosim::Summary,
        }
        let worst = self.worst();
        let settings = self.settings.iter();
        let data = Data {
            name: &self.name,
            set: settings.map(|(k, v)| format!("{k}={v}")).collect(),
            status: self.status(),
            fault: self.outcome.end.as_ref().err().map(ToString::to_string),
            worst: worst.map(|signal| signal.name.as_str()),
            error: worst.and_then(|signal| signal.error),
            signals: &self.signals,
            energy_error: self.energy_error(),
            refined: self.refined,
            summary: &self.outcome.summary,
        };
        data.serialize(serializer)
    }
}
