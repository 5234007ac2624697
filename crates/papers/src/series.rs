//! Several items one after the other, with a page that is there from the first one on.

use std::path::Path;

use crate::item::{Item, PaperError, Report};
use crate::page::{self, Lacking};

/// How far a series has come.
pub enum Step<'a> {
    /// The item at this place of the series begins.
    Begins(usize, &'a Item),
    /// It is computed.
    Done(&'a Report),
    /// It could not be computed; the others are.
    Failed(&'a Item, &'a PaperError),
}

/// What is wanted of a series.
#[derive(Clone, Copy)]
pub struct Series<'a> {
    /// In this order.
    pub items: &'a [Item],
    /// Folder of pictures and page.
    pub folder: &'a Path,
    /// How long runs by the clock on the wall take, if not as usual.
    pub seconds: Option<f64>,
    /// Whether a page is written, anew after every item: whatever ends the program, the page has what was computed until then.
    pub page: bool,
}

impl Series<'_> {
    /// Computes all items. One that fails does not end the others, unless it is the only one or nothing can be written.
    pub fn compute(
        self,
        mut watch: impl FnMut(Step<'_>),
    ) -> Result<(Vec<Report>, Lacking), PaperError> {
        let mut reports = Vec::new();
        let mut lacking = Lacking::default();
        for (place, item) in self.items.iter().enumerate() {
            watch(Step::Begins(place, item));
            match item.compute_for(self.folder, self.seconds) {
                Ok(report) => {
                    watch(Step::Done(&report));
                    reports.push(report);
                }
                Err(error) if self.items.len() == 1 || error.is_about_writing() => {
                    return Err(error);
                }
                Err(error) => {
                    watch(Step::Failed(item, &error));
                    lacking.failed.push((item.name(), error.to_string()));
                }
            }
            lacking.to_come = self.items.len() - place - 1;
            if self.page {
                page::write(&reports, &lacking, self.folder)?;
            }
        }
        Ok((reports, lacking))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good(report: &mut Report) -> Result<(), PaperError> {
        report.row("a value", None, 2.0, "1", "");
        Ok(())
    }

    fn fails(_: &mut Report) -> Result<(), PaperError> {
        Err(PaperError::NoConditions)
    }

    fn cannot_write(report: &mut Report) -> Result<(), PaperError> {
        report.row("a value", None, 2.0, "1", "");
        Err(PaperError::Page {
            path: "page".into(),
            source: std::io::ErrorKind::StorageFull.into(),
        })
    }

    #[test]
    fn one_item_that_fails_does_not_end_the_others() {
        let items = [
            Item::new("fontana", "one", "One", good),
            Item::new("fontana", "two", "Two", fails),
            Item::new("fontana", "three", "Three", good),
        ];
        let folder = tempfile::tempdir().unwrap();
        let series = Series {
            items: &items,
            folder: folder.path(),
            seconds: None,
            page: true,
        };
        let page = || std::fs::read_to_string(folder.path().join("index.html"));
        let mut seen = Vec::new();
        let (reports, lacking) = series
            .compute(|step| match step {
                // The page has what came before.
                Step::Begins(place, _) => seen.push((place, page().unwrap_or_default())),
                Step::Done(report) => assert_ne!(report.item, "two"),
                Step::Failed(item, _) => assert_eq!(item.item, "two"),
            })
            .unwrap();
        assert_eq!(reports.len(), 2);
        assert_eq!(lacking.failed.len(), 1);
        assert_eq!(seen[0], (0, String::new()));
        assert!(seen[1].1.contains("id=\"fontana/one\"") && seen[1].1.contains("2 of the items"));
        assert!(seen[2].1.contains("fontana/two could not be computed"));
        let page = page().unwrap();
        assert!(page.contains("id=\"fontana/three\"") && !page.contains("still to come"));
        assert!(page.contains("fontana/two could not be computed"));
    }

    /// The only item, or a disk that takes nothing: the error itself.
    #[test]
    fn an_error_that_the_others_share_ends_the_series() {
        let folder = tempfile::tempdir().unwrap();
        let compute = |items: &[Item]| {
            let series = Series {
                items,
                folder: folder.path(),
                seconds: None,
                page: false,
            };
            series.compute(|_| {}).err()
        };
        let [alone, writes, never] =
            [fails, cannot_write, good].map(|compute| Item::new("fontana", "one", "One", compute));
        assert!(matches!(compute(&[alone]), Some(PaperError::NoConditions)));
        let error = compute(&[writes, never]);
        assert!(matches!(error, Some(PaperError::Page { .. })));
    }

    /// A folder that can be made or written into leaves no trace; one that cannot is told before anything is computed.
    #[test]
    fn a_folder_is_checked_without_a_trace() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("a/b");
        crate::check_folder(&new).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        let file = folder.path().join("file");
        std::fs::write(&file, "").unwrap();
        for path in [&file, &file.join(""), &file.join("below")] {
            let error = crate::check_folder(path).unwrap_err().to_string();
            assert!(error.contains("choose another one"), "{error}");
        }
        crate::check_folder(Path::new("papers-out")).unwrap();
    }
}
