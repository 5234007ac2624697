//! The schema of the format with the tables of extensions in it.

use std::sync::Arc;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Extensions, Kind, Kinds, foreign};
use crate::format::TAGS;
use crate::schema::{FORMERLY, SchemaShape, forget_null, shared};

/// Keys that all subsystems have.
pub(super) const HEAD: [&str; 4] = ["every", "micro_steps", "micro_step", "predictor"];

/// The schema of a type, complete in itself.
pub(super) fn of_type<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    schema.to_value()
}

/// The schema of a table with these keys, or why there is none.
pub(super) fn of_table(name: &str, mut schema: Value) -> Result<Value, String> {
    forget_null(&mut schema);
    let is_unit = schema["type"] == "null" || schema["type"].is_null();
    if is_unit && schema.get("properties").is_none() {
        schema = json!({ "description": schema["description"].as_str().unwrap_or_default() });
    }
    let Some(object) = schema.as_object_mut() else {
        return Err(format!(
            "the keys of `{name}` are not described by an object"
        ));
    };
    object.insert("type".into(), "object".into());
    object.insert("additionalProperties".into(), false.into());
    object.remove("title");
    let properties = object.entry("properties").or_insert(json!({}));
    let mut reserved = TAGS.iter().chain(&HEAD);
    match reserved.find(|key| properties.get(key).is_some()) {
        Some(key) => Err(format!(
            "a table of `{name}` cannot have a key `{key}` of its own"
        )),
        None => Ok(schema),
    }
}

/// The format's own predictors.
pub(super) fn predictor_words() -> Vec<String> {
    let schedule = SchemaShape::new(shared()).key("schedule");
    all_words(schedule.and_then(|shape| shape.key("predictor")?.key("kind")))
}

/// The format's own sections, and what they were called before.
pub(super) fn section_words() -> Vec<String> {
    let file = SchemaShape::new(shared());
    let former = file.renamed_keys().map(|(before, _)| before);
    file.keys().chain(former).map(str::to_owned).collect()
}

fn all_words(shape: Option<SchemaShape<'_>>) -> Vec<String> {
    let shape = shape.expect("the format has it");
    let former = shape.renamed_words().map(|(before, _)| before);
    let words = shape.words().unwrap_or_default().into_iter();
    words.chain(former).map(str::to_owned).collect()
}

/// The schema of files that may use these kinds.
pub(super) fn extended(extensions: &Extensions) -> Value {
    let mut schema = shared().clone();
    let mechanism = &mut schema["$defs"]["Multibody"]["properties"];
    if !extensions.elements.is_empty() {
        mechanism["elements"] = json!({
            "description": "Elements of registered kinds, by name.",
            "type": "object",
            "additionalProperties": { "anyOf": tagged(&extensions.elements, "type") },
        });
    }
    add_tables(
        &mut mechanism["joints"],
        tagged(foreign(&extensions.joints), "type"),
    );
    add_tables(
        &mut mechanism["sensors"],
        tagged(foreign(&extensions.sensors), "type"),
    );
    let head = Map::from_iter(HEAD.map(|key| (key.to_owned(), mechanism[key].clone())));
    for kind in &extensions.subsystems {
        let mut table = with_expressions(&kind.schema);
        let keys = table["properties"].as_object_mut().expect("a table");
        keys.extend(head.clone());
        schema["properties"][&kind.name] = json!({
            "description": format!("Subsystems of the registered kind `{}`, by name.", kind.name),
            "type": "object",
            "additionalProperties": table,
        });
    }
    add_predictors(&mut schema, extensions);
    schema
}

/// Further tables of a family.
fn add_tables(named: &mut Value, tables: Vec<Value>) {
    let own = &mut named["additionalProperties"]["anyOf"];
    own.as_array_mut().expect("tables").extend(tables);
}

/// Marks tables of which each is of one kind: that they are a family, and how messages speak of one of them.
pub(crate) const FAMILY: &str = "x-family";

