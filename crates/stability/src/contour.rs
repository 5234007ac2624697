//! The border between stable and unstable points of a map, as line segments.

/// The grid of a map.
pub struct Contour<'a> {
    /// Where the columns stand.
    pub x: &'a [f64],
    /// Where the rows stand.
    pub y: &'a [f64],
    /// Which axes are logarithmic.
    pub logarithmic: [bool; 2],
}

/// Radii further than this from one count alike: how unstable a point is says little about how
/// near the border is.
const CLIP: f64 = 1e-3;

impl Contour<'_> {
    /// Points of the border; segments are separated by points that are no numbers.
    pub fn border(&self, radii: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let columns = self.x.len();
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for row in 1..self.y.len() {
            for column in 1..columns {
                let corners = [
                    (column - 1, row - 1),
                    (column, row - 1),
                    (column, row),
                    (column - 1, row),
                ];
                let heights = corners.map(|(i, j)| height(radii[j * columns + i]));
                let crossings: Vec<_> = (0..4)
                    .filter_map(|edge| {
                        let next = (edge + 1) % 4;
                        let share = crossing(heights[edge], heights[next])?;
                        Some(self.between(corners[edge], corners[next], share))
                    })
                    .collect();
                for pair in crossings.chunks_exact(2) {
                    xs.extend([pair[0].0, pair[1].0, f64::NAN]);
                    ys.extend([pair[0].1, pair[1].1, f64::NAN]);
                }
            }
        }
        (xs, ys)
    }

    fn between(&self, from: (usize, usize), to: (usize, usize), share: f64) -> (f64, f64) {
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

/// Positive where unstable.
fn height(radius: f64) -> f64 {
    if radius.is_nan() {
        return CLIP;
    }
    (radius - crate::spectrum::STABLE).clamp(-CLIP, CLIP)
}

fn crossing(a: f64, b: f64) -> Option<f64> {
    ((a > 0.0) != (b > 0.0)).then(|| a / (a - b))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_straight_border_is_found_where_it_is() {
        let axis: Vec<f64> = (0..11).map(f64::from).collect();
        let radii: Vec<f64> = axis
            .iter()
            .flat_map(|y| axis.iter().map(move |x| 1.0 + 1e-5 * (x + y - 9.5)))
            .collect();
        let contour = Contour {
            x: &axis,
            y: &axis,
            logarithmic: [false; 2],
        };
        let (xs, ys) = contour.border(&radii);
        let points = xs.iter().zip(&ys).filter(|(x, _)| x.is_finite());
        assert!(points.clone().count() > 20);
        for (x, y) in points {
            assert!((x + y - 9.5).abs() < 2e-3, "{x} {y}");
        }
    }
}
