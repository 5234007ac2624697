//! The JSON Schema of the model format, generated from the types in [`crate::format`].

use std::sync::LazyLock;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::extensions::FAMILY;
use crate::format::File;
use crate::reuse;

/// The JSON Schema (draft 2020-12) of model files, for editors and other programs.
pub fn schema() -> Value {
    published(shared())
}

/// A schema without what only this crate needs, and with what is written out before the check.
pub(crate) fn published(schema: &Value) -> Value {
    let mut schema = described(schema);
    forget(&mut schema, FAMILY);
    reuse::allow_everywhere(&mut schema);
    schema
}

/// A schema as people read it.
pub(crate) fn described(schema: &Value) -> Value {
    let mut schema = schema.clone();
    forget(&mut schema, FORMERLY);
    schema
}

/// What a key or value was called before, beside its description; see [`crate::renamed`].
pub(crate) const FORMERLY: &str = "x-formerly";

/// Leaves out what other programs need not know.
fn forget(schema: &mut Value, key: &str) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| forget(item, key)),
        Value::Object(object) => {
            object.remove(key);
            object.values_mut().for_each(|inside| forget(inside, key));
        }
        _ => {}
    }
}

/// The same with former words, made once: reading a model takes less time than making its schema.
pub(crate) fn shared() -> &'static Value {
    static SCHEMA: LazyLock<Value> = LazyLock::new(generate);
    &SCHEMA
}

fn generate() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<File>().to_value();
    forget_null(&mut schema);
    close_tables(&mut schema);
    reuse::add_keys(&mut schema);
    schema
}

/// What holds for all tables of the format: they have no keys but their own, and a table of names may be left out.
fn close_tables(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(close_tables),
        Value::Object(object) => {
            object.values_mut().for_each(close_tables);
            let Some(properties) = object.get("properties").cloned() else {
                return;
            };
            object.insert("additionalProperties".into(), false.into());
            if let Some(Value::Array(required)) = object.get_mut("required") {
                let holds_names = |key: &str| properties[key]["additionalProperties"].is_object();
                required.retain(|key| !key.as_str().is_some_and(holds_names));
            }
        }
        _ => {}
    }
}

/// TOML has no null: an optional value is there or not.
pub(crate) fn forget_null(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(forget_null),
        Value::Object(object) => {
            object.values_mut().for_each(forget_null);
            if object.get("default").is_some_and(Value::is_null) {
                object.remove("default");
            }
            forget_null_type(object);
            forget_null_alternative(object);
        }
        _ => {}
    }
}

fn forget_null_type(object: &mut Map<String, Value>) {
    let Some(Value::Array(types)) = object.get_mut("type") else {
        return;
    };
    types.retain(|name| name != "null");
    if let [only] = types.as_slice() {
        let only = only.clone();
        object.insert("type".into(), only);
    }
}

fn forget_null_alternative(object: &mut Map<String, Value>) {
    let Some(Value::Array(alternatives)) = object.get_mut("anyOf") else {
        return;
    };
    alternatives.retain(|alternative| alternative["type"] != "null");
    if let [Value::Object(only)] = alternatives.as_slice() {
        let only = only.clone();
        object.remove("anyOf");
        object.extend(only);
    }
}

/// A place in the schema, with references followed.
#[derive(Clone, Copy)]
pub(crate) struct SchemaShape<'a> {
    root: &'a Value,
    here: &'a Value,
}

impl<'a> SchemaShape<'a> {
    pub fn new(root: &'a Value) -> Self {
        Self { root, here: root }
    }

    fn at(self, here: &'a Value) -> Self {
        match here.get("$ref").and_then(Value::as_str) {
            Some(reference) => Self {
                root: self.root,
                here: &self.root["$defs"][reference.trim_start_matches("#/$defs/")],
            },
            None => Self {
                root: self.root,
                here,
            },
        }
    }

    /// The alternatives, or only itself.
    pub fn alternatives(self) -> Vec<Self> {
        match self.here.get("anyOf").and_then(Value::as_array) {
            Some(alternatives) => alternatives.iter().map(|one| self.at(one)).collect(),
            None => vec![self],
        }
    }

