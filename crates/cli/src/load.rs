//! From a path and overrides to a model.

use std::path::{Path, PathBuf};

use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_study::{ModelFile, TrimmedFile};

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

/// A model as it begins with a trimmed state, or with its own.
pub struct Begun {
    /// The model.
    pub model: Model,
    /// Where it comes from.
    pub file: ModelFile,
    /// The state.
    pub start: Option<TrimmedFile>,
}

impl Begun {
    /// The model with its overrides, and with what belongs to the state. That the state is of another model or of other parameters is
    /// noted.
    pub fn with(
        path: &Path,
        set: &[(String, String)],
        from: Option<&Path>,
    ) -> Result<Self, Failure> {
        let model = told(path, set)?;
        let file = ModelFile::new(path).with(set);
        let Some(from) = from else {
            return Ok(Self {
                model,
                file,
                start: None,
            });
        };
        let start = TrimmedFile::read(from)?;
        let file = start.applied(&file);
        let model = file.read()?;
        if !start.is_of(&file, &model) {
            tell!(
                "note: {} was found for another model or for other parameters: what begins with it is not a steady motion",
                from.display()
            );
        }
        Ok(Self {
            model,
            file,
            start: Some(start),
        })
    }

    /// Its simulation, in the state.
    pub fn simulation(&self) -> Result<Simulation, Failure> {
        Ok(match &self.start {
            Some(start) => start.simulation(&self.model)?,
            None => self.model.simulation()?,
        })
    }
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
