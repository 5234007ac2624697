//! Machines of other formats as model files: URDF and MJCF.
//!
//! A reader makes a `machine::Machine` of a file, `write` makes text of that. What has no counterpart is listed in
//! the [`Report`]; nothing is passed over in silence. The physics of the result is what the model format says.

mod content;
mod error;
mod inertia;
mod machine;
mod meshes;
mod mjcf;
mod names;
mod pose;
mod report;
mod standing;
mod urdf;
mod write;
mod xml;

use std::path::{Path, PathBuf};

pub use error::ImportError;
pub use report::{Counts, Note, NoteKind, Report};

/// Largest accepted file in bytes.
pub const MAX_BYTES: u64 = 16 << 20;

/// How a file is converted.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Whether the root of a URDF tree moves freely; else it is fixed to the ground.
    pub free: bool,
    /// Whether collision shapes come into contact: with each other's robots, the ground and what stands on it.
    pub contacts: bool,
    /// Whether every joint with a limit of its effort gets a servo, beside those with a transmission.
    pub servos: bool,
    /// Density in kg/m³ by which bodies that a URDF gives no inertia get one from their shapes.
    pub density: Option<f64>,
    /// The folder from which meshes may be read; by default the folder above that of the file.
    pub root: Option<PathBuf>,
    /// The folder in which the model file will be: paths are written relative to it.
    pub target: PathBuf,
}

/// A converted file.
#[derive(Clone, Debug)]
pub struct Converted {
    /// The text of the model file.
    pub model: String,
    /// What became of it.
    pub report: Report,
}

/// Converts a file of URDF or MJCF, which its first element tells apart.
pub fn convert(path: &Path, options: &Options) -> Result<Converted, ImportError> {
    let text = oldham_files::read_text(path, MAX_BYTES);
    let text = text.map_err(|error| ImportError::new(format!("cannot be read: {error}")))?;
    convert_text(&text, path, options)
}

/// Converts the text of a file; its path tells where meshes are.
pub fn convert_text(text: &str, path: &Path, options: &Options) -> Result<Converted, ImportError> {
    let whole = mjcf::expanded(text, path)?;
    let document = xml::parse(whole.as_deref().unwrap_or(text))?;
    let root = document.root_element();
    let mut report = Report::default();
    let meshes = meshes::Meshes::beside(path, options)?;
    let (mut machine, meshes) = match root.tag_name().name() {
        "robot" => urdf::read(root, options, meshes, &mut report)?,
        "mujoco" | "mujocoinclude" => mjcf::read(root, meshes, &mut report)?,
        other => {
            let message = format!(
                "begins with <{other}>: it is neither URDF, which begins with <robot>, nor MJCF, which begins with <mujoco>"
            );
            return Err(ImportError::at(root, message));
        }
    };
    machine.weld_massless(&mut report);
    if options.contacts
        && options.free
        && report.format == "URDF"
        && let Some(lift) = machine.stand(&meshes)
    {
        report.assumed(format!(
            "the robot begins {lift:.4} m higher, just above the ground"
        ));
    }
    let source = path.file_name().unwrap_or_default().to_string_lossy();
    let model = write::model(&machine, &meshes, &source, options, &mut report)?;
    Ok(Converted { model, report })
}
