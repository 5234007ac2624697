//! Tables of extensions: what they may hold is not known here, only where it was written.

use std::fmt;

use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{At, Division, Pacing};
use crate::source::Span;

/// The keys that name the kind of a table.
pub(crate) const TAGS: [&str; 2] = ["type", "kind"];

/// A key and its value.
pub(crate) type Setting = (At<String>, At<Value>);

/// Any value, with places.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(String),
    Number(f64),
    Whole(i64),
    Flag(bool),
    List(Vec<At<Value>>),
    Table(Vec<Setting>),
}

impl Value {
    /// Whether it is a text with a property.
    pub fn is_text(&self, has: impl Fn(&str) -> bool) -> bool {
        matches!(self, Self::Text(text) if has(text))
    }
}

/// A table of a registered kind.
#[derive(Clone, Debug)]
pub(crate) struct Foreign {
    pub kind: At<String>,
    /// Everything in it but its kind.
    pub settings: Vec<Setting>,
}

impl Foreign {
    /// What stands under a key.
    pub fn value(&self, key: &str) -> Option<&Value> {
        let mut settings = self.settings.iter();
        let found = settings.find(|(there, _)| there.value == key);
        found.map(|(_, at)| &at.value)
    }
}

/// A subsystem of a registered kind.
#[derive(Debug, Deserialize)]
pub(crate) struct ForeignSection {
    pub division: Division,
    pub pacing: Pacing,
    pub settings: At<Value>,
}

impl ForeignSection {
    /// Its table, and where that is.
    pub fn settings(&self) -> (&[Setting], &Span) {
        let entries: &[Setting] = match &self.settings.value {
            Value::Table(entries) => entries,
            _ => &[],
        };
        (entries, &self.settings.span)
    }
}

struct ValueVisitor;

impl<'de> Visitor<'de> for ValueVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a value")
    }
    fn visit_bool<E: Error>(self, flag: bool) -> Result<Value, E> {
        Ok(Value::Flag(flag))
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Value, E> {
        Ok(Value::Number(number))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Value, E> {
        Ok(Value::Whole(number))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Value, E> {
        Ok(Value::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Value::List(items))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = map.next_entry()? {
            entries.push(entry);
        }
        Ok(Value::Table(entries))
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ValueVisitor)
    }
}

impl<'de> Deserialize<'de> for Foreign {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Value::Table(mut settings) = Value::deserialize(deserializer)? else {
            return Err(D::Error::custom("a table is needed"));
        };
        let is_tag = |(key, _): &Setting| TAGS.contains(&key.value.as_str());
        let tag = settings.iter().position(is_tag);
        let kind = match tag.map(|tag| settings.remove(tag).1) {
            Some(At {
                value: Value::Text(kind),
                span,
            }) => At { value: kind, span },
            // It was taken away because it was wrong, or a key tells the kind.
            _ => At::new(String::new(), &(0..0)),
        };
        Ok(Self { kind, settings })
    }
}

/// What it says, without the places: equal tables give equal texts.
pub(crate) fn plain(settings: &[Setting]) -> String {
    let entry = |(key, value): &Setting| format!("{}={}", key.value, value.value);
    settings.iter().map(entry).collect::<Vec<_>>().join(" ")
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Number(number) => write!(f, "{number:e}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::List(items) => {
                let items: Vec<String> = items.iter().map(|item| item.value.to_string()).collect();
                write!(f, "[{}]", items.join(", "))
            }
            Self::Table(entries) => write!(f, "{{{}}}", plain(entries)),
        }
    }
}
