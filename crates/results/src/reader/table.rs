//! A result in memory.

use std::collections::{HashMap, HashSet};

use oldham_cosim::Column;

use super::error::ReadProblem;
use crate::schema::{Metadata, TIME};

/// A result: named columns of equal length, one of which is time.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    columns: Vec<Column>,
    data: Vec<Vec<f64>>,
    metadata: Metadata,
    complete: bool,
    time: usize,
    /// Where each column is: those who read all of them by name would search forever.
    places: HashMap<String, usize>,
}

impl Table {
    pub(super) fn new(
        columns: Vec<Column>,
        data: Vec<Vec<f64>>,
        metadata: Metadata,
        complete: bool,
    ) -> Result<Self, ReadProblem> {
        assert_eq!(columns.len(), data.len(), "columns of a result");
        let time = check_names(&columns)?;
        let wrong = data[time].iter().position(|t| !t.is_finite());
        if let Some(row) = wrong {
            return Err(ReadProblem::NoFiniteTime {
                row: row + 1,
                value: data[time][row],
            });
        }
        let names = columns.iter().map(|column| column.name.clone());
        Ok(Self {
            places: names.zip(0..).collect(),
            columns,
            data,
            metadata,
            complete,
            time,
        })
    }

    /// The columns in the order of the file, time among them.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns' names in the order of the file, time among them.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The times of the rows.
    pub fn time(&self) -> &[f64] {
        &self.data[self.time]
    }

    /// Where a column is.
    pub fn place(&self, name: &str) -> Option<usize> {
        self.places.get(name).copied()
    }

    /// The values of the column at a place.
    pub fn at(&self, place: usize) -> &[f64] {
        &self.data[place]
    }

    /// The values of one column.
    pub fn column(&self, name: &str) -> Option<&[f64]> {
        Some(self.at(self.place(name)?))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.time().len()
    }

    /// What the file says about itself; a CSV file says nothing.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// False if the run was interrupted, so that rows may be missing at the end.
    pub fn complete(&self) -> bool {
        self.complete
    }
}

/// Checks that names are unique, and finds time among them.
pub(super) fn check_names(columns: &[Column]) -> Result<usize, ReadProblem> {
    let mut seen = HashSet::new();
    if let Some(twice) = columns.iter().find(|column| !seen.insert(&column.name)) {
        return Err(ReadProblem::DuplicateColumn {
            name: twice.name.clone(),
        });
    }
    let time = columns.iter().position(|column| column.name == TIME);
    time.ok_or(ReadProblem::NoTime)
}
