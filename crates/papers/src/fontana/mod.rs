//! A. Fontana, M. Morandini, P. Masarati, "A co-simulation algorithm for the efficient real-time
//! parallel solution of multibody systems", Multibody System Dynamics, 2026.
//!
//! One file an item; `masses` makes the maps over the interface masses that several of them show.

mod added_mass;
mod fig_10;
mod fig_11;
mod fig_12;
mod fig_13;
mod fig_15;
mod fig_16;
mod fig_20;
mod fig_9;
mod masses;
mod real_time;
mod run;
mod table_2;
mod times;

use crate::item::Item;
use crate::map_study::Scheme;

const PROPOSED: &str = include_str!("../../../../examples/interface-mass.toml");
const LITERATURE: &str = include_str!("../../../../papers/fontana/literature.toml");
const LITERATURE_EXPLICIT: &str =
    include_str!("../../../../papers/fontana/literature-explicit.toml");
const MIXED: &str = include_str!("../../../../papers/fontana/mixed-solvers.toml");

const PAPER: &str = "fontana";

pub(crate) const ITEMS: &[Item] = &[
    Item::new(
        PAPER,
        "table-2",
        "Eigenvalues of the linear problem",
        table_2::compute,
    ),
    Item::new(
        PAPER,
        "fig-9",
        "Stability over the interface masses",
        fig_9::compute,
    ),
    Item::new(
        PAPER,
        "fig-10",
        "Border of stability when stiffness or damping are scaled",
        fig_10::compute,
    ),
    Item::new(
        PAPER,
        "fig-11",
        "Stability over interface masses, stiffness and damping, explicit and implicit coupling",
        fig_11::compute,
    ),
    Item::new(
        PAPER,
        "fig-12",
        "Stability over time step and spectral radius at infinity",
        fig_12::compute,
    ),
    Item::new(
        PAPER,
        "fig-13",
        "Errors with different integrators of the coupling subsystem",
        fig_13::compute,
    ),
    Item::new(
        PAPER,
        "fig-15",
        "The beam in two and three parts against the monolithic solution",
        fig_15::compute,
    ),
    Item::new(PAPER, "table-4", "Times of the beam", times::table_4),
    Item::new(
        PAPER,
        "fig-16",
        "The shell in two parts against the monolithic solution",
        fig_16::compute,
    ),
    Item::new(PAPER, "table-6", "Times of the shell", times::table_6),
    Item::new(
        PAPER,
        "fig-20",
        "Step steer of a Formula Student car, cut and monolithic",
        fig_20::compute,
    ),
    Item::new(
        PAPER,
        "real-time",
        "The car by the clock on the wall: deadlines, whole and cut, with and without viewers",
        real_time::compute,
    ),
];

/// Both sides take the velocity of the interface beside its position, as the coupling subsystem has it.
const VELOCITY_TOO: [(&str, &str); 4] = [
    ("lumped.left.inputs.x2", "{ motion = \"x2\" }"),
    ("lumped.left.predictor", "hermite-velocity"),
    ("lumped.right.inputs.x3", "{ motion = \"x3\" }"),
    ("lumped.right.predictor", "hermite-velocity"),
];

/// The paper's scheme, explicit.
fn proposed() -> Scheme {
    Scheme::new("proposed", PROPOSED, &[])
}

/// The same with the Jacobian of the coupling forces.
fn with_jacobian() -> Scheme {
    Scheme::new(
        "interface Jacobian",
        PROPOSED,
        &[("schedule.tangent", "true")],
    )
}
