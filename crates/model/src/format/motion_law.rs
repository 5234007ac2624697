//! How a part that steps velocities follows a prescribed motion.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{At, NonNegative, Positive};

/// A law by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LawName {
    /// The prescribed velocity, and what is missing of the position at the start of the step.
    Original,
    /// Position, velocity and acceleration, with the weights 2, 2, 1.
    #[serde(rename = "index-1")]
    Index1,
    /// Position and velocity, with the weights 1, 1, 0.
    #[serde(rename = "index-2")]
    Index2,
    /// The position alone: weights 1, 0, 0.
    #[serde(rename = "index-3")]
    Index3,
}

/// Weights of a law, free of dimension: they mean the same at every step size.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(crate) struct LawWeights {
    /// Of the position.
    #[schemars(required)]
    pub alpha: Option<At<Positive>>,
    /// Of the velocity.
    #[schemars(extend("default" = 0.0))]
    pub beta: Option<At<NonNegative>>,
    /// Of the acceleration.
    #[schemars(extend("default" = 0.0))]
    pub gamma: Option<At<NonNegative>>,
}

/// A law: its name, or its weights.
#[derive(Debug)]
pub(crate) enum MotionLaw {
    Named(LawName),
    Weights(LawWeights),
}

struct LawVisitor;

// Not an untagged enum: those lose the places of what they hold.
impl<'de> Visitor<'de> for LawVisitor {
    type Value = MotionLaw;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("the name of a law, or a table with its weights `alpha`, `beta` and `gamma`")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<MotionLaw, E> {
        LawName::deserialize(StrDeserializer::new(text)).map(MotionLaw::Named)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<MotionLaw, A::Error> {
        LawWeights::deserialize(MapAccessDeserializer::new(map)).map(MotionLaw::Weights)
    }
}

impl<'de> Deserialize<'de> for MotionLaw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LawVisitor)
    }
}

impl JsonSchema for MotionLaw {
    fn schema_name() -> Cow<'static, str> {
        "MotionLaw".into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "How a part that steps velocities follows a prescribed motion.",
            "anyOf": [
                generator.subschema_for::<LawName>(),
                generator.subschema_for::<LawWeights>(),
            ],
        })
    }
}
