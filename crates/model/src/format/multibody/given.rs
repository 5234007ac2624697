//! Time functions.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{Pairs, Vector};
use crate::format::{At, Formula};

/// A time function: an expression of `t`, or a table.
#[derive(Debug)]
pub(crate) enum Given {
    Formula(Formula),
    Table(Box<GivenTable>),
}

/// A time function: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct GivenTable {
    /// Start, end (s), first and last value: a straight line between the two times.
    pub ramp: Option<At<Vector>>,
    /// Start, end (s), first and last value: half a period of a cosine between the two times.
    pub smooth_step: Option<At<Vector>>,
    /// Mean value, amplitude, frequency (Hz) and phase (rad) of a sine.
    pub sine: Option<At<Vector>>,
    /// Amplitude, frequency at time zero (Hz) and its growth (Hz/s) of a sine.
    pub chirp: Option<At<Vector>>,
    /// Time (s) and value in pairs of rising time: straight lines between, constant beyond.
    pub table: Option<At<Pairs>>,
    /// With `table`: the name of a sensor whose reading stands in the place of time. Not for
    /// prescribed motions.
    pub of: Option<At<String>>,
    /// The name of a scalar input of this subsystem.
    pub input: Option<At<String>>,
}

struct GivenVisitor;

// Not an untagged enum: those lose the places of what they hold.
impl<'de> Visitor<'de> for GivenVisitor {
    type Value = Given;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number, an expression of time, or a table")
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Given, E> {
        Ok(Given::Formula(Formula::Number(number)))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Given, E> {
        self.visit_f64(number as f64)
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Given, E> {
        self.visit_f64(number as f64)
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Given, E> {
        Ok(Given::Formula(Formula::Text(text.to_owned())))
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Given, A::Error> {
        GivenTable::deserialize(MapAccessDeserializer::new(map))
            .map(|table| Given::Table(Box::new(table)))
    }
}

impl<'de> Deserialize<'de> for Given {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(GivenVisitor)
    }
}

impl JsonSchema for Given {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Given".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "anyOf": [
                generator.subschema_for::<Formula>(),
                generator.subschema_for::<GivenTable>(),
            ],
        })
    }
}

/// A number given in time, in a table of an extension: an expression of `t` and of sensors, or a
/// table as for the format's own loads.
#[derive(Debug)]
pub struct TimeFunction(pub(crate) Given);

impl<'de> Deserialize<'de> for TimeFunction {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Given::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for TimeFunction {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "TimeFunction".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Given::json_schema(generator)
    }
}