    /// JSON types that may stand here.
    pub fn types(self) -> Vec<&'a str> {
        match self.here.get("type") {
            Some(Value::Array(types)) => types.iter().filter_map(Value::as_str).collect(),
            Some(Value::String(name)) => vec![name],
            // An enumeration whose words have comments of their own.
            _ if self.words().is_some() => vec!["string"],
            _ => Vec::new(),
        }
    }

    /// The possible words, if only some may stand here.
    pub fn words(self) -> Option<Vec<&'a str>> {
        if let Some(words) = self.here.get("enum").and_then(Value::as_array) {
            return Some(words.iter().filter_map(Value::as_str).collect());
        }
        if let Some(word) = self.here.get("const").and_then(Value::as_str) {
            return Some(vec![word]);
        }
        let words = self.here.get("oneOf")?.as_array()?;
        words.iter().map(|word| word["const"].as_str()).collect()
    }

    /// The possible words with their meanings.
    pub fn described_words(self) -> Vec<(&'a str, &'a str)> {
        let words = self.here["oneOf"].as_array().into_iter().flatten();
        let described = words.filter_map(|word| {
            let meaning = word["description"].as_str().unwrap_or_default();
            Some((word["const"].as_str()?, meaning))
        });
        described.collect()
    }

    /// The keys of a table, or of all tables that may stand here.
    pub fn keys(self) -> impl Iterator<Item = &'a str> {
        let mut keys: Vec<&str> = Vec::new();
        for table in self.alternatives() {
            for (key, _) in table.entries() {
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
        keys.into_iter()
    }

    /// If the tables that may stand here are each of one kind: how messages speak of one of them.
    pub fn family(self) -> Option<&'a str> {
        self.here.get(FAMILY)?.as_str()
    }

    /// The keys of a table, with what stands under them.
    pub fn entries(self) -> impl Iterator<Item = (&'a str, Self)> {
        let properties = self.here["properties"].as_object().into_iter().flatten();
        properties.map(move |(key, inside)| (key.as_str(), self.at(inside)))
    }

    /// The keys that a table must have.
    pub fn required(self) -> impl Iterator<Item = &'a str> {
        let required = self.here["required"].as_array().into_iter().flatten();
        required.filter_map(Value::as_str)
    }

    /// Two keys that a table may not have at once.
    pub fn not_both(self) -> Option<[&'a str; 2]> {
        let keys = self.here["not"]["required"].as_array()?;
        let [first, second] = keys.as_slice() else {
            return None;
        };
        Some([first.as_str()?, second.as_str()?])
    }

    /// What stands under a key that the format knows, in the first alternative that has it.
    pub fn key(self, key: &str) -> Option<Self> {
        if self.here.get("anyOf").is_some() {
            return self.alternatives().into_iter().find_map(|one| one.key(key));
        }
        Some(self.at(self.here.get("properties")?.get(key)?))
    }

    /// The schema here.
    pub fn schema(self) -> &'a Value {
        self.here
    }

    /// The same without following a reference: description and default of the key itself.
    pub fn key_notes(self, key: &str) -> &'a Value {
        &self.here["properties"][key]
    }

    /// The keys of a table that had another name before, as (before, now).
    pub fn renamed_keys(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let properties = self.here["properties"].as_object().into_iter().flatten();
        properties.filter_map(|(key, notes)| Some((notes[FORMERLY].as_str()?, key.as_str())))
    }

    /// The possible words that had another spelling before, as (before, now).
    pub fn renamed_words(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let words = self.here["oneOf"].as_array().into_iter().flatten();
        words.filter_map(|word| Some((word[FORMERLY].as_str()?, word["const"].as_str()?)))
    }

    /// What stands under each name of a table whose keys are names.
    pub fn named(self) -> Option<Self> {
        let item = self.here.get("additionalProperties")?;
        item.is_object().then(|| self.at(item))
    }

    /// Whether the keys of a table are no names of their own but refer to ports.
    pub fn keys_are_ports(self) -> bool {
        self.here.get("propertyNames").is_some()
    }

    /// What an array holds.
    pub fn item(self) -> Option<Self> {
        Some(self.at(self.here.get("items")?))
    }

    /// Whether it is the very same place.
    pub fn is_same(self, other: Self) -> bool {
        std::ptr::eq(self.here, other.here)
    }

    /// What it is about.
    pub fn description(self) -> &'a str {
        self.here["description"].as_str().unwrap_or_default()
    }
}
