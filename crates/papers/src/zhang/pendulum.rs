//! The double pendulum, cut at its second joint.

use oldham_cosim::{InMemory, Run};
use oldham_results::plot::{Figure, Panel, Series};

use crate::item::{PaperError, Report, model_with};

const PENDULUM: &str = include_str!("../../../../papers/zhang/double-pendulum.toml");
const DURATION: f64 = 5.0;
/// Orientations and angular velocities of both links.
const SIGNALS: [&str; 6] = [
    "pendulum.nodes.first.q0",
    "pendulum.nodes.first.q3",
    "pendulum.nodes.first.wz",
    "pendulum.nodes.second.q0",
    "pendulum.nodes.second.q3",
    "pendulum.nodes.second.wz",
];

struct History {
    times: Vec<f64>,
    /// Angle and rate of the first link, then of the second.
    values: [Vec<f64>; 4],
}

fn run(law: Option<&str>, step: f64) -> Result<History, PaperError> {
    let mut settings = vec![("simulation.step", step.to_string())];
    if let Some(law) = law {
        settings.push(("multibody.pendulum.cut.prescribe", format!("\"{law}\"")));
    }
    let model = model_with(PENDULUM, &settings)?;
    let mut simulation = match law {
        Some(_) => model.simulation()?,
        None => model.monolithic(None)?,
    };
    let place = |signal: &&str| {
        let mut columns = simulation.columns().iter();
        let place = columns.position(|column| column.name == **signal);
        place.expect("the model has this signal")
    };
    let columns = SIGNALS.iter().map(place).collect();
    let mut memory = InMemory::default();
    let outcome = simulation.run(Run {
        threads: 1,
        record_columns: Some(columns),
        ..Run::new((DURATION / step).round() as u64, &mut memory)
    });
    outcome.end?;
    let angle = |first: usize| {
        let halves = memory
            .column(first)
            .into_iter()
            .zip(memory.column(first + 1));
        let mut last = 0.0;
        let turned = halves.map(|(scalar, vector)| {
            let angle = 2.0 * vector.atan2(scalar);
            // The nearest of all angles with this orientation.
            let turns = ((last - angle) / std::f64::consts::TAU).round();
            last = angle + turns * std::f64::consts::TAU;
            last + std::f64::consts::FRAC_PI_2
        });
        turned.collect::<Vec<f64>>()
    };
    Ok(History {
        values: [angle(0), memory.column(2), angle(3), memory.column(5)],
        times: memory.times,
    })
}

/// Angles at 1 s and at 5 s, found by an integrator of high order in minimal coordinates.
const REFERENCE: [(f64, [f64; 2]); 2] = [
    (1.0, [-0.135_031_9, 1.242_979_2]),
    (5.0, [-1.482_003_2, 0.549_433_8]),
];

pub(super) fn fig_11(report: &mut Report) -> Result<(), PaperError> {
    let labels = ["θ1 / rad", "θ1' / rad/s", "θ2 / rad", "θ2' / rad/s"];
    let mut panels = labels.map(|label| Panel::new("time / s", label));
    for (name, law) in [
        ("monolithic", None),
        ("index-1", Some("index-1")),
        ("index-2", Some("index-2")),
        ("index-3", Some("index-3")),
    ] {
        let step = 1e-3;
        let found = run(law, step)?;
        for (time, expected) in REFERENCE {
            let row = (time / step).round() as usize;
            for (link, expected) in expected.into_iter().enumerate() {
                let angle = found.values[2 * link][row];
                let row = format!("{name}: error of θ{} at {time} s", link + 1);
                let note = "against an integrator of high order; the print is a picture";
                report.row(row, None, angle - expected, "rad", note);
            }
        }
        panels = std::array::from_fn(|k| {
            let series = Series::new(name, found.times.clone(), found.values[k].clone());
            panels[k].clone().with_series(series)
        });
    }
    let mut figure = Figure::new("The double pendulum, cut at its second joint");
    for panel in panels {
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}
