//! Geometrically exact beams by finite volumes.
//!
//! Each element is cut at its evaluation points; the internal force and moment there load the two
//! neighbouring nodes. Positions are interpolated by polynomials; orientations by interpolating
//! the Cayley–Gibbs–Rodrigues parameters relative to the middle node, which needs no trigonometry
//! and is objective. What is interpolated are rotations since the unloaded shape: the axes that a
//! node happens to have, and the curvature and twist of the unloaded line, are not part of them.
//!
//! # References
//! Ghiringhelli, Masarati, Mantegazza, "Multibody implementation of finite volume C⁰ beams",
//! AIAA Journal 38 (2000) 131–138.

mod line;
mod lumping;
mod mesh;
mod profile;
mod section;
mod three_node;
mod two_node;

pub use line::{Curve, LineMesh, MeshError};
pub use lumping::{LineInertia, LineSample, Lumping};
pub use mesh::{BeamMesh, straight_beam};
pub use profile::{Material, Profile};
pub use section::Section;
pub use three_node::Beam3;
pub use two_node::Beam2;
