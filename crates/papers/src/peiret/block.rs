//! The arm with two cylinders that pushes a block, Sect. 5.2.
//!
//! As printed, the push cannot overcome the friction, and the block stays where it is. So there is a second variant beside it,
//! in which it slides to the wall.

use oldham_cosim::{Hold, InputPort, Inputs, Subsystem};
use oldham_model::{Extensions, Model, Overrides, Problems, Source};
use oldham_results::plot::{Figure, Panel};

use crate::item::{PaperError, Report};
use crate::track::Track;

const ARM: &str = include_str!("../../../../examples/two-cylinder-arm.toml");
const BLOCK: &str = include_str!("../../../../examples/arm-and-block.toml");

/// Step of the hydraulics.
const MICRO: f64 = 2e-4;
const DURATION: f64 = 8.0;
pub(super) const SIGNALS: [&str; 3] = ["arm.stick.length", "arm.stick.rate", "oil.stick.force"];
const PLACE: &str = "arm.nodes.block.px";
/// Macro steps that are drawn, in ms.
const DRAWN: [f64; 3] = [2.0, 10.0, 20.0];

/// What the arm meets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Variant {
    /// The block as printed: friction 0.5, the valve changes by 0.015.
    Printed,
    /// Friction 0.1, the valve changes by 0.06: the block slides to the wall.
    Sliding,
    /// No block.
    Free,
}

impl Variant {
    pub fn label(self) -> &'static str {
        match self {
            Self::Printed => "block as printed",
            Self::Sliding => "block that slides",
            Self::Free => "no block",
        }
    }
}

/// The machine and how it is solved.
#[derive(Clone, Copy)]
pub(super) struct Machine {
    pub variant: Variant,
    /// Macro step, and step of the arm.
    pub step: f64,
    /// Step of the oil.
    pub micro: f64,
    pub predictor: &'static str,
}

impl Machine {
    /// With the steps of the oil as printed.
    pub fn coarse(variant: Variant, step: f64, predictor: &'static str) -> Self {
        Self {
            variant,
            step,
            micro: MICRO,
            predictor,
        }
    }

    pub fn model(&self) -> Result<Model, Problems> {
        let mut set = vec![
            ("simulation.step".into(), self.step.to_string()),
            ("simulation.duration".into(), DURATION.to_string()),
            ("hydraulics.oil.micro_step".into(), self.micro.to_string()),
            ("hydraulics.oil.predictor".into(), self.predictor.into()),
        ];
        if self.variant == Variant::Free {
            return Model::parse(ARM, "two-cylinder-arm.toml", &Overrides(set));
        }
        if self.variant == Variant::Printed {
            set.push(("dk".into(), "-0.015".into()));
            set.push(("mu".into(), "0.5".into()));
        }
        let source = Source::new("arm-and-block.toml", BLOCK);
        let source = source.including("two-cylinder-arm.toml", ARM);
        Model::of(source, &Overrides(set), &Extensions::new())
    }

    /// A run, recorded at every `interval`.
    pub fn track(&self, interval: f64) -> Result<Track, PaperError> {
        let mut simulation = self.model()?.simulation()?;
        let every = (interval / self.step).round() as u64;
        let rows = (DURATION / interval).round() as usize;
        let mut signals = SIGNALS.to_vec();
        if self.variant != Variant::Free {
            signals.push(PLACE);
        }
        Ok(Track::every(&mut simulation, &signals, rows, every))
    }
}

const SCHEMES: [(&str, &str); 2] = [
    ("interface model", "interface-model"),
    ("hold", "zero-order"),
];

/// One signal in panels, a panel for each variant and scheme, with a curve for each macro step.
fn panels(
    report: &mut Report,
    signal: usize,
    label: &str,
    limits: impl Fn(Variant) -> (f64, f64),
) -> Result<Vec<Panel>, PaperError> {
    let mut panels = Vec::new();
    for variant in [Variant::Printed, Variant::Sliding] {
        for (scheme, predictor) in SCHEMES {
            let title = format!("{label}, {}, {scheme}", variant.label());
            let (low, high) = limits(variant);
            let mut panel = Panel::new("time / s", title).with_y_limit(low, high);
            for ms in DRAWN {
                let track = Machine::coarse(variant, 1e-3 * ms, predictor).track(1e-3 * ms)?;
                panel = panel.with_series(track.curve(signal, &format!("{ms} ms")));
                let name = format!("final length, {}, {scheme}, {ms} ms", variant.label());
                let length = track.signals[0].last().copied().unwrap_or(f64::NAN);
                let outcome = match track.failed {
                    true => "unstable: the run fails",
                    false => "at 8 s",
                };
                if signal == 0 {
                    report.row(name, None, length, "m", outcome);
                }
            }
            panels.push(panel);
        }
    }
    Ok(panels)
}

