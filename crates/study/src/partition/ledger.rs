//! Measured costs, kept beside the model: by what the model says, and by machine.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{CostTable, PartitionError};
use crate::run::digest;
use crate::{ModelFile, StudyError};
use oldham_model::Model;

/// All that was measured of a model file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CostLedger {
    /// By mechanism, digest of the model without its cut, and machine.
    costs: BTreeMap<String, CostTable>,
}

/// Where costs of a model are kept: beside its file.
pub fn ledger_path(model: &Path) -> PathBuf {
    model.with_extension("costs.json")
}

impl CostLedger {
    /// What is kept; nothing if the file is not there or is not what it should be.
    pub fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    /// The costs of a mechanism on this machine.
    pub fn get(&self, file: &ModelFile, model: &Model, mechanism: &str) -> Option<&CostTable> {
        self.costs.get(&entry(file, model, mechanism))
    }

    /// Keeps the costs of a mechanism on this machine.
    pub fn put(&mut self, file: &ModelFile, model: &Model, mechanism: &str, costs: CostTable) {
        self.costs.insert(entry(file, model, mechanism), costs);
    }

    /// Writes the file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), StudyError> {
        let text = serde_json::to_string_pretty(self).expect("a table of numbers") + "\n";
        let aside = path.with_extension(format!("json.{}", std::process::id()));
        let written = std::fs::write(&aside, text).and_then(|()| std::fs::rename(&aside, path));
        written.map_err(|error| {
            let _ = std::fs::remove_file(&aside);
            let (path, reason) = (path.to_owned(), error.to_string());
            PartitionError::NotKept { path, reason }.into()
        })
    }
}

/// What an entry goes by. Where the mechanism is cut does not matter.
fn entry(file: &ModelFile, model: &Model, mechanism: &str) -> String {
    let cut = format!("multibody.{mechanism}.cut");
    let others = file
        .settings()
        .iter()
        .filter(|(key, _)| !key.starts_with(&cut));
    let file = file.with_only(others.cloned().collect());
    format!("{mechanism} {} {}", digest(&file, model, true), machine())
}

/// What times depend on besides the model: the processor and how the program was built.
fn machine() -> String {
    let information = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = information.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let built = if cfg!(debug_assertions) {
        ", with checks"
    } else {
        ""
    };
    format!(
        "{} with {cores} cores{built}",
        name.unwrap_or_else(|| std::env::consts::ARCH.into())
    )
}
