//! A predictor that learns the other side of an interface while the co-simulation runs.
//!
//! [`Dmd`] fits x(k+1) = A x(k) + B u(k) + c to what a subsystem received (x) and what it sent (u)
//! over a sliding window, and answers with the next x instead of the last one. Dynamic mode
//! decomposition with control, in the form of
//!
//! > M. Pikuliński, P. Malczyk, A. J. Rodríguez, F. González: Data-driven prediction of subsystem
//! > dynamics in the explicit co-simulation of multibody systems. Mechanics Based Design of
//! > Structures and Machines 54 (2026) 2541259. <https://doi.org/10.1080/15397734.2025.2541259>
//!
//! with these differences:
//!
//! - What is learned is the *deviation from kinematics*: where a velocity (and an acceleration) is
//!   exchanged with a position, a Taylor step is the model before any data, and remains the model
//!   in every direction that the data say nothing about. The paper starts from a plain hold.
//! - The window is factorised by orthogonal rotations that only ever *add* rows, see
//!   `sliding.rs`. The paper's recursion (Eq. 12–19; Eq. 19 as printed lacks the outgoing pair)
//!   inverts normal equations and removes rows by subtraction, which fails on data of deficient
//!   rank.
//! - Numerical rank is truncated in scaled coordinates, so that a fit of few pairs does not depend
//!   on units.
//! - Window length and delay embedding can be chosen while running, by one-step prediction error.
//! - A jump of that error drops the past; a model that is worse than a hold, or than the line through the last two snapshots, is
//!   not used.
//!
//! [`PlainDmd`] is the predictor as printed, for comparison.
//!
//! ```
//! use oldham_cosim::{InputPort, Ports, Predictor, Quantity, Unit};
//! use oldham_dmd::{Dmd, Settings};
//!
//! let mut ports = Ports::new();
//! let motion = ports.add_input("motion", Quantity::Translation);
//! ports.add_output("force", Quantity::Scalar(Unit::NEWTON));
//! let mut dmd = Dmd::new(&ports, &Settings::automatic(50, &ports))?;
//! for k in 0..20 {
//!     let t = 0.1 * f64::from(k);
//!     dmd.sent(t, &[0.0]);
//!     dmd.receive(motion, t, &[t.sin(), t.cos(), -t.sin()]);
//! }
//! let mut inputs = [0.0; 3];
//! dmd.predict(2.0, None, &mut inputs);
//! assert!((inputs[0] - 2f64.sin()).abs() < 1e-9);
//! # Ok::<(), oldham_dmd::DmdError>(())
//! ```

pub mod bench;

mod candidate;
mod contest;
mod dmd;
mod error;
mod factor;
mod forecast;
mod frames;
mod kinematics;
mod learner;
mod monitor;
mod plain;
mod rounding;
mod selection;
mod settings;
mod skill;
mod sliding;
mod solver;

pub use dmd::{Dmd, LinearModel};
pub use error::DmdError;
pub use monitor::{Monitor, Report};
pub use plain::{PlainDmd, PlainSettings};
pub use settings::{Controls, LONGEST_WINDOW, ModelSize, Received, Settings};
