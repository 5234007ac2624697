//! Numbers over which a parameter is varied, as the axis of a curve or a map.

/// Points along an axis unless said otherwise.
const DEFAULT_POINTS: usize = 25;

/// A parameter and the range over which it is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The parameter.
    pub key: String,
    ends: Option<(f64, f64)>,
    points: usize,
    /// By factors or in equal steps; else by factors if both ends are positive.
    is_logarithmic: Option<bool>,
    /// The numbers themselves, in increasing order, instead of all that.
    listed: Option<Vec<f64>>,
}

impl Range {
    /// A factor of a thousand to both sides of the present value.
    pub fn around(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            ends: None,
            points: DEFAULT_POINTS,
            is_logarithmic: None,
            listed: None,
        }
    }

    /// From one value to another, by factors if both are positive.
    pub fn between(key: impl Into<String>, low: f64, high: f64) -> Self {
        Self {
            key: key.into(),
            ends: Some((low, high)),
            points: DEFAULT_POINTS,
            is_logarithmic: None,
            listed: None,
        }
    }

    /// These numbers, in increasing order; nothing if there are none.
    pub fn listed(key: impl Into<String>, mut numbers: Vec<f64>) -> Option<Self> {
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        let ends = (*numbers.first()?, *numbers.last()?);
        Some(Self {
            key: key.into(),
            ends: Some(ends),
            points: numbers.len(),
            is_logarithmic: Some(false),
            listed: Some(numbers),
        })
    }

    /// The same with so many points.
    pub fn points(self, points: usize) -> Self {
        Self { points, ..self }
    }

    /// The same spaced by factors, or in equal steps.
    pub fn logarithmic(self, is_logarithmic: bool) -> Self {
        Self {
            is_logarithmic: Some(is_logarithmic),
            ..self
        }
    }

    /// The ends, by default a factor of a thousand to both sides of the present value.
    pub fn ends(&self, baseline: Option<f64>) -> Option<(f64, f64)> {
        let around = baseline.map(|baseline| (1e-3 * baseline, 1e3 * baseline));
        self.ends.or(around)
    }

    /// Whether the points are spaced by factors.
    pub fn is_logarithmic(&self) -> bool {
        let are_positive = || self.ends.is_none_or(|(low, high)| low > 0.0 && high > 0.0);
        self.is_logarithmic.unwrap_or_else(are_positive)
    }

    /// The points, if the ends are given: in equal steps unless factors were asked for.
    pub fn equal_steps(&self) -> Option<Vec<f64>> {
        let range = self.clone().logarithmic(self.is_logarithmic == Some(true));
        Some(range.values(self.ends?))
    }

    /// The points between two ends.
    pub fn values(&self, (low, high): (f64, f64)) -> Vec<f64> {
        if let Some(listed) = &self.listed {
            return listed.clone();
        }
        let last = self.points.max(2) - 1;
        let place = |index: usize| {
            let share = index as f64 / last as f64;
            if self.is_logarithmic() {
                low * (high / low).powf(share)
            } else {
                low + share * (high - low)
            }
        };
        (0..=last).map(place).collect()
    }
}
