//! A model as a linear system: its matrices and its frequency response.

use nalgebra::{Complex, DMatrix};
use oldham_cosim::Simulation;
use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Scale, Series};
use oldham_stability::{LinearSignal, StateSpace};
use serde::{Serialize, Serializer};

use crate::{Range, StudyError, TrimmedFile, shows_node};

/// Frequencies of a response unless said otherwise.
const POINTS: usize = 400;

/// Curves of a picture at most.
const MOST_CURVES: usize = 8;

/// A frequency below this share of the largest one is that of a rigid-body motion.
pub(crate) const RIGID: f64 = 1e-6;

/// A model linearised about its state at a time.
#[derive(Clone, Debug)]
pub struct LinearModel {
    /// Title of the model.
    pub model: String,
    /// The time in s.
    pub time: f64,
    /// The linear system.
    pub space: StateSpace,
}

/// Linearises a model about its initial state, or about the state that it reaches at a time. Cuts are
/// undone, and couplings have no delay.
///
/// ```
/// use oldham_study::{ModelFile, linearise};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-damped.toml"));
/// let linear = linearise(&file.read()?, None)?;
/// assert_eq!(linear.space.states, ["left.x1.x", "left.x1.v", "right.x2.x", "right.x2.v"]);
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn linearise(model: &Model, time: Option<f64>) -> Result<LinearModel, StudyError> {
    let mut simulation = match model.is_cut() {
        true => model.monolithic(None)?,
        false => model.simulation()?,
    };
    if let Some(time) = time {
        let steps = ((time - model.start()) / model.step()).round();
        if steps < 0.0 {
            return Err(StudyError::BeforeStart {
                time,
                start: model.start(),
            });
        }
        simulation.steps(steps as u64).map_err(StudyError::Run)?;
    }
    linear_model(model, simulation)
}

/// Linearises the model that a trimmed state is [applied](TrimmedFile::applied) to about that state. A cut model must have been
/// trimmed as the monolithic one, since its cuts are undone.
pub fn linearise_from(trimmed: &TrimmedFile, model: &Model) -> Result<LinearModel, StudyError> {
    if model.is_cut() && !trimmed.trim.is_monolithic {
        return Err(StudyError::TrimmedInParts);
    }
    linear_model(model, trimmed.simulation(model)?)
}

fn linear_model(model: &Model, mut simulation: Simulation) -> Result<LinearModel, StudyError> {
    Ok(LinearModel {
        model: model.name().into(),
        time: simulation.time(),
        space: StateSpace::of(&mut simulation, |port| !shows_node(port))?,
    })
}

/// The answer of an output to an input over frequency.
#[derive(Clone, Debug, Serialize)]
pub struct BodeCurve {
    /// The input.
    pub from: String,
    /// The output.
    pub to: String,
    /// Size of the answer to a unit.
    pub magnitude: Vec<f64>,
    /// Phase in degrees, without jumps.
    pub phase: Vec<f64>,
    #[serde(skip)]
    unit: String,
}

/// Frequency responses.
#[derive(Clone, Debug, Serialize)]
pub struct Bode {
    /// Title of the model.
    #[serde(skip)]
    pub model: String,
    /// Frequencies in hertz.
    pub frequency: Vec<f64>,
    /// One for each pair of input and output.
    pub curves: Vec<BodeCurve>,
}

impl LinearModel {
    /// The inputs to choose from: of a motion its displacement, which brings its derivatives.
    pub fn sources(&self) -> Vec<&str> {
        let own = self
            .space
            .inputs
            .iter()
            .filter(|input| input.derivative == 0);
        own.map(|input| input.name.as_str()).collect()
    }

    /// The outputs to choose from.
    pub fn targets(&self) -> Vec<&str> {
        self.space
            .outputs
            .iter()
            .map(|output| output.name.as_str())
            .collect()
    }

