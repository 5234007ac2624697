//! Cutting a model into parts that can be solved side by side.
//!
//! A cut goes through nodes. Each of them stays, with all its mass, in a small *coupling* model;
//! every part that has elements at the node gets a massless copy of it, whose pose is prescribed.
//! A part gives back the load on its copies, which acts on the node in the coupling. A cut at an
//! element between two nodes is a cut at both nodes, and the element goes into the coupling.
//!
//! [`partition`] decides what goes where and refuses cuts that cannot work, [`Partition::split`]
//! takes the model apart. Nothing here knows of ports, predictors or time.
//!
//! # References
//! A. Fontana, M. Morandini, P. Masarati, "A co-simulation algorithm for the efficient real-time
//! parallel solution of multibody systems", Multibody System Dynamics, 2026, Sect. 2.

mod error;
mod graph;
mod judge;
mod outline;
mod partition;
mod partitioner;
mod rank;
mod remedy;
mod sensors;
mod sets;
mod size;
mod split;

pub use error::{CutError, Home, Lack, Place, Reason, Remedy};
pub use outline::{Obstacle, Outline, OutlinedElement, OutlinedNode};
pub use partition::{Couplings, Cut, Interface, Partition, Role, Subdomain};
pub use remedy::{judged, partition};
pub use size::Size;
pub(crate) use size::{ENTRIES_OF_A_BODY, entries_of_element};
pub(crate) use split::Renumbered;
pub use split::Split;
