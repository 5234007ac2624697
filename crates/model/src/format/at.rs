//! A value with its place in the text.

use std::borrow::Cow;
use std::cmp::Ordering;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer};
use toml::Spanned;

use crate::source::Span;
use crate::words::natural_order;

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct At<T> {
    /// The value.
    pub value: T,
    /// Its place in the text.
    pub span: Span,
}

impl<T> At<T> {
    /// A value that stands at a place.
    pub(crate) fn new(value: T, span: &Span) -> Self {
        let span = span.clone();
        Self { value, span }
    }
}

impl At<String> {
    /// The order in which names were written; what was written once and repeated is counted.
    pub(crate) fn in_text_order(&self, other: &Self) -> Ordering {
        let places = self.span.start.cmp(&other.span.start);
        places.then_with(|| natural_order(&self.value, &other.value))
    }
}

/// Where a value was written, if it was.
pub(crate) fn place<T>(given: &Option<At<T>>) -> Option<&Span> {
    given.as_ref().map(|at| &at.span)
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for At<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let spanned = Spanned::deserialize(deserializer)?;
        Ok(Self {
            span: spanned.span(),
            value: spanned.into_inner(),
        })
    }
}

impl<T: JsonSchema> JsonSchema for At<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }
    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}
