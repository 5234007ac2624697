//! Stepping by hand.
#![allow(unsafe_code)]

use std::sync::{Mutex, TryLockError};

use oldham_cosim::{Checkpoint, Dial, Simulation};
use oldham_study::{StudyError, digest};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::border::{Answer, Done, answer, failed, free, internal, object, request};
use crate::failure::{of_model, of_run, of_study};
use crate::model::Shared;

/// A simulation that goes on a step at a time.
pub struct Stepper {
    digest: String,
    /// Never waited for: another thread may be stepping.
    inner: Mutex<Inner>,
}

struct Inner {
    /// Until it is closed.
    simulation: Option<Simulation>,
    /// Why it cannot go on until it is restored.
    failed: Option<String>,
    /// Why the last quick call failed.
    told: Value,
    dials: Vec<(Dial, usize)>,
    /// The columns that are read.
    outputs: Vec<usize>,
}

/// A saved state.
pub struct State {
    checkpoint: Checkpoint,
}

/// A quick call that did what it should.
const DONE: i32 = 0;
/// A quick call that failed; [`oldham_stepper_told`] says why.
const FAILED: i32 = 1;
/// Another thread, or a Python part inside, uses the stepper.
const BUSY: i32 = 2;

/// At the start of a model; inputs and outputs by name.
///
/// # Safety
/// `model` came with an answer, `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_new(
    model: *const Shared,
    text: *const u8,
    length: usize,
) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        inputs: Vec<String>,
        outputs: Vec<String>,
    }
    answer::<Stepper>(|| {
        // SAFETY: as the caller promises.
        let (content, wanted): (_, Wanted) = unsafe { (object(model)?, request(text, length)?) };
        let simulation = content.model.simulation();
        let simulation = simulation.map_err(|problems| of_model(&problems))?;
        let (dials, outputs) = (
            dials(&simulation, &wanted.inputs)?,
            places(&simulation, &wanted.outputs)?,
        );
        let widths: Vec<usize> = dials.iter().map(|(_, width)| *width).collect();
        let stepper = Stepper {
            digest: digest(&content.file, &content.model, false),
            inner: Mutex::new(Inner {
                simulation: Some(simulation),
                failed: None,
                told: Value::Null,
                dials,
                outputs,
            }),
        };
        Ok((Some(Box::new(stepper)), json!({ "widths": widths })))
    })
}

fn dials(simulation: &Simulation, names: &[String]) -> Result<Vec<(Dial, usize)>, Value> {
    let known = simulation.external_inputs();
    let find = |name: &String| {
        let width = known.iter().find(|(other, _)| other == name);
        match (simulation.dial(name), width) {
            (Some(dial), Some((_, width))) => Ok((dial, *width)),
            _ => {
                let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
                let help = match names.is_empty() {
                    true => {
                        "the model has none: give one under [excitation] as { external = \"NAME\" }"
                            .into()
                    }
                    false => format!("there are {}", names.join(", ")),
                };
                let message = format!("there is no external input `{name}`; {help}");
                Err(failed("oldham", message))
            }
        }
    };
    names.iter().map(find).collect()
}

fn places(simulation: &Simulation, names: &[String]) -> Result<Vec<usize>, Value> {
    let find = |name: &String| {
        let columns = || simulation.columns().iter().enumerate();
        let is_read = |place: usize| simulation.value(place).is_some();
        let mut named = columns().filter(|(place, one)| one.name == *name && is_read(*place));
        named.next().map(|(place, _)| place).ok_or_else(|| {
            let known = columns().filter(|(place, _)| is_read(*place));
            let known = known.map(|(_, column)| column.name.as_str());
            let help = oldham_model::nearest(name, known).map_or_else(
                || "`Model.columns` tells what there is; energies are not read by steps".into(),
                |near| format!("did you mean `{near}`?"),
            );
            failed("oldham", format!("there is no output `{name}`; {help}"))
        })
    };
    names.iter().map(find).collect()
}

