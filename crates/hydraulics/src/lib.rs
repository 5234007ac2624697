//! Hydraulic circuits as subsystems of a co-simulation.
//!
//! A [`Circuit`] has a fluid, a supply (pump and tank at constant pressure) and any number of
//! actuators, each a cylinder with two chambers behind a control valve. [`Hydraulics`] simulates
//! it. Equations, and the static equilibrium, are those of
//!
//! > A. Peiret, F. González, J. Kövecses, M. Teichmann: Co-simulation of multibody systems with
//! > contact using reduced interface models. J. Comput. Nonlinear Dynam. 15 (2020) 041001, Sect. 5.1.
//!
//! > M. Pikuliński, P. Malczyk, A. J. Rodríguez, F. González: Data-driven prediction of subsystem
//! > dynamics in the explicit co-simulation of multibody systems. Mechanics Based Design of
//! > Structures and Machines 54 (2026) 2541259, Sect. 3.3.
//!
//! with limits where those equations end: a floor of cavitation, end stops, a spool that stays in
//! its housing.
//!
//! Sides: pressure in chamber 1 pulls the actuator together, pressure in chamber 2 pushes it apart.
//! A force is positive when the actuator pushes.
//!
//! ```
//! use oldham_hydraulics::{Actuator, Circuit, Cylinder, Fluid, Hydraulics, Supply, Valve};
//!
//! let cylinder = Cylinder::new([65e-4; 2], 0.442, 0.5).friction(1e5, 0.0);
//! let circuit = Circuit {
//!     fluid: Fluid::new(850.0, 6.53e-10, -1.19e-18),
//!     supply: Supply { pump: 7.6e6, tank: 1e5 },
//!     actuators: vec![Actuator::holding("lift", cylinder, Valve::new(5e-4, 0.67), 8829.0)],
//!     micro_steps: 60,
//! };
//! let hydraulics = Hydraulics::new(&circuit)?;
//! assert!((hydraulics.neutral(0) - 0.454346).abs() < 1e-6);
//! assert!((hydraulics.pressures(0)[0] - 3.17085e6).abs() < 10.0);
//! # Ok::<(), oldham_hydraulics::CircuitErrors>(())
//! ```

mod chamber;
mod circuit;
mod cylinder;
mod element;
mod equations;
mod equilibrium;
mod error;
mod fluid;
mod format;
mod linear;
mod network;
mod part;
mod rest;
mod sdirk;
mod spool;
mod subsystem;
mod valve;

pub use circuit::{Actuator, Circuit, Rest, Supply};
pub use cylinder::{Cylinder, Passive};
pub use element::{Accumulator, Chambers, Element, Line, Motor};
pub use equilibrium::Equilibrium;
pub use error::{CircuitError, CircuitErrors};
pub use fluid::Fluid;
pub use format::{circuits, register};
pub use network::{Named, Network, Place, Volume};
pub use part::NetworkPart;
pub use rest::{Load, Resting, resting, resting_pressures};
pub use spool::{SpeedControl, Spool};
pub use subsystem::Hydraulics;
pub use valve::{Centre, Relief, SafetyValves, Valve};
