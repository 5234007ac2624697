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

/// A table or figure of a paper.
#[derive(Clone, Copy)]
pub struct Item {
    /// Key of the paper.
    pub paper: &'static str,
    /// Such as `table-2` or `fig-9`.
    pub item: &'static str,
    /// What it shows.
    pub title: &'static str,
    pub(crate) compute: fn(&mut Report) -> Result<(), PaperError>,
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
            compute,
        }
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
            files: Vec::new(),
            out: out.into(),
            seconds,
        };
        (self.compute)(&mut report)?;
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
    /// Here.
    pub computed: f64,
    /// SI unit.
    pub unit: &'static str,
    /// Why they differ, or what else to know.
    pub note: String,
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
        computed: f64,
        unit: &'static str,
        note: &str,
    ) {
        self.rows.push(ReportRow {
            name: name.into(),
            printed: printed.into(),
            computed,
            unit,
            note: note.into(),
        });
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
    /// A study failed.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A picture could not be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
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
    Ok(Model::parse(
        text,
        "the paper's model",
        &Overrides(set.collect()),
    )?)
}
