//! What one part shows of itself that cannot be looked into: its poles, gains and noise, as they are measured.

use nalgebra::{Complex, DMatrix};
use oldham_cosim::{InputPort, Quantity, Simulation, SubsystemId};

use super::Unmeasurable;
use super::realisation::Fineness;
use super::responses::Responses;
use crate::recurrence::{AnalysisError, TimeBudget};

/// How the model is made.
const FINENESS: Fineness = Fineness {
    delays: 28,
    above_noise: 3.0,
};
/// How near one eigenvalues are of which no static gain follows.
const STANDING: f64 = 1e-9;

/// A part, seen from outside.
#[derive(Clone, Debug)]
pub struct Probed {
    /// Inputs that were changed, and all outputs.
    pub inputs: Vec<String>,
    /// All outputs.
    pub outputs: Vec<String>,
    /// Its step in s.
    pub step: f64,
    /// After how many steps it does the same again.
    pub period: usize,
    /// Whether it sees more of its inputs than their values at the beginning of a step.
    pub sees_within: bool,
    /// Its eigenvalues over a period, the largest first.
    pub eigenvalues: Vec<Complex<f64>>,
    /// What outputs come to for each input that is changed by one and stays so; nothing where it does not come to rest.
    pub gains: Option<DMatrix<f64>>,
    /// How outputs follow inputs at once.
    pub at_once: DMatrix<f64>,
    /// Noise and curvature: the largest share of an answer that has no sign.
    pub noise: f64,
    /// What the model of these eigenvalues misses of the answers, as a multiple of what it may.
    pub misfit: f64,
    /// Steps that it took.
    pub steps: u64,
}

impl Probed {
    /// Poles in 1/s, as they would be in continuous time.
    pub fn poles(&self) -> Vec<Complex<f64>> {
        let span = self.step * self.period as f64;
        let poles = self.eigenvalues.iter().map(|z| z.ln() / span);
        poles.collect()
    }
}

/// Measures a part from its present state by impulses at all inputs that carry what may grow, over so many steps. It then is
/// as it was.
pub fn probe(
    simulation: &mut Simulation,
    id: SubsystemId,
    steps: usize,
) -> Result<Probed, AnalysisError> {
    if let Some((part, reason)) = simulation.allow_replays()? {
        return Err(AnalysisError::NotLed { part, reason });
    }
    if let Some(part) = simulation.part_without_state()? {
        return Err(AnalysisError::NoState(part));
    }
    let unmeasurable = |simulation: &Simulation, reason: Unmeasurable| {
        let part = simulation.names().nth(id.0).unwrap_or_default().to_owned();
        AnalysisError::Unmeasurable { part, reason }
    };
    let ports = simulation.ports(id).clone();
    let mut places = Vec::new();
    for (index, port) in ports.inputs().iter().enumerate() {
        if port.quantity == Quantity::Motion {
            return Err(unmeasurable(simulation, Unmeasurable::Orientation));
        }
        if port.quantity.is_coordinate() && !port.quantity.is_held() {
            places.extend(ports.input_range(InputPort(index)));
        }
    }
    let step = simulation.alone(id, |_, moment| Ok(moment.step))?;
    let inputs = places
        .iter()
        .map(|&place| ports.input_component_name(place));
    let inputs: Vec<String> = inputs.collect();
    let mut found = Responses::of(simulation, id, places)?;
    found.extend(simulation, steps, &TimeBudget::endless())?;
    let record = found.record();
    let model = record.realise(FINENESS);
    let model = model.ok_or_else(|| unmeasurable(simulation, Unmeasurable::Noise))?;
    let mut eigenvalues: Vec<Complex<f64>> = match model.a.nrows() {
        0 => Vec::new(),
        _ => model.a.complex_eigenvalues().iter().copied().collect(),
    };
    let size = |z: &Complex<f64>| z.norm();
    eigenvalues.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let (count, period) = (inputs.len(), found.period);
    let stands = eigenvalues
        .iter()
        .any(|z| (z - 1.0).norm() < STANDING || z.norm() > 1.0);
    let rest = DMatrix::identity(model.a.nrows(), model.a.nrows()) - &model.a;
    let gains = match stands {
        true => None,
        false => rest.lu().solve(&model.b).map(|states| {
            let all = &model.c * states + &model.d;
            let width = found.outputs.len();
            // A change that stays is one in each step of a period and at each sample of it.
            DMatrix::from_fn(width, count, |i, j| {
                let columns = (0..all.ncols()).filter(|column| column % count == j);
                columns
                    .map(|column| all[((period - 1) * width + i, column)])
                    .sum()
            })
        }),
    };
    let mut noise = 0.0_f64;
    let (rows, columns) = record.responses[0].shape();
    for i in 0..rows {
        for j in 0..columns {
            let square = |all: &[DMatrix<f64>]| all.iter().map(|m| m[(i, j)].powi(2)).sum::<f64>();
            let (answer, error) = (square(&record.responses), square(&record.errors));
            if answer > 0.0 {
                noise = noise.max((error / answer).sqrt());
            }
        }
    }
    Ok(Probed {
        outputs: (0..ports.output_width())
            .map(|place| ports.output_component_name(place))
            .collect(),
        inputs,
        step,
        period,
        sees_within: found.nodes > 1,
        eigenvalues,
        gains,
        at_once: found.feedthrough.clone(),
        noise,
        misfit: record.misfit(&model),
        steps: found.steps,
    })
}
