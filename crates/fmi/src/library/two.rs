//! The functions of FMI 2.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libloading::Library;

use super::states::States;
use super::{Handle, Log, Plain, function, text};
use crate::description::{Interface, Kind};

/// `fmi2ModelExchange` and `fmi2CoSimulation`.
const MODEL_EXCHANGE: c_int = 0;
const CO_SIMULATION: c_int = 1;
/// `fmi2Terminated`.
const TERMINATED: c_int = 3;
type Set<T> = unsafe extern "C" fn(Handle, *const c_uint, usize, *const T) -> c_int;
type Get<T> = unsafe extern "C" fn(Handle, *const c_uint, usize, *mut T) -> c_int;
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    c_int,
    *const c_char,
    *const c_char,
    *const Callbacks,
    c_int,
    c_int,
) -> Handle;

/// What a library may call. Logging has more arguments in C, for placeholders in the message, which are left as they
/// are: on this platform that is the same call.
#[repr(C)]
pub(super) struct Callbacks {
    logger: extern "C" fn(*mut c_void, *const c_char, c_int, *const c_char, *const c_char),
    allocate: unsafe extern "C" fn(usize, usize) -> *mut c_void,
    free: unsafe extern "C" fn(*mut c_void),
    finished: Option<extern "C" fn(*mut c_void, c_int)>,
    environment: *mut c_void,
}

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(pointer: *mut c_void);
}

extern "C" fn log(
    environment: *mut c_void,
    _name: *const c_char,
    _status: c_int,
    _category: *const c_char,
    message: *const c_char,
) {
    if !environment.is_null() {
        // Safety: it is the log that was handed over, and lives as long as the instance.
        let log = unsafe { &*environment.cast::<Log>() };
        log.push(text(message));
    }
}

impl Callbacks {
    pub fn new(environment: *const Log) -> Self {
        Self {
            logger: log,
            allocate: calloc,
            free,
            finished: None,
            environment: environment.cast_mut().cast(),
        }
    }
}

struct Steps {
    do_step: unsafe extern "C" fn(Handle, f64, f64, c_int) -> c_int,
    boolean_status: unsafe extern "C" fn(Handle, c_int, *mut c_int) -> c_int,
}

/// The functions that are used.
pub(super) struct Two {
    instantiate: Instantiate,
    set_up: unsafe extern "C" fn(Handle, c_int, f64, f64, c_int, f64) -> c_int,
    enter: Plain,
    exit: Plain,
    terminate: Plain,
    free: unsafe extern "C" fn(Handle),
    set_real: Set<f64>,
    get_real: Get<f64>,
    set_integer: Set<c_int>,
    get_integer: Get<c_int>,
    set_boolean: Set<c_int>,
    get_boolean: Get<c_int>,
    set_string: Set<*const c_char>,
    /// For co-simulation alone.
    steps: Option<Steps>,
    pub states: States,
}

impl Two {
    pub fn load(
        library: &Library,
        interface: Interface,
        has_state: bool,
        has_bytes: bool,
    ) -> Result<Self, String> {
        let names = [
            "fmi2GetFMUstate",
            "fmi2SetFMUstate",
            "fmi2FreeFMUstate",
            "fmi2SerializedFMUstateSize",
            "fmi2SerializeFMUstate",
            "fmi2DeSerializeFMUstate",
        ];
        let states = States::load(library, names, has_state, has_bytes)?;
        Ok(Self {
            instantiate: function(library, "fmi2Instantiate")?,
            set_up: function(library, "fmi2SetupExperiment")?,
            enter: function(library, "fmi2EnterInitializationMode")?,
            exit: function(library, "fmi2ExitInitializationMode")?,
            terminate: function(library, "fmi2Terminate")?,
            free: function(library, "fmi2FreeInstance")?,
            set_real: function(library, "fmi2SetReal")?,
            get_real: function(library, "fmi2GetReal")?,
            set_integer: function(library, "fmi2SetInteger")?,
            get_integer: function(library, "fmi2GetInteger")?,
            set_boolean: function(library, "fmi2SetBoolean")?,
            get_boolean: function(library, "fmi2GetBoolean")?,
            set_string: function(library, "fmi2SetString")?,
            steps: match interface {
                Interface::CoSimulation => Some(Steps {
                    do_step: function(library, "fmi2DoStep")?,
                    boolean_status: function(library, "fmi2GetBooleanStatus")?,
                }),
                Interface::ModelExchange => None,
            },
            states,
        })
    }

