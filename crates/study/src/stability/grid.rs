//! Spectral radii along one parameter and over two.

use oldham_results::plot::{Cells, Figure, Panel, Scale, Series, Style};
use oldham_stability::is_stable;
use serde::{Serialize, Serializer};

use super::Region;
use crate::Range;

/// A parameter and its values.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Axis {
    /// The parameter.
    pub key: String,
    /// Its values.
    pub values: Vec<f64>,
    #[serde(skip)]
    is_logarithmic: bool,
}

impl Axis {
    pub(super) fn of(range: &Range, values: Vec<f64>) -> Self {
        Self {
            key: range.key.clone(),
            values,
            is_logarithmic: range.is_logarithmic(),
        }
    }

    fn scale(&self) -> Scale {
        match self.is_logarithmic {
            true => Scale::Log,
            false => Scale::Linear,
        }
    }
}

/// The spectral radius of a scheme at every point.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SchemeRadii {
    /// The scheme.
    pub scheme: String,
    /// The radius; NaN where it could not be analysed.
    pub radius: Vec<f64>,
}

impl SchemeRadii {
    /// How many points are stable.
    pub fn stable(&self) -> usize {
        let radii = self.radius.iter();
        radii.filter(|&&radius| is_stable(radius)).count()
    }

    /// How many points could not be analysed.
    pub fn unknown(&self) -> usize {
        self.radius.iter().filter(|radius| radius.is_nan()).count()
    }
}

/// The spectral radius along one parameter.
#[derive(Clone, Debug, Serialize)]
pub struct StabilityCurve {
    /// Title of the model.
    pub model: String,
    /// What is varied.
    pub x: Axis,
    /// The radius of each scheme.
    #[serde(rename = "curves")]
    pub schemes: Vec<SchemeRadii>,
}

/// Radii beyond this are not drawn: a mode that doubles in a step is as unstable as any.
const TOP: f64 = 2.0;
/// The axis covers at least as much, so that rounding is not seen.
const LEAST_SPAN: f64 = 1e-6;

impl StabilityCurve {
    /// The radii over the parameter, and where they cross the border of stability.
    pub fn figure(&self) -> Figure {
        let radii = || {
            self.schemes
                .iter()
                .flat_map(|scheme| scheme.radius.iter().copied())
        };
        let largest = radii().fold(1.0, f64::max);
        let smallest = radii().fold(1.0, f64::min);
        let label = match largest > TOP {
            true => "spectral radius (up to 2)",
            false => "spectral radius",
        };
        let mut panel = Panel::new(&self.x.key, label).with_guide("stable below", 1.0);
        let (mut border_x, mut border_y) = (Vec::new(), Vec::new());
        for SchemeRadii { scheme, radius } in &self.schemes {
            panel = panel.with_series(Series::new(scheme, self.x.values.clone(), radius.clone()));
            for x in self.crossings(radius) {
                border_x.push(x);
                border_y.push(1.0);
            }
        }
        if !border_x.is_empty() {
            let border = Series::new("border, between two points", border_x, border_y);
            panel = panel.with_series(border.with_style(Style::Points));
        }
        let (low, high) = (smallest, largest.min(TOP));
        let margin = 0.1 * (high - low).max(LEAST_SPAN);
        panel = panel
            .with_scales(self.x.scale(), Scale::Linear)
            .with_y_limit(low - margin, high + margin);
        Figure::new(&self.model).with_panel(panel)
    }

    /// Where the line between two points crosses one.
    fn crossings(&self, radius: &[f64]) -> Vec<f64> {
        let points = self.x.values.windows(2).zip(radius.windows(2));
        let crossing = |(x, r): (&[f64], &[f64])| {
            let is_between =
                is_stable(r[0]) != is_stable(r[1]) && r[0].is_finite() && r[1].is_finite();
            let share = ((1.0 - r[0]) / (r[1] - r[0])).clamp(0.0, 1.0);
            is_between.then(|| match self.x.is_logarithmic {
                true => x[0] * (x[1] / x[0]).powf(share),
                false => x[0] + share * (x[1] - x[0]),
            })
        };
        points.filter_map(crossing).collect()
    }
}

/// A map of one scheme.
#[derive(Clone, Debug)]
pub struct SchemeMap {
    /// The radius at every point, row by row: `x` varies fastest.
    pub radii: SchemeRadii,
    /// The border of stability, as a line of points; NaN between its pieces.
    pub border: (Vec<f64>, Vec<f64>),
}

impl Serialize for SchemeMap {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Data<'a> {
            scheme: &'a str,
            stable: usize,
            points: usize,
            radius: &'a [f64],
        }
        let data = Data {
            scheme: &self.radii.scheme,
            stable: self.radii.stable(),
            points: self.radii.radius.len(),
            radius: &self.radii.radius,
        };
        data.serialize(serializer)
    }
}

/// The spectral radius over two parameters.
#[derive(Clone, Debug, Serialize)]
pub struct StabilityMap {
    /// Title of the model.
    pub model: String,
    /// What is varied to the right.
    pub x: Axis,
    /// What is varied upwards.
    pub y: Axis,
    /// The map of each scheme, the file's own first.
    #[serde(rename = "maps")]
    pub schemes: Vec<SchemeMap>,
    /// Where the file's own scheme is unstable, and why: the largest regions.
    pub regions: Vec<Region>,
    /// The model's own point.
    #[serde(skip)]
    pub here: Option<(f64, f64)>,
}

impl StabilityMap {
    /// Where the file's own scheme is unstable, the borders of all, and the model's own point.
    pub fn figure(&self) -> Figure {
        let (x, y) = (&self.x, &self.y);
        let mut panel = Panel::new(&x.key, &y.key).with_scales(x.scale(), y.scale());
        for (index, scheme) in self.schemes.iter().enumerate() {
            let radii = &scheme.radii;
            if index == 0 {
                let filled = radii.radius.iter().map(|&radius| !is_stable(radius));
                panel = panel.with_cells(Cells {
                    x: x.values.clone(),
                    y: y.values.clone(),
                    filled: filled.collect(),
                });
            }
            let label = match radii.stable() {
                0 => format!("{}: unstable everywhere", radii.scheme),
                all if all == radii.radius.len() => {
                    format!("{}: stable everywhere", radii.scheme)
                }
                _ => format!("border, {}", radii.scheme),
            };
            let (line_x, line_y) = scheme.border.clone();
            panel = panel.with_series(Series::new(label, line_x, line_y).with_style(Style::Line));
        }
        for region in &self.regions {
            let why = Series::new(region.label(), vec![region.x], vec![region.y]);
            panel = panel.with_series(why.with_style(Style::Points));
        }
        if let Some((x, y)) = self.here {
            let here = Series::new("as in the file", vec![x], vec![y]);
            panel = panel.with_series(here.with_style(Style::Points));
        }
        let title = format!("{} (shaded: unstable)", self.model);
        Figure::new(title).with_panel(panel)
    }
}
