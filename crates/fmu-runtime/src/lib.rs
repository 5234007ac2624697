//! The library inside exported FMUs: the functions of FMI 2.0 and 3.0 for co-simulation.
//!
//! An `instance` is a model that was read from the resources of its FMU, and its simulation. The functions of both
//! versions are thin: they look at pointers, call an instance, and tell what went wrong to the logger of whoever
//! imports the FMU. No panic leaves them; nothing is printed, written, or started.

use oldham_fmu_export::MARK;

/// By this the export knows the library of its own version.
#[used]
static VERSION: [u8; MARK.len()] = *MARK.as_bytes().first_chunk().expect("its own length");

mod border;
mod instance;
pub mod three;
pub mod two;