pub(super) fn fig_7(report: &mut Report) -> Result<(), PaperError> {
    for variant in [Variant::Printed, Variant::Sliding] {
        let track = Machine::coarse(variant, 2e-3, "interface-model").track(2e-3)?;
        let place = track.signals[SIGNALS.len()].last().copied();
        let name = format!("way of the block, {}", variant.label());
        let note = match variant {
            Variant::Printed => "the paper's block slides to the wall, by 0.1 m",
            _ => "to the wall",
        };
        let way = place.unwrap_or(f64::NAN) - 1.3;
        report.row(name, 0.1, way, "m", note);
    }
    let note = "paper: 2 revolutes x 5, 4 points each on floor and wall x 3, tip x 1; here one edge of the block carries at the wall, 2 points x 3";
    let rows = most_active_rows(Variant::Sliding)? as f64;
    report.row("most active rows, block that slides", 35.0, rows, "1", note);
    let mut figure = Figure::new("The second actuator");
    for panel in panels(report, 0, "length / m", |_| (0.45, 0.55))? {
        figure = figure.with_panel(panel);
    }
    for panel in panels(report, 2, "force / N", |_| (0.0, 2e4))? {
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}

pub(super) fn fig_8(report: &mut Report) -> Result<(), PaperError> {
    for variant in [Variant::Printed, Variant::Sliding] {
        let mut fastest: Vec<(f64, f64)> = Vec::new();
        for ms in DRAWN {
            let track = Machine::coarse(variant, 1e-3 * ms, "interface-model").track(1e-3 * ms)?;
            let rates = track.signals[1].iter().zip(&track.times);
            let (rate, time) = rates.fold((0.0, 0.0), |(most, at), (rate, t)| {
                if *rate > most {
                    (*rate, *t)
                } else {
                    (most, at)
                }
            });
            fastest.push((rate, time));
            let name = format!("largest rate, {}, {ms} ms", variant.label());
            report.row(name, None, rate, "m/s", "interface model");
            let name = format!("when, {}, {ms} ms", variant.label());
            let note = "just before the tip meets the block; the paper: about 2 s";
            report.row(name, None, time, "s", note);
        }
    }
    let limits = |variant| match variant {
        Variant::Printed => (-0.01, 0.03),
        _ => (-0.05, 0.1),
    };
    let mut figure = Figure::new("Rate of the second actuator");
    for panel in panels(report, 1, "rate / (m/s)", limits)? {
        figure = figure.with_panel(panel);
    }
    report.picture(&figure)
}

/// Most joints and contacts that hold at a time: the arm alone, under the forces of a coupled run.
fn most_active_rows(variant: Variant) -> Result<usize, PaperError> {
    let step = 2e-3;
    let machine = Machine::coarse(variant, step, "interface-model");
    let model = machine.model()?;
    let mut simulation = model.simulation()?;
    let rows = (DURATION / step).round() as usize;
    let forces = Track::of(
        &mut simulation,
        &["oil.boom.force", "oil.stick.force"],
        rows,
    );
    let mechanism = model.mechanisms().next().expect("the arm is one");
    let mut part = mechanism.solver().map_err(|error| {
        let part = mechanism.name().into();
        oldham_study::StudyError::Solve { part, error }
    })?;
    let ports = part.ports().clone();
    let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
    let mut most = 0;
    for (n, t) in forces.times.iter().enumerate().take(rows) {
        for (port, force) in forces.signals.iter().enumerate() {
            inputs.receive(InputPort(port), *t, &force[n..=n]);
        }
        let stepped = part.advance(*t, t + step, &mut inputs);
        stepped.map_err(|cause| oldham_cosim::Fault::Step {
            subsystem: "arm".into(),
            t: *t,
            cause,
        })?;
        most = most.max(part.system().active_rows());
    }
    Ok(most)
}
