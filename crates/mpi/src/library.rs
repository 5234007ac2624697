//! The MPI library: all that is unsafe about calling it.
//!
//! Handles are machine words in all three interfaces: numbers in that of MPICH, where they have 32 bits, small
//! numbers in pointers in the standard one, addresses of the library's own objects in that of Open MPI. A 32-bit
//! handle that is passed as a word stands in the lower half of the register or slot, where the library reads it.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr::null_mut;

use libloading::os::unix::{Library as Loaded, RTLD_GLOBAL, RTLD_NOW, Symbol};
use oldham_cosim::Portions;

use crate::launch::{Launch, Launcher};
use crate::{MpiError, calls_from_here, may_call};

/// How a library is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// The standard one of MPI 5.0.
    Standard,
    /// That of MPICH 3 and later, Intel MPI and MVAPICH.
    Mpich,
    /// That of Open MPI 4 and 5.
    OpenMpi,
}

/// A handle of MPI, or an address of one.
type Handle = *mut c_void;

/// Names of libraries, with those first that belong to a launcher.
fn names(launcher: Option<Launcher>) -> [&'static str; 3] {
    match launcher {
        Some(Launcher::Pmi) => ["libmpi.so.12", "libmpi_abi.so.1", "libmpi.so.40"],
        _ => ["libmpi.so.40", "libmpi_abi.so.1", "libmpi.so.12"],
    }
}

/// The longest answer of `MPI_Get_library_version`, in all three interfaces.
const LONGEST_VERSION: usize = 8192;
/// Room for an `MPI_Status`, of which all have less.
const STATUS: usize = 16;

type Version = unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int;
type InitThread = unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int;
type OfCommunicator = unsafe extern "C" fn(Handle, *mut c_int) -> c_int;
type AllGatherV = unsafe extern "C" fn(
    *const c_void,
    c_int,
    Handle,
    *mut c_void,
    *const c_int,
    *const c_int,
    Handle,
    Handle,
) -> c_int;
type Send = unsafe extern "C" fn(*const c_void, c_int, Handle, c_int, c_int, Handle) -> c_int;
type Receive =
    unsafe extern "C" fn(*mut c_void, c_int, Handle, c_int, c_int, Handle, *mut c_void) -> c_int;
type Abort = unsafe extern "C" fn(Handle, c_int) -> c_int;
type Finalize = unsafe extern "C" fn() -> c_int;

/// A loaded library, with the functions that are called.
pub(crate) struct Library {
    path: PathBuf,
    interface: Interface,
    world: Handle,
    double: Handle,
    init_thread: Symbol<InitThread>,
    rank: Symbol<OfCommunicator>,
    size: Symbol<OfCommunicator>,
    all_gather_v: Symbol<AllGatherV>,
    send: Symbol<Send>,
    receive: Symbol<Receive>,
    abort: Symbol<Abort>,
    finalize: Symbol<Finalize>,
    /// Never unloaded: MPI leaves threads and handlers behind.
    _loaded: std::mem::ManuallyDrop<Loaded>,
}

