//! Settings put into a model file, which otherwise stays as it is byte for byte.

use std::fs;
use std::path::PathBuf;

use oldham_cosim::write_whole;
use serde::Serialize;
use toml::de::{DeTable, DeValue};

use crate::{ModelFile, Settings, StudyError};

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Written {
    /// The file.
    pub path: PathBuf,
    /// Its lines that are new, as they stand there now.
    pub lines: Vec<String>,
}

/// Puts settings into the file of a model. The file is replaced only if it then gives the same model as the settings.
pub fn write_settings(file: &ModelFile, settings: &Settings) -> Result<Written, StudyError> {
    let Some(path) = file.path() else {
        return Err(StudyError::NotWritten {
            path: PathBuf::from("the model"),
            reason: "it is no model file".into(),
        });
    };
    let refuse = |reason: String| StudyError::NotWritten {
        path: path.to_owned(),
        reason,
    };
    let target = fs::canonicalize(path).map_err(|error| refuse(error.to_string()))?;
    let permissions = fs::metadata(&target).map_err(|error| refuse(error.to_string()))?;
    let permissions = permissions.permissions();
    if permissions.readonly() {
        return Err(refuse("it is read-only".into()));
    }
    let old = fs::read_to_string(&target).map_err(|error| refuse(error.to_string()))?;
    let new = with_settings(&old, settings).map_err(|key| {
        refuse(format!(
            "`{key}` stands where it cannot be changed without changing more; set it by hand"
        ))
    })?;
    let expected = file.with(settings).read()?;
    let found = file.read_as(&new)?;
    if !found.is_solved_like(&expected) {
        let by_hand =
            "what is to be set is decided elsewhere, such as in an included file; set it by hand";
        return Err(refuse(by_hand.into()));
    }
    write_whole(&target, new.as_bytes()).map_err(|error| refuse(error.to_string()))?;
    // The file is a new one; that it could not keep its mode is no reason to undo it.
    let _ = fs::set_permissions(&target, permissions);
    let known: Vec<&str> = old.lines().collect();
    let lines = new
        .lines()
        .filter(|line| !line.trim().is_empty() && !known.contains(line));
    Ok(Written {
        path: path.to_owned(),
        lines: lines.map(str::to_owned).collect(),
    })
}

/// The text with all settings; the key that cannot be set otherwise.
fn with_settings(text: &str, settings: &Settings) -> Result<String, String> {
    let mut text = text.to_owned();
    for (key, value) in settings {
        let path: Vec<&str> = key.split('.').collect();
        text = match value.is_empty() {
            true => without(&text, &path),
            false => with(&text, &path, &as_toml(value)),
        }
        .ok_or_else(|| key.clone())?;
    }
    Ok(text)
}

/// The value as it stands in a file: what is no value of TOML is a text.
fn as_toml(value: &str) -> String {
    match DeValue::parse(value) {
        Ok(_) => value.to_owned(),
        Err(_) => format!("{value:?}"),
    }
}

/// Where a key and its value stand.
struct Place {
    key: std::ops::Range<usize>,
    value: std::ops::Range<usize>,
    is_table: bool,
}

fn find(text: &str, path: &[&str]) -> Option<Place> {
    let tree = DeTable::parse(text).ok()?;
    let mut table = tree.get_ref();
    let (last, before) = path.split_last()?;
    for name in before {
        table = table.get(*name)?.get_ref().as_table()?;
    }
    let (key, value) = table.get_key_value(*last)?;
    Some(Place {
        key: key.span(),
        value: value.span(),
        is_table: value.get_ref().is_table(),
    })
}

/// The text with one key set; nothing if that is not possible.
fn with(text: &str, path: &[&str], value: &str) -> Option<String> {
    if let Some(place) = find(text, path) {
        let mut changed = text.to_owned();
        changed.replace_range(place.value, value);
        return (!place.is_table).then_some(changed);
    }
    let end = line_end_of(text);
    // The innermost table that has a header of its own takes the key.
    for depth in (1..path.len()).rev() {
        let Some(header) = header(text, &path[..depth]) else {
            continue;
        };
        let at = last_line_of(text, &path[..depth], header)?;
        let key = path[depth..].join(".");
        let mut changed = text.to_owned();
        let separator = match text[..at].ends_with('\n') {
            true => "",
            false => end,
        };
        changed.insert_str(at, &format!("{separator}{key} = {value}{end}"));
        return Some(changed);
    }
    let (last, before) = path.split_last()?;
    let separator = match text.is_empty() || text.ends_with('\n') {
        true => "",
        false => end,
    };
    let header = before.join(".");
    // A key of the root would belong to the last table there.
    (!before.is_empty())
        .then(|| format!("{text}{separator}{end}[{header}]{end}{last} = {value}{end}"))
}

