//! What the exchange does to the poles of a coupled linear system.

use nalgebra::Complex;
use oldham_cosim::{OutputPort, Quantity, Simulation, SubsystemId};
use oldham_model::Model;
use oldham_results::plot::{Figure, Panel, Series, Style};
use oldham_stability::{AnalysisError, CoupledModel, Extrapolator, Recurrence, StateSpace};
use serde::{Serialize, Serializer};

use crate::StudyError;

/// Macro steps along which the poles are followed for the picture.
const SWEEP: usize = 40;
/// How far beyond its value the macro step grows there.
const BEYOND: f64 = 1.25;
/// Poles that are followed at most: each takes many determinants of the whole system.
const MOST_POLES: usize = 60;
/// Multiple of the exchange rate up to which latent roots are looked for.
pub const LATENT_RATES: usize = 2;

/// The exchange as a continuous element.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct HeldSignals {
    /// Order of the hold: 0, 1 or 2.
    pub order: usize,
    /// Time that sending and receiving take, in s.
    pub latency: f64,
    /// Order of a Padé approximant instead of the exact exponential.
    pub pade: Option<usize>,
}

/// What becomes of one pole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoupledPole {
    /// Of the monolithic system.
    pub monolithic: Complex<f64>,
    /// With the exchange as a continuous extrapolator.
    pub coupled: Option<Complex<f64>>,
    /// Of the discrete scheme as it is run.
    pub run: Option<Complex<f64>>,
    /// The monolithic one in the z-plane, where parts sample.
    pub multiplier: Option<Complex<f64>>,
}

/// The poles of a coupled model.
#[derive(Serialize)]
pub struct Poles {
    /// Title of the model.
    pub model: String,
    /// Its macro step in s.
    pub step: f64,
    /// The time from sample to sample in s, where parts sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_time: Option<f64>,
    /// What becomes of each pole.
    pub poles: Vec<CoupledPole>,
    /// Roots that the exchange adds, the rightmost first.
    #[serde(serialize_with = "as_pairs")]
    pub latent: Vec<Complex<f64>>,
    /// Displacements along a line that parts send, over which the modes have shapes.
    pub displacements: Vec<String>,
    /// For each pole the shape of its mode; none where parts sample.
    pub shapes: Vec<ModeShape>,
    /// Where no part samples.
    #[serde(skip)]
    coupled: Option<CoupledModel>,
    #[serde(skip)]
    extrapolator: Extrapolator,
}

/// The shape of a mode over the displacements, the largest of them one.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeShape {
    /// Of the monolithic system.
    pub monolithic: Option<Vec<Complex<f64>>>,
    /// With held signals.
    pub coupled: Option<Vec<Complex<f64>>>,
}

impl Serialize for ModeShape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data {
            monolithic: Option<Vec<[f64; 2]>>,
            coupled: Option<Vec<[f64; 2]>>,
        }
        let pairs = |shape: &Option<Vec<Complex<f64>>>| {
            let shape = shape.as_ref()?;
            Some(shape.iter().map(|value| [value.re, value.im]).collect())
        };
        let data = Data {
            monolithic: pairs(&self.monolithic),
            coupled: pairs(&self.coupled),
        };
        data.serialize(serializer)
    }
}

/// Displacements along a line among the outputs, and where they are.
fn displacements(simulation: &Simulation) -> (Vec<String>, Vec<(SubsystemId, usize)>) {
    let mut found = (Vec::new(), Vec::new());
    for (index, part) in simulation.names().enumerate() {
        let id = SubsystemId(index);
        let ports = simulation.ports(id);
        for (place, port) in ports.outputs().iter().enumerate() {
            if port.quantity == Quantity::Translation {
                found.0.push(format!("{part}.{}", port.name));
                let range = ports.output_range(OutputPort(place));
                found.1.push((id, range.start));
            }
        }
    }
    found
}

/// Poles of a linear model: monolithic, with held signals, and as it is run.
///
/// ```
/// use oldham_study::{HeldSignals, ModelFile, poles};
///
/// # let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
/// let file = ModelFile::new(format!("{examples}/two-mass-damped.toml"));
/// let poles = poles(&file.read()?, HeldSignals::default())?;
/// assert!(poles.poles.iter().all(|pole| pole.monolithic.re < 0.0));
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn poles(model: &Model, held: HeldSignals) -> Result<Poles, StudyError> {
    let coupled = match CoupledModel::of(&mut model.simulation()?) {
        Err(AnalysisError::Sampled(_)) => return sampled_poles(model, held),
        found => found?,
    };
    let monolithic = coupled.monolithic();
    if monolithic.len() > MOST_POLES {
        return Err(StudyError::TooManyPoles {
            count: monolithic.len(),
            limit: MOST_POLES,
        });
    }
    let extrapolator = Extrapolator {
        order: held.order,
        period: model.step(),
        latency: held.latency,
        pade: held.pade,
    };
    let discrete = discrete_poles(&mut model.simulation()?)?;
    let poles: Vec<CoupledPole> = monolithic
        .into_iter()
        .map(|monolithic| CoupledPole {
            coupled: coupled.primary(monolithic, extrapolator),
            run: nearest(&discrete, monolithic),
            monolithic,
            multiplier: None,
        })
        .collect();
    if poles.is_empty() {
        return Err(StudyError::NoPoles {
            model: model.name().into(),
        });
    }
    let (displacements, at) = displacements(&model.simulation()?);
    let shape = |pole: &CoupledPole| ModeShape {
        monolithic: coupled.mode(pole.monolithic, None, &at),
        coupled: pole
            .coupled
            .and_then(|pole| coupled.mode(pole, Some(extrapolator), &at)),
    };
    Ok(Poles {
        model: model.name().into(),
        step: model.step(),
        sample_time: None,
        shapes: poles.iter().map(shape).collect(),
        displacements,
        latent: coupled.latent(extrapolator, LATENT_RATES),
        poles,
        coupled: Some(coupled),
        extrapolator,
    })
}

