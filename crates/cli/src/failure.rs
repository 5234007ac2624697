//! How a command fails: what is said, and the exit code.

use crate::excerpt::Excerpt;
use crate::fold::{WIDTH, fold};
use crate::output::{escaped, write_error_raw};
use crate::{say, tell};
use std::path::PathBuf;
use std::process::ExitCode;

use miette::{GraphicalReportHandler, LabeledSpan, MietteDiagnostic, Report, Severity};
use oldham_cosim::{CheckpointError, Fault};
use oldham_fmi::PackageError;
use oldham_fmu_export::{ExportError, RuntimeError};
use oldham_model::{Location, Problems};
use oldham_mpi::MpiError;
use oldham_papers::PaperError;
use oldham_results::plot::PlotError;
use oldham_results::reader::ReadError;
use oldham_scene::{NoPoses, SceneError};
use oldham_stability::AnalysisError;
use oldham_study::{JournalError, StudyError, Variation};
use oldham_web::ServerError;
use oldham_wheel::WheelError;
use serde_json::{Value, json};

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The model cannot be used.
    #[error("{} in the model", count(.0.iter().len() + .0.unlisted(), "problem"))]
    Model(Box<Problems>),
    /// A result file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A study failed.
    #[error("{}", told(.0))]
    Study(StudyError),
    /// The ranks of MPI did not come together.
    #[error(transparent)]
    Mpi(#[from] MpiError),
    /// An item of a paper is unknown or cannot be computed.
    #[error(transparent)]
    Paper(#[from] PaperError),
    /// A name that does not exist.
    #[error("there is no {what} `{name}`; {hint}")]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// The name.
        name: String,
        /// Names that exist.
        hint: String,
    },
    /// A result file without the text of its model.
    #[error("{path} does not say which model it is of; give a .parquet result or the model file itself", path = path.display())]
    NoModel {
        /// The result file.
        path: PathBuf,
    },
    /// A result without the poses of the nodes.
    #[error(transparent)]
    NoPoses(#[from] NoPoses),
    /// A figure could not be saved.
    #[error("{}{}", .0, elsewhere(.0))]
    Plot(#[from] PlotError),
    /// Modes of a mechanism that cannot move otherwise than prescribed.
    #[error(
        "there is no mode to draw in {path}: the mechanism has no degree of freedom, all its motions \
         are prescribed",
        path = path.display()
    )]
    NothingToDraw {
        /// Where the picture should go.
        path: PathBuf,
    },
    /// A picture could not be drawn.
    #[error(transparent)]
    Picture(#[from] SceneError),
    /// No compensation was found.
    #[error("no compensation of `{model}` can be offered; the reasons stand above")]
    Uncompensated {
        /// Title of the model.
        model: String,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// A file could not be written.
    #[error("{path} cannot be written: {reason}", path = path.display())]
    File {
        /// Where it should go.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The run failed.
    #[error("{fault}{}", kept(.results))]
    Run {
        /// What happened.
        fault: Fault,
        /// Results up to there.
        results: Option<PathBuf>,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// A checkpoint could not be written, which ended the run.
    #[error("stopped at t = {t} s, because the state could not be saved: {error}{}", kept(.results))]
    NotSaved {
        /// Where the run was ended.
        t: f64,
        /// Why it could not be saved.
        error: Box<CheckpointError>,
        /// Results up to there.
        results: Option<PathBuf>,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// The target is a model, or what the command reads.
    #[error("{path} is a model or an input of this command and is not overwritten; choose another file", path = path.display())]
    WouldReplace {
        /// The target.
        path: PathBuf,
    },
    /// More ranges than a picture has axes.
    #[error(
        "--over can be given once (a curve) or twice (a map), not {times} times; keep two, and set the others with --set"
    )]
    TooManyRanges {
        /// How often it was given.
        times: usize,
    },
    /// An option that only mechanisms have.
    #[error("{option} is for mechanisms, and `{model}` has none; leave it out")]
    ForMechanisms {
        /// The option.
        option: &'static str,
        /// Title of the model.
        model: String,
    },
    /// Some items of papers could not be computed.
    #[error("these of {total} items could not be computed: {names}")]
    Papers {
        /// Their names.
        names: String,
        /// Of how many.
        total: usize,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// Some runs of a sweep did not finish.
    #[error("{unfinished} of {total} runs did not finish; {index} says why", index = index.display())]
    Sweep {
        /// How many.
        unfinished: usize,
        /// Of how many.
        total: usize,
        /// The table of all runs.
        index: PathBuf,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// Runs that no shard has done yet.
    #[error(
        "{count} of {total} runs are missing: {missing}; the same command with --out {folder} instead of --join does them, \
         with --shard K/N a part of them",
        folder = folder.display()
    )]
    Missing {
        /// How many.
        count: usize,
        /// Of how many.
        total: usize,
        /// Their numbers.
        missing: String,
        /// The folder of the sweep.
        folder: PathBuf,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// A window without any time in it.
    #[error(
        "nothing lies between --from {from} and --to {to}: the results reach from {first} s to {last} s"
    )]
    EmptyWindow {
        /// As asked for.
        from: f64,
        /// As asked for.
        to: f64,
        /// The first time there is.
        first: f64,
        /// The last time there is.
        last: f64,
    },
    /// More curves than a picture can show.
    #[error(
        "{count} signals are more than the {limit} that a picture can show; choose some with --signals"
    )]
    TooManySignals {
        /// Asked for.
        count: usize,
        /// Shown at most.
        limit: usize,
    },
    /// A unit in which nothing is measured that is drawn.
    #[error("unknown unit `{unit}` for these signals; they are in {}", units.join(", "))]
    UnfitUnit {
        /// As it was asked for.
        unit: String,
        /// Those of the signals.
        units: Vec<String>,
    },
    /// No browser could be served.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A model without external inputs.
    #[error(
        "`{model}` has nothing to drive: give an input under [excitation] as {{ external = \"driver.push\" }}, \
         or look on with `oldham view`"
    )]
    NothingToDrive {
        /// Title of the model.
        model: String,
    },
    /// A wheel cannot be used.
    #[error(transparent)]
    Wheel(#[from] WheelError),
    /// An FMU cannot be used.
    #[error("{} {error}", path.display())]
    Fmu {
        /// The file.
        path: PathBuf,
        /// Why.
        error: PackageError,
    },
    /// An FMU does not do what it says.
    #[error("{path} does not do what it says; the problems stand above", path = path.display())]
    WrongFmu {
        /// The file.
        path: PathBuf,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// A worker without a host.
    #[error("this is no command for people: {0}")]
    NotAWorker(String),
    /// A model cannot be exported.
    #[error("{}{}", .0, replaced(.0))]
    Export(ExportError),
    /// The library of exported FMUs is not there.
    #[error(
        "{0}; build it in the sources of Oldham with `cargo build --release --package oldham-fmu-runtime`, then name it \
         with --runtime target/release/liboldham_fmu.so or copy it beside this program"
    )]
    NoRuntime(RuntimeError),
    /// A file of another format cannot be converted.
    #[error("{} {error}", path.display())]
    Import {
        /// The file.
        path: PathBuf,
        /// Why.
        error: oldham_import::ImportError,
    },
    /// A folder that is there already.
    #[error("{path} exists already; choose another name", path = path.display())]
    Taken {
        /// The folder.
        path: PathBuf,
    },
    /// A converted model that has problems.
    #[error("{path} is written, but cannot run as it is: `oldham check {path}` says what to mend", path = path.display())]
    Unusable {
        /// The model file.
        path: PathBuf,
        /// The answer for machines.
        answer: Box<Value>,
    },
    /// A benchmark lacks what it needs.
    #[error("the benchmark `{name}` cannot be made: {reason}")]
    Benchmark {
        /// The benchmark.
        name: &'static str,
        /// What it lacks, and what to do.
        reason: String,
    },
    /// A state to begin with, where a result is shown.
    #[error("`--from` is the state that a model begins with; a result begins as it was recorded")]
    FromOfResult,
    /// A page that shows a result cannot be made of a model that was not run.
    #[error("{path} is a model: run it first and give its result, or leave --out out to look on while it runs", path = path.display())]
    NotRecorded {
        /// The model file.
        path: PathBuf,
    },
    /// A defect of this program.
    #[error("an internal error: {0}; this is a defect of oldham, please report it")]
    Internal(String),
    /// The user ended the command.
    #[error("interrupted")]
    Interrupted,
    /// The user ended the run; the answer tells how far it came.
    #[error("interrupted")]
    RunInterrupted {
        /// The answer for machines.
        answer: Box<Value>,
    },
}

