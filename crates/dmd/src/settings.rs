//! What the user chooses.

use oldham_cosim::{InputPort, OutputPort, Ports};

use crate::error::DmdError;
use crate::selection::Selection;

/// Scaled columns that are this close to a combination of the others add no information.
const TRUNCATION: f64 = 1e-10;

/// Snapshot pairs in the longest window of an automatic choice, where nothing else is said.
pub const LONGEST_WINDOW: usize = 100;

/// How a [`crate::Dmd`] learns.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The models that compete; the first one starts. One alone is a fixed choice.
    pub candidates: Vec<ModelSize>,
    /// The inputs that are predicted.
    pub received: Received,
    /// The outputs that act on the other side.
    pub controls: Controls,
    /// Relative size below which a direction of the scaled data counts as absent.
    pub truncation: f64,
}

/// Size of one model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelSize {
    /// Snapshot pairs in the window; an odd number is rounded up.
    pub window: usize,
    /// Earlier snapshots that the model sees beside the newest one.
    pub delays: usize,
}

/// Which inputs of the subsystem are predicted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Received {
    /// All.
    All,
    /// Only these: those that somebody sends.
    Only(Vec<InputPort>),
}

/// Which outputs of the subsystem a model takes as controls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Controls {
    /// All.
    All,
    /// Only these: those that lead to the senders of the inputs.
    Only(Vec<OutputPort>),
}

impl Settings {
    /// A window of fixed length without delays.
    pub fn fixed(window: usize) -> Self {
        Self::only(ModelSize { window, delays: 0 })
    }

    /// One shape, whatever comes.
    pub fn only(shape: ModelSize) -> Self {
        Self::with(vec![shape])
    }

    /// The window that the first candidate needs which is too short for so many signals.
    pub fn too_short(&self, signals: usize) -> Option<usize> {
        let short = |shape: &&ModelSize| shape.window < shape.columns(signals);
        let found = self.candidates.iter().find(short);
        found.map(|shape| shape.columns(signals))
    }

    /// Chooses among windows up to `longest`, from one that holds half as many pairs again as there
    /// are unknowns, without a delay and with one. It starts with the shortest, which follows a
    /// changing motion most closely. Windows that are too short for these ports are left out; the
    /// longest is kept, to be judged by [`crate::Dmd::new`].
    pub fn automatic(longest: usize, ports: &Ports) -> Self {
        Self::automatic_for(longest, ports.input_width() + ports.output_width())
    }

    /// The same for so many received and sent components.
    pub fn automatic_for(longest: usize, signals: usize) -> Self {
        let unknowns = ModelSize {
            window: longest,
            delays: 0,
        }
        .columns(signals);
        let windows = [
            (unknowns + unknowns / 2, 0),
            (longest / 10, 0),
            (longest / 3, 0),
            (longest, 0),
            (longest, 1),
        ];
        let shapes = windows.map(|(window, delays)| ModelSize {
            window: window.min(longest),
            delays,
        });
        let possible = |shape: &ModelSize| {
            let enough = shape.window >= shape.columns(signals);
            enough || (shape.window, shape.delays) == (longest, 0)
        };
        let mut candidates: Vec<ModelSize> = shapes.into_iter().filter(possible).collect();
        candidates.sort_by_key(|shape| (shape.delays, shape.window));
        candidates.dedup();
        Self::with(candidates)
    }

    fn with(candidates: Vec<ModelSize>) -> Self {
        Self {
            candidates,
            received: Received::All,
            controls: Controls::All,
            truncation: TRUNCATION,
        }
    }

    /// Checks the settings against the ports of a subsystem; gives what is received and sent.
    pub(crate) fn validate(&self, ports: &Ports) -> Result<Selection, DmdError> {
        let selection = Selection::new(ports, &self.received, &self.controls)?;
        let received = selection.received.input_width();
        let sent = selection.controls.len();
        if self.candidates.is_empty() {
            return Err(DmdError::NoCandidates);
        }
        if !(self.truncation > 0.0 && self.truncation < 1.0) {
            return Err(DmdError::Truncation);
        }
        for &ModelSize { window, delays } in &self.candidates {
            let needed = ModelSize { window, delays }.columns(received + sent);
            if window < needed {
                return Err(DmdError::WindowTooShort {
                    window,
                    needed,
                    received,
                    sent,
                    delays,
                });
            }
        }
        Ok(selection)
    }
}

impl ModelSize {
    /// Unknowns per predicted component: every signal, now and delayed, and a constant.
    pub(crate) fn columns(&self, signals: usize) -> usize {
        signals * (self.delays + 1) + 1
    }
}

impl Received {
    pub(crate) fn inputs(&self, ports: &Ports) -> Result<Vec<InputPort>, DmdError> {
        let known = ports.inputs().len();
        let Self::Only(inputs) = self else {
            return Ok((0..known).map(InputPort).collect());
        };
        match inputs.iter().find(|port| port.0 >= known) {
            Some(&unknown) => Err(DmdError::NoSuchInput(unknown)),
            None => Ok(inputs.clone()),
        }
    }
}

impl Controls {
    pub(crate) fn ports(&self, ports: &Ports) -> Result<Vec<OutputPort>, DmdError> {
        let known = ports.outputs().len();
        let Self::Only(outputs) = self else {
            return Ok((0..known).map(OutputPort).collect());
        };
        match outputs.iter().find(|port| port.0 >= known) {
            Some(&unknown) => Err(DmdError::NoSuchOutput(unknown)),
            None => Ok(outputs.clone()),
        }
    }
}
