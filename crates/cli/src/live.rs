//! A model that runs before browsers: what they see, and what they are told.

use std::net::SocketAddr;
use std::time::Duration;

use oldham_cosim::{End, Outcome, Progress, Simulation};
use oldham_model::Model;
use oldham_scene::Staging;
use oldham_study::{StudyError, first_row};
use oldham_web::{Film, RunState, RunStatus, Server, Stage};
use serde_json::json;

use crate::args::Serving;
use crate::failure::Failure;
use crate::{interrupt, say};

/// Pictures a second that a page is sent.
const RATE: f64 = 60.0;
/// How often somebody who waits looks around.
const LOOK: Duration = Duration::from_millis(20);

/// A scene whose rows come from a simulation.
pub struct LiveScene {
    /// The scene with its initial row.
    pub film: Film,
    /// For each number of a row, the column of the simulation.
    pub columns: Vec<usize>,
}

impl LiveScene {
    /// What there is to see of a model while it runs.
    pub fn of(model: &Model) -> Result<Self, Failure> {
        Self::of_simulation(model, &mut model.simulation()?)
    }

    /// The same of a simulation of the model that has not begun.
    pub fn of_simulation(model: &Model, simulation: &mut Simulation) -> Result<Self, Failure> {
        let values = first_row(simulation)?;
        let all = simulation.columns();
        let chosen = model.recorded(all).map_err(StudyError::from)?;
        let (film, columns) = Staging::of_run(model, all, &values, &chosen);
        Ok(Self { film, columns })
    }
}

/// Macro steps between two rows that are shown.
pub fn steps_between_rows(model: &Model, pace: f64) -> u64 {
    (pace / RATE / model.step()).round().max(1.0) as u64
}

/// Starts a server and tells where it is.
pub fn serve(
    command: &str,
    serving: &Serving,
    film: &Film,
    stage: Option<Stage>,
    json: bool,
) -> Result<Server, Failure> {
    let address = SocketAddr::new(serving.listen, serving.port);
    let server = Server::start(address, film, stage)?;
    // From now on a signal ends the command in order.
    interrupt::watch();
    if json {
        say!(
            "{}",
            json!({
                "command": command,
                "status": "serving",
                "url": server.url(),
                "url_from_elsewhere": server.url_from_elsewhere(),
            })
        );
    } else {
        say!("open {} in a browser; Ctrl-C ends", server.url());
        if let Some(url) = server.url_from_elsewhere() {
            let hint = match url.contains("ADDRESS") {
                true => ", with the address of this computer for ADDRESS",
                false => "",
            };
            say!("from another computer open {url}{hint}");
        }
    }
    Ok(server)
}

/// Lets browsers look until the user ends the command.
pub fn wait_for_the_user() {
    interrupt::idle();
    wait_until(|| false);
}

/// Waits until something holds or the user ends the command; says which.
pub fn wait_until(mut holds: impl FnMut() -> bool) -> bool {
    while !interrupt::watch().is_requested() {
        if holds() {
            return true;
        }
        std::thread::sleep(LOOK);
    }
    false
}

/// Tells how a run is getting on.
pub fn tell_progress(stage: &Stage, progress: Progress, is_paused: bool, returns: bool) {
    let state = if is_paused {
        RunState::Paused
    } else {
        RunState::Running
    };
    stage.tell(RunStatus {
        state,
        real_time_factor: progress.real_time_factor,
        step_us: Some(progress.step_us),
        missed: Some(progress.missed),
        returns,
        message: String::new(),
    });
}

/// How a run ended; `results` is where they are, if anywhere.
pub fn status_at_end(outcome: &Outcome, results: Option<String>, returns: bool) -> RunStatus {
    let summary = &outcome.summary;
    let (state, mut message) = match &outcome.end {
        Ok(End::Finished) => (RunState::Finished, String::new()),
        Ok(End::Cancelled) => (RunState::Finished, "It was ended early.".to_owned()),
        Err(fault) => (RunState::Failed, fault.to_string()),
    };
    if let Some(results) = results {
        message = format!("{message} Results: {results}").trim().to_owned();
    }
    RunStatus {
        state,
        message,
        real_time_factor: summary.real_time_factor,
        step_us: Some(summary.step_us),
        missed: summary.lateness.as_ref().map(|lateness| lateness.missed),
        returns,
    }
}
