//! Results as a page that plays in a browser.
#![allow(unsafe_code)]

use std::path::PathBuf;

use oldham_cosim::{Column, Unit};
use oldham_model::Model;
use oldham_results::read;
use oldham_scene::Staging;
use oldham_study::ModelFile;
use oldham_web::Film;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::border::{Answer, answer, failed, object, request};
use crate::columns::{self, Columns};
use crate::failure::of_model;
use crate::model::Shared;

/// The page of results in memory, with the model that they are of.
///
/// # Safety
/// The objects came with answers, `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_page(
    model: *const Shared,
    columns: *const columns::Shared,
    text: *const u8,
    length: usize,
) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        frames: usize,
    }
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let (content, columns, wanted): (_, _, Wanted) =
            unsafe { (object(model)?, object(columns)?, request(text, length)?) };
        let film = film_of(&content.model, columns, wanted.frames);
        Ok((None, told(&film)?))
    })
}

/// The page of a result file, which says which model it is of.
///
/// # Safety
/// `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_page_of_file(text: *const u8, length: usize) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        path: PathBuf,
        frames: usize,
    }
    answer::<()>(|| {
        // SAFETY: as the caller promises.
        let wanted: Wanted = unsafe { request(text, length)? };
        let path = &wanted.path;
        let table = read(path).map_err(|error| failed("oldham", error.to_string()))?;
        let file = ModelFile::of_result(&table, path).ok_or_else(|| {
            let path = path.display();
            failed(
                "oldham",
                format!("{path} does not say which model it is of; give it as `view(model)`"),
            )
        })?;
        let model = file.read().map_err(|problems| of_model(&problems))?;
        let film = film_of(&model, &Columns::of_table(&table), wanted.frames);
        Ok((None, told(&film)?))
    })
}

fn film_of(model: &Model, columns: &Columns, frames: usize) -> Film {
    // Time stands first and belongs to no part.
    let signals = columns.names.iter().zip(&columns.units).skip(1);
    let known: Vec<Column> = signals
        .map(|(name, unit)| Column {
            name: name.clone(),
            unit: Unit(unit.clone().into()),
        })
        .collect();
    let times = columns.values.first().map_or(&[][..], Vec::as_slice);
    Staging::of(model, &known).film(times, |place| &columns.values[place + 1], frames)
}

fn told(film: &Film) -> Result<Value, Value> {
    if film.times.is_empty() {
        return Err(failed("oldham", "the results have no rows to show"));
    }
    Ok(json!({"page": film.to_html(), "rows": film.times.len(), "notes": film.scene.notes}))
}
