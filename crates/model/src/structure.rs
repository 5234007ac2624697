//! Checks a parsed file against the schema: known keys, types, required keys, possible values.
//!
//! What does not fit is reported and taken out of the tree, so that the rest can still be read
//! and checked further.

use std::collections::HashSet;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::format::TAGS;
use crate::problem::{Findings, Problem};
use crate::quantity;
use crate::schema::SchemaShape;
use crate::source::Span;

/// Checks the whole file.
pub(crate) fn check(tree: &mut DeTable<'_>, schema: &Value, findings: &mut Findings) {
    let parameters = tree
        .get("parameters")
        .and_then(|at| at.get_ref().as_table());
    let parameters = parameters.into_iter().flatten();
    let mut checker = StructureChecker {
        findings,
        path: Vec::new(),
        parameters: parameters
            .map(|(name, _)| name.get_ref().to_string())
            .collect(),
        about: String::new(),
    };
    // The file as a whole has no place of its own.
    checker.table(tree, &(0..0), SchemaShape::new(schema));
}

struct StructureChecker<'f> {
    findings: &'f mut Findings,
    path: Vec<String>,
    /// Names of all parameters.
    parameters: HashSet<String>,
    /// What the format says of the key whose value is looked at.
    about: String,
}

/// A table whose kind is unknown, which was reported.
struct UnknownKind;

/// Whether a value can be read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fit {
    Readable,
    Unreadable,
}

