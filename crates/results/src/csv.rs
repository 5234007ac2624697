//! The header line of a CSV result: `time [s],left.x1.x [m],...`.

use std::io::{self, Write};

use oldham_cosim::Column;
use oldham_cosim::Unit;

/// Writes the header; cells that contain a separator are quoted.
pub(crate) fn write_header(out: &mut impl Write, columns: &[Column]) -> io::Result<()> {
    let cells: Vec<_> = columns
        .iter()
        .map(|column| quoted(format!("{} [{}]", column.name, column.unit)))
        .collect();
    writeln!(out, "{}", cells.join(","))
}

fn quoted(cell: String) -> String {
    if cell.contains([',', '"']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell
    }
}

/// Reads a header back; a cell without unit counts as dimensionless.
pub(crate) fn parse_header(line: &str) -> Vec<Column> {
    split_quoted(line)
        .iter()
        .map(|cell| column_of(cell))
        .collect()
}

fn column_of(cell: &str) -> Column {
    let cell = cell.trim();
    let split = cell
        .strip_suffix(']')
        .and_then(|head| head.rsplit_once(" ["));
    match split {
        Some((name, unit)) => Column {
            name: name.to_owned(),
            unit: Unit(unit.to_owned().into()),
        },
        None => Column {
            name: cell.to_owned(),
            unit: Unit::ONE,
        },
    }
}

fn split_quoted(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut inside_quotes = false;
    let mut characters = line.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '"' if inside_quotes && characters.peek() == Some(&'"') => {
                characters.next();
                push_to_last(&mut cells, '"');
            }
            '"' => inside_quotes = !inside_quotes,
            ',' if !inside_quotes => cells.push(String::new()),
            other => push_to_last(&mut cells, other),
        }
    }
    cells
}

fn push_to_last(cells: &mut [String], character: char) {
    if let Some(cell) = cells.last_mut() {
        cell.push(character);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_reads_back_whatever_the_names() {
        let column = |name: &str, unit: &'static str| Column {
            name: name.into(),
            unit: Unit(unit.into()),
        };
        let columns = [
            column("time", "s"),
            column("left.x1.x", "m"),
            column("odd, \"quoted\" [name]", "N.m"),
        ];
        let mut line = Vec::new();
        write_header(&mut line, &columns).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert!(line.starts_with("time [s],left.x1.x [m],"));
        assert_eq!(parse_header(line.trim_end()), columns);
    }

    #[test]
    fn a_cell_without_unit_is_dimensionless() {
        let columns = parse_header("time, ratio");
        assert_eq!(columns[1].name, "ratio");
        assert_eq!(columns[1].unit, Unit::ONE);
    }
}
