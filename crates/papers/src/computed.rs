//! What comes out for a value.

use serde::{Serialize, Serializer};

/// A computed value: a number, infinity among them, or why there is none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Computed {
    /// A number.
    Number(f64),
    /// The run that it is about failed.
    Failed,
    /// There is none, such as the time of what never happens.
    Absent,
}

impl Computed {
    /// The number; not a number where there is none.
    pub fn number(self) -> f64 {
        match self {
            Self::Number(value) => value,
            Self::Failed | Self::Absent => f64::NAN,
        }
    }

    /// In place of a number, where there is none that could be written as one.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Number(f64::INFINITY) => Some("inf"),
            Self::Number(f64::NEG_INFINITY) => Some("-inf"),
            Self::Number(_) => None,
            Self::Failed => Some("failed"),
            Self::Absent => Some("absent"),
        }
    }
}

impl From<f64> for Computed {
    fn from(value: f64) -> Self {
        match value.is_nan() {
            true => Self::Absent,
            false => Self::Number(value),
        }
    }
}

impl From<Option<f64>> for Computed {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::Absent, Into::into)
    }
}

/// JSON has no infinity: words are strings.
impl Serialize for Computed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.word() {
            Some(word) => serializer.serialize_str(word),
            None => serializer.serialize_f64(self.number()),
        }
    }
}
