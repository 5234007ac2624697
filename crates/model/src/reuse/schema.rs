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
/// others need not be complete by itself.
pub(crate) fn allow_everywhere(schema: &mut Value) {
    let uses = uses();
    add_to_tables(schema, &[(USE, &uses), (REPEAT, &repeat())]);
    let file = schema.as_object_mut().expect("a schema is an object");
    // A file is repeated nowhere.
    if let Some(Value::Object(keys)) = file.get_mut("properties") {
        keys.remove(REPEAT);
    }
    if let Some(required) = file.remove("required") {
        let complete = json!({ "required": required });
        file.insert("anyOf".into(), json!([complete, { "required": [INCLUDE] }]));
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
