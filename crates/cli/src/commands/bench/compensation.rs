//! What a compensator adds to a macro step.

use oldham_cosim::{Discard, Run};
use oldham_model::{Model, Overrides};

use super::{Figure, cpu_seconds};
use crate::failure::Failure;

const BEAM: &str = include_str!("../../../../../examples/beam-absorber.toml");
const PAIR: &str = include_str!("../../../../../examples/two-mass-compensated.toml");

/// Rounds in which all variants are measured one after the other; the best of each counts.
const ROUNDS: usize = 15;

/// Gains for every signal, too small to change the motion: only their cost is measured.
const GAINS: &str = r#"{ force_side = { "weight.x" = 1e-9, "weight.v" = 1e-9, "weight.a" = 1e-9, "girder.x" = 1e-9, "girder.v" = 1e-9, "girder.a" = 1e-9 }, motion_side = { "middle.x" = 1e-9, "middle.v" = 1e-9, "middle.a" = 1e-9 }, sent_force = { "weight.x" = 1e-9, "weight.v" = 1e-9, "weight.a" = 1e-9 } }"#;

/// A mechanism coupled with a lumped part, and the smallest pair there is.
pub(super) fn compensation() -> Result<Vec<Figure>, Failure> {
    // Soft enough to be stable without compensation.
    let soft = [("k", "200.0"), ("simulation.step", "1e-3")];
    let beam = BEAM
        .replace("elements = 2", "elements = 12")
        .replace("girder.4", "girder.24")
        .replace("girder.2\"", "girder.12\"");
    let [plain, assigned, structural] = measure(
        &beam,
        1000,
        [
            &[&soft[..], &[("compensator.link.method", "none")]].concat(),
            &[
                &soft[..],
                &[
                    ("compensator.link.method", "assignment"),
                    ("compensator.link.gains", GAINS),
                ],
            ]
            .concat(),
            &soft,
        ],
    )?;
    let share = |spent: f64| 100.0 * (spent / plain - 1.0);
    let note = "of a macro step of a beam of 25 nodes and a lumped mass";
    let small = [("simulation.step", "1e-3")];
    let off = [("compensator.coupling.method", "none")];
    let on = [("compensator.coupling.method", "structural")];
    let [pair, pair_assigned, pair_structural] = measure(
        PAIR,
        20_000,
        [
            &[&small[..], &off].concat(),
            &small,
            &[&small[..], &on].concat(),
        ],
    )?;
    Ok(vec![
        Figure::new(
            "beam",
            plain,
            "us",
            "CPU time per macro step, not compensated",
        ),
        Figure::new("assignment", share(assigned), "%", note).required(5.0),
        Figure::new("structural", share(structural), "%", note).required(5.0),
        Figure::new("pair", pair, "us", "two masses, not compensated"),
        Figure::new(
            "pair-assignment",
            pair_assigned - pair,
            "us",
            "added to two masses",
        ),
        Figure::new(
            "pair-structural",
            pair_structural - pair,
            "us",
            "added to two masses",
        ),
    ])
}

type Settings<'a> = &'a [(&'a str, &'a str)];

/// CPU time per macro step of each variant, in microseconds.
fn measure(text: &str, steps: u64, variants: [Settings<'_>; 3]) -> Result<[f64; 3], Failure> {
    let mut best = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        for (best, settings) in best.iter_mut().zip(variants) {
            let set = settings
                .iter()
                .map(|&(key, value)| (key.into(), value.into()));
            let model = Model::parse(text, "benchmark", &Overrides(set.collect()))?;
            let mut simulation = model.simulation()?;
            let mut nothing = Discard;
            let start = cpu_seconds();
            let outcome = simulation.run(Run {
                record_every: u64::MAX,
                ..Run::new(steps, &mut nothing)
            });
            assert!(outcome.end.is_ok(), "the benchmark's model runs");
            *best = best.min((cpu_seconds() - start) / steps as f64 * 1e6);
        }
    }
    Ok(best)
}
