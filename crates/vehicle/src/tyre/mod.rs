//! Tyres: the magic formula, the deflection of the carcass, and the element that joins a rim to a
//! road.

mod carcass;
mod coefficients;
mod contact;
mod element;
mod magic_formula;
mod property_file;

pub use coefficients::{MagicFormula, Version};
pub use element::{Tyre, WheelState};
pub use magic_formula::{Slip, TyreForces};
pub use property_file::{PropertyFile, TyreProblem};
