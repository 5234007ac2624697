//! All runs of a sweep: one a thread, each with its results in a file of its own, and what was done
//! before is not done again.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use oldham_cosim::{Cancel, End, Fault};
use oldham_model::{Model, Template};

use super::combine::{Draw, combinations};
use super::index::SweepReport;
use super::journal::{Journal, SweepRun, SweepStatus};
use super::merit::Merit;
use super::shard::{Claim, Shard};
use super::variation::Variation;
use crate::run::{fnv1a, identity};
use crate::{ModelFile, PreparedRun, RunOptions, Settings, StudyError};

/// Runs of a sweep at most.
pub const MOST_RUNS: usize = 100_000;

/// How a sweep is made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SweepOptions {
    /// How numbers are drawn at random.
    pub draw: Draw,
    /// What is computed of every run.
    pub merits: Vec<Merit>,
    /// Solve the monolithic model instead of the coupled one.
    pub monolithic: bool,
    /// Runs at the same time; by default one a core.
    pub threads: Option<usize>,
    /// Do everything anew, whatever is in the folder.
    pub force: bool,
    /// Do the runs of one shard only; others do theirs at any time, in the same folder. The index is then
    /// written by [`Sweep::join`].
    pub shard: Option<Shard>,
}

/// How far a sweep is.
#[derive(Clone, Copy, Debug)]
pub struct SweepProgress<'a> {
    /// Runs that are over, those that were there already among them.
    pub done: usize,
    /// All runs, or those of the shard.
    pub total: usize,
    /// Those that were there already.
    pub kept: usize,
    /// The run that was over last; none at the start.
    pub last: Option<&'a SweepRun>,
}

/// A model for all combinations of some values: one run each, with results in a folder.
///
/// ```
/// use oldham_study::{ModelFile, Sweep, SweepOptions, SweepStatus};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// # let folder = tempfile::tempdir().unwrap();
/// # let out = folder.path().join("sweep");
/// let file = ModelFile::new(format!("{examples}/two-mass-tight.toml"));
/// let vary = ["m1=1,2".parse().unwrap(), "k1=100:300:3".parse().unwrap()];
/// let options = SweepOptions {
///     merits: vec!["max(left.x1.x)".parse().unwrap()],
///     ..SweepOptions::default()
/// };
/// let sweep = Sweep::new(&file, &vary, &out, &options)?;
/// let report = sweep.solve(None, &|_| {})?;
/// assert_eq!(report.count(SweepStatus::Finished), 6);
/// assert!(report.index.exists());
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub struct Sweep<'a> {
    file: &'a ModelFile,
    options: &'a SweepOptions,
    keys: Vec<String>,
    combinations: Vec<(String, Settings)>,
    folder: PathBuf,
    /// The file read once, for the runs in which only parameters differ.
    template: Template,
    journal: Journal,
    /// By run; those that are over already.
    done: Vec<Option<SweepRun>>,
}

impl<'a> Sweep<'a> {
    /// Reads the model with the first values, and looks what the folder holds already.
    pub fn new(
        file: &'a ModelFile,
        vary: &[Variation],
        folder: &Path,
        options: &'a SweepOptions,
    ) -> Result<Self, StudyError> {
        let combinations = combinations(vary, &options.draw, MOST_RUNS)?;
        let first = combinations.first().map_or(&[][..], |(_, changes)| changes);
        let first = file.with(first);
        let model = first.read()?;
        check_merits(&model, options)?;
        let sweep = digest(file, &model, &combinations, options);
        let runs = combinations.len();
        let (journal, known) = Journal::open(folder, &sweep, runs, options.shard, options.force)?;
        let mut sweep = Self {
            file,
            options,
            keys: vary.iter().map(|variation| variation.key.clone()).collect(),
            combinations,
            folder: folder.to_owned(),
            template: file.template()?,
            journal,
            done: vec![None; runs],
        };
        for run in known {
            if sweep.is_wanted(run.run - 1) && sweep.is_as_recorded(&run, &model) {
                let place = run.run - 1;
                sweep.done[place] = Some(run);
            }
        }
        Ok(sweep)
    }

