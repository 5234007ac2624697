//! What a part answers to impulses at its inputs, by going back to one state again and again.
//!
//! Every run differs from one base run, so that a base which moves cancels to first order. Impulses of both signs tell
//! the response from its error, which is noise where impulses are small and curvature where they are large.

use std::ops::Range;

use nalgebra::DMatrix;
use oldham_cosim::{Moment, Simulation, Snapshot, StepError, Subsystem, SubsystemId};

use super::Unmeasurable;
use super::driver::{Driver, NODES};
use super::realisation::Record;
use crate::random::Random;
use crate::recurrence::{AnalysisError, TimeBudget};

/// The first size of impulses, relative to an input, and the largest, relative to an input or to one.
const FIRST_SIZE: f64 = 1e-3;
const LARGEST_SIZE: f64 = 1e6;
/// Error of a response, relative to it, that is small enough.
const CLEAN: f64 = 1e-9;
/// Error of a response that is there at all.
const SEEN: f64 = 0.03;
/// By how much impulses grow at once where their responses are there and where they are noise, by how much they shrink
/// where they are curved, and what is tried at last.
const GROWTH: [f64; 2] = [10.0, 1e3];
const SHRINKING: f64 = 0.1;
const FINER: [f64; 2] = [3.0, 1.0 / 3.0];
/// How often they shrink at most.
const SHRUNK: usize = 4;
/// Error from which on there is no response.
const LOST: f64 = 1e-2;
/// Steps of first looks.
const LOOK: usize = 64;
/// Steps after which a part may begin to do the same again, at most.
const LONGEST_PERIOD: usize = 16;
/// Steps of changes that no part overlooks which samples its inputs now and then.
const LASTING: Range<usize> = 0..LONGEST_PERIOD;
/// Steps of responses that are compared with each other.
const COMPARED: usize = 24;
/// How far responses may differ that are alike.
const ALIKE: f64 = 1e-3;
/// The same where the base run moves, in terms of what they differ at other steps, and in all.
const MUCH_NEARER: f64 = 0.2;
const MOVING: f64 = 0.05;
/// Times the noise that is a difference.
const ABOVE_NOISE: f64 = 20.0;

/// A run that may go on.
#[derive(Default)]
struct Course {
    state: Snapshot,
    steps: usize,
    /// Outputs behind each step.
    outputs: Vec<f64>,
}

impl Course {
    fn from(start: &Snapshot) -> Self {
        Self {
            state: start.clone(),
            ..Self::default()
        }
    }

    /// Goes on up to a number of steps, with changes of the inputs in some of them.
    fn extend(
        &mut self,
        driver: &mut Driver<'_>,
        steps: usize,
        pushed: Range<usize>,
        changes: &[f64],
    ) -> Result<(), StepError> {
        if self.steps >= steps {
            return Ok(());
        }
        driver.restore(&self.state);
        self.outputs.resize(steps * driver.width(), 0.0);
        let width = driver.width();
        for n in self.steps..steps {
            let outputs = &mut self.outputs[n * width..(n + 1) * width];
            let changes = if pushed.contains(&n) { changes } else { &[] };
            driver.step(n, changes, outputs)?;
        }
        self.steps = steps;
        driver.save(&mut self.state);
        Ok(())
    }
}

/// Where a part is pushed.
#[derive(Clone, Copy)]
struct Push {
    step: usize,
    node: usize,
    input: usize,
}

/// The responses of a part, as far as they were asked for.
pub(super) struct Responses {
    pub id: SubsystemId,
    /// Inputs that are connected, as places among all.
    pub places: Vec<usize>,
    /// Samples within a step that the part sees.
    pub nodes: usize,
    /// Steps after which it does the same again.
    pub period: usize,
    /// Sizes of the impulses.
    pub sizes: Vec<f64>,
    /// How outputs depend on these inputs at once.
    pub feedthrough: DMatrix<f64>,
    /// Outputs at the moment.
    pub outputs: Vec<f64>,
    /// All inputs at the moment.
    pub inputs: Vec<f64>,
    /// Steps that were taken.
    pub steps: u64,
    start: Snapshot,
    base: Course,
    pushed: Vec<(Push, [Course; 2])>,
}

