//! Maps over the masses of the interface.

use oldham_results::plot::Scale;

use crate::item::{PaperError, Settings};
use crate::map_study::{Axis, MapStudy};

/// Points along each axis.
pub(super) const POINTS: usize = 25;

/// A factor of a thousand to both sides of the baseline.
pub(super) fn decades(label: &'static str, baseline: f64, settings: fn(f64) -> Settings) -> Axis {
    let place = |i: usize| baseline * 10_f64.powf(-3.0 + 6.0 * i as f64 / (POINTS - 1) as f64);
    Axis {
        label,
        values: (0..POINTS).map(place).collect(),
        scale: Scale::Log,
        baseline,
        settings,
    }
}

/// Over both interface masses.
pub(super) fn over_masses() -> MapStudy {
    MapStudy {
        baseline: "Table 1",
        x: decades("m2 / kg", 2.0, |m2| vec![("m2", m2.to_string())]),
        y: decades("m3 / kg", 1.0, |m3| vec![("m3", m3.to_string())]),
    }
}

/// The smallest interface mass m2 + m3 between `low` and `high` for which something holds, if it holds
/// at the upper end; it does not depend on the split, and m3 is made negligible.
pub(super) fn smallest_mass(
    [low, high]: [f64; 2],
    holds: impl Fn(&Settings) -> Result<bool, PaperError>,
) -> Result<f64, PaperError> {
    const M3: f64 = 1e-6;
    /// Halvings of the interval, on a logarithmic scale.
    const BISECTIONS: usize = 25;
    let (mut below, mut above) = (low, high);
    for _ in 0..BISECTIONS {
        let middle = (below * above).sqrt();
        let set = vec![("m2", (middle - M3).to_string()), ("m3", M3.to_string())];
        if holds(&set)? {
            above = middle;
        } else {
            below = middle;
        }
    }
    Ok(above)
}
