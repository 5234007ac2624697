//! What both versions have at the border to C.
#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use crate::instance::{Instance, Saved};

/// All is well.
pub const OK: i32 = 0;
/// A call that failed; the instance goes on from where it was.
pub const ERROR: i32 = 3;

/// Takes a status and a message to the importer.
pub type Logger = Box<dyn Fn(i32, &str)>;

/// An instance, and how its messages reach the importer.
pub struct Handle {
    pub instance: Instance,
    pub logger: Logger,
    /// What the importer wants to be called with within a communication step.
    pub between: Option<Between>,
}

/// A call of the importer's, at a time within a communication step.
pub type Between = std::rc::Rc<dyn Fn(f64)>;

/// Work with an instance, where an error or a panic is told to the logger and becomes a status.
///
/// # Safety
/// `handle` is null or came from [`boxed`] and is used by one thread at a time, as both standards demand.
pub unsafe fn with(
    handle: *mut c_void,
    work: impl FnOnce(&mut Instance) -> Result<(), String>,
) -> i32 {
    // SAFETY: as the caller promises.
    let Some(handle) = (unsafe { handle.cast::<Handle>().as_mut() }) else {
        return ERROR;
    };
    let attempt = catch_unwind(AssertUnwindSafe(|| work(&mut handle.instance)));
    let message = match attempt {
        Ok(Ok(())) => return OK,
        Ok(Err(message)) => message,
        Err(panic) => told(panic.as_ref()),
    };
    let _ = catch_unwind(AssertUnwindSafe(|| (handle.logger)(ERROR, &message)));
    ERROR
}

fn told(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or(panic.downcast_ref::<String>().map(String::as_str));
    format!(
        "an internal error: {}; this is a defect of Oldham, please report it",
        text.unwrap_or("a panic without a message")
    )
}

/// A new instance for C, or null where there is none; the logger hears why.
pub fn boxed(
    resources: Option<PathBuf>,
    token: &str,
    logger: Logger,
    between: Option<Between>,
) -> *mut c_void {
    let attempt = catch_unwind(AssertUnwindSafe(|| match resources {
        Some(resources) => Instance::new(&resources, token),
        None => Err("the FMU was not told where its resources are".into()),
    }));
    let made = attempt.unwrap_or_else(|panic| Err(told(panic.as_ref())));
    match made {
        Ok(instance) => {
            let handle = Handle {
                instance,
                logger,
                between,
            };
            Box::into_raw(Box::new(handle)).cast()
        }
        Err(message) => {
            let _ = catch_unwind(AssertUnwindSafe(|| logger(ERROR, &message)));
            std::ptr::null_mut()
        }
    }
}

/// Frees an instance.
///
/// # Safety
/// `handle` is null or came from [`boxed`], and nobody uses it any more.
pub unsafe fn free(handle: *mut c_void) {
    if !handle.is_null() {
        // SAFETY: as the caller promises.
        let handle = unsafe { Box::from_raw(handle.cast::<Handle>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(handle)));
    }
}

/// A text of C; nothing for null or for what is not UTF-8.
///
/// # Safety
/// `text` is null or ends with a zero byte.
pub unsafe fn text<'a>(text: *const c_char) -> Option<&'a str> {
    if text.is_null() {
        return None;
    }
    // SAFETY: as the caller promises.
    unsafe { CStr::from_ptr(text) }.to_str().ok()
}

/// A slice of C; an empty one may be null.
///
/// # Safety
/// `first` points to so many values, or is null.
pub unsafe fn slice<'a, T>(first: *const T, count: usize) -> Result<&'a [T], String> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err("a null pointer where values should be".into()),
        // SAFETY: as the caller promises.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// The same to write to.
///
/// # Safety
/// `first` points to so many values that nobody else uses, or is null.
pub unsafe fn slice_mut<'a, T>(first: *mut T, count: usize) -> Result<&'a mut [T], String> {
    match (first.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err("a null pointer where values should go".into()),
        // SAFETY: as the caller promises.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(first, count) }),
    }
}

