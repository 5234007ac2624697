//! States as bytes: the same functions in both versions, under other names.

use std::ffi::c_int;

use libloading::Library;

use super::{Handle, ability, function};

/// `fmi2Error` and `fmi3Error`.
const ERROR: c_int = 3;

/// The functions, if the FMU has them.
pub(super) struct States(Option<Functions>);

struct Functions {
    get: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    set: unsafe extern "C" fn(Handle, Handle) -> c_int,
    free: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    size: unsafe extern "C" fn(Handle, Handle, *mut usize) -> c_int,
    write: unsafe extern "C" fn(Handle, Handle, *mut u8, usize) -> c_int,
    read: unsafe extern "C" fn(Handle, *const u8, usize, *mut Handle) -> c_int,
}

impl States {
    /// Looks them up: to get, set, free, measure, write and read a state.
    pub fn load(library: &Library, names: [&str; 6], has: bool) -> Result<Self, String> {
        let Some(get) = ability(library, names[0], has)? else {
            return Ok(Self(None));
        };
        Ok(Self(Some(Functions {
            get,
            set: function(library, names[1])?,
            free: function(library, names[2])?,
            size: function(library, names[3])?,
            write: function(library, names[4])?,
            read: function(library, names[5])?,
        })))
    }

    pub fn are_there(&self) -> bool {
        self.0.is_some()
    }

    // Safety of both: the handle is that of an instance, the slices are as long as is said.

    pub fn save(&self, handle: Handle, bytes: &mut Vec<u8>) -> c_int {
        let Some(functions) = &self.0 else {
            return ERROR;
        };
        let (mut saved, mut size) = (std::ptr::null_mut(), 0);
        let mut status = unsafe { (functions.get)(handle, &mut saved) };
        if status > 1 {
            return status;
        }
        status = status.max(unsafe { (functions.size)(handle, saved, &mut size) });
        if status <= 1 {
            bytes.resize(size, 0);
            status = unsafe { (functions.write)(handle, saved, bytes.as_mut_ptr(), size) };
        }
        status.max(unsafe { (functions.free)(handle, &mut saved) })
    }

    pub fn restore(&self, handle: Handle, bytes: &[u8]) -> c_int {
        let Some(functions) = &self.0 else {
            return ERROR;
        };
        let mut saved = std::ptr::null_mut();
        let (start, length) = (bytes.as_ptr(), bytes.len());
        let mut status = unsafe { (functions.read)(handle, start, length, &mut saved) };
        if status > 1 {
            return status;
        }
        status = unsafe { (functions.set)(handle, saved) };
        status.max(unsafe { (functions.free)(handle, &mut saved) })
    }
}