// SAFETY: the handles are constants of the library. Its functions are called by the thread alone that has
// initialised it, which every call asserts; `MPI_Abort` ends the process.
unsafe impl std::marker::Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// The library that was named by hand, or the first that can be loaded: beside the launcher, then where the
    /// system looks.
    pub fn find(launch: &Launch) -> Result<Self, MpiError> {
        if let Some(path) = &launch.library {
            return Self::load(path).map_err(|reason| MpiError::Unusable {
                path: path.display().to_string(),
                reason,
            });
        }
        let names = names(launch.launcher);
        let beside = folders_beside_launcher();
        let beside = names.iter().flat_map(|name| {
            let paths = beside.iter().map(move |folder| folder.join(name));
            paths.filter(|path| path.exists())
        });
        let mut tried = Vec::new();
        for path in beside.chain(names.iter().map(PathBuf::from)) {
            match Self::load(&path) {
                Ok(library) => return Ok(library),
                Err(reason) => tried.push(reason),
            }
        }
        Err(MpiError::NoLibrary {
            launcher: launch.name(),
            processes: match launch.size {
                Some(size) => format!("{size} processes"),
                None => "this process, and perhaps others".into(),
            },
            tried,
        })
    }

    fn load(path: &Path) -> Result<Self, String> {
        // Open MPI's plugins look for the symbols of the library itself.
        // SAFETY: loading runs the initialisers of a library that the user or the system has installed as MPI.
        let loaded = unsafe { Loaded::open(Some(path.as_os_str()), RTLD_NOW | RTLD_GLOBAL) };
        let loaded = loaded.map_err(|error| error.to_string())?;
        let version: Symbol<Version> = find(&loaded, "MPI_Get_library_version")?;
        let mut text = [0 as c_char; LONGEST_VERSION];
        let mut length = 0;
        // SAFETY: the function has this signature in every MPI since 3.0 and may be called before MPI is initialised;
        // the room is as long as the longest answer.
        let code = unsafe { version(text.as_mut_ptr(), &raw mut length) };
        if code != 0 {
            return Err(format!("MPI_Get_library_version failed with code {code}"));
        }
        text[LONGEST_VERSION - 1] = 0;
        // SAFETY: the room ends with a zero.
        let text = unsafe { CStr::from_ptr(text.as_ptr()) }.to_string_lossy();
        let interface = interface(path, &text).ok_or_else(|| {
            format!(
                "its interface is not known (it calls itself {})",
                first_line(&text)
            )
        })?;
        let address = |name: &str| -> Result<Handle, String> {
            let symbol: Symbol<Handle> = find(&loaded, name)?;
            Ok(symbol.into_raw())
        };
        let (world, double) = match interface {
            Interface::Standard => (0x101 as Handle, 0x214 as Handle),
            Interface::Mpich => (0x4400_0000 as Handle, 0x4c00_080b as Handle),
            Interface::OpenMpi => (address("ompi_mpi_comm_world")?, address("ompi_mpi_double")?),
        };
        Ok(Self {
            path: path.to_owned(),
            interface,
            world,
            double,
            init_thread: find(&loaded, "MPI_Init_thread")?,
            rank: find(&loaded, "MPI_Comm_rank")?,
            size: find(&loaded, "MPI_Comm_size")?,
            all_gather_v: find(&loaded, "MPI_Allgatherv")?,
            send: find(&loaded, "MPI_Send")?,
            receive: find(&loaded, "MPI_Recv")?,
            abort: find(&loaded, "MPI_Abort")?,
            finalize: find(&loaded, "MPI_Finalize")?,
            _loaded: std::mem::ManuallyDrop::new(loaded),
        })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn interface(&self) -> Interface {
        self.interface
    }

    /// Initialises MPI for calls from this thread alone.
    pub fn init(&self) -> Result<(), MpiError> {
        let funneled = match self.interface {
            Interface::Standard => 1024,
            Interface::Mpich | Interface::OpenMpi => 1,
        };
        let mut provided = 0;
        // SAFETY: arguments of the command may be left out since MPI 2.0.
        let code =
            unsafe { (self.init_thread)(null_mut(), null_mut(), funneled, &raw mut provided) };
        calls_from_here();
        self.checked("MPI_Init_thread", code)?;
        match provided >= funneled {
            true => Ok(()),
            false => Err(MpiError::Unusable {
                path: self.path.display().to_string(),
                reason: "it cannot be called in a program with threads".into(),
            }),
        }
    }

    pub fn rank(&self) -> Result<usize, MpiError> {
        self.of_world("MPI_Comm_rank", &self.rank)
    }

    pub fn size(&self) -> Result<usize, MpiError> {
        self.of_world("MPI_Comm_size", &self.size)
    }

    fn of_world(
        &self,
        function: &'static str,
        call: &Symbol<OfCommunicator>,
    ) -> Result<usize, MpiError> {
        assert!(may_call(), "MPI is called by one thread");
        let mut value = 0;
        // SAFETY: MPI is initialised, the handle is that of its world.
        let code = unsafe { call(self.world, &raw mut value) };
        self.checked(function, code)?;
        usize::try_from(value).map_err(|_| MpiError::Call {
            path: self.path.display().to_string(),
            function,
            code: value,
        })
    }

    fn checked(&self, function: &'static str, code: c_int) -> Result<(), MpiError> {
        match code {
            0 => Ok(()),
            code => Err(MpiError::Call {
                path: self.path.display().to_string(),
                function,
                code,
            }),
        }
    }

    /// Words travel as numbers of eight bytes: nothing is converted among machines of one kind.
    pub fn all_gather(&self, given: &[u64], portions: &Portions, all: &mut [u64]) -> c_int {
        assert!(may_call(), "MPI is called by one thread");
        // SAFETY: the caller has compared the lengths of both slices with the portions, which are in range.
        unsafe {
            (self.all_gather_v)(
                given.as_ptr().cast(),
                given.len() as c_int,
                self.double,
                all.as_mut_ptr().cast(),
                portions.counts.as_ptr(),
                portions.starts.as_ptr(),
                self.double,
                self.world,
            )
        }
    }

    pub fn send(&self, words: &[u64], to: c_int) {
        assert!(may_call(), "MPI is called by one thread");
        let count = c_int::try_from(words.len()).expect("a short message");
        // SAFETY: the words are there until the call returns, which is when the library is done with them.
        let code =
            unsafe { (self.send)(words.as_ptr().cast(), count, self.double, to, 0, self.world) };
        assert_eq!(code, 0, "MPI_Send");
    }

    pub fn receive(&self, words: &mut [u64], from: c_int) {
        assert!(may_call(), "MPI is called by one thread");
        let count = c_int::try_from(words.len()).expect("a short message");
        let mut status = [0_u64; STATUS];
        let (words, status) = (words.as_mut_ptr().cast(), status.as_mut_ptr().cast());
        // SAFETY: there is room for so many words, and for the status.
        let code =
            unsafe { (self.receive)(words, count, self.double, from, 0, self.world, status) };
        assert_eq!(code, 0, "MPI_Recv");
    }

    pub fn abort(&self, code: c_int) -> ! {
        // SAFETY: it ends the process, from whichever thread.
        unsafe { (self.abort)(self.world, code) };
        std::process::abort()
    }

    pub fn finalize(&self) {
        assert!(may_call(), "MPI is called by one thread");
        // SAFETY: MPI was initialised by this thread, and nothing is called after this.
        unsafe { (self.finalize)() };
    }
}

