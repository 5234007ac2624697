//! What a table or figure is, and what comes of computing it.

use std::path::{Path, PathBuf};

use oldham_cosim::Fault;
use oldham_model::{Model, Overrides, Problems};
use oldham_results::plot::{Figure, PlotError};
use oldham_stability::AnalysisError;
use oldham_stability::compensate::SiteError;
use oldham_study::StudyError;
use oldham_web::ServerError;
use serde::Serialize;

use crate::claims::CLAIMS;
use crate::computed::Computed;
use crate::source::{source, sources};

/// Seconds by item, measured once on two cores.
const TIMES: &str = include_str!("../../../papers/times.csv");

/// A table or figure of a paper.
#[derive(Clone, Copy)]
pub struct Item {
    /// Key of the paper.
    pub paper: &'static str,
    /// Such as `table-2` or `fig-9`.
    pub item: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Whether the paper has nothing of the kind.
    pub is_extension: bool,
    pub(crate) compute: fn(&mut Report) -> Result<(), PaperError>,
}

/// Finds out whether files can be written into a folder, which may have to be made, before anything is computed. Leaves nothing.
pub fn check_folder(folder: &Path) -> Result<(), PaperError> {
    // Without a slash at the end, which hides that a file is there.
    let plain: PathBuf = folder.components().collect();
    let made = |path: &&Path| path.as_os_str().is_empty() || path.exists();
    let there = plain.ancestors().find(made).unwrap_or(&plain);
    let there = match there.as_os_str().is_empty() {
        true => Path::new("."),
        false => there,
    };
    match oldham_cosim::Draft::of(&there.join(".oldham-papers")) {
        Ok(_) => Ok(()),
        Err(source) => Err(PaperError::Folder {
            path: folder.into(),
            source,
        }),
    }
}

impl Item {
    pub(crate) const fn new(
        paper: &'static str,
        item: &'static str,
        title: &'static str,
        compute: fn(&mut Report) -> Result<(), PaperError>,
    ) -> Self {
        Self {
            paper,
            item,
            title,
            is_extension: false,
            compute,
        }
    }

    /// One that the paper does not have.
    pub(crate) const fn extension(self) -> Self {
        Self {
            is_extension: true,
            ..self
        }
    }

    /// Paper and item, such as `fontana/fig-9`.
    pub fn name(&self) -> String {
        format!("{}/{}", self.paper, self.item)
    }

    /// About how long it takes on two cores, in seconds: for estimates.
    pub fn seconds(&self) -> f64 {
        self.seconds_with(None)
    }

    /// The same where runs by the clock on the wall take so many seconds each.
    pub fn seconds_with(&self, by_the_clock: Option<f64>) -> f64 {
        if let (true, Some(each)) = (self.item == "real-time", by_the_clock) {
            return 8.0 * each;
        }
        let mut lines = TIMES.lines().filter_map(|line| line.split_once(','));
        let found = lines.find(|(name, _)| *name == self.name());
        found
            .and_then(|(_, seconds)| seconds.parse().ok())
            .unwrap_or(1.0)
    }

    /// Computes it; pictures go to `out`.
    pub fn compute(&self, out: &Path) -> Result<Report, PaperError> {
        self.compute_for(out, None)
    }

    /// The same; what runs by the clock on the wall does so for this many seconds.
    pub fn compute_for(&self, out: &Path, seconds: Option<f64>) -> Result<Report, PaperError> {
        let mut report = Report {
            paper: self.paper,
            item: self.item,
            title: self.title,
            rows: Vec::new(),
            statements: Vec::new(),
            verdict: Verdict::Agrees,
            files: Vec::new(),
            out: out.into(),
            seconds,
        };
        (self.compute)(&mut report)?;
        let name = self.name();
        for claim in CLAIMS.iter().filter(|claim| claim.item == name) {
            let (holds, note) = (claim.judge)(&report);
            report.statement(claim.text, holds, note);
        }
        report.verdict = match self.is_extension {
            true => Verdict::Extension,
            false => report.judged(),
        };
        Ok(report)
    }
}

/// A computed item.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Key of the paper.
    pub paper: &'static str,
    /// Such as `table-2`.
    pub item: &'static str,
    /// What it shows.
    pub title: &'static str,
    /// Printed and computed values.
    pub rows: Vec<ReportRow>,
    /// What the paper says about it in words, and whether that holds.
    pub statements: Vec<Statement>,
    /// What comes of the comparison.
    pub verdict: Verdict,
    /// Pictures that were drawn.
    pub files: Vec<PathBuf>,
    #[serde(skip)]
    out: PathBuf,
    #[serde(skip)]
    seconds: Option<f64>,
}

