//! Reads a CSV file: a header, then rows of numbers.

use std::path::Path;

use oldham_cosim::Column;

use super::error::ReadProblem;
use super::table::{Table, check_names};
use crate::csv::parse_header;
use crate::schema::Metadata;

/// Longest text that is read: in memory its numbers take about as much again.
const MOST_BYTES: u64 = 4 << 30;

pub(super) fn read(path: &Path) -> Result<Table, ReadProblem> {
    let bytes = oldham_files::read(path, MOST_BYTES)?;
    let text = text_of(&bytes)?;
    let mut lines = text.lines().enumerate();
    let header = lines.next().map_or("", |(_, line)| line);
    let columns = parse_header(header);
    check_names(&columns)?;
    let mut data = vec![Vec::new(); columns.len()];
    for (index, line) in lines.filter(|(_, line)| !line.trim().is_empty()) {
        read_row(line, index + 1, &columns, &mut data)?;
    }
    Table::new(columns, data, Metadata::default(), true)
}

fn text_of(bytes: &[u8]) -> Result<&str, ReadProblem> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = &bytes[..error.valid_up_to()];
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        ReadProblem::NotText { line }
    })?;
    // Spreadsheets put a byte order mark first.
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn read_row(
    line: &str,
    number: usize,
    columns: &[Column],
    data: &mut [Vec<f64>],
) -> Result<(), ReadProblem> {
    let found = line.split(',').count();
    if found != columns.len() {
        return Err(ReadProblem::RaggedRow {
            line: number,
            expected: columns.len(),
            found,
        });
    }
    for ((cell, column), values) in line.split(',').zip(columns).zip(data) {
        values.push(value_of(cell.trim(), number, column)?);
    }
    Ok(())
}

/// An empty cell is how spreadsheets and data frames write a missing value.
fn value_of(cell: &str, line: usize, column: &Column) -> Result<f64, ReadProblem> {
    if cell.is_empty() {
        return Ok(f64::NAN);
    }
    cell.parse().map_err(|_| ReadProblem::NotANumber {
        line,
        column: column.name.clone(),
        text: cell.to_owned(),
    })
}
