//! I. Tamellin, D. Richiedei, B. Rodriguez, F. Gonzalez, "Eigenstructure assignment and compensation
//! of explicit co-simulation problems", Mechanism and Machine Theory 176 (2022) 105004.
//!
//! Tables and figures of poles follow the paper's continuous model, D(s). What is run is run by the paper's method first:
//! with the gains that it prints where it does, and with the smallest gains on D(s); then with ours, which are designed on the
//! co-simulation as it runs (z).

mod assignment;
mod chains;
mod continuous;
mod histories;
mod overhead;
mod poles;
mod random;
mod scatter;
mod scenario;
mod structure;

use crate::item::Item;

const PAPER: &str = "tamellin";

macro_rules! items {
    ($($name:literal, $title:literal, $compute:path $(, $extension:ident)?;)*) => {
        &[$(Item::new(PAPER, $name, $title, $compute)$(.$extension())?),*]
    };
}

pub(crate) const ITEMS: &[Item] = items! {
    "table-1", "Poles of the monolithic and co-simulated undamped two-mass system", poles::table_1;
    "fig-3", "Primary poles of the undamped two-mass system", assignment::fig_3;
    "fig-4", "Latent roots of the undamped two-mass system", poles::fig_4;
    "table-2", "Poles of the damped two-mass system", poles::table_2;
    "fig-5", "Primary poles of the damped two-mass system over the macro step", poles::fig_5;
    "table-3", "Poles of the undamped two-mass system with compensation", assignment::table_3;
    "fig-7", "Primary poles of the undamped system without and with compensation", assignment::fig_7;
    "fig-8", "Latent roots of the undamped system without and with compensation", assignment::fig_8;
    "table-4", "Gains and poles of the damped two-mass system", assignment::table_4;
    "fig-9", "Primary poles of the damped system without and with compensation", assignment::fig_9;
    "ranks", "Assignability: ranks of L and [L n], Sect. 4.3 and 6.1", assignment::ranks;
    "fig-11", "Free motion of the undamped two-mass system", histories::fig_11;
    "fig-12", "Energy of the undamped two-mass system", histories::fig_12;
    "table-5", "Errors of the free motion of the two-mass system", histories::table_5;
    "fig-13", "Computing time of the two-mass system", overhead::fig_13;
    "fig-14", "Free motion of the damped two-mass system, Ts = 1 ms", histories::fig_14;
    "fig-15", "Energy of the damped two-mass system", histories::fig_15;
    "fig-16", "Free motion of the damped two-mass system, Ts = 4 ms", histories::fig_16;
    "fig-17", "Energy under a chirp force", histories::fig_17;
    "table-6", "Errors under a chirp force", histories::table_6;
    "fig-18", "Energy errors of random two-mass systems", random::fig_18;
    "chains", "Random chains, and several micro steps: how many are stabilised", chains::chains, extension;
    "table-7", "Primary poles of the four-mass system", assignment::table_7;
    "table-8", "Frequencies and damping of the four-mass system", assignment::table_8;
    "fig-20", "Primary poles of the four-mass system", assignment::fig_20;
    "fig-21", "Energy of the four-mass system", histories::fig_21;
    "fig-22", "Free motion of the four-mass system", histories::fig_22;
    "table-9", "Errors of the four-mass system", histories::table_9;
    "fig-23", "Computing time of the four-mass system", overhead::fig_23;
};
