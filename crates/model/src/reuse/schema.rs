//! The keys of reuse in the schema.
//!
//! Files are checked after everything was written out, so that the keys have no place in the format's
//! types. Editors see the file as it is written.

use serde_json::{Map, Value, json};

use super::{INCLUDE, REPEAT, SET, TEMPLATE, USE, WITH};

/// Adds the keys of the file itself.
pub(crate) fn add_keys(schema: &mut Value) {
    let names = |description: &str| {
        json!({
            "description": description,
            "anyOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" } },
            ],
        })
    };
    schema["properties"][INCLUDE] = names(
        "Files that are part of this model: a path or several, from the folder of this file. What this \
         file says itself goes over what it includes.",
    );
    schema["properties"][WITH] =
        names("Sets of changes that hold, by name; on the command line `--with NAME`.");
    schema["properties"][SET] = json!({
        "description": "Named sets of changes: keys and values as for `--set`, a bare name is a \
                        parameter. They hold where `with` chooses them.",
        "type": "object",
        "additionalProperties": { "type": "object" },
    });
    schema["properties"][TEMPLATE] = json!({
        "description": "Tables that are written once and used several times, by name.",
        "type": "object",
        "additionalProperties": {
            "description": "A template: what it is given, and the tables and keys that stand in the \
                            model wherever it is used. In keys and strings `{parameter}` is what is \
                            given, and `{name}` the name under which it is used.",
            "type": "object",
            "properties": {
                "parameters": {
                    "description": "Names of what must be given, and tables of names with what stands \
                                    there otherwise, such as `[\"mass\", { stiffness = 2e5 }]`.",
                    "anyOf": [
                        { "type": "array", "items": { "type": ["string", "object"] } },
                        { "type": "object" },
                    ],
                },
            },
        },
    });
    schema["properties"][USE] = uses();
}

fn uses() -> Value {
    json!({
        "description": "Uses of templates, by name; in any table, into which they are written.",
        "type": "object",
        "additionalProperties": {
            "description": "A use of a template, with what it is given beside these keys.",
            "type": "object",
            "properties": {
                "template": { "description": "Which one.", "type": "string" },
                "repeat": repeat(),
            },
            "required": [TEMPLATE],
        },
    })
}

fn repeat() -> Value {
    json!({
        "description": "How often this is written, in any named table or item of a list: for each \
                        variable a count, `\"first:last\"`, `\"first:last:step\"` or a list of values; \
                        several make all combinations. In keys and strings `{i}` is the value of `i`, \
                        `{i + 1}` is computed.",
        "type": "object",
        "additionalProperties": { "type": ["integer", "string", "array"], "items": {} },
    })
}

/// Lets templates be used, and things be repeated, wherever a table may stand; and a file that includes
/// others, and all tables in it, need not be complete by themselves.
pub(crate) fn allow_everywhere(schema: &mut Value) {
    let uses = uses();
    add_to_tables(schema, &[(USE, &uses), (REPEAT, &repeat())]);
    let file = schema.as_object_mut().expect("a schema is an object");
    // A file is repeated nowhere.
    if let Some(Value::Object(keys)) = file.get_mut("properties") {
        keys.remove(REPEAT);
    }
    let mut complete = schema.clone();
    refer_inside(&mut complete);
    allow_pieces(schema);
    // Editors find descriptions in the first schema, and what is missing in the second.
    schema["$defs"][COMPLETE] = complete;
    schema["if"] = json!({ "not": { "required": [INCLUDE] } });
    schema["then"] = json!({ "$ref": format!("#/$defs/{COMPLETE}") });
}

/// The schema of a file that includes no others.
const COMPLETE: &str = "complete";

/// Lets references of a schema stay true where it is the one of a complete file.
fn refer_inside(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(refer_inside),
        Value::Object(object) => {
            for (key, inside) in object {
                match inside {
                    Value::String(place) if key == "$ref" => {
                        *place = place.replacen('#', &format!("#/$defs/{COMPLETE}"), 1);
                    }
                    inside => refer_inside(inside),
                }
            }
        }
        _ => {}
    }
}

/// Requires no keys: what a table lacks may stand in an included file.
fn allow_pieces(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(allow_pieces),
        Value::Object(object) => {
            if object.get("required").is_some_and(Value::is_array) {
                object.remove("required");
            }
            // A table without the key that tells alternatives apart may be any of them.
            if object.get("oneOf").is_some_and(Value::is_array)
                && let Some(alternatives) = object.remove("oneOf")
            {
                object.insert("anyOf".into(), alternatives);
            }
            let inside = object.iter_mut().filter(|(key, _)| *key != "not");
            inside.for_each(|(_, inside)| allow_pieces(inside));
        }
        _ => {}
    }
}

fn add_to_tables(schema: &mut Value, keys: &[(&str, &Value)]) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(|item| add_to_tables(item, keys)),
        Value::Object(object) => {
            object
                .values_mut()
                .for_each(|inside| add_to_tables(inside, keys));
            let is_closed = object.get("additionalProperties") == Some(&Value::Bool(false));
            if let (true, Some(Value::Object(properties))) =
                (is_closed, object.get_mut("properties"))
            {
                let new = keys
                    .iter()
                    .filter(|(key, _)| !properties.contains_key(*key));
                let new: Map<String, Value> = new
                    .map(|(key, value)| ((*key).to_owned(), (*value).clone()))
                    .collect();
                properties.extend(new);
            }
        }
        _ => {}
    }
}
