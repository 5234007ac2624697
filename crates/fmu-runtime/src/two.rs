//! The functions of FMI 2.0.
#![allow(unsafe_code)]
#![allow(
    non_snake_case,
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "names, arguments and duties of the caller are those of the standard"
)]

use std::ffi::{c_char, c_int, c_void};
use std::path::PathBuf;

use crate::border::{self, ERROR, OK, c_text, text, with};

/// The logger of the importer of the FMU.
type Logger = unsafe extern "C" fn(
    environment: *mut c_void,
    instance: *const c_char,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
    ...
);

/// What the importer of the FMU offers; memory is not asked for.
#[repr(C)]
pub struct Callbacks {
    logger: Option<Logger>,
    allocate: *const c_void,
    free: *const c_void,
    step_finished: *const c_void,
    environment: *mut c_void,
}

/// The platform of the types.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

/// The version of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

/// Only errors are told, always.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2SetDebugLogging(
    _: *mut c_void,
    _: c_int,
    _: usize,
    _: *const *const c_char,
) -> c_int {
    OK
}

/// A new instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    kind: c_int,
    guid: *const c_char,
    resources: *const c_char,
    callbacks: *const Callbacks,
    _visible: c_int,
    _logging: c_int,
) -> *mut c_void {
    // SAFETY: the standard demands these pointers to be valid or null.
    let (name, guid, resources, callbacks) =
        unsafe { (text(name), text(guid), text(resources), callbacks.as_ref()) };
    let called = c_text(name.unwrap_or_default());
    let (logger, environment) = match callbacks {
        Some(callbacks) => (callbacks.logger, callbacks.environment),
        None => (None, std::ptr::null_mut()),
    };
    let log = Box::new(move |status: i32, message: &str| {
        if let Some(logger) = logger {
            // A format without arguments: importers that do not fill formats in can read it as well.
            let message = c_text(&message.replace('%', "%%"));
            let category = c"logStatusError".as_ptr();
            // SAFETY: the texts live until the call returns, and the format asks for no argument.
            unsafe {
                logger(
                    environment,
                    called.as_ptr(),
                    status,
                    category,
                    message.as_ptr(),
                );
            }
        }
    });
    if kind != 1 {
        log(ERROR, "this FMU is made for co-simulation");
        return std::ptr::null_mut();
    }
    let resources = resources.map(path_of);
    border::boxed(resources, guid.unwrap_or_default(), log, None)
}

/// A folder that is given as a URI.
fn path_of(uri: &str) -> PathBuf {
    let rest = uri.strip_prefix("file:").unwrap_or(uri);
    let path = match rest.strip_prefix("//") {
        // Behind the name of a host, if there is one.
        Some(authority) => authority.find('/').map_or(authority, |at| &authority[at..]),
        None => rest,
    };
    let mut bytes = Vec::new();
    let mut left = path.as_bytes();
    while let [first, others @ ..] = left {
        left = others;
        let digits = others
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok());
        let escaped = digits.and_then(|two| u8::from_str_radix(two, 16).ok());
        match (first, escaped) {
            (b'%', Some(byte)) if rest.len() != uri.len() => {
                bytes.push(byte);
                left = &others[2..];
            }
            _ => bytes.push(*first),
        }
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// Frees an instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(instance: *mut c_void) {
    // SAFETY: the standard demands an instance of ours, or null.
    unsafe { border::free(instance) }
}

/// Where the run begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    instance: *mut c_void,
    _has_tolerance: c_int,
    _tolerance: f64,
    start: f64,
    _has_stop: c_int,
    _stop: f64,
) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |instance| instance.begin_at(start)) }
}

/// Initialisation begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(instance: *mut c_void) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |_| Ok(())) }
}

/// Initialisation ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(instance: *mut c_void) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |instance| instance.initialise()) }
}

/// The run is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(instance: *mut c_void) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |_| Ok(())) }
}

/// Everything as it was when it was made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(instance: *mut c_void) -> c_int {
    let work = |instance: &mut crate::instance::Instance| {
        instance.reset();
        Ok(())
    };
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, work) }
}