impl Responses {
    /// Looks at a part: which sizes suit it, how often it samples its inputs, and what its period is.
    pub fn of(
        simulation: &mut Simulation,
        id: SubsystemId,
        places: Vec<usize>,
    ) -> Result<Self, AnalysisError> {
        let looked = simulation.alone(id, |part, moment| look(part, moment, id, places))?;
        looked.map_err(|reason| AnalysisError::Unmeasurable {
            part: simulation.names().nth(id.0).unwrap_or_default().to_owned(),
            reason,
        })
    }

    /// Goes on up to a number of steps.
    pub fn extend(
        &mut self,
        simulation: &mut Simulation,
        steps: usize,
        budget: &TimeBudget,
    ) -> Result<(), AnalysisError> {
        let steps = steps / self.period * self.period;
        // One course after the other, so that the time is looked at now and then.
        for index in 0..=self.pushed.len() {
            budget.allow(std::time::Duration::ZERO)?;
            let places = self.places.clone();
            let taken = simulation.alone(self.id, |part, moment| {
                let mut driver = Driver::new(part, moment, &places);
                match index.checked_sub(1) {
                    None => self.base.extend(&mut driver, steps, 0..0, &[])?,
                    Some(index) => {
                        let (push, courses) = &mut self.pushed[index];
                        let mut changes = changes(*push, &self.sizes, self.nodes);
                        for course in courses {
                            course.extend(
                                &mut driver,
                                steps,
                                push.step..push.step + 1,
                                &changes,
                            )?;
                            changes.iter_mut().for_each(|change| *change = -*change);
                        }
                    }
                }
                driver.restore(&self.start);
                Ok(driver.steps)
            })?;
            self.steps += taken;
        }
        Ok(())
    }

    /// Responses of whole periods: what follows in each of its steps from impulses in each step of the first.
    pub fn record(&self) -> Record {
        let width = self.outputs.len();
        let per_step = self.places.len() * self.nodes;
        let (rows, columns) = (width * self.period, per_step * self.period);
        let periods = self.base.steps / self.period;
        let mut record = Record {
            responses: vec![DMatrix::zeros(rows, columns); periods],
            errors: vec![DMatrix::zeros(rows, columns); periods],
        };
        for (push, [plus, minus]) in &self.pushed {
            let column = push.step * per_step + push.node * self.places.len() + push.input;
            let size = self.sizes[push.input];
            for n in push.step..periods * self.period {
                let (k, j) = (n / self.period, n % self.period);
                for i in 0..width {
                    let at = |course: &Course| course.outputs[n * width + i];
                    let up = (at(plus) - at(&self.base)) / size;
                    let down = (at(&self.base) - at(minus)) / size;
                    let place = (j * width + i, column);
                    record.responses[k][place] = 0.5 * (up + down);
                    record.errors[k][place] = 0.5 * (up - down);
                }
            }
        }
        record
    }

    /// What the part itself makes of changes of its inputs, step by step and no further than it was recorded: the changes of
    /// its outputs.
    pub fn play(
        &mut self,
        simulation: &mut Simulation,
        changes: &[Vec<f64>],
    ) -> Result<Vec<Vec<f64>>, AnalysisError> {
        let places = self.places.clone();
        let (start, base) = (&self.start, &self.base);
        let (taken, played) = simulation.alone(self.id, |part, moment| {
            let mut driver = Driver::new(part, moment, &places);
            driver.restore(start);
            let width = driver.width();
            let mut played = Vec::with_capacity(changes.len());
            for (n, changes) in changes.iter().enumerate().take(base.steps) {
                let mut outputs = vec![0.0; width];
                driver.step(n, changes, &mut outputs)?;
                let before = &base.outputs[n * width..(n + 1) * width];
                outputs.iter_mut().zip(before).for_each(|(y, b)| *y -= b);
                played.push(outputs);
            }
            driver.restore(start);
            Ok((driver.steps, played))
        })?;
        self.steps += taken;
        Ok(played)
    }
}

