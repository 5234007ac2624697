//! Numbers as they may be written: as such, or as an expression.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use crate::range::Range;

/// A number or an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number as such.
    Number(f64),
    /// The text of an expression.
    Text(String),
}

/// A whole number or an expression that gives one.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Count(pub Formula);

/// A number that may be bounded by its type.
pub(crate) trait Number {
    /// The possible values.
    const RANGE: Range = Range::ANY;
    /// Why they are bounded, to be added to a message.
    const REASON: &str = "";
    /// What to do instead of a value outside.
    const REMEDY: &str = "";

    fn formula(&self) -> &Formula;
}

impl Number for Formula {
    fn formula(&self) -> &Formula {
        self
    }
}

impl Number for Count {
    fn formula(&self) -> &Formula {
        &self.0
    }
}

/// Types of numbers with their bounds, which are part of the schema.
macro_rules! bounded {
    ($($(#[$doc:meta])* $name:ident: $from:expr, $to:expr, $reason:literal, $remedy:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq)]
        pub(crate) struct $name(Formula);

        impl Number for $name {
            const RANGE: Range = Range::new($from, $to);
            const REASON: &str = $reason;
            const REMEDY: &str = $remedy;

            fn formula(&self) -> &Formula {
                &self.0
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                Formula::deserialize(deserializer).map(Self)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(generator: &mut SchemaGenerator) -> Schema {
                let mut schema = Formula::json_schema(generator);
                schema.ensure_object().extend(Self::RANGE.keywords());
                schema
            }
        }
    )* };
}

bounded! {
    /// Above zero.
    Positive: Some((0.0, false)), None, "", "give a number above 0";
    /// A mass in kg.
    Mass: Some((0.0, false)), None, ": it is a mass", "a point without mass is no node: leave it out and join what \
        holds it, or give it a small mass";
    /// Zero or above.
    NonNegative: Some((0.0, true)), None, "", "give 0 or a number above it";
    /// From zero to one.
    Fraction: Some((0.0, true)), Some((1.0, true)), "", "0 is one end, 1 the other; most models do with 0.5 to 0.9";
    /// Between zero and one.
    Tolerance: Some((0.0, false)), Some((1.0, false)), "", "a tolerance is a small number such as 1e-6";
    /// Poisson's ratio.
    Poisson: Some((-1.0, false)), Some((0.5, true)), "", "steel has 0.3, rubber nearly 0.5";
}

struct FormulaVisitor;

impl Visitor<'_> for FormulaVisitor {
    type Value = Formula;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number or an expression")
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Formula, E> {
        Ok(Formula::Number(number))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Formula, E> {
        Ok(Formula::Number(number as f64))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Formula, E> {
        Ok(Formula::Number(number as f64))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Formula, E> {
        Ok(Formula::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FormulaVisitor)
    }
}

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Formula::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Formula {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}

impl JsonSchema for Count {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Count".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"] })
    }
}
