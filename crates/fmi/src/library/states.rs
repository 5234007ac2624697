//! States, as handles and as bytes: the same functions in both versions, under other names.

use std::ffi::c_int;

use libloading::Library;

use super::{Handle, ability, function};

/// `fmi2Error` and `fmi3Error`.
pub(super) const ERROR: c_int = 3;

/// The functions, if the FMU has them.
pub(super) struct States {
    handles: Option<Handles>,
    bytes: Option<Bytes>,
}

struct Handles {
    get: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
    set: unsafe extern "C" fn(Handle, Handle) -> c_int,
    free: unsafe extern "C" fn(Handle, *mut Handle) -> c_int,
}

struct Bytes {
    size: unsafe extern "C" fn(Handle, Handle, *mut usize) -> c_int,
    write: unsafe extern "C" fn(Handle, Handle, *mut u8, usize) -> c_int,
    read: unsafe extern "C" fn(Handle, *const u8, usize, *mut Handle) -> c_int,
}

/// A state that the library keeps.
pub(crate) struct Kept(pub(super) Handle);

impl Default for Kept {
    fn default() -> Self {
        Self(std::ptr::null_mut())
    }
}

// Safety: as that of an instance.
unsafe impl Send for Kept {}

impl States {
    /// Looks them up: to get, set, free, measure, write and read a state; those that it says it has.
    pub fn load(
        library: &Library,
        names: [&str; 6],
        has_state: bool,
        has_bytes: bool,
    ) -> Result<Self, String> {
        let mut states = Self {
            handles: None,
            bytes: None,
        };
        if has_state && let Some(get) = ability(library, names[0], true)? {
            states.handles = Some(Handles {
                get,
                set: function(library, names[1])?,
                free: function(library, names[2])?,
            });
        }
        if has_state
            && has_bytes
            && let Some(size) = ability(library, names[3], true)?
        {
            states.bytes = Some(Bytes {
                size,
                write: function(library, names[4])?,
                read: function(library, names[5])?,
            });
        }
        Ok(states)
    }

    pub fn are_there(&self) -> bool {
        self.handles.is_some()
    }

    // Safety of all: the handle is that of an instance, states are its own, slices are as long as is said.

    /// Keeps the present state in the place of an earlier one.
    pub fn keep(&self, handle: Handle, kept: &mut Kept) -> c_int {
        let Some(functions) = &self.handles else {
            return ERROR;
        };
        unsafe { (functions.get)(handle, &mut kept.0) }
    }

    pub fn return_to(&self, handle: Handle, kept: &Kept) -> c_int {
        match &self.handles {
            Some(functions) if !kept.0.is_null() => unsafe { (functions.set)(handle, kept.0) },
            _ => ERROR,
        }
    }

    pub fn free(&self, handle: Handle, kept: &mut Kept) {
        if let Some(functions) = &self.handles
            && !kept.0.is_null()
        {
            unsafe { (functions.free)(handle, &mut kept.0) };
        }
    }

    pub fn save(&self, handle: Handle, bytes: &mut Vec<u8>) -> c_int {
        let (Some(handles), Some(functions)) = (&self.handles, &self.bytes) else {
            return ERROR;
        };
        let (mut saved, mut size) = (std::ptr::null_mut(), 0);
        let mut status = unsafe { (handles.get)(handle, &mut saved) };
        if status > 1 {
            return status;
        }
        status = status.max(unsafe { (functions.size)(handle, saved, &mut size) });
        if status <= 1 {
            bytes.resize(size, 0);
            status = unsafe { (functions.write)(handle, saved, bytes.as_mut_ptr(), size) };
        }
        status.max(unsafe { (handles.free)(handle, &mut saved) })
    }

    pub fn restore(&self, handle: Handle, bytes: &[u8]) -> c_int {
        let (Some(handles), Some(functions)) = (&self.handles, &self.bytes) else {
            return ERROR;
        };
        let mut saved = std::ptr::null_mut();
        let (start, length) = (bytes.as_ptr(), bytes.len());
        let mut status = unsafe { (functions.read)(handle, start, length, &mut saved) };
        if status > 1 {
            return status;
        }
        status = unsafe { (handles.set)(handle, saved) };
        status.max(unsafe { (handles.free)(handle, &mut saved) })
    }
}
