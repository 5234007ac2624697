//! How inputs are guessed between exchanges, and whether the exchanged signals allow it.

use oldham_cosim::{InputPort, OutputPort};
use oldham_dmd::{Controls, LONGEST_WINDOW, ModelSize, PlainSettings, Received, Settings};
use oldham_interface_model::Arrangement;
use oldham_prediction::RateExtrapolation;

use super::Checker;
use super::keys::{read, read_if};
use super::part::{Checked, Port};
use crate::format::{At, Predictor, PredictorKind, place};
use crate::model::{ConnectionSpec, ForeignPrediction, Prediction};
use crate::source::Span;

/// Predictors that use a spectral radius.
const INTEGRATING: &str = "s that integrate rates: `hermite`, `hermite-velocity`, `linear-rate`, \
    `constant-rate` and `linear-acceleration`";

/// A chosen predictor.
#[derive(Clone, Debug)]
pub(in crate::check) struct Choice {
    kind: PredictorKind,
    /// One of a registered kind instead.
    foreign: Option<ForeignPrediction>,
    /// A window of fixed length, with the place where it is given.
    window: Option<(u32, Span)>,
    delays: u32,
    recursive: bool,
    /// Spectral radius of the formula that integrates rates, where it is given.
    rho: Option<f64>,
    arrangement: Arrangement,
}

impl From<PredictorKind> for Choice {
    fn from(kind: PredictorKind) -> Self {
        Self {
            kind,
            foreign: None,
            window: None,
            delays: 0,
            recursive: false,
            rho: None,
            arrangement: Arrangement::default(),
        }
    }
}

impl Choice {
    /// What it is for a part whose integrator has this spectral radius. What a learning one learns
    /// from is known when everything is connected.
    pub fn prediction(&self, rho: f64) -> Prediction {
        let rho = self.rho.unwrap_or(rho);
        if let Some(foreign) = &self.foreign {
            return Prediction::Foreign(foreign.clone());
        }
        match self.kind {
            PredictorKind::Zero => Prediction::Hold(0),
            PredictorKind::First => Prediction::Hold(1),
            PredictorKind::Second => Prediction::Hold(2),
            PredictorKind::ConstantRate => Prediction::Integrated(RateExtrapolation::Constant, rho),
            PredictorKind::LinearRate => Prediction::Integrated(RateExtrapolation::Linear, rho),
            PredictorKind::Hermite => Prediction::Integrated(RateExtrapolation::Hermite, rho),
            PredictorKind::HermiteVelocity => {
                Prediction::Integrated(RateExtrapolation::HermiteVelocity, rho)
            }
            PredictorKind::LinearAcceleration => {
                Prediction::Integrated(RateExtrapolation::Acceleration, rho)
            }
            PredictorKind::Dmd | PredictorKind::PlainDmd => Prediction::Hold(0),
            PredictorKind::InterfaceModel => Prediction::InterfaceModel(self.arrangement),
        }
    }

    fn learns(&self) -> bool {
        learns(self.kind)
    }

    /// With what it learns from these inputs and outputs, and the window that it needs if its own is too short for them.
    fn learned(
        &self,
        received: Received,
        controls: Controls,
        signals: usize,
    ) -> (Prediction, Option<usize>) {
        let window = self.window.as_ref().map(|(window, _)| *window as usize);
        if self.kind == PredictorKind::PlainDmd {
            let settings = PlainSettings {
                window: window.unwrap_or(LONGEST_WINDOW),
                recursive: self.recursive,
                received,
                controls,
            };
            let needed = settings.too_short(signals);
            return (Prediction::Plain(settings), needed);
        }
        let settings = match window {
            Some(window) => Settings::only(ModelSize {
                window,
                delays: self.delays as usize,
            }),
            None => Settings::automatic_for(LONGEST_WINDOW, signals),
        };
        let settings = Settings {
            received,
            controls,
            ..settings
        };
        let needed = settings.too_short(signals);
        (Prediction::Learned(settings), needed)
    }
}