    /// Frequency responses from some inputs to some outputs: all of them if none are named, as far as
    /// they can be drawn. Frequencies in hertz; by default a decade around the poles.
    pub fn bode(
        &self,
        from: &[String],
        to: &[String],
        frequencies: Option<&Range>,
    ) -> Result<Bode, StudyError> {
        let sources = self.sources();
        if sources.is_empty() {
            return Err(StudyError::NoInput {
                model: self.model.clone(),
            });
        }
        let (known, is_free) = (self.targets(), from.is_empty() && to.is_empty());
        let from = chosen("input", from, &sources)?;
        let to = chosen("output", to, &known)?;
        let frequency =
            match frequencies.and_then(|range| range.ends(None).map(|e| range.values(e))) {
                Some(given) => given,
                None => self.decades(),
            };
        let pairs = from
            .iter()
            .flat_map(|from| to.iter().map(move |to| (*from, *to)));
        let mut curves = Vec::new();
        for (from, to) in pairs {
            if is_free && curves.len() == MOST_CURVES {
                break;
            }
            let curve = self.curve(from, to, &frequency);
            let is_silent = curve.magnitude.iter().all(|size| *size == 0.0);
            if !(is_free && is_silent) {
                curves.push(curve);
            }
        }
        if curves.len() > MOST_CURVES {
            return Err(StudyError::TooManyCurves {
                count: curves.len(),
                most: MOST_CURVES,
            });
        }
        Ok(Bode {
            model: self.model.clone(),
            frequency,
            curves,
        })
    }

    fn curve(&self, from: &str, to: &str, frequency: &[f64]) -> BodeCurve {
        let place = |all: &[LinearSignal], name: &str| {
            let found = all.iter().position(|signal| signal.name == name);
            found.expect("it was chosen among them")
        };
        let (input, output) = (
            place(&self.space.inputs, from),
            place(&self.space.outputs, to),
        );
        let answer = |hertz: &f64| {
            let omega = std::f64::consts::TAU * hertz;
            let answer = self.space.response(input, output, omega);
            answer.unwrap_or(Complex::new(f64::NAN, f64::NAN))
        };
        let answers: Vec<Complex<f64>> = frequency.iter().map(answer).collect();
        let units = [
            &self.space.outputs[output].unit,
            &self.space.inputs[input].unit,
        ];
        BodeCurve {
            from: from.into(),
            to: to.into(),
            magnitude: answers.iter().map(|answer| answer.norm()).collect(),
            phase: unwrapped(&answers),
            unit: format!("{}/{}", units[0], units[1]),
        }
    }

    /// From a tenth of the lowest frequency of a pole to ten times the highest.
    fn decades(&self) -> Vec<f64> {
        let hertz = |pole: &Complex<f64>| pole.norm() / std::f64::consts::TAU;
        let known = self
            .space
            .poles
            .iter()
            .filter(|pole| pole.norm().is_finite());
        let largest = known.clone().map(hertz).fold(0.0, f64::max);
        let moving = known.map(hertz);
        let smallest = moving
            .filter(|f| *f > RIGID * largest)
            .fold(f64::INFINITY, f64::min);
        let (low, high) = match smallest.is_finite() {
            true => (0.1 * smallest, 10.0 * largest),
            false => (0.1, 10.0),
        };
        // Samples tell nothing beyond half their rate.
        let high = self
            .space
            .sample
            .map_or(high, |period| high.min(0.5 / period));
        let low = low.min(0.1 * high);
        let range = Range::between("f", low, high).logarithmic(true);
        range.points(POINTS).values((low, high))
    }
}

/// The names that were asked for, or all.
fn chosen<'n>(
    what: &'static str,
    wanted: &[String],
    known: &[&'n str],
) -> Result<Vec<&'n str>, StudyError> {
    if wanted.is_empty() {
        return Ok(known.to_vec());
    }
    let find = |name: &String| {
        let found = known.iter().find(|known| **known == name);
        found
            .copied()
            .ok_or_else(|| StudyError::unknown(what, name, known.iter().copied()))
    };
    wanted.iter().map(find).collect()
}

