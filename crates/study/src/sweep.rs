//! Ranges over which parameters are varied, and all combinations of several values.

use crate::{Settings, StudyError};

/// Points along an axis unless said otherwise.
const DEFAULT_POINTS: usize = 25;

/// Combinations at most: nobody reads a table of more.
pub const MOST_COMBINATIONS: usize = 256;

/// A parameter and the range over which it is varied.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    /// The parameter.
    pub key: String,
    ends: Option<(f64, f64)>,
    points: usize,
}

impl Range {
    /// A factor of a thousand to both sides of the present value.
    pub fn around(key: impl Into<String>) -> Self {
        Self {
            key: key.into(),
            ends: None,
            points: DEFAULT_POINTS,
        }
    }

    /// From one value to another, by factors if both are positive.
    pub fn between(key: impl Into<String>, low: f64, high: f64) -> Self {
        Self {
            key: key.into(),
            ends: Some((low, high)),
            points: DEFAULT_POINTS,
        }
    }

    /// The same with so many points.
    pub fn points(self, points: usize) -> Self {
        Self { points, ..self }
    }

    /// The ends, by default a factor of a thousand to both sides of the present value.
    pub fn ends(&self, baseline: Option<f64>) -> Option<(f64, f64)> {
        let around = baseline.map(|baseline| (1e-3 * baseline, 1e3 * baseline));
        self.ends.or(around)
    }

    /// Whether the points are spaced by factors.
    pub fn is_logarithmic(&self) -> bool {
        self.ends.is_none_or(|(low, high)| low > 0.0 && high > 0.0)
    }

    /// The points between the ends in equal steps, if the ends are given.
    pub fn equal_steps(&self) -> Option<Vec<f64>> {
        let (low, high) = self.ends?;
        let last = self.points.max(2) - 1;
        let value = |index: usize| low + (high - low) * index as f64 / last as f64;
        Some((0..=last).map(value).collect())
    }

    /// The points between two ends.
    pub fn values(&self, (low, high): (f64, f64)) -> Vec<f64> {
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

/// All combinations of the varied settings, named by what is varied.
///
/// ```
/// let steps = ("simulation.step".to_owned(), vec!["1e-3".to_owned(), "5e-4".to_owned()]);
/// let updates = ("schedule.output_update".to_owned(), vec!["true".to_owned()]);
/// let all = oldham_study::combinations(&[steps, updates])?;
/// assert_eq!(all.len(), 2);
/// assert_eq!(all[1].0, "step=5e-4 output_update=true");
/// # Ok::<(), oldham_study::StudyError>(())
/// ```
pub fn combinations(vary: &[(String, Vec<String>)]) -> Result<Vec<(String, Settings)>, StudyError> {
    let count = vary.iter().try_fold(1_usize, |count, (_, values)| {
        count.checked_mul(values.len())
    });
    if count.is_none_or(|count| count > MOST_COMBINATIONS) {
        return Err(StudyError::TooManyVariants {
            count,
            most: MOST_COMBINATIONS,
        });
    }
    let mut combinations: Vec<Settings> = vec![Vec::new()];
    for (key, values) in vary {
        let extended = combinations.iter().flat_map(|done| {
            values.iter().map(|value| {
                let mut more = done.clone();
                more.push((key.clone(), value.clone()));
                more
            })
        });
        combinations = extended.collect();
    }
    let named = |changes: Settings| {
        let last = |key: &str| key.rsplit('.').next().map(str::to_owned);
        let parts = changes.iter().map(|(key, value)| {
            let alike = changes.iter().filter(|(other, _)| last(other) == last(key));
            let short = last(key).filter(|_| alike.count() == 1);
            format!("{}={value}", short.as_deref().unwrap_or(key))
        });
        (parts.collect::<Vec<_>>().join(" "), changes)
    };
    Ok(combinations.into_iter().map(named).collect())
}
