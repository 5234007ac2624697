//! The processes that `mpirun` has started, as [`Ranks`] of one simulation.
//!
//! Nothing of MPI is needed to build this. The library is loaded when a [launcher](Launch) has left its marks in
//! the environment, by whichever of three binary interfaces it has: the standard one of MPI 5.0, that of MPICH and
//! its relatives, or that of Open MPI.

mod launch;
mod library;

use std::cell::Cell;
use std::ffi::c_int;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use oldham_cosim::{Portions, Ranks};

pub use launch::{BY_HAND, Launch, Launcher};
pub use library::Interface;
use library::Library;

/// Why the ranks did not come together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MpiError {
    /// A launcher has started several processes, and no library is found that could join them.
    #[error(
        "{launcher} has started {processes}, but no MPI library is found that joins them: each would run the whole model; tried {}; give the library as {BY_HAND}=PATH (libmpi.so.40 of Open MPI, libmpi.so.12 of MPICH or libmpi_abi.so.1), or run without {launcher} ({BY_HAND}=none keeps MPI out)",
        tried.join("; ")
    )]
    NoLibrary {
        /// What has started them.
        launcher: String,
        /// How many.
        processes: String,
        /// Libraries, and why they cannot be used.
        tried: Vec<String>,
    },
    /// The library that was named cannot be used.
    #[error("{BY_HAND} names {path}, which cannot be used: {reason}")]
    Unusable {
        /// As given.
        path: String,
        /// Why not.
        reason: String,
    },
    /// The library is not that of the launcher: it sees other processes.
    #[error(
        "{launcher} has started {expected} processes, but {path} knows of {found}: it belongs to another MPI; give the library of {launcher} as {BY_HAND}=PATH"
    )]
    OtherLauncher {
        /// What has started them.
        launcher: String,
        /// So many, as it says.
        expected: usize,
        /// What the library says.
        found: usize,
        /// The library.
        path: String,
    },
    /// A call failed.
    #[error("{function} of {path} failed with code {code}")]
    Call {
        /// The library.
        path: String,
        /// Its function.
        function: &'static str,
        /// What it returned.
        code: c_int,
    },
}

/// All ranks of the job, `MPI_COMM_WORLD`.
///
/// MPI is initialised for one thread that calls it (`MPI_THREAD_FUNNELED`): the one that makes the world.
pub struct World {
    library: Library,
    rank: usize,
    size: usize,
}

impl World {
    /// Joins the others that the launcher has started; nothing if there are none.
    pub fn join(launch: &Launch) -> Result<Option<Self>, MpiError> {
        if !launch.is_parallel() {
            return Ok(None);
        }
        let library = Library::find(launch)?;
        library.init()?;
        let (rank, size) = (library.rank()?, library.size()?);
        let world = Self {
            library,
            rank,
            size,
        };
        match launch.size {
            Some(expected) if expected != size => {
                let error = MpiError::OtherLauncher {
                    launcher: launch.name(),
                    expected,
                    found: size,
                    path: world.library.path().display().to_string(),
                };
                world.leave();
                Err(error)
            }
            _ => Ok(Some(world)),
        }
    }

    /// The library that was loaded.
    pub fn library(&self) -> PathBuf {
        self.library.path().to_owned()
    }

    /// By which interface it is called.
    pub fn interface(&self) -> Interface {
        self.library.interface()
    }

    /// The end of MPI in this process. All ranks come here before the first of them goes on.
    pub fn leave(&self) {
        self.library.finalize();
    }

    /// Sends words to a rank and receives as many from one, which does the same.
    ///
    /// # Panics
    /// If the calls fail.
    pub fn round_trip(&self, words: &mut [u64], times: u32) -> Duration {
        let started = Instant::now();
        let partner = c_int::from(self.rank == 0);
        for _ in 0..times {
            match self.rank {
                0 => {
                    self.library.send(words, partner);
                    self.library.receive(words, partner);
                }
                1 => {
                    self.library.receive(words, partner);
                    self.library.send(words, partner);
                }
                _ => {}
            }
        }
        started.elapsed()
    }
}

impl Ranks for World {
    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.size
    }

    fn all_gather(&self, given: &[u64], portions: &Portions, all: &mut [u64]) {
        assert_eq!(given.len(), portions.range(self.rank).len(), "a portion");
        assert_eq!(all.len(), portions.total(), "all portions");
        assert_eq!(portions.counts.len(), self.size, "a portion of each rank");
        let code = self.library.all_gather(given, portions, all);
        if code != 0 {
            self.abort(&format!("MPI_Allgatherv failed with code {code}"));
        }
    }

    fn abort(&self, cause: &str) -> ! {
        // Errors of output that cannot be written end here, too.
        let _ = std::io::Write::write_fmt(
            &mut std::io::stderr(),
            format_args!("error: rank {} of MPI ends the job: {cause}\n", self.rank),
        );
        self.library.abort(1)
    }
}

thread_local! {
    /// Whether this thread is the one that may call MPI.
    static CALLS: Cell<bool> = const { Cell::new(false) };
}

/// This thread has initialised MPI.
fn calls_from_here() {
    CALLS.set(true);
}

/// Whether it has.
fn may_call() -> bool {
    CALLS.get()
}
