//! How the values of a varied setting are given.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::combine::Draw;
use super::random::Random;
use super::range::Range;

/// Points of a range at most.
const MOST_POINTS: usize = 100_000;

/// A setting or parameter, and the values that it takes.
///
/// ```
/// use oldham_study::{Draw, Variation};
///
/// let texts = |text: &str| text.parse::<Variation>()?.texts(&Draw::default());
/// assert_eq!(texts("k=1,2,5")?, ["1", "2", "5"]);
/// assert_eq!(texts("k=0:1:3")?, ["0", "0.5", "1"]);
/// assert_eq!(texts("k=1:100:3:log")?, ["1", "10", "100"]);
/// assert_eq!(texts("k=normal(10, 0.5)")?.len(), 100);
/// # Ok::<(), oldham_study::VariationError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// The setting or parameter.
    pub key: String,
    /// Its values.
    pub values: Values,
}

/// The values of a varied setting.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// A factor of a thousand to both sides of the present value: `KEY`.
    Around,
    /// `1,2,5`: anything that may be set.
    List(Vec<String>),
    /// `low:high:points`, with `:log` by factors.
    Range {
        /// The first.
        low: f64,
        /// The last.
        high: f64,
        /// How many; by default 25.
        points: Option<usize>,
        /// Spaced by factors.
        is_logarithmic: bool,
    },
    /// `@file.csv:column`: what stands in a column of a table.
    Column {
        /// The table.
        path: PathBuf,
        /// The name of the column.
        column: String,
    },
    /// `normal(mean, deviation)`: drawn at random.
    Normal {
        /// The mean.
        mean: f64,
        /// The standard deviation.
        deviation: f64,
    },
    /// `uniform(low, high)`: drawn at random, all numbers between equally likely.
    Uniform {
        /// The least.
        low: f64,
        /// The largest.
        high: f64,
    },
}

/// Why values cannot be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VariationError {
    /// No key or no values.
    #[error(
        "write KEY=VALUES, such as k=1,2,5, k=0:10:6, k=1:100:5:log, k=@cases.csv:k, k=normal(10, 0.5) \
         or k=uniform(8, 12)"
    )]
    NoValues,
    /// A range that is none.
    #[error("`{text}` is no range: write LOW:HIGH, LOW:HIGH:POINTS or LOW:HIGH:POINTS:log")]
    NoRange {
        /// As written.
        text: String,
    },
    /// Ends in the wrong order.
    #[error("in `{text}` LOW must be below HIGH")]
    Ends {
        /// As written.
        text: String,
    },
    /// Factors from zero or below.
    #[error(
        "in `{text}` LOW must be positive: there are no equal factors from zero on; leave `:log` out"
    )]
    NotPositive {
        /// As written.
        text: String,
    },
    /// Too few or too many points.
    #[error("in `{text}` POINTS must be from 2 to {MOST_POINTS}")]
    Points {
        /// As written.
        text: String,
    },
    /// A distribution that is none.
    #[error(
        "`{text}` is no distribution: write normal(MEAN, DEVIATION), with a deviation that is not negative, or uniform(LOW, HIGH)"
    )]
    NoDistribution {
        /// As written.
        text: String,
    },
    /// A column of a file that is not given as such.
    #[error("`{text}` is no column of a file: write @FILE.csv:COLUMN")]
    NoColumn {
        /// As written.
        text: String,
    },
    /// A file that cannot be read.
    #[error("{path}: {reason}", path = path.display())]
    File {
        /// Which one.
        path: PathBuf,
        /// Why not.
        reason: String,
    },
    /// The setting's own value is needed, and a range around it makes no sense here.
    #[error("no values of `{key}` are given: write {key}=LOW:HIGH:POINTS or {key}=V1,V2,...")]
    NotGiven {
        /// The setting.
        key: String,
    },
    /// Numbers are needed.
    #[error("`{value}` of `{key}` is not a number, and numbers are needed along an axis")]
    NoNumber {
        /// The setting.
        key: String,
        /// Its value.
        value: String,
    },
}

