//! Compensation of the delay of an exchange: linear feedback around a subsystem.
//!
//! A [`Compensated`] subsystem is another one inside, with rows that add forces to its inputs and amend
//! what it sends; to the engine it is a subsystem like any other. What it hears of others besides the
//! connected inputs are further inputs, what it sends instead of an output is a further output.
//!
//! Reference: I. Tamellin, D. Richiedei, B. Rodriguez, F. Gonzalez, "Eigenstructure assignment and
//! compensation of explicit co-simulation problems", Mechanism and Machine Theory, 2022.

mod compensated;
mod compensator;
mod feedback;
mod kinematic;
mod law;
mod predictor;

pub use compensated::Compensated;
pub use kinematic::Kinematic;
pub use law::{Compensation, CompensatorRow, RemoteSignal, Signal};