impl StructureChecker<'_> {
    fn value(&mut self, value: &mut Spanned<DeValue<'_>>, shape: SchemaShape<'_>) -> Fit {
        let span = value.span();
        if let (Some(_), DeValue::Table(table)) = (shape.family(), value.get_mut()) {
            self.of_family(table, &span, shape);
            return Fit::Readable;
        }
        let alternatives = shape.alternatives();
        let fitting = alternatives.iter().copied();
        let fitting = fitting.filter(|one| accepts(*one, value.get_ref()));
        let fitting: Vec<SchemaShape<'_>> = fitting.collect();
        let shape = match (&fitting[..], value.get_ref()) {
            ([], found) => {
                self.wrong_type(&span, found, &alternatives);
                return Fit::Unreadable;
            }
            ([first, _, ..], DeValue::Table(table)) => match self.of_kind(table, &fitting) {
                Ok(chosen) => chosen.unwrap_or(*first),
                Err(UnknownKind) => return Fit::Unreadable,
            },
            ([first, ..], _) => *first,
        };
        if let DeValue::String(text) = value.get_ref()
            && shape.types().contains(&"number")
        {
            match self.in_si_units(text, &span) {
                Ok(Some(number)) => {
                    *value.get_mut() = DeValue::String(format!("{number:e}").into());
                }
                Ok(None) => {}
                Err(problem) => {
                    self.findings.push(problem);
                    return Fit::Unreadable;
                }
            }
        }
        match value.get_mut() {
            DeValue::Table(table) => {
                self.table(table, &span, shape);
                Fit::Readable
            }
            DeValue::Array(items) => self.array(items, shape),
            DeValue::String(word) => self.word(word, &span, shape),
            _ => Fit::Readable,
        }
    }

    /// A number with a unit in SI units; nothing where the text is something else.
    fn in_si_units(&self, text: &str, span: &Span) -> Result<Option<f64>, Problem> {
        let problem = |message: String| Problem::new(span.clone(), message);
        if quantity::has_decimal_comma(text) {
            let message = format!("{} has a decimal comma: `{}`", self.name(), shortened(text));
            return Err(problem(message).help("write a decimal point"));
        }
        let Some(found) = quantity::quantity(text) else {
            return Ok(None);
        };
        let written = shortened(found.unit);
        if self.parameters.contains(found.unit) {
            let message = format!("`{written}` is a unit and also a parameter of this model");
            let help = format!("write `{}*{written}` for the parameter", found.number);
            return Err(problem(message).label("which one?").help(help));
        }
        let unit = found.parsed.map_err(|unknown| {
            let message = format!("unknown unit `{}`", shortened(&unknown.0));
            problem(message).label("unknown unit").help(quantity::HELP)
        })?;
        let expected = quantity::units_in(&self.about);
        if !expected.is_empty() && !expected.iter().any(|(_, known)| unit.fits(known)) {
            let words: Vec<&str> = expected.iter().map(|(word, _)| word.as_str()).collect();
            let message = format!("{} is given in {written}", self.name());
            let problem = problem(message).label("measures something else");
            return Err(problem.help(format!("it is measured in {}", words.join(" or "))));
        }
        Ok(Some(unit.convert(found.number)))
    }

    /// The one of several tables that may stand somewhere, by the word that names its kind.
    fn of_kind<'a>(
        &mut self,
        table: &DeTable<'_>,
        alternatives: &[SchemaShape<'a>],
    ) -> Result<Option<SchemaShape<'a>>, UnknownKind> {
        for tag in TAGS {
            let words_of = |one: &SchemaShape<'a>| one.key(tag).and_then(|tag| tag.words());
            let words: Vec<&str> = alternatives.iter().filter_map(words_of).flatten().collect();
            if words.is_empty() {
                continue;
            }
            let Some(given) = table.get(tag) else {
                let untagged = alternatives.iter().find(|one| one.key(tag).is_none());
                return Ok(untagged.copied());
            };
            let DeValue::String(word) = given.get_ref() else {
                return Ok(None);
            };
            let has_it = |one: &&SchemaShape<'a>| {
                words_of(one).is_some_and(|words| words.contains(&word.as_ref()))
            };
            if let Some(found) = alternatives.iter().find(has_it) {
                return Ok(Some(*found));
            }
            self.path.push(tag.to_owned());
            self.unknown_word(word, &given.span(), &words);
            self.path.pop();
            return Err(UnknownKind);
        }
        Ok(None)
    }

    /// A table of one of several kinds. What has no kind may have the keys of all of them.
    fn of_family(&mut self, table: &mut DeTable<'_>, span: &Span, family: SchemaShape<'_>) {
        let tables = family.alternatives();
        let has_word = |tag: &&str| table.contains_key(*tag) && family.key(tag).is_some();
        let kind = match TAGS.iter().any(has_word) {
            true => self.of_kind(table, &tables),
            false => Ok(self.of_key(table, span, &tables)),
        };
        match kind {
            Ok(Some(kind)) => self.table_in(table, span, kind, Some(family)),
            Ok(None) => self.table_in(table, span, family, None),
            Err(UnknownKind) => {
                TAGS.iter().for_each(|tag| drop(table.remove(*tag)));
                self.findings.damage(span);
                self.table_in(table, span, family, None);
            }
        }
    }

    /// The one of several tables whose first required key is there, if it is the only one. Where all have a word for
    /// their kind, that is missing.
    fn of_key<'a>(
        &mut self,
        table: &DeTable<'_>,
        span: &Span,
        tables: &[SchemaShape<'a>],
    ) -> Option<SchemaShape<'a>> {
        let words = |one: &SchemaShape<'a>| {
            let words = TAGS.iter().find_map(|tag| one.key(tag)?.words());
            words.unwrap_or_default()
        };
        let (tagged, keyed): (Vec<_>, Vec<_>) = tables
            .iter()
            .copied()
            .partition(|one| !words(one).is_empty());
        if keyed.is_empty() {
            let words: Vec<&str> = tagged.iter().flat_map(words).collect();
            let tag = TAGS[0];
            self.missing_key(span, tag, write_one_of(tag, &words));
        }
        let is_there = |one: &SchemaShape<'a>| {
            let key = one.required().next();
            key.is_some_and(|key| table.contains_key(key))
        };
        let mut there = keyed.into_iter().filter(is_there);
        let first = there.next();
        first.filter(|_| there.next().is_none())
    }

    fn wrong_type(&mut self, span: &Span, found: &DeValue<'_>, expected: &[SchemaShape<'_>]) {
        let expected: Vec<_> = expected.iter().flat_map(|one| one.types()).collect();
        let expected = expectation(&expected);
        let message = format!("{} must be {expected}", self.name());
        let label = format!("this is {}", kind_of(found));
        self.findings.report(span, message).label(label);
    }

    fn word(&mut self, word: &str, span: &Span, shape: SchemaShape<'_>) -> Fit {
        let Some(words) = shape.words() else {
            return Fit::Readable;
        };
        if words.contains(&word) {
            return Fit::Readable;
        }
        self.unknown_word(word, span, &words);
        Fit::Unreadable
    }

    fn unknown_word(&mut self, word: &str, span: &Span, words: &[&str]) {
        let message = format!("{} cannot be `{}`", self.name(), shortened(word));
        let all = words.iter().map(|word| format!("`{word}`"));
        let all = all.collect::<Vec<_>>().join(", ");
        self.findings
            .report(span, message)
            .label("unknown value")
            .help(format!("possible are {all}"))
            .suggest(word, words.iter().copied());
    }

    fn array(&mut self, items: &mut [Spanned<DeValue<'_>>], shape: SchemaShape<'_>) -> Fit {
        let Some(shape) = shape.item() else {
            return Fit::Readable;
        };
        let mut fit = Fit::Readable;
        for item in items {
            if self.value(item, shape) == Fit::Unreadable && !self.clear_table(item, shape) {
                fit = Fit::Unreadable;
            }
        }
        fit
    }

    /// Puts an empty table where a table should be, so that its name stays known.
    fn clear_table(&mut self, value: &mut Spanned<DeValue<'_>>, shape: SchemaShape<'_>) -> bool {
        let mut alternatives = shape.alternatives().into_iter();
        let is_table = alternatives.all(|one| one.types() == ["object"]);
        if is_table {
            self.findings.damage(&value.span());
            *value.get_mut() = DeValue::Table(DeTable::new());
        }
        is_table
    }

    fn table(&mut self, table: &mut DeTable<'_>, span: &Span, shape: SchemaShape<'_>) {
        self.table_in(table, span, shape, None);
    }

    /// A table that may be one of a family.
    fn table_in(
        &mut self,
        table: &mut DeTable<'_>,
        span: &Span,
        shape: SchemaShape<'_>,
        family: Option<SchemaShape<'_>>,
    ) {
        let mut unreadable = Vec::new();
        let mut useless = Vec::new();
        for (key, value) in table.iter_mut() {
            let name = key.get_ref().as_ref();
            let (inside, is_name) = match (shape.key(name), shape.named()) {
                (Some(inside), _) => (inside, false),
                (None, Some(inside)) => (inside, true),
                (None, None) => {
                    match family.filter(|family| family.key(name).is_some()) {
                        // It is not the table that is broken.
                        Some(family) => {
                            self.useless_key(&value.span(), name, family);
                            useless.push(name.to_owned());
                        }
                        None => {
                            self.unknown_key(&key.span(), name, shape);
                            unreadable.push(name.to_owned());
                        }
                    }
                    continue;
                }
            };
            self.path.push(name.to_owned());
            let about = match is_name {
                true => String::new(),
                false => description(shape.key_notes(name)).to_owned(),
            };
            let before = std::mem::replace(&mut self.about, about);
            let fit = self.value(value, inside);
            self.about = before;
            self.path.pop();
            if fit == Fit::Unreadable && !(is_name && self.clear_table(value, inside)) {
                unreadable.push(name.to_owned());
            }
        }
        self.missing_keys(table, span, shape);
        let has_too_many = self.keys_too_many(table, shape);
        if has_too_many || !unreadable.is_empty() {
            self.findings.damage(span);
        }
        for key in unreadable.into_iter().chain(useless) {
            table.remove(key.as_str());
        }
    }

    /// A key that other tables of a family have.
    fn useless_key(&mut self, span: &Span, key: &str, family: SchemaShape<'_>) {
        let each = family.family().unwrap_or_default();
        let message = format!("`{key}` has no meaning for {each}");
        self.findings.report(span, message).label("not used");
    }

    fn unknown_key(&mut self, span: &Span, key: &str, shape: SchemaShape<'_>) {
        let message = format!("unknown key `{}` in {}", shortened(key), self.table_name());
        let all = shape.keys().map(|key| format!("`{key}`"));
        let all = all.collect::<Vec<_>>().join(", ");
        self.findings
            .report(span, message)
            .label("unknown key")
            .help(format!("possible are {all}"))
            .suggest(key, shape.keys());
    }

    fn missing_keys(&mut self, table: &DeTable<'_>, span: &Span, shape: SchemaShape<'_>) {
        for key in shape.required().filter(|key| !table.contains_key(*key)) {
            self.missing_key(span, key, what_to_write(shape, key));
        }
    }

    fn missing_key(&mut self, span: &Span, key: &str, help: String) {
        let message = format!("`{key}` is missing from {}", self.table_name());
        let label = format!("has no `{key}`");
        self.findings.report(span, message).label(label).help(help);
    }

    /// Tells two keys that say the same thing: in the schema `not` has them as required ones.
    fn keys_too_many(&mut self, table: &DeTable<'_>, shape: SchemaShape<'_>) -> bool {
        let Some([first, second]) = shape.not_both() else {
            return false;
        };
        let (true, Some(value)) = (table.contains_key(first), table.get(second)) else {
            return false;
        };
        let message = format!("`{first}` and `{second}` say the same thing: give one of them");
        self.findings
            .report(&value.span(), message)
            .label("one too many");
        true
    }

    fn name(&self) -> String {
        format!("`{}`", shortened(&self.path.join(".")))
    }

    fn table_name(&self) -> String {
        if self.path.is_empty() {
            return "the file".into();
        }
        self.name()
    }
}

