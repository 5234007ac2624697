//! Packages of System Structure and Parameterization (SSP) as model files.
//!
//! An SSP is an archive: a system of components that are FMUs, its connections, and sets of parameters. SSP 1.0 and 2.0
//! are read. [`read`] flattens the system and writes it as the text of a model file, whose FMUs lie in the package still:
//! `system.ssp#resources/part.fmu`. What cannot be said there is a problem at its place in the system structure; nothing
//! that changes results is passed over.

mod affine;
mod flat;
mod structure;
mod values;
mod write;

use std::path::Path;

use oldham_model::{Problem, Problems, Source};

/// The description of a system in a package, unless another one is chosen.
const DEFAULT: &str = "SystemStructure.ssd";
/// Bytes that a description or a set of parameters may have.
const LARGEST: u64 = 64 << 20;

/// A system as a model file.
#[derive(Clone, Debug)]
pub struct System {
    /// The text of the model file.
    pub text: String,
    /// The name of the system.
    pub name: String,
    /// The version of the format, as it is written.
    pub version: String,
    /// How many FMUs it has.
    pub parts: usize,
    /// How many of their inputs are connected.
    pub connections: usize,
    /// What a reader should know.
    pub notes: Vec<String>,
}

/// Whether a path is that of a package, of a description in one, or of a description beside its files.
pub fn is_system(path: &Path) -> bool {
    let ends = |ending: &str| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        extension.is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
    };
    ends("ssp") || ends("ssd")
}

/// Reads the system of a package (`system.ssp`, or `system.ssp#variant.ssd`), or of a description beside its files. The paths of
/// FMUs in the text begin with `seen_from`: the way from the folder of the model file to that of the package; it is empty or
/// ends with a stroke.
pub fn read(path: &Path, seen_from: &str) -> Result<System, Problems> {
    let shown = path.display().to_string();
    let failed = |message: String| {
        let help = "give the path of an SSP or of the .ssd file of an unpacked one";
        let problem = Problem::new(0..0, message).help(help);
        Problems::of(&Source::new(shown.clone(), ""), vec![problem])
    };
    let file = path.file_name().and_then(|name| name.to_str());
    let file = file.ok_or_else(|| failed("its name is not text".into()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let (inside, document) = match oldham_fmi::inside(file) {
        Some((package, document)) => (format!("{package}#"), document.to_owned()),
        None if path.extension().is_some_and(|end| end == "ssd") => {
            (String::new(), file.to_owned())
        }
        None => (format!("{file}#"), DEFAULT.to_owned()),
    };
    let text = oldham_fmi::read_text(&folder.join(format!("{inside}{document}")), LARGEST);
    let text = text.map_err(|error| failed(format!("the system cannot be read: {error}")))?;
    let source = Source::new(format!("{shown} ({document})"), text.as_str());
    let mut reader = structure::Reader::new(folder);
    let wrong = |reader: structure::Reader| Problems::of(&source, reader.problems);
    let Some(structure) = reader.document(&text, &inside) else {
        return Err(wrong(reader));
    };
    let flat = flat::flatten(structure.system, &mut reader);
    if !reader.problems.is_empty() {
        return Err(wrong(reader));
    }
    let name = match structure.name.is_empty() {
        true => file.to_owned(),
        false => structure.name,
    };
    let head = write::Head {
        file,
        name: &name,
        version: &structure.version,
        text: &structure.text,
        experiment: structure.experiment,
        seen_from,
    };
    Ok(System {
        text: write::model(&head, &flat, &reader.notes),
        parts: flat.parts.len(),
        connections: flat.wires.len(),
        version: structure.version,
        notes: reader.notes,
        name,
    })
}

/// The same as the source of a model that lies beside the package.
pub fn source(path: &Path) -> Result<Source, Problems> {
    Ok(Source::new(
        path.display().to_string(),
        read(path, "")?.text,
    ))
}
