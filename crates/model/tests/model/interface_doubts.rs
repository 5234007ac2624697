//! Interfaces that are wrong beside others that pass much more energy.

use oldham_cosim::{Discard, Run, Summary};

use crate::common::{example, read};

/// A loader arm whose bucket is set on the ground and pressed on it: the closed cylinder of the bucket passes some
/// tens of joules beside a lift that does thousands, and its pressure swings by 5 MPa at this step, by 0.02 MPa
/// at a fifth of it.
const LOADER: &str = include_str!("loader.toml");

fn run(text: &str) -> Summary {
    let model = read(text).unwrap_or_else(|problems| panic!("{problems}"));
    let mut simulation = model.simulation().expect("a simulation");
    let outcome = simulation.run(Run {
        energy_bound: model.energy_bound(),
        record_columns: Some(Vec::new()),
        ..Run::new(model.steps(), &mut Discard)
    });
    outcome.end.expect("a finished run");
    outcome.summary
}

#[test]
fn a_weak_interface_that_is_wrong_is_named() {
    let summary = run(LOADER);
    let doubts: Vec<&String> = summary
        .notes
        .iter()
        .filter(|note| note.contains("exchange at"))
        .collect();
    assert_eq!(doubts.len(), 1, "{:?}", summary.notes);
    assert!(doubts[0].contains("oil.tilt.force"), "{doubts:?}");
    assert!(summary.doubtful_share().is_some());
    // The predictor that knows the arm makes it right.
    let knowing = LOADER.replace(
        "micro_step = 1e-4",
        "micro_step = 1e-4\npredictor = \"interface-model\"",
    );
    let summary = run(&knowing);
    assert_eq!(summary.doubtful_share(), None, "{:?}", summary.created);
}

/// What the integrators undo is no reason to doubt, nor is what hardly matters.
#[test]
fn what_integrators_undo_is_not_doubted() {
    let text = example("two-mass-force-displacement");
    let summary = run(&text.replace("[schedule]", "[schedule]\noutput_update = true"));
    assert!(
        summary
            .notes
            .iter()
            .all(|note| !note.contains("exchange at")),
        "{:?}",
        summary.notes
    );
    let summary = run(&example("cut-beam"));
    assert_eq!(summary.doubtful_share(), None, "{:?}", summary.created);
}
