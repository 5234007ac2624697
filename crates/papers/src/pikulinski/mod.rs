//! M. Pikuliński, P. Malczyk, A. J. Rodríguez, F. González, "Data-driven prediction of subsystem
//! dynamics in the explicit co-simulation of multibody systems", Mechanics Based Design of Structures
//! and Machines 54 (2026) 2541259.
//!
//! Rows and curves called `paper's` are by the paper's own predictor ([`oldham_dmd::PlainDmd`]); `learned` are by ours, which differs from it
//! as the documentation of `oldham_dmd` says.

mod chain;
mod manipulator;
mod oscillator;
mod pendula;
mod watch;

use oldham_cosim::{InputPort, Ports};
use oldham_dmd::{Controls, PlainDmd, PlainSettings, Received};

use crate::item::Item;

const PAPER: &str = "pikulinski";

pub(crate) const ITEMS: &[Item] = &[
    Item::new(
        PAPER,
        "fig-2",
        "Energy of the linear oscillator at 1 ms",
        oscillator::fig_2,
    ),
    Item::new(
        PAPER,
        "fig-6",
        "Position error over the window, square-root spring",
        oscillator::fig_6,
    ),
    Item::new(
        PAPER,
        "fig-7",
        "Learning from the start or when the window is full",
        oscillator::fig_7,
    ),
    Item::new(
        PAPER,
        "eq-24",
        "The recurrence of the other side after three pairs",
        oscillator::eq_24,
    ),
    Item::new(
        PAPER,
        "fig-8",
        "Energy of the linear oscillator between 1 s and 2 s",
        oscillator::fig_8,
    ),
    Item::new(
        PAPER,
        "fig-9",
        "Relative energy error of the linear oscillator",
        oscillator::fig_9,
    ),
    Item::new(
        PAPER,
        "fig-11",
        "Position of the left mass, square-root spring",
        oscillator::fig_11,
    ),
    Item::new(
        PAPER,
        "fig-12",
        "Relative energy error, square-root spring",
        oscillator::fig_12,
    ),
    Item::new(
        PAPER,
        "fig-14",
        "Position error over the window, pendula",
        pendula::fig_14,
    ),
    Item::new(
        PAPER,
        "fig-15",
        "Energy error of the pendula",
        pendula::fig_15,
    ),
    Item::new(
        PAPER,
        "fig-18",
        "Position error over the window, manipulator",
        manipulator::fig_18,
    ),
    Item::new(
        PAPER,
        "fig-19",
        "The actuator's length as both subsystems see it",
        manipulator::fig_19,
    ),
    Item::new(
        PAPER,
        "fig-20",
        "Sinusoidal control, 12 ms",
        manipulator::fig_20,
    ),
    Item::new(
        PAPER,
        "fig-21",
        "Switched control, 12 ms",
        manipulator::fig_21,
    ),
    Item::new(
        PAPER,
        "fig-22",
        "Switched control, 20 ms",
        manipulator::fig_22,
    ),
];

/// How the paper's own predictor finds its matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    /// All pairs of the window in every step.
    Batch,
    /// One pair in, one pair out.
    Recursive,
}

/// The paper's own predictor of the first inputs of a subsystem, with some of its outputs as controls.
fn plain(
    ports: &Ports,
    inputs: usize,
    controls: &[&str],
    window: usize,
    method: Method,
) -> PlainDmd {
    let controls = controls.iter().filter_map(|name| ports.output(name));
    let settings = PlainSettings {
        window,
        recursive: method == Method::Recursive,
        received: Received::Only((0..inputs).map(InputPort).collect()),
        controls: Controls::Only(controls.collect()),
    };
    PlainDmd::new(ports, &settings).expect("windows of the figures are long enough")
}
