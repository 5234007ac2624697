//! Spring-coupled pendula, Sect. 3.2.

use oldham_cosim::{Hold, Ports, Predictor};
use oldham_dmd::{Dmd, LONGEST_WINDOW, Settings};
use oldham_results::plot::{Figure, Panel, Scale, Series};

use super::chain::pendula;
use super::oscillator::{WINDOWS, over_the_window};
use crate::item::{PaperError, Report};
use crate::track::Track;

const LINKS: usize = 10;
const STEPS: usize = 5000;
/// Four received values, two forces and the constant.
const UNKNOWNS: usize = 7;
const TIP: [&str; 2] = ["chain.x", "chain.y"];

fn hold(ports: &Ports) -> Box<dyn Predictor> {
    Box::new(Hold::new(0, ports))
}

fn learned(settings: Settings) -> impl FnOnce(&Ports) -> Box<dyn Predictor> {
    let dmd = move |ports: &Ports| Dmd::new(ports, &settings);
    move |ports| Box::new(dmd(ports).expect("windows of the figures are long enough"))
}

fn automatic(ports: &Ports) -> Box<dyn Predictor> {
    learned(Settings::automatic(LONGEST_WINDOW, ports))(ports)
}

fn run(predictor: impl FnOnce(&Ports) -> Box<dyn Predictor>) -> Track {
    Track::of(&mut pendula(LINKS, predictor, false), &TIP, STEPS)
}

fn monolithic() -> Track {
    Track::of(&mut pendula(LINKS, hold, true), &TIP, STEPS)
}

pub(super) fn fig_14(report: &mut Report) -> Result<(), PaperError> {
    let reference = monolithic();
    let possible = WINDOWS.into_iter().filter(|&window| window >= UNKNOWNS);
    let error = |window| {
        (
            window,
            run(learned(Settings::fixed(window))).nmse(&reference),
        )
    };
    let errors: Vec<_> = possible.map(error).collect();
    let automatic = run(automatic).nmse(&reference);
    over_the_window(
        report,
        "pendula",
        &errors,
        automatic,
        run(hold).nmse(&reference),
    )
}

pub(super) fn fig_15(report: &mut Report) -> Result<(), PaperError> {
    let reference = monolithic();
    let mut panel =
        Panel::new("time / s", "energy error / J").with_scales(Scale::Linear, Scale::Log);
    let fixed = learned(Settings::fixed(100));
    let tracks = [
        ("hold", run(hold), "about 2 J in the papers' setting"),
        ("learned, window 100", run(fixed), "within 1e-4 J is wanted"),
        (
            "learned, automatic window",
            run(automatic),
            "not in the paper",
        ),
    ];
    for (label, track, note) in &tracks {
        let pairs = track.energy.iter().zip(&reference.energy);
        let errors: Vec<f64> = pairs.map(|(a, b)| (a - b).abs()).collect();
        let worst = errors.iter().copied().fold(0.0, f64::max);
        report.row(
            format!("largest energy error in 5 s, {label}"),
            None,
            worst,
            "J",
            note,
        );
        panel = panel.with_series(Series::new(*label, track.times.clone(), errors));
    }
    report.picture(&Figure::new("Energy error of the pendula").with_panel(panel))
}
