//! The functions of FMI 3.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libloading::Library;

use super::states::States;
use super::{Handle, Log, Origin, Plain, function, text};
use crate::description::{Interface, Kind};

type Set<T> = unsafe extern "C" fn(Handle, *const c_uint, usize, *const T, usize) -> c_int;
type Get<T> = unsafe extern "C" fn(Handle, *const c_uint, usize, *mut T, usize) -> c_int;
type LogMessage = extern "C" fn(*mut c_void, c_int, *const c_char, *const c_char);
type InstantiateExchanged = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    *mut c_void,
    LogMessage,
) -> Handle;
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    bool,
    bool,
    bool,
    bool,
    *const c_uint,
    usize,
    *mut c_void,
    LogMessage,
    *const c_void,
) -> Handle;
type DoStep =
    unsafe extern "C" fn(Handle, f64, f64, bool, *mut u8, *mut u8, *mut u8, *mut f64) -> c_int;

extern "C" fn log(
    environment: *mut c_void,
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

/// Getter and setter of one kind of numbers.
struct Access<T> {
    get: Get<T>,
    set: Set<T>,
    calls: [&'static str; 2],
}

/// Numbers that a port may carry.
trait Scalar: Copy + Default {
    fn of(value: f64) -> Self;
    fn number(self) -> f64;
}

macro_rules! scalars {
    ($($kind:ty)*) => { $(
        impl Scalar for $kind {
            fn of(value: f64) -> Self {
                value as Self
            }
            fn number(self) -> f64 {
                self as f64
            }
        }
    )* };
}
scalars! { f64 f32 i8 u8 i16 u16 i32 u32 i64 u64 }

/// A Boolean, as C passes it.
#[derive(Clone, Copy, Default)]
#[repr(transparent)]
struct Flag(u8);

impl Scalar for Flag {
    fn of(value: f64) -> Self {
        Self(u8::from(value != 0.0))
    }
    fn number(self) -> f64 {
        f64::from(u8::from(self.0 != 0))
    }
}

impl<T: Scalar> Access<T> {
    fn load(library: &Library, calls: [&'static str; 2]) -> Result<Self, String> {
        Ok(Self {
            get: function(library, calls[0])?,
            set: function(library, calls[1])?,
            calls,
        })
    }

    // Safety of both: slices are as long as is said.

    fn set(&self, handle: Handle, references: &[u32], values: &[f64]) -> (c_int, &'static str) {
        let values: Vec<T> = values.iter().map(|value| T::of(*value)).collect();
        let (pointer, count) = (references.as_ptr(), references.len());
        let status = unsafe { (self.set)(handle, pointer, count, values.as_ptr(), values.len()) };
        (status, self.calls[1])
    }

    fn get(&self, handle: Handle, references: &[u32], out: &mut [f64]) -> (c_int, &'static str) {
        let mut values = vec![T::default(); out.len()];
        let (pointer, count) = (references.as_ptr(), references.len());
        let status = unsafe { (self.get)(handle, pointer, count, values.as_mut_ptr(), out.len()) };
        for (out, value) in out.iter_mut().zip(values) {
            *out = value.number();
        }
        (status, self.calls[0])
    }
}

/// How an instance is made and moved on.
enum Way {
    Steps(Instantiate, DoStep),
    Exchanged(InstantiateExchanged),
}

/// What a step says.
pub(super) struct StepOfThree {
    pub status: c_int,
    pub has_event: bool,
    pub ends: bool,
    pub is_early: bool,
    pub reached: f64,
}

/// The functions that are used.
pub(super) struct Three {
    way: Way,
    /// Into the mode in which structural parameters are set, and out of it.
    configure: Option<[Plain; 2]>,
    enter: unsafe extern "C" fn(Handle, bool, f64, f64, bool, f64) -> c_int,
    exit: Plain,
    terminate: Plain,
    free: unsafe extern "C" fn(Handle),
    float64: Access<f64>,
    float32: Access<f32>,
    int8: Access<i8>,
    uint8: Access<u8>,
    int16: Access<i16>,
    uint16: Access<u16>,
    int32: Access<i32>,
    uint32: Access<u32>,
    int64: Access<i64>,
    uint64: Access<u64>,
    boolean: Access<Flag>,
    set_string: Set<*const c_char>,
    pub states: States,
}

impl Three {
    pub fn load(library: &Library, origin: &Origin) -> Result<Self, String> {
        let names = [
            "fmi3GetFMUState",
            "fmi3SetFMUState",
            "fmi3FreeFMUState",
            "fmi3SerializedFMUStateSize",
            "fmi3SerializeFMUState",
            "fmi3DeserializeFMUState",
        ];
        let states = States::load(library, names, origin.has_state, origin.has_bytes)?;
        Ok(Self {
            way: match origin.interface {
                Interface::CoSimulation => Way::Steps(
                    function(library, "fmi3InstantiateCoSimulation")?,
                    function(library, "fmi3DoStep")?,
                ),
                Interface::ModelExchange => {
                    Way::Exchanged(function(library, "fmi3InstantiateModelExchange")?)
                }
            },
            configure: match origin.has_structure {
                true => Some([
                    function(library, "fmi3EnterConfigurationMode")?,
                    function(library, "fmi3ExitConfigurationMode")?,
                ]),
                false => None,
            },
            enter: function(library, "fmi3EnterInitializationMode")?,
            exit: function(library, "fmi3ExitInitializationMode")?,
            terminate: function(library, "fmi3Terminate")?,
            free: function(library, "fmi3FreeInstance")?,
            float64: Access::load(library, ["fmi3GetFloat64", "fmi3SetFloat64"])?,
            float32: Access::load(library, ["fmi3GetFloat32", "fmi3SetFloat32"])?,
            int8: Access::load(library, ["fmi3GetInt8", "fmi3SetInt8"])?,
            uint8: Access::load(library, ["fmi3GetUInt8", "fmi3SetUInt8"])?,
            int16: Access::load(library, ["fmi3GetInt16", "fmi3SetInt16"])?,
            uint16: Access::load(library, ["fmi3GetUInt16", "fmi3SetUInt16"])?,
            int32: Access::load(library, ["fmi3GetInt32", "fmi3SetInt32"])?,
            uint32: Access::load(library, ["fmi3GetUInt32", "fmi3SetUInt32"])?,
            int64: Access::load(library, ["fmi3GetInt64", "fmi3SetInt64"])?,
            uint64: Access::load(library, ["fmi3GetUInt64", "fmi3SetUInt64"])?,
            boolean: Access::load(library, ["fmi3GetBoolean", "fmi3SetBoolean"])?,
            set_string: function(library, "fmi3SetString")?,
            states,
        })
    }

    // Safety of all that follows: handles come from `instantiate`.

    pub fn instantiate(
        &self,
        origin: &Origin,
        name: &CStr,
        token: &CStr,
        place: &CStr,
        environment: *mut c_void,
    ) -> Handle {
        let [name, token, place] = [name.as_ptr(), token.as_ptr(), place.as_ptr()];
        match self.way {
            Way::Steps(instantiate, _) => unsafe {
                instantiate(
                    name,
                    token,
                    place,
                    false,
                    false,
                    origin.has_events,
                    origin.has_events || origin.returns_early,
                    std::ptr::null(),
                    0,
                    environment,
                    log,
                    std::ptr::null(),
                )
            },
            Way::Exchanged(instantiate) => unsafe {
                instantiate(name, token, place, false, false, environment, log)
            },
        }
    }

    /// Into the mode in which structural parameters are set, or out of it.
    pub fn configure(&self, handle: Handle, enters: bool) -> c_int {
        match self.configure {
            Some([enter, _]) if enters => unsafe { enter(handle) },
            Some([_, exit]) => unsafe { exit(handle) },
            None => super::states::ERROR,
        }
    }

    pub fn enter_initialization(
        &self,
        handle: Handle,
        tolerance: Option<f64>,
        start: f64,
    ) -> c_int {
        let (is_given, tolerance) = (tolerance.is_some(), tolerance.unwrap_or(0.0));
        unsafe { (self.enter)(handle, is_given, tolerance, start, false, 0.0) }
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
        match kind {
            Kind::Float32 => self.float32.set(handle, references, values),
            Kind::Whole(8, true) => self.int8.set(handle, references, values),
            Kind::Whole(8, false) => self.uint8.set(handle, references, values),
            Kind::Whole(16, true) => self.int16.set(handle, references, values),
            Kind::Whole(16, false) => self.uint16.set(handle, references, values),
            Kind::Whole(32, true) => self.int32.set(handle, references, values),
            Kind::Whole(32, false) => self.uint32.set(handle, references, values),
            Kind::Whole(_, false) => self.uint64.set(handle, references, values),
            Kind::Whole(..) | Kind::Enumeration(_) => self.int64.set(handle, references, values),
            Kind::Boolean => self.boolean.set(handle, references, values),
            _ => {
                let (pointer, count) = (references.as_ptr(), references.len());
                let (numbers, length) = (values.as_ptr(), values.len());
                let status = unsafe { (self.float64.set)(handle, pointer, count, numbers, length) };
                (status, self.float64.calls[1])
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
        match kind {
            Kind::Float32 => self.float32.get(handle, references, values),
            Kind::Whole(8, true) => self.int8.get(handle, references, values),
            Kind::Whole(8, false) => self.uint8.get(handle, references, values),
            Kind::Whole(16, true) => self.int16.get(handle, references, values),
            Kind::Whole(16, false) => self.uint16.get(handle, references, values),
            Kind::Whole(32, true) => self.int32.get(handle, references, values),
            Kind::Whole(32, false) => self.uint32.get(handle, references, values),
            Kind::Whole(_, false) => self.uint64.get(handle, references, values),
            Kind::Whole(..) | Kind::Enumeration(_) => self.int64.get(handle, references, values),
            Kind::Boolean => self.boolean.get(handle, references, values),
            _ => {
                let (pointer, count) = (references.as_ptr(), references.len());
                let (numbers, length) = (values.as_mut_ptr(), values.len());
                let status = unsafe { (self.float64.get)(handle, pointer, count, numbers, length) };
                (status, self.float64.calls[0])
            }
        }
    }

    pub fn set_string(&self, handle: Handle, reference: u32, value: &CStr) -> c_int {
        unsafe { (self.set_string)(handle, &reference, 1, &value.as_ptr(), 1) }
    }

    pub fn do_step(&self, handle: Handle, from: f64, length: f64) -> StepOfThree {
        let keeps_nothing = !self.states.are_there();
        let (mut event, mut ends, mut early, mut reached) = (0, 0, 0, from + length);
        let status = match self.way {
            Way::Steps(_, do_step) => unsafe {
                do_step(
                    handle,
                    from,
                    length,
                    keeps_nothing,
                    &mut event,
                    &mut ends,
                    &mut early,
                    &mut reached,
                )
            },
            Way::Exchanged(_) => super::states::ERROR,
        };
        StepOfThree {
            status,
            has_event: event != 0,
            ends: ends != 0,
            is_early: early != 0,
            reached,
        }
    }

    pub fn free(&self, handle: Handle) {
        unsafe {
            (self.terminate)(handle);
            (self.free)(handle);
        }
    }
}
