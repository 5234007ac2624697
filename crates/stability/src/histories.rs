//! Coordinates of a macro step that need no probing.
//!
//! A third of a state are histories: samples that nothing reads any more, and samples that another
//! coordinate takes over as they are. Which ones is a matter of the schedule and the methods, not of
//! masses and stiffnesses, so that a map finds it out once, at its first point. Every point checks
//! it: all coordinates are changed together, and the matrix must say what follows.

use nalgebra::{DMatrix, DVectorView};
use oldham_cosim::{Chart, Simulation};

use crate::recurrence::Recurrence;

/// Coordinates up to which a search probes a matrix at all.
const LARGEST: usize = 600;
/// What a coordinate that is taken over leaves to be said of its one entry.
const ROUNDING: f64 = 1e-9;

/// What is known of each coordinate of a recurrence before it is probed.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Histories {
    columns: Vec<Column>,
}

/// What follows from a change of one coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Column {
    /// That is to be found out.
    Probed,
    /// Nothing.
    Unread,
    /// This coordinate changes as much, and no other does.
    TakenOver(usize),
}

impl Histories {
    /// Those of a simulation; nothing where it is too large for that or cannot be probed.
    pub fn of_simulation(simulation: &mut Simulation) -> Option<Self> {
        if Chart::about(simulation).dimension() > LARGEST {
            return None;
        }
        let recurrence = Recurrence::of(simulation).ok()?;
        Some(Self::of(recurrence.matrix()))
    }

    /// Those of a matrix that was probed.
    fn of(matrix: &DMatrix<f64>) -> Self {
        let column = |entries: DVectorView<'_, f64>| {
            let mut there = (0..entries.len()).filter(|&row| entries[row] != 0.0);
            match (there.next(), there.next()) {
                (None, _) => Column::Unread,
                (Some(row), None) if (entries[row] - 1.0).abs() < ROUNDING => {
                    Column::TakenOver(row)
                }
                _ => Column::Probed,
            }
        };
        Self {
            columns: matrix.column_iter().map(column).collect(),
        }
    }

    /// What is known of a coordinate. Of a state of another size nothing is.
    pub fn column(&self, place: usize, dimension: usize) -> Column {
        match self.columns.len() == dimension {
            true => self.columns[place],
            false => Column::Probed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_and_taken_over_coordinates_are_told_from_others() {
        // 0 follows from all, 1 is taken over by 2, 2 is read by nothing, 3 is scaled.
        let mut matrix = DMatrix::zeros(4, 4);
        matrix[(0, 0)] = 0.5;
        matrix[(1, 0)] = 1.0;
        matrix[(2, 1)] = 1.0 + 1e-12;
        matrix[(0, 3)] = 0.9;
        let histories = Histories::of(&matrix);
        let columns: Vec<Column> = (0..4).map(|place| histories.column(place, 4)).collect();
        let expected = [
            Column::Probed,
            Column::TakenOver(2),
            Column::Unread,
            Column::Probed,
        ];
        assert_eq!(columns, expected);
        assert_eq!(histories.column(2, 5), Column::Probed);
    }
}