/// Changes of all samples of a step.
fn changes(push: Push, sizes: &[f64], nodes: usize) -> Vec<f64> {
    let mut changes = vec![0.0; nodes * sizes.len()];
    changes[push.node * sizes.len() + push.input] = sizes[push.input];
    changes
}

fn look(
    part: &mut dyn Subsystem,
    moment: Moment<'_>,
    id: SubsystemId,
    places: Vec<usize>,
) -> Result<Result<Responses, Unmeasurable>, StepError> {
    let feeds_through = part.ports().has_feedthrough();
    let unlike = match part.replay() {
        Some(_) => Unmeasurable::FreshOnesDiffer,
        None => Unmeasurable::NotRepeatable,
    };
    let mut driver = Driver::new(part, moment, &places);
    let mut start = Snapshot::default();
    driver.save(&mut start);
    let mut outputs = vec![0.0; driver.width()];
    driver.outputs(moment.inputs, &mut outputs)?;
    let mut base = Course::from(&start);
    base.extend(&mut driver, LOOK, 0..0, &[])?;
    let mut sizes = Vec::new();
    for (input, &place) in places.iter().enumerate() {
        let found = size_of(&mut driver, &start, &base, moment.inputs[place], |size| {
            let mut changes = vec![0.0; places.len()];
            changes[input] = size;
            changes
        });
        let Some(size) = found else {
            let mut changes = vec![0.0; places.len()];
            changes[input] = FIRST_SIZE.max(moment.inputs[place].abs());
            let repeats = repeats(&mut driver, &start, &base, &changes);
            driver.restore(&start);
            let reason = if repeats { Unmeasurable::Noise } else { unlike };
            return Ok(Err(reason));
        };
        sizes.push(size);
    }
    let signs = Random(id.0 as u64 + 1).amounts(places.len());
    let together: Vec<f64> = signs.iter().zip(&sizes).map(|(s, z)| s * z).collect();
    let answer = |driver: &mut Driver<'_>, pushed: Range<usize>| -> Result<_, StepError> {
        response(driver, &start, LOOK, pushed, &together)
    };
    let first = answer(&mut driver, LASTING)?;
    // Behind all others: what one of them has left behind shows.
    let mut again = Course::from(&start);
    again.extend(&mut driver, LOOK, 0..0, &[])?;
    let scales = scales(&first, &base, &again, driver.width());
    let noise = distance(&base.outputs, &again.outputs, &scales);
    let loudest = size(&first, &scales);
    if noise > LOST * loudest && noise > 0.0 {
        driver.restore(&start);
        return Ok(Err(unlike));
    }
    let nodes = match sees_within(&mut driver, &start, &base, &sizes, &scales, noise)? {
        true => NODES.len(),
        false => 1,
    };
    let mut shifted = Vec::new();
    for pushed in 0..=LONGEST_PERIOD {
        let all = answer(&mut driver, pushed..pushed + 1)?;
        let width = driver.width();
        shifted.push(all[pushed * width..(pushed + COMPARED) * width].to_vec());
    }
    let period = period(&shifted, &scales, ABOVE_NOISE * noise);
    let mut feedthrough = DMatrix::zeros(outputs.len(), places.len());
    if feeds_through {
        for (input, &place) in places.iter().enumerate() {
            let mut ends = [(); 2].map(|()| vec![0.0; outputs.len()]);
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                let mut inputs = moment.inputs.to_vec();
                inputs[place] += sign * sizes[input];
                driver.outputs(&inputs, end)?;
            }
            for i in 0..outputs.len() {
                feedthrough[(i, input)] = (ends[0][i] - ends[1][i]) / (2.0 * sizes[input]);
            }
        }
    }
    driver.restore(&start);
    let steps = driver.steps;
    let Some(period) = period else {
        return Ok(Err(Unmeasurable::NotPeriodic));
    };
    let mut pushed = Vec::new();
    for step in 0..period {
        for node in 0..nodes {
            for input in 0..places.len() {
                let push = Push { step, node, input };
                pushed.push((push, [(); 2].map(|()| Course::from(&start))));
            }
        }
    }
    Ok(Ok(Responses {
        id,
        places,
        nodes,
        period,
        sizes,
        feedthrough,
        outputs,
        inputs: moment.inputs.to_vec(),
        steps,
        base: Course::from(&start),
        start,
        pushed,
    }))
}