impl Stepper {
    /// A call that is made in every step.
    fn quick(&self, work: impl FnOnce(&mut Inner) -> Result<(), Value>) -> i32 {
        let mut inner = match self.inner.try_lock() {
            Ok(inner) => inner,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return BUSY,
        };
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| work(&mut inner)));
        match attempt {
            Ok(Ok(())) => DONE,
            Ok(Err(told)) => {
                inner.told = told;
                FAILED
            }
            Err(_) => {
                inner.told = internal("a step panicked");
                inner.failed = Some("an internal error".into());
                FAILED
            }
        }
    }

    /// A call with an answer.
    fn asked<T>(&self, work: impl FnOnce(&mut Inner) -> Done<T>) -> Done<T> {
        match self.inner.try_lock() {
            Ok(mut inner) => work(&mut inner),
            Err(TryLockError::Poisoned(poisoned)) => work(&mut poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => Err(failed("busy", "")),
        }
    }
}

impl Inner {
    fn simulation(&mut self) -> Result<&mut Simulation, Value> {
        let closed = || failed("oldham", "this stepper was closed; make another one");
        self.simulation.as_mut().ok_or_else(closed)
    }

    /// An error if its last step failed.
    fn whole(&self) -> Result<(), Value> {
        match &self.failed {
            None => Ok(()),
            Some(fault) => Err(failed(
                "oldham",
                format!(
                    "this stepper has ended: {fault}; restore an earlier state, or make another one"
                ),
            )),
        }
    }

    fn set(&self, mut values: &[f64]) {
        for (dial, width) in &self.dials {
            let (own, others) = values.split_at(*width);
            dial.set(own);
            values = others;
        }
    }

    fn advance(&mut self, steps: u64) -> Result<(), Value> {
        self.whole()?;
        let done = self.simulation()?.steps(steps);
        done.map_err(|fault| {
            self.failed = Some(fault.to_string());
            of_run(&fault)
        })
    }

    fn read(&self, out: &mut [f64]) {
        let Some(simulation) = &self.simulation else {
            return;
        };
        for (value, place) in out.iter_mut().zip(&self.outputs) {
            *value = simulation.value(*place).unwrap_or(f64::NAN);
        }
    }
}

/// Sets all inputs unless `inputs` is null, goes on by so many macro steps, and reads the outputs unless `outputs` is
/// null. How long both are was told when it was made.
///
/// # Safety
/// `stepper` came with an answer; the arrays are as long as that.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_step(
    stepper: *const Stepper,
    inputs: *const f64,
    steps: u64,
    outputs: *mut f64,
) -> i32 {
    // SAFETY: as the caller promises.
    let Ok(stepper) = (unsafe { object(stepper) }) else {
        return FAILED;
    };
    stepper.quick(|inner| {
        inner.simulation()?;
        if !inputs.is_null() {
            let width = inner.dials.iter().map(|(_, width)| width).sum();
            // SAFETY: as the caller promises.
            inner.set(unsafe { std::slice::from_raw_parts(inputs, width) });
        }
        if steps > 0 {
            inner.advance(steps)?;
        }
        if !outputs.is_null() {
            let width = inner.outputs.len();
            // SAFETY: as the caller promises.
            inner.read(unsafe { std::slice::from_raw_parts_mut(outputs, width) });
        }
        Ok(())
    })
}

/// Sets one input.
///
/// # Safety
/// `stepper` came with an answer, the array is as long as the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_set(
    stepper: *const Stepper,
    place: usize,
    values: *const f64,
) -> i32 {
    // SAFETY: as the caller promises.
    let Ok(stepper) = (unsafe { object(stepper) }) else {
        return FAILED;
    };
    stepper.quick(|inner| {
        if let Some((dial, width)) = inner.dials.get(place) {
            // SAFETY: as the caller promises.
            dial.set(unsafe { std::slice::from_raw_parts(values, *width) });
        }
        Ok(())
    })
}

