//! Puts the tables of extensions, and what subsystems of several kinds have, where the format's types take them.
//!
//! The types of the format know their own keys. A table of a registered kind is therefore put into
//! another one, under the key `foreign`, after it was checked against the schema, which does not
//! have that key: no file can use it.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::schema::HEAD;
use super::{Extensions, Kinds, find};
use crate::format::TAGS;
use crate::source::Span;

/// The key in the format's types.
const FOREIGN: &str = "foreign";
/// The key of a foreign section that holds all but its head.
const SETTINGS: &str = "settings";
/// The format's own kinds of subsystems.
const SECTIONS: [&str; 3] = ["lumped", "multibody", "control"];

/// Wraps all tables of registered kinds.
pub(crate) fn wrap(tree: &mut DeTable<'_>, extensions: &Extensions) {
    let kinds = extensions.subsystems.iter().map(|kind| kind.name.as_str());
    let sections: Vec<&str> = SECTIONS.into_iter().chain(kinds).collect();
    if let Some(schedule) = table_in(tree, "schedule") {
        wrap_predictor(schedule, extensions);
    }
    for kind in &extensions.subsystems {
        for (place, part) in tables_in(tree, &kind.name) {
            split_head(part, place);
        }
    }
    for section in sections {
        for (_, part) in tables_in(tree, section) {
            wrap_predictor(part, extensions);
            group_head(part);
        }
    }
    let mut foreign = DeTable::new();
    for kind in &extensions.subsystems {
        foreign.extend(tree.remove_entry(kind.name.as_str()));
    }
    insert(tree, FOREIGN, Spanned::new(0..0, DeValue::Table(foreign)));
}

fn table_in<'t, 'i>(table: &'t mut DeTable<'i>, key: &str) -> Option<&'t mut DeTable<'i>> {
    match table.get_mut(key)?.get_mut() {
        DeValue::Table(inside) => Some(inside),
        _ => None,
    }
}

fn tables_in<'t, 'i: 't>(
    table: &'t mut DeTable<'i>,
    key: &str,
) -> impl Iterator<Item = (Span, &'t mut DeTable<'i>)> {
    let named = table_in(table, key).into_iter();
    let values = named.flat_map(|named| named.iter_mut().map(|(_, value)| value));
    values.filter_map(|value| match (value.span(), value.get_mut()) {
        (place, DeValue::Table(inside)) => Some((place, inside)),
        _ => None,
    })
}

fn insert<'i>(table: &mut DeTable<'i>, key: &str, value: Spanned<DeValue<'i>>) {
    table.insert(Spanned::new(value.span(), key.to_owned().into()), value);
}

/// The word that names the kind of a table.
fn tag<'t>(table: &'t DeTable<'_>) -> Option<&'t str> {
    let tag = TAGS.iter().find_map(|&tag| table.get(tag))?;
    tag.get_ref().as_str()
}

fn wrap_kind<M: ?Sized>(table: &mut DeTable<'_>, place: Span, kinds: &Kinds<M>) {
    if tag(table).is_some_and(|word| find(kinds, word).is_some()) {
        let inside = std::mem::replace(table, DeTable::new());
        insert(table, FOREIGN, Spanned::new(place, DeValue::Table(inside)));
    }
}

fn wrap_predictor(section: &mut DeTable<'_>, extensions: &Extensions) {
    let Some(predictor) = section.get_mut("predictor") else {
        return;
    };
    let place = predictor.span();
    let kinds = &extensions.predictors;
    match predictor.get_mut() {
        DeValue::Table(table) => wrap_kind(table, place, kinds),
        DeValue::String(word) if find(kinds, word).is_some() => {
            let word = DeValue::String(std::mem::take(word));
            let mut inside = DeTable::new();
            insert(&mut inside, "kind", Spanned::new(place.clone(), word));
            let mut table = DeTable::new();
            insert(
                &mut table,
                FOREIGN,
                Spanned::new(place, DeValue::Table(inside)),
            );
            *predictor.get_mut() = DeValue::Table(table);
        }
        _ => {}
    }
}

/// Parts the keys that all subsystems have from those of the kind.
fn split_head(table: &mut DeTable<'_>, place: Span) {
    let mut head = DeTable::new();
    for key in HEAD {
        head.extend(table.remove_entry(key));
    }
    let settings = Spanned::new(place, DeValue::Table(std::mem::replace(table, head)));
    insert(table, SETTINGS, settings);
}

/// Puts the keys that all subsystems have into tables of their own.
fn group_head(table: &mut DeTable<'_>) {
    let [every, micro_steps, micro_step, predictor] = HEAD;
    let groups = [
        ("division", [micro_steps, micro_step]),
        ("pacing", [every, predictor]),
    ];
    for (group, keys) in groups {
        let mut inside = DeTable::new();
        for key in keys {
            inside.extend(table.remove_entry(key));
        }
        insert(table, group, Spanned::new(0..0, DeValue::Table(inside)));
    }
}
