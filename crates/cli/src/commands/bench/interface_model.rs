//! What an interface model costs.

use std::time::Instant;

use oldham_cosim::{Discard, Run};
use oldham_model::{Model, Overrides, Source};
use oldham_papers::peiret;

use super::{Figure, cpu_seconds};
use crate::failure::Failure;
use crate::table::number;

const ARM: &str = include_str!("../../../../../examples/two-cylinder-arm.toml");
const BLOCK: &str = include_str!("../../../../../examples/arm-and-block.toml");
/// Macro step in s, which is that of the mechanism.
const STEP: f64 = 0.01;
const REPEATS: usize = 7;
/// Macro steps of the coupled run: enough for those that are looked at.
const COUPLED: u64 = 2000;

pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    Ok(vec![share()?, overlap()?])
}

/// The arm that pushes a block.
fn arm(set: &[(&str, String)]) -> Result<Model, Failure> {
    let set = set
        .iter()
        .map(|(key, value)| ((*key).into(), value.clone()));
    let overrides = Overrides(set.collect());
    let source = Source::new("arm-and-block.toml", BLOCK);
    let source = source.including("two-cylinder-arm.toml", ARM);
    Ok(Model::of(
        source,
        &overrides,
        oldham_study::shipped_kinds(),
    )?)
}

/// Time of finding the interface model over that of a step, both of the mechanism alone, in contact: the larger of both
/// machines.
fn share() -> Result<Figure, Failure> {
    let mut found: Option<(f64, String)> = None;
    let mut told = Vec::new();
    for (machine, between) in peiret::IN_CONTACT {
        let costs = peiret::costs(machine, STEP, between, &cpu_seconds)?;
        let share = costs.model / costs.step;
        let name = match machine {
            peiret::Machine::Crane => "crane with log",
            _ => "arm with two cylinders against the block",
        };
        told.push(format!(
            "{name}: {} us over {} us, {} active rows at most, {} operations to factor and {} to solve",
            number(1e6 * costs.model),
            number(1e6 * costs.step),
            costs.active_rows,
            costs.operations.0,
            costs.operations.1
        ));
        if found.as_ref().is_none_or(|(most, _)| share > *most) {
            found = Some((share, name.into()));
        }
    }
    let (share, name) = found.expect("there are machines");
    let note = format!(
        "CPU time that finding the model adds to a step of the mechanism, over that of the step alone; larger for the {name}; {}",
        told.join("; ")
    );
    Ok(Figure::new("share", share, "1", &note).required(0.5))
}

/// Wall time of a macro step on two threads over the work of the larger side.
fn overlap() -> Result<Figure, Failure> {
    let mut best: Option<(f64, f64, f64)> = None;
    for _ in 0..REPEATS {
        let duration = (COUPLED as f64 * STEP).to_string();
        // It stands still: end stops would change the work.
        let set = [("simulation.duration", duration), ("dk", "0".into())];
        let mut simulation = arm(&set)?.simulation()?;
        let start = Instant::now();
        let outcome = simulation.run(Run {
            threads: 2,
            record_every: u64::MAX,
            ..Run::new(COUPLED, &mut Discard)
        });
        let wall = start.elapsed().as_secs_f64() * 1e6 / COUPLED as f64;
        assert!(outcome.end.is_ok(), "the arm runs");
        let parts = outcome.summary.parts.iter();
        let larger = parts.filter_map(|part| part.work_us).fold(0.0, f64::max);
        if best.is_none_or(|(ratio, ..)| wall / larger < ratio) {
            best = Some((wall / larger, wall, larger));
        }
    }
    let (ratio, wall, larger) = best.expect("there are repetitions");
    let note = format!(
        "wall time of a macro step of 10 ms on two threads, {} us, over the work of the larger side in it, {} us",
        number(wall),
        number(larger)
    );
    Ok(Figure::new("overlap", ratio, "1", &note).required(1.25))
}
