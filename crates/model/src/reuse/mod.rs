//! Reuse in model files: everything that makes one tree out of what the user wrote, before the tree is
//! read into types.
//!
//! `include` joins files ([`include`]), `set` and `with` are named changes ([`sets`]), `template`,
//! `use` and `repeat` write things several times ([`expand`]) with names and numbers put in for
//! `{...}` ([`scope`]). What is left is a tree as if all had been written out; every key and value
//! keeps the place where it was written.

mod expand;
mod include;
mod schema;
mod scope;
mod sets;

pub(crate) use expand::expand;
pub(crate) use include::{gather, tree};
pub(crate) use schema::{add_keys, allow_everywhere};
pub(crate) use sets::chosen;

/// The key that names included files.
const INCLUDE: &str = "include";
/// The table of named changes.
const SET: &str = "set";
/// The key that chooses some of them.
const WITH: &str = "with";
/// The table of templates, and the key that names one where it is used.
const TEMPLATE: &str = "template";
/// The table of uses of templates, in any table.
const USE: &str = "use";
/// The key of what is repeated.
const REPEAT: &str = "repeat";

/// Whether an override changes what is to be expanded, and not what comes out of it.
pub(crate) fn is_early<'k>(mut path: impl Iterator<Item = &'k str>) -> bool {
    let first = path.next();
    first.is_some_and(|key| ["parameters", TEMPLATE, USE].contains(&key))
        || path.any(|key| key == USE)
}

/// Whether an override changes which named changes there are.
pub(crate) fn is_choice(first: &str) -> bool {
    [WITH, SET].contains(&first)
}

/// Whether an override comes too late for its key.
pub(crate) fn is_include(first: &str) -> bool {
    first == INCLUDE
}
