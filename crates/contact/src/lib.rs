//! Contact of rigid bodies and grains at velocity–impulse level.
//!
//! - [`shape`], [`narrow`], [`World`]: shapes, contact points of two shapes, contacts of all bodies.
//!   A world gets poses and gives [`Touch`]es in an order that depends on nothing else.
//! - [`problem`]: contacts as rows of velocities and impulses, as an operator over free bodies or as a
//!   dense matrix, and the residual of given impulses.
//! - [`ContactSolver`]: [`Coulomb`] for any contacts, [`Cone`] for the convex law, [`Pivoting`] for exact sets of few rows, [`ByNumber`] for
//!   one of them by the number of contacts.
//! - [`Reduction`]: what contacts leave of an interface's mobility.
//! - [`Scene`]: time stepping of free bodies, grains and bodies of prescribed motion, beside bodies that
//!   others move.
//! - [`mod@bench`]: scenes whose time per step is a figure of merit.
//!
//! Nothing here knows joints, ports or model files.

/// The guide's page, whose example is run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/src/contact.md")]
struct GuidePage;

pub mod bench;
mod broad;
mod by_number;
mod cone;
mod coulomb;
mod error;
mod field;
mod mass;
pub mod narrow;
mod pivoting;
mod polytope;
pub mod problem;
mod reduction;
mod room;
mod scene;
pub mod shape;
mod solver;
mod touch;
mod warm;
mod world;

pub use by_number::ByNumber;
pub use cone::Cone;
pub use coulomb::Coulomb;
pub use error::ContactError;
pub use field::{FieldError, HeightField};
pub use mass::MassProperties;
pub use pivoting::{FrictionBounds, Pivoting};
pub use polytope::{HullError, Polytope};
pub use reduction::{Interface, Reduction};
pub use scene::{
    Body, Correction, HeldRow, Impacts, Motion, Options, Scene, Start, StepReport, Tally,
};
pub use shape::{Can, Pose, Shape, Wall};
pub use solver::{ContactSolver, Fallback, FrictionLaw, RowState, Solved, SolvedBy};
pub use touch::{BodyId, End, Key, Surface, SurfaceId, Touch};
pub use warm::WarmStart;
pub use world::World;
