//! Functional Mock-up Units as subsystems of a co-simulation.
//!
//! An FMU is an archive: a [description](Description) of its variables and a native library that steps them. A
//! [`Package`] is one that is unpacked, an [`FmuPart`] an instance of it that takes part in a co-simulation. FMI 2.0
//! and 3.0 are known, and of them co-simulation. In model files an FMU is a section `[fmu.NAME]` ([`register`]).
//!
//! An FMU is native code of a third party: it runs in the process of Oldham, with the same rights.

mod channel;
mod description;
mod format;
mod library;
mod package;
mod part;
mod reader;
mod units;

pub use description::{Causality, CoSimulation, Description, Kind, Variability, Variable, Version};
pub use format::register;
pub use package::{Package, PackageError, pack};
pub use part::{FmuPart, Setting};
pub use units::{Conversion, SiUnit};
