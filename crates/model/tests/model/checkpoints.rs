//! Saving changes nothing, and a continued run has the same bits: for every example.

use oldham_cosim::{Checkpoint, InMemory, Run, Simulation};
use oldham_model::Model;

use crate::common::{example, examples, read};

fn rows(simulation: &mut Simulation, steps: u64) -> Vec<Vec<u64>> {
    let mut record = InMemory::default();
    let outcome = simulation.run(Run::new(steps, &mut record));
    outcome.end.expect("a finished run");
    let bits = |row: &Vec<f64>| row.iter().map(|value| value.to_bits()).collect();
    record.rows.iter().map(bits).collect()
}

/// What differs between a run of so many steps and one that is saved at these points and continued
/// from each of them.
fn differences(model: &Model, steps: u64, points: &[u64]) -> Vec<String> {
    let build = || model.simulation().expect("a simulation");
    let whole = rows(&mut build(), steps);
    let mut saving = build();
    let (mut through, mut saved): (_, Vec<(u64, Checkpoint)>) = (Vec::new(), Vec::new());
    let mut done = 0;
    for &point in points {
        through.extend(rows(&mut saving, point - done));
        saved.push((point, saving.checkpoint("model").expect("a checkpoint")));
        done = point;
    }
    through.extend(rows(&mut saving, steps - done));
    let mut wrong = Vec::new();
    if through != whole {
        wrong.push("saving changes the run".into());
    }
    for (point, checkpoint) in saved {
        let mut continued = build();
        continued.restore(&checkpoint, "model").expect("a restart");
        if rows(&mut continued, steps - point) != whole[point as usize + 1..] {
            wrong.push(format!("other bits when continued at step {point}"));
        }
    }
    wrong
}

#[test]
fn every_example_continues_with_the_same_bits() {
    let mut wrong = Vec::new();
    for (name, text) in examples() {
        let model = read(&text).expect("a model");
        let steps = model.steps().min(30);
        let found = differences(&model, steps, &[steps / 4, 2 * steps / 3]);
        wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Two that went wrong at certain points only.
#[test]
fn a_pendulum_and_a_manipulator_continue_at_any_point() {
    for (name, steps, points) in [
        ("pendulum-spring", 60, vec![9, 18, 27, 36]),
        ("hydraulic-manipulator", 60, vec![5, 10, 20, 47]),
    ] {
        let model = read(&example(name)).expect("a model");
        let wrong = differences(&model, steps, &points);
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}
