//! Maps of stability over two parameters.

use oldham_cosim::Simulation;
use oldham_results::plot::{Cells, Panel, Scale, Series, Style};
use oldham_stability::{Contour, is_stable, map, radius};

use crate::item::{Settings, model_with};

/// A way to couple the parts of a model.
pub(crate) struct Scheme {
    pub name: &'static str,
    pub text: &'static str,
    pub settings: Settings,
}

impl Scheme {
    pub fn new(name: &'static str, text: &'static str, settings: &[(&'static str, &str)]) -> Self {
        let settings = settings.iter().map(|&(key, value)| (key, value.to_owned()));
        Self {
            name,
            text,
            settings: settings.collect(),
        }
    }
}

/// One varied quantity.
pub(crate) struct Axis {
    pub label: &'static str,
    pub values: Vec<f64>,
    pub scale: Scale,
    /// Its value in the paper's example.
    pub baseline: f64,
    /// What it means for the model.
    pub settings: fn(f64) -> Settings,
}

/// A map over two quantities.
pub(crate) struct MapStudy {
    /// What the point at the baseline is.
    pub baseline: &'static str,
    pub x: Axis,
    pub y: Axis,
}

impl MapStudy {
    /// The spectral radius at each point, row by row.
    pub fn radii(&self, scheme: &Scheme) -> Vec<f64> {
        self.radii_of(scheme, false)
    }

    /// The same for the monolithic system.
    pub fn monolithic_radii(&self, scheme: &Scheme) -> Vec<f64> {
        self.radii_of(scheme, true)
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

    /// A panel that covers the whole map, with the point at the baseline; the cells where `radii` are
    /// not stable are shaded.
    pub fn panel(&self, radii: Option<&[f64]>) -> Panel {
        let (x, y) = (self.x.values.clone(), self.y.values.clone());
        let filled = match radii {
            Some(radii) => radii.iter().map(|&radius| !is_stable(radius)).collect(),
            None => vec![false; x.len() * y.len()],
        };
        let baseline = Series::new(self.baseline, vec![self.x.baseline], vec![self.y.baseline]);
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
pub(crate) fn stable(radii: &[f64]) -> f64 {
    radii.iter().filter(|&&radius| is_stable(radius)).count() as f64
}
