//! The table of all runs of a sweep.

use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use super::journal::{SweepRun, SweepStatus};
use super::merit::Merit;

/// The file's name in the folder of a sweep.
const INDEX: &str = "index.csv";

/// A sweep that is over, or was interrupted.
#[derive(Clone, Debug)]
pub struct SweepReport {
    /// The varied settings, in the order in which they were given.
    pub keys: Vec<String>,
    /// What was computed of every run.
    pub merits: Vec<Merit>,
    /// All runs that are over, in order.
    pub runs: Vec<SweepRun>,
    /// The numbers of those that are not.
    pub missing: Vec<usize>,
    /// How many there are in all, or in the shard.
    pub total: usize,
    /// How many there are with those of all shards.
    pub combinations: usize,
    /// Runs that were there already, and were checked.
    pub kept: usize,
    /// Whether it was ended before all runs were.
    pub is_interrupted: bool,
    /// The table of all runs.
    pub index: PathBuf,
}

impl SweepReport {
    /// How many runs ended so.
    pub fn count(&self, status: SweepStatus) -> usize {
        self.runs.iter().filter(|run| run.status == status).count()
    }

    /// The runs that did not finish.
    pub fn unfinished(&self) -> impl Iterator<Item = &SweepRun> {
        self.runs
            .iter()
            .filter(|run| run.status != SweepStatus::Finished)
    }

    /// The path of the table in a folder.
    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(INDEX)
    }

    /// Writes the table: it is there as a whole, or as it was.
    pub(super) fn write(&self) -> io::Result<()> {
        let draft = self.index.with_extension("csv.draft");
        std::fs::write(&draft, self.csv())?;
        std::fs::rename(&draft, &self.index)
    }

    fn csv(&self) -> String {
        let mut text = String::from("run");
        for key in &self.keys {
            let _ = write!(text, ",{}", cell(key));
        }
        text += ",status,time,energy.final,energy.spurious";
        for merit in &self.merits {
            let _ = write!(text, ",{}", cell(&merit.to_string()));
        }
        text += ",results,message\n";
        let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
        for run in &self.runs {
            let _ = write!(text, "{}", run.run);
            for key in &self.keys {
                let value = run.settings.iter().find(|(known, _)| known == key);
                let _ = write!(text, ",{}", cell(value.map_or("", |(_, value)| value)));
            }
            let (time, energy) = (number(run.time), number(run.energy));
            let _ = write!(text, ",{},{time},{energy}", run.status.word());
            let _ = write!(text, ",{}", number(run.spurious));
            for place in 0..self.merits.len() {
                let value = run.merits.get(place).copied().flatten();
                let _ = write!(text, ",{}", number(value));
            }
            let results = run.results.as_deref().unwrap_or_default();
            let message = run.message.as_deref().unwrap_or_default();
            let _ = writeln!(text, ",{},{}", cell(results), cell(message));
        }
        text
    }
}

/// A cell as CSV has it (RFC 4180), in one line.
fn cell(text: &str) -> String {
    let line = text.replace(['\n', '\r'], " ");
    match line.contains([',', '"']) {
        true => format!("\"{}\"", line.replace('"', "\"\"")),
        false => line,
    }
}

impl Serialize for SweepReport {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            runs: &'a [SweepRun],
            merits: Vec<String>,
            total: usize,
            combinations: usize,
            missing: &'a [usize],
            kept: usize,
            finished: usize,
            failed: usize,
            refused: usize,
            disturbed: usize,
            index: String,
        }
        let data = Data {
            runs: &self.runs,
            merits: self.merits.iter().map(ToString::to_string).collect(),
            total: self.total,
            combinations: self.combinations,
            missing: &self.missing,
            kept: self.kept,
            finished: self.count(SweepStatus::Finished),
            failed: self.count(SweepStatus::Failed),
            refused: self.count(SweepStatus::Refused),
            disturbed: self.count(SweepStatus::Disturbed),
            index: self.index.display().to_string(),
        };
        data.serialize(serializer)
    }
}
