//! All parts of a model as linear systems about the motion of the reference.
//!
//! Each part is driven by what it receives in that motion, in the engine and with the integrator and steps that it has. What it
//! sends then is known. What changes of its inputs do to that is found by differences of its state where it shows one,
//! and from impulses where it does not. Both together are exact for a linear part, whatever the motion.

use std::sync::Arc;

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{
    Chart, Fault, Moment, OutputPort, Quantity, Simulation, Snapshot, Stage, SubsystemId,
};
use oldham_model::{Model, Problems};
use oldham_stability::realise;

use super::reference::{Limits, Reference};
use super::script::{Player, Received, SHARES, Shared};

/// Macro steps after which formulas have their history.
const FILLING: usize = 4;
/// Coordinates of a part at most.
const COORDINATES: usize = 240;
/// Steps of the responses of a part that does not show its state.
const RECORDED: usize = 256;
/// What a model of such a part may miss, as a multiple of its noise.
const MISFIT: f64 = 3.0;
/// Differences relative to how far a coordinate or an input goes in the run, and to others where it goes nowhere.
const DIFFERENCE: f64 = 1e-4;
const FLOOR: f64 = 1e-8;

/// Why nothing is predicted.
#[derive(Debug, thiserror::Error)]
pub enum NotPredicted {
    /// Its parts cannot be coupled in the plainest way.
    #[error("{0}")]
    NotBuilt(#[from] Problems),
    /// What is done between the parts is not what a model of each would do.
    #[error("{0} takes part in the exchange")]
    Special(&'static str),
    /// Nested stages, or a step of its own.
    #[error("`{0}` does not advance exactly once in a macro step")]
    OtherRate(String),
    /// Small changes are not added to an orientation, nor to a whole number.
    #[error("`{part}` receives {what}")]
    Received {
        /// The part.
        part: String,
        /// What it receives.
        what: &'static str,
    },
    /// The reference does not show it.
    #[error("the reference does not show what `{0}` receives")]
    NotShown(String),
    /// Too many differences.
    #[error("`{part}` has {count} coordinates, and {COORDINATES} are the limit")]
    TooLarge {
        /// The part.
        part: String,
        /// Its coordinates.
        count: usize,
    },
    /// It cannot be driven from the same state again.
    #[error("the state of `{0}` cannot be saved")]
    NoState(String),
    /// It does not answer as a linear part does.
    #[error("no linear model of `{0}` follows its answers to impulses")]
    NotLinear(String),
    /// It fails along the motion of the reference.
    #[error(transparent)]
    Fault(#[from] Fault),
    /// There was no time.
    #[error("there was no time for it")]
    NoTime,
}

/// A part about the motion of the reference: x⁺ = A x + B u, y = C x + D u behind the step, and F u at once.
pub(super) struct LinearPart {
    pub a: DMatrix<f64>,
    pub b: DMatrix<f64>,
    pub c: DMatrix<f64>,
    pub d: DMatrix<f64>,
    pub at_once: DMatrix<f64>,
    /// Its inputs that are connected, as places among all.
    pub places: Vec<usize>,
    /// What it receives in each step, sample after sample.
    pub received: Vec<Vec<f64>>,
    /// All its inputs, and what it sends, at the ends of the steps.
    pub inputs: Vec<Vec<f64>>,
    pub sent: Vec<Vec<f64>>,
}

/// Where an input comes from in the reference.
struct Origin {
    place: usize,
    column: usize,
    gain: f64,
}

/// The parts of a model, coupled in the plainest way, over so many macro steps.
pub(super) fn linear_parts(
    plain: &Model,
    reference: &Reference,
    steps: usize,
    limits: Limits<'_>,
) -> Result<Vec<Arc<LinearPart>>, NotPredicted> {
    let mut look = plain.simulation()?;
    refuse(&mut look)?;
    let origins = origins(&look, reference)?;
    let names: Vec<String> = look.names().map(Into::into).collect();
    let script = Shared::default();
    script.change(|script| {
        script.step = plain.step();
        script.parts = origins
            .iter()
            .map(|origins| Received {
                places: origins.iter().map(|origin| origin.place).collect(),
                ..Received::default()
            })
            .collect();
    });
    let mut rehearsal = Rehearsal {
        origins,
        reference,
        script: script.clone(),
        start: plain.start(),
        step: plain.step(),
    };
    rehearsal.turn_to(0);
    let simulation = plain.simulation_with(&|name, _| {
        let part = names.iter().position(|other| other == name)?;
        let script = script.clone();
        Some(Box::new(Player { script, part }))
    })?;
    Study {
        simulation,
        rehearsal,
        limits,
        names,
    }
    .parts(steps)
}

/// What the method does not describe.
fn refuse(simulation: &mut Simulation) -> Result<(), NotPredicted> {
    let stages = &simulation.schedule().stages;
    if stages
        .iter()
        .any(|stage| matches!(stage, Stage::Nested { .. }))
        || simulation.period() != 1
    {
        return Err(NotPredicted::OtherRate(name(simulation, SubsystemId(0))));
    }
    if simulation.corrects_steps() {
        return Err(NotPredicted::Special("an interface Jacobian"));
    }
    if let Some(part) = simulation.part_without_state()? {
        return Err(NotPredicted::NoState(part));
    }
    let macro_step = simulation.schedule().step;
    for index in 0..simulation.names().count() {
        let id = SubsystemId(index);
        let own = simulation.alone(id, |_, moment| Ok(moment.step))?;
        if own != macro_step {
            return Err(NotPredicted::OtherRate(name(simulation, id)));
        }
    }
    Ok(())
}

fn name(simulation: &Simulation, id: SubsystemId) -> String {
    simulation.names().nth(id.0).unwrap_or_default().to_owned()
}

/// Where the inputs of all parts come from.
fn origins(
    simulation: &Simulation,
    reference: &Reference,
) -> Result<Vec<Vec<Origin>>, NotPredicted> {
    let count = simulation.names().count();
    let mut origins: Vec<Vec<Origin>> = (0..count).map(|_| Vec::new()).collect();
    for connection in simulation.connections() {
        let (sender, part) = (
            name(simulation, connection.from),
            name(simulation, connection.to),
        );
        let ports = simulation.ports(connection.from);
        let mut all = (0..ports.outputs().len()).map(OutputPort);
        let port = all.find(|&port| ports.output_range(port).contains(&connection.output));
        let quantity = port.map(|port| &ports.outputs()[port.0].quantity);
        let is_held = port.is_some_and(|port| ports.is_held(port));
        let what = match quantity {
            Some(Quantity::Motion) => Some("an orientation"),
            Some(quantity) if !quantity.is_coordinate() => Some("what is not a motion or a load"),
            _ if is_held => Some("what a sampled part holds"),
            _ => None,
        };
        if let Some(what) = what {
            return Err(NotPredicted::Received { part, what });
        }
        for component in 0..connection.width {
            let signal = ports.output_component_name(connection.output + component);
            let column = reference.place(&format!("{sender}.{signal}"));
            let column = column.ok_or_else(|| NotPredicted::NotShown(part.clone()))?;
            origins[connection.to.0].push(Origin {
                place: connection.input + component,
                column,
                gain: connection.gain,
            });
        }
    }
    Ok(origins)
}

/// Tells every part what it receives in the motion of the reference.
struct Rehearsal<'a> {
    origins: Vec<Vec<Origin>>,
    reference: &'a Reference,
    script: Shared,
    start: f64,
    step: f64,
}

impl Rehearsal<'_> {
    /// Step n comes next.
    fn turn_to(&mut self, n: usize) {
        let from = self.start + n as f64 * self.step;
        self.script.change(|script| {
            script.from = from;
            for (received, origins) in script.parts.iter_mut().zip(&self.origins) {
                received.change = None;
                received.values.clear();
                for share in SHARES {
                    let t = from + share * self.step;
                    let value = |origin: &Origin| origin.gain * self.reference.at(origin.column, t);
                    received.values.extend(origins.iter().map(value));
                }
            }
        });
    }

    /// What a part receives in this step.
    fn received(&self, part: usize) -> Vec<f64> {
        self.script
            .change(|script| script.parts[part].values.clone())
    }

    /// Changes one sample of one input of each part, or none.
    fn change(&self, changes: &[Option<(usize, f64)>]) {
        self.script.change(|script| {
            for (received, change) in script.parts.iter_mut().zip(changes) {
                received.change = *change;
            }
        });
    }
}

/// All inputs of the parts, and what they send with them.
type Ends = Vec<(Vec<f64>, Vec<f64>)>;

/// Coordinates of a part, and what it sends.
type Image = (Vec<f64>, Vec<f64>);

struct Study<'a> {
    simulation: Simulation,
    rehearsal: Rehearsal<'a>,
    limits: Limits<'a>,
    names: Vec<String>,
}