/// Poles of a model with parts that sample: from sample to sample without any delay of the coupling, and as it
/// is run. Held signals as a continuous element have no place beside samples.
fn sampled_poles(model: &Model, held: HeldSignals) -> Result<Poles, StudyError> {
    let space = StateSpace::of(&mut model.simulation()?, |_| false)?;
    let discrete = discrete_poles(&mut model.simulation()?)?;
    let both = space.poles.iter().zip(&space.multipliers);
    // What is over after one sample has no pole in the s-plane.
    let finite = both.filter(|(pole, _)| pole.norm().is_finite());
    let poles: Vec<CoupledPole> = finite
        .map(|(&monolithic, &multiplier)| CoupledPole {
            monolithic,
            coupled: None,
            run: nearest(&discrete, monolithic),
            multiplier: Some(multiplier),
        })
        .collect();
    if poles.is_empty() {
        return Err(StudyError::NoPoles {
            model: model.name().into(),
        });
    }
    Ok(Poles {
        model: model.name().into(),
        step: model.step(),
        sample_time: space.sample,
        poles,
        latent: Vec::new(),
        displacements: Vec::new(),
        shapes: Vec::new(),
        coupled: None,
        extrapolator: Extrapolator {
            order: held.order,
            period: model.step(),
            latency: held.latency,
            pade: held.pade,
        },
    })
}

/// Poles of the scheme as it is run, mapped to the s-plane.
pub fn discrete_poles(simulation: &mut Simulation) -> Result<Vec<Complex<f64>>, StudyError> {
    let recurrence = Recurrence::of(simulation)?;
    let eigenvalues = recurrence.eigenvalues()?;
    let poles = eigenvalues.iter().filter(|value| value.norm() > 1e-12);
    Ok(poles
        .map(|value| value.ln() / recurrence.duration())
        .collect())
}

fn nearest(poles: &[Complex<f64>], to: Complex<f64>) -> Option<Complex<f64>> {
    let distance = |pole: &&Complex<f64>| (*pole - to).norm();
    poles
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .copied()
}

/// The damping ratio of a pole.
pub fn damping(pole: Complex<f64>) -> f64 {
    -pole.re / pole.norm().max(f64::MIN_POSITIVE)
}

/// Real and imaginary part of each.
fn as_pairs<S: Serializer>(roots: &[Complex<f64>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(roots.iter().map(|root| [root.re, root.im]))
}

impl Serialize for CoupledPole {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct One {
            re: f64,
            im: f64,
            frequency: f64,
            damping: f64,
        }
        #[derive(Serialize)]
        struct Data {
            monolithic: One,
            coupled: Option<One>,
            run: Option<One>,
            #[serde(skip_serializing_if = "Option::is_none")]
            z: Option<[f64; 2]>,
        }
        let one = |pole: Complex<f64>| One {
            re: pole.re,
            im: pole.im,
            frequency: pole.norm(),
            damping: damping(pole),
        };
        let data = Data {
            monolithic: one(self.monolithic),
            coupled: self.coupled.map(one),
            run: self.run.map(one),
            z: self.multiplier.map(|z| [z.re, z.im]),
        };
        data.serialize(serializer)
    }
}

impl Poles {
    /// Where the poles go while the macro step grows to its value and a quarter more.
    pub fn figure(&self) -> Figure {
        let extrapolator = self.extrapolator;
        let mut panel = Panel::new("real part / (1/s)", "imaginary part / (rad/s)");
        let beyond = Extrapolator {
            period: BEYOND * extrapolator.period,
            latency: BEYOND * extrapolator.latency,
            ..extrapolator
        };
        let followed = self.coupled.iter().flat_map(|coupled| {
            let poles = self.poles.iter().enumerate();
            poles.map(move |(index, pole)| (coupled, index, pole))
        });
        for (coupled, index, pole) in followed {
            let path = coupled.path(pole.monolithic, beyond, SWEEP);
            let (re, im) = path.iter().map(|pole| (pole.re, pole.im)).unzip();
            panel = panel.with_series(Series::new(format!("mode {}", index + 1), re, im));
        }
        let marks: [(&str, Vec<Option<Complex<f64>>>); 3] = [
            (
                "monolithic",
                self.poles
                    .iter()
                    .map(|pole| Some(pole.monolithic))
                    .collect(),
            ),
            (
                "held signals, at this step",
                self.poles.iter().map(|pole| pole.coupled).collect(),
            ),
            ("as run", self.poles.iter().map(|pole| pole.run).collect()),
        ];
        for (label, poles) in marks {
            let (re, im) = poles
                .iter()
                .flatten()
                .map(|pole| (pole.re, pole.im))
                .unzip();
            panel = panel.with_series(Series::new(label, re, im).with_style(Style::Points));
        }
        // Left of the imaginary axis motions decay.
        let all = self.poles.iter();
        let heights = all.flat_map(|pole| [Some(pole.monolithic), pole.coupled, pole.run]);
        let heights = heights.flatten().map(|pole| pole.im);
        let span = heights.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], im| {
            [low.min(im), high.max(im)]
        });
        if span[0].is_finite() {
            let axis = Series::new("imaginary axis", vec![0.0; 2], span.to_vec());
            panel = panel.with_series(axis.with_style(Style::Reference));
        }
        let name = &self.model;
        Figure::new(format!("{name}: primary poles while the macro step grows")).with_panel(panel)
    }
}
