//! Functional Mock-up Units as subsystems of a co-simulation.
//!
//! An FMU is an archive: a [description](Description) of its variables and a native library that steps them. A
//! [`Package`] is one that is unpacked, an [`FmuPart`] an instance of it that takes part in a co-simulation. FMI 2.0
//! and 3.0 are known, and of them co-simulation. In model files an FMU is a section `[fmu.NAME]` ([`register`]).
//!
//! An FMU is native code of a third party. It runs in a process of its own where the program says how such processes are
//! started ([`workers_are`], [`serve`]); in the process of the program, with its rights, where it does not, or where the
//! model asks for it.

mod anew;
mod bundle;
mod channel;
mod description;
mod exchange;
mod format;
mod library;
mod package;
mod part;
mod plan;
mod reader;
mod runner;
mod session;
mod terminals;
mod units;
mod validate;
mod worker;
pub mod xml;

pub use bundle::{Bundle, BundleError, Role};
pub use description::{
    Causality, CoSimulation, Description, Dimension, Experiment, Feedthrough, Interface, Kind,
    ModelExchange, Variability, Variable, Version,
};
pub use format::register;
pub use package::{Package, PackageError, inside, pack, read_text};
pub use part::{FmuPart, Options, Setting, Where};
pub use units::{Conversion, SiUnit};
pub use validate::{Validation, validate};
pub use worker::{serve, workers_are};
