//! Worker processes: how they are started, and which are idle.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oldham_shm::{End, Link, Memory, Started};

/// Processes that may be there at once.
const MOST: usize = 256;
/// How often a worker is looked for before whoever waits for it sleeps, where there is a core for each.
const SPINS: u32 = 2000;

/// The program of workers and its arguments, before the number of the process that starts them.
static PROGRAM: OnceLock<(PathBuf, Vec<OsString>)> = OnceLock::new();
/// Idle workers.
static IDLE: Mutex<Vec<Process>> = Mutex::new(Vec::new());
/// All workers, and those that are in use.
static THERE: AtomicUsize = AtomicUsize::new(0);
static USED: AtomicUsize = AtomicUsize::new(0);

/// From now on FMUs get processes of their own, which this program makes when it is started with these arguments and, behind
/// them, the number of this process: it calls [`serve`](super::serve) with that number. The first call counts.
pub fn workers_are(program: impl Into<PathBuf>, arguments: &[&str]) {
    let arguments = arguments.iter().map(OsString::from).collect();
    let _ = PROGRAM.set((program.into(), arguments));
}

/// Whether it is known how workers are started.
pub(crate) fn are_known() -> bool {
    PROGRAM.get().is_some()
}

fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// How often to look before sleeping: not at all where a look keeps a worker from its core.
pub(super) fn spins() -> u32 {
    match USED.load(Ordering::Relaxed) < cores() {
        true => SPINS,
        false => 0,
    }
}

/// A worker that is in use.
pub(super) struct Process {
    pub child: Started,
    pub link: Link,
    /// The library that it has loaded.
    library: PathBuf,
    is_used: bool,
}

fn idle() -> MutexGuard<'static, Vec<Process>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the idle workers that have loaded a library.
pub(crate) fn forget(library: &Path) {
    let ended: Vec<Process> = idle()
        .extract_if(.., |process| process.library == library)
        .collect();
    drop(ended);
}

impl Process {
    /// A worker for this library with so many cells: an idle one, or a new one.
    pub fn take(library: &Path, cells: usize) -> Result<Self, String> {
        let known = {
            let mut idle = idle();
            // One that has died in the meantime is none.
            idle.retain_mut(|process| process.child.ended().is_none());
            let mut fitting = idle.iter();
            let place = fitting.position(|process| {
                process.library == library && process.link.cells().len() >= cells
            });
            place.map(|place| idle.swap_remove(place))
        };
        let mut process = match known {
            Some(process) => process,
            None => Self::start(library, cells)?,
        };
        process.is_used = true;
        USED.fetch_add(1, Ordering::Relaxed);
        Ok(process)
    }

    fn start(library: &Path, cells: usize) -> Result<Self, String> {
        if THERE.load(Ordering::Relaxed) >= MOST {
            // Those that nobody uses give way.
            let ended = std::mem::take(&mut *idle());
            drop(ended);
        }
        if THERE.load(Ordering::Relaxed) >= MOST {
            return Err(format!(
                "there are {MOST} processes of FMUs already; let some run in this one, by `process = \"shared\"`"
            ));
        }
        let failed = |error: std::io::Error| format!("its process cannot be started: {error}");
        let (program, arguments) = PROGRAM.get().ok_or("it is not known how to start one")?;
        let (memory, file) = Memory::new(cells).map_err(failed)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .arg(std::process::id().to_string())
            .stdin(Stdio::from(file));
        let child = Started::new(command).map_err(failed)?;
        THERE.fetch_add(1, Ordering::Relaxed);
        Ok(Self {
            child,
            link: Link::new(Arc::new(memory), End::Host),
            library: library.to_owned(),
            is_used: false,
        })
    }

    /// Nobody uses it any more; its instance is closed. It is kept for the next one, if there are not many already.
    pub fn give_back(mut self) {
        self.unuse();
        let mut idle = idle();
        if idle.len() < cores() + 2 {
            idle.push(self);
        }
    }

    fn unuse(&mut self) {
        if std::mem::take(&mut self.is_used) {
            USED.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.unuse();
        THERE.fetch_sub(1, Ordering::Relaxed);
    }
}
