//! A run whose results go to a file: what it belongs to, checkpoints, and how it is continued.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use oldham_cosim::{
    Cancel, Checkpoint, CheckpointError, Column, Dial, Discard, End, Fault, Outcome, Pacing,
    Progress, Ranks, Recorder, Simulation, Snapshot,
};
use oldham_model::Model;
use oldham_results::writer::WriteError;
use oldham_results::{Metadata, ResultWriter};
use serde::{Serialize, Serializer};

use crate::course::Course;
use crate::doubts;
use crate::file::INCLUDED;
use crate::motion::Met;
use crate::ranks::{self, Intent, RanksError};
use crate::real_time::Held;
use crate::{ModelFile, Onlooker, Pause, Place, RealTime, StudyError, TrimmedFile};

/// States that a run keeps on its way.
const KEPT: u64 = 8;

/// How a model is run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunOptions {
    /// Replace files that are there.
    pub force: bool,
    /// Solve the monolithic model instead of the coupled one.
    pub monolithic: bool,
    /// Threads; by default as the model says.
    pub threads: Option<usize>,
    /// Save the complete state every so many simulated seconds, beside the results.
    pub checkpoint_every: Option<f64>,
    /// Continue from a saved state.
    pub resume: Option<PathBuf>,
    /// Start from a state that [`trim`](crate::trim) has found; the model is the one that it is
    /// [applied](crate::TrimmedFile::applied) to.
    pub from: Option<PathBuf>,
    /// Set the external inputs as in the run that wrote this result file.
    pub replay: Option<PathBuf>,
    /// Do not wait until the results are on the disk: for runs that are looked at and done again if a power cut
    /// has torn their files.
    pub hasty: bool,
    /// The run may go back to its start, or to a state that it saved, while it goes on.
    pub returns: bool,
    /// The pace of the clock; as fast as it can if `None`.
    pub real_time: Option<RealTime>,
}

/// A run that can start: everything that may be refused has been.
///
/// ```
/// use oldham_study::{ModelFile, PreparedRun, RunOptions};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// # let folder = tempfile::tempdir().unwrap();
/// # let out = folder.path().join("results.parquet");
/// let file = ModelFile::new(format!("{examples}/two-mass-tight.toml"));
/// let model = file.read()?;
/// let options = RunOptions {
///     checkpoint_every: Some(1.0),
///     ..RunOptions::default()
/// };
/// let run = PreparedRun::new(&file, &model, &out, &options)?;
/// let report = run.solve(None, &mut |_| {})?;
/// assert_eq!(report.status(), "finished");
/// let table = oldham_results::read(&report.results)?;
/// assert!(table.time().len() > 10);
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub struct PreparedRun<'a> {
    model: &'a Model,
    file: ModelFile,
    options: &'a RunOptions,
    out: &'a Path,
    simulation: Simulation,
    columns: Vec<usize>,
    metadata: Metadata,
    digest: String,
    /// Where the run can go back to: its start, and what was saved last.
    start: Option<Checkpoint>,
    saved: Option<Checkpoint>,
    /// States met on the way, where they are kept.
    met: Option<Vec<Met>>,
    /// Who shares the run, if it is shared.
    ranks: Option<Arc<dyn Ranks>>,
}

impl<'a> PreparedRun<'a> {
    /// Makes the simulation, continues it from a saved state if asked to, and looks whether results
    /// and checkpoints can go where they should.
    pub fn new(
        file: &ModelFile,
        model: &'a Model,
        out: &'a Path,
        options: &'a RunOptions,
    ) -> Result<Self, StudyError> {
        Self::prepare(file, model, out, options, None)
    }

    /// The same for one of several processes that share the run: each advances its own parts, and the first one
    /// alone writes files. Before it runs, the ranks [meet](crate::meet_ranks) with what they [intend](Self::intent).
    pub fn on_ranks(
        file: &ModelFile,
        model: &'a Model,
        out: &'a Path,
        options: &'a RunOptions,
        ranks: Arc<dyn Ranks>,
    ) -> Result<Self, StudyError> {
        ranks::refuse_outside(model)?;
        if options.real_time.is_some() {
            return Err(RanksError::Paced.into());
        }
        Self::prepare(file, model, out, options, Some(ranks))
    }