/// A function of the library, by name.
fn find<T>(loaded: &Loaded, name: &str) -> Result<Symbol<T>, String> {
    // SAFETY: the types above are those of the standard, with handles as machine words.
    unsafe { loaded.get(name.as_bytes()) }.map_err(|error| error.to_string())
}

/// The interface of a library, by the name of its file, or by what it calls itself.
fn interface(path: &Path, version: &str) -> Option<Interface> {
    let name = path.file_name()?.to_string_lossy();
    if name.contains("mpi_abi") {
        return Some(Interface::Standard);
    }
    let mpich = ["MPICH", "Intel(R) MPI", "MVAPICH", "CRAY MPICH"];
    if version.contains("Open MPI") {
        Some(Interface::OpenMpi)
    } else if mpich.iter().any(|known| version.contains(known)) {
        Some(Interface::Mpich)
    } else {
        None
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or("nothing")
}

/// Where a launcher keeps its libraries: beside the folder of its program, which is the parent of this process.
fn folders_beside_launcher() -> Vec<PathBuf> {
    let parent = std::os::unix::process::parent_id();
    let program = std::fs::read_link(format!("/proc/{parent}/exe"));
    let Ok(program) = program else {
        return Vec::new();
    };
    let prefix = program.parent().and_then(Path::parent);
    let folders = prefix.into_iter().flat_map(|prefix| {
        ["lib", "lib64"]
            .into_iter()
            .map(|folder| prefix.join(folder))
    });
    folders.filter(|folder| folder.is_dir()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_are_known_by_file_and_version() {
        let of = |name: &str, version: &str| interface(Path::new(name), version);
        let open = of("libmpi.so.40", "Open MPI v5.0.11, package: ...");
        assert_eq!(open, Some(Interface::OpenMpi));
        let mpich = "MPICH Version:      5.0.2\nMPICH Release date: ...";
        assert_eq!(of("libmpi.so.12", mpich), Some(Interface::Mpich));
        assert_eq!(of("/x/libmpi_abi.so.1", mpich), Some(Interface::Standard));
        let intel = "Intel(R) MPI Library 2021.13 for Linux* OS";
        assert_eq!(of("libmpi.so", intel), Some(Interface::Mpich));
        assert_eq!(of("libmpi.so", "SomeOther 1.0"), None);
    }

    #[test]
    fn the_first_library_tried_is_that_of_the_launcher() {
        assert_eq!(names(Some(Launcher::OpenMpi))[0], "libmpi.so.40");
        assert_eq!(names(Some(Launcher::Pmi))[0], "libmpi.so.12");
    }
}
