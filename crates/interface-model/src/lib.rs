//! Fast subsystems that are fed by a reduced interface model of a slow mechanism.
//!
//! Between two communication points a fast subsystem, such as hydraulics, should not see a mechanism whose
//! motion is held or extrapolated from old data. What matters of the mechanism to it is small: the acceleration of
//! the coordinates at which they meet, and how it answers to the force. A mechanism [shows](Shown) that
//! at each communication point; the fast subsystem is [fed](Fed) with motions that it integrates from it,
//! together with its own steps and its own forces. Several of them at one mechanism share one model, in which they feel each
//! other. A fast subsystem may also move the mechanism: then it is fed with the force that resists.
//!
//! Reference: A. Peiret, F. González, J. Kövecses, M. Teichmann, "Co-simulation of multibody systems
//! with contact using reduced interface models", Journal of Computational and Nonlinear Dynamics, 2020.

mod fast;
mod fed;
mod meeting;
mod model;
mod momentum;
mod shown;

pub use fast::FastSubsystem;
pub use fed::{Arrangement, Fed};
pub use meeting::Coordinate;
pub use shown::Shown;

use oldham_cosim::Quantity;

/// Name of the port at which a fast subsystem sees the interface of a mechanism.
pub const PORT: &str = "interface";

/// What that port carries, for some degrees of freedom (one of a coordinate, six of a node in space): a row each, with its
/// acceleration, the force that acted on it, and its mobility; of a motion the force that resists, the acceleration that acted,
/// and how it changes. A last row tells how the mechanism makes momentum of a force, beginning with a2, b0 and b1 of its
/// [formula](oldham_cosim::TwoStep), or with zeros where it does not tell.
pub fn quantity(degrees_of_freedom: usize) -> Quantity {
    Quantity::Matrix {
        rows: degrees_of_freedom + 1,
        columns: degrees_of_freedom + 2,
    }
}
