//! Vehicles as elements of mechanisms: tyres on roads, disc brakes, hub motors, anti-roll bars and
//! aerodynamics.
//!
//! Axes: x forward, y to the left, z up. Every law is written once, over [`Real`] numbers: plain ones
//! for the forces, [`Dual`] ones for their derivatives.

mod aerodynamics;
mod anti_roll_bar;
mod axle;
mod brake;
mod differential;
mod dual;
mod ground;
pub mod handling;
mod kinds;
mod motor;
pub mod road;
pub mod tyre;
mod wrench;

pub use aerodynamics::{AeroMap, Aerodynamics};
pub use anti_roll_bar::AntiRollBar;
pub use brake::DiscBrake;
pub use differential::{DrivenAxle, EngineMap, FinalDrive};
pub use dual::{Dual, Real};
pub use ground::{GroundContact, GroundLaw};
pub use kinds::{extensions, register};
pub use motor::{HubMotor, MotorLimits};
pub use road::{HeightGrid, Road, RoughRoad, RoughnessClass};
pub use tyre::{MagicFormula, Tyre};