/// Values of variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut f64,
) -> c_int {
    // SAFETY: the standard demands arrays of this length.
    unsafe { border::get(instance, references, count, values, count) }
}

/// Sets inputs, and parameters before the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const f64,
) -> c_int {
    // SAFETY: the standard demands arrays of this length.
    unsafe { border::set(instance, references, count, values, count) }
}

/// There are no variables of other types: none can be asked for.
fn none(count: usize) -> c_int {
    if count == 0 { OK } else { ERROR }
}

macro_rules! without_variables {
    ($($name:ident: $value:ty),* $(,)?) => { $(
        /// There are no variables of this type.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_: *mut c_void, _: *const u32, count: usize, _: $value) -> c_int {
            none(count)
        }
    )* };
}

without_variables! {
    fmi2GetInteger: *mut c_int,
    fmi2GetBoolean: *mut c_int,
    fmi2GetString: *mut *const c_char,
    fmi2SetInteger: *const c_int,
    fmi2SetBoolean: *const c_int,
    fmi2SetString: *const *const c_char,
}

/// Saves the state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(instance: *mut c_void, state: *mut *mut c_void) -> c_int {
    // SAFETY: the standard demands a place for a state of ours.
    unsafe { border::save(instance, state) }
}

/// Goes back to a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(instance: *mut c_void, state: *mut c_void) -> c_int {
    // SAFETY: the standard demands a state of ours.
    unsafe { border::restore(instance, state) }
}

/// Frees a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(instance: *mut c_void, state: *mut *mut c_void) -> c_int {
    // SAFETY: the standard demands a state of ours.
    unsafe { border::free_state(instance, state) }
}

/// The length of a state as bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    instance: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> c_int {
    // SAFETY: the standard demands a state of ours.
    unsafe { border::state_size(instance, state, size) }
}

/// A state as bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    instance: *mut c_void,
    state: *mut c_void,
    bytes: *mut u8,
    size: usize,
) -> c_int {
    // SAFETY: the standard demands a state of ours and room for the bytes.
    unsafe { border::serialise(instance, state, bytes, size) }
}

/// A state from bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    instance: *mut c_void,
    bytes: *const u8,
    size: usize,
    state: *mut *mut c_void,
) -> c_int {
    // SAFETY: the standard demands these bytes and a place for a state.
    unsafe { border::deserialise(instance, bytes, size, state) }
}

/// Goes on by a communication step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    instance: *mut c_void,
    from: f64,
    length: f64,
    _no_set_state_prior: c_int,
) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { border::step(instance, from, length) }
}

/// Derivatives of outputs, where a motion has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const c_int,
    values: *mut f64,
) -> c_int {
    // SAFETY: the standard demands arrays of this length.
    unsafe { border::derivatives(instance, references, orders, count, values, count) }
}

/// Derivatives of inputs at the beginning of the next communication step.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const c_int,
    values: *const f64,
) -> c_int {
    // SAFETY: the standard demands arrays of this length.
    unsafe { border::set_derivatives(instance, references, count, orders, values) }
}

/// What the description does not offer. The arguments are not looked at.
macro_rules! not_offered {
    ($($name:ident),* $(,)?) => { $(
        /// Not offered, as the description says.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name() -> c_int {
            ERROR
        }
    )* };
}

not_offered! {
    fmi2GetDirectionalDerivative,
    fmi2CancelStep,
    fmi2GetStatus,
    fmi2GetRealStatus,
    fmi2GetIntegerStatus,
    fmi2GetBooleanStatus,
    fmi2GetStringStatus,
}

#[cfg(test)]
mod tests {
    use super::path_of;
    use std::path::Path;

    #[test]
    fn folders_are_given_in_several_ways() {
        for uri in [
            "file:///tmp/a%20b/c",
            "file:/tmp/a%20b/c",
            "file://host/tmp/a%20b/c",
            "/tmp/a b/c",
        ] {
            assert_eq!(path_of(uri), Path::new("/tmp/a b/c"), "{uri}");
        }
        assert_eq!(path_of("/tmp/100%20"), Path::new("/tmp/100%20"));
    }
}
