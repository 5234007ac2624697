//! Calls into the library of an FMU: all that is unsafe about it.
//!
//! Functions are looked up by name when an FMU is loaded, so that one which lacks what its description promises is
//! refused then. Every call gets slices of the length that the standard asks for; what the library does with them is
//! its own affair. An instance is used by one thread at a time.
#![allow(unsafe_code)]

mod calls;
mod exchange;
mod states;
mod three;
mod two;

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::description::{Interface, Kind, Version};

pub(crate) use calls::{Call, Watcher};
pub(crate) use exchange::Updated;
use exchange::{Events, Exchange, InputRates};
pub(crate) use states::Kept;
use states::States;
use three::Three;
use two::Two;

/// Lines of the log that are kept.
const LOGGED: usize = 20;

/// A status of both versions.
const DISCARD: c_int = 2;

type Handle = *mut c_void;
type Plain = unsafe extern "C" fn(Handle) -> c_int;

/// A library, and what it needs to know to make an instance.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Origin {
    pub version: Version,
    pub interface: Interface,
    pub library: PathBuf,
    pub resources: PathBuf,
    pub name: String,
    pub token: String,
    pub has_state: bool,
    pub has_bytes: bool,
    /// Whether it handles events when it is asked to, in a co-simulation.
    pub has_events: bool,
    /// Whether its steps may end early.
    pub returns_early: bool,
    /// Whether it has structural parameters.
    pub has_structure: bool,
    /// Whether it takes rates of inputs.
    pub takes_rates: bool,
}

/// What a library says while it runs; the last lines.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    /// Whether lines also go to the standard error: from there they are read when the process has died.
    is_told: bool,
}

impl Log {
    fn push(&self, line: String) {
        if self.is_told {
            eprintln!("{line}");
        }
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.len() == LOGGED {
            lines.remove(0);
        }
        lines.push(line);
    }

    /// The last line, and forgets all.
    fn take(&self) -> Option<String> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let last = lines.pop();
        lines.clear();
        last
    }
}

/// Text that a library hands over.
fn text(pointer: *const c_char) -> String {
    match pointer.is_null() {
        true => String::new(),
        // Safety: the standard says that it ends with a zero.
        false => unsafe { CStr::from_ptr(pointer) }
            .to_string_lossy()
            .into_owned(),
    }
}

/// How far a step came.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stepped {
    /// To this time; and whether there is an event then, which it must be told to handle.
    To(f64, bool),
    /// Not at all: the library asks for a shorter one.
    Discarded,
    /// It wants the simulation to end.
    Ended,
}

enum Functions {
    Two(Two),
    Three(Box<Three>),
}

/// An instance of an FMU. It ends with this value.
pub(crate) struct Instance {
    handle: Handle,
    functions: Functions,
    /// What there is for model exchange and for events.
    exchange: Option<Exchange>,
    events: Option<Events>,
    rates: Option<InputRates>,
    log: Box<Log>,
    watcher: Watcher,
    /// What the functions point into; after them, so that it is closed last.
    _library: libloading::Library,
    _callbacks: Option<Box<two::Callbacks>>,
}

// Safety: the standard allows calls from any thread, one at a time; nothing else holds the handle.
unsafe impl Send for Instance {}

