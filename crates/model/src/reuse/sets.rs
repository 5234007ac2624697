//! `set` and `with`: named changes of a model, and which of them hold.

use std::collections::HashSet;

use toml::de::{DeTable, DeValue};

use super::{SET, WITH};
use crate::overrides::Change;
use crate::problem::Findings;
use crate::tree::{Key, Value, take_texts};

/// Takes the named changes out of a tree; gives those of the sets that are chosen, in the order of the
/// choice.
pub(crate) fn chosen<'i>(tree: &mut DeTable<'i>, findings: &mut Findings) -> Vec<Change<'i>> {
    let mut sets = match tree
        .remove(SET)
        .map(|sets| (sets.span(), sets.into_inner()))
    {
        None => DeTable::new(),
        Some((_, DeValue::Table(sets))) => sets,
        Some((span, _)) => {
            findings
                .report(&span, format!("`{SET}` must be a table of named changes"))
                .help(format!("such as [{SET}.heavy] with m = 500 below it"));
            DeTable::new()
        }
    };
    let mut changes = Vec::new();
    for (key, value) in sets.iter() {
        if !value.get_ref().is_table() {
            let name = key.get_ref();
            let message = format!("the set `{name}` must be a table of keys and values");
            findings
                .report(&value.span(), message)
                .label("no table")
                .help(format!("write [{SET}.{name}], and below it m = 500, say"));
        }
    }
    for (name, span) in names(tree, findings) {
        match sets.remove(name.as_str()).map(Value::into_inner) {
            Some(DeValue::Table(set)) => flatten(set, &mut Vec::new(), &mut changes),
            Some(_) => {}
            None => {
                let known: Vec<&str> = sets.keys().map(|key| key.get_ref().as_ref()).collect();
                let message = format!("there is no set `{name}`");
                let help = match known.is_empty() {
                    true => format!("write one: [{SET}.{name}], and below it keys and values"),
                    false => format!("the sets are {}", known.join(", ")),
                };
                findings
                    .report(&span, message)
                    .label("chosen here")
                    .help(help)
                    .suggest(&name, known);
            }
        }
    }
    changes
}

/// The chosen sets, each with the place of the choice.
fn names(tree: &mut DeTable<'_>, findings: &mut Findings) -> Vec<(String, std::ops::Range<usize>)> {
    let mut names = take_texts(tree, WITH, |span| {
        let message = format!("`{WITH}` is the name of a set, or a list of names");
        findings.report(&span, message).label("no name");
    });
    let mut seen = HashSet::new();
    names.retain(|(name, _)| seen.insert(name.clone()));
    names
}

/// All values of a table, each with the keys that lead to it.
fn flatten<'i>(table: DeTable<'i>, path: &mut Vec<Key<'i>>, changes: &mut Vec<Change<'i>>) {
    for (key, value) in table {
        path.push(key);
        let span = value.span();
        match value.into_inner() {
            DeValue::Table(inside) if !inside.is_empty() => flatten(inside, path, changes),
            inner => changes.push(Change {
                path: path.clone(),
                value: Some(toml::Spanned::new(span, inner)),
            }),
        }
        path.pop();
    }
}