/// Why the last quick call failed.
///
/// # Safety
/// `stepper` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_told(stepper: *const Stepper) -> *mut Answer {
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        unsafe { object(stepper)? }.asked(|inner| Err(inner.told.take()))
    })
}

/// The time reached, and macro steps done.
///
/// # Safety
/// `stepper` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_clock(stepper: *const Stepper) -> *mut Answer {
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        unsafe { object(stepper)? }.asked(|inner| {
            let simulation = inner.simulation()?;
            let told = json!({"time": simulation.time(), "steps": simulation.steps_done()});
            Ok((None, told))
        })
    })
}

/// The complete state.
///
/// # Safety
/// `stepper` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_save(stepper: *const Stepper) -> *mut Answer {
    answer::<State>(|| {
        // SAFETY: as the caller promises.
        let stepper = unsafe { object(stepper)? };
        stepper.asked(|inner| {
            inner.whole()?;
            let simulation = inner.simulation()?;
            let time = simulation.time();
            let saved = simulation.checkpoint(&stepper.digest);
            let checkpoint = saved.map_err(|error| of_study(&StudyError::Checkpoint(error)))?;
            let state = State { checkpoint };
            Ok((Some(Box::new(state)), json!({ "time": time })))
        })
    })
}

/// Goes back, or on, to a saved state of the same model.
///
/// # Safety
/// Both came with answers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_restore(
    stepper: *const Stepper,
    state: *const State,
) -> *mut Answer {
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let (stepper, state) = unsafe { (object(stepper)?, object(state)?) };
        stepper.asked(|inner| {
            let restored = inner
                .simulation()?
                .restore(&state.checkpoint, &stepper.digest);
            restored.map_err(|error| of_study(&StudyError::Checkpoint(error)))?;
            inner.failed = None;
            Ok((None, Value::Null))
        })
    })
}

/// Ends a stepper: its memory is freed, and what is asked later is refused.
///
/// # Safety
/// `stepper` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_close(stepper: *const Stepper) -> i32 {
    // SAFETY: as the caller promises.
    let Ok(stepper) = (unsafe { object(stepper) }) else {
        return FAILED;
    };
    stepper.quick(|inner| {
        inner.simulation = None;
        Ok(())
    })
}

/// Frees a stepper.
///
/// # Safety
/// It came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stepper_free(stepper: *mut Stepper) {
    // SAFETY: as the caller promises.
    unsafe { free(stepper) }
}

/// A state as bytes: a text with an object whose first bytes are its length.
///
/// # Safety
/// `state` came with an answer; `out` points to so many bytes, or is null to ask for their number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_state_bytes(
    state: *const State,
    out: *mut u8,
    room: usize,
) -> usize {
    // SAFETY: as the caller promises.
    let Ok(state) = (unsafe { object(state) }) else {
        return 0;
    };
    // Nothing is changed that a panic could leave half done.
    let bytes = std::panic::AssertUnwindSafe(|| state.checkpoint.bytes());
    let bytes = std::panic::catch_unwind(bytes).unwrap_or_default();
    if !out.is_null() && room >= bytes.len() {
        // SAFETY: as the caller promises.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len()) }
    }
    bytes.len()
}

/// A state from its bytes.
///
/// # Safety
/// `bytes` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_state_parse(bytes: *const u8, length: usize) -> *mut Answer {
    answer::<State>(|| {
        let bytes = match bytes.is_null() {
            true => &[],
            // SAFETY: as the caller promises.
            false => unsafe { std::slice::from_raw_parts(bytes, length) },
        };
        let checkpoint = Checkpoint::parse(bytes).map_err(|reason| {
            let message = format!("these bytes are not a whole state: {reason}");
            failed("state", message)
        })?;
        Ok((Some(Box::new(State { checkpoint })), Value::Null))
    })
}

/// Frees a state.
///
/// # Safety
/// It came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_state_free(state: *mut State) {
    // SAFETY: as the caller promises.
    unsafe { free(state) }
}