/// Whether the same changes from the same state have the same answer, as far as that stands above the base run.
fn repeats(driver: &mut Driver<'_>, start: &Snapshot, base: &Course, changes: &[f64]) -> bool {
    let mut twice = [(); 2].map(|()| Course::from(start));
    for one in &mut twice {
        if one.extend(driver, LOOK, LASTING, changes).is_err() {
            return false;
        }
    }
    let even = vec![1.0; driver.width()];
    let [first, second] = &twice;
    let apart = distance(&first.outputs, &second.outputs, &even);
    apart <= LOST * distance(&first.outputs, &base.outputs, &even)
}

/// The size of impulses at an input whose responses have the least error: noise falls with the size, curvature grows.
/// Nothing if no response stands above these.
fn size_of(
    driver: &mut Driver<'_>,
    start: &Snapshot,
    base: &Course,
    value: f64,
    changes: impl Fn(f64) -> Vec<f64>,
) -> Option<f64> {
    let first = FIRST_SIZE * if value == 0.0 { 1.0 } else { value.abs() };
    let most = LARGEST_SIZE * value.abs().max(1.0);
    let mut error_of = |size: f64| {
        let sizes = [size, -size, 0.5 * size, -0.5 * size];
        error_of(driver, start, base, sizes.map(&changes))
    };
    let (mut best, mut least) = (first, f64::INFINITY);
    let mut size = first;
    while size <= most
        && let Some(error) = error_of(size)
    {
        let is_worse = error > least;
        if !is_worse {
            (best, least) = (size, error);
        }
        if least < CLEAN || (is_worse && least < SEEN) {
            break;
        }
        size *= if error < SEEN { GROWTH[0] } else { GROWTH[1] };
    }
    if best == first {
        for _ in 0..SHRUNK {
            let next = best * SHRINKING;
            match error_of(next) {
                Some(error) if least > CLEAN && error < least => (best, least) = (next, error),
                _ => break,
            }
        }
    }
    // Between two sizes that were tried.
    for factor in FINER {
        match error_of(best * factor) {
            Some(error) if least > CLEAN && error < least => {
                (best, least) = (best * factor, error);
                break;
            }
            _ => {}
        }
    }
    // Infinite where nothing answers at all.
    (least < LOST || least.is_infinite()).then_some(best)
}

/// The error of the responses to opposite changes, and to the halves of them, relative to them: the geometric mean over
/// outputs, to which one that does not answer makes no difference. Nothing if the part cannot follow them, or none answers.
fn error_of(
    driver: &mut Driver<'_>,
    start: &Snapshot,
    base: &Course,
    changes: [Vec<f64>; 4],
) -> Option<f64> {
    let mut ends = [(); 4].map(|()| Course::from(start));
    for (end, changes) in ends.iter_mut().zip(changes) {
        end.extend(driver, LOOK, LASTING, &changes).ok()?;
    }
    let width = driver.width();
    let error = |i: usize| {
        let (mut answer, mut even, mut odd) = (0.0, 0.0, 0.0);
        for n in 0..LOOK {
            let at = |course: &Course| course.outputs[n * width + i];
            let [up, down, half_up, half_down] = ends.each_ref().map(|end| at(end) - at(base));
            answer += (up - down).powi(2);
            even += (up + down).powi(2);
            // A law such as a cubic one is alike for both signs.
            odd += (up - down - 2.0 * (half_up - half_down)).powi(2);
        }
        (answer > 0.0).then(|| (f64::max(even, odd) / answer).sqrt().max(f64::EPSILON))
    };
    let errors: Vec<f64> = (0..width)
        .filter_map(error)
        .filter(|e| e.is_finite())
        .collect();
    let mean = errors.iter().map(|e| e.ln()).sum::<f64>() / errors.len() as f64;
    (!errors.is_empty()).then(|| mean.exp())
}

