//! Compensators: gains that put the poles of a co-simulation where those of the monolithic model
//! are, and the structural alternative.
//!
//! I. Tamellin, D. Richiedei, B. Rodriguez, F. Gonzalez, "Eigenstructure assignment and
//! compensation of explicit co-simulation problems", Mechanism and Machine Theory 176 (2022)
//! 105004.
//!
//! A [`Site`] is an interface where a force goes one way and a motion comes back. An
//! [`Architecture`] says what may be fed back there. [`assign`] finds gains on a continuous model
//! of the exchange or on the recurrence of the simulation that runs, and offers only what that
//! recurrence confirms.

mod assignment;
mod conditions;
mod response;
mod rows;
mod search;
mod site;
mod structural;
mod targets;

pub use assignment::{AssignedMode, Build, BuildFailure, Design, DesignError, Domain, assign};
pub use conditions::{Conditions, Ranks};
pub use rows::{Action, Architecture, Candidate, Feedback};
pub use site::{Site, SiteError};
pub use structural::{CouplingLaw, Origin, confirm};
pub use targets::Target;