impl FromStr for Variation {
    type Err = VariationError;

    fn from_str(text: &str) -> Result<Self, VariationError> {
        let (key, values) = match text.split_once('=') {
            Some((key, values)) => (key.trim(), values.trim().parse()?),
            None => (text.trim(), Values::Around),
        };
        if key.is_empty() {
            return Err(VariationError::NoValues);
        }
        Ok(Self {
            key: key.into(),
            values,
        })
    }
}

impl FromStr for Values {
    type Err = VariationError;

    fn from_str(text: &str) -> Result<Self, VariationError> {
        if text.is_empty() {
            return Err(VariationError::NoValues);
        }
        if let Some(place) = text.strip_prefix('@') {
            return column(place).ok_or_else(|| VariationError::NoColumn { text: text.into() });
        }
        if let Some((name, rest)) = text.split_once('(')
            && ["normal", "uniform"].contains(&name.trim())
        {
            let numbers = rest.strip_suffix(')').and_then(two_numbers);
            return match (name.trim(), numbers) {
                ("normal", Some((mean, deviation))) if deviation >= 0.0 => {
                    Ok(Self::Normal { mean, deviation })
                }
                ("uniform", Some((low, high))) if low < high => Ok(Self::Uniform { low, high }),
                _ => Err(VariationError::NoDistribution { text: text.into() }),
            };
        }
        let starts_with_number = text.split(':').next().and_then(number).is_some();
        if text.contains(':') && starts_with_number {
            return range(text);
        }
        Ok(Self::List(split_outside_brackets(text)))
    }
}

fn number(text: &str) -> Option<f64> {
    text.trim()
        .parse()
        .ok()
        .filter(|value: &f64| value.is_finite())
}

fn two_numbers(text: &str) -> Option<(f64, f64)> {
    let (first, second) = text.split_once(',')?;
    Some((number(first)?, number(second)?))
}

fn range(text: &str) -> Result<Values, VariationError> {
    let owned = || text.to_owned();
    let no_range = || VariationError::NoRange { text: owned() };
    let mut parts: Vec<&str> = text.split(':').map(str::trim).collect();
    let is_logarithmic = parts.last() == Some(&"log");
    if is_logarithmic {
        parts.pop();
    }
    let (low, high, points) = match parts[..] {
        [low, high] => (low, high, None),
        [low, high, points] => (low, high, Some(points)),
        _ => return Err(no_range()),
    };
    let low = number(low).ok_or_else(no_range)?;
    let high = number(high).ok_or_else(no_range)?;
    let points = match points.map(|points| points.parse().map_err(|_| no_range())) {
        None => None,
        Some(points) => Some(points?),
    };
    if low >= high {
        return Err(VariationError::Ends { text: owned() });
    }
    if is_logarithmic && low <= 0.0 {
        return Err(VariationError::NotPositive { text: owned() });
    }
    if points.is_some_and(|points| !(2..=MOST_POINTS).contains(&points)) {
        return Err(VariationError::Points { text: owned() });
    }
    Ok(Values::Range {
        low,
        high,
        points,
        is_logarithmic,
    })
}

fn column(text: &str) -> Option<Values> {
    let (path, column) = text.rsplit_once(':')?;
    let (path, column) = (path.trim(), column.trim());
    (!path.is_empty() && !column.is_empty()).then(|| Values::Column {
        path: path.into(),
        column: column.into(),
    })
}

/// Splits at commas, but not inside brackets or a text: `["a", "b"],["b", "a"]` are two values.
fn split_outside_brackets(text: &str) -> Vec<String> {
    let (mut depth, mut quoted) = (0_usize, false);
    let mut values = vec![String::new()];
    for character in text.chars() {
        match character {
            '"' => quoted = !quoted,
            '[' | '{' | '(' if !quoted => depth += 1,
            ']' | '}' | ')' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                values.push(String::new());
                continue;
            }
            _ => {}
        }
        values.last_mut().expect("never empty").push(character);
    }
    values.iter().map(|value| value.trim().into()).collect()
}

