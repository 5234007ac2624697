//! Tables and figures of the papers that Oldham is built on: computed anew, beside the printed
//! values, with the reason where they differ.
//!
//! An [`Item`] is one table or figure; [`items`] lists them. Each is computed by the same objects
//! that a user's model runs with, but for what only a paper has: the predictor of Pikuliński et al. as printed, and their pendula
//! with steps that no multibody part takes. The paper's own method stands first, ours beside it.
//!
//! A printed value has a [`Source`]; how it compares is its [`Agreement`]. What a paper says in words is a [`Statement`]. Both make
//! the [`Verdict`] of a [`Report`]; [`page`] writes all of them as one page.

mod claims;
mod computed;
mod fontana;
mod item;
mod map_study;
pub mod page;
pub mod peiret;
mod pikulinski;
mod series;
mod source;
pub mod structures;
mod tamellin;
mod track;
mod zhang;

pub use computed::Computed;
pub use item::{Agreement, Item, PaperError, Report, ReportRow, Statement, Verdict, check_folder};
pub use series::{Series, Step};
pub use source::{Source, sources};

/// All items, paper by paper in the order of the print.
pub fn items() -> Vec<Item> {
    [
        fontana::ITEMS,
        tamellin::ITEMS,
        zhang::ITEMS,
        pikulinski::ITEMS,
        peiret::ITEMS,
    ]
    .concat()
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
        return Err(PaperError::Unknown {
            name: name.into(),
            known: known(&all, paper),
        });
    }
    Ok(found)
}

/// The items of a paper; the papers, if it is none.
fn known(all: &[Item], paper: &str) -> Vec<String> {
    let of_paper = all.iter().filter(|item| item.paper == paper);
    let items: Vec<_> = of_paper
        .map(|item| format!("{paper}/{}", item.item))
        .collect();
    if !items.is_empty() {
        return items;
    }
    let mut papers: Vec<String> = all.iter().map(|item| item.paper.into()).collect();
    papers.dedup();
    papers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str) -> Vec<String> {
        match find(Some(name)) {
            Err(PaperError::Unknown { known, .. }) => known,
            _ => panic!("{name} should not be known"),
        }
    }

    #[test]
    fn an_unknown_name_is_answered_with_what_there_is() {
        assert_eq!(
            offered("nobody"),
            ["fontana", "tamellin", "zhang", "pikulinski", "peiret"]
        );
        assert_eq!(offered("nobody/fig-9"), offered("nobody"));
        let items = offered("fontana/fig-99");
        assert!(items.contains(&"fontana/fig-9".to_owned()));
        assert!(items.iter().all(|item| item.starts_with("fontana/")));
    }
}
