//! The sections `[table.*]`: functions through given points.

use std::sync::Arc;

use oldham_expression::{self as expression, FUNCTIONS, KEYWORDS, TableError};

use super::Checker;
use super::keys::all;
use crate::data::{self, Columns, DataFile};
use crate::format::{At, File, Interpolation, Outside, Table};
use crate::quantity::Unit;
use crate::source::{Source, Span};
use crate::words;

/// How a table goes on between and beyond its points.
type Course = (expression::Interpolation, expression::Outside);

impl Checker<'_> {
    /// Makes all tables known to expressions; gives the files that were read for them.
    pub(super) fn tables(&mut self, file: &File, source: &Source) -> Vec<DataFile> {
        let mut files = Vec::new();
        let mut tables = Vec::new();
        for entry in &file.table {
            self.check_table_name(&entry.name);
            let table = self.table(&entry.value.value, &entry.value.span, source, &mut files);
            tables.push((entry.name.value.clone(), table.map(Arc::new)));
        }
        self.parameters.tables = tables;
        files
    }

    fn check_table_name(&mut self, name: &At<String>) {
        let taken = FUNCTIONS.iter().chain(&KEYWORDS);
        let message = if !words::is_variable(&name.value) {
            format!("`{}` cannot be called in an expression", name.value)
        } else if taken.into_iter().any(|taken| *taken == name.value) {
            format!("`{}` has another meaning in expressions", name.value)
        } else {
            return;
        };
        self.report(&name.span, message)
            .label("choose another name")
            .help(words::VARIABLES);
    }

    pub(super) fn table(
        &mut self,
        given: &Table,
        span: &Span,
        source: &Source,
        files: &mut Vec<DataFile>,
    ) -> Option<expression::Table> {
        let course = (
            given.interpolation.unwrap_or(Interpolation::Linear).into(),
            given.outside.unwrap_or(Outside::Hold).into(),
        );
        let ways = [
            ("points", given.points.is_some()),
            ("values", given.values.is_some()),
            ("file", given.file.is_some()),
        ];
        self.one_way(span, &ways, ["the table is given in", "ways"])?;
        if let Some(path) = &given.file {
            let columns = self.columns(given, path, source)?;
            files.push(columns.file.clone());
            return self.of_columns(columns, path, course);
        }
        if let Some(points) = &given.points {
            let pairs = self.pairs(points, "abscissa and value")?;
            let (x, y): (Vec<f64>, Vec<f64>) = pairs.into_iter().unzip();
            let made = expression::Table::new(&x, &y, course.0, course.1);
            return self.made_of(made, |place| points.value[place].span.clone(), &points.span);
        }
        self.map(given, span, course)
    }

    fn map(&mut self, given: &Table, span: &Span, course: Course) -> Option<expression::Table> {
        let values = given.values.as_ref()?;
        let (Some(x), Some(y)) = (&given.x, &given.y) else {
            let message = "`values` need `x` and `y`, the places of rows and columns";
            self.report_missing(span, message);
            return None;
        };
        let (rows, columns) = (self.list(&x.value), self.list(&y.value));
        let numbers = self.rows(&values.value);
        let (rows, columns, numbers) = (rows?, columns?, numbers?);
        let is_ragged = |row: &Vec<f64>| row.len() != columns.len();
        if numbers.len() != rows.len() || numbers.iter().any(is_ragged) {
            let (height, width) = (rows.len(), columns.len());
            let message =
                format!("{height} rows of {width} numbers are needed: one for each of `x` and `y`");
            self.report(&values.span, message);
            return None;
        }
        // The axes alone first, so that a mistake is shown in the right list.
        for (axis, at) in [(&rows, x), (&columns, y)] {
            let flat = vec![0.0; axis.len()];
            let alone = expression::Table::new(axis, &flat, course.0, course.1);
            self.made_of(alone, |place| at.value[place].span.clone(), &at.span)?;
        }
        let flat: Vec<f64> = numbers.concat();
        let made = expression::Table::map(&rows, &columns, &flat, course.0, course.1);
        self.made_of(made, |_| values.span.clone(), &values.span)
    }

    /// A table, or where it cannot be one.
    fn made_of(
        &mut self,
        made: Result<expression::Table, TableError>,
        point: impl Fn(usize) -> Span,
        whole: &Span,
    ) -> Option<expression::Table> {
        made.map_err(|error| {
            let span = match error {
                TableError::NotIncreasing { place, .. } | TableError::NotFinite { place, .. } => {
                    point(place)
                }
                TableError::TooFew(_) | TableError::WrongCount { .. } => whole.clone(),
            };
            self.report(&span, error.to_string())
                .help("sort the points, and give each place once");
        })
        .ok()
    }

    /// The columns of a file in SI units.
    fn columns(&mut self, given: &Table, path: &At<String>, source: &Source) -> Option<Columns> {
        let wanted = given.columns.as_ref();
        if let Some(list) = wanted.filter(|list| !matches!(list.value.len(), 2 | 3)) {
            let message = "two columns are needed, or three for a function of two numbers";
            self.report(&list.span, message);
            return None;
        }
        let names = wanted.map(|list| {
            let names = list.value.iter().map(|at| at.value.as_str());
            names.collect::<Vec<_>>()
        });
        let units = self.units(given, names.as_ref().map_or(2, Vec::len));
        let columns = data::read(source.name(), &path.value, names.as_deref());
        let mut columns = match columns {
            Ok(columns) => columns,
            Err(mistakes) => {
                for mistake in mistakes {
                    self.report(&path.span, mistake.message)
                        .label("data")
                        .help(mistake.help);
                }
                return None;
            }
        };
        if columns.values.len() < 2 {
            let message = format!("`{}` has a single column", path.value);
            self.report(&path.span, message)
                .help("give the abscissa and the value, separated by a comma");
            return None;
        }
        for (column, unit) in columns.values.iter_mut().zip(units?) {
            for value in column {
                *value = unit.convert(*value);
            }
        }
        Some(columns)
    }

    fn units(&mut self, given: &Table, count: usize) -> Option<Vec<Unit>> {
        let Some(list) = &given.units else {
            return Some(vec![Unit::ONE; count]);
        };
        if list.value.len() != count {
            let message = format!("{count} units are needed, one for each column");
            self.report(&list.span, message);
            return None;
        }
        all(list.value.iter().map(|at| self.unit(at)))
    }

    /// A unit as it is written; a problem if it is none.
    pub(super) fn unit(&mut self, at: &At<String>) -> Option<Unit> {
        Unit::parse(&at.value)
            .map_err(|unknown| {
                let message = format!("unknown unit `{}`", unknown.0);
                self.report(&at.span, message)
                    .label("unknown unit")
                    .help(crate::quantity::HELP);
            })
            .ok()
    }

    fn of_columns(
        &mut self,
        columns: Columns,
        path: &At<String>,
        course: Course,
    ) -> Option<expression::Table> {
        let made = match &columns.values[..] {
            [x, y] => expression::Table::new(x, y, course.0, course.1),
            [x, y, values] => {
                let [rows, across] = [x, y].map(|column| axis_of(column));
                let Some(flat) = grid(&rows, &across, [x, y, values]) else {
                    let message = format!(
                        "`{}` is no complete grid: {} rows, but {} × {} places",
                        path.value,
                        x.len(),
                        rows.len(),
                        across.len()
                    );
                    self.report(&path.span, message)
                        .label("data")
                        .help("give one line for each pair of both arguments");
                    return None;
                };
                expression::Table::map(&rows, &across, &flat, course.0, course.1)
            }
            _ => return None,
        };
        made.map_err(|error| {
            let line = match error {
                TableError::NotIncreasing { place, .. } => columns.lines.get(place),
                _ => None,
            };
            let place = line.map_or(String::new(), |line| format!("line {line} of "));
            let message = format!("{place}`{}`: {error}", path.value);
            let help = match error {
                TableError::NotIncreasing { .. } => {
                    "sort the lines by the first column, and give each place once"
                }
                _ => "give two lines at least, each with an abscissa and a finite value",
            };
            self.report(&path.span, message).label("data").help(help);
        })
        .ok()
    }
}

/// The different numbers of a column, in order.
fn axis_of(column: &[f64]) -> Vec<f64> {
    let mut axis = column.to_vec();
    axis.sort_by(f64::total_cmp);
    axis.dedup();
    axis
}

/// The values of a complete grid, the second argument fastest.
fn grid(rows: &[f64], across: &[f64], [x, y, values]: [&Vec<f64>; 3]) -> Option<Vec<f64>> {
    if rows.len() * across.len() != x.len() {
        return None;
    }
    let mut flat = vec![f64::NAN; x.len()];
    for ((x, y), value) in x.iter().zip(y).zip(values) {
        let row = rows.binary_search_by(|place| place.total_cmp(x)).ok()?;
        let column = across.binary_search_by(|place| place.total_cmp(y)).ok()?;
        flat[row * across.len() + column] = *value;
    }
    flat.iter().all(|value| value.is_finite()).then_some(flat)
}
