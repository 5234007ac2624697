//! A force law as a map: tension over elongation and rate, linear between the grid lines.

use super::ForceLaw;
use super::law::area;
use crate::kinks::mixed;

/// Tensions on a grid of elongations and rates, bilinear between and constant beyond.
#[derive(Clone, Debug, PartialEq)]
pub struct ForceMap {
    elongations: Vec<f64>,
    rates: Vec<f64>,
    /// One row for each elongation.
    tensions: Vec<f64>,
    /// Tension over elongation of a slow motion.
    slow: Vec<(f64, f64)>,
}

impl ForceMap {
    /// Rising elongations and rates, and a row of tensions for each elongation; nothing if they do
    /// not rise or the numbers do not fit.
    pub fn new(elongations: Vec<f64>, rates: Vec<f64>, tensions: Vec<f64>) -> Option<Self> {
        let rises = |axis: &[f64]| !axis.is_empty() && axis.windows(2).all(|w| w[0] < w[1]);
        let fits = tensions.len() == elongations.len() * rates.len();
        if !(rises(&elongations) && rises(&rates) && fits) {
            return None;
        }
        let mut map = Self {
            elongations,
            rates,
            tensions,
            slow: Vec::new(),
        };
        let at_rest = map.elongations.iter().map(|&d| (d, map.force(d, 0.0)[0]));
        map.slow = at_rest.collect();
        Some(map)
    }
}

/// The cell of an axis around a value: its first place, the fraction of the way through it, and the
/// derivative of that. Beyond the axis nothing changes.
fn cell(axis: &[f64], value: f64) -> (usize, f64, f64) {
    let after = axis.partition_point(|&x| x <= value);
    match (after, axis.len()) {
        (0, _) => (0, 0.0, 0.0),
        (_, 1) => (0, 0.0, 0.0),
        (after, count) if after == count => (count - 2, 1.0, 0.0),
        (after, _) => {
            let width = axis[after] - axis[after - 1];
            (after - 1, (value - axis[after - 1]) / width, 1.0 / width)
        }
    }
}

impl ForceLaw for ForceMap {
    fn force(&self, elongation: f64, rate: f64) -> [f64; 3] {
        let (i, x, x_slope) = cell(&self.elongations, elongation);
        let (j, y, y_slope) = cell(&self.rates, rate);
        let corner = |di: usize, dj: usize| {
            let row = (i + di).min(self.elongations.len() - 1);
            let column = (j + dj).min(self.rates.len() - 1);
            self.tensions[row * self.rates.len() + column]
        };
        let [f00, f01, f10, f11] = [corner(0, 0), corner(0, 1), corner(1, 0), corner(1, 1)];
        let (low, high) = (f00 + (f01 - f00) * y, f10 + (f11 - f10) * y);
        let across = (f01 - f00) + ((f11 - f10) - (f01 - f00)) * x;
        [
            low + (high - low) * x,
            (high - low) * x_slope,
            across * y_slope,
        ]
    }

    fn side(&self, elongation: f64, rate: f64) -> u64 {
        let place = |axis: &[f64], value: f64| axis.partition_point(|&x| x <= value) as u64;
        mixed(
            place(&self.elongations, elongation),
            place(&self.rates, rate),
        )
    }

    fn stored(&self, elongation: f64) -> f64 {
        area(&self.slow, elongation) - area(&self.slow, 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bilinear function is met exactly, with its derivatives and its potential.
    #[test]
    fn a_bilinear_function_is_met_exactly() {
        let f = |d: f64, v: f64| 3.0 * d + 0.5 * v + 2.0 * d * v;
        let (d, v) = (vec![-1.0, 0.5, 2.0], vec![-2.0, 1.0]);
        let tensions = d.iter().flat_map(|&d| v.iter().map(move |&v| f(d, v)));
        let map = ForceMap::new(d.clone(), v.clone(), tensions.collect()).unwrap();
        for (x, y) in [(-0.7, -1.5), (0.3, 0.9), (1.9, 0.0)] {
            let [force, by_d, by_v] = map.force(x, y);
            assert!((force - f(x, y)).abs() < 1e-14);
            assert!((by_d - (3.0 + 2.0 * y)).abs() < 1e-14);
            assert!((by_v - (0.5 + 2.0 * x)).abs() < 1e-14);
            assert!((map.stored(x) - 1.5 * x * x).abs() < 1e-14);
        }
        assert_eq!(map.force(5.0, 3.0), [f(2.0, 1.0), 0.0, 0.0]);
        assert!(ForceMap::new(vec![0.0, 0.0], v, vec![0.0; 4]).is_none());
    }
}
