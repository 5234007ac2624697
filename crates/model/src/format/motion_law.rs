//! How a part that steps velocities follows a prescribed motion.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

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
pub(crate) type MotionLaw = NameOrWeights<LawName>;

impl WordsWithWeights for LawName {
    const TYPE: &'static str = "MotionLaw";
    const DESCRIPTION: &'static str =
        "How a part that steps velocities follows a prescribed motion.";
}

/// One of some words, or the weights of a law.
#[derive(Debug)]
pub(crate) enum NameOrWeights<N> {
    Named(N),
    Weights(LawWeights),
}

/// Words beside which the weights of a law may stand.
pub(crate) trait WordsWithWeights: JsonSchema + for<'de> Deserialize<'de> {
    /// Name of the type in the schema.
    const TYPE: &'static str;
    /// What it is, in the schema.
    const DESCRIPTION: &'static str;
}

struct NameOrWeightsVisitor<N>(PhantomData<N>);

// Not an untagged enum: those lose the places of what they hold.
impl<'de, N: WordsWithWeights> Visitor<'de> for NameOrWeightsVisitor<N> {
    type Value = NameOrWeights<N>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a name, or a table with the weights `alpha`, `beta` and `gamma` of a law")
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        N::deserialize(StrDeserializer::new(text)).map(NameOrWeights::Named)
    }
    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        LawWeights::deserialize(MapAccessDeserializer::new(map)).map(NameOrWeights::Weights)
    }
}

impl<'de, N: WordsWithWeights> Deserialize<'de> for NameOrWeights<N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrWeightsVisitor(PhantomData))
    }
}

impl<N: WordsWithWeights> JsonSchema for NameOrWeights<N> {
    fn schema_name() -> Cow<'static, str> {
        N::TYPE.into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": N::DESCRIPTION,
            "anyOf": [
                generator.subschema_for::<N>(),
                generator.subschema_for::<LawWeights>(),
            ],
        })
    }
}
