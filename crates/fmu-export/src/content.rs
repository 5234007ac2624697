//! The model with everything that it reads, as resources.

use std::path::{Component, Path, PathBuf};

use oldham_model::Model;

use crate::export::ExportError;

/// What the model file is called among the resources.
const MODEL: &str = "model.toml";

/// Files of an FMU below `resources`.
pub struct Content {
    /// Their paths and what is in them.
    pub files: Vec<(PathBuf, Vec<u8>)>,
    /// The model file among them.
    pub model: PathBuf,
}

impl Content {
    /// All that a model reads. Files above the folder of the model keep their place relative to it.
    pub fn of(model: &Model) -> Result<Self, ExportError> {
        let source = model.source();
        let folder = Path::new(source.name()).parent().unwrap_or(Path::new(""));
        let mut files = Vec::new();
        for (path, text) in source.included() {
            files.push((PathBuf::from(path), text.as_bytes().to_vec()));
        }
        for data in model.data_files() {
            let path = PathBuf::from(&data.path);
            let bytes = std::fs::read(folder.join(&path)).map_err(|error| ExportError::Data {
                path: data.path.clone(),
                error,
            })?;
            if !files.iter().any(|(other, _)| *other == path) {
                files.push((path, bytes));
            }
        }
        let mut depth = 0;
        for (path, _) in &files {
            if path.is_absolute() {
                return Err(ExportError::Absolute(path.display().to_string()));
            }
            let up = path.components().filter(|one| *one == Component::ParentDir);
            depth = depth.max(up.count());
        }
        // Deep enough that all paths stay inside.
        let home: PathBuf = (0..depth).map(|level| format!("level{level}")).collect();
        let placed = files
            .into_iter()
            .map(|(path, bytes)| (plain(&home.join(path)), bytes));
        let mut files: Vec<(PathBuf, Vec<u8>)> = placed.collect();
        let model = home.join(MODEL);
        files.push((model.clone(), source.file_text().as_bytes().to_vec()));
        Ok(Self { files, model })
    }
}

/// A path without steps upwards.
fn plain(path: &Path) -> PathBuf {
    let mut found = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => {
                found.pop();
            }
            Component::CurDir => {}
            other => found.push(other),
        }
    }
    found
}
