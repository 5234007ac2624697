//! Vectors, matrices and rotations in space: what the engine, contacts and mechanisms have in common.

mod dense;
pub mod kernel;
mod quadrature;
pub mod rotation;
mod vector;

pub use dense::solve_dense;
pub use quadrature::work_from_zero;
pub use rotation::Quaternion;
pub use vector::{M3, Mat3, Pair, Scalar, V3, Vec3};
