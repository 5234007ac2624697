//! Controllers: what measures and commands, between the parts that have mass.
//!
//! A [`Controller`] is described by expressions: states with their rates, signals, delays and
//! outputs. Ready blocks (a PID with limits, transfer functions, state spaces, rate limits) add
//! states and signals of their own to it. A [`Control`] is a controller that is being simulated:
//! continuous, or sampled at its own period with outputs that are held between the samples.
//!
//! A continuous controller whose expressions are affine is advanced by its matrix exponential,
//! others by a Runge–Kutta pair of fifth order with error control.
//!
//! ```
//! use oldham_control::{Control, Controller, Timing};
//! use oldham_cosim::{Subsystem, Unit};
//! use oldham_expression::Expression;
//!
//! // A lag of 0.1 s behind a measured angle.
//! let mut lag = Controller::default();
//! lag.input("angle", Unit::RADIAN);
//! lag.state("slow", 0.0, Expression::parse("(angle - slow)/0.1", &["angle", "slow"])?);
//! lag.output("slow", Unit::RADIAN, Expression::parse("slow", &["slow"])?);
//! let lag = Control::new(&lag, Timing { start: 0.0, step: 0.01 })?;
//! assert!(!lag.ports().has_feedthrough());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod adaptive;
mod blocks;
mod controller;
mod equations;
mod error;
mod history;
mod propagator;
mod subsystem;

pub use blocks::{Linear, Pid, RateLimit, TransferFunction};
pub use controller::{Controller, Timing};
pub use error::ControlError;
pub use subsystem::Control;