    fn prepare(
        file: &ModelFile,
        model: &'a Model,
        out: &'a Path,
        options: &'a RunOptions,
        ranks: Option<Arc<dyn Ranks>>,
    ) -> Result<Self, StudyError> {
        if ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0) {
            check_targets(options, out)?;
        }
        if let Some(real_time) = &options.real_time {
            real_time.check(model)?;
        }
        let mut simulation = match options.monolithic {
            true => model.monolithic(None)?,
            false => model.simulation()?,
        };
        let columns = model.recorded(simulation.columns())?;
        let digest = digest(file, model, options.monolithic);
        if let Some(path) = &options.resume {
            resume(&mut simulation, model, path, &digest)?;
        }
        if let Some(path) = &options.from {
            TrimmedFile::read(path)?.restore(&mut simulation)?;
        }
        if let Some(path) = &options.replay {
            replay(&mut simulation, model, path)?;
        }
        if options.checkpoint_every.is_some() {
            // What keeps its state to itself is found before anything is started.
            simulation.checkpoint(&digest)?;
        }
        if let Some(ranks) = &ranks {
            simulation.share(Arc::clone(ranks))?;
        }
        // A part that keeps its state to itself is no reason not to run.
        let start = match options.returns {
            true => simulation.checkpoint(&digest).ok(),
            false => None,
        };
        Ok(Self {
            start,
            saved: None,
            met: None,
            ranks,
            metadata: metadata(file, model, options.monolithic),
            model,
            file: file.clone(),
            options,
            out,
            simulation,
            columns,
            digest,
        })
    }

    /// The same run, which keeps some of the states that it meets for an [analysis](crate::Survey::of_run)
    /// after it; not one at the pace of a clock or with checkpoints, nor one of a part that has no
    /// coordinates.
    pub fn keeping_states(mut self) -> Self {
        let is_plain = self.options.real_time.is_none() && self.options.checkpoint_every.is_none();
        let can = is_plain
            && matches!(self.simulation.part_without_state(), Ok(None))
            && matches!(self.simulation.part_without_chart(), Ok(None));
        self.met = can.then(Vec::new);
        self
    }

    /// What all ranks that share the run must have alike.
    pub fn intent(&mut self) -> Intent {
        let mut state = Snapshot::default();
        state.keep(&mut self.simulation);
        let words = state.words().iter();
        let bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        Intent {
            model: format!("{}-{}", self.digest, self.model.steps()),
            state: format!("{:016x}", fnv1a(&bytes)),
            ..Intent::here()
        }
    }

    /// Whether this process writes the files of the run.
    fn writes(&self) -> bool {
        self.ranks.as_ref().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// What is run.
    pub fn model(&self) -> &Model {
        self.model
    }

    /// Everything that can be recorded.
    pub fn columns(&self) -> &[Column] {
        self.simulation.columns()
    }

    /// The dial of an external input.
    pub fn dial(&self, name: &str) -> Option<Dial> {
        self.simulation.dial(name)
    }

    /// Whether the run can go back.
    pub fn can_return(&self) -> bool {
        self.start.is_some()
    }

    /// Goes back: the next take begins there.
    pub fn go_back(&mut self, place: Place) -> Result<(), StudyError> {
        let saved = self.saved.as_ref().filter(|_| place == Place::Saved);
        if let Some(state) = saved.or(self.start.as_ref()) {
            self.simulation.restore(state, &self.digest)?;
        }
        Ok(())
    }

    /// Runs to the end, to a fault or until it is cancelled; results are written in any case.
    pub fn solve(
        mut self,
        cancel: Option<&Cancel>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<RunReport, StudyError> {
        let mut report = self.take(self.out, None, cancel, progress)?;
        let outcome = &mut report.outcome;
        let is_whole = outcome.end == Ok(End::Finished) && self.options.resume.is_none();
        let is_plain = self.options.real_time.is_none() && self.options.replay.is_none();
        if is_whole && is_plain && self.writes() {
            let helps = doubts::remedy(&self.file, self.model, &outcome.summary, cancel);
            outcome.summary.notes.extend(helps);
        }
        Ok(report)
    }

    /// The same before somebody who looks on, to a file of its own: a run that goes back has several
    /// takes.
    pub fn take(
        &mut self,
        out: &Path,
        onlooker: Option<Onlooker<'_>>,
        cancel: Option<&Cancel>,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<RunReport, StudyError> {
        let column = |&place: &usize| self.simulation.columns()[place].clone();
        let selected: Vec<Column> = self.columns.iter().map(column).collect();
        let (metadata, force) = (&self.metadata, self.options.force);
        let created = match self.writes() {
            true => ResultWriter::create(out, &selected, metadata, force).map(Some),
            false => Ok(None),
        };
        let failure = created.as_ref().err().map(ToString::to_string);
        let elsewhere = self.simulation.failed_on_a_rank(failure);
        let writer = created.map_err(StudyError::Write)?;
        if let Some((rank, cause)) = elsewhere {
            return Err(RanksError::Failed { rank, cause }.into());
        }
        let mut writer = writer.map(|writer| writer.lasting(!self.options.hasty));
        let partial = match &writer {
            Some(writer) => writer.partial_path().to_owned(),
            None => out.to_owned(),
        };
        let (pace, held) = match &self.options.real_time {
            Some(real_time) => {
                let (pace, held) = real_time.pacing();
                (Some(pace), held)
            }
            None => (None, Held::default()),
        };
        let mut nowhere = Discard;
        let recorder: &mut dyn Recorder = match &mut writer {
            Some(writer) => writer,
            None => &mut nowhere,
        };
        let (mut outcome, unsaved) = self.advance(recorder, pace, onlooker, cancel, progress);
        held.conclude(&mut outcome.summary);
        let finished = writer.map_or(Ok(out.to_owned()), ResultWriter::finish);
        let results = match (finished, &outcome.end) {
            (Ok(results), _) => results,
            // A run that failed, for want of space say, keeps what it has and tells its own cause.
            (Err(_), Err(_)) => partial,
            (Err(error), Ok(_)) => return Err(StudyError::Finish(error)),
        };
        if !self.options.monolithic {
            outcome.summary.notes.extend_from_slice(self.model.notes());
        }
        Ok(RunReport {
            outcome,
            unsaved,
            results,
            met: self.met.take().unwrap_or_default(),
        })
    }

    /// Runs to the end, in pieces between checkpoints; ends early if one cannot be written.
    fn advance(
        &mut self,
        recorder: &mut dyn Recorder,
        pace: Option<Pacing>,
        onlooker: Option<Onlooker<'_>>,
        cancel: Option<&Cancel>,
        progress: &mut dyn FnMut(Progress),
    ) -> (Outcome, Option<CheckpointError>) {
        let piece = match self.met {
            Some(_) => self.steps_between_states(),
            None => self.steps_between_checkpoints(),
        };
        let pause = onlooker.as_ref().map(|onlooker| onlooker.pause.clone());
        let writes = self.writes();
        let mut course = Course {
            model: self.model,
            simulation: &mut self.simulation,
            threads: self.options.threads,
            pace,
            columns: self.columns.clone(),
            recorder,
            onlooker,
            cancel,
            progress,
        };
        loop {
            let outcome = course.advance(piece);
            let saves = pause.as_ref().is_some_and(Pause::take_save) && self.start.is_some();
            match outcome.end {
                Ok(End::Finished) => {}
                // It was stopped in order to be saved, and goes on.
                Ok(End::Cancelled) if saves => {}
                // What was reached when a step failed is no state to go on from.
                Ok(End::Cancelled) | Err(_) => return (outcome, None),
            }
            if saves || self.options.checkpoint_every.is_some() {
                let state = course.simulation.checkpoint(&self.digest);
                let written = state.and_then(|state| {
                    if writes {
                        state.write(&checkpoint_path(self.out))?;
                    }
                    self.saved = Some(state);
                    Ok(())
                });
                let failure = written.as_ref().err().map(ToString::to_string);
                let elsewhere = course.simulation.failed_on_a_rank(failure);
                let written = match elsewhere {
                    Some((rank, cause)) => {
                        written.and(Err(CheckpointError::OnRank { rank, cause }))
                    }
                    None => written,
                };
                if let Err(error) = written {
                    return (outcome, Some(error));
                }
            }
            if let Some(met) = &mut self.met
                && matches!(course.simulation.part_without_bytes(), Ok(None))
                && let Ok(state) = Met::of(course.simulation)
            {
                met.push(state);
            }
            if course.simulation.steps_done() >= self.model.steps() {
                return (outcome, None);
            }
        }
    }

    /// Steps from one state that is kept to the next, on rows that are recorded anyway.
    fn steps_between_states(&self) -> u64 {
        let row = self.model.record_every().max(1);
        (self.model.steps() / KEPT).div_ceil(row).max(1) * row
    }

    fn steps_between_checkpoints(&self) -> u64 {
        let steps = |seconds: f64| (seconds / self.model.step()).round().max(1.0) as u64;
        self.options.checkpoint_every.map_or(u64::MAX, steps)
    }
}

/// A run that is over.
pub struct RunReport {
    /// How it ended, and what it did.
    pub outcome: Outcome,
    /// Why its state could not be saved, which ended it.
    pub unsaved: Option<CheckpointError>,
    /// The result file, or what there is of it.
    pub results: PathBuf,
    /// States that were met on the way and kept.
    pub met: Vec<Met>,
}

impl RunReport {
    /// `finished`, `interrupted` or `failed`.
    pub fn status(&self) -> &'static str {
        match (&self.outcome.end, &self.unsaved) {
            (Ok(End::Finished), None) => "finished",
            (Ok(End::Cancelled), _) => "interrupted",
            (Ok(End::Finished), Some(_)) | (Err(_), _) => "failed",
        }
    }

    /// Why it failed, if it did.
    pub fn fault(&self) -> Option<String> {
        let fault = self.outcome.end.as_ref().err().map(Fault::to_string);
        fault.or_else(|| self.unsaved.as_ref().map(ToString::to_string))
    }
}

impl Serialize for RunReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            status: &'static str,
            fault: Option<String>,
            results: String,
            summary: &'a oldham_cosim::Summary,
        }
        let data = Data {
            status: self.status(),
            fault: self.fault(),
            results: self.results.display().to_string(),
            summary: &self.outcome.summary,
        };
        data.serialize(serializer)
    }
}

