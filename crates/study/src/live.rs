//! A run of which nothing is kept: it is for those who look on.

use oldham_cosim::{Cancel, Discard, Outcome, Progress, Simulation};
use oldham_model::Model;

use crate::course::Course;
use crate::{Onlooker, RealTime};

/// Runs a simulation of a model before somebody who looks on, at the pace of the clock.
pub fn run_live(
    model: &Model,
    simulation: &mut Simulation,
    real_time: &RealTime,
    onlooker: Onlooker<'_>,
    cancel: Option<&Cancel>,
    progress: &mut dyn FnMut(Progress),
) -> Outcome {
    let (pace, privileges) = real_time.pacing();
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
    let mut outcome = course.advance(u64::MAX);
    privileges.conclude(&mut outcome.summary);
    outcome
}
