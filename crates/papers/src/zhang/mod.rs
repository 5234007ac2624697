//! R. Zhang, H. Zhang, A. Zanoni, A. Tasora, P. Masarati, "Explicit smooth/nonsmooth cosimulation
//! using kinematic constraints", Multibody System Dynamics, 2022.
//!
//! `maps` has the stability of the two-mass oscillator, `histories` its motion, errors and cost; `pendulum` the double pendulum,
//! `rig` the crank-slider with a particle damper and `damper` its figures, `jacobians` what interface Jacobians make of that.

mod damper;
mod histories;
mod jacobians;
mod limit;
mod maps;
mod pendulum;
mod rig;

use crate::item::{Item, Settings};

/// The oscillator, coupled by the law `index-1`.
const TWO_MASS: &str = include_str!("../../../../examples/smooth-nonsmooth.toml");

const PAPER: &str = "zhang";

pub(crate) const ITEMS: &[Item] = &[
    Item::new(
        PAPER,
        "fig-5",
        "Stability with original and modified inputs",
        maps::fig_5,
    ),
    Item::new(
        PAPER,
        "fig-6",
        "Stability with other weights, and with implicit coupling",
        maps::fig_6,
    ),
    Item::new(
        PAPER,
        "fig-7",
        "Stability at other mass ratios",
        maps::fig_7,
    ),
    Item::new(
        PAPER,
        "fig-8",
        "Motion of the two-mass oscillator",
        histories::fig_8,
    ),
    Item::new(
        PAPER,
        "fig-9",
        "Errors of the two-mass oscillator",
        histories::fig_9,
    ),
    Item::new(
        PAPER,
        "table-1",
        "Cost of explicit and implicit coupling",
        histories::table_1,
    ),
    Item::new(
        PAPER,
        "fig-11",
        "The double pendulum, cut at its second joint",
        pendulum::fig_11,
    ),
    Item::new(
        PAPER,
        "fig-14",
        "Crank-slider and beam without particles",
        damper::fig_14,
    ),
    Item::new(
        PAPER,
        "fig-15",
        "The same with 147 particles",
        damper::fig_15,
    ),
    Item::new(
        PAPER,
        "fig-16",
        "The particles twist the beam",
        damper::fig_16,
    ),
    Item::new(
        PAPER,
        "fig-17",
        "Acceleration of the damper with original and modified inputs",
        damper::fig_17,
    ),
    Item::new(
        PAPER,
        "fig-18",
        "Explicit and implicit coupling of the damper",
        damper::fig_18,
    ),
    Item::new(
        PAPER,
        "table-3",
        "Cost of explicit and implicit coupling of the damper",
        damper::table_3,
    ),
    Item::new(PAPER, "fig-19", "The damper on a thin beam", damper::fig_19),
    Item::new(
        PAPER,
        "jacobians",
        "The damper with interface Jacobians (not in the paper)",
        jacobians::beyond,
    )
    .extension(),
];

/// How the nonsmooth side follows the motion of the smooth one.
fn law(word: &str) -> (&'static str, String) {
    (
        "lumped.nonsmooth.inputs.far.prescribe",
        format!("\"{word}\""),
    )
}

/// The same with weights.
fn weights([alpha, beta, gamma]: [f64; 3]) -> (&'static str, String) {
    let table = format!("{{ alpha = {alpha}, beta = {beta}, gamma = {gamma} }}");
    ("lumped.nonsmooth.inputs.far.prescribe", table)
}

/// Iterated until position and reaction agree, as the paper's implicit reference, which exchanges
/// positions.
fn implicit() -> Settings {
    vec![law("index-3"), ("schedule.coupling", "implicit".into())]
}
