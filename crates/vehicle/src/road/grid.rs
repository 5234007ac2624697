//! Heights on a rectangular grid, joined by cubic splines of continuous slope.

use std::sync::Arc;

/// Heights at equal distances along x and y.
#[derive(Clone, Debug)]
pub struct HeightGrid {
    origin: [f64; 2],
    spacing: [f64; 2],
    counts: [usize; 2],
    /// Row by row of equal y.
    heights: Arc<[f64]>,
    /// Whether it repeats along x.
    is_periodic: bool,
}

impl HeightGrid {
    /// A grid that begins at `origin`; `heights` has `counts[0]` values along x for each of the
    /// `counts[1]` values of y. Beyond its edges the road goes on level at the height of the edge.
    ///
    /// # Panics
    /// If the heights do not fill the grid, or a distance is not positive.
    pub fn new(origin: [f64; 2], spacing: [f64; 2], counts: [usize; 2], heights: Vec<f64>) -> Self {
        assert_eq!(
            heights.len(),
            counts[0] * counts[1],
            "a height for every point"
        );
        assert!(counts[0] > 0 && counts[1] > 0, "at least one point");
        assert!(spacing[0] > 0.0 && spacing[1] > 0.0, "positive distances");
        Self {
            origin,
            spacing,
            counts,
            heights: heights.into(),
            is_periodic: false,
        }
    }

    /// The same, repeating along x after its last point.
    pub fn repeating(mut self) -> Self {
        self.is_periodic = true;
        self
    }

    /// Its first point, and how many there are along x and y.
    pub(super) fn extent(&self) -> ([f64; 2], [usize; 2]) {
        (self.origin, self.counts)
    }

    /// Height, and slopes along x and y.
    pub fn at(&self, x: f64, y: f64) -> (f64, [f64; 2]) {
        let (columns, along, by_x) = self.stencil(0, x, self.is_periodic);
        let (rows, across, by_y) = self.stencil(1, y, false);
        let (mut height, mut slopes) = (0.0, [0.0; 2]);
        for (j, row) in rows.into_iter().enumerate() {
            let row = &self.heights[row * self.counts[0]..][..self.counts[0]];
            let (mut value, mut slope) = (0.0, 0.0);
            for (i, column) in columns.into_iter().enumerate() {
                value += along[i] * row[column];
                slope += by_x[i] * row[column];
            }
            height += across[j] * value;
            slopes[0] += across[j] * slope;
            slopes[1] += by_y[j] * value;
        }
        (height, slopes)
    }

    /// The four neighbours along an axis, their weights (Catmull and Rom's), and the derivatives of
    /// these.
    fn stencil(&self, axis: usize, place: f64, wraps: bool) -> ([usize; 4], [f64; 4], [f64; 4]) {
        let count = self.counts[axis];
        let relative = (place - self.origin[axis]) / self.spacing[axis];
        let last = (count - 1) as f64;
        let (cell, u, is_inside) = if wraps {
            (relative.floor(), relative - relative.floor(), true)
        } else {
            let bounded = relative.clamp(0.0, last);
            let cell = bounded.floor().min((last - 1.0).max(0.0));
            (cell, bounded - cell, bounded == relative)
        };
        let neighbours = [-1, 0, 1, 2].map(|offset| {
            let index = cell as i64 + offset;
            match wraps {
                true => index.rem_euclid(count as i64) as usize,
                false => index.clamp(0, count as i64 - 1) as usize,
            }
        });
        let weights = [
            0.5 * u * (u * (2.0 - u) - 1.0),
            0.5 * (u * u * (3.0 * u - 5.0) + 2.0),
            0.5 * u * (u * (4.0 - 3.0 * u) + 1.0),
            0.5 * u * u * (u - 1.0),
        ];
        let per_length = if is_inside {
            1.0 / self.spacing[axis]
        } else {
            0.0
        };
        let slopes = [
            0.5 * (u * (4.0 - 3.0 * u) - 1.0),
            0.5 * u * (9.0 * u - 10.0),
            0.5 * (u * (8.0 - 9.0 * u) + 1.0),
            0.5 * u * (3.0 * u - 2.0),
        ]
        .map(|slope| slope * per_length);
        (neighbours, weights, slopes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bumps() -> HeightGrid {
        let counts = [9, 5];
        let value = |i: usize, j: usize| 0.1 * ((3 * i + 5 * j) % 7) as f64;
        let heights = (0..counts[1]).flat_map(|j| (0..counts[0]).map(move |i| value(i, j)));
        HeightGrid::new([-1.0, 2.0], [0.5, 0.25], counts, heights.collect())
    }

    #[test]
    fn it_goes_through_its_points_and_its_slopes_are_its_derivatives() {
        let grid = bumps();
        assert!((grid.at(-1.0 + 0.5 * 3.0, 2.25).0 - 0.1 * ((9 + 5) % 7) as f64).abs() < 1e-15);
        let step = 1e-6;
        for (x, y) in [(-0.7, 2.1), (0.3, 2.6), (2.9, 2.99), (0.01, 2.4)] {
            let (_, slopes) = grid.at(x, y);
            let by_x = (grid.at(x + step, y).0 - grid.at(x - step, y).0) / (2.0 * step);
            let by_y = (grid.at(x, y + step).0 - grid.at(x, y - step).0) / (2.0 * step);
            assert!((slopes[0] - by_x).abs() < 1e-8 && (slopes[1] - by_y).abs() < 1e-8);
        }
    }

    #[test]
    fn it_goes_on_level_beyond_its_edges() {
        let grid = bumps();
        assert_eq!(grid.at(-5.0, 2.3).0, grid.at(-1.0, 2.3).0);
        assert_eq!(grid.at(-5.0, 2.3).1[0], 0.0);
        assert_eq!(grid.at(0.3, 9.0).0, grid.at(0.3, 3.0).0);
        let ring = bumps().repeating();
        assert!((ring.at(0.37, 2.3).0 - ring.at(0.37 + 4.5 * 3.0, 2.3).0).abs() < 1e-12);
    }
}
