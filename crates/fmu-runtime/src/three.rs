//! The functions of FMI 3.0.
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
use crate::instance::Instance;

/// The logger of the importer of the FMU.
type Logger = unsafe extern "C" fn(
    environment: *mut c_void,
    status: c_int,
    category: *const c_char,
    message: *const c_char,
);

/// What the importer is called with within a communication step.
type IntermediateUpdate = unsafe extern "C" fn(
    environment: *mut c_void,
    time: f64,
    set_requested: bool,
    get_allowed: bool,
    step_finished: bool,
    can_return_early: bool,
    early_return: *mut bool,
    early_return_time: *mut f64,
);

/// The version of the standard.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// Only errors are told, always.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3SetDebugLogging(
    _: *mut c_void,
    _: bool,
    _: usize,
    _: *const *const c_char,
) -> c_int {
    OK
}

/// A new instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    _name: *const c_char,
    token: *const c_char,
    resources: *const c_char,
    _visible: bool,
    _logging: bool,
    _event_mode: bool,
    _early_return: bool,
    _required: *const u32,
    _required_count: usize,
    environment: *mut c_void,
    logger: Option<Logger>,
    intermediate_update: Option<IntermediateUpdate>,
) -> *mut c_void {
    // SAFETY: the standard demands these pointers to be valid or null.
    let (token, resources) = unsafe { (text(token), text(resources)) };
    let log = Box::new(move |status: i32, message: &str| {
        if let Some(logger) = logger {
            let message = c_text(message);
            let category = c"logStatusError".as_ptr();
            // SAFETY: the texts live until the call returns.
            unsafe { logger(environment, status, category, message.as_ptr()) }
        }
    });
    let resources = resources.map(PathBuf::from);
    let between = intermediate_update.map(|update| -> border::Between {
        std::rc::Rc::new(move |time: f64| {
            let (mut early, mut early_time) = (false, time);
            // SAFETY: the standard demands a function of this form; an early return is not offered.
            unsafe {
                update(
                    environment,
                    time,
                    true,
                    true,
                    true,
                    false,
                    &mut early,
                    &mut early_time,
                );
            }
        })
    });
    border::boxed(resources, token.unwrap_or_default(), log, between)
}

/// This FMU is made for co-simulation.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3InstantiateModelExchange() -> *mut c_void {
    std::ptr::null_mut()
}

/// This FMU is made for co-simulation.
#[unsafe(no_mangle)]
pub extern "C" fn fmi3InstantiateScheduledExecution() -> *mut c_void {
    std::ptr::null_mut()
}

/// Frees an instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(instance: *mut c_void) {
    // SAFETY: the standard demands an instance of ours, or null.
    unsafe { border::free(instance) }
}

/// Initialisation begins.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    instance: *mut c_void,
    _has_tolerance: bool,
    _tolerance: f64,
    start: f64,
    _has_stop: bool,
    _stop: f64,
) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |instance| instance.begin_at(start)) }
}

/// Initialisation ends.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(instance: *mut c_void) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |instance| instance.initialise()) }
}

/// The run is over.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(instance: *mut c_void) -> c_int {
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, |_| Ok(())) }
}

/// Everything as it was when it was made.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(instance: *mut c_void) -> c_int {
    let work = |instance: &mut Instance| {
        instance.reset();
        Ok(())
    };
    // SAFETY: the standard demands an instance of ours.
    unsafe { with(instance, work) }
}

/// Values of variables.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFloat64(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *mut f64,
    room: usize,
) -> c_int {
    // SAFETY: the standard demands arrays of these lengths.
    unsafe { border::get(instance, references, count, values, room) }
}

/// Sets inputs, and parameters before the start.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFloat64(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    values: *const f64,
    given: usize,
) -> c_int {
    // SAFETY: the standard demands arrays of these lengths.
    unsafe { border::set(instance, references, count, values, given) }
}

/// Saves the state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetFMUState(instance: *mut c_void, state: *mut *mut c_void) -> c_int {
    // SAFETY: the standard demands a place for a state of ours.
    unsafe { border::save(instance, state) }
}

/// Goes back to a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetFMUState(instance: *mut c_void, state: *mut c_void) -> c_int {
    // SAFETY: the standard demands a state of ours.
    unsafe { border::restore(instance, state) }
}

