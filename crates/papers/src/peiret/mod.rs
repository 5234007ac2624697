//! A. Peiret, F. González, J. Kövecses, M. Teichmann, "Co-simulation of multibody systems with contact
//! using reduced interface models", Journal of Computational and Nonlinear Dynamics 15 (2020) 041001.

mod block;
mod crane;
mod machine;
mod manipulator;
mod replay;

pub use machine::Machine;
pub use replay::{Costs, IN_CONTACT, costs};

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
        "fig-7",
        "Length and force of the second actuator: interface model and hold",
        block::fig_7,
    ),
    Item::new(
        PAPER,
        "fig-8",
        "Rate of the second actuator, and its impact",
        block::fig_8,
    ),
    Item::new(
        PAPER,
        "fig-10",
        "Speed control of the crane; its size",
        crane::fig_10,
    ),
    Item::new(
        PAPER,
        "fig-11",
        "Length and force of the crane's first actuator: interface model and hold",
        crane::fig_11,
    ),
    Item::new(
        PAPER,
        "fig-12",
        "Rate of the crane's first actuator, and while the log is grasped",
        crane::fig_12,
    ),
    Item::new(
        PAPER,
        "fig-13",
        "Errors of the manipulator over the macro step",
        manipulator::fig_13,
    ),
    Item::new(
        PAPER,
        "fig-13-crane",
        "Errors of the crane over the macro step",
        manipulator::fig_13_crane,
    ),
    Item::new(
        PAPER,
        "fig-14",
        "Time of mechanism, hydraulics and interface model in a macro step",
        replay::fig_14,
    ),
];
