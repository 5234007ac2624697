//! The border between stable and unstable points of a map, as line segments.

use std::collections::{BTreeMap, BTreeSet};

use crate::map::is_stable;
use crate::spread::spread;

/// The grid of a map.
pub struct Contour<'a> {
    /// Where the columns stand.
    pub x: &'a [f64],
    /// Where the rows stand.
    pub y: &'a [f64],
    /// Which axes are logarithmic.
    pub logarithmic: [bool; 2],
}

/// Halvings of the distance between two points of the grid: to a thirtieth of it, about the width
/// of a line. How unstable the points are says little about how near the border is.
const HALVINGS: usize = 5;

/// Column and row.
type Place = (usize, usize);
/// Two neighbours in the grid, the lower one first.
type Edge = (Place, Place);

impl Contour<'_> {
    /// Points of the border; segments are separated by points that are NaN. `stable_at` tells
    /// whether any other point is stable; it is asked by so many threads.
    pub fn border(
        &self,
        radii: &[f64],
        threads: usize,
        stable_at: impl Fn(f64, f64) -> bool + Sync,
    ) -> (Vec<f64>, Vec<f64>) {
        let stable = |(column, row): Place| is_stable(radii[row * self.x.len() + column]);
        let cells: Vec<Vec<Edge>> = self.cells().map(|cell| crossed(cell, stable)).collect();
        let edges: BTreeSet<Edge> = cells.iter().flatten().copied().collect();
        let edges: Vec<Edge> = edges.into_iter().collect();
        let cross = |&edge: &Edge| (edge, self.crossing(edge, stable(edge.0), &stable_at));
        let crossings: BTreeMap<_, _> = spread(&edges, threads, cross).into_iter().collect();
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for pair in cells.iter().flat_map(|cell| cell.chunks_exact(2)) {
            let [a, b] = [crossings[&pair[0]], crossings[&pair[1]]];
            xs.extend([a.0, b.0, f64::NAN]);
            ys.extend([a.1, b.1, f64::NAN]);
        }
        (xs, ys)
    }

    /// The corners of every cell of the grid, in the order in which they are gone around.
    fn cells(&self) -> impl Iterator<Item = [Place; 4]> {
        let columns = self.x.len();
        (1..self.y.len()).flat_map(move |row| {
            (1..columns).map(move |column| {
                [
                    (column - 1, row - 1),
                    (column, row - 1),
                    (column, row),
                    (column - 1, row),
                ]
            })
        })
    }

    /// Where stability changes between two neighbours.
    fn crossing(
        &self,
        (from, to): Edge,
        stable: bool,
        stable_at: impl Fn(f64, f64) -> bool,
    ) -> (f64, f64) {
        let (mut low, mut high) = (0.0, 1.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            let (x, y) = self.between(from, to, middle);
            if stable_at(x, y) == stable {
                low = middle;
            } else {
                high = middle;
            }
        }
        self.between(from, to, 0.5 * (low + high))
    }

    fn between(&self, from: Place, to: Place, share: f64) -> (f64, f64) {
        let along = |a: f64, b: f64, logarithmic: bool| {
            if logarithmic {
                (a.ln() + share * (b.ln() - a.ln())).exp()
            } else {
                a + share * (b - a)
            }
        };
        (
            along(self.x[from.0], self.x[to.0], self.logarithmic[0]),
            along(self.y[from.1], self.y[to.1], self.logarithmic[1]),
        )
    }
}

/// The sides of a cell on which stability changes.
fn crossed(corners: [Place; 4], stable: impl Fn(Place) -> bool) -> Vec<Edge> {
    let sides = (0..4).map(|i| (corners[i], corners[(i + 1) % 4]));
    let changes = sides.filter(|&(a, b)| stable(a) != stable(b));
    changes.map(|(a, b)| (a.min(b), a.max(b))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest distance of the border's points from the curve `miss` = 0, and their number.
    fn trace(
        axis: &[f64],
        logarithmic: bool,
        miss: impl Fn(f64, f64) -> f64 + Sync,
    ) -> (f64, usize) {
        let contour = Contour {
            x: axis,
            y: axis,
            logarithmic: [logarithmic; 2],
        };
        // Radii that tell which side a point is on, and nothing else.
        let radius = |x: f64, y: f64| if miss(x, y) > 0.0 { 20.0 } else { 0.9 };
        let radii: Vec<f64> = axis
            .iter()
            .flat_map(|&y| axis.iter().map(move |&x| radius(x, y)))
            .collect();
        let (xs, ys) = contour.border(&radii, 2, |x, y| miss(x, y) <= 0.0);
        let points = xs.iter().zip(&ys).filter(|(x, _)| x.is_finite());
        let misses: Vec<f64> = points.map(|(&x, &y)| miss(x, y).abs()).collect();
        (misses.iter().fold(0.0, |a, &b| a.max(b)), misses.len())
    }

    #[test]
    fn a_straight_border_is_found_where_it_is() {
        let axis: Vec<f64> = (0..11).map(f64::from).collect();
        let (miss, points) = trace(&axis, false, |x, y| x + y - 9.3);
        assert!(points > 20 && miss < 1.0 / 32.0, "{points} {miss}");
    }

    #[test]
    fn a_border_on_logarithmic_axes_is_found_between_coarse_points() {
        let axis: Vec<f64> = (0..13)
            .map(|i| 10_f64.powf(-3.0 + 0.5 * f64::from(i)))
            .collect();
        let (miss, points) = trace(&axis, true, |x, y| (x + y).ln() - 0.0249_f64.ln());
        let step = 0.5 * 10_f64.ln();
        assert!(points > 8 && miss < step / 32.0, "{points} {miss}");
    }

    #[test]
    fn where_nothing_changes_there_is_no_border() {
        assert_eq!(trace(&[1.0, 2.0, 3.0], false, |_, _| 1.0), (0.0, 0));
    }
}