/// Frees a saved state.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeFMUState(instance: *mut c_void, state: *mut *mut c_void) -> c_int {
    // SAFETY: the standard demands a state of ours.
    unsafe { border::free_state(instance, state) }
}

/// The length of a state as bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializedFMUStateSize(
    instance: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> c_int {
    // SAFETY: the standard demands a state of ours.
    unsafe { border::state_size(instance, state, size) }
}

/// A state as bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SerializeFMUState(
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
pub unsafe extern "C" fn fmi3DeserializeFMUState(
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
pub unsafe extern "C" fn fmi3DoStep(
    instance: *mut c_void,
    from: f64,
    length: f64,
    _no_set_state_prior: bool,
    event: *mut bool,
    terminate: *mut bool,
    early_return: *mut bool,
    last_time: *mut f64,
) -> c_int {
    // SAFETY: the standard demands an instance of ours, and places for what is told, or null.
    unsafe {
        let status = border::step(instance, from, length);
        for flag in [event, terminate, early_return] {
            if let Some(flag) = flag.as_mut() {
                *flag = false;
            }
        }
        let told = with(instance, |instance| {
            if let Some(last_time) = last_time.as_mut() {
                *last_time = instance.time();
            }
            Ok(())
        });
        status.max(told)
    }
}

/// The number of dependencies of a variable: nothing depends on an input at once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetNumberOfVariableDependencies(
    _: *mut c_void,
    _: u32,
    count: *mut usize,
) -> c_int {
    // SAFETY: the standard demands a place for the number.
    match unsafe { count.as_mut() } {
        Some(count) => {
            *count = 0;
            OK
        }
        None => ERROR,
    }
}

/// There are no variables of other types: none can be asked for.
macro_rules! without_variables {
    ($($name:ident),* $(,)?) => { $(
        /// There are no variables of this type.
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(_: *mut c_void, _: *const u32, count: usize) -> c_int {
            if count == 0 { OK } else { ERROR }
        }
    )* };
}

without_variables! {
    fmi3GetFloat32, fmi3GetInt8, fmi3GetUInt8, fmi3GetInt16, fmi3GetUInt16, fmi3GetInt32, fmi3GetUInt32,
    fmi3GetInt64, fmi3GetUInt64, fmi3GetBoolean, fmi3GetString, fmi3GetBinary, fmi3GetClock,
    fmi3SetFloat32, fmi3SetInt8, fmi3SetUInt8, fmi3SetInt16, fmi3SetUInt16, fmi3SetInt32, fmi3SetUInt32,
    fmi3SetInt64, fmi3SetUInt64, fmi3SetBoolean, fmi3SetString, fmi3SetBinary, fmi3SetClock,
}

/// Derivatives of outputs, where a motion has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    instance: *mut c_void,
    references: *const u32,
    count: usize,
    orders: *const i32,
    values: *mut f64,
    room: usize,
) -> c_int {
    // SAFETY: the standard demands arrays of these lengths.
    unsafe { border::derivatives(instance, references, orders, count, values, room) }
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
    fmi3GetVariableDependencies, fmi3GetDirectionalDerivative, fmi3GetAdjointDerivative,
    fmi3EnterConfigurationMode, fmi3ExitConfigurationMode, fmi3EnterEventMode, fmi3EnterStepMode,
    fmi3GetIntervalDecimal, fmi3GetIntervalFraction, fmi3GetShiftDecimal, fmi3GetShiftFraction,
    fmi3SetIntervalDecimal, fmi3SetIntervalFraction, fmi3SetShiftDecimal, fmi3SetShiftFraction,
    fmi3EvaluateDiscreteStates, fmi3UpdateDiscreteStates, fmi3EnterContinuousTimeMode,
    fmi3CompletedIntegratorStep, fmi3SetTime, fmi3SetContinuousStates, fmi3GetContinuousStateDerivatives,
    fmi3GetEventIndicators, fmi3GetContinuousStates, fmi3GetNominalsOfContinuousStates,
    fmi3GetNumberOfEventIndicators, fmi3GetNumberOfContinuousStates,
    fmi3ActivateModelPartition,
}
