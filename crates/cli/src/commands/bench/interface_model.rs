//! What an interface model costs.

use std::time::Instant;

use oldham_cosim::{
    Conjugate, Discard, EffectiveInterface, Hold, InputPort, Inputs, InterfaceResponse, Run,
    Subsystem,
};
use oldham_model::{Extensions, Model, Overrides, Source};

use super::{Figure, cpu_seconds};
use crate::failure::Failure;
use crate::table::number;

const ARM: &str = include_str!("../../../../../examples/two-cylinder-arm.toml");
const BLOCK: &str = include_str!("../../../../../examples/arm-and-block.toml");
/// Macro step in s, which is that of the mechanism.
const STEP: f64 = 0.01;
const REPEATS: usize = 7;
/// Steps of the mechanism that are timed.
const STEPS: usize = 300;
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
    Ok(Model::of(source, &overrides, &Extensions::new())?)
}

/// Time of finding the interface model over that of a step, both of the mechanism alone, in contact.
fn share() -> Result<Figure, Failure> {
    // The tip is a millimetre from the block, which the friction as printed holds.
    let model = arm(&[("mu", "0.5".into()), ("xb", "1.267".into())])?;
    let mechanism = model.mechanisms().next().expect("the arm is one");
    let (mut alone, mut both, mut rows) = (f64::INFINITY, f64::INFINITY, 0);
    for _ in 0..REPEATS {
        for asks in [false, true] {
            let mut part = mechanism.solver().expect("the arm finds its rest");
            let ports = part.ports().clone();
            let mut inputs = Inputs::new(&ports, Box::new(Hold::new(0, &ports)));
            for (place, actuator) in model.resting_actuators().iter().enumerate() {
                // The stick pushes the block, which friction holds.
                let push = [0.0, 1500.0][place];
                inputs.receive(InputPort(place), 0.0, &[actuator.force + push]);
            }
            let mut values = vec![0.0; ports.input_width()];
            inputs.at(0.0, &mut values);
            let forces = ports.conjugates().iter().filter_map(|pair| match *pair {
                Conjugate::GivesMotion { force, .. } => Some(ports.input_range(force).start),
                _ => None,
            });
            let mut found = EffectiveInterface::at(forces.collect());
            let start = cpu_seconds();
            for n in 0..STEPS {
                let from = n as f64 * STEP;
                if asks {
                    assert!(part.interface(from, &values, &mut found), "it can be told");
                }
                let reached = part.advance(from, from + STEP, &mut inputs);
                reached.expect("the arm moves on");
            }
            let spent = (cpu_seconds() - start) / STEPS as f64;
            rows = part.system().active_rows();
            match asks {
                true => both = f64::min(both, spent),
                false => alone = f64::min(alone, spent),
            }
        }
    }
    let note = format!(
        "CPU time that finding the model adds to a step of the mechanism, {} us, over that of the step alone, {} us; factors are shared; the arm with two cylinders against the block, {rows} active rows",
        number(1e6 * (both - alone)),
        number(1e6 * alone)
    );
    let share = (both - alone) / alone;
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