fn replaced(error: &ExportError) -> &'static str {
    match error {
        ExportError::Exists(_) => "; choose another --out, or add --force",
        _ => "",
    }
}

impl From<ExportError> for Failure {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Model(problems) => Self::Model(problems),
            other => Self::Export(other),
        }
    }
}

fn elsewhere(error: &PlotError) -> &'static str {
    match error {
        PlotError::Io { .. } => "; choose another --out",
        _ => "",
    }
}

fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// The nearest name, or some of those that exist.
fn hint<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> String {
    const SHOWN: usize = 10;
    let names: Vec<&str> = names.collect();
    if let Some(nearest) = oldham_model::nearest(name, names.iter().copied()) {
        return format!("did you mean `{nearest}`?");
    }
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().checked_sub(SHOWN) {
        Some(more @ 1..) => format!("there are {shown} and {more} more"),
        _ if names.is_empty() => "there is none".into(),
        _ => format!("there are: {shown}"),
    }
}

fn kept(results: &Option<PathBuf>) -> String {
    let note = |path: &PathBuf| format!("\nresults up to there: {}", path.display());
    results.as_ref().map(note).unwrap_or_default()
}

/// What a study says, and what helps on the command line.
fn told(error: &StudyError) -> String {
    let more = match error {
        StudyError::NothingToCompare { .. } => {
            ": vary a setting, such as --vary simulation.step=1e-3,5e-4, or compare with a result by \
             --reference FILE"
        }
        StudyError::OnlyCut { .. } => {
            "; compare with a result of smaller steps, by --reference FILE"
        }
        StudyError::NotConverged { .. } => {
            "; take a shorter simulation.duration or a smaller simulation.step, or give a result by \
             --reference FILE"
        }
        StudyError::NoMechanism { .. } => {
            "; for lumped models use `oldham poles` or `oldham stability`"
        }
        StudyError::TooManyPoles { .. } => "; `oldham stability` looks at larger models",
        StudyError::Budget { .. } => "; give less by --budget, or a slower --real-time",
        StudyError::Exists { .. } => "; use --force to replace it, or choose another --out",
        StudyError::Journal(JournalError::InUse { .. }) => {
            "; wait until it has ended, or choose another folder by --out"
        }
        StudyError::Journal(JournalError::OfAnother { .. }) => {
            "; choose another folder by --out, or replace them with --force"
        }
        StudyError::NoRange { key } => return format!("{error}: write {key}=LOW:HIGH"),
        StudyError::TooManyVariants { count, most } => {
            let count = count.map_or_else(|| "countless".into(), |count| count.to_string());
            return format!(
                "--vary asks for {count} combinations, and at most {most} are possible: leave out values"
            );
        }
        StudyError::NoScheme { text } => {
            return format!(
                "--scheme takes settings such as schedule.output_update=true, separated by spaces; \
                 `{text}` is none"
            );
        }
        StudyError::Unknown { name, known, .. } => {
            let hint = hint(name, known.iter().map(String::as_str));
            return format!("{error}; {hint}");
        }
        _ => "",
    };
    format!("{error}{more}")
}

