//! Things that the user gives names to, in the order of the text.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::At;

/// The form of `subsystem.port`, for tables whose keys refer to ports. Ports of actuators are called
/// `actuator.spool`, those that answer an input `input.motion`.
pub(crate) const PORT_PATTERN: &str = r"^[^.]+\.[^.]+(\.[^.]+)?$";

/// A table whose keys are names. It may be left out, which means that it is empty.
#[derive(Debug)]
pub struct Named<T>(Vec<Entry<T>>);

/// One named thing.
#[derive(Debug)]
pub struct Entry<T> {
    /// Its name.
    pub name: At<String>,
    /// What it is.
    pub value: At<T>,
}

impl<T> Named<T> {
    /// All of them, in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Entry<T>> {
        self.0.iter()
    }

    /// Whether there is nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn as_slice(&self) -> &[Entry<T>] {
        &self.0
    }

    /// The one of this name.
    pub fn find(&self, name: &str) -> Option<&Entry<T>> {
        self.iter().find(|entry| entry.name.value == name)
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|entry| entry.name.value.as_str())
    }
}

impl<'a, T> IntoIterator for &'a Named<T> {
    type Item = &'a Entry<T>;
    type IntoIter = std::slice::Iter<'a, Entry<T>>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T> Default for Named<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Named<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(NamedVisitor(PhantomData))
    }
}

struct NamedVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NamedVisitor<T> {
    type Value = Named<T>;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a table")
    }

    fn visit_none<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Named::default())
    }

    fn visit_some<D: Deserializer<'de>>(self, table: D) -> Result<Self::Value, D::Error> {
        table.deserialize_map(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some((name, value)) = map.next_entry()? {
            entries.push(Entry { name, value });
        }
        // The parser hands over in alphabetical order.
        entries.sort_by(|a: &Entry<T>, b| a.name.in_text_order(&b.name));
        Ok(Named(entries))
    }
}

impl<T: JsonSchema> JsonSchema for Named<T> {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        format!("Named_{}", T::schema_name()).into()
    }
    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": generator.subschema_for::<T>(),
        })
    }
}