/// A value as it is printed and as it comes out.
#[derive(Clone, Debug, Serialize)]
pub struct ReportRow {
    /// What it is.
    pub name: String,
    /// In the paper, if it is there.
    pub printed: Option<f64>,
    /// Where in the paper.
    pub place: Option<&'static str>,
    /// Here.
    pub computed: Computed,
    /// SI unit.
    pub unit: &'static str,
    /// Whether both are the same; nothing where nothing is printed.
    pub agreement: Option<Agreement>,
    /// Why they differ, or what else to know.
    pub note: String,
    /// What the last printed digit stands for; zero where nothing is printed.
    #[serde(skip)]
    pub(crate) last_digit: f64,
}

/// How a printed and a computed value compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Agreement {
    /// Within 2 % or the last printed digit.
    Agrees,
    /// They agree because the computation was made so.
    ByConstruction,
    /// They do not; the note says why.
    Differs,
    /// Times of another machine, which are not compared.
    Clock,
}

/// What a paper says in words.
#[derive(Clone, Debug, Serialize)]
pub struct Statement {
    /// In our words.
    pub text: &'static str,
    /// Where in the paper.
    pub place: Option<&'static str>,
    /// Whether it holds here.
    pub holds: bool,
    /// Why not, or how it shows.
    pub note: String,
}

/// What comes of an item.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// What is printed comes out.
    Agrees,
    /// Some of it does not, for these reasons.
    Differs(Vec<String>),
    /// Only times of another machine are printed.
    Clock,
    /// Nothing is printed that could be compared.
    Unjudged,
    /// The paper has nothing of the kind.
    Extension,
}

/// How far a value may be from a printed one.
const TOLERANCE: f64 = 0.02;

impl ReportRow {
    fn compared(&self, last_digit: f64) -> Option<Agreement> {
        let printed = self.printed?;
        let apart = (self.computed.number() - printed).abs();
        let most = f64::max(TOLERANCE * printed.abs(), last_digit * (1.0 + 1e-9));
        Some(match apart <= most {
            true => Agreement::Agrees,
            false => Agreement::Differs,
        })
    }

    /// It agrees because the computation was made so.
    pub(crate) fn by_construction(&mut self) {
        self.agreement = self.printed.map(|_| Agreement::ByConstruction);
    }

    /// The note is the reason of a difference: where there is none, it goes.
    pub(crate) fn if_different(&mut self) {
        if self.agreement == Some(Agreement::Agrees) {
            self.note.clear();
        }
    }

    /// It is a time of another machine.
    pub(crate) fn by_the_clock(&mut self) {
        self.agreement = self.printed.map(|_| Agreement::Clock);
    }
}

impl Report {
    /// How long runs by the clock on the wall should take, if somebody said so.
    pub(crate) fn seconds(&self) -> Option<f64> {
        self.seconds
    }

    pub(crate) fn row(
        &mut self,
        name: impl Into<String>,
        printed: impl Into<Option<f64>>,
        computed: impl Into<Computed>,
        unit: &'static str,
        note: &str,
    ) -> &mut ReportRow {
        let mut row = ReportRow {
            name: name.into(),
            printed: printed.into(),
            place: None,
            computed: computed.into(),
            unit,
            agreement: None,
            note: note.into(),
            last_digit: 0.0,
        };
        let source = row
            .printed
            .and_then(|_| source(self.paper, self.item, &row.name));
        row.place = source.map(|source| source.place);
        row.last_digit = source.map_or(0.0, |source| source.last_digit());
        row.agreement = row.compared(row.last_digit);
        self.rows.push(row);
        self.rows.last_mut().expect("one was pushed")
    }

    /// Something that the paper says in words.
    pub(crate) fn statement(&mut self, text: &'static str, holds: bool, note: impl Into<String>) {
        let source = source(self.paper, self.item, text);
        self.statements.push(Statement {
            text,
            place: source.map(|source| source.place),
            holds,
            note: note.into(),
        });
    }

    /// The number of a row that was written before.
    pub(crate) fn value(&self, name: &str) -> f64 {
        let row = self.rows.iter().find(|row| row.name == name);
        row.map_or(f64::NAN, |row| row.computed.number())
    }

