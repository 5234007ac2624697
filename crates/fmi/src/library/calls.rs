//! Which function of a library is running: told to the process that watches from another process.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use oldham_shm::Memory;

use crate::description::Version;

/// Functions of a library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    Load = 1,
    Instantiate,
    EnterInitialization,
    ExitInitialization,
    Set,
    Get,
    DoStep,
    GetState,
    SetState,
    SerializeState,
    DeserializeState,
    FreeInstance,
    Derivatives,
    Events,
}

impl Call {
    const ALL: [(Self, &'static str); 14] = [
        (Self::Load, ""),
        (Self::Instantiate, "Instantiate"),
        (Self::EnterInitialization, "EnterInitializationMode"),
        (Self::ExitInitialization, "ExitInitializationMode"),
        (Self::Set, "Set"),
        (Self::Get, "Get"),
        (Self::DoStep, "DoStep"),
        (Self::GetState, "GetFMUstate"),
        (Self::SetState, "SetFMUstate"),
        (Self::SerializeState, "SerializeFMUstate"),
        (Self::DeserializeState, "DeSerializeFMUstate"),
        (Self::FreeInstance, "FreeInstance"),
        (Self::Derivatives, ""),
        (Self::Events, ""),
    ];

    /// What is said of it in messages.
    pub fn words(number: u64, version: Version) -> String {
        let mut all = Self::ALL.iter();
        let Some((call, name)) = all.find(|(call, _)| *call as u64 == number) else {
            return "between calls".into();
        };
        let prefix = match version {
            Version::Two => "fmi2",
            Version::Three => "fmi3",
        };
        match call {
            Self::Load => "while its library was loaded".into(),
            Self::Derivatives => "while its derivatives were asked for".into(),
            Self::Events => "while it handled an event".into(),
            Self::Set => format!("in a call of {prefix}Set..."),
            Self::Get => format!("in a call of {prefix}Get..."),
            _ => format!("in {prefix}{name}"),
        }
    }
}

/// Where it is told which call runs: a cell of shared memory, if the library is in a process of its own.
#[derive(Clone, Default)]
pub(crate) struct Watcher(Option<(Arc<Memory>, usize)>);

impl Watcher {
    /// Tells it in a cell.
    pub fn at(memory: Arc<Memory>, cell: usize) -> Self {
        Self(Some((memory, cell)))
    }

    /// Whether the library is in a process of its own.
    pub fn is_elsewhere(&self) -> bool {
        self.0.is_some()
    }

    #[inline]
    fn tell(&self, number: u64) {
        if let Some((memory, cell)) = &self.0 {
            memory.cells()[*cell].store(number, Ordering::Relaxed);
        }
    }

    /// A function is called.
    #[inline]
    pub fn enters(&self, call: Call) {
        self.tell(call as u64);
    }

    /// It has returned.
    #[inline]
    pub fn leaves(&self) {
        self.tell(0);
    }
}
