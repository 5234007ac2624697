//! The library inside exported FMUs: the functions of FMI 2.0 and 3.0 for co-simulation.
//!
//! An `instance` is a model that was read from the resources of its FMU, and its simulation. The functions of both
//! versions are thin: they look at pointers, call an instance, and tell what went wrong to the logger of whoever
//! imports the FMU. No panic leaves them; nothing is printed, written, or started.

mod border;
mod instance;
pub mod three;
pub mod two;