impl Study<'_> {
    fn parts(mut self, steps: usize) -> Result<Vec<Arc<LinearPart>>, NotPredicted> {
        let count = self.names.len();
        self.simulation.track_work(false);
        let mut parts: Vec<LinearPart> = (0..count).map(|part| self.empty(part)).collect();
        let base_at = FILLING.min(steps.saturating_sub(1));
        let mut base = Snapshot::default();
        let mut charts = Vec::new();
        let mut goes: Vec<DVector<f64>> = Vec::new();
        let boxes: Vec<usize> = self
            .simulation
            .black_boxes()?
            .iter()
            .map(|id| id.0)
            .collect();
        for n in 0..=steps {
            self.rehearsal.turn_to(n);
            for (part, (inputs, sent)) in parts.iter_mut().zip(self.ends()?) {
                part.inputs.push(inputs);
                part.sent.push(sent);
            }
            if n == base_at {
                base.save(&mut self.simulation);
                charts = self.charts(&boxes)?;
                goes = charts
                    .iter()
                    .map(|chart| DVector::zeros(chart.as_ref().map_or(0, Chart::dimension)))
                    .collect();
            }
            if n == steps {
                break;
            }
            if n.is_multiple_of(64) && !self.limits.has_time() {
                return Err(NotPredicted::NoTime);
            }
            for (index, part) in parts.iter_mut().enumerate() {
                part.received.push(self.rehearsal.received(index));
            }
            self.simulation.steps(1)?;
            if n >= base_at && n < base_at + RECORDED {
                self.follow(&charts, &mut goes);
            }
        }
        let goes: Vec<Vec<f64>> = goes.iter().map(differences).collect();
        let pushes: Vec<Vec<f64>> = parts.iter().map(pushes).collect();
        let site = Site { base, base_at };
        self.at_once(&mut parts, &site, &pushes)?;
        self.by_coordinates(&mut parts, &site, &charts, &goes, &pushes)?;
        self.by_impulses(&mut parts, &site, &boxes, &pushes, steps)?;
        Ok(parts.into_iter().map(Arc::new).collect())
    }

    fn empty(&self, part: usize) -> LinearPart {
        let origins = &self.rehearsal.origins[part];
        let width = self.simulation.ports(SubsystemId(part)).output_width();
        LinearPart {
            a: DMatrix::zeros(0, 0),
            b: DMatrix::zeros(0, SHARES.len() * origins.len()),
            c: DMatrix::zeros(width, 0),
            d: DMatrix::zeros(width, SHARES.len() * origins.len()),
            at_once: DMatrix::zeros(width, origins.len()),
            places: origins.iter().map(|origin| origin.place).collect(),
            received: Vec::new(),
            inputs: Vec::new(),
            sent: Vec::new(),
        }
    }

    /// What all parts receive and send at the time reached, as the script has it without changes.
    fn ends(&mut self) -> Result<Ends, Fault> {
        (0..self.names.len())
            .map(|part| {
                let id = SubsystemId(part);
                let width = self.simulation.ports(id).output_width();
                self.simulation.alone(id, |part, moment: Moment<'_>| {
                    let mut sent = vec![0.0; width];
                    part.outputs(moment.time, moment.inputs, &mut sent)?;
                    Ok((moment.inputs.to_vec(), sent))
                })
            })
            .collect()
    }

    /// A chart of each part that shows its state.
    fn charts(&mut self, boxes: &[usize]) -> Result<Vec<Option<Chart>>, NotPredicted> {
        let mut charts = Vec::new();
        for (index, part) in self.names.iter().enumerate() {
            if boxes.contains(&index) {
                charts.push(None);
                continue;
            }
            let state = self.simulation.subsystem(SubsystemId(index)).state();
            let state = state.ok_or_else(|| NotPredicted::NoState(part.clone()))?;
            if !state.is_chartable() {
                return Err(NotPredicted::NotLinear(part.clone()));
            }
            let chart = Chart::about(state);
            let count = chart.dimension();
            if count > COORDINATES {
                let part = part.clone();
                return Err(NotPredicted::TooLarge { part, count });
            }
            charts.push(Some(chart));
        }
        Ok(charts)
    }

    /// How far coordinates go.
    fn follow(&mut self, charts: &[Option<Chart>], goes: &mut [DVector<f64>]) {
        for (index, (chart, goes)) in charts.iter().zip(goes).enumerate() {
            let state = self.simulation.subsystem(SubsystemId(index)).state();
            let (Some(chart), Some(state)) = (chart, state) else {
                continue;
            };
            let mut now = vec![0.0; chart.dimension()];
            chart.read(state, &mut now);
            goes.iter_mut()
                .zip(now)
                .for_each(|(most, now)| *most = most.max(now.abs()));
        }
    }

    fn return_to(&mut self, site: &Site) {
        site.base.restore(&mut self.simulation);
        self.rehearsal.turn_to(site.base_at);
    }

    /// What inputs do to outputs at once.
    fn at_once(
        &mut self,
        parts: &mut [LinearPart],
        site: &Site,
        pushes: &[Vec<f64>],
    ) -> Result<(), Fault> {
        self.return_to(site);
        for (index, part) in parts.iter_mut().enumerate() {
            let id = SubsystemId(index);
            if !self.simulation.ports(id).has_feedthrough() {
                continue;
            }
            let (places, pushes) = (part.places.clone(), &pushes[index]);
            let width = part.at_once.nrows();
            part.at_once = self.simulation.alone(id, |part, moment| {
                let mut at_once = DMatrix::zeros(width, places.len());
                for (input, &place) in places.iter().enumerate() {
                    let mut ends = [(); 2].map(|()| vec![0.0; width]);
                    for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                        let mut inputs = moment.inputs.to_vec();
                        inputs[place] += sign * pushes[input];
                        part.outputs(moment.time, &inputs, end)?;
                    }
                    for i in 0..width {
                        at_once[(i, input)] = (ends[0][i] - ends[1][i]) / (2.0 * pushes[input]);
                    }
                }
                Ok(at_once)
            })?;
        }
        Ok(())
    }

    /// The parts that show their states: one step from each coordinate, and one under each sample of each input. All
    /// parts are looked at in the same step, since none hears of the others.
    fn by_coordinates(
        &mut self,
        parts: &mut [LinearPart],
        site: &Site,
        charts: &[Option<Chart>],
        goes: &[Vec<f64>],
        pushes: &[Vec<f64>],
    ) -> Result<(), NotPredicted> {
        self.return_to(site);
        self.simulation.steps(1)?;
        let mut images = Vec::new();
        for (index, chart) in charts.iter().enumerate() {
            let state = self.simulation.subsystem(SubsystemId(index)).state();
            images.push(chart.as_ref().and(state).map(Chart::about));
        }
        for (part, goes) in parts.iter_mut().zip(goes) {
            let (n, width) = (goes.len(), part.c.nrows());
            part.a = DMatrix::zeros(n, n);
            part.b = DMatrix::zeros(n, part.b.ncols());
            part.c = DMatrix::zeros(width, n);
        }
        let coordinates = goes.iter().map(Vec::len).max().unwrap_or(0);
        let samples = parts.iter().map(|part| part.b.ncols()).max().unwrap_or(0);
        for column in 0..coordinates + samples {
            if !self.limits.has_time() {
                return Err(NotPredicted::NoTime);
            }
            let mut ends: Vec<Vec<Option<Image>>> = Vec::new();
            for sign in [1.0, -1.0] {
                self.return_to(site);
                if let Some(sample) = column.checked_sub(coordinates) {
                    let change = |pushes: &Vec<f64>| {
                        let input = sample.checked_rem(pushes.len())?;
                        (sample < SHARES.len() * pushes.len())
                            .then(|| (sample, sign * pushes[input]))
                    };
                    let changes: Vec<_> = pushes.iter().map(change).collect();
                    self.rehearsal.change(&changes);
                } else {
                    for (index, chart) in charts.iter().enumerate() {
                        let state = self.simulation.subsystem(SubsystemId(index)).state();
                        if let (Some(chart), Some(state)) = (chart, state)
                            && column < chart.dimension()
                        {
                            let mut away = vec![0.0; chart.dimension()];
                            away[column] = sign * goes[index][column];
                            chart.apply(state, &away);
                        }
                    }
                }
                self.simulation.steps(1)?;
                ends.push(self.images(&images)?);
            }
            let scale = |index: usize| match column.checked_sub(coordinates) {
                None => goes[index].get(column).copied(),
                Some(sample) => {
                    let inputs = pushes[index].len();
                    let input = sample.checked_rem(inputs)?;
                    (sample < SHARES.len() * inputs).then(|| pushes[index][input])
                }
            };
            for (index, part) in parts.iter_mut().enumerate() {
                let (Some(size), Some((up, sent_up)), Some((down, sent_down))) =
                    (scale(index), &ends[0][index], &ends[1][index])
                else {
                    continue;
                };
                let slope = |up: f64, down: f64| (up - down) / (2.0 * size);
                let (states, outputs, column) = match column.checked_sub(coordinates) {
                    None => (&mut part.a, &mut part.c, column),
                    Some(sample) => (&mut part.b, &mut part.d, sample),
                };
                for i in 0..up.len() {
                    states[(i, column)] = slope(up[i], down[i]);
                }
                for i in 0..sent_up.len() {
                    outputs[(i, column)] = slope(sent_up[i], sent_down[i]);
                }
            }
        }
        Ok(())
    }

    /// Coordinates and outputs behind a step, of the parts that show their states.
    fn images(&mut self, images: &[Option<Chart>]) -> Result<Vec<Option<Image>>, Fault> {
        self.rehearsal.change(&vec![None; images.len()]);
        let ends = self.ends()?;
        let mut found = Vec::new();
        for (index, (image, (_, sent))) in images.iter().zip(ends).enumerate() {
            let state = self.simulation.subsystem(SubsystemId(index)).state();
            found.push(image.as_ref().zip(state).map(|(image, state)| {
                let mut now = vec![0.0; image.dimension()];
                image.read(state, &mut now);
                (now, sent)
            }));
        }
        Ok(found)
    }

    /// The parts that do not: their responses to impulses, all of them at once as well.
    fn by_impulses(
        &mut self,
        parts: &mut [LinearPart],
        site: &Site,
        boxes: &[usize],
        pushes: &[Vec<f64>],
        steps: usize,
    ) -> Result<(), NotPredicted> {
        if boxes.is_empty() {
            return Ok(());
        }
        let recorded = RECORDED.min(steps - site.base_at);
        let samples = boxes
            .iter()
            .map(|&index| parts[index].b.ncols())
            .max()
            .unwrap_or(0);
        let mut records: Vec<[Vec<DMatrix<f64>>; 2]> = boxes
            .iter()
            .map(|&index| {
                let (rows, columns) = parts[index].d.shape();
                [(); 2].map(|()| vec![DMatrix::zeros(rows, columns); recorded])
            })
            .collect();
        for sample in 0..samples {
            for (sign, place) in [(1.0, 0), (-1.0, 1)] {
                self.return_to(site);
                let change = |pushes: &Vec<f64>| {
                    let input = sample.checked_rem(pushes.len())?;
                    (sample < SHARES.len() * pushes.len()).then(|| (sample, sign * pushes[input]))
                };
                let changes: Vec<_> = pushes.iter().map(change).collect();
                self.rehearsal.change(&changes);
                for n in 0..recorded {
                    if !self.limits.has_time() {
                        return Err(NotPredicted::NoTime);
                    }
                    self.simulation.steps(1)?;
                    self.rehearsal.turn_to(site.base_at + n + 1);
                    self.rehearsal.change(&vec![None; pushes.len()]);
                    let ends = self.ends()?;
                    for (record, &index) in records.iter_mut().zip(boxes) {
                        let Some((_, change)) = changes[index] else {
                            continue;
                        };
                        let base = &parts[index].sent[site.base_at + n + 1];
                        for (i, (sent, base)) in ends[index].1.iter().zip(base).enumerate() {
                            record[place][n][(i, sample)] = (sent - base) / change;
                        }
                    }
                }
            }
        }
        for ([up, down], &index) in records.into_iter().zip(boxes) {
            let both = || up.iter().zip(&down);
            let responses = both().map(|(up, down)| 0.5 * (up + down)).collect();
            let errors = both().map(|(up, down)| 0.5 * (up - down)).collect();
            let not_linear = || NotPredicted::NotLinear(self.names[index].clone());
            let model = realise(responses, errors).ok_or_else(not_linear)?;
            if model.misfit.is_nan() || model.misfit > MISFIT {
                return Err(not_linear());
            }
            let part = &mut parts[index];
            (part.a, part.b, part.c, part.d) = (model.a, model.b, model.c, model.d);
        }
        Ok(())
    }
}

/// Where differences are taken.
struct Site {
    base: Snapshot,
    base_at: usize,
}

/// Sizes of differences from how far coordinates go.
fn differences(goes: &DVector<f64>) -> Vec<f64> {
    let most = goes.iter().copied().fold(0.0, f64::max);
    let size = |goes: &f64| (DIFFERENCE * goes).max(FLOOR * most);
    goes.iter().map(size).map(positive).collect()
}

/// Sizes of changes of inputs from how far they go.
fn pushes(part: &LinearPart) -> Vec<f64> {
    let width = part.places.len();
    let range = |input: usize| {
        let values = || part.received.iter().map(move |all| all[input]);
        let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        (high - low).max(FLOOR * high.abs().max(low.abs()))
    };
    (0..width)
        .map(|input| positive(10.0 * DIFFERENCE * range(input)))
        .collect()
}

fn positive(size: f64) -> f64 {
    match size > 0.0 && size.is_finite() {
        true => size,
        false => FLOOR,
    }
}
