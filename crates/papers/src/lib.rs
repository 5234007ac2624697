//! Tables and figures of the papers that Oldham is built on: computed anew, beside the printed
//! values, with the reason where they differ.
//!
//! An [`Item`] is one table or figure; [`items`] lists them. Each is computed by the same objects
//! that a user's model runs with.

mod fontana;
mod item;
mod pikulinski;
pub mod structures;
mod tamellin;

pub use item::{Item, PaperError, Report, Row};

/// All items, paper by paper in the order of the print.
pub fn items() -> Vec<Item> {
    [fontana::ITEMS, tamellin::ITEMS, pikulinski::ITEMS].concat()
}

/// The items that a name stands for: a paper, `paper/item`, or everything.
pub fn find(name: Option<&str>) -> Result<Vec<Item>, PaperError> {
    let all = items();
    let Some(name) = name else {
        return Ok(all);
    };
    let (paper, item) = match name.split_once('/') {
        Some((paper, item)) => (paper, Some(item)),
        None => (name, None),
    };
    let matches = |known: &Item| known.paper == paper && item.is_none_or(|item| known.item == item);
    let found: Vec<_> = all.iter().copied().filter(matches).collect();
    if found.is_empty() {
        let known = all
            .iter()
            .map(|item| format!("{}/{}", item.paper, item.item));
        return Err(PaperError::Unknown {
            name: name.into(),
            known: known.collect(),
        });
    }
    Ok(found)
}