/// The file in which a run saves its state: that of the results with `.checkpoint` after its name.
pub fn checkpoint_path(out: &Path) -> PathBuf {
    let mut name = out.as_os_str().to_owned();
    name.push(".checkpoint");
    PathBuf::from(name)
}

/// Whether the results and checkpoints can go where they should, before anything takes its time.
fn check_targets(options: &RunOptions, out: &Path) -> Result<(), StudyError> {
    ResultWriter::check(out, options.force).map_err(StudyError::Write)?;
    let path = checkpoint_path(out);
    let there = std::fs::symlink_metadata(&path);
    match there {
        Ok(there) if options.checkpoint_every.is_some() || options.returns => {
            let is_own = options.resume.as_deref() == Some(&path);
            if there.is_dir() {
                return Err(StudyError::Write(WriteError::IsDirectory { path }));
            }
            if !there.is_file() {
                return Err(StudyError::Write(WriteError::NotAFile { path }));
            }
            if !options.force && !is_own {
                return Err(StudyError::Exists { path });
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Lets the external inputs have the values that were recorded in an earlier run.
fn replay(simulation: &mut Simulation, model: &Model, path: &Path) -> Result<(), StudyError> {
    let refused = |reason: String| StudyError::NoReplay {
        path: path.display().to_string(),
        reason,
    };
    let inputs: Vec<(String, usize)> = simulation
        .external_inputs()
        .into_iter()
        .map(|(name, width)| (name.to_owned(), width))
        .collect();
    if inputs.is_empty() {
        return Err(refused("the model has no external input".into()));
    }
    let table = oldham_results::read(path)?;
    let step = model.step();
    let is_gap = |pair: &[f64]| (pair[1] - pair[0] - step).abs() > 1e-6 * step;
    if table.rows() < 2 || table.time().windows(2).any(is_gap) {
        let reason =
            format!("it has not a row for every macro step of {step} s; record with `every = 1`");
        return Err(refused(reason));
    }
    for (name, width) in inputs {
        let prefix = format!("{name}.");
        let names = table
            .names()
            .filter(|column| *column == name || column.starts_with(&prefix));
        let columns: Vec<&[f64]> = names.filter_map(|name| table.column(name)).collect();
        if columns.len() != width {
            return Err(refused(format!("it has no external input `{name}`")));
        }
        // A row shows what held over the step that ends with it. Before the first one, in a run that
        // began with a saved state, nobody asks.
        let steps = ((table.time()[0] - model.start()) / step).round().max(0.0) as usize;
        let before = steps.saturating_sub(1);
        let rows = usize::from(steps == 0)..table.rows();
        let rows = std::iter::repeat_n(rows.start, before).chain(rows);
        let values: Vec<f64> = rows
            .flat_map(|row| columns.iter().map(move |column| column[row]))
            .collect();
        simulation.replay(&name, &values);
    }
    Ok(())
}

fn resume(
    simulation: &mut Simulation,
    model: &Model,
    path: &Path,
    digest: &str,
) -> Result<(), StudyError> {
    simulation.restore(&Checkpoint::read(path)?, digest)?;
    let done = simulation.steps_done();
    if done >= model.steps() {
        return Err(StudyError::NothingLeft {
            path: path.to_owned(),
            t: model.start() + done as f64 * model.step(),
            end: model.start() + model.duration(),
        });
    }
    Ok(())
}

fn metadata(file: &ModelFile, model: &Model, monolithic: bool) -> Metadata {
    let scheme = if monolithic { "monolithic" } else { "coupled" };
    let mut entries = vec![
        ("oldham".into(), env!("CARGO_PKG_VERSION").into()),
        ("step".into(), model.step().to_string()),
        ("scheme".into(), scheme.into()),
    ];
    let set = file.settings().iter();
    let data = model.data_files().iter();
    entries.extend(data.map(|file| (format!("data.{}", file.path), file.digest.clone())));
    entries.extend(set.map(|(key, value)| (format!("set.{key}"), value.clone())));
    let included = model.source().included();
    entries.extend(included.map(|(path, text)| (format!("{INCLUDED}{path}"), text.to_owned())));
    Metadata {
        title: model.name().into(),
        model: model.source().file_text().into(),
        entries,
    }
}

/// What a checkpoint belongs to: a digest of the model, its settings and its files.
pub fn digest(file: &ModelFile, model: &Model, monolithic: bool) -> String {
    format!(
        "{:016x}",
        fnv1a(identity(file, model, monolithic).as_bytes())
    )
}

/// A text that tells a run from others: the model's text and what it reads besides, its overrides, and
/// coupled or not.
pub(crate) fn identity(file: &ModelFile, model: &Model, monolithic: bool) -> String {
    let mut text = model.source().file_text().to_owned() + &model.given_gains();
    for (path, included) in model.source().included() {
        text += &format!("\n{path}\n{included}");
    }
    for data in model.data_files() {
        text += &format!("\n{} {}", data.path, data.digest);
    }
    for (key, value) in file.settings() {
        // A longer run of the same model may continue from the same state.
        if key != "simulation.duration" {
            text += &format!("\n{key}={value}");
        }
    }
    text += if monolithic { "\nmonolithic" } else { "" };
    text
}

pub(crate) fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}