impl Variation {
    /// A list of values.
    pub fn list(key: impl Into<String>, values: impl IntoIterator<Item = impl ToString>) -> Self {
        let values = values.into_iter().map(|value| value.to_string());
        Self {
            key: key.into(),
            values: Values::List(values.collect()),
        }
    }

    /// Whether the values are drawn at random.
    pub fn is_random(&self) -> bool {
        matches!(self.values, Values::Normal { .. } | Values::Uniform { .. })
    }

    /// All values, as they are set.
    pub fn texts(&self, draw: &Draw) -> Result<Vec<String>, VariationError> {
        let written = |numbers: Vec<f64>| numbers.iter().map(f64::to_string).collect();
        match &self.values {
            Values::Around => Err(VariationError::NotGiven {
                key: self.key.clone(),
            }),
            Values::List(values) => Ok(values.clone()),
            Values::Column { path, column } => read_column(path, column),
            Values::Range { .. } => Ok(written(self.axis(draw)?.equal_steps().unwrap_or_default())),
            Values::Normal { mean, deviation } => {
                let mut random = Random::new(draw.seed, &self.key);
                let one = |_| mean + deviation * random.normal();
                Ok(written((0..draw.samples).map(one).collect()))
            }
            Values::Uniform { low, high } => {
                let mut random = Random::new(draw.seed, &self.key);
                let one = |_| low + (high - low) * random.uniform();
                Ok(written((0..draw.samples).map(one).collect()))
            }
        }
    }

    /// The values as numbers along an axis.
    pub fn axis(&self, draw: &Draw) -> Result<Range, VariationError> {
        match self.values {
            Values::Around => Ok(Range::around(&self.key)),
            Values::Range {
                low,
                high,
                points,
                is_logarithmic,
            } => {
                let range = Range::between(&self.key, low, high).logarithmic(is_logarithmic);
                Ok(match points {
                    Some(points) => range.points(points),
                    None => range,
                })
            }
            _ => {
                let one = |value: String| {
                    number(&value).ok_or_else(|| VariationError::NoNumber {
                        key: self.key.clone(),
                        value,
                    })
                };
                let numbers = self.texts(draw)?.into_iter().map(one);
                let numbers = numbers.collect::<Result<_, _>>()?;
                Range::listed(&self.key, numbers).ok_or(VariationError::NoValues)
            }
        }
    }
}

impl fmt::Display for Variation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let key = &self.key;
        match &self.values {
            Values::Around => write!(f, "{key}"),
            Values::List(values) => write!(f, "{key}={}", values.join(",")),
            Values::Range {
                low,
                high,
                points,
                is_logarithmic,
            } => {
                write!(f, "{key}={low}:{high}")?;
                if let Some(points) = points {
                    write!(f, ":{points}")?;
                }
                f.write_str(if *is_logarithmic { ":log" } else { "" })
            }
            Values::Column { path, column } => write!(f, "{key}=@{}:{column}", path.display()),
            Values::Normal { mean, deviation } => write!(f, "{key}=normal({mean}, {deviation})"),
            Values::Uniform { low, high } => write!(f, "{key}=uniform({low}, {high})"),
        }
    }
}

/// Longest table of values that is read.
const MOST_BYTES: u64 = 256 << 20;

