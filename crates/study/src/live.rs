//! A run of which nothing is kept: it is for those who look on.

use oldham_cosim::{Cancel, Discard, Outcome, Progress, Simulation};
use oldham_model::Model;

use crate::Onlooker;
use crate::course::Course;

/// Runs a simulation of a model before somebody who looks on, at a pace: so many simulated seconds
/// for each second of wall time.
pub fn run_live(
    model: &Model,
    simulation: &mut Simulation,
    pace: f64,
    onlooker: Onlooker<'_>,
    cancel: Option<&Cancel>,
    progress: &mut dyn FnMut(Progress),
) -> Outcome {
    let mut course = Course {
        model,
        simulation,
        threads: None,
        pace: Some(pace),
        columns: Vec::new(),
        recorder: &mut Discard,
        onlooker: Some(onlooker),
        cancel,
        progress,
    };
    course.advance(u64::MAX)
}
