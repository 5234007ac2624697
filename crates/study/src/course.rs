//! The way of a simulation to its end, in pieces: between checkpoints and around pauses.

use oldham_cosim::{
    Cancel, Column, End, Outcome, Pacing, Progress, Recorder, Run, Simulation, Tap,
};
use oldham_model::Model;

use crate::pause::Next;
use crate::{Pause, StudyError};

/// Somebody who looks on while a simulation runs, and may let it wait.
pub struct Onlooker<'a> {
    /// A row every so many macro steps.
    pub every: u64,
    /// Which columns.
    pub columns: Vec<usize>,
    /// Where they go; it must not wait.
    pub recorder: &'a mut dyn Recorder,
    /// By which the run waits, goes on and ends.
    pub pause: Pause,
}

/// A simulation on its way.
pub(crate) struct Course<'a, 'o> {
    pub model: &'a Model,
    pub simulation: &'a mut Simulation,
    pub threads: Option<usize>,
    /// The clock whose pace is kept.
    pub pace: Option<Pacing>,
    pub columns: Vec<usize>,
    pub recorder: &'a mut dyn Recorder,
    pub onlooker: Option<Onlooker<'o>>,
    pub cancel: Option<&'a Cancel>,
    pub progress: &'a mut dyn FnMut(Progress),
}

impl Course<'_, '_> {
    /// Takes at most so many steps towards the end, through all pauses, until it is to take a turn.
    pub fn advance(&mut self, steps: u64) -> Outcome {
        let goal = self.simulation.steps_done().saturating_add(steps);
        let goal = goal.min(self.model.steps());
        loop {
            let pause = self
                .onlooker
                .as_ref()
                .map(|onlooker| onlooker.pause.clone());
            let next = match &pause {
                Some(pause) => pause.next(self.cancel),
                None => Next::Run(self.cancel.cloned().unwrap_or_default()),
            };
            let outcome = match next {
                Next::Run(stretch) => self.stretch(goal, stretch),
                Next::Turn | Next::End => {
                    return Outcome {
                        end: Ok(End::Cancelled),
                        summary: self.simulation.summary(),
                    };
                }
            };
            let goes_on = outcome.end == Ok(End::Cancelled)
                && pause.is_some_and(|pause| !pause.is_ended())
                && !self.cancel.is_some_and(Cancel::is_requested);
            if !goes_on {
                return outcome;
            }
        }
    }

    /// One run of the engine to this step.
    fn stretch(&mut self, goal: u64, stretch: Cancel) -> Outcome {
        let done = self.simulation.steps_done();
        let (user, ends) = (self.cancel, stretch.clone());
        let progress = &mut *self.progress;
        let mut show = |mut here: Progress| {
            // A stretch that can be paused has a cancel of its own.
            if user.is_some_and(Cancel::is_requested) {
                ends.request();
            }
            here.steps += done;
            progress(here);
        };
        let tap = self.onlooker.as_mut().map(|onlooker| Tap {
            every: onlooker.every,
            columns: Some(onlooker.columns.clone()),
            recorder: &mut *onlooker.recorder,
        });
        self.simulation.run(Run {
            steps: goal.saturating_sub(done),
            threads: self.threads.unwrap_or(self.model.threads()),
            record_every: self.model.record_every(),
            record_columns: Some(self.columns.clone()),
            recorder: &mut *self.recorder,
            tap,
            pace: self.pace.clone(),
            cancel: Some(stretch),
            energy_bound: self.model.energy_bound(),
            progress: Some(&mut show),
        })
    }
}

/// The columns of a model's simulation, and their values at the initial time.
pub fn initial_row(model: &Model) -> Result<(Vec<Column>, Vec<f64>), StudyError> {
    let mut simulation = model.simulation()?;
    let row = first_row(&mut simulation)?;
    Ok((simulation.columns().to_vec(), row))
}

/// The values of all columns of a simulation that has not begun.
pub fn first_row(simulation: &mut Simulation) -> Result<Vec<f64>, StudyError> {
    let mut rows = oldham_cosim::InMemory::default();
    let outcome = simulation.run(Run::new(0, &mut rows));
    outcome.end.map_err(StudyError::Run)?;
    Ok(rows.rows.pop().unwrap_or_default())
}
