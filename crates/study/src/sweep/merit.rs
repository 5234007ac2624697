//! Figures of merit: one number of a run.

use std::fmt;
use std::str::FromStr;

use oldham_results::Table;

/// What is made of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Measure {
    Min,
    Max,
    Peak,
    Span,
    Mean,
    Rms,
    Final,
}

const MEASURES: [(&str, Measure); 7] = [
    ("min", Measure::Min),
    ("max", Measure::Max),
    ("peak", Measure::Peak),
    ("span", Measure::Span),
    ("mean", Measure::Mean),
    ("rms", Measure::Rms),
    ("final", Measure::Final),
];

/// A figure of merit such as `rms(body.x.a)`: least (`min`) and largest (`max`) value, largest magnitude
/// (`peak`), distance from least to largest (`span`), mean and root mean square over time (`mean`,
/// `rms`), or last value (`final`) of a signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Merit {
    measure: Measure,
    signal: String,
}

/// A text that is no figure of merit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is no figure of merit: write one such as rms(left.x1.a), with {known}")]
pub struct MeritError {
    text: String,
    known: String,
}

impl FromStr for Merit {
    type Err = MeritError;

    fn from_str(text: &str) -> Result<Self, MeritError> {
        let known = || MEASURES.map(|(name, _)| name).join(", ");
        let parsed = text.trim().strip_suffix(')').and_then(|text| {
            let (name, signal) = text.split_once('(')?;
            let (_, measure) = MEASURES.iter().find(|(known, _)| *known == name.trim())?;
            let signal = signal.trim().to_owned();
            (!signal.is_empty()).then_some(Self {
                measure: *measure,
                signal,
            })
        });
        parsed.ok_or_else(|| MeritError {
            text: text.into(),
            known: known(),
        })
    }
}

impl fmt::Display for Merit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut measures = MEASURES.iter();
        let name = measures.find(|(_, measure)| *measure == self.measure);
        write!(f, "{}({})", name.map_or("", |(name, _)| name), self.signal)
    }
}

impl Merit {
    /// The signal that it is made of.
    pub fn signal(&self) -> &str {
        &self.signal
    }

    /// Its value, if the signal is there.
    pub fn of(&self, table: &Table) -> Option<f64> {
        let values = table.column(&self.signal)?;
        let least = || values.iter().copied().reduce(f64::min);
        let largest = || values.iter().copied().reduce(f64::max);
        match self.measure {
            Measure::Min => least(),
            Measure::Max => largest(),
            Measure::Peak => values.iter().map(|value| value.abs()).reduce(f64::max),
            Measure::Span => Some(largest()? - least()?),
            Measure::Mean => mean(table.time(), values, |value| value),
            Measure::Rms => Some(mean(table.time(), values, |value| value * value)?.sqrt()),
            Measure::Final => values.last().copied(),
        }
    }
}

/// The mean over time of a function of a signal, by the trapezoidal rule.
fn mean(time: &[f64], values: &[f64], function: impl Fn(f64) -> f64) -> Option<f64> {
    let (first, last) = (time.first()?, time.last()?);
    if first == last {
        return values.first().map(|&value| function(value));
    }
    let pieces = time.windows(2).zip(values.windows(2));
    let integral: f64 = pieces
        .map(|(t, x)| 0.5 * (t[1] - t[0]) * (function(x[0]) + function(x[1])))
        .sum();
    Some(integral / (last - first))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_read_as_they_are_written() {
        for text in ["rms(left.x1.a)", "max(energy.total)", "final(a.b)"] {
            assert_eq!(text.parse::<Merit>().unwrap().to_string(), text);
        }
        for text in ["rms", "rms()", "average(a.b)", "rms(a.b"] {
            let told = text.parse::<Merit>().unwrap_err().to_string();
            assert!(
                told.contains("min, max, peak, span, mean, rms, final"),
                "{told}"
            );
        }
    }

    /// A sine over whole periods has the mean zero and the root mean square 1/√2.
    #[test]
    fn means_are_over_time() {
        let time: Vec<f64> = (0..=1000).map(|i| f64::from(i) * 2e-3).collect();
        let sine: Vec<f64> = time
            .iter()
            .map(|t| (std::f64::consts::TAU * t).sin())
            .collect();
        let near = |a: Option<f64>, b: f64| assert!((a.unwrap() - b).abs() < 1e-12, "{a:?} {b}");
        near(mean(&time, &sine, |x| x), 0.0);
        near(mean(&time, &sine, |x| x * x), 0.5);
        near(mean(&[0.0, 1.0, 3.0], &[0.0, 2.0, 2.0], |x| x), 5.0 / 3.0);
    }
}