/// Tables of names whose items are of the format's own kinds; `each` is how messages speak of one.
pub(crate) fn family<M: ?Sized>(
    kinds: &Kinds<M>,
    each: &str,
    generator: &mut SchemaGenerator,
) -> Schema {
    let own = kinds
        .iter()
        .filter_map(|kind| Some((kind, kind.own.as_ref()?)));
    let tables: Vec<Value> = own
        .map(|(kind, own)| {
            let table = (own.describe)(generator).to_value();
            match own.is_key {
                true => table,
                false => with_own_tag(&kind.name, own.formerly, table),
            }
        })
        .collect();
    json_schema!({
        "type": "object",
        "additionalProperties": { FAMILY: each, "anyOf": tables },
    })
}

/// A table with the key of what its kind is for.
pub(super) fn with_key((key, about): (&str, &str), value: Schema, table: Schema) -> Schema {
    let mut value = value.to_value();
    value["description"] = about.into();
    let mut table = table.to_value();
    first_key(&mut table, key, value);
    table.try_into().expect("a table")
}

/// A table of a kind of the format with the word that names it.
fn with_own_tag(name: &str, formerly: Option<&str>, mut table: Value) -> Value {
    let mut word = json!({ "const": name, "description": table["description"] });
    if let Some(formerly) = formerly {
        word[FORMERLY] = formerly.into();
    }
    let tag = json!({ "description": "What it is.", "oneOf": [word] });
    first_key(&mut table, "type", tag);
    table
}

/// Puts a key before the others, which a table must have.
fn first_key(table: &mut Value, key: &str, value: Value) {
    let mut keys = Map::from_iter([(key.to_owned(), value)]);
    if let Some(own) = table["properties"].as_object_mut() {
        keys.append(own);
    }
    table["properties"] = keys.into();
    let table = table.as_object_mut().expect("a table");
    let required = table.entry("required").or_insert(json!([]));
    let required = required.as_array_mut().expect("a list");
    required.insert(0, key.into());
}

/// Words and tables beside those of the format's own predictors.
fn add_predictors(schema: &mut Value, extensions: &Extensions) {
    if extensions.predictors.is_empty() {
        return;
    }
    let mut words = schema["$defs"]["PredictorKind"].clone();
    for kind in &extensions.predictors {
        let word = json!({ "const": kind.name, "description": kind.schema["description"] });
        words["oneOf"].as_array_mut().expect("words").push(word);
    }
    let mut alternatives = tagged(&extensions.predictors, "kind");
    alternatives.insert(0, json!({ "$ref": "#/$defs/PredictorSettings" }));
    alternatives.insert(0, words);
    schema["$defs"]["Predictor"]["anyOf"] = alternatives.into();
}

/// The tables of some kinds, each with the key that names its kind.
fn tagged<'k, M: ?Sized + 'k>(
    kinds: impl IntoIterator<Item = &'k Arc<Kind<M>>>,
    tag: &str,
) -> Vec<Value> {
    let table = |kind: &'k Arc<Kind<M>>| {
        let mut table = with_expressions(&kind.schema);
        let word = json!({ "const": kind.name, "description": "What it is." });
        first_key(&mut table, tag, word);
        table
    };
    kinds.into_iter().map(table).collect()
}

/// The schema as files see it: wherever a number is expected, an expression may stand.
fn with_expressions(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(with_expressions).collect(),
        Value::Object(object) => {
            let mut object: Map<String, Value> = object
                .iter()
                .map(|(key, value)| (key.clone(), with_expressions(value)))
                .collect();
            object.remove("format");
            if let Some(Value::String(name)) = object.get("type")
                && (name == "number" || name == "integer")
            {
                let both = json!([name, "string"]);
                object.insert("type".into(), both);
            }
            Value::Object(object)
        }
        other => other.clone(),
    }
}