    fn judged(&self) -> Verdict {
        let differs = |row: &&ReportRow| row.agreement == Some(Agreement::Differs);
        let rows = self.rows.iter().filter(differs).map(|row| row.note.clone());
        let statements = self.statements.iter().filter(|statement| !statement.holds);
        let mut reasons: Vec<String> = Vec::new();
        for reason in rows.chain(statements.map(|statement| statement.note.clone())) {
            if !reasons.contains(&reason) {
                reasons.push(reason);
            }
        }
        if !reasons.is_empty() {
            return Verdict::Differs(reasons);
        }
        let mut judged = self.rows.iter().filter_map(|row| row.agreement).peekable();
        if judged.peek().is_none() && self.statements.is_empty() {
            return Verdict::Unjudged;
        }
        match judged.all(|one| one == Agreement::Clock) && self.statements.is_empty() {
            true => Verdict::Clock,
            false => Verdict::Agrees,
        }
    }

    /// What is wrong with the list of sources as far as this item goes: rows that are not in it, values that differ from
    /// it, lines of it that no row is about.
    pub fn wrong_sources(&self) -> Vec<String> {
        let name = format!("{}/{}", self.paper, self.item);
        let mut wrong = Vec::new();
        for row in self.rows.iter().filter(|row| row.printed.is_some()) {
            let listed =
                source(self.paper, self.item, &row.name).and_then(|source| source.number());
            if listed != row.printed {
                wrong.push(format!(
                    "{name}, {}: {listed:?} in the list, {:?} here",
                    row.name, row.printed
                ));
            }
        }
        let texts = self.statements.iter().map(|statement| statement.text);
        for text in texts.filter(|text| source(self.paper, self.item, text).is_none()) {
            wrong.push(format!("{name}: no source of `{text}`"));
        }
        for source in sources().iter().filter(|source| source.item == name) {
            let is_row = self
                .rows
                .iter()
                .any(|row| row.printed.is_some() && row.name == source.row);
            let is_statement = self
                .statements
                .iter()
                .any(|statement| statement.text == source.row);
            if !is_row && !is_statement {
                wrong.push(format!("{name}: `{}` is listed but not shown", source.row));
            }
        }
        wrong
    }

    pub(crate) fn picture(&mut self, figure: &Figure) -> Result<(), PaperError> {
        let path = self.out.join(format!("{}-{}.svg", self.paper, self.item));
        figure.save(&path)?;
        self.files.push(path);
        Ok(())
    }
}

/// Why an item could not be computed.
#[derive(Debug, thiserror::Error)]
pub enum PaperError {
    /// No such paper or item.
    #[error("there is no item `{name}`; there are: {}", .known.join(", "))]
    Unknown {
        /// As asked for.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A model of ours does not read.
    #[error("a model of the paper does not read: {0}")]
    Model(Box<Problems>),
    /// A model could not be analysed.
    #[error(transparent)]
    Analysis(#[from] AnalysisError),
    /// An interface cannot be compensated.
    #[error(transparent)]
    Site(#[from] SiteError),
    /// The conditions for the gains could not be set up.
    #[error("the continuous model has no conditions for gains at a wanted pole")]
    NoConditions,
    /// A run failed.
    #[error(transparent)]
    Run(#[from] Fault),
    /// There is no server for viewers.
    #[error(transparent)]
    Server(#[from] ServerError),
    /// A viewer could not connect.
    #[error("a viewer could not connect: {0}")]
    Viewer(#[from] std::io::Error),
    /// Pictures cannot be written there.
    #[error("cannot write into the folder {}: {source}; choose another one", .path.display())]
    Folder {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The page cannot be written.
    #[error("cannot write {}: {source}", .path.display())]
    Page {
        /// Where to.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A study failed.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A picture could not be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl PaperError {
    /// Whether it is about writing files: then other items come to the same end.
    pub(crate) fn is_about_writing(&self) -> bool {
        matches!(
            self,
            Self::Folder { .. } | Self::Page { .. } | Self::Plot(PlotError::Io { .. })
        )
    }
}

impl From<Problems> for PaperError {
    fn from(problems: Problems) -> Self {
        Self::Model(Box::new(problems))
    }
}

/// Keys and values that replace those of a model.
pub(crate) type Settings = Vec<(&'static str, String)>;

/// Reads one of our models with changed numbers.
pub(crate) fn model(text: &str, set: &[(&'static str, f64)]) -> Result<Model, PaperError> {
    let set: Settings = set
        .iter()
        .map(|(key, value)| (*key, value.to_string()))
        .collect();
    model_with(text, &set)
}

/// Reads one of our models with changed settings.
pub(crate) fn model_with(text: &str, set: &Settings) -> Result<Model, PaperError> {
    let set = set
        .iter()
        .map(|(key, value)| ((*key).into(), value.clone()));
    Ok(Model::parse_with(
        text,
        "the paper's model",
        &Overrides(set.collect()),
        oldham_study::shipped_kinds(),
    )?)
}
