//! What a mechanism costs on this machine.

use oldham_cosim::Subsystem;
use oldham_model::{Mechanism, Model};
use oldham_multibody::cut::{Outline, Role};
use oldham_multibody::{ElementKind, KindTimes, Stopwatch};

use super::candidates::{Candidates, Readable};
use super::costs::{CostTable, Fit, kinds};
use super::fit::{PartSample, part_and_copy};
use super::search::mechanism_named;
use super::trial::{STEPS, Timed, busiest, threads_for, timed};
use crate::mechanisms::failed;
use crate::{ModelFile, StudyError};

/// Cuts that are timed: the best ones in so many parts.
const CUTS: [usize; 3] = [2, 3, 4];
/// Elements take at most this share of a step; the rest is for nodes and the linear solver.
const MOST_OF_A_STEP: f64 = 0.95;

/// Times the whole mechanism and some cuts of it, and finds what elements, nodes and copies cost.
pub fn measure_costs(
    file: &ModelFile,
    model: &Model,
    mechanism: Option<&str>,
    progress: &mut dyn FnMut(&str),
) -> Result<CostTable, StudyError> {
    let cut = mechanism_named(model, mechanism)?;
    let name = cut.name().to_owned();
    let file = match cut.partition() {
        Some(_) => file.clone().set(format!("multibody.{name}.cut"), ""),
        None => file.clone(),
    };
    let model = file.read()?;
    let whole = mechanism_named(&model, Some(&name))?;
    let outline = whole.model().outline();
    let estimated = CostTable::estimated(&outline);
    progress("timing the whole");
    let step = share_of(&timed(&model, 1, estimated.whole)?, &name);
    progress("timing elements");
    let times = element_times(whole, model.step())?;
    let mut costs = of_whole(&outline, &times, step);
    // What copies and interfaces cost is known from cuts; until then it is estimated.
    let mut samples = Vec::new();
    for parts in CUTS {
        progress("timing cuts");
        let candidates = Candidates::find(whole, &model, &costs, parts)?;
        let Some(found) = candidates.readable(&file) else {
            break;
        };
        if let Some(sample) = sample(&found, &name, &costs, &outline) {
            samples.push(sample);
        }
    }
    fitted(&mut costs, &samples);
    Ok(costs.rounded())
}

/// What the mechanism takes of a step.
fn share_of(timed: &Timed, mechanism: &str) -> f64 {
    let sum: f64 = timed.work.iter().map(|(_, work)| work).sum();
    let own = timed.work.iter().find(|(name, _)| name == mechanism);
    own.map_or(timed.step, |(_, work)| timed.step * work / sum)
}

/// Elements by kind, and how often they are evaluated in a macro step.
struct ElementTimes {
    kinds: Vec<KindTimes>,
    residuals: f64,
    jacobians: f64,
}

fn element_times(mechanism: Mechanism<'_>, step: f64) -> Result<ElementTimes, StudyError> {
    let mut part = mechanism
        .solver()
        .map_err(|error| failed(mechanism, error))?;
    let inputs = part.ports().initial_inputs().to_vec();
    let system = part.system_mut();
    let started = system.start(system.time(), &inputs);
    started.map_err(|error| failed(mechanism, error))?;
    let step = step / mechanism.micro_steps() as f64;
    let mut watch = Stopwatch::new(system);
    let before = system.counters();
    let mut done = 0_u64;
    while done < STEPS && system.step(step, &inputs).is_ok() {
        watch.look(system, step, &inputs);
        done += 1;
    }
    let after = system.counters();
    let each = |count: u64| mechanism.micro_steps() as f64 * count as f64 / done.max(1) as f64;
    Ok(ElementTimes {
        kinds: watch.times(),
        // The iteration ends with a residual that is small.
        residuals: each(after.iterations - before.iterations + done),
        jacobians: each(after.factorisations - before.factorisations),
    })
}

