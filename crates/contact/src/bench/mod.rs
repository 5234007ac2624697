//! Problems whose time per step is a figure of merit.

mod gripper;
mod mixed;
mod noise;
mod piles;
mod shaken;
mod sledge;

pub use gripper::{Gripped, gripper};
pub use mixed::{Mixed, MixedFigures};
pub use piles::{PILE_STEP, PILE_TOLERANCE, Pile, PileFigures, Solid, pile, settled};
pub use shaken::{
    CAN_TOLERANCE, Figures, STEP, Shaken, bed, mean_of, mean_of_starts, measure, shaken_can,
    shaken_can_by,
};
pub use sledge::sledge;