impl Instance {
    /// A new instance, before its initialisation. Calls are told to the watcher.
    pub fn new(origin: &Origin, watcher: Watcher) -> Result<Self, String> {
        watcher.enters(Call::Load);
        // Safety: loading runs what the library does at its start; that is what the user asks for.
        let library = unsafe { libloading::Library::new(&origin.library) }.map_err(|error| {
            let reason = std::error::Error::source(&error).map(ToString::to_string);
            let reason = reason.unwrap_or_else(|| error.to_string());
            format!("its library cannot be loaded: {reason}")
        })?;
        let (has_state, has_bytes) = (origin.has_state, origin.has_bytes);
        let (version, interface) = (origin.version, origin.interface);
        let functions = match version {
            Version::Two => Functions::Two(Two::load(&library, interface, has_state, has_bytes)?),
            Version::Three => Functions::Three(Box::new(Three::load(&library, origin)?)),
        };
        let is_exchanged = interface == Interface::ModelExchange;
        let exchange = is_exchanged.then(|| Exchange::load(&library, version));
        let events =
            (is_exchanged || origin.has_events).then(|| Events::load(&library, version, interface));
        let rates = origin.takes_rates.then(|| InputRates::load(&library));
        let (exchange, events, rates) = (
            exchange.transpose()?,
            events.transpose()?,
            rates.transpose()?,
        );
        let log = Box::new(Log {
            is_told: watcher.is_elsewhere(),
            ..Log::default()
        });
        let environment: *const Log = &*log;
        let c_string =
            |text: &str| CString::new(text).map_err(|_| "a name of it has a zero byte".to_owned());
        let (name, token) = (c_string(&origin.name)?, c_string(&origin.token)?);
        let resources = origin.resources.display();
        watcher.enters(Call::Instantiate);
        let (handle, callbacks) = match &functions {
            Functions::Two(two) => {
                let place = c_string(&format!("file://{resources}"))?;
                let callbacks = Box::new(two::Callbacks::new(environment));
                (
                    two.instantiate(interface, &name, &token, &place, &callbacks),
                    Some(callbacks),
                )
            }
            Functions::Three(three) => {
                let place = c_string(&format!("{resources}/"))?;
                (
                    three.instantiate(origin, &name, &token, &place, environment.cast_mut().cast()),
                    None,
                )
            }
        };
        watcher.leaves();
        if handle.is_null() {
            let reason = log.take().map_or(String::new(), |line| format!(": {line}"));
            return Err(format!("it could not be instantiated{reason}"));
        }
        Ok(Self {
            handle,
            functions,
            exchange,
            events,
            rates,
            log,
            watcher,
            _library: library,
            _callbacks: callbacks,
        })
    }

    /// An error where a status is one, with what the library said last.
    fn checked(&self, status: c_int, call: &str) -> Result<(), String> {
        if status <= 1 {
            return Ok(());
        }
        let word = match status {
            DISCARD => "discarded",
            3 => "an error",
            4 => "a fatal error",
            _ => "an unknown status",
        };
        let said = self.log.take();
        let said = said.map_or(String::new(), |line| format!(": {line}"));
        Err(format!("{call} gave {word}{said}"))
    }

    /// Begins the initialisation, in which inputs may be set and outputs be asked for.
    pub fn begin(&self, tolerance: Option<f64>, start: f64) -> Result<(), String> {
        self.watcher.enters(Call::EnterInitialization);
        match &self.functions {
            Functions::Two(two) => {
                let status = two.set_up(self.handle, tolerance, start);
                self.checked(status, "fmi2SetupExperiment")?;
                let status = two.enter_initialization(self.handle);
                self.checked(status, "fmi2EnterInitializationMode")
            }
            Functions::Three(three) => {
                let status = three.enter_initialization(self.handle, tolerance, start);
                self.checked(status, "fmi3EnterInitializationMode")
            }
        }
    }

    /// Ends the initialisation.
    pub fn start(&self) -> Result<(), String> {
        self.watcher.enters(Call::ExitInitialization);
        let (status, call) = match &self.functions {
            Functions::Two(two) => (
                two.exit_initialization(self.handle),
                "fmi2ExitInitializationMode",
            ),
            Functions::Three(three) => (
                three.exit_initialization(self.handle),
                "fmi3ExitInitializationMode",
            ),
        };
        self.checked(status, call)
    }

    /// Sets numbers of variables of one kind, as many as all of them have.
    pub fn set(&self, kind: &Kind, references: &[u32], values: &[f64]) -> Result<(), String> {
        if references.is_empty() {
            return Ok(());
        }
        self.watcher.enters(Call::Set);
        let (status, call) = match &self.functions {
            Functions::Two(two) => two.set(self.handle, kind, references, values),
            Functions::Three(three) => three.set(self.handle, kind, references, values),
        };
        self.checked(status, call)
    }

    /// Asks for numbers of variables of one kind.
    pub fn get(&self, kind: &Kind, references: &[u32], values: &mut [f64]) -> Result<(), String> {
        if references.is_empty() {
            return Ok(());
        }
        self.watcher.enters(Call::Get);
        let (status, call) = match &self.functions {
            Functions::Two(two) => two.get(self.handle, kind, references, values),
            Functions::Three(three) => three.get(self.handle, kind, references, values),
        };
        self.checked(status, call)
    }

    /// Sets a text.
    pub fn set_text(&self, reference: u32, value: &str) -> Result<(), String> {
        let value = CString::new(value).map_err(|_| "the text has a zero byte".to_owned())?;
        self.watcher.enters(Call::Set);
        let (status, call) = match &self.functions {
            Functions::Two(two) => (
                two.set_string(self.handle, reference, &value),
                "fmi2SetString",
            ),
            Functions::Three(three) => (
                three.set_string(self.handle, reference, &value),
                "fmi3SetString",
            ),
        };
        self.checked(status, call)
    }

