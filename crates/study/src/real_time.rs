//! Runs at the pace of the clock on the wall.

use std::sync::Arc;
use std::time::Duration;

use oldham_cosim::{OnMiss, Pacing, Summary};
use oldham_model::Model;
use oldham_real_time::{Privileges, Wishes};

use crate::StudyError;

/// How a run keeps the pace of the clock, and what it asks of the system for that.
#[derive(Clone, Debug, PartialEq)]
pub struct RealTime {
    /// Simulated seconds for each second of wall time.
    pub factor: f64,
    /// Seconds of wall time that a step may take; by default until the next is due.
    pub budget: Option<f64>,
    /// What happens when a step takes longer.
    pub on_miss: OnMiss,
    /// What is used where the system permits it, and told where it does not.
    pub wishes: Wishes,
}

impl RealTime {
    /// At so many simulated seconds for each second; what is late slips, and nothing is asked for.
    pub fn new(factor: f64) -> Self {
        Self {
            factor,
            budget: None,
            on_miss: OnMiss::default(),
            wishes: Wishes::default(),
        }
    }

    /// Whether the steps of a model can have this budget.
    pub fn check(&self, model: &Model) -> Result<(), StudyError> {
        let period = model.step() / self.factor;
        match self.budget {
            Some(budget) if budget > period => Err(StudyError::Budget { budget, period }),
            _ => Ok(()),
        }
    }

    /// The pace, and what its threads take and give back.
    pub(crate) fn pacing(&self) -> (Pacing, Held) {
        let privileges = Arc::new(Privileges::new(self.wishes.clone()));
        let threads = privileges.clone();
        let pacing = Pacing {
            budget: self.budget.map(Duration::from_secs_f64),
            on_miss: self.on_miss,
            thread_start: (!self.wishes.is_nothing())
                .then(|| Arc::new(move |thread| threads.take(thread)) as _),
            ..Pacing::new(self.factor)
        };
        (pacing, Held(privileges))
    }
}

/// What the threads of a run have taken.
#[derive(Default)]
pub(crate) struct Held(Arc<Privileges>);

impl Held {
    /// The run is over: its first thread, the caller's, is as it was, and what came of the wishes is
    /// noted.
    pub fn conclude(self, summary: &mut Summary) {
        self.0.give_back();
        let told = self.0.told().into_iter();
        let notes = told.map(|told| format!("{}: {}", told.what, told.outcome()));
        summary.notes.extend(notes);
    }
}
