//! Where a printed value stands: `papers/sources.csv`.
//!
//! A line names item, row, the value as it is printed, the place in the paper and the line of the paper's text. A
//! statement in words has no value.

use std::sync::OnceLock;

const FILE: &str = include_str!("../../../papers/sources.csv");

/// A line of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Source {
    /// Such as `fontana/table-2`.
    pub item: &'static str,
    /// Name of the row or of the statement.
    pub row: &'static str,
    /// As printed, with its digits; empty for a statement.
    pub value: &'static str,
    /// Table, figure or section.
    pub place: &'static str,
    /// Line of the paper's text.
    pub line: usize,
}

impl Source {
    /// The value as a number.
    pub fn number(&self) -> Option<f64> {
        self.value.parse().ok()
    }

    /// How far a value may be off for its printed digits: by one of the last, which may be rounded or cut off. Of whole
    /// numbers, such as counts, only by rounding.
    pub fn last_digit(&self) -> f64 {
        let (mantissa, exponent) = self.value.split_once('e').unwrap_or((self.value, "0"));
        let decimals = mantissa
            .split_once('.')
            .map_or(0, |(_, digits)| digits.len());
        let exponent: i32 = exponent.parse().unwrap_or(0);
        let unit = if decimals > 0 { 1.0 } else { 0.5 };
        unit * 10_f64.powi(exponent - decimals as i32)
    }
}

/// All lines.
pub fn sources() -> &'static [Source] {
    static SOURCES: OnceLock<Vec<Source>> = OnceLock::new();
    SOURCES.get_or_init(|| FILE.lines().skip(1).filter_map(parse).collect())
}

/// The source of a row of an item.
pub(crate) fn source(paper: &str, item: &str, row: &str) -> Option<Source> {
    let is_item = |of: &str| {
        of.strip_prefix(paper)
            .and_then(|rest| rest.strip_prefix('/'))
            == Some(item)
    };
    let mut all = sources().iter();
    all.find(|source| source.row == row && is_item(source.item))
        .copied()
}

/// Fields between commas; one with commas of its own stands in quotation marks.
fn parse(line: &'static str) -> Option<Source> {
    let mut fields = Vec::new();
    let mut rest = line;
    loop {
        let (field, after) = match rest.strip_prefix('"') {
            Some(quoted) => {
                let end = quoted.find('"')?;
                (&quoted[..end], &quoted[end + 1..])
            }
            None => rest.split_at(rest.find(',').unwrap_or(rest.len())),
        };
        fields.push(field);
        match after.strip_prefix(',') {
            Some(next) => rest = next,
            None => break,
        }
    }
    let [item, row, value, place, line] = fields[..] else {
        return None;
    };
    Some(Source {
        item,
        row,
        value,
        place,
        line: line.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_with_commas_stand_in_quotation_marks() {
        let found = parse(r#"fontana/table-2,"c1 = c2, real part",-1.92,Table 2,17"#).unwrap();
        assert_eq!(found.row, "c1 = c2, real part");
        assert_eq!(found.number(), Some(-1.92));
        assert_eq!(found.line, 17);
        assert!((found.last_digit() - 0.01).abs() < 1e-15);
        let count = parse("tamellin/fig-18,unstable,13,Sect. 5.4,3").unwrap();
        assert_eq!(count.last_digit(), 0.5);
        assert_eq!(parse("fontana/table-2,too few"), None);
    }

    /// Every line can be read, names an item that there is, and stands there once.
    #[test]
    fn the_file_is_about_items_that_there_are() {
        assert_eq!(
            sources().len(),
            FILE.lines().count() - 1,
            "a line cannot be read"
        );
        let items = crate::items();
        for (place, source) in sources().iter().enumerate() {
            let is_there =
                |item: &crate::Item| source.item == format!("{}/{}", item.paper, item.item);
            assert!(items.iter().any(is_there), "{}", source.item);
            assert!(
                source.value.is_empty() || source.number().is_some(),
                "{source:?}"
            );
            let same = |other: &&Source| other.item == source.item && other.row == source.row;
            assert_eq!(
                sources().iter().position(|other| same(&other)),
                Some(place),
                "{source:?}"
            );
        }
    }
}