/// Phases in degrees that go on without jumps of a whole turn.
fn unwrapped(answers: &[Complex<f64>]) -> Vec<f64> {
    let mut last: Option<f64> = None;
    let next = |answer: &Complex<f64>| {
        let phase = answer.arg().to_degrees();
        // A signal that is turned round begins half a turn behind, not ahead.
        let before = last.unwrap_or(if phase > 175.0 { -180.0 } else { phase });
        let phase = phase + 360.0 * ((before - phase) / 360.0).round();
        if phase.is_finite() {
            last = Some(phase);
        }
        phase
    };
    answers.iter().map(next).collect()
}

impl Bode {
    /// Magnitude and phase over frequency.
    pub fn figure(&self) -> Figure {
        let mut units: Vec<&str> = self
            .curves
            .iter()
            .map(|curve| curve.unit.as_str())
            .collect();
        units.dedup();
        let unit = match units[..] {
            [unit] => format!("magnitude / ({unit})"),
            _ => "magnitude".into(),
        };
        let mut magnitude = Panel::new("frequency / Hz", unit).with_scales(Scale::Log, Scale::Log);
        let mut phase = Panel::new("frequency / Hz", "phase / deg");
        phase = phase.with_scales(Scale::Log, Scale::Linear);
        for curve in &self.curves {
            let label = format!("{} to {}", curve.from, curve.to);
            let series =
                |values: &[f64]| Series::new(&label, self.frequency.clone(), values.to_vec());
            magnitude = magnitude.with_series(series(&curve.magnitude));
            phase = phase.with_series(series(&curve.phase));
        }
        let title = format!("{}: frequency response", self.model);
        Figure::new(title).with_panel(magnitude).with_panel(phase)
    }
}

impl Serialize for LinearModel {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Named<'a> {
            name: &'a str,
            unit: &'a str,
        }
        #[derive(Serialize)]
        struct Data<'a> {
            model: &'a str,
            time: f64,
            states: &'a [String],
            inputs: Vec<Named<'a>>,
            outputs: Vec<Named<'a>>,
            #[serde(rename = "A")]
            a: Vec<Vec<f64>>,
            #[serde(rename = "B")]
            b: Vec<Vec<f64>>,
            #[serde(rename = "C")]
            c: Vec<Vec<f64>>,
            #[serde(rename = "D")]
            d: Vec<Vec<f64>>,
            poles: Vec<[f64; 2]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            sample_time: Option<f64>,
            #[serde(skip_serializing_if = "Vec::is_empty")]
            z_poles: Vec<[f64; 2]>,
        }
        fn named(signals: &[LinearSignal]) -> Vec<Named<'_>> {
            let mut all = Vec::new();
            for LinearSignal { name, unit, .. } in signals {
                all.push(Named { name, unit });
            }
            all
        }
        let pairs = |poles: &[Complex<f64>]| -> Vec<[f64; 2]> {
            poles.iter().map(|pole| [pole.re, pole.im]).collect()
        };
        let data = Data {
            model: &self.model,
            time: self.time,
            states: &self.space.states,
            inputs: named(&self.space.inputs),
            outputs: named(&self.space.outputs),
            a: rows(&self.space.a),
            b: rows(&self.space.b),
            c: rows(&self.space.c),
            d: rows(&self.space.d),
            poles: pairs(&self.space.poles),
            sample_time: self.space.sample,
            z_poles: pairs(&self.space.multipliers),
        };
        data.serialize(serializer)
    }
}

pub(crate) fn rows(matrix: &DMatrix<f64>) -> Vec<Vec<f64>> {
    matrix
        .row_iter()
        .map(|row| row.iter().copied().collect())
        .collect()
}
