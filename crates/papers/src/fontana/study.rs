//! Maps of stability over two parameters.

use oldham_cosim::Simulation;
use oldham_results::plot::{Cells, Panel, Scale, Series, Style};
use oldham_stability::{Contour, is_stable, map, radius};

use super::Scheme;
use crate::item::{PaperError, Settings, model_with};

/// Points along each axis.
pub(super) const POINTS: usize = 25;

/// One varied quantity.
pub(super) struct Axis {
    pub label: &'static str,
    pub values: Vec<f64>,
    pub scale: Scale,
    /// Its value in Table 1.
    pub baseline: f64,
    /// What it means for the model.
    pub settings: fn(f64) -> Settings,
}

impl Axis {
    /// A factor of a thousand to both sides of the baseline.
    pub fn decades(label: &'static str, baseline: f64, settings: fn(f64) -> Settings) -> Self {
        let place = |i: usize| baseline * 10_f64.powf(-3.0 + 6.0 * i as f64 / (POINTS - 1) as f64);
        Self {
            label,
            values: (0..POINTS).map(place).collect(),
            scale: Scale::Log,
            baseline,
            settings,
        }
    }
}

/// A map over two quantities.
pub(super) struct Study {
    pub x: Axis,
    pub y: Axis,
}

impl Study {
    /// Over both interface masses.
    pub fn of_masses() -> Self {
        Self {
            x: Axis::decades("m2 / kg", 2.0, |m2| vec![("m2", m2.to_string())]),
            y: Axis::decades("m3 / kg", 1.0, |m3| vec![("m3", m3.to_string())]),
        }
    }

    /// The spectral radius at each point, row by row.
    pub fn radii(&self, scheme: &Scheme) -> Vec<f64> {
        self.radii_of(scheme, false)
    }

    /// The same for the undivided system.
    pub fn monolithic_radii(&self) -> Vec<f64> {
        self.radii_of(&Scheme::proposed(), true)
    }

    fn radii_of(&self, scheme: &Scheme, monolithic: bool) -> Vec<f64> {
        let build = |x, y| self.build(scheme, monolithic, [x, y]);
        map(&self.x.values, &self.y.values, threads(), build, |_| {})
    }

    fn build(&self, scheme: &Scheme, monolithic: bool, [x, y]: [f64; 2]) -> Option<Simulation> {
        let mut all = scheme.settings.clone();
        all.extend((self.x.settings)(x));
        all.extend((self.y.settings)(y));
        let model = model_with(scheme.text, &all).ok()?;
        if monolithic {
            return model.monolithic(None).ok();
        }
        model.simulation().ok()
    }

    /// A panel that covers the whole map, with the point of Table 1; the cells where `radii` are
    /// not stable are shaded.
    pub fn panel(&self, radii: Option<&[f64]>) -> Panel {
        let (x, y) = (self.x.values.clone(), self.y.values.clone());
        let filled = match radii {
            Some(radii) => radii.iter().map(|&radius| !is_stable(radius)).collect(),
            None => vec![false; x.len() * y.len()],
        };
        let baseline = Series::new("Table 1", vec![self.x.baseline], vec![self.y.baseline]);
        Panel::new(self.x.label, self.y.label)
            .with_scales(self.x.scale, self.y.scale)
            .with_cells(Cells { x, y, filled })
            .with_series(baseline.with_style(Style::Points))
    }

    /// The border of stability; its label says so where there is none.
    pub fn border(&self, label: &str, scheme: &Scheme, radii: &[f64]) -> Series {
        let contour = Contour {
            x: &self.x.values,
            y: &self.y.values,
            logarithmic: [self.x.scale, self.y.scale].map(|scale| scale == Scale::Log),
        };
        let stable_at = |x, y| {
            let simulation = self.build(scheme, false, [x, y]);
            simulation.is_some_and(|mut simulation| is_stable(radius(&mut simulation)))
        };
        let (x, y) = contour.border(radii, threads(), stable_at);
        let label = match stable(radii) as usize {
            0 => format!("{label}: unstable everywhere"),
            all if all == radii.len() => format!("{label}: stable everywhere"),
            _ => label.to_owned(),
        };
        Series::new(label, x, y)
    }
}

fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// How many points are stable.
pub(super) fn stable(radii: &[f64]) -> f64 {
    radii.iter().filter(|&&radius| is_stable(radius)).count() as f64
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