    /// All runs, or those of the shard.
    pub fn runs(&self) -> usize {
        let runs = 0..self.combinations.len();
        runs.filter(|&place| self.is_wanted(place)).count()
    }

    fn is_wanted(&self, place: usize) -> bool {
        self.options.shard.is_none_or(|shard| shard.has(place + 1))
    }

    /// Those that are over already.
    pub fn kept(&self) -> usize {
        self.done.iter().flatten().count()
    }

    /// Runs at the same time.
    pub fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        let threads = self.options.threads.unwrap_or_else(cores);
        threads.clamp(1, (self.runs() - self.kept()).max(1))
    }

    /// Does what is left, until it is cancelled. A run that fails is told in the report and ends nothing.
    pub fn solve(
        mut self,
        cancel: Option<&Cancel>,
        progress: &(dyn Fn(SweepProgress<'_>) + Sync),
    ) -> Result<SweepReport, StudyError> {
        let (total, kept) = (self.runs(), self.kept());
        let left: Vec<usize> = (0..self.done.len())
            .filter(|&place| self.is_wanted(place) && self.done[place].is_none())
            .collect();
        progress(SweepProgress {
            done: kept,
            total,
            kept,
            last: None,
        });
        let next = AtomicUsize::new(0);
        // The runs that are over by now, and what went wrong with the journal.
        let over: Mutex<Vec<SweepRun>> = Mutex::default();
        // What another shard is at, or has done in the meantime.
        let elsewhere: Mutex<Vec<SweepRun>> = Mutex::default();
        let broken: Mutex<Option<StudyError>> = Mutex::default();
        let work = || {
            while let Some(&place) = left.get(next.fetch_add(1, Ordering::Relaxed)) {
                let claim = match self.claim(place, &elsewhere) {
                    Ok(Claimed::Here(claim)) => claim,
                    Ok(Claimed::Elsewhere) => continue,
                    Err(error) => {
                        *lock(&broken) = Some(error);
                        return;
                    }
                };
                let Some(run) = self.one(place, cancel) else {
                    return;
                };
                // What was disturbed from outside is not remembered: it is done again.
                if run.status != SweepStatus::Disturbed
                    && let Err(error) = self.journal.add(&run)
                {
                    *lock(&broken) = Some(error.into());
                    return;
                }
                drop(claim);
                let mut over = lock(&over);
                over.push(run);
                progress(SweepProgress {
                    done: kept + over.len(),
                    total,
                    kept,
                    last: over.last(),
                });
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..self.threads() {
                // A system that refuses a thread has fewer.
                let _ = std::thread::Builder::new().spawn_scoped(scope, work);
            }
            work();
        });
        if let Some(error) = broken
            .into_inner()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
        {
            return Err(error);
        }
        let over = [elsewhere, over].map(|runs| {
            runs.into_inner()
                .unwrap_or_else(|poisoned| poisoned.into_inner())
        });
        for run in over.into_iter().flatten().chain(self.journal.news()?) {
            let place = run.run - 1;
            if self.is_wanted(place) {
                self.done[place] = Some(run);
            }
        }
        let is_whole = self.options.shard.is_none();
        let is_cancelled = cancel.is_some_and(Cancel::is_requested);
        let report = self.report(kept, is_cancelled);
        if is_whole {
            report.write().map_err(|error| StudyError::Index {
                path: report.index.clone(),
                error,
            })?;
        }
        Ok(report)
    }

    /// The index of what is there, by whichever shards: nothing is run.
    pub fn join(self) -> Result<SweepReport, StudyError> {
        let kept = self.kept();
        let report = self.report(kept, false);
        report.write().map_err(|error| StudyError::Index {
            path: report.index.clone(),
            error,
        })?;
        Ok(report)
    }

    /// Claims a run for this process where several are at work.
    fn claim(&self, place: usize, elsewhere: &Mutex<Vec<SweepRun>>) -> Result<Claimed, StudyError> {
        if self.options.shard.is_none() {
            return Ok(Claimed::Here(None));
        }
        // Where no claim can be written no result can either, and that run says why.
        let claim = match Claim::new(&self.folder, &self.name(place)) {
            Ok(Some(claim)) => Some(claim),
            Ok(None) => return Ok(Claimed::Elsewhere),
            Err(_) => None,
        };
        let mut elsewhere = lock(elsewhere);
        elsewhere.extend(self.journal.news()?);
        match elsewhere.iter().any(|run| run.run == place + 1) {
            true => Ok(Claimed::Elsewhere),
            false => Ok(Claimed::Here(claim)),
        }
    }

    fn report(self, kept: usize, is_cancelled: bool) -> SweepReport {
        let total = self.runs();
        let combinations = self.combinations.len();
        let missing: Vec<usize> = (0..combinations)
            .filter(|&place| self.is_wanted(place) && self.done[place].is_none())
            .map(|place| place + 1)
            .collect();
        let runs: Vec<SweepRun> = self.done.into_iter().flatten().collect();
        SweepReport {
            keys: self.keys,
            merits: self.options.merits.clone(),
            is_interrupted: is_cancelled && !missing.is_empty(),
            runs,
            missing,
            total,
            combinations,
            kept,
            index: SweepReport::path(&self.folder),
        }
    }

    /// One run; nothing if it was cancelled.
    fn one(&self, place: usize, cancel: Option<&Cancel>) -> Option<SweepRun> {
        let (_, changes) = &self.combinations[place];
        let mut run = SweepRun {
            run: place + 1,
            settings: changes.clone(),
            status: SweepStatus::Refused,
            message: None,
            results: None,
            time: None,
            energy: None,
            spurious: None,
            merits: Vec::new(),
        };
        if cancel.is_some_and(Cancel::is_requested) {
            return None;
        }
        let name = self.name(place);
        match self.solved(changes, &self.folder.join(&name), cancel) {
            Err(error) => {
                if is_from_outside(&error) {
                    run.status = SweepStatus::Disturbed;
                }
                run.message = Some(error.to_string());
            }
            Ok(report) => {
                if report.outcome.end == Ok(End::Cancelled) {
                    return None;
                }
                let summary = &report.outcome.summary;
                run.status = match &report.outcome.end {
                    Ok(_) => SweepStatus::Finished,
                    Err(Fault::Recording { .. } | Fault::Threads { .. }) => SweepStatus::Disturbed,
                    Err(_) => SweepStatus::Failed,
                };
                run.message = report.fault();
                run.time = Some(summary.time);
                let failed = run.status != SweepStatus::Finished;
                run.energy = summary
                    .final_energy
                    .filter(|_| !failed)
                    .map(|energy| energy.stored);
                run.spurious = summary.imbalance.filter(|_| !failed);
                run.merits = self.merits(&report.results);
                run.results = Some(name);
            }
        }
        Some(run)
    }

    fn solved(
        &self,
        changes: &Settings,
        out: &Path,
        cancel: Option<&Cancel>,
    ) -> Result<crate::RunReport, StudyError> {
        let file = self.file.with(changes);
        let model = self.model(&file, changes)?;
        let options = RunOptions {
            force: true,
            monolithic: self.options.monolithic,
            threads: Some(1),
            // A sweep that is resumed reads every file before it counts.
            hasty: true,
            ..RunOptions::default()
        };
        PreparedRun::new(&file, &model, out, &options)?.solve(cancel, &mut |_| {})
    }

    /// The model with these values: made from the file that was read, if they are all parameters.
    fn model(&self, file: &ModelFile, changes: &Settings) -> Result<Model, StudyError> {
        let number = |(key, value): &(String, String)| {
            let is_parameter = self.template.has_parameter(key);
            value
                .parse()
                .ok()
                .filter(|_| is_parameter)
                .map(|value| (key.clone(), value))
        };
        let numbers: Option<Vec<(String, f64)>> = changes.iter().map(number).collect();
        match numbers {
            Some(numbers) => {
                let numbers: Vec<(&str, f64)> = numbers
                    .iter()
                    .map(|(key, value)| (key.as_str(), *value))
                    .collect();
                Ok(self.template.with(&numbers)?)
            }
            None => Ok(file.read()?),
        }
    }

    fn merits(&self, results: &Path) -> Vec<Option<f64>> {
        if self.options.merits.is_empty() {
            return Vec::new();
        }
        let table = oldham_results::read(results).ok();
        let merit = |merit: &Merit| merit.of(table.as_ref()?);
        self.options.merits.iter().map(merit).collect()
    }

    fn name(&self, place: usize) -> String {
        let digits = self.combinations.len().to_string().len();
        format!("run-{:0digits$}.parquet", place + 1)
    }

    /// Whether a run of the journal is one of this sweep, and its results are whole and its own.
    fn is_as_recorded(&self, run: &SweepRun, model: &Model) -> bool {
        let (_, changes) = &self.combinations[run.run - 1];
        if run.settings != *changes {
            return false;
        }
        let Some(name) = &run.results else {
            return true;
        };
        let Ok(table) = oldham_results::read(&self.folder.join(name)) else {
            return false;
        };
        let metadata = table.metadata();
        let is_set = |(key, value): &(String, String)| {
            let key = format!("set.{key}");
            let mut entries = metadata.entries.iter();
            entries.any(|(known, set)| *known == key && set == value)
        };
        let is_whole = table.complete() && table.rows() > 0;
        let is_own = metadata.model == model.source().file_text() && changes.iter().all(is_set);
        is_own && (is_whole || run.status == SweepStatus::Failed)
    }
}

/// Who does a run.
enum Claimed {
    /// This process; where it is the only one, without a claim.
    Here(Option<Claim>),
    /// Another one, now or before.
    Elsewhere,
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// Whether the reason of a failure lies outside of the model and its values: with more room, or when other programs
/// have ended, the same run may succeed.
fn is_from_outside(error: &StudyError) -> bool {
    matches!(
        error,
        StudyError::Write(_) | StudyError::Finish(_) | StudyError::Read(_)
    )
}

/// Figures of signals that are not recorded are refused before anything is run.
fn check_merits(model: &Model, options: &SweepOptions) -> Result<(), StudyError> {
    if options.merits.is_empty() {
        return Ok(());
    }
    let simulation = match options.monolithic {
        true => model.monolithic(None)?,
        false => model.simulation()?,
    };
    let columns = simulation.columns();
    let recorded = model.recorded(columns)?;
    let names: Vec<&str> = recorded
        .iter()
        .map(|&place| columns[place].name.as_str())
        .collect();
    for merit in &options.merits {
        if !names.contains(&merit.signal()) {
            let names = names.iter().copied();
            return Err(StudyError::unknown(
                "recorded signal",
                merit.signal(),
                names,
            ));
        }
    }
    Ok(())
}

/// What the runs of a folder belong to.
fn digest(
    file: &ModelFile,
    model: &Model,
    combinations: &[(String, Settings)],
    options: &SweepOptions,
) -> String {
    let mut text = identity(file, model, options.monolithic);
    for (_, changes) in combinations {
        for (key, value) in changes {
            text += &format!("\n{key}={value}");
        }
        text.push('\n');
    }
    for merit in &options.merits {
        text += &format!("\n{merit}");
    }
    format!("{:016x}", fnv1a(text.as_bytes()))
}
