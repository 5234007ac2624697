//! A model as an FMU.
#![allow(unsafe_code)]

use std::path::PathBuf;

use oldham_fmu_export::{
    ExportError, ExportOptions, Role, RuntimeError, Version, export, installed_with, read_runtime,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::border::{Answer, answer, failed, object, request};
use crate::failure::of_model;
use crate::model::Shared;

/// Writes a model as an FMU; tells what it shows.
///
/// # Safety
/// `model` came with an answer, `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_export(
    model: *const Shared,
    text: *const u8,
    length: usize,
) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        out: PathBuf,
        fmi: u8,
        part: Option<String>,
        outputs: Vec<String>,
        parameters: Vec<String>,
        force: bool,
        /// The library for the FMU.
        runtime: Option<PathBuf>,
        /// The library of the package: that of FMUs is installed with it.
        package: PathBuf,
    }
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let (content, wanted): (_, Wanted) = unsafe { (object(model)?, request(text, length)?) };
        let options = ExportOptions {
            version: match wanted.fmi {
                2 => Version::Two,
                _ => Version::Three,
            },
            part: wanted.part,
            outputs: wanted.outputs,
            parameters: wanted.parameters,
            force: wanted.force,
        };
        let library = match &wanted.runtime {
            Some(path) => read_runtime(path),
            None => installed_with(&wanted.package).and_then(|path| read_runtime(&path)),
        };
        let library = library.map_err(|error| of_runtime(&error))?;
        let settings = content.file.settings();
        let written = export(&content.model, settings, &options, &library, &wanted.out);
        let written = written.map_err(|error| of_export(&error))?;
        let names = |wanted: fn(&Role) -> bool| -> Vec<&str> {
            let variables = written.variables.iter();
            let wanted = variables.filter(|variable| wanted(&variable.role));
            wanted.map(|variable| variable.name.as_str()).collect()
        };
        let told = json!({
            "step": written.step,
            "inputs": names(|role| matches!(role, Role::Input { .. })),
            "outputs": names(|role| *role == Role::Output),
            "parameters": names(|role| *role == Role::Parameter),
        });
        Ok((None, told))
    })
}

fn of_export(error: &ExportError) -> Value {
    match error {
        ExportError::Model(problems) => of_model(problems),
        ExportError::Exists(_) => failed(
            "oldham",
            format!("{error}; choose another path, or give force=True"),
        ),
        _ => failed("oldham", error.to_string()),
    }
}

fn of_runtime(error: &RuntimeError) -> Value {
    failed(
        "oldham",
        format!(
            "{error}; install the package by pip, which builds it, or build it with `cargo build --release --package \
             oldham-fmu-runtime` where the library of the package lies"
        ),
    )
}
