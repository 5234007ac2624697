//! A model file with changes to it, which a study reads again and again.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use oldham_model::{Extensions, Model, Overrides, Problems, Source, Template};
use oldham_results::Table;

/// What stands in a result before the path of a file that its model includes.
pub(crate) const INCLUDED: &str = "include.";

/// Keys with their values, such as `schedule.output_update` and `true`; a later one wins.
pub type Settings = Vec<(String, String)>;

/// A model file and changes to it.
#[derive(Clone, Debug)]
pub struct ModelFile {
    origin: Origin,
    settings: Settings,
    /// Kinds of things that are not the format's own.
    extensions: Extensions,
}

/// The kinds that come with Oldham besides those of the format: vehicles, hydraulic networks, FMUs, programs.
pub fn shipped_kinds() -> &'static Extensions {
    static KINDS: OnceLock<Extensions> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds = oldham_kinds::native().clone();
        oldham_fmi::register(&mut kinds);
        oldham_process::register(&mut kinds);
        kinds
    })
}

#[derive(Clone, Debug)]
enum Origin {
    Path(PathBuf),
    Text(Source),
}

impl ModelFile {
    /// The file at a path, as it is: a model file, or a package of SSP.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            origin: Origin::Path(path.into()),
            settings: Settings::new(),
            extensions: shipped_kinds().clone(),
        }
    }

    /// A model given as text; `name` is what messages call it.
    pub fn of_text(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            origin: Origin::Text(Source::new(name, text)),
            settings: Settings::new(),
            extensions: shipped_kinds().clone(),
        }
    }

    /// The model that a result says it is of, if it does; `path` is that of the result.
    pub fn of_result(table: &Table, path: &Path) -> Option<Self> {
        let metadata = table.metadata();
        if metadata.model.is_empty() {
            return None;
        }
        let settings = metadata.entries.iter().filter_map(|(key, value)| {
            let key = key.strip_prefix("set.")?;
            Some((key.to_owned(), value.clone()))
        });
        let mut source = Source::new(path.display().to_string(), metadata.model.as_str());
        for (key, text) in &metadata.entries {
            if let Some(path) = key.strip_prefix(INCLUDED) {
                source = source.including(path, text);
            }
        }
        Some(Self {
            origin: Origin::Text(source),
            settings: settings.collect(),
            extensions: shipped_kinds().clone(),
        })
    }

    /// The same, with these elements, joints, sensors, subsystems and predictors instead of the
    /// [shipped](shipped_kinds) ones.
    pub fn with_extensions(mut self, extensions: Extensions) -> Self {
        self.extensions = extensions;
        self
    }

    /// The same with a setting or parameter changed.
    pub fn set(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.settings.push((key.into(), value.to_string()));
        self
    }

    /// The same with further changes.
    pub fn with(&self, changes: &[(String, String)]) -> Self {
        let mut file = self.clone();
        file.settings.extend_from_slice(changes);
        file
    }

    /// The same with these changes and no others.
    pub fn with_only(&self, settings: Settings) -> Self {
        Self {
            settings,
            ..self.clone()
        }
    }

    /// All changes.
    pub fn settings(&self) -> &[(String, String)] {
        &self.settings
    }

    /// Reads the model.
    pub fn read(&self) -> Result<Model, Problems> {
        let overrides = Overrides(self.settings.clone());
        let extensions = &self.extensions;
        match &self.origin {
            Origin::Path(path) if oldham_ssp::is_system(path) => {
                Model::of(oldham_ssp::source(path)?, &overrides, extensions)
            }
            Origin::Path(path) => Model::read_with(path, &overrides, extensions),
            Origin::Text(source) => Model::of(source.clone(), &overrides, extensions),
        }
    }

    /// Where the model file lies, if it is one.
    pub fn path(&self) -> Option<&Path> {
        match &self.origin {
            Origin::Path(path) if !oldham_ssp::is_system(path) => Some(path),
            _ => None,
        }
    }

    /// Reads another text in the place of the file, with what that includes.
    pub(crate) fn read_text(&self, known: &Source, text: &str) -> Result<Model, Problems> {
        let mut source = Source::new(known.name(), text);
        for (path, text) in known.included() {
            source = source.including(path, text);
        }
        Model::of(source, &Overrides(self.settings.clone()), &self.extensions)
    }

    /// Reads the file once, for many values of its parameters.
    pub fn template(&self) -> Result<Template, Problems> {
        let overrides = Overrides(self.settings.clone());
        let extensions = &self.extensions;
        match &self.origin {
            Origin::Path(path) if oldham_ssp::is_system(path) => {
                Template::of(oldham_ssp::source(path)?, &overrides, extensions)
            }
            Origin::Path(path) => Template::read_with(path, &overrides, extensions),
            Origin::Text(source) => Template::of(source.clone(), &overrides, extensions),
        }
    }
}
