//! Time functions.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

use super::{Pairs, Vector};
use crate::format::forms::by_form;
use crate::format::{At, Formula};

// A time function: an expression of `t`, or a table. What is described in the schema is the key.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum Given {
    Formula(Formula),
    Table(Box<GivenTable>),
}

impl Given {
    /// The text, if it is one: perhaps a word that stands for something else.
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Formula(Formula::Text(word)) => Some(word),
            _ => None,
        }
    }
}

/// A time function: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
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

by_form! { Given { plain Formula, table Table, } }

/// A number given in time, in a table of an extension: an expression of `t` and of sensors, or a
/// table as for the format's own loads.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct TimeFunction(pub(crate) Given);

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
