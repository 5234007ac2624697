//! Mechanisms: multibody parts as plain data from which solvers and pictures are made.
//!
//! A [`Recipe`] lists what a mechanism consists of; it can be cooked any number of times. A
//! [`Mechanism`] is the same thing seen from outside: its statics, its modes and what to draw.

mod analysis;
mod cutting;
mod mesh;
mod partition;
mod pieces;
mod pose;
mod profile;
mod recipe;
mod sketch;
mod solid;
mod surface;

pub use analysis::{About, Mechanism};
pub use partition::{InterfaceNode, Link, Partition, Portion};
pub use pose::Pose;
pub use sketch::{Outline, Shape, Sketch, Solid, Symbol};

pub(crate) use cutting::{Cutting, Scheme, Solution};
pub(crate) use mesh::{Curve, Mesh, MeshError};
pub(crate) use pieces::Pieces;
pub(crate) use profile::{Material, Profile};
pub(crate) use recipe::{Piece, Received, Recipe, Sent, ShellPlan};
pub(crate) use solid::solid_inertia;
pub(crate) use surface::Surface;

/// The prefix of the ports that show all nodes.
pub(crate) const NODE_PORTS: &str = "nodes.";

/// Components of a motion that a picture needs: position and orientation.
pub(crate) const POSE_COMPONENTS: [&str; 7] = ["px", "py", "pz", "q0", "q1", "q2", "q3"];
