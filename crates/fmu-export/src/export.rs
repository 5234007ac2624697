//! From a model to an archive.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use oldham_cosim::{Column, write_whole};
use oldham_model::{AloneError, FedInput, Model, Overrides, Problems, Template, matching};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipWriter};

use crate::content::Content;
use crate::description::{IDENTIFIER, Texts, description};
use crate::manifest::{MANIFEST, Manifest, Role, Variable, Version};
use crate::terminals::{TERMINALS, terminals};

/// What an FMU shows.
#[derive(Clone, Debug, PartialEq)]
pub struct ExportOptions {
    /// The version of the interface.
    pub version: Version,
    /// The part that becomes the FMU, if it is not the whole model.
    pub part: Option<String>,
    /// Columns that are outputs, by name or the beginning of names; all that parts send if none are given.
    pub outputs: Vec<String>,
    /// Parameters that can be set; all if none are given.
    pub parameters: Vec<String>,
    /// Replace a file that is there.
    pub force: bool,
}

/// Why a model cannot be exported.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The model cannot be simulated.
    #[error(transparent)]
    Model(Box<Problems>),
    /// A part that cannot stand by itself.
    #[error(transparent)]
    Alone(#[from] AloneError),
    /// A part with code of others.
    #[error(
        "`{name}` is of the kind `{kind}`, which an FMU cannot hold: it is code from elsewhere; export the rest of the \
         model, and couple both where they run"
    )]
    Foreign {
        /// The part.
        name: String,
        /// Its kind.
        kind: String,
    },
    /// A part that keeps its state to itself.
    #[error("`{0}` cannot save its state, which an FMU promises; leave it out of what is exported")]
    NoState(String),
    /// A file that the model reads.
    #[error("{path} cannot be read: {error}")]
    Data {
        /// Its path.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// A file that the FMU would have to read elsewhere.
    #[error("the model reads {0}, which an FMU cannot take along; name it relative to the model")]
    Absolute(String),
    /// The model reads something that is not among its files.
    #[error(
        "packed by itself the model cannot be read, so that it reads something that is not taken along:\n{0}"
    )]
    Incomplete(Box<Problems>),
    /// An output or parameter that is not there.
    #[error("there is no {what} `{name}`{}", near(.nearest))]
    Unknown {
        /// What was looked for.
        what: &'static str,
        /// As written.
        name: String,
        /// One that is there.
        nearest: Option<String>,
    },
    /// A parameter on which it depends what the model consists of.
    #[error(
        "`{0}` says what the model consists of, so that it cannot be set in an FMU; set it before the export"
    )]
    Structural(String),
    /// The archive is there.
    #[error("{} already exists", .0.display())]
    Exists(PathBuf),
    /// The archive cannot be written.
    #[error("{} cannot be written: {error}", .path.display())]
    Write {
        /// The archive.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

fn near(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    }
}

impl From<Problems> for ExportError {
    fn from(problems: Problems) -> Self {
        Self::Model(Box::new(problems))
    }
}

/// Writes an FMU of a model with these settings; `library` is the runtime. Gives what it shows.
pub fn export(
    model: &Model,
    settings: &[(String, String)],
    options: &ExportOptions,
    library: &[u8],
    path: &Path,
) -> Result<Manifest, ExportError> {
    if !options.force && path.exists() {
        return Err(ExportError::Exists(path.to_owned()));
    }
    let kinds = oldham_kinds::native();
    for (name, kind) in model.foreign_subsystems() {
        if !kinds.subsystem_kinds().any(|known| known == kind) {
            let (name, kind) = (name.to_owned(), kind.to_owned());
            return Err(ExportError::Foreign { name, kind });
        }
    }
    let content = Content::of(model)?;
    let template = packed(&content, settings, model)?;
    let alone;
    let model = match &options.part {
        Some(part) => {
            alone = of_part(model, part)?;
            &alone
        }
        None => model,
    };
    let mut manifest = Manifest {
        program: format!("Oldham {}", env!("CARGO_PKG_VERSION")),
        name: model.name().into(),
        model: content.model.display().to_string(),
        settings: settings.to_vec(),
        part: options.part.clone(),
        token: String::new(),
        start: model.start(),
        step: model.step(),
        variables: variables(model, &template, options)?,
    };
    manifest.token = token(&content, &manifest);
    let texts = Texts {
        about: model.description().unwrap_or_default(),
        duration: model.duration(),
    };
    let described = description(&manifest, &texts, options.version);
    let written = archive(&content, &manifest, &described, options.version, library);
    let failed = |error| ExportError::Write {
        path: path.to_owned(),
        error,
    };
    let bytes = written.map_err(failed)?;
    write_whole(path, &bytes).map_err(failed)?;
    Ok(manifest)
}

