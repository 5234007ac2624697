//! Models as Functional Mock-up Units of FMI 2.0 and 3.0 for co-simulation.
//!
//! An FMU is an archive: the [`Manifest`] says what of the model it shows, a description in XML says the same to
//! other tools, and the model with everything that it reads lies in `resources`. The library in it is the same for
//! all of them: `oldham-fmu-runtime`.

mod content;
mod description;
mod export;
mod manifest;
mod runtime;
mod terminals;
mod units;

pub use export::{ExportError, ExportOptions, export, unpack};
pub use manifest::{MANIFEST, Manifest, Role, TIME, Variable, Version};
pub use runtime::{MARK, RUNTIME, RuntimeError, installed_with, read_runtime};
