//! Volume and inertia of homogeneous shapes.

use std::f64::consts::PI;

use oldham_multibody::Mat3;

use super::Shape;

/// Volume in m³ (none for a thin rod), and inertia about the centre per mass, in m².
pub(crate) fn solid_inertia(shape: &Shape) -> (Option<f64>, Mat3) {
    match *shape {
        Shape::Box([a, b, c]) => {
            let [a2, b2, c2] = [a, b, c].map(|side| side * side / 12.0);
            (Some(a * b * c), Mat3::diagonal(b2 + c2, a2 + c2, a2 + b2))
        }
        Shape::Sphere(r) => {
            let j = 0.4 * r * r;
            (Some(4.0 / 3.0 * PI * r.powi(3)), Mat3::diagonal(j, j, j))
        }
        Shape::Tube {
            outer,
            inner,
            length,
        } => {
            let squares = outer * outer + inner * inner;
            let across = squares / 4.0 + length * length / 12.0;
            let volume = PI * (outer * outer - inner * inner) * length;
            (Some(volume), Mat3::diagonal(squares / 2.0, across, across))
        }
        Shape::Rod(length) => {
            let across = length * length / 12.0;
            (None, Mat3::diagonal(0.0, across, across))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Second moments summed over many small cells.
    fn by_cells(half: [f64; 3], inside: impl Fn([f64; 3]) -> bool) -> (f64, [f64; 3]) {
        const CELLS: usize = 80;
        let cell = half.map(|h| 2.0 * h / CELLS as f64);
        let (mut volume, mut sums) = (0.0, [0.0; 3]);
        for index in 0..CELLS.pow(3) {
            let place = [index % CELLS, index / CELLS % CELLS, index / CELLS / CELLS];
            let x = [0, 1, 2].map(|i| (place[i] as f64 + 0.5) * cell[i] - half[i]);
            if inside(x) {
                let dv = cell[0] * cell[1] * cell[2];
                volume += dv;
                for (i, sum) in sums.iter_mut().enumerate() {
                    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
                    *sum += dv * (x[j] * x[j] + x[k] * x[k]);
                }
            }
        }
        (volume, sums.map(|sum| sum / volume))
    }

    #[test]
    fn inertia_is_the_sum_over_the_volume() {
        let radius = |x: [f64; 3]| x[1].hypot(x[2]);
        let tube = Shape::Tube {
            outer: 0.5,
            inner: 0.3,
            length: 2.0,
        };
        let norm = |x: [f64; 3]| radius(x).hypot(x[0]);
        let cases = [
            (
                Shape::Box([1.0, 2.0, 3.0]),
                by_cells([0.5, 1.0, 1.5], |_| true),
            ),
            (Shape::Sphere(0.7), by_cells([0.7; 3], |x| norm(x) < 0.7)),
            (
                tube,
                by_cells([1.0, 0.5, 0.5], |x| (0.3..0.5).contains(&radius(x))),
            ),
        ];
        for (shape, (volume, moments)) in cases {
            let (found, inertia) = solid_inertia(&shape);
            assert!((found.unwrap() / volume - 1.0).abs() < 0.01, "{shape:?}");
            for (i, moment) in moments.iter().enumerate() {
                let ratio = inertia.0[i][i] / moment;
                assert!((ratio - 1.0).abs() < 0.01, "{shape:?}");
            }
        }
    }
}
