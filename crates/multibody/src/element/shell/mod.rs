//! Shells: four-node elements that move far and turn far, with six unknowns per node.
//!
//! A frame turns with each element; what the nodes do relative to it is small and is resisted by a
//! linear shell, whose stiffness is computed once. Forces are the exact gradient of the stored
//! energy, so they balance and do no work in a rigid motion, and the tangent is exact.
//!
//! # References
//! - Rankin, Nour-Omid, "The use of projectors to improve finite element performance",
//!   Computers & Structures 30 (1988) 257–267.
//! - Felippa, Haugen, "A unified formulation of small-strain corotational finite elements: I.
//!   Theory", Comput. Methods Appl. Mech. Eng. 194 (2005) 2285–2335.
//! - Dvorkin, Bathe, "A continuum mechanics based four-node shell element for general non-linear
//!   analysis", Eng. Comput. 1 (1984) 77–88.
//! - Pian, Sumihara, "Rational approach for assumed stress finite elements", Int. J. Numer.
//!   Methods Eng. 20 (1984) 1685–1695.
//! - Hughes, Brezzi, "On drilling degrees of freedom", Comput. Methods Appl. Mech. Eng. 72 (1989)
//!   105–121.

mod four_node;
mod frame;
mod jacobian;
mod mesh;
mod patch;
mod section;
mod stiffness;
mod surface;

pub use four_node::{Shell4, ShellError};
pub use mesh::{ShellGrid, ShellMesh, mapped_shell};
pub use section::{ShellSection, SurfaceInertia};
pub use surface::{annulus, cylinder, rectangle};
