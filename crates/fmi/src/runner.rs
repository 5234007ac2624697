//! Where the library of an FMU runs: here, or in a process of its own. What it is asked is the same.

use std::sync::Arc;

use crate::library::Watcher;
use crate::package::Package;
use crate::session::{Session, Setup};
use crate::worker::Proxy;

/// An instance, wherever it is.
pub(crate) enum Runner {
    /// In this process.
    Here {
        /// Nothing where it could not be made anew.
        session: Option<Box<Session>>,
        /// Calls of the last advance.
        calls: u64,
        /// Its folder, which outlives it.
        _package: Arc<Package>,
    },
    /// In another one.
    Away(Box<Proxy>),
}

impl Runner {
    /// A new instance in this process.
    pub fn here(setup: &Setup, package: &Arc<Package>) -> Result<Self, String> {
        Ok(Self::Here {
            session: Some(Box::new(Session::new(setup, Watcher::default())?)),
            calls: 0,
            _package: package.clone(),
        })
    }

    /// A fresh instance in the place of this one, which ends before: some libraries take only one in a process.
    pub fn renew(&mut self, setup: &Setup) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => {
                *session = None;
                *session = Some(Box::new(Session::new(setup, Watcher::default())?));
                Ok(())
            }
            Self::Away(proxy) => proxy.renew(setup),
        }
    }

    /// Whether it wants to know the inputs at the end of an advance: the outputs then come with it.
    pub fn looks_ahead(&self) -> bool {
        matches!(self, Self::Away(_))
    }

    /// Begins the initialisation.
    pub fn initialise(&mut self, t: f64) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => there(session)?.initialise(t),
            Self::Away(proxy) => proxy.initialise(t),
        }
    }

    /// Ends the initialisation with these inputs.
    pub fn start(&mut self, t: f64, inputs: &[f64]) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => there(session)?.start(inputs),
            Self::Away(proxy) => proxy.start(t, inputs),
        }
    }

    /// The outputs, with these inputs where they are given. Says whether the FMU was asked: what is known is not.
    pub fn outputs(
        &mut self,
        t: f64,
        inputs: Option<&[f64]>,
        outputs: &mut [f64],
    ) -> Result<bool, String> {
        match self {
            Self::Here { session, .. } => there(session)?.outputs(inputs, outputs).map(|()| true),
            Self::Away(proxy) => proxy.outputs(t, inputs, outputs),
        }
    }

    /// Begins an advance of some steps, with the inputs of each, and those at the end where it looks ahead.
    pub fn begin(
        &mut self,
        from: f64,
        to: f64,
        steps: usize,
        inputs: &[f64],
    ) -> Result<(), String> {
        match self {
            Self::Here { session, calls, .. } => {
                *calls = there(session)?.advance(from, to, steps, inputs)?;
                Ok(())
            }
            Self::Away(proxy) => proxy.begin(from, to, steps, inputs),
        }
    }

    /// Waits for the end of an advance; says how many steps the FMU took.
    pub fn finish(&mut self, is_cancelled: &dyn Fn() -> bool) -> Result<u64, String> {
        match self {
            Self::Here { calls, .. } => Ok(*calls),
            Self::Away(proxy) => proxy.finish(is_cancelled),
        }
    }

    /// Keeps the present state in a place.
    pub fn keep(&mut self, place: usize) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => there(session)?.keep(place),
            Self::Away(proxy) => proxy.keep(place),
        }
    }

    /// Goes back to the state in a place.
    pub fn return_to(&mut self, place: usize) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => there(session)?.return_to(place),
            Self::Away(proxy) => proxy.return_to(place),
        }
    }

    /// The present state as bytes.
    pub fn save(&mut self, bytes: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => there(session)?.save(bytes),
            Self::Away(proxy) => proxy.save(bytes),
        }
    }

    /// Goes back to a state.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), String> {
        match self {
            Self::Here { session, .. } => there(session)?.restore(bytes),
            Self::Away(proxy) => proxy.restore(bytes),
        }
    }
}

fn there(session: &mut Option<Box<Session>>) -> Result<&mut Session, String> {
    session
        .as_deref_mut()
        .ok_or_else(|| "it could not be made anew".into())
}