impl Checker<'_> {
    /// The predictor that a section chooses, if it does.
    pub(super) fn predictor(&mut self, given: &Option<At<Predictor>>) -> Option<Choice> {
        let settings = match &given.as_ref()?.value {
            Predictor::Kind(kind) => return Some((*kind).into()),
            Predictor::Settings(settings) => settings,
        };
        if let Some(foreign) = &settings.foreign {
            return Some(Choice {
                foreign: self.foreign_predictor(foreign),
                ..PredictorKind::Zero.into()
            });
        }
        let kind = settings.kind.as_ref()?.value;
        let (ours, plain) = (kind == PredictorKind::Dmd, kind == PredictorKind::PlainDmd);
        let models = kind == PredictorKind::InterfaceModel;
        let (window, delays) = (place(&settings.window), place(&settings.delays));
        let (arrangement, rho) = (place(&settings.arrangement), place(&settings.rho));
        let keys = [
            ("window", window, learns(kind), "s `dmd` and `plain-dmd`"),
            ("delays", delays, ours, " `dmd`"),
            (
                "recursive",
                place(&settings.recursive),
                plain,
                " `plain-dmd`",
            ),
            ("arrangement", arrangement, models, " `interface-model`"),
            ("rho", rho, integrates_rates(kind), INTEGRATING),
        ];
        for (key, span, is_used, owner) in keys {
            if let (Some(span), false) = (span, is_used) {
                let message = format!("`{key}` belongs to the predictor{owner}");
                self.report(span, message)
                    .label("not used by this predictor");
            }
        }
        if let (Some(delays), None, true) = (&settings.delays, &settings.window, ours) {
            let message =
                "without a `window`, its length and the `delays` are chosen while running";
            self.report(&delays.span, message)
                .help("give a `window` too");
        }
        Some(Choice {
            kind,
            foreign: None,
            arrangement: match &settings.arrangement {
                Some(at) => at.value.into(),
                None => Arrangement::default(),
            },
            rho: read_if(&settings.rho, |rho| self.number(rho))?,
            window: read(&settings.window, |at| {
                Some((self.count(at)?, at.span.clone()))
            }),
            delays: self.count_or(&settings.delays, 0)?,
            recursive: settings.recursive.as_ref().is_some_and(|at| at.value),
        })
    }

    /// Gives learning predictors what they learn from; gives remarks on those that cannot learn.
    pub(super) fn learners(
        &mut self,
        parts: &mut [Checked],
        connections: &[ConnectionSpec],
    ) -> Vec<String> {
        let mut notes = Vec::new();
        for index in 0..parts.len() {
            if parts[index].predictor.learns() {
                notes.extend(self.learner(index, parts, connections));
            }
        }
        notes
    }

    fn learner(
        &mut self,
        index: usize,
        parts: &mut [Checked],
        connections: &[ConnectionSpec],
    ) -> Option<String> {
        let inputs = received(index, connections);
        if inputs.is_empty() {
            return None;
        }
        let outputs = controls(index, connections);
        let part = &parts[index];
        let received = width(&part.inputs, inputs.iter().map(|port| port.0))?;
        let sent = width(&part.outputs, outputs.iter().map(|port| port.0))?;
        let (inputs, outputs) = (Received::Only(inputs), Controls::Only(outputs));
        let (prediction, needed) = part.predictor.learned(inputs, outputs, received + sent);
        let name = part.name.clone();
        match (needed, part.predictor.window.clone()) {
            (Some(needed), Some((window, place))) => {
                let message = format!(
                    "a window of {window} communication points cannot determine a model of what `{name}` receives ({received} values) and sends ({sent} values)"
                );
                self.report(&place, message)
                    .label("too short")
                    .help(format!("give {needed} at least, or leave `window` out"));
                None
            }
            (Some(needed), None) => Some(format!(
                "`{name}` holds its inputs instead of learning: it receives {received} values and sends {sent}, which needs a window of {needed} communication points, more than {LONGEST_WINDOW}; exchange fewer values, or give a `window`"
            )),
            (None, _) => {
                if let Some(part) = &mut parts[index].part {
                    part.prediction = prediction;
                }
                None
            }
        }
    }
}

fn learns(kind: PredictorKind) -> bool {
    matches!(kind, PredictorKind::Dmd | PredictorKind::PlainDmd)
}

fn integrates_rates(kind: PredictorKind) -> bool {
    use PredictorKind::{ConstantRate, Hermite, HermiteVelocity, LinearAcceleration, LinearRate};
    matches!(
        kind,
        ConstantRate | LinearRate | Hermite | HermiteVelocity | LinearAcceleration
    )
}

/// The inputs of a part that somebody sends.
fn received(index: usize, connections: &[ConnectionSpec]) -> Vec<InputPort> {
    let fed = connections.iter().filter(|c| c.to.0 == index);
    let mut inputs: Vec<_> = fed.map(|c| c.to.1).collect();
    inputs.sort_unstable();
    inputs
}

/// The outputs of a part that lead to those who send to it.
fn controls(index: usize, connections: &[ConnectionSpec]) -> Vec<OutputPort> {
    let sends_back = |part: usize| {
        let mut all = connections.iter();
        all.any(|c| c.from.0 == part && c.to.0 == index)
    };
    let heard = connections
        .iter()
        .filter(|c| c.from.0 == index && sends_back(c.to.0));
    let mut outputs: Vec<_> = heard.map(|c| c.from.1).collect();
    outputs.sort_unstable();
    outputs.dedup();
    outputs
}

/// Components of some ports; nothing if one of them could not be read.
fn width(ports: &[Port], chosen: impl Iterator<Item = usize>) -> Option<usize> {
    let widths = chosen.map(|port| Some(ports.get(port)?.quantity.as_ref()?.width()));
    widths.sum()
}
