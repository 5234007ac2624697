//! Keys and values that had another spelling before are still read.
//!
//! The old spelling stands beside the new one, as `x-formerly` of a field or variant in
//! [`crate::format`]. Here old words of a parsed file become new ones, in their places, before
//! anything else looks at them; what was found is told in one note.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::problem::Findings;
use crate::schema::SchemaShape;

/// Old words that were found, with the new ones, in the order of finding.
#[derive(Debug, Default)]
pub(crate) struct Renamed(Vec<(String, String)>);

impl Renamed {
    /// Replaces the old words below a table. A key that is there in both spellings is a problem.
    pub fn table(
        &mut self,
        table: &mut DeTable<'_>,
        shape: SchemaShape<'_>,
        findings: &mut Findings,
    ) {
        for (before, now) in shape.renamed_keys() {
            let Some((key, value)) = table.remove_entry(before) else {
                continue;
            };
            if table.contains_key(now) {
                let message =
                    format!("`{before}` is the former name of `{now}`, which is there too");
                findings
                    .report(&key.span(), message)
                    .label("given twice")
                    .help(format!("keep `{now}`"));
                continue;
            }
            self.add(before, now);
            table.insert(Spanned::new(key.span(), now.to_owned().into()), value);
        }
        for (key, value) in table.iter_mut() {
            let name = key.get_ref().as_ref();
            if let Some(inside) = shape.key(name).or(shape.named()) {
                self.value(value, inside, findings);
            }
        }
    }

    fn value(
        &mut self,
        value: &mut Spanned<DeValue<'_>>,
        shape: SchemaShape<'_>,
        findings: &mut Findings,
    ) {
        for shape in shape.alternatives() {
            match value.get_mut() {
                DeValue::Table(table) => self.table(table, shape, findings),
                DeValue::Array(items) => {
                    for item in items.iter_mut() {
                        if let Some(inside) = shape.item() {
                            self.value(item, inside, findings);
                        }
                    }
                }
                DeValue::String(word) => {
                    let mut words = shape.renamed_words();
                    if let Some((before, now)) = words.find(|(before, _)| before == word) {
                        self.add(before, now);
                        *word = now.to_owned().into();
                    }
                }
                _ => {}
            }
        }
    }

    /// The name that a key has now.
    pub fn key<'k>(&mut self, key: &'k str, shape: SchemaShape<'k>) -> &'k str {
        let mut keys = shape.renamed_keys();
        match keys.find(|(before, _)| *before == key) {
            Some((before, now)) => {
                self.add(before, now);
                now
            }
            None => key,
        }
    }

    fn add(&mut self, before: &str, now: &str) {
        let pair = (before.to_owned(), now.to_owned());
        if !self.0.contains(&pair) {
            self.0.push(pair);
        }
    }

    /// What the user is told, in one line.
    pub fn note(&self) -> Option<String> {
        let (first, more) = self.0.split_first()?;
        let mut note = format!("`{}` is now called `{}`", first.0, first.1);
        for (before, now) in more {
            note += &format!(", `{before}` is `{now}`");
        }
        note += match more {
            [] => "; the old word is still read",
            _ => "; the old words are still read",
        };
        Some(note)
    }
}