/// Values by their references.
///
/// # Safety
/// As [`slice`] and [`slice_mut`].
pub unsafe fn get(
    handle: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut f64,
    room: usize,
) -> i32 {
    let work = |instance: &mut Instance| {
        // SAFETY: as the caller promises.
        let (references, values) = unsafe { (slice(references, count)?, slice_mut(values, room)?) };
        if references.len() != values.len() {
            return Err("as many values as references are asked for".into());
        }
        for (reference, value) in references.iter().zip(values) {
            *value = instance.get(*reference)?;
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// Derivatives of outputs by references and orders.
///
/// # Safety
/// As [`slice`] and [`slice_mut`].
pub unsafe fn derivatives(
    handle: *mut c_void,
    references: *const u32,
    orders: *const i32,
    count: usize,
    values: *mut f64,
    room: usize,
) -> i32 {
    let work = |instance: &mut Instance| {
        // SAFETY: as the caller promises.
        let (references, orders, values) = unsafe {
            (
                slice(references, count)?,
                slice(orders, count)?,
                slice_mut(values, room)?,
            )
        };
        if references.len() != values.len() {
            return Err("as many values as references are asked for".into());
        }
        for ((reference, order), value) in references.iter().zip(orders).zip(values) {
            *value = instance.derivative(*reference, *order)?;
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// Sets derivatives of inputs by references and orders.
///
/// # Safety
/// As [`slice`].
pub unsafe fn set_derivatives(
    handle: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const i32,
    values: *const f64,
) -> i32 {
    let work = |instance: &mut Instance| {
        // SAFETY: as the caller promises.
        let (references, orders, values) = unsafe {
            (
                slice(references, count)?,
                slice(orders, count)?,
                slice(values, count)?,
            )
        };
        for ((reference, order), value) in references.iter().zip(orders).zip(values) {
            instance.set_derivative(*reference, *order, *value)?;
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// Goes on by a communication step. An importer that wants to be called within it is called before every macro step: it
/// may set inputs and read outputs then.
///
/// # Safety
/// As [`with`].
pub unsafe fn step(handle: *mut c_void, from: f64, length: f64) -> i32 {
    // SAFETY: as the caller promises. The call is held by its own, so that the instance is free while it runs.
    let between = unsafe { handle.cast::<Handle>().as_ref() }.and_then(|one| one.between.clone());
    let mut steps = 0;
    let plan = |instance: &mut Instance| {
        steps = instance.macro_steps(from, length)?;
        Ok(())
    };
    // SAFETY: as the caller promises.
    let planned = unsafe { with(handle, plan) };
    if planned != OK {
        return planned;
    }
    let Some(between) = between else {
        // SAFETY: as the caller promises.
        return unsafe { with(handle, |instance| instance.advance(steps)) };
    };
    for _ in 0..steps {
        let mut time = from;
        // SAFETY: as the caller promises; the instance is not borrowed while `between` runs.
        let status = unsafe {
            with(handle, |instance| {
                time = instance.time();
                Ok(())
            });
            between(time);
            with(handle, |instance| instance.advance(1))
        };
        if status != OK {
            return status;
        }
    }
    OK
}

/// Sets values by their references.
///
/// # Safety
/// As [`slice`].
pub unsafe fn set(
    handle: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const f64,
    given: usize,
) -> i32 {
    let work = |instance: &mut Instance| {
        // SAFETY: as the caller promises.
        let (references, values) = unsafe { (slice(references, count)?, slice(values, given)?) };
        if references.len() != values.len() {
            return Err("as many values as references are set".into());
        }
        for (reference, value) in references.iter().zip(values) {
            instance.set(*reference, *value)?;
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// Saves the state into a new handle, or into one that is there.
///
/// # Safety
/// `state` points to null or to a handle of this function.
pub unsafe fn save(handle: *mut c_void, state: *mut *mut c_void) -> i32 {
    let work = |instance: &mut Instance| {
        // SAFETY: as the caller promises.
        let Some(state) = (unsafe { state.as_mut() }) else {
            return Err("a null pointer where the state should go".into());
        };
        let saved = instance.save()?;
        // SAFETY: as the caller promises.
        match unsafe { state.cast::<Saved>().as_mut() } {
            Some(there) => *there = saved,
            None => *state = Box::into_raw(Box::new(saved)).cast(),
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// Goes back to a saved state.
///
/// # Safety
/// `state` is null or a handle of [`save`].
pub unsafe fn restore(handle: *mut c_void, state: *mut c_void) -> i32 {
    let work = |instance: &mut Instance| {
        // SAFETY: as the caller promises.
        match unsafe { state.cast::<Saved>().as_ref() } {
            Some(saved) => instance.restore(saved),
            None => Err("there is no state to go back to".into()),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// Frees a saved state, and leaves null.
///
/// # Safety
/// `state` points to null or to a handle of [`save`].
pub unsafe fn free_state(handle: *mut c_void, state: *mut *mut c_void) -> i32 {
    let work = |_: &mut Instance| {
        // SAFETY: as the caller promises.
        if let Some(state) = unsafe { state.as_mut() } {
            if !state.is_null() {
                // SAFETY: it came from `Box::into_raw` in `save` or `parse`.
                drop(unsafe { Box::from_raw(state.cast::<Saved>()) });
            }
            *state = std::ptr::null_mut();
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// The length of a state as bytes.
///
/// # Safety
/// `state` is null or a handle of [`save`]; `size` points to a number.
pub unsafe fn state_size(handle: *mut c_void, state: *mut c_void, size: *mut usize) -> i32 {
    let work = |_: &mut Instance| {
        // SAFETY: as the caller promises.
        match unsafe { (state.cast::<Saved>().as_ref(), size.as_mut()) } {
            (Some(saved), Some(size)) => {
                *size = saved.bytes().len();
                Ok(())
            }
            _ => Err("there is no state, or no place for its size".into()),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// A state as bytes.
///
/// # Safety
/// `state` is null or a handle of [`save`]; `bytes` points to so many bytes.
pub unsafe fn serialise(
    handle: *mut c_void,
    state: *mut c_void,
    bytes: *mut u8,
    size: usize,
) -> i32 {
    let work = |_: &mut Instance| {
        // SAFETY: as the caller promises.
        let (saved, bytes) = unsafe { (state.cast::<Saved>().as_ref(), slice_mut(bytes, size)?) };
        let saved = saved.ok_or("there is no state to write")?.bytes();
        match bytes.get_mut(..saved.len()) {
            Some(room) => {
                room.copy_from_slice(&saved);
                Ok(())
            }
            None => Err(format!(
                "the state has {} bytes, and there is room for {size}",
                saved.len()
            )),
        }
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// A state from bytes.
///
/// # Safety
/// `bytes` points to so many bytes, `state` to a place for a handle.
pub unsafe fn deserialise(
    handle: *mut c_void,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> i32 {
    let work = |_: &mut Instance| {
        // SAFETY: as the caller promises.
        let (bytes, state) = unsafe { (slice(bytes, size)?, state.as_mut()) };
        let state = state.ok_or("a null pointer where the state should go")?;
        let saved = Saved::parse(bytes)?;
        // SAFETY: as the caller promises.
        match unsafe { state.cast::<Saved>().as_mut() } {
            Some(there) => *there = saved,
            None => *state = Box::into_raw(Box::new(saved)).cast(),
        }
        Ok(())
    };
    // SAFETY: as the caller promises.
    unsafe { with(handle, work) }
}

/// A text for C: what cannot be in one is left out.
pub fn c_text(text: &str) -> CString {
    let plain: Vec<u8> = text.bytes().filter(|byte| *byte != 0).collect();
    CString::new(plain).unwrap_or_default()
}
