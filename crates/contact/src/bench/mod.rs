//! Problems whose time per step is a figure of merit.

mod mixed;
mod shaken;

pub use mixed::{Mixed, MixedFigures};
pub use shaken::{Figures, STEP, Shaken, bed, mean_of_starts, measure, shaken_can};
