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
            if item.family().is_some() {
                let about = description(shape.key_notes(key));
                family(page, &path, item, about, written);
                continue;
            }
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

/// One key of a family of tables: where it is described, and which kinds have it.
struct Row<'a> {
    key: &'a str,
    table: SchemaShape<'a>,
    kinds: Vec<&'a str>,
}

/// One section for tables of which each is of a kind of the format: all their keys, with the kinds that have each.
/// Tables of other crates have sections of their own.
fn family<'a>(
    page: &mut String,
    path: &str,
    shape: SchemaShape<'a>,
    about: &str,
    written: &mut Vec<SchemaShape<'a>>,
) {
    let all = tables(shape);
    let (own, others): (Vec<_>, Vec<_>) = all.partition(|table| kind_of(*table).is_none());
    // Keys of the same meaning share a row.
    let mut rows: Vec<Row<'a>> = Vec::new();
    for &table in &own {
        for key in table.keys() {
            let meaning = |table: SchemaShape<'a>| description(table.key_notes(key));
            let is_it = |row: &&mut Row<'a>| row.key == key && meaning(row.table) == meaning(table);
            match rows.iter_mut().find(is_it) {
                Some(row) => row.kinds.push(word_of(table)),
                None => rows.push(Row {
                    key,
                    table,
                    kinds: vec![word_of(table)],
                }),
            }
        }
    }
    // What tells the kind comes first.
    rows.sort_by_key(|row| row.kinds != [row.key]);
    page.push_str(&format!("\n## `[{path}]`\n\n{}\n\n", one_line(about)));
    page.push_str("| Key | Type | Default | Meaning |\n|---|---|---|---|\n");
    let words_of_all: Vec<&str> = own.iter().map(|table| word_of(*table)).collect();
    for Row { key, table, kinds } in &rows {
        let notes = table.key_notes(key);
        let required = kinds[..] != [*key] && table.required().any(|required| required == *key);
        let (default, kind) = (default(notes, required), kind_at(*table, key));
        let with = which(key, kinds, &words_of_all);
        let meaning = one_line(description(notes));
        page.push_str(&format!(
            "| `{key}` | {kind} | {default} | {with}{meaning} |\n"
        ));
    }
    let tags = own.iter().filter_map(|table| table.key(TAGS[0]));
    possible(
        page,
        TAGS[0],
        tags.flat_map(SchemaShape::described_words).collect(),
    );
    for (at, row) in rows.iter().enumerate() {
        let is_first = rows[..at].iter().all(|other| other.key != row.key);
        if let (true, true, Some(inside)) = (is_first, row.key != TAGS[0], row.table.key(row.key)) {
            words(page, row.key, inside);
        }
    }
    for table in own {
        subsections(page, path, table, written);
    }
    for table in others {
        let title = format!("`[{path}]` with {}", kind_of(table).unwrap_or_default());
        section(page, &title, table, table.description());
        subsections(page, path, table, written);
    }
}

/// What tells the kind of a table of the format: its word, or its first key.
fn word_of(table: SchemaShape<'_>) -> &str {
    let word = table
        .key(TAGS[0])
        .and_then(|tag| tag.words()?.first().copied());
    word.or(table.required().next()).unwrap_or_default()
}

/// With which kinds a key goes, if not with all.
fn which(key: &str, kinds: &[&str], all: &[&str]) -> String {
    let list = |kinds: &[&str]| -> String {
        let kinds: Vec<String> = kinds.iter().map(|kind| format!("`{kind}`")).collect();
        kinds.join(", ")
    };
    let others: Vec<&str> = all
        .iter()
        .copied()
        .filter(|one| !kinds.contains(one))
        .collect();
    match others.len() {
        0 => String::new(),
        _ if kinds == [key] => String::new(),
        few if few < kinds.len() => format!("Not with {}: ", list(&others)),
        _ => format!("With {}: ", list(kinds)),
    }
}

/// The type of what stands under a key.
fn kind_at(table: SchemaShape<'_>, key: &str) -> String {
    table.key(key).map(kind).unwrap_or_default()
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
    possible(
        page,
        key,
        alternatives
            .flat_map(SchemaShape::described_words)
            .collect(),
    );
}

/// Words with their meanings.
fn possible(page: &mut String, key: &str, words: Vec<(&str, &str)>) {
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
