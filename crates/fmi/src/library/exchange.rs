//! The functions of model exchange and of events: nearly the same in both versions, under other names.

use std::ffi::{c_int, c_uint};

use libloading::Library;

use super::{Handle, Plain, function};
use crate::description::{Interface, Version};

/// `fmi2EventInfo`.
#[repr(C)]
#[derive(Default)]
struct EventInfo {
    needs_update: c_int,
    ends: c_int,
    nominals_changed: c_int,
    states_changed: c_int,
    has_next: c_int,
    next: f64,
}

type CompletedTwo = unsafe extern "C" fn(Handle, c_int, *mut c_int, *mut c_int) -> c_int;
type CompletedThree = unsafe extern "C" fn(Handle, bool, *mut u8, *mut u8) -> c_int;
type UpdateTwo = unsafe extern "C" fn(Handle, *mut EventInfo) -> c_int;
type UpdateThree =
    unsafe extern "C" fn(Handle, *mut u8, *mut u8, *mut u8, *mut u8, *mut u8, *mut f64) -> c_int;
type Read = unsafe extern "C" fn(Handle, *mut f64, usize) -> c_int;
type Count = unsafe extern "C" fn(Handle, *mut usize) -> c_int;

/// What an update of discrete states says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Updated {
    /// It must be asked again.
    pub again: bool,
    /// The simulation shall end.
    pub ends: bool,
    /// Continuous states have jumped.
    pub states_changed: bool,
    /// When the next event is.
    pub next: Option<f64>,
}

enum Update {
    Two(UpdateTwo),
    Three(UpdateThree),
}

/// Events, of model exchange and of co-simulation with event mode.
pub(super) struct Events {
    enter: Plain,
    /// To continuous time or to steps.
    leave: Plain,
    update: Update,
}

impl Events {
    pub fn load(library: &Library, version: Version, interface: Interface) -> Result<Self, String> {
        let leave = match (version, interface) {
            (Version::Two, _) => "fmi2EnterContinuousTimeMode",
            (Version::Three, Interface::ModelExchange) => "fmi3EnterContinuousTimeMode",
            (Version::Three, Interface::CoSimulation) => "fmi3EnterStepMode",
        };
        Ok(match version {
            Version::Two => Self {
                enter: function(library, "fmi2EnterEventMode")?,
                leave: function(library, leave)?,
                update: Update::Two(function(library, "fmi2NewDiscreteStates")?),
            },
            Version::Three => Self {
                enter: function(library, "fmi3EnterEventMode")?,
                leave: function(library, leave)?,
                update: Update::Three(function(library, "fmi3UpdateDiscreteStates")?),
            },
        })
    }

    // Safety of all that follows: handles come from an instance of the same library, slices are as long as is said.

    pub fn enter(&self, handle: Handle) -> c_int {
        unsafe { (self.enter)(handle) }
    }

    pub fn leave(&self, handle: Handle) -> c_int {
        unsafe { (self.leave)(handle) }
    }

    pub fn update(&self, handle: Handle) -> (c_int, Updated) {
        match self.update {
            Update::Two(update) => {
                let mut info = EventInfo::default();
                let status = unsafe { update(handle, &mut info) };
                let updated = Updated {
                    again: info.needs_update != 0,
                    ends: info.ends != 0,
                    states_changed: info.states_changed != 0,
                    next: (info.has_next != 0).then_some(info.next),
                };
                (status, updated)
            }
            Update::Three(update) => {
                let (mut flags, mut next) = ([0_u8; 5], 0.0);
                let [again, ends, nominals, states, has_next] = &mut flags;
                let status =
                    unsafe { update(handle, again, ends, nominals, states, has_next, &mut next) };
                let updated = Updated {
                    again: flags[0] != 0,
                    ends: flags[1] != 0,
                    states_changed: flags[3] != 0,
                    next: (flags[4] != 0).then_some(next),
                };
                (status, updated)
            }
        }
    }
}

enum Completed {
    Two(CompletedTwo),
    Three(CompletedThree),
}

/// The functions by which an FMU is integrated.
pub(super) struct Exchange {
    set_time: unsafe extern "C" fn(Handle, f64) -> c_int,
    set_states: unsafe extern "C" fn(Handle, *const f64, usize) -> c_int,
    states: Read,
    derivatives: Read,
    indicators: Read,
    nominals: Read,
    completed: Completed,
    /// How many event indicators there are, where the description does not say.
    count: Option<Count>,
}

