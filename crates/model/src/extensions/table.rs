//! Types of tables, and tables that several kinds have in common.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::settings::Settings;
use super::site::Reports;

/// What the table of a kind is read as.
pub(crate) trait Table: Sized {
    /// Its schema.
    fn describe(generator: &mut SchemaGenerator) -> Schema;

    /// The table as this type; what is wrong with it is reported.
    fn read(settings: &Settings<'_>, reports: &mut impl Reports) -> Option<Self>;
}

impl<T: JsonSchema + DeserializeOwned> Table for T {
    fn describe(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }

    fn read(settings: &Settings<'_>, reports: &mut impl Reports) -> Option<Self> {
        settings.read(reports)
    }
}

/// A table with the keys of both; the second one says what the table is. Flattened fields of `serde` would lose the
/// places of their values.
pub(crate) struct With<A, B>(pub A, pub B);

impl<A: Table, B: Table> Table for With<A, B> {
    fn describe(generator: &mut SchemaGenerator) -> Schema {
        let (mut both, own) = (A::describe(generator), B::describe(generator));
        let both_keys = both.ensure_object();
        for (key, value) in own.to_value().as_object().into_iter().flatten() {
            match (both_keys.get_mut(key), value) {
                (Some(Value::Object(shared)), Value::Object(own)) => shared.extend(own.clone()),
                (Some(Value::Array(shared)), Value::Array(own)) => shared.extend(own.clone()),
                _ => drop(both_keys.insert(key.clone(), value.clone())),
            }
        }
        both
    }

    fn read(settings: &Settings<'_>, reports: &mut impl Reports) -> Option<Self> {
        // A type takes its own keys and leaves the others.
        Some(Self(
            A::read(settings, reports)?,
            B::read(settings, reports)?,
        ))
    }
}
