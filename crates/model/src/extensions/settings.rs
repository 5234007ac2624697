//! The table of an extension: its expressions become numbers, then it becomes the extension's type.

use std::collections::HashMap;
use std::ops::Range as Place;

use serde::de::DeserializeOwned;
use serde_json::Value as Schema;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, Deserializer};

use super::site::Reports;
use crate::format::{At, Formula, Setting, Value};
use crate::problem::Problem;
use crate::range::Range;
use crate::schema::SchemaShape;

/// Numbers differ from whole ones by at most this, from rounding in an expression.
const WHOLE: f64 = 1e-9;

/// A table that was checked against the schema of its kind.
pub(crate) struct Settings<'s> {
    pub table: &'s [Setting],
    pub schema: &'s Schema,
    pub place: Place<usize>,
}

type Entries = Vec<Setting>;

impl Settings<'_> {
    /// The table as a value of a type; what is wrong with it is reported.
    pub fn read<T: DeserializeOwned>(&self, reports: &mut impl Reports) -> Option<T> {
        let entries = self.evaluated(reports)?;
        let mut texts = Vec::new();
        entries
            .iter()
            .for_each(|(_, at)| number_texts(&at.value, &mut texts));
        let table = built(&entries, &mut texts.iter());
        let table = Spanned::new(self.place.clone(), table);
        match T::deserialize(Deserializer::from(table)) {
            Ok(settings) => Some(settings),
            Err(error) => {
                let place = error.span().unwrap_or(self.place.clone());
                reports.report(Problem::new(place, error.message()));
                None
            }
        }
    }

    /// What stands under one key.
    pub fn value<T: DeserializeOwned>(&self, key: &str, reports: &mut impl Reports) -> Option<T> {
        let entry = self.table.iter().find(|(there, _)| there.value == key)?;
        let only = Settings {
            table: std::slice::from_ref(entry),
            schema: self.schema,
            place: self.place.clone(),
        };
        let mut read: HashMap<String, T> = only.read(reports)?;
        read.remove(key)
    }

    /// The table with numbers instead of expressions.
    pub fn evaluated(&self, reports: &mut impl Reports) -> Option<Entries> {
        evaluated_table(self.table, SchemaShape::new(self.schema), reports)
    }
}

fn evaluated_table(
    entries: &[Setting],
    shape: SchemaShape<'_>,
    reports: &mut impl Reports,
) -> Option<Entries> {
    let entry = |(key, at): &Setting| {
        let inside = shape.key(&key.value).or(shape.named());
        let value = match inside {
            Some(inside) => evaluated(at, inside, reports),
            None => Some(at.clone()),
        };
        Some((key.clone(), value?))
    };
    // All of them, so that all problems are told.
    let entries: Vec<Option<_>> = entries.iter().map(entry).collect();
    entries.into_iter().collect()
}

fn evaluated(
    at: &At<Value>,
    shape: SchemaShape<'_>,
    reports: &mut impl Reports,
) -> Option<At<Value>> {
    let value = match (&at.value, shape.types()[..].first()) {
        (Value::Table(entries), _) => Value::Table(evaluated_table(entries, shape, reports)?),
        (Value::List(items), _) => {
            let items = items.iter().map(|item| match shape.item() {
                Some(inside) => evaluated(item, inside, reports),
                None => Some(item.clone()),
            });
            let items: Vec<Option<_>> = items.collect();
            Value::List(items.into_iter().collect::<Option<_>>()?)
        }
        (_, Some(&kind @ ("number" | "integer"))) if shape.types().len() == 1 => {
            number(at, kind == "integer", Range::of(shape.schema()), reports)?
        }
        (value, _) => value.clone(),
    };
    Some(At::new(value, &at.span))
}

fn number(
    at: &At<Value>,
    is_whole: bool,
    range: Range,
    reports: &mut impl Reports,
) -> Option<Value> {
    let formula = match &at.value {
        Value::Text(text) => Formula::Text(text.clone()),
        Value::Number(number) => Formula::Number(*number),
        Value::Whole(number) => Formula::Number(*number as f64),
        other => return Some(other.clone()),
    };
    let formula = At::new(formula, &at.span);
    let value = reports.number(&formula)?;
    let whole = value.round();
    let is_near = (value - whole).abs() <= WHOLE * whole.abs().max(1.0);
    let requirement = match () {
        () if is_whole && !is_near => "must be whole".to_owned(),
        () if !range.holds(value) => range.requirement(),
        () if is_whole => return Some(Value::Whole(whole as i64)),
        () => return Some(Value::Number(value)),
    };
    let problem = Problem::new(at.span.clone(), format!("the number {requirement}"));
    reports.report(problem.label(format!("is {value}")));
    None
}

/// Numbers as texts, in the order in which [`built`] takes them: the parser's own numbers are texts.
fn number_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        // TOML writes NaN in small letters.
        Value::Number(number) => texts.push(format!("{number:?}").to_ascii_lowercase()),
        Value::Whole(number) => texts.push(number.to_string()),
        Value::List(items) => items.iter().for_each(|at| number_texts(&at.value, texts)),
        Value::Table(entries) => entries
            .iter()
            .for_each(|(_, at)| number_texts(&at.value, texts)),
        Value::Text(_) | Value::Flag(_) => {}
    }
}

fn built<'t>(entries: &[Setting], texts: &mut impl Iterator<Item = &'t String>) -> DeTable<'t> {
    let mut table = DeTable::new();
    for (key, at) in entries {
        let key = Spanned::new(key.span.clone(), key.value.clone().into());
        table.insert(key, built_value(at, texts));
    }
    table
}

fn built_value<'t>(
    at: &At<Value>,
    texts: &mut impl Iterator<Item = &'t String>,
) -> Spanned<DeValue<'t>> {
    let value = match &at.value {
        Value::Text(text) => DeValue::String(text.clone().into()),
        Value::Flag(flag) => DeValue::Boolean(*flag),
        Value::Number(_) | Value::Whole(_) => {
            let text = texts.next().expect("a text for each number");
            DeValue::parse(text).expect("a number").into_inner()
        }
        Value::List(items) => {
            let mut list = DeArray::new();
            items
                .iter()
                .for_each(|item| list.push(built_value(item, texts)));
            DeValue::Array(list)
        }
        Value::Table(entries) => DeValue::Table(built(entries, texts)),
    };
    Spanned::new(at.span.clone(), value)
}
