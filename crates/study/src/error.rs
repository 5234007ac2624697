//! What can go wrong in a study.

use std::path::PathBuf;

use oldham_cosim::{CheckpointError, Fault, SharingError};
use oldham_model::Problems;
use oldham_multibody::SolveError;
use oldham_results::reader::ReadError;
use oldham_results::writer::WriteError;
use oldham_stability::AnalysisError;

use crate::partition::PartitionError;
use crate::ranks::RanksError;
use crate::sweep::{JournalError, VariationError};
use crate::trim::Unfinished;

/// Why a study failed.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The model cannot be used.
    #[error(transparent)]
    Model(Box<Problems>),
    /// No cut was found, or it could not be written.
    #[error(transparent)]
    Partition(#[from] PartitionError),
    /// A result file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A result file cannot be written, and nothing was started.
    #[error(transparent)]
    Write(WriteError),
    /// The results could not be finished.
    #[error(transparent)]
    Finish(WriteError),
    /// A checkpoint cannot be used or written.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The coupling cannot be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// The values of a varied setting cannot be had.
    #[error(transparent)]
    Variation(#[from] VariationError),
    /// What a sweep has done cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The table of a sweep cannot be written.
    #[error("{path} cannot be written: {error}", path = path.display())]
    Index {
        /// The table.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A step would have longer than until the next one is due.
    #[error("a step cannot have {budget} s: the next one is due after {period} s")]
    Budget {
        /// Seconds that it was to have.
        budget: f64,
        /// Seconds between two steps.
        period: f64,
    },
    /// A result file does not tell how external inputs were set.
    #[error("{path} cannot be replayed: {reason}")]
    NoReplay {
        /// The result file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A name that does not exist.
    #[error("there is no {what} `{name}`")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// Names that exist.
        known: Vec<String>,
    },
    /// Nothing to compare with.
    #[error(
        "there is no reference `{name}`: give `monolithic`, `exact`, `converged` or a result file"
    )]
    NoReference {
        /// As asked for.
        name: String,
    },
    /// Nothing but the cut model solves it.
    #[error(
        "`{mechanism}` is in contact and integrated by impulses only where it is cut, so that there is no reference without the cut"
    )]
    OnlyCut {
        /// The mechanism.
        mechanism: String,
    },
    /// The reference is of no use.
    #[error("{path} cannot be the reference: {reason}")]
    BadReference {
        /// The result file.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The reference has nothing that the model records.
    #[error(
        "model and reference `{reference}` have no signal in common: give a result of the same model"
    )]
    NoCommonSignal {
        /// As asked for.
        reference: String,
    },
    /// All variants would be the same.
    #[error("`{model}` has no coupling, so that all schemes are the same")]
    NothingToCompare {
        /// Title of the model.
        model: String,
    },
    /// Nothing that could be set otherwise.
    #[error("`{model}` has no coupling, so that there is nothing to advise on")]
    NothingToAdvise {
        /// Title of the model.
        model: String,
    },
    /// A model file cannot take what is to be set.
    #[error("{path} cannot be written: {reason}", path = path.display())]
    NotWritten {
        /// The file.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// More variants than anybody could want.
    #[error("{} variants are asked for, and at most {most} are compared", .count.map_or_else(|| "countless".into(), |count| count.to_string()))]
    TooManyVariants {
        /// If they can be counted.
        count: Option<usize>,
        /// The limit.
        most: usize,
    },
    /// Refinements of the reference do not agree.
    #[error(
        "no reference was found: implicit coupling with a macro step of {step} s still has an error of about {difference:.1e}"
    )]
    NotConverged {
        /// The last refinement.
        step: f64,
        /// Relative to the size of the signals.
        difference: f64,
    },
    /// The reference stopped.
    #[error("the reference failed: {0}")]
    ReferenceFailed(Fault),
    /// A run stopped.
    #[error(transparent)]
    Run(Fault),
    /// A wanted value does not lie where it was looked for.
    #[error(
        "between {key} = {} and {} it is {} and {}, both on one side of the wanted {target}; look elsewhere",
        .between[0], .between[1], .measured[0], .measured[1]
    )]
    NotBetween {
        /// The parameter.
        key: String,
        /// Its ends.
        between: [f64; 2],
        /// What was measured there.
        measured: [f64; 2],
        /// What was wanted.
        target: f64,
    },
    /// A wanted value was not found.
    #[error(
        "after {runs} runs the wanted value of {key} is only known to lie between {} and {}; allow a larger difference",
        .between[0], .between[1]
    )]
    NotFound {
        /// The parameter.
        key: String,
        /// Runs.
        runs: usize,
        /// Its ends.
        between: [f64; 2],
    },
    /// A setting that is varied without saying how far.
    #[error("the range of `{key}` is not known")]
    NoRange {
        /// The setting.
        key: String,
    },
    /// A range of a single value, along which nothing can be followed.
    #[error(
        "`{key}` has a single value here; follow the motion over a range, such as `{key}=1:5:9`, or set the value with `--set`"
    )]
    OneValue {
        /// The setting.
        key: String,
    },
    /// Settings of a scheme that are none.
    #[error("a scheme has settings such as schedule.output_update=true; `{text}` is none")]
    NoScheme {
        /// As written.
        text: String,
    },
    /// The model has no mechanism.
    #[error("`{model}` has no multibody subsystem such as [multibody.arm]")]
    NoMechanism {
        /// Title of the model.
        model: String,
    },
    /// A time before the model begins.
    #[error("t = {time} s lies before the start of the model at {start} s")]
    BeforeStart {
        /// As asked for.
        time: f64,
        /// Where the model begins.
        start: f64,
    },
    /// Nothing can be put into the model.
    #[error(
        "`{model}` has no free input for a frequency response: connections feed all inputs that it has; \
         add one, such as inputs.push = {{ force = \"x1\" }} with [excitation] \"left.push\" = 0"
    )]
    NoInput {
        /// Title of the model.
        model: String,
    },
    /// More curves than a picture can show.
    #[error("{count} frequency responses are asked for, and at most {most} are drawn")]
    TooManyCurves {
        /// Asked for.
        count: usize,
        /// Drawn at most.
        most: usize,
    },
    /// Statics or modes could not be found.
    #[error("in `{part}`: {error}")]
    Solve {
        /// The subsystem.
        part: String,
        /// Why not.
        error: SolveError,
    },
    /// What carries a mechanism does not hold it.
    #[error("`{part}` does not hold the machine where it is: {why}")]
    NotHeld {
        /// The subsystem.
        part: String,
        /// What moves, and why.
        why: String,
    },
    /// A rotor that a Campbell diagram cannot show.
    #[error(
        "`{part}` turns at {key} = {value}, but not in a steady rotation: weight across its axis, or a torque that \
         nothing balances, acts on something that is not round. What centrifugal forces do to it in a steady \
         rotation would be missing. Take such loads away (for gravity set it to zero); where a torque alone is not \
         balanced, `--at trimmed` finds the steady rotation. Across its weight a rotor only repeats itself with every \
         turn: `oldham trim` with `--period` gives its vibrations as multipliers"
    )]
    UnsteadyRotation {
        /// The mechanism.
        part: String,
        /// The parameter that is varied.
        key: String,
        /// Its value.
        value: f64,
    },
    /// Nothing in the model moves freely.
    #[error("`{model}` has no poles: nothing in it can vibrate")]
    NoPoles {
        /// Title of the model.
        model: String,
    },
    /// More poles than can be followed one by one.
    #[error("the model has {count} poles, and at most {limit} are tracked one by one")]
    TooManyPoles {
        /// Of the monolithic system.
        count: usize,
        /// At most.
        limit: usize,
    },
    /// No gains were found that could be written.
    #[error("there are no gains of `{model}` to write: no assignment can be offered")]
    NoGains {
        /// Title of the model.
        model: String,
    },
    /// The state to continue from lies at or beyond the end.
    #[error(
        "{path} is of t = {t} s, and the run ends at {end} s: nothing is left to do; raise \
         simulation.duration", path = path.display()
    )]
    NothingLeft {
        /// The checkpoint.
        path: PathBuf,
        /// Its time.
        t: f64,
        /// Where the model ends.
        end: f64,
    },
    /// A file is there that was not asked to be replaced.
    #[error("{path} already exists", path = path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// No steady motion was found.
    #[error(transparent)]
    Trim(#[from] oldham_stability::ShootingError),
    /// The search for one was ended.
    #[error("{}", .0.why)]
    Unfinished(Box<Unfinished>),
    /// What a search that was ended has reached, where a steady motion is needed.
    #[error("{path} holds what a search has reached that was ended: `oldham trim` with the same arguments goes on from it", path = path.display())]
    NotFinished {
        /// The file.
        path: PathBuf,
    },
    /// A state of a cut model, where the whole one is linearised.
    #[error(
        "the state is that of the cut model, and cuts are undone where a model is linearised: trim it with `oldham trim --monolithic`"
    )]
    TrimmedInParts,
    /// A signal that cannot be held.
    #[error("`{name}` cannot be held: {why}")]
    NotHoldable {
        /// As written.
        name: String,
        /// Why.
        why: String,
    },
    /// A period that is to be found, without any to begin with.
    #[error("the search for a period needs one to begin with: give `period` in [trim] as well")]
    NoPeriod,
    /// A file that holds no trimmed state.
    #[error("{path} is a checkpoint, not a state that `oldham trim` has found; `oldham run --resume` continues from it", path = path.display())]
    NotTrimmed {
        /// The file.
        path: PathBuf,
    },
    /// Ranks of MPI cannot share the run.
    #[error(transparent)]
    Ranks(#[from] RanksError),
    /// The simulation cannot be shared among ranks.
    #[error(transparent)]
    Sharing(#[from] SharingError),
    /// It was cancelled.
    #[error("cancelled")]
    Cancelled,
}

impl From<Problems> for StudyError {
    fn from(problems: Problems) -> Self {
        Self::Model(Box::new(problems))
    }
}

impl StudyError {
    /// A name that is not among those that exist.
    pub(crate) fn unknown<'n>(
        what: &'static str,
        name: &str,
        known: impl Iterator<Item = &'n str>,
    ) -> Self {
        Self::Unknown {
            what,
            name: name.into(),
            known: known.map(Into::into).collect(),
        }
    }
}