/// The cells of a column of a table whose first line names the columns. Lines that start with `#` are
/// comments.
fn read_column(path: &Path, column: &str) -> Result<Vec<String>, VariationError> {
    let refuse = |reason: String| VariationError::File {
        path: path.to_owned(),
        reason,
    };
    let text = oldham_files::read_text(path, MOST_BYTES);
    let text = text.map_err(|error| refuse(format!("cannot be read: {error}")))?;
    let lines = text.lines().enumerate();
    let mut lines = lines.filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let (_, header) = lines
        .next()
        .ok_or_else(|| refuse("is empty; its first line names the columns".into()))?;
    let separator = if header.contains(';') { ';' } else { ',' };
    let cells = |line: &str| -> Vec<String> {
        let cells = line.split(separator);
        cells
            .map(|cell| cell.trim().trim_matches('"').to_owned())
            .collect()
    };
    let names = cells(header);
    let place = names
        .iter()
        .position(|name| name == column)
        .ok_or_else(|| {
            let known = names.iter().map(String::as_str);
            match oldham_model::nearest(column, known) {
                Some(near) => refuse(format!("has no column `{column}`; did you mean `{near}`?")),
                None => refuse(format!(
                    "has no column `{column}`; it has {}",
                    names.join(", ")
                )),
            }
        })?;
    let mut values = Vec::new();
    for (index, line) in lines {
        match cells(line).get(place) {
            Some(cell) if !cell.is_empty() => values.push(cell.clone()),
            _ => {
                let line = index + 1;
                return Err(refuse(format!(
                    "line {line} has nothing in column `{column}`"
                )));
            }
        }
    }
    if values.is_empty() {
        return Err(refuse(format!("column `{column}` has no values")));
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Result<Vec<String>, VariationError> {
        text.parse::<Variation>()?.texts(&Draw::default())
    }

    #[test]
    fn lists_are_single_values() {
        assert_eq!(texts("a=1, 2,3").unwrap(), ["1", "2", "3"]);
        let orders = texts(r#"schedule.order=["a", "b"],["b", "a"]"#).unwrap();
        assert_eq!(orders, [r#"["a", "b"]"#, r#"["b", "a"]"#]);
        assert_eq!(texts("a=max(1, 2),3").unwrap(), ["max(1, 2)", "3"]);
        assert_eq!(texts("path=a:b,c:d").unwrap(), ["a:b", "c:d"]);
    }

    #[test]
    fn what_is_written_can_be_read_again() {
        let all = [
            "k",
            "k=1,2,x",
            "k=1:2",
            "k=1:2:7:log",
            "k=@a/b.csv:mass",
            "k=normal(10, 0.5)",
            "k=uniform(-1, 1)",
        ];
        for text in all {
            let variation: Variation = text.parse().unwrap();
            assert_eq!(variation.to_string(), text);
        }
    }

    #[test]
    fn mistakes_are_told_with_what_to_write() {
        let cases = [
            ("=1", "write KEY=VALUES"),
            ("k=", "write KEY=VALUES"),
            ("k", "write k=LOW:HIGH:POINTS"),
            ("k=1:x", "LOW:HIGH:POINTS"),
            ("k=1:2:3:4", "LOW:HIGH:POINTS"),
            ("k=2:1", "LOW must be below HIGH"),
            ("k=1:2:1", "POINTS must be from 2"),
            ("k=0:2:5:log", "leave `:log` out"),
            ("k=normal(1)", "normal(MEAN, DEVIATION)"),
            ("k=normal(1, -2)", "not negative"),
            ("k=uniform(2, 1)", "uniform(LOW, HIGH)"),
            ("k=@file.csv", "@FILE.csv:COLUMN"),
            ("k=@no/such.csv:k", "no/such.csv: cannot be read"),
        ];
        for (text, wanted) in cases {
            let told = texts(text).expect_err(text).to_string();
            assert!(told.contains(wanted), "{text}: {told}");
        }
    }

    #[test]
    fn columns_come_from_tables() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cases.csv");
        std::fs::write(
            &path,
            "# cases\nmass, \"scheme\"\n1.5, jacobi\n2, gauss-seidel\n",
        )
        .unwrap();
        let column = |name: &str| texts(&format!("k=@{}:{name}", path.display()));
        assert_eq!(column("mass").unwrap(), ["1.5", "2"]);
        assert_eq!(column("scheme").unwrap(), ["jacobi", "gauss-seidel"]);
        let told = column("mas").unwrap_err().to_string();
        assert!(told.contains("did you mean `mass`?"), "{told}");
        std::fs::write(&path, "mass,scheme\n1.5,jacobi\n2\n").unwrap();
        let told = column("scheme").unwrap_err().to_string();
        assert!(
            told.contains("line 3 has nothing in column `scheme`"),
            "{told}"
        );
    }
}
