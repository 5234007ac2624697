//! Lumped-parameter mechanics in one coordinate direction.
//!
//! A [`Spec`] describes nodes, the elements between them, and ports; [`Lumped::new`] checks it and
//! makes a subsystem of it; [`merge`] joins several coupled descriptions into one, the monolithic
//! monolithic model to which a co-simulation is compared.
//!
//! Nodes that live in another subsystem appear as *boundary nodes*: their motion arrives through input
//! ports, and the force exerted on them leaves through output ports.

mod assembly;
mod energy;
mod equations;
mod error;
mod integrator;
mod kinks;
mod law;
mod linear;
mod lu;
mod merge;
mod plant;
mod sparse;
mod spec;
mod subsystem;
mod tangents;
mod validate;
mod wiring;
mod words;

pub use error::SpecError;
pub use merge::{MergeError, MergedConnection, MergedPart, merge};
pub use oldham_cosim::StageInputs;
pub use spec::{
    BoundaryIndex, BoundaryMotion, BoundarySpec, Coordinates, Element, ElementKind, Integrator,
    LAW_VARIABLES, LOAD_VARIABLES, NodeIndex, NodeRef, NodeSpec, PortKind, PortSpec, Prescribed,
    Spec, TangentSpec,
};
pub use subsystem::Lumped;
