//! Trees of parsed files: their places moved, and several of them made one.

use toml::Spanned;
use toml::de::{DeArray, DeString, DeTable, DeValue};

use crate::source::Span;

/// A key with its place.
pub(crate) type Key<'i> = Spanned<DeString<'i>>;

/// A value with its place.
pub(crate) type Value<'i> = Spanned<DeValue<'i>>;

/// Takes out a key that is one text or a list of them, with their places; `refuse` is told where something else stands.
pub(crate) fn take_texts(
    tree: &mut DeTable<'_>,
    key: &str,
    mut refuse: impl FnMut(Span),
) -> Vec<(String, Span)> {
    let Some(value) = tree.remove(key) else {
        return Vec::new();
    };
    let span = value.span();
    let items: Vec<Value<'_>> = match value.into_inner() {
        DeValue::Array(items) => items.into_iter().collect(),
        one => vec![Spanned::new(span, one)],
    };
    let texts = items.into_iter().filter_map(|item| {
        let text = item.get_ref().as_str().map(str::to_owned);
        if text.is_none() {
            refuse(item.span());
        }
        Some((text?, item.span()))
    });
    texts.collect()
}

/// The value with all its places moved.
pub(crate) fn shifted(value: Value<'_>, by: usize) -> Value<'_> {
    let span = value.span().start + by..value.span().end + by;
    let inner = match value.into_inner() {
        DeValue::Array(items) => {
            let mut moved = DeArray::new();
            for item in items {
                moved.push(shifted(item, by));
            }
            DeValue::Array(moved)
        }
        DeValue::Table(table) => DeValue::Table(shifted_table(table, by)),
        other => other,
    };
    Spanned::new(span, inner)
}

/// The table with all its places moved.
pub(crate) fn shifted_table(table: DeTable<'_>, by: usize) -> DeTable<'_> {
    let moved = table.into_iter().map(|(key, value)| {
        let place = key.span().start + by..key.span().end + by;
        (Spanned::new(place, key.into_inner()), shifted(value, by))
    });
    moved.collect()
}

/// Something that two trees give differently.
pub(crate) struct Clash<'a> {
    /// The keys that lead to it.
    pub path: &'a [String],
    /// Where the tree that is put over the other gives it.
    pub over: Span,
    /// Where the other gives it.
    pub under: Span,
}

/// Puts a tree over another: tables are joined key by key, lists of tables one after the other;
/// anything else replaces what is there, which is told.
pub(crate) fn put_over<'i>(
    base: &mut DeTable<'i>,
    over: DeTable<'i>,
    tell: &mut dyn FnMut(Clash<'_>),
) {
    join(base, over, &mut Vec::new(), tell);
}

fn join<'i>(
    base: &mut DeTable<'i>,
    over: DeTable<'i>,
    path: &mut Vec<String>,
    tell: &mut dyn FnMut(Clash<'_>),
) {
    for (key, value) in over {
        let Some((old_key, mut old)) = base.remove_entry(key.get_ref().as_ref()) else {
            base.insert(key, value);
            continue;
        };
        path.push(key.get_ref().to_string());
        let (over_place, span) = (key.span(), value.span());
        let joined = match (old.get_mut(), value.into_inner()) {
            (DeValue::Table(below), DeValue::Table(above)) => {
                join(below, above, path, tell);
                (old_key, old)
            }
            (DeValue::Array(below), DeValue::Array(above))
                if are_tables(below) && are_tables(&above) =>
            {
                for item in above {
                    below.push(item);
                }
                (old_key, old)
            }
            (_, new) => {
                tell(Clash {
                    path,
                    over: over_place,
                    under: old_key.span(),
                });
                (key, Spanned::new(span, new))
            }
        };
        path.pop();
        base.insert(joined.0, joined.1);
    }
}

fn are_tables(items: &DeArray<'_>) -> bool {
    !items.is_empty() && items.iter().all(|item| item.get_ref().is_table())
}

/// The table under a key, if there is one.
pub(crate) fn table_in<'t, 'i>(table: &'t DeTable<'i>, key: &str) -> Option<&'t DeTable<'i>> {
    table.get(key)?.get_ref().as_table()
}
