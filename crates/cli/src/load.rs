//! From a path and overrides to a model.

use std::path::{Path, PathBuf};

use oldham_model::Model;
use oldham_study::ModelFile;

use crate::args::ModelArgs;
use crate::failure::Failure;
use crate::tell;

/// The model file with its overrides.
pub fn file(arguments: &ModelArgs) -> ModelFile {
    ModelFile::new(&arguments.model).with(&arguments.changes.settings())
}

/// Reads the model with its overrides.
pub fn model(arguments: &ModelArgs) -> Result<Model, Failure> {
    told(&arguments.model, &arguments.changes.settings())
}

/// Reads a model with the given overrides, and tells which of its words have other names now.
pub fn told(path: &Path, set: &[(String, String)]) -> Result<Model, Failure> {
    let model = ModelFile::new(path).with(set).read()?;
    if let Some(note) = model.former_words() {
        tell!("note: {}: {note}", path.display());
    }
    Ok(model)
}

/// The name of a file beside which things are put by default: its stem, in this folder.
pub fn beside(model: &Path, suffix: &str) -> PathBuf {
    let stem = model.file_stem().unwrap_or(model.as_os_str());
    let mut name = stem.to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// A path as text, for JSON: what is not Unicode in it is replaced, as where it is printed.
pub fn shown(path: &Path) -> String {
    path.display().to_string()
}
