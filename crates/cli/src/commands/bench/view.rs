//! What looking on costs those who compute: the car, before a viewer.

use oldham_cosim::{Discard, Run, Tap};
use oldham_model::Model;
use oldham_scene::Showing;
use oldham_web::{Server, Spectator, Stage, row_bytes};

use super::{Figure, car, cpu_seconds};
use crate::failure::Failure;
use crate::live::LiveScene;
use crate::table::number;

/// Steps of a repetition, and repetitions: the best counts.
const STEPS: u64 = 4_000;
const REPEATS: usize = 7;
/// Frames a second.
const RATE: f64 = 60.0;

/// A frame is dear beside nothing, so it is measured by showing every single step.
pub(super) fn figures() -> Result<Vec<Figure>, Failure> {
    let model = car::car(STEPS, true)?;
    let scene = LiveScene::of_simulation(&model, &mut model.monolithic(None)?)?;
    let stage = Stage::new(Vec::new(), |_| {});
    let server = Server::start(([127, 0, 0, 1], 0).into(), &scene.film, Some(stage.clone()))?;
    let viewer = Spectator::taking(&server).expect("the benchmark's server listens");
    let best = |shown: Option<&Stage>| -> Result<f64, Failure> {
        let mut best = f64::INFINITY;
        for _ in 0..REPEATS {
            best = best.min(per_step(&model, &scene, shown)?);
        }
        Ok(best)
    };
    let (plain, shown) = (best(None)?, best(Some(&stage))?);
    drop(server);
    viewer.leave();
    let frame = (shown - plain).max(0.0);
    let steps = 1.0 / RATE / model.step();
    let share = frame / (steps * plain);
    let note = format!(
        "{} us for a frame, {} us for a step, {} steps of {} ms between two frames at 60 Hz",
        number(frame),
        number(plain),
        number(steps),
        number(model.step() * 1e3)
    );
    let row = vec![0.0; scene.film.scene.width];
    let bytes = row_bytes(0.0, &row).len();
    let sent = format!(
        "{} numbers of the car and its signals; {} kB/s to each viewer",
        row.len(),
        number(bytes as f64 * RATE / 1e3)
    );
    Ok(vec![
        Figure::new("frame-share", 100.0 * share, "%", &note).required(1.0),
        Figure::new("frame-bytes", bytes as f64, "B", &sent),
    ])
}

/// CPU time of the simulation's thread for a step, in microseconds.
fn per_step(model: &Model, scene: &LiveScene, shown: Option<&Stage>) -> Result<f64, Failure> {
    let mut simulation = model.monolithic(None)?;
    let mut showing = shown.cloned().map(Showing);
    let start = cpu_seconds();
    let outcome = simulation.run(Run {
        record_every: u64::MAX,
        record_columns: Some(Vec::new()),
        tap: showing.as_mut().map(|showing| Tap {
            every: 1,
            columns: Some(scene.columns.clone()),
            recorder: showing,
        }),
        ..Run::new(STEPS, &mut Discard)
    });
    let spent = cpu_seconds() - start;
    assert!(outcome.end.is_ok(), "the benchmark's model runs");
    Ok(spent * 1e6 / STEPS as f64)
}
