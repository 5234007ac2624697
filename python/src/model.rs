//! A model that was read and checked.
#![allow(unsafe_code)]

use std::path::PathBuf;
use std::sync::Arc;

use oldham_cosim::{Cancel, Ports, Predictor};
use oldham_model::{Context, Extensions, Model as Checked, Problem};
use oldham_study::{ModelFile, Settings, shipped_kinds};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::border::{Answer, answer, failed, free, object, request};
use crate::callbacks::{Callbacks, Object};
use crate::failure::of_model;
use crate::part::PythonKind;
use crate::predictor::PythonPredictor;

/// What runs and studies share of a model; they may be on other threads.
pub struct Content {
    pub file: ModelFile,
    pub model: Checked,
    /// Whether any part is Python: such models run on one thread.
    pub has_python: bool,
}

/// The object for a model.
pub type Shared = Arc<Content>;

impl Content {
    /// Threads that advance parts.
    pub fn threads(&self, wanted: Option<usize>) -> Option<usize> {
        match self.has_python {
            true => Some(1),
            false => wanted,
        }
    }
}

/// What a model is read from.
#[derive(Deserialize)]
struct Given {
    path: PathBuf,
    text: Option<String>,
    settings: Settings,
    kinds: Vec<Kind>,
}

/// A kind that is a Python class.
#[derive(Deserialize)]
struct Kind {
    number: u64,
    is_predictor: bool,
    name: String,
    /// The JSON Schema of its keys.
    keys: Value,
}

/// Reads a model; `callbacks` are there if it has kinds that are Python.
///
/// # Safety
/// `text` points to so many bytes, `callbacks` to functions that last, or is null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_model_new(
    text: *const u8,
    length: usize,
    callbacks: *const Callbacks,
) -> *mut Answer {
    answer::<Shared>(|| {
        // SAFETY: as the caller promises.
        let (given, callbacks): (Given, _) =
            unsafe { (request(text, length)?, callbacks.as_ref().copied()) };
        let file = match given.text {
            Some(text) => ModelFile::of_text(given.path.to_string_lossy(), text),
            None => ModelFile::new(given.path),
        };
        let has_python = !given.kinds.is_empty();
        let mut extensions = shipped_kinds().clone();
        for kind in given.kinds {
            let Some(callbacks) = callbacks else {
                return Err(failed("value", "a kind without its functions"));
            };
            register(&mut extensions, kind, callbacks).map_err(|told| failed("value", told))?;
        }
        let file = file.with_only(given.settings).with_extensions(extensions);
        let model = file.read().map_err(|problems| of_model(&problems))?;
        let told = told(&model);
        let content = Content {
            file,
            model,
            has_python,
        };
        Ok((Some(Box::new(Arc::new(content))), told))
    })
}

/// What the package shows of a model.
fn told(model: &Checked) -> Value {
    let parameters = model.parameters();
    let parameters: serde_json::Map<String, Value> = parameters
        .filter_map(|name| Some((name.to_owned(), json!(model.parameter(name)?))))
        .collect();
    let inputs = model.external_inputs();
    let inputs: Vec<Value> = inputs
        .map(|input| json!([input.name, input.initial.len()]))
        .collect();
    json!({
        "name": model.name(),
        "description": model.description(),
        "start": model.start(),
        "duration": model.duration(),
        "step": model.step(),
        "steps": model.steps(),
        "parameters": parameters,
        "subsystems": model.subsystems().collect::<Vec<_>>(),
        "external_inputs": inputs,
        "notes": model.notes(),
        "text": model.source().file_text(),
    })
}

/// Frees a model; runs of it go on.
///
/// # Safety
/// `model` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_model_free(model: *mut Shared) {
    // SAFETY: as the caller promises.
    unsafe { free(model) }
}

/// Names and units of what can be recorded.
///
/// # Safety
/// `model` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_model_columns(model: *const Shared) -> *mut Answer {
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let content = unsafe { object(model)? };
        let simulation = content.model.simulation();
        let simulation = simulation.map_err(|problems| of_model(&problems))?;
        let columns = simulation.columns().iter().enumerate();
        let column = columns.map(|(place, column)| {
            let is_read = simulation.value(place).is_some();
            json!([column.name, column.unit.to_string(), is_read])
        });
        Ok((None, column.collect()))
    })
}

/// Adds a kind to those that the model may use.
fn register(extensions: &mut Extensions, kind: Kind, callbacks: Callbacks) -> Result<(), String> {
    let (number, name) = (kind.number, kind.name);
    let object = move |settings: &Value, context: &mut Context<'_>| {
        let made = Object::new(callbacks, number, settings);
        made.map_err(|message| {
            let place = context.place();
            context.report(Problem::new(place, message));
        })
        .ok()
    };
    if kind.is_predictor {
        return extensions.predictor_of_keys(&name, kind.keys, move |settings, context| {
            let object = object(&settings, context)?;
            Some(move |ports: &Ports| {
                Box::new(PythonPredictor::new(&object, ports)) as Box<dyn Predictor>
            })
        });
    }
    let called = name.clone();
    extensions.subsystem_of_keys(&name, kind.keys, move |settings, context| {
        Some(PythonKind {
            object: object(&settings, context)?,
            kind: called.clone(),
        })
    })
}

/// A wish to end a run.
#[unsafe(no_mangle)]
pub extern "C" fn oldham_cancel_new() -> *mut Cancel {
    Box::into_raw(Box::default())
}

/// From now on the run should end.
///
/// # Safety
/// `cancel` came from [`oldham_cancel_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_cancel_request(cancel: *const Cancel) {
    // SAFETY: as the caller promises.
    if let Ok(cancel) = unsafe { object(cancel) } {
        cancel.request();
    }
}

/// Frees the wish.
///
/// # Safety
/// As [`oldham_cancel_request`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_cancel_free(cancel: *mut Cancel) {
    // SAFETY: as the caller promises.
    unsafe { free(cancel) }
}