/// The text without a key, whose line may leave a comment behind.
fn without(text: &str, path: &[&str]) -> Option<String> {
    let Some(place) = find(text, path) else {
        return Some(text.to_owned());
    };
    let start = text[..place.key.start].rfind('\n').map_or(0, |at| at + 1);
    if place.is_table || !text[start..place.key.start].trim().is_empty() {
        return None;
    }
    let rest = &text[place.value.end..];
    let line = rest.find('\n').map_or(rest.len(), |at| at + 1);
    let mut changed = text.to_owned();
    let comment = rest[..line].trim_start();
    match comment.starts_with('#') {
        true => changed.replace_range(start..place.value.end + line - comment.len(), ""),
        false => changed.replace_range(start..place.value.end + line, ""),
    }
    Some(changed)
}

fn line_end_of(text: &str) -> &'static str {
    match text.contains("\r\n") {
        true => "\r\n",
        false => "\n",
    }
}

/// The end of the line with the header of a table.
fn header(text: &str, path: &[&str]) -> Option<usize> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let from = at;
        at += line.len();
        let name = line
            .trim_start()
            .strip_prefix('[')
            .and_then(|rest| rest.split(']').next());
        let parts = name.map(|name| name.split('.').map(|part| part.trim().trim_matches('"')));
        if parts.is_some_and(|parts| parts.eq(path.iter().copied())) && !is_within_value(text, from)
        {
            return Some(at);
        }
    }
    None
}

/// Whether a place lies in a value, such as a list or a text of several lines.
fn is_within_value(text: &str, at: usize) -> bool {
    fn any(table: &DeTable<'_>, at: usize) -> bool {
        table.iter().any(|(_, value)| match value.get_ref() {
            DeValue::Table(inner) => any(inner, at),
            DeValue::Array(items) => {
                let own = value.span();
                let inner = items.iter().filter_map(|item| item.get_ref().as_table());
                // A list of tables with headers has no place of its own that holds them.
                let are_tables = items.iter().all(|item| item.get_ref().is_table());
                match are_tables {
                    true => inner.into_iter().any(|table| any(table, at)),
                    false => own.start < at && at < own.end,
                }
            }
            _ => value.span().start < at && at < value.span().end,
        })
    }
    DeTable::parse(text).is_ok_and(|tree| any(tree.get_ref(), at))
}

/// The end of the last line of a table's own keys; that of its header if it has none.
fn last_line_of(text: &str, path: &[&str], header: usize) -> Option<usize> {
    let tree = DeTable::parse(text).ok()?;
    let mut table = tree.get_ref();
    for name in path {
        table = table.get(*name)?.get_ref().as_table()?;
    }
    let values = table
        .iter()
        .filter(|(_, value)| !is_with_header(text, value.span()));
    let last = values
        .map(|(_, value)| value.span().end)
        .max()
        .unwrap_or(0)
        .max(header);
    if last == header {
        return Some(header);
    }
    let rest = text[last..]
        .find('\n')
        .map_or(text.len(), |at| last + at + 1);
    Some(rest)
}

/// Whether a table stands under a header of its own.
fn is_with_header(text: &str, span: std::ops::Range<usize>) -> bool {
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    text[line..].trim_start().starts_with('[')
}

impl ModelFile {
    /// The model that another text gives in the place of the file.
    fn read_as(&self, text: &str) -> Result<oldham_model::Model, StudyError> {
        let known = self.read()?;
        Ok(self.read_text(known.source(), text)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# A model.\n[schedule] # who\nkind = \"jacobi\"   # both at once\nstages = [\n  [\"schedule\"],\n]\n\n[lumped.left]\nmass = 1\n";

    fn set(text: &str, key: &str, value: &str) -> Option<String> {
        with_settings(text, &vec![(key.into(), value.into())]).ok()
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_stays() {
        let expected = TEXT.replace("\"jacobi\"", "\"gauss-seidel\"");
        assert_eq!(
            set(TEXT, "schedule.kind", "gauss-seidel").unwrap(),
            expected
        );
    }

    #[test]
    fn a_new_key_follows_those_of_its_table() {
        let expected = TEXT.replace("]\n\n[lumped", "]\noutput_update = true\n\n[lumped");
        assert_eq!(
            set(TEXT, "schedule.output_update", "true").unwrap(),
            expected
        );
        let expected = format!("{TEXT}micro_steps = 4\n");
        assert_eq!(set(TEXT, "lumped.left.micro_steps", "4").unwrap(), expected);
    }

    #[test]
    fn a_new_table_is_appended() {
        let text = "[model]\r\nname = \"a\"\r\n";
        let expected =
            "[model]\r\nname = \"a\"\r\n\r\n[schedule]\r\npredictor = \"first-order\"\r\n";
        assert_eq!(
            set(text, "schedule.predictor", "first-order").unwrap(),
            expected
        );
    }

    #[test]
    fn a_key_goes_with_its_line_but_not_with_its_comment() {
        let expected = TEXT.replace("kind = \"jacobi\"   # both at once", "# both at once");
        assert_eq!(set(TEXT, "schedule.kind", "").unwrap(), expected);
        let expected = TEXT.replace("stages = [\n  [\"schedule\"],\n]\n", "");
        assert_eq!(set(TEXT, "schedule.stages", "").unwrap(), expected);
    }

    #[test]
    fn what_would_change_more_is_refused() {
        assert_eq!(set(TEXT, "schedule", "1"), None);
        assert_eq!(set("a = { b = 1 }\n", "a.b", ""), None);
    }
}
