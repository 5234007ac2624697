//! A. Peiret, F. González, J. Kövecses, M. Teichmann, "Co-simulation of multibody systems with contact
//! using reduced interface models", Journal of Computational and Nonlinear Dynamics 15 (2020) 041001.

mod manipulator;

use crate::item::Item;

const PAPER: &str = "peiret";

pub(crate) const ITEMS: &[Item] = &[
    Item::new(
        PAPER,
        "statics",
        "Loads and valves that hold the manipulator",
        manipulator::statics,
    ),
    Item::new(
        PAPER,
        "fig-13",
        "Errors of the manipulator over the macro step, without the block",
        manipulator::fig_13,
    ),
];