impl From<StudyError> for Failure {
    fn from(error: StudyError) -> Self {
        match error {
            StudyError::Model(problems) => Self::Model(problems),
            StudyError::Cancelled => Self::Interrupted,
            StudyError::ReferenceFailed(ref fault) => {
                let answer = json!({"status": "failed", "error": error.to_string()});
                Self::Run {
                    fault: fault.clone(),
                    results: None,
                    answer: Box::new(answer),
                }
            }
            StudyError::Run(fault) => {
                let answer = json!({"status": "failed", "error": fault.to_string()});
                Self::Run {
                    fault,
                    results: None,
                    answer: Box::new(answer),
                }
            }
            other => Self::Study(other),
        }
    }
}

impl From<AnalysisError> for Failure {
    fn from(error: AnalysisError) -> Self {
        Self::Study(error.into())
    }
}

impl From<Problems> for Failure {
    fn from(problems: Problems) -> Self {
        Self::Model(Box::new(problems))
    }
}

impl Failure {
    /// A name that is not among those that exist.
    pub fn unknown<'n>(
        what: &'static str,
        name: &str,
        names: impl Iterator<Item = &'n str>,
    ) -> Self {
        Self::Unknown {
            what,
            name: name.into(),
            hint: hint(name, names),
        }
    }

    /// 1: ran but failed; 2: bad input, nothing was started; 130: interrupted.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Self::Interrupted | Self::RunInterrupted { .. } => ExitCode::from(130),
            _ if self.came_late() => ExitCode::from(1),
            _ => ExitCode::from(2),
        }
    }

    /// Whether the input was good and something was started.
    fn came_late(&self) -> bool {
        match self {
            Self::Paper(error) => !matches!(
                error,
                PaperError::Unknown { .. } | PaperError::Folder { .. }
            ),
            Self::Study(error) => matches!(
                error,
                StudyError::Finish(_)
                    | StudyError::Index { .. }
                    | StudyError::NotConverged { .. }
                    | StudyError::NotWritten { .. }
                    | StudyError::Solve { .. }
                    | StudyError::NotHeld { .. }
                    | StudyError::Trim(_)
            ),
            Self::Run { .. }
            | Self::Sweep { .. }
            | Self::Papers { .. }
            | Self::Missing { .. }
            | Self::NotSaved { .. }
            | Self::WrongFmu { .. }
            | Self::Internal(_)
            | Self::Unusable { .. }
            | Self::Plot(_)
            | Self::Picture(_)
            | Self::File { .. } => true,
            _ => false,
        }
    }

    /// Tells the user (on standard error) or the machine (on standard output).
    pub fn report(&self, json: bool, options: &KeyOptions) {
        match self {
            _ if json => say!("{:#}", self.as_json(options)),
            Self::Model(problems) => report_problems(problems, options),
            Self::Interrupted | Self::RunInterrupted { .. } => {}
            other => tell!("{}", fold(&format!("error: {}", short(other)), 2)),
        }
    }

    fn as_json(&self, options: &KeyOptions) -> Value {
        match self {
            Self::Model(problems) => json!({
                "status": "bad input",
                "error": self.to_string(),
                "problems": problems_as_json(problems, options),
            }),
            Self::Run { answer, .. }
            | Self::Sweep { answer, .. }
            | Self::Papers { answer, .. }
            | Self::Missing { answer, .. }
            | Self::NotSaved { answer, .. }
            | Self::RunInterrupted { answer }
            | Self::WrongFmu { answer, .. }
            | Self::Unusable { answer, .. }
            | Self::Uncompensated { answer, .. } => (**answer).clone(),
            Self::Interrupted => json!({"status": "interrupted"}),
            _ if self.came_late() => json!({"status": "failed", "error": short(self)}),
            _ => json!({"status": "bad input", "error": short(self)}),
        }
    }
}