    // Safety of all that follows: handles come from `instantiate`, slices are as long as is said.

    pub fn instantiate(
        &self,
        interface: Interface,
        name: &CStr,
        guid: &CStr,
        place: &CStr,
        calls: &Callbacks,
    ) -> Handle {
        let kind = match interface {
            Interface::CoSimulation => CO_SIMULATION,
            Interface::ModelExchange => MODEL_EXCHANGE,
        };
        unsafe {
            (self.instantiate)(
                name.as_ptr(),
                kind,
                guid.as_ptr(),
                place.as_ptr(),
                calls,
                0,
                0,
            )
        }
    }

    pub fn set_up(&self, handle: Handle, tolerance: Option<f64>, start: f64) -> c_int {
        let (is_given, tolerance) = (tolerance.is_some(), tolerance.unwrap_or(0.0));
        unsafe { (self.set_up)(handle, c_int::from(is_given), tolerance, start, 0, 0.0) }
    }

    pub fn enter_initialization(&self, handle: Handle) -> c_int {
        unsafe { (self.enter)(handle) }
    }

    pub fn exit_initialization(&self, handle: Handle) -> c_int {
        unsafe { (self.exit)(handle) }
    }

    pub fn set(
        &self,
        handle: Handle,
        kind: &Kind,
        references: &[u32],
        values: &[f64],
    ) -> (c_int, &'static str) {
        let (pointer, count) = (references.as_ptr(), references.len());
        assert_eq!(values.len(), count, "one value a variable");
        let whole = || {
            values
                .iter()
                .map(|value| *value as c_int)
                .collect::<Vec<_>>()
        };
        match kind {
            Kind::Boolean => {
                let status =
                    unsafe { (self.set_boolean)(handle, pointer, count, whole().as_ptr()) };
                (status, "fmi2SetBoolean")
            }
            Kind::Whole(..) | Kind::Enumeration(_) => {
                let status =
                    unsafe { (self.set_integer)(handle, pointer, count, whole().as_ptr()) };
                (status, "fmi2SetInteger")
            }
            _ => {
                let status = unsafe { (self.set_real)(handle, pointer, count, values.as_ptr()) };
                (status, "fmi2SetReal")
            }
        }
    }

    pub fn get(
        &self,
        handle: Handle,
        kind: &Kind,
        references: &[u32],
        values: &mut [f64],
    ) -> (c_int, &'static str) {
        let (pointer, count) = (references.as_ptr(), references.len());
        assert_eq!(values.len(), count, "one value a variable");
        let (get, call) = match kind {
            Kind::Boolean => (self.get_boolean, "fmi2GetBoolean"),
            Kind::Whole(..) | Kind::Enumeration(_) => (self.get_integer, "fmi2GetInteger"),
            _ => {
                let status =
                    unsafe { (self.get_real)(handle, pointer, count, values.as_mut_ptr()) };
                return (status, "fmi2GetReal");
            }
        };
        let mut whole = vec![0; count];
        let status = unsafe { get(handle, pointer, count, whole.as_mut_ptr()) };
        for (value, whole) in values.iter_mut().zip(whole) {
            *value = f64::from(whole);
        }
        (status, call)
    }

    pub fn set_string(&self, handle: Handle, reference: u32, value: &CStr) -> c_int {
        unsafe { (self.set_string)(handle, &reference, 1, &value.as_ptr()) }
    }

    pub fn do_step(&self, handle: Handle, from: f64, length: f64) -> c_int {
        // A state may be restored later: earlier ones stay in use.
        let keeps_nothing = c_int::from(!self.states.are_there());
        match &self.steps {
            Some(steps) => unsafe { (steps.do_step)(handle, from, length, keeps_nothing) },
            None => super::states::ERROR,
        }
    }

    pub fn is_terminated(&self, handle: Handle) -> bool {
        let Some(steps) = &self.steps else {
            return false;
        };
        let mut is_so = 0;
        let status = unsafe { (steps.boolean_status)(handle, TERMINATED, &mut is_so) };
        status == 0 && is_so != 0
    }

    pub fn free(&self, handle: Handle) {
        unsafe {
            (self.terminate)(handle);
            (self.free)(handle);
        }
    }
}