/// A part by itself, which begins with what the others send it at the start.
fn of_part(model: &Model, part: &str) -> Result<Model, ExportError> {
    let simulation = model.simulation()?;
    let columns = simulation.columns();
    let start = |input: &FedInput| {
        let value = |name: &String| {
            let place = columns.iter().position(|column| column.name == *name)?;
            simulation.value(place)
        };
        let sent: Option<Vec<f64>> = input.columns.iter().map(value).collect();
        Some(input.received(&sent?))
    };
    Ok(model.alone(part, start)?)
}

/// The model as the FMU will read it: in a folder with nothing else.
fn packed(
    content: &Content,
    settings: &[(String, String)],
    model: &Model,
) -> Result<Template, ExportError> {
    let failed = |error| ExportError::Write {
        path: std::env::temp_dir(),
        error,
    };
    let folder = tempfile::tempdir().map_err(failed)?;
    for (path, bytes) in &content.files {
        let path = folder.path().join(path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        std::fs::write(&path, bytes).map_err(failed)?;
    }
    let overrides = Overrides(settings.to_vec());
    let file = folder.path().join(&content.model);
    let incomplete = |problems: Problems| ExportError::Incomplete(Box::new(problems));
    let template =
        Template::read_with(&file, &overrides, oldham_kinds::native()).map_err(incomplete)?;
    let read = template.with(&[]).map_err(incomplete)?;
    let mut simulation = read.simulation()?;
    let without = simulation.part_without_state();
    if let Ok(Some(part)) = without {
        return Err(ExportError::NoState(part));
    }
    debug_assert_eq!(read.steps(), model.steps());
    Ok(template)
}

fn variables(
    model: &Model,
    template: &Template,
    options: &ExportOptions,
) -> Result<Vec<Variable>, ExportError> {
    let simulation = model.simulation()?;
    let columns = simulation.columns();
    let mut found = Vec::new();
    for input in model.external_inputs() {
        let unit_of = |name: &str| {
            let column = columns.iter().find(|column| column.name == name);
            column.map_or_else(|| "1".to_owned(), |column| column.unit.to_string())
        };
        // Outputs of the same connection point may begin with the same words.
        let received = columns.iter().enumerate();
        let received = received.filter(|(place, _)| simulation.value(*place).is_none());
        let own: Vec<&str> = received
            .map(|(_, column)| column.name.as_str())
            .filter(|name| *name == input.name || name.starts_with(&format!("{}.", input.name)))
            .collect();
        for (component, start) in input.initial.iter().enumerate() {
            let name = match own.get(component) {
                Some(name) if own.len() == input.initial.len() => (*name).to_owned(),
                _ if input.initial.len() == 1 => input.name.clone(),
                _ => format!("{}.{}", input.name, component + 1),
            };
            found.push(Variable {
                unit: unit_of(&name),
                name,
                start: *start,
                derivatives: Vec::new(),
                role: Role::Input {
                    dial: input.name.clone(),
                    component,
                },
            });
        }
    }
    let inputs = found.len();
    let is_sent = |place: usize| simulation.value(place).is_some();
    let is_input = |name: &str| found[..inputs].iter().any(|input| input.name == name);
    let mut chosen = Vec::new();
    match options.outputs.is_empty() {
        true => chosen.extend((0..columns.len()).filter(|&place| is_sent(place))),
        false => {
            for name in &options.outputs {
                let places: Vec<usize> = matching(columns, name)
                    .into_iter()
                    .filter(|&place| is_sent(place))
                    .collect();
                if places.is_empty() {
                    let sent = columns
                        .iter()
                        .enumerate()
                        .filter(|(place, _)| is_sent(*place));
                    let known = sent.map(|(_, column)| column.name.as_str());
                    return Err(ExportError::Unknown {
                        what: "output",
                        name: name.clone(),
                        nearest: oldham_model::nearest(name, known).map(Into::into),
                    });
                }
                chosen.extend(places);
            }
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    chosen.retain(|&place| !is_input(&columns[place].name));
    for place in chosen {
        found.push(Variable {
            name: columns[place].name.clone(),
            unit: columns[place].unit.to_string(),
            start: simulation.value(place).unwrap_or_default(),
            derivatives: derivatives(columns, place, is_sent),
            role: Role::Output,
        });
    }
    for name in parameters(model, template, options)? {
        // A parameter that is called like a signal would be two variables of one name.
        let is_taken = found.iter().any(|other| other.name == name);
        if let (false, Some(start)) = (is_taken, model.parameter(&name)) {
            found.push(Variable {
                name,
                unit: String::new(),
                start,
                derivatives: Vec::new(),
                role: Role::Parameter,
            });
        }
    }
    Ok(found)
}

/// Names of the columns with the derivatives of a column: of a motion `x`, `v` and `a` go together.
fn derivatives(columns: &[Column], place: usize, is_sent: impl Fn(usize) -> bool) -> Vec<String> {
    const MOTION: [&str; 3] = ["x", "v", "a"];
    let mut found = Vec::new();
    let Some((stem, last)) = columns[place].name.rsplit_once('.') else {
        return found;
    };
    let higher = MOTION.iter().skip_while(|name| **name != last).skip(1);
    let mut unit = columns[place].unit.to_string();
    for name in higher {
        let name = format!("{stem}.{name}");
        unit = per_second(&unit);
        let is_next = |&at: &usize| {
            columns[at].name == name && columns[at].unit.to_string() == unit && is_sent(at)
        };
        if (0..columns.len()).find(is_next).is_none() {
            break;
        }
        found.push(name);
    }
    found
}

/// The unit of a rate, as columns of motions have it.
fn per_second(unit: &str) -> String {
    match unit.strip_suffix("/s") {
        Some(unit) => format!("{unit}/s2"),
        None => format!("{unit}/s"),
    }
}

fn parameters(
    model: &Model,
    template: &Template,
    options: &ExportOptions,
) -> Result<Vec<String>, ExportError> {
    if options.parameters.is_empty() {
        let all = model
            .parameters()
            .filter(|name| template.has_parameter(name));
        return Ok(all.map(Into::into).collect());
    }
    for name in &options.parameters {
        if model.parameter(name).is_none() {
            return Err(ExportError::Unknown {
                what: "parameter",
                name: name.clone(),
                nearest: oldham_model::nearest(name, model.parameters()).map(Into::into),
            });
        }
        if !template.has_parameter(name) {
            return Err(ExportError::Structural(name.clone()));
        }
    }
    Ok(options.parameters.clone())
}

/// A digest of everything that the FMU holds, in the form of a GUID.
fn token(content: &Content, manifest: &Manifest) -> String {
    let plain = serde_json::to_vec(manifest).expect("a manifest is plain data");
    let files = content.files.iter().flat_map(|(path, bytes)| {
        let name = path.display().to_string().into_bytes();
        [name, bytes.clone()]
    });
    let mut halves = [0xcbf2_9ce4_8422_2325_u64, 0x6c62_272e_07bb_0142];
    for bytes in files.chain([plain]) {
        for byte in bytes {
            for (half, factor) in halves
                .iter_mut()
                .zip([0x0000_0100_0000_01b3, 0x0000_0001_0000_01b5])
            {
                *half = (*half ^ u64::from(byte)).wrapping_mul(factor);
            }
        }
    }
    let digits = format!("{:016x}{:016x}", halves[0], halves[1]);
    let part = |range| digits.get(range).unwrap_or_default();
    format!(
        "{{{}-{}-{}-{}-{}}}",
        part(0..8),
        part(8..12),
        part(12..16),
        part(16..20),
        part(20..32)
    )
}

/// Unpacks an FMU into a folder that is there.
pub fn unpack(path: &Path, folder: &Path) -> io::Result<()> {
    let mut archive = zip::ZipArchive::new(std::fs::File::open(path)?)?;
    Ok(archive.extract(folder)?)
}

fn archive(
    content: &Content,
    manifest: &Manifest,
    description: &str,
    version: Version,
    library: &[u8],
) -> io::Result<Vec<u8>> {
    let platform = match version {
        Version::Two => "linux64",
        Version::Three => "x86_64-linux",
    };
    let terminals = terminals(manifest);
    let manifest = serde_json::to_vec_pretty(manifest).expect("a manifest is plain data");
    let mut archive = ZipWriter::new(io::Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(CompressionMethod::Deflated);
    let mut add = |name: String, bytes: &[u8]| -> io::Result<()> {
        archive.start_file(name, options)?;
        archive.write_all(bytes)
    };
    add("modelDescription.xml".into(), description.as_bytes())?;
    add(format!("binaries/{platform}/{IDENTIFIER}.so"), library)?;
    add(format!("resources/{MANIFEST}"), &manifest)?;
    if let (Version::Three, Some(terminals)) = (version, terminals) {
        add(TERMINALS.into(), terminals.as_bytes())?;
    }
    for (path, bytes) in &content.files {
        add(format!("resources/{}", path.display()), bytes)?;
    }
    Ok(archive.finish()?.into_inner())
}