/// Which option of the command line changed a key of the model, if not `--set`.
#[derive(Debug, Default)]
pub struct KeyOptions(pub Vec<(String, &'static str)>);

impl KeyOptions {
    /// Of a command that varies keys by this option.
    pub fn of<'v>(varied: impl IntoIterator<Item = &'v Variation>, option: &'static str) -> Self {
        let varied = varied.into_iter().map(|one| (one.key.clone(), option));
        Self(varied.chain([("with".to_owned(), "--with")]).collect())
    }

    /// The place of a problem, called by the option that was typed.
    fn named<'p>(&self, place: Location<'p>) -> Location<'p> {
        let key = place.text.split('=').next().unwrap_or_default();
        let option = self.0.iter().find(|(known, _)| known == key);
        match (place.name, option) {
            ("--set", Some((_, name))) => Location { name, ..place },
            _ => place,
        }
    }
}

/// A message that fits a terminal, whatever numbers and names stand in it.
fn short(failure: &Failure) -> String {
    oldham_model::readable(&failure.to_string())
}

fn problems_as_json(problems: &Problems, options: &KeyOptions) -> Vec<Value> {
    let problem = |problem: &oldham_model::Problem| {
        let place = options.named(problems.locate(problem));
        json!({
            "file": place.name,
            "line": place.line,
            "column": place.column,
            "message": problem.message,
            "help": problem.help,
        })
    };
    problems.iter().map(problem).collect()
}

fn report_problems(problems: &Problems, options: &KeyOptions) {
    let handler = GraphicalReportHandler::new().with_width(WIDTH);
    for problem in problems.iter() {
        let place = options.named(problems.locate(problem));
        let label = match problem.label.as_str() {
            "" => None,
            text => Some(text.to_owned()),
        };
        let excerpt = Excerpt::around(&place);
        let label = label.map(|text| escaped(&text));
        let span = LabeledSpan::new_primary_with_span(label, excerpt.marked.clone());
        let mut diagnostic = MietteDiagnostic::new(escaped(&problem.message))
            .with_severity(Severity::Error)
            .with_label(span);
        if let Some(help) = &problem.help {
            diagnostic = diagnostic.with_help(escaped(help));
        }
        let report = Report::new(diagnostic).with_source_code(excerpt);
        let mut text = String::new();
        // The handler writes into a string, which cannot fail.
        let _ = handler.render_report(&mut text, report.as_ref());
        text.push('\n');
        write_error_raw(&text);
    }
    let total = problems.iter().len() + problems.unlisted();
    let file = problems.source().name();
    tell!("{file}: {}; nothing was started", count(total, "problem"));
}