impl Exchange {
    pub fn load(library: &Library, version: Version) -> Result<Self, String> {
        Ok(match version {
            Version::Two => Self {
                set_time: function(library, "fmi2SetTime")?,
                set_states: function(library, "fmi2SetContinuousStates")?,
                states: function(library, "fmi2GetContinuousStates")?,
                derivatives: function(library, "fmi2GetDerivatives")?,
                indicators: function(library, "fmi2GetEventIndicators")?,
                nominals: function(library, "fmi2GetNominalsOfContinuousStates")?,
                completed: Completed::Two(function(library, "fmi2CompletedIntegratorStep")?),
                count: None,
            },
            Version::Three => Self {
                set_time: function(library, "fmi3SetTime")?,
                set_states: function(library, "fmi3SetContinuousStates")?,
                states: function(library, "fmi3GetContinuousStates")?,
                derivatives: function(library, "fmi3GetContinuousStateDerivatives")?,
                indicators: function(library, "fmi3GetEventIndicators")?,
                nominals: function(library, "fmi3GetNominalsOfContinuousStates")?,
                completed: Completed::Three(function(library, "fmi3CompletedIntegratorStep")?),
                count: Some(function(library, "fmi3GetNumberOfEventIndicators")?),
            },
        })
    }

    pub fn set_time(&self, handle: Handle, t: f64) -> c_int {
        unsafe { (self.set_time)(handle, t) }
    }

    pub fn set_states(&self, handle: Handle, x: &[f64]) -> c_int {
        unsafe { (self.set_states)(handle, x.as_ptr(), x.len()) }
    }

    pub fn states(&self, handle: Handle, x: &mut [f64]) -> c_int {
        unsafe { (self.states)(handle, x.as_mut_ptr(), x.len()) }
    }

    pub fn derivatives(&self, handle: Handle, rates: &mut [f64]) -> c_int {
        unsafe { (self.derivatives)(handle, rates.as_mut_ptr(), rates.len()) }
    }

    pub fn indicators(&self, handle: Handle, z: &mut [f64]) -> c_int {
        unsafe { (self.indicators)(handle, z.as_mut_ptr(), z.len()) }
    }

    pub fn nominals(&self, handle: Handle, sizes: &mut [f64]) -> c_int {
        unsafe { (self.nominals)(handle, sizes.as_mut_ptr(), sizes.len()) }
    }

    /// The number of event indicators; nothing where the library cannot be asked.
    pub fn count(&self, handle: Handle) -> Option<(c_int, usize)> {
        let mut count = 0;
        let status = unsafe { self.count?(handle, &mut count) };
        Some((status, count))
    }

    /// Tells that a step is complete: whether there is an event now, and whether the simulation shall end.
    pub fn completed(&self, handle: Handle, keeps_nothing: bool) -> (c_int, [bool; 2]) {
        match self.completed {
            Completed::Two(completed) => {
                let mut flags = [0; 2];
                let [event, ends] = &mut flags;
                let status = unsafe { completed(handle, c_int::from(keeps_nothing), event, ends) };
                (status, flags.map(|flag| flag != 0))
            }
            Completed::Three(completed) => {
                let mut flags = [0; 2];
                let [event, ends] = &mut flags;
                let status = unsafe { completed(handle, keeps_nothing, event, ends) };
                (status, flags.map(|flag| flag != 0))
            }
        }
    }
}

/// `fmi2SetRealInputDerivatives`: rates of inputs within the next step.
pub(super) struct InputRates(
    unsafe extern "C" fn(Handle, *const c_uint, usize, *const c_int, *const f64) -> c_int,
);

impl InputRates {
    pub fn load(library: &Library) -> Result<Self, String> {
        function(library, "fmi2SetRealInputDerivatives").map(Self)
    }

    pub fn set(&self, handle: Handle, references: &[c_uint], rates: &[f64]) -> c_int {
        assert_eq!(references.len(), rates.len(), "one rate an input");
        let orders = vec![1; rates.len()];
        let (references, count) = (references.as_ptr(), references.len());
        unsafe { (self.0)(handle, references, count, orders.as_ptr(), rates.as_ptr()) }
    }
}
