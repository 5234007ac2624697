//! Numbers as they may be written: as such, or as an expression.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

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