/// Elements as they were timed; nodes share what is left of the step.
fn of_whole(outline: &Outline, times: &ElementTimes, step: f64) -> CostTable {
    let cost = |kind: &ElementKind| {
        let found = times.kinds.iter().find(|it| it.kind == *kind);
        found.map_or(0.0, |it| {
            times.residuals * it.residual + times.jacobians * it.jacobian
        })
    };
    let mut table = kinds(outline, cost);
    let sum: f64 = table.iter().map(|kind| kind.cost * kind.count as f64).sum();
    let scale = (MOST_OF_A_STEP * step / sum.max(f64::MIN_POSITIVE)).min(1.0);
    table.iter_mut().for_each(|kind| kind.cost *= scale);
    let node = (step - scale * sum) / outline.nodes.len().max(1) as f64;
    let estimated = CostTable::estimated(outline);
    // An estimate in the proportion of this machine.
    let pace = step / estimated.whole.max(f64::MIN_POSITIVE);
    CostTable {
        measured: true,
        whole: step,
        kinds: table,
        node,
        part: 1.0,
        copy: pace * estimated.copy,
        interface: pace * estimated.interface,
        exchange: estimated.exchange,
        fit: None,
    }
}

/// A cut that was timed.
struct CutSample {
    parts: Vec<PartSample>,
    interfaces: f64,
    /// Work of the couplings together, in µs.
    coupling: f64,
    /// A step on as many threads as can be used.
    step: f64,
    threads: usize,
}

fn sample(found: &Readable, name: &str, costs: &CostTable, outline: &Outline) -> Option<CutSample> {
    let threads = threads_for(found.parts);
    let alone = timed(&found.model, 1, costs.whole).ok()?;
    let step = match threads {
        1 => alone.step,
        _ => timed(&found.model, threads, costs.whole).ok()?.step,
    };
    let mechanism = mechanism_named(&found.model, Some(name)).ok()?;
    let report = mechanism.partition()?;
    let work = |piece: &str| {
        let full = format!("{name}.{piece}");
        let own = alone.work.iter().find(|(name, _)| *name == full);
        own.map_or(0.0, |(_, work)| *work)
    };
    let mut sample = CutSample {
        parts: Vec::new(),
        interfaces: report.interfaces.len() as f64,
        coupling: 0.0,
        step,
        threads,
    };
    for (piece, subdomain) in report.pieces.iter().zip(&found.partition.subdomains) {
        let elements = subdomain.elements.iter();
        let elements = elements.map(|id| costs.of(&outline.elements[id.index()].kind));
        let base = elements.sum::<f64>() + costs.node * subdomain.nodes.len() as f64;
        match subdomain.role {
            Role::Part => sample.parts.push(PartSample {
                base,
                copies: subdomain.copies.len() as f64,
                work: work(&piece.name).max(f64::MIN_POSITIVE),
            }),
            Role::Coupling => sample.coupling += work(&piece.name),
        }
    }
    Some(sample)
}

/// Costs of parts, copies, interfaces and exchange that meet the samples best.
fn fitted(costs: &mut CostTable, samples: &[CutSample]) {
    let mut fit = Fit {
        steps: STEPS,
        cuts: samples.len(),
        parts: 0,
        worst_part: 0.0,
        worst_step: 0.0,
    };
    let parts: Vec<PartSample> = samples.iter().flat_map(|it| it.parts.clone()).collect();
    if !parts.is_empty() {
        (costs.part, costs.copy) = part_and_copy(&parts);
        let interfaces: f64 = samples.iter().map(|it| it.interfaces).sum();
        costs.interface = samples.iter().map(|it| it.coupling).sum::<f64>() / interfaces.max(1.0);
        let predicted = |it: &PartSample| costs.part * it.base + costs.copy * it.copies;
        let work = |it: &CutSample| {
            let parts: Vec<f64> = it.parts.iter().map(predicted).collect();
            busiest(&parts, it.threads) + costs.interface * it.interfaces
        };
        let left: f64 = samples.iter().map(|it| it.step - work(it)).sum();
        let exchange = (left / samples.len() as f64).max(0.0);
        fit.parts = parts.len();
        let errors = parts.iter().map(|it| (predicted(it) / it.work - 1.0).abs());
        fit.worst_part = errors.fold(0.0, f64::max);
        let errors = samples
            .iter()
            .map(|it| ((work(it) + exchange) / it.step - 1.0).abs());
        fit.worst_step = errors.fold(0.0, f64::max);
        costs.exchange = exchange;
    }
    costs.fit = Some(fit);
}
