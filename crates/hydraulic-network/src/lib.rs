//! Hydraulic networks as subsystems of a co-simulation.
//!
//! A [`Network`] has volumes of a compressible [fluid](oldham_hydraulics::Fluid) and places of constant pressure (tanks),
//! and [elements](Element) between them; chambers of cylinders belong to volumes. Unknown are the density of each volume, the flow in each line and the oil in
//! each accumulator; pressures are coupled by all elements, so that a step solves for all of them at once
//! ([`NetworkPart`]). Statics find the pressures that hold a machine. In model files a network is a section `[hydraulic_network.NAME]` ([`register`]).
//!
//! Flows count as volume at zero pressure: what leaves one volume enters another one, and mass is conserved to rounding.

mod circuit_format;
mod circuit_source;
mod element;
mod equations;
mod format;
mod network;
mod part;
mod rest;
mod source;

pub use circuit_source::circuits;
pub use element::{Accumulator, Chambers, Element, Line, Motor};
pub use format::register;
pub use network::{Named, Network, Place, Volume};
pub use part::NetworkPart;
pub use rest::{Load, Resting, resting, resting_pressures};
