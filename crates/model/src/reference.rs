//! The reference page of the format, written from the schema.

use oldham_expression::FUNCTIONS;
use serde_json::Value;

use crate::format::TAGS;
use crate::range::Range;
use crate::schema::{SchemaShape, described, shared};

const INTRODUCTION: &str = "\
# Model file reference

A model is a [TOML](https://toml.io) file. All quantities are in SI units. Wherever a number is
expected, a string with an expression of the parameters may stand instead, such as
`\"sqrt(k1 / m1)\"`, or a number with a unit, such as `\"300 kg\"` or `\"2 kN/mm\"`. Names of subsystems, nodes, elements and ports have letters, digits, `_` and
`-`, and start with a letter or `_`; names of parameters have no `-`.

This page is written from the same description that files are checked against.
";

/// The reference page of the model format, in Markdown: for every table its keys, their types,
/// defaults and meanings.
pub fn reference_markdown() -> String {
    markdown(&described(shared()))
}

/// The same for any schema.
pub(crate) fn markdown(schema: &Value) -> String {
    let root = SchemaShape::new(schema);
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&expressions());
    section(&mut page, "The file", root, root.description());
    let mut written = Vec::new();
    subsections(&mut page, "", root, &mut written);
    page
}

fn expressions() -> String {
    let functions = FUNCTIONS.map(|name| format!("`{name}`")).join(", ");
    format!(
        "\n## Expressions\n\n\
         Operators are `+`, `-`, `*`, `/` and `^`, with parentheses; constants are `pi` and `e`. \
         Comparisons `<`, `<=`, `>`, `>=`, `==` and `!=`, joined by `and`, `or` and `not`, are 1 \
         where they hold and 0 elsewhere. \
         The functions are {functions}. Angles are in rad, `log` is the natural logarithm, \
         `sgn(0)` is 0, `step` is 0 below 0 and 1 from 0 on, \
         `if(condition, yes, no)` is one of two, `clamp(x, low, high)` limits x, \
         `deadzone(x, low, high)` is what is left beyond the limits, and `mod` has the sign of its \
         second argument. Each `[table]` is a function too. Laws of lumped springs may use \
         the elongation `d`, its rate `v` and the time `t`, loads, excitations and other time \
         functions the time `t`; all may use parameters.\n"
    )
}

/// A section for each table inside a table. A table that may stand in several places is written
/// where it occurs first.
fn subsections<'a>(
    page: &mut String,
    path: &str,
    shape: SchemaShape<'a>,
    written: &mut Vec<SchemaShape<'a>>,
) {
    for (key, inside) in shape.entries() {
        let path = match path {
            "" => key.to_owned(),
            _ => format!("{path}.{key}"),
        };
        if let Some(item) = inside.named() {
            let path = match inside.keys_are_ports() {
                true => format!("{path}.\"<subsystem>.<port>\""),
                false => format!("{path}.<name>"),
            };
            for table in tables(item) {
                let title = match kind_of(table) {
                    Some(kind) => format!("`[{path}]` with {kind}"),
                    None => format!("`[{path}]`"),
                };
                section(page, &title, table, table.description());
                subsections(page, &path, table, written);
            }
            continue;
        }
        let item = inside.item();
        let title = match item.unwrap_or(inside).alternatives().len() {
            1 if item.is_some() => format!("`[[{path}]]`"),
            1 => format!("`[{path}]`"),
            _ => format!("Tables in `{path}`"),
        };
        for table in tables(item.unwrap_or(inside)) {
            if written.iter().any(|other| other.is_same(table)) {
                continue;
            }
            written.push(table);
            // Within something that has a name, the same table may stand under several keys.
            let about = match item {
                None if !path.contains("<name>") => description(shape.key_notes(key)),
                _ => table.description(),
            };
            section(page, &title, table, about);
            if item.is_none() {
                subsections(page, &path, table, written);
            }
        }
    }
}

fn section(page: &mut String, title: &str, shape: SchemaShape<'_>, about: &str) {
    page.push_str(&format!("\n## {title}\n\n{}\n\n", one_line(about)));
    page.push_str("| Key | Type | Default | Meaning |\n|---|---|---|---|\n");
    for (key, inside) in shape.entries() {
        let notes = shape.key_notes(key);
        let required = shape.required().any(|required| required == key);
        let (kind, default) = (kind(inside), default(notes, required));
        let meaning = one_line(description(notes));
        page.push_str(&format!("| `{key}` | {kind} | {default} | {meaning} |\n"));
    }
    for (key, inside) in shape.entries() {
        words(page, key, inside);
    }
}

/// The word that names the kind of a table of an extension.
fn kind_of(table: SchemaShape<'_>) -> Option<String> {
    let tag = TAGS.iter().find_map(|tag| Some((tag, table.key(tag)?)));
    let (tag, shape) = tag?;
    let word = shape.schema()["const"].as_str()?;
    Some(format!("`{tag} = \"{word}\"`"))
}

/// The meanings of the values of an enumeration.
fn words(page: &mut String, key: &str, shape: SchemaShape<'_>) {
    let alternatives = shape.alternatives().into_iter();
    let words: Vec<_> = alternatives
        .flat_map(SchemaShape::described_words)
        .collect();
    if !words.is_empty() {
        page.push_str(&format!("\nPossible values of `{key}`:\n\n"));
    }
    for (word, meaning) in words {
        page.push_str(&format!("- `\"{word}\"`: {}\n", one_line(meaning)));
    }
}

fn tables(shape: SchemaShape<'_>) -> impl Iterator<Item = SchemaShape<'_>> {
    let alternatives = shape.alternatives().into_iter();
    alternatives.filter(|one| one.keys().next().is_some())
}

/// The type of what stands at a place.
fn kind(shape: SchemaShape<'_>) -> String {
    kinds(shape, "")
}

/// The same for one (`ending` is empty) or several.
fn kinds(shape: SchemaShape<'_>, ending: &str) -> String {
    if shape.words().is_some() {
        return format!("enum{ending}");
    }
    if let Some(item) = shape.named() {
        let key = match shape.keys_are_ports() {
            true => "port",
            false => "name",
        };
        return format!("table{ending} of {} by {key}", kinds(item, "s"));
    }
    if let Some(item) = shape.item() {
        return format!("list{ending} of {}", kinds(item, "s"));
    }
    let alternatives = shape.alternatives();
    if alternatives.len() > 1 {
        let mut all: Vec<String> = alternatives.iter().map(|one| kinds(*one, ending)).collect();
        all.dedup();
        return all.join(", or ");
    }
    match shape.types()[..] {
        [number @ ("number" | "integer"), "string"] => {
            let range = Range::of(shape.schema()).signs();
            format!("{number}{ending}{range} or expression{ending}")
        }
        ["string"] => format!("string{ending}"),
        ["boolean"] => format!("boolean{ending}"),
        _ => format!("table{ending}"),
    }
}

fn default(notes: &Value, required: bool) -> String {
    match &notes["default"] {
        Value::Null if required => "required".into(),
        Value::Null => String::new(),
        value => format!("`{value}`"),
    }
}

fn description(notes: &Value) -> &str {
    notes["description"].as_str().unwrap_or_default()
}

/// Comments are wrapped in the source; a table has one line a row.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