/// What a key that is missing is for: its possible values, or its description.
fn what_to_write(shape: SchemaShape<'_>, key: &str) -> String {
    let alternatives = shape.key(key).map(SchemaShape::alternatives);
    let words = alternatives
        .into_iter()
        .flatten()
        .find_map(SchemaShape::words);
    if let Some(words) = words {
        return write_one_of(key, &words);
    }
    let notes = shape.key_notes(key)["description"]
        .as_str()
        .unwrap_or_default();
    let about = notes.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = about.find(". ").map_or(about.len(), |end| end + 1);
    match &about[..end] {
        "" => format!("write `{key} = ...`"),
        about => format!("write `{key} = ...`: {about}"),
    }
}

fn write_one_of(key: &str, words: &[&str]) -> String {
    let all = words.iter().map(|word| format!("\"{word}\""));
    let all = all.collect::<Vec<_>>().join(", ");
    format!("write `{key} = ...` with one of {all}")
}

fn accepts(shape: SchemaShape<'_>, value: &DeValue<'_>) -> bool {
    let fits = |name: &str| match value {
        DeValue::String(_) => name == "string",
        DeValue::Integer(_) => name == "integer" || name == "number",
        DeValue::Float(_) => name == "number",
        DeValue::Boolean(_) => name == "boolean",
        DeValue::Array(_) => name == "array",
        DeValue::Table(_) => name == "object",
        DeValue::Datetime(_) => false,
    };
    shape.types().into_iter().any(fits)
}

/// The expected types in words.
fn expectation(types: &[&str]) -> String {
    let has = |name| types.contains(&name);
    let mut words = Vec::new();
    if has("integer") {
        words.push("a whole number");
    }
    if has("number") {
        words.push("a number");
    }
    if has("string") {
        let numeric = has("integer") || has("number");
        words.push(if numeric {
            "an expression in quotes"
        } else {
            "a string in quotes"
        });
    }
    if has("boolean") {
        words.push("true or false");
    }
    if has("array") {
        words.push("a list in brackets");
    }
    if has("object") {
        words.push("a table");
    }
    words.join(" or ")
}

fn kind_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number",
        DeValue::Boolean(_) => "true or false",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

/// What the schema says of a key.
fn description(notes: &Value) -> &str {
    notes["description"].as_str().unwrap_or_default()
}

/// No message repeats a page of text.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