/// Half the difference of what two opposite pushes give.
fn response(
    driver: &mut Driver<'_>,
    start: &Snapshot,
    steps: usize,
    pushed: Range<usize>,
    changes: &[f64],
) -> Result<Vec<f64>, StepError> {
    let mut ends = [(); 2].map(|()| Course::from(start));
    for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
        let changes: Vec<f64> = changes.iter().map(|change| sign * change).collect();
        end.extend(driver, steps, pushed.clone(), &changes)?;
    }
    let [up, down] = ends;
    let pairs = up.outputs.iter().zip(&down.outputs);
    Ok(pairs.map(|(up, down)| 0.5 * (up - down)).collect())
}

/// By how much outputs change, one after the other; those that are all noise count for as much as they answer.
fn scales(response: &[f64], base: &Course, again: &Course, width: usize) -> Vec<f64> {
    let largest = |i: usize| {
        let every = (0..response.len()).skip(i).step_by(width);
        every.fold((0.0_f64, 0.0_f64), |(answer, noise), at| {
            let off = (base.outputs[at] - again.outputs[at]).abs();
            (answer.max(response[at].abs()), noise.max(off))
        })
    };
    let scale = |i| {
        let (answer, noise) = largest(i);
        match answer > ABOVE_NOISE * noise && answer > 0.0 {
            true => 1.0 / answer,
            false => 0.0,
        }
    };
    let mut scales: Vec<f64> = (0..width).map(scale).collect();
    if scales.iter().all(|scale| *scale == 0.0) {
        // Nothing stands above the noise, so the noise itself is the scale.
        for (i, scale) in scales.iter_mut().enumerate() {
            let (answer, noise) = largest(i);
            let size = answer.max(noise);
            *scale = if size > 0.0 { 1.0 / size } else { 0.0 };
        }
    }
    scales
}

fn size(values: &[f64], scales: &[f64]) -> f64 {
    let squares = values.iter().enumerate();
    let squares = squares.map(|(at, value)| (value * scales[at % scales.len()]).powi(2));
    (squares.sum::<f64>() / values.len().max(1) as f64).sqrt()
}

fn distance(a: &[f64], b: &[f64], scales: &[f64]) -> f64 {
    let differences: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
    size(&differences, scales)
}

/// Whether a part sees more of its inputs within a step than those at its start.
fn sees_within(
    driver: &mut Driver<'_>,
    start: &Snapshot,
    base: &Course,
    sizes: &[f64],
    scales: &[f64],
    noise: f64,
) -> Result<bool, StepError> {
    let mut changes = vec![0.0; NODES.len() * sizes.len()];
    for node in 1..NODES.len() {
        for (input, size) in sizes.iter().enumerate() {
            changes[node * sizes.len() + input] = node as f64 * size;
        }
    }
    let mut course = Course::from(start);
    course.extend(driver, COMPARED, LASTING, &changes)?;
    let known = &base.outputs[..course.outputs.len()];
    Ok(distance(&course.outputs, known, scales) > ABOVE_NOISE * noise)
}

/// Steps after which impulses are answered alike; nothing if they never are.
fn period(shifted: &[Vec<f64>], scales: &[f64], noise: f64) -> Option<usize> {
    let largest = shifted.iter().map(|r| size(r, scales)).fold(0.0, f64::max);
    let apart = |period: usize| {
        let pairs = (period..shifted.len()).map(|q| (q, q % period));
        let apart = pairs.map(|(a, b)| distance(&shifted[a], &shifted[b], scales));
        apart.fold(0.0, f64::max)
    };
    let apart: Vec<f64> = (1..shifted.len()).map(apart).collect();
    let alike = apart.iter().position(|off| *off <= ALIKE * largest + noise);
    if let Some(place) = alike {
        return Some(place + 1);
    }
    let much_nearer = apart.iter().position(|off| *off < MUCH_NEARER * apart[0]);
    match much_nearer {
        Some(place) if apart[place] < MOVING * largest => Some(place + 1),
        _ if apart[0] < MOVING * largest => Some(1),
        _ => None,
    }
}