    /// Takes a step.
    pub fn step(&self, from: f64, length: f64) -> Result<Stepped, String> {
        self.watcher.enters(Call::DoStep);
        let (status, ended, reached, call) = match &self.functions {
            Functions::Two(two) => {
                let status = two.do_step(self.handle, from, length);
                let ended = status == DISCARD && two.is_terminated(self.handle);
                (status, ended, (from + length, false), "fmi2DoStep")
            }
            Functions::Three(three) => {
                let stepped = three.do_step(self.handle, from, length);
                let reached = match stepped.is_early {
                    true => stepped.reached,
                    false => from + length,
                };
                let reached = (reached, stepped.has_event);
                (stepped.status, stepped.ends, reached, "fmi3DoStep")
            }
        };
        if ended {
            return Ok(Stepped::Ended);
        }
        if status == DISCARD {
            return Ok(Stepped::Discarded);
        }
        self.checked(status, call)?;
        Ok(Stepped::To(reached.0, reached.1))
    }

    /// Sets numbers of structural parameters, before the initialisation.
    pub fn structure(&self, numbers: &[(Kind, u32, Vec<f64>)]) -> Result<(), String> {
        let Functions::Three(three) = &self.functions else {
            return Ok(());
        };
        self.watcher.enters(Call::Set);
        let status = three.configure(self.handle, true);
        self.checked(status, "fmi3EnterConfigurationMode")?;
        for (kind, reference, values) in numbers {
            self.set(kind, &[*reference], values)?;
        }
        let status = three.configure(self.handle, false);
        self.checked(status, "fmi3ExitConfigurationMode")
    }

    /// Sets rates of real inputs for the next step.
    pub fn set_rates(&self, references: &[u32], rates: &[f64]) -> Result<(), String> {
        let Some(function) = &self.rates else {
            return Ok(());
        };
        self.watcher.enters(Call::Set);
        let status = function.set(self.handle, references, rates);
        self.checked(status, "fmi2SetRealInputDerivatives")
    }

    /// Whether it has events that it must be told to handle.
    pub fn has_events(&self) -> bool {
        self.events.is_some()
    }

    /// Begins the handling of events.
    pub fn enter_events(&self) -> Result<(), String> {
        match &self.events {
            Some(events) => {
                self.watcher.enters(Call::Events);
                self.checked(events.enter(self.handle), "EnterEventMode")
            }
            None => Ok(()),
        }
    }

    /// Brings discrete states up to date.
    pub fn update(&self) -> Result<Updated, String> {
        let Some(events) = &self.events else {
            return Ok(Updated::default());
        };
        self.watcher.enters(Call::Events);
        let (status, updated) = events.update(self.handle);
        self.checked(status, "the update of its discrete states")?;
        Ok(updated)
    }

    /// Ends the handling of events.
    pub fn leave_events(&self) -> Result<(), String> {
        match &self.events {
            Some(events) => {
                self.watcher.enters(Call::Events);
                self.checked(events.leave(self.handle), "the end of its event mode")
            }
            None => Ok(()),
        }
    }

    /// What it is integrated by; nothing is called of a co-simulation.
    fn exchanged(
        &self,
        call: Call,
        name: &str,
        ask: impl FnOnce(&Exchange, Handle) -> c_int,
    ) -> Result<(), String> {
        let exchange = self.exchange.as_ref().ok_or("it steps itself")?;
        self.watcher.enters(call);
        self.checked(ask(exchange, self.handle), name)
    }

    /// Its time and continuous states are these.
    pub fn place_at(&self, t: f64, x: &[f64]) -> Result<(), String> {
        self.exchanged(Call::Set, "SetTime", |all, handle| all.set_time(handle, t))?;
        match x.is_empty() {
            true => Ok(()),
            false => self.exchanged(Call::Set, "SetContinuousStates", |all, handle| {
                all.set_states(handle, x)
            }),
        }
    }

    /// Its continuous states.
    pub fn continuous_states(&self, x: &mut [f64]) -> Result<(), String> {
        match x.is_empty() {
            true => Ok(()),
            false => self.exchanged(Call::Get, "GetContinuousStates", |all, handle| {
                all.states(handle, x)
            }),
        }
    }

