//! A model file that is read once, for many values of its parameters.

use std::path::Path;

use crate::extensions::Extensions;
use crate::model::Model;
use crate::overrides::Overrides;
use crate::problem::{Findings, Problems};
use crate::source::Source;
use crate::{check, format, read};

/// A file that was read, from which models with other parameters are made without reading it
/// again: what maps and searches need.
pub struct Template {
    source: Source,
    file: format::File,
    /// Parameters on which it depends what the file contains.
    structural: Vec<String>,
    extensions: Extensions,
}

impl Template {
    /// Reads a file, with some of its values replaced, and further kinds of things.
    pub fn read_with(
        path: &Path,
        overrides: &Overrides,
        extensions: &Extensions,
    ) -> Result<Self, Problems> {
        read::content(path).and_then(|source| Self::of(source, overrides, extensions))
    }

    /// Reads a text; `name` is what messages call it.
    pub fn parse(text: &str, name: &str, overrides: &Overrides) -> Result<Self, Problems> {
        Self::of(Source::new(name, text), overrides, &Extensions::new())
    }

    /// Reads a text with the files that it includes, and further kinds of things.
    pub fn of(
        mut source: Source,
        overrides: &Overrides,
        extensions: &Extensions,
    ) -> Result<Self, Problems> {
        let placed = overrides.place(&mut source);
        let mut findings = Findings::default();
        let parsed = read::parse(&source, &placed, extensions, &mut findings);
        findings.finish(&source)?;
        let parsed = parsed.expect("a file without problems");
        Ok(Self {
            file: parsed.file,
            structural: parsed.structural,
            source,
            extensions: extensions.clone(),
        })
    }

    /// Whether the file has a parameter of this name that can be changed without reading it again. One
    /// that says how often something is repeated cannot.
    pub fn has_parameter(&self, name: &str) -> bool {
        let is_structural = self.structural.iter().any(|known| known == name);
        !is_structural && self.file.parameters.names().any(|known| known == name)
    }

    /// The model with these parameters.
    pub fn with(&self, parameters: &[(&str, f64)]) -> Result<Model, Problems> {
        let mut findings = Findings::default();
        let (file, source) = (&self.file, &self.source);
        let spec = check::check(file, source, parameters, &self.extensions, &mut findings);
        findings.finish(&self.source)?;
        Ok(Model {
            source: self.source.clone(),
            spec: spec.expect("a plan without problems"),
        })
    }
}
