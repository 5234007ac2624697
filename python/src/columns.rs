//! Columns of numbers that Python looks at without a copy.
#![allow(unsafe_code)]

use std::path::PathBuf;
use std::sync::Arc;

use oldham_results::Table;
use oldham_study::Recorded;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::arrow::{self, Stream};
use crate::border::{Answer, Done, answer, failed, free, object, request};

/// What time is called in results.
const TIME: &str = "time";

/// Recorded columns, time first: NumPy and Arrow see the very memory into which the engine has written.
pub struct Columns {
    pub names: Vec<String>,
    pub units: Vec<String>,
    pub values: Vec<Vec<f64>>,
}

impl Columns {
    pub fn of(recorded: Recorded) -> Self {
        let with = |first: &str, others: Vec<String>| {
            let first = std::iter::once(first.to_owned());
            first.chain(others).collect()
        };
        let times = std::iter::once(recorded.times);
        Self {
            names: with(TIME, recorded.names),
            units: with("s", recorded.units),
            values: times.chain(recorded.columns).collect(),
        }
    }

    /// What a result file holds.
    pub fn of_table(table: &Table) -> Self {
        let others = table.columns().iter().enumerate();
        let others: Vec<_> = others.filter(|(_, one)| one.name != TIME).collect();
        Self::of(Recorded {
            times: table.time().to_vec(),
            names: others.iter().map(|(_, one)| one.name.clone()).collect(),
            units: others.iter().map(|(_, one)| one.unit.to_string()).collect(),
            columns: others
                .iter()
                .map(|(place, _)| table.at(*place).to_vec())
                .collect(),
        })
    }

    /// Rows of all columns.
    pub fn rows(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    /// What Python needs to make arrays: names, units, rows, and where the numbers are.
    pub fn described(&self) -> Value {
        let place = |values: &Vec<f64>| values.as_ptr() as usize;
        json!({
            "names": self.names,
            "units": self.units,
            "rows": self.rows(),
            "places": self.values.iter().map(place).collect::<Vec<_>>(),
        })
    }
}

/// The object for columns: Arrow may outlive Python's own interest in them.
pub type Shared = Arc<Columns>;

/// What is handed over for columns.
pub fn handed(columns: Columns, mut told: Value) -> Done<Shared> {
    told["columns"] = columns.described();
    Ok((Some(Box::new(Arc::new(columns))), told))
}

/// Columns that were recorded before: copies of arrays of equal length, time first.
///
/// # Safety
/// `text` points to so many bytes, and the places that it names to so many numbers.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_columns_new(text: *const u8, length: usize) -> *mut Answer {
    #[derive(Deserialize)]
    struct Given {
        names: Vec<String>,
        units: Vec<String>,
        places: Vec<usize>,
        rows: usize,
    }
    answer::<Shared>(|| {
        // SAFETY: as the caller promises.
        let given: Given = unsafe { request(text, length)? };
        let copied = |&place: &usize| match given.rows {
            0 => Vec::new(),
            // SAFETY: as the caller promises.
            rows => unsafe { std::slice::from_raw_parts(place as *const f64, rows) }.to_vec(),
        };
        let values = given.places.iter().map(copied).collect();
        let columns = Columns {
            names: given.names,
            units: given.units,
            values,
        };
        handed(columns, json!({}))
    })
}

/// Frees columns; streams that were made of them go on.
///
/// # Safety
/// `columns` came with an answer, and no array shows them any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_columns_free(columns: *mut Shared) {
    // SAFETY: as the caller promises.
    unsafe { free(columns) }
}

/// A stream of the Arrow C data interface over all columns, for a capsule that Python makes.
///
/// # Safety
/// `columns` came with an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_columns_stream(columns: *const Shared) -> *mut Stream {
    // SAFETY: as the caller promises.
    match unsafe { object(columns) } {
        Ok(columns) => Box::into_raw(Box::new(arrow::stream(columns.clone()))),
        Err(_) => std::ptr::null_mut(),
    }
}

/// Frees a stream of a capsule, whether it was read or not.
///
/// # Safety
/// `stream` came from [`oldham_columns_stream`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_stream_free(stream: *mut Stream) {
    // SAFETY: as the caller promises; whoever took its content has left no release behind.
    unsafe {
        if let Some(there) = stream.as_mut()
            && let Some(release) = there.release
        {
            release(stream);
        }
        free(stream);
    }
}

/// A result file: its columns, and what it says of itself.
///
/// # Safety
/// `text` points to so many bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn oldham_read(text: *const u8, length: usize) -> *mut Answer {
    #[derive(Deserialize)]
    struct Wanted {
        path: PathBuf,
    }
    answer::<Shared>(|| {
        // SAFETY: as the caller promises.
        let wanted: Wanted = unsafe { request(text, length)? };
        let table = oldham_results::read(&wanted.path)
            .map_err(|error| failed("oldham", error.to_string()))?;
        let metadata = table.metadata();
        let mut told = serde_json::Map::new();
        told.insert("title".into(), json!(metadata.title));
        told.insert("model".into(), json!(metadata.model));
        for (key, value) in &metadata.entries {
            told.insert(key.clone(), json!(value));
        }
        handed(Columns::of_table(&table), json!({ "metadata": told }))
    })
}
