//! Runs, in memory and to files.
#![allow(unsafe_code)]

use std::path::PathBuf;

use oldham_cosim::{Cancel, End, Outcome, Progress};
use oldham_study::{
    MemoryOptions, ModelFile, PreparedRun, RunOptions, StudyError, TrimmedFile, run_in_memory,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::border::{Answer, answer, object, request};
use crate::columns::{self, Columns, handed};
use crate::failure::{of_run, of_study};
use crate::model::{Content, Shared};

/// Tells how far a run is: the share that is done, the time, the real-time factor. Anything but zero ends the run.
pub type Tell = extern "C" fn(share: f64, time: f64, factor: f64) -> i32;

/// Tells the package how far a run is, if it wants to know.
fn tell(tell: Option<Tell>, model: &oldham_model::Model, progress: Progress, cancel: &Cancel) {
    if let Some(tell) = tell {
        let share = (progress.time - model.start()) / model.duration();
        if tell(share, progress.time, progress.real_time_factor) != 0 {
            cancel.request();
        }
    }
}

/// What is to be said of a run.
fn told(outcome: &Outcome) -> Value {
    let status = match &outcome.end {
        Ok(End::Finished) => "finished",
        Ok(End::Cancelled) => "interrupted",
        Err(_) => "failed",
    };
    json!({
        "status": status,
        "summary": outcome.summary,
        "fault": outcome.end.as_ref().err().map(of_run),
    })
}

/// Runs in memory.
///
/// # Safety
/// The objects came with answers, `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_run(
    model: *const Shared,
    text: *const u8,
    length: usize,
    cancel: *const Cancel,
    progress: Option<Tell>,
) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        every: Option<u64>,
        threads: Option<usize>,
        monolithic: bool,
    }
    answer::<columns::Shared>(|| {
        // SAFETY: as the caller promises.
        let (content, cancel, wanted): (_, _, Wanted) =
            unsafe { (object(model)?, object(cancel)?, request(text, length)?) };
        let model = &content.model;
        let options = MemoryOptions {
            every: wanted.every.unwrap_or(model.record_every()),
            threads: content.threads(wanted.threads),
            monolithic: wanted.monolithic,
        };
        let show = &mut |at| tell(progress, model, at, cancel);
        let done = run_in_memory(model, &options, Some(cancel), show);
        let (recorded, outcome) = done.map_err(|error| of_study(&error))?;
        handed(Columns::of(recorded), told(&outcome))
    })
}

/// Runs with results in a file.
///
/// # Safety
/// The objects came with answers, `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_run_to_file(
    model: *const Shared,
    text: *const u8,
    length: usize,
    cancel: *const Cancel,
    progress: Option<Tell>,
) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        out: PathBuf,
        force: bool,
        threads: Option<usize>,
        monolithic: bool,
        checkpoint_every: Option<f64>,
        resume: Option<PathBuf>,
        start: Option<PathBuf>,
    }
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let (content, cancel, wanted): (_, _, Wanted) =
            unsafe { (object(model)?, object(cancel)?, request(text, length)?) };
        let options = RunOptions {
            force: wanted.force,
            monolithic: wanted.monolithic,
            threads: content.threads(wanted.threads),
            checkpoint_every: wanted.checkpoint_every,
            resume: wanted.resume,
            from: wanted.start,
            ..RunOptions::default()
        };
        let run = || {
            let (file, model) = started(content, &options)?;
            let model = model.as_ref().unwrap_or(&content.model);
            let run = PreparedRun::new(&file, model, &wanted.out, &options)?;
            run.solve(Some(cancel), &mut |at| tell(progress, model, at, cancel))
        };
        let report = run().map_err(|error: StudyError| of_study(&error))?;
        let mut told = told(&report.outcome);
        told["results"] = json!(report.results);
        if let Some(error) = report.unsaved {
            told["fault"] = of_study(&StudyError::Checkpoint(error));
        }
        Ok((None, told))
    })
}

/// The file, and the model where it is another one: as a trimmed state needs it.
fn started(
    content: &Content,
    options: &RunOptions,
) -> Result<(ModelFile, Option<oldham_model::Model>), StudyError> {
    match &options.from {
        None => Ok((content.file.clone(), None)),
        Some(path) => {
            let file = TrimmedFile::read(path)?.applied(&content.file);
            let model = file.read()?;
            Ok((file, Some(model)))
        }
    }
}
