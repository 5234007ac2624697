//! Problems whose time per step is a figure of merit.

mod mixed;
mod noise;
mod piles;
mod shaken;

pub use mixed::{Mixed, MixedFigures};
pub use piles::{PILE_STEP, PILE_TOLERANCE, Pile, PileFigures, Solid, pile};
pub use shaken::{Figures, STEP, Shaken, bed, mean_of_starts, measure, shaken_can};