    /// How large its continuous states are.
    pub fn nominals(&self, sizes: &mut [f64]) -> Result<(), String> {
        match sizes.is_empty() {
            true => Ok(()),
            false => self.exchanged(Call::Get, "GetNominalsOfContinuousStates", |all, handle| {
                all.nominals(handle, sizes)
            }),
        }
    }

    /// The derivatives of its states.
    pub fn derivatives(&self, rates: &mut [f64]) -> Result<(), String> {
        match rates.is_empty() {
            true => Ok(()),
            false => self.exchanged(Call::Derivatives, "its derivatives", |all, handle| {
                all.derivatives(handle, rates)
            }),
        }
    }

    /// The functions that change their sign at events.
    pub fn indicators(&self, z: &mut [f64]) -> Result<(), String> {
        match z.is_empty() {
            true => Ok(()),
            false => self.exchanged(Call::Derivatives, "GetEventIndicators", |all, handle| {
                all.indicators(handle, z)
            }),
        }
    }

    /// How many of them there are, where the library can be asked.
    pub fn count_indicators(&self) -> Result<Option<usize>, String> {
        let counted = self
            .exchange
            .as_ref()
            .and_then(|all| all.count(self.handle));
        let Some((status, count)) = counted else {
            return Ok(None);
        };
        self.checked(status, "fmi3GetNumberOfEventIndicators")?;
        Ok(Some(count))
    }

    /// Tells that a step of the integrator is complete: whether there is an event, and whether the simulation shall end.
    pub fn completed(&self) -> Result<[bool; 2], String> {
        let Some(exchange) = &self.exchange else {
            return Ok([false; 2]);
        };
        self.watcher.enters(Call::Events);
        let (status, said) = exchange.completed(self.handle, !self.keeps_states());
        self.checked(status, "CompletedIntegratorStep")?;
        Ok(said)
    }

    fn states(&self) -> &States {
        match &self.functions {
            Functions::Two(two) => &two.states,
            Functions::Three(three) => &three.states,
        }
    }

    /// Keeps the present state in the place of an earlier one.
    pub fn keep(&self, kept: &mut Kept) -> Result<(), String> {
        self.watcher.enters(Call::GetState);
        self.checked(self.states().keep(self.handle, kept), "saving its state")
    }

    /// Goes back to a state that it kept.
    pub fn return_to(&self, kept: &Kept) -> Result<(), String> {
        self.watcher.enters(Call::SetState);
        let status = self.states().return_to(self.handle, kept);
        self.checked(status, "restoring its state")
    }

    /// Gives up a state that it kept.
    pub fn free(&self, kept: &mut Kept) {
        self.states().free(self.handle, kept);
    }

    /// The state as bytes.
    pub fn save(&self, bytes: &mut Vec<u8>) -> Result<(), String> {
        self.watcher.enters(Call::SerializeState);
        self.checked(self.states().save(self.handle, bytes), "saving its state")
    }

    /// Goes back to a state.
    pub fn restore(&self, bytes: &[u8]) -> Result<(), String> {
        self.watcher.enters(Call::DeserializeState);
        let status = self.states().restore(self.handle, bytes);
        self.checked(status, "restoring its state")
    }

    /// Whether states can be kept.
    pub fn keeps_states(&self) -> bool {
        self.states().are_there()
    }

    /// Tells the watcher that the library has returned.
    pub fn rest(&self) {
        self.watcher.leaves();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.watcher.enters(Call::FreeInstance);
        match &self.functions {
            Functions::Two(two) => two.free(self.handle),
            Functions::Three(three) => three.free(self.handle),
        }
    }
}

/// Looks a function up.
fn function<F: Copy>(library: &libloading::Library, name: &str) -> Result<F, String> {
    // Safety: the standard fixes the signature that goes with the name.
    unsafe { library.get::<F>(name.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|_| format!("its library has no function `{name}`"))
}

/// The same, of functions that are needed for an ability only.
fn ability<F: Copy>(
    library: &libloading::Library,
    name: &str,
    has: bool,
) -> Result<Option<F>, String> {
    match has {
        true => function(library, name).map(Some).map_err(|error| {
            format!("{error}, though its description says that it can do what that is for")
        }),
        false => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_keeps_the_last_lines() {
        let log = Log::default();
        for line in 0..50 {
            log.push(line.to_string());
        }
        assert_eq!(log.take().as_deref(), Some("49"));
        assert_eq!(log.take(), None);
    }
}
