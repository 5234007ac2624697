//! Hydraulics as subsystems of a co-simulation: networks of volumes, valves, pumps, lines, accumulators, motors and cylinders.
//!
//! A [`Network`] has volumes of a compressible [fluid](Fluid) and places of constant pressure (tanks), and
//! [elements](Element) between them; chambers of cylinders belong to volumes. Unknown are the density of each volume, the flow in
//! each line and the oil in each accumulator; pressures are coupled by all elements, so that a step solves for all of them at once
//! ([`NetworkPart`]). [Statics](resting) find the pressures that hold a machine, and the positions of spools.
//!
//! Flows count as volume at zero pressure: what leaves one volume enters another one, and mass is conserved to rounding. A
//! volume may count [its own](Balance::Volume) instead, as equations are mostly printed.
//!
//! A [`Circuit`] is a short way to write a network: a fluid, a supply (pump and tank at constant pressure) and any number of
//! actuators, each a cylinder with two chambers behind a control valve. Its equations, and the static equilibrium, are those of
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
//! In model files these are sections `[hydraulics.NAME]` and `[hydraulic_network.NAME]` ([`register`]).
//!
//! Sides: pressure in chamber 1 pulls the actuator together, pressure in chamber 2 pushes it apart.
//! A force is positive when the actuator pushes.
//!
//! ```
//! use oldham_hydraulics::{Actuator, Circuit, Cylinder, Fluid, Supply, Valve};
//!
//! let cylinder = Cylinder::new([65e-4; 2], 0.442, 0.5).friction(1e5, 0.0);
//! let circuit = Circuit {
//!     fluid: Fluid::new(850.0, 6.53e-10, -1.19e-18),
//!     supply: Supply { pump: 7.6e6, tank: 1e5 },
//!     actuators: vec![Actuator::holding("lift", cylinder, Valve::new(5e-4, 0.67), 8829.0)],
//!     micro_steps: 60,
//! };
//! let lift = circuit.at_rest()?[0];
//! assert!((lift.spool - 0.454346).abs() < 1e-6);
//! assert!((lift.pressures[0] - 3.17085e6).abs() < 10.0);
//! # Ok::<(), oldham_hydraulics::CircuitErrors>(())
//! ```

mod circuit;
mod cylinder;
mod element;
mod energy;
mod equations;
mod error;
mod fluid;
mod format;
mod linear;
mod network;
mod part;
mod ports;
mod rest;
mod sdirk;
mod spool;
mod stage;
mod valve;

pub use circuit::{Actuator, Circuit, Equilibrium, Rest, Supply};
pub use cylinder::{Cylinder, Passive};
pub use element::{Accumulator, Chambers, Element, Line, Motor, Opening, Orifice};
pub use error::{CircuitError, CircuitErrors};
pub use fluid::Fluid;
pub use format::{circuits, register};
pub use network::{Balance, Named, Network, Place, Received, Sent, SpoolEdges, SpoolValve, Volume};
pub use part::NetworkPart;
pub use rest::{Holding, Load, Resting, resting, resting_pressures};
pub use spool::{SpeedControl, Spool};
pub use valve::{Centre, Edge, Relief, SafetyValves, Valve};
