//! Files of comma-separated values beside a model file.

use std::path::{Path, PathBuf};

/// Longest accepted file, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// Mistakes of one file that are told.
const MOST_MISTAKES: usize = 5;

/// Separators, by preference where a line has several.
const SEPARATORS: [char; 3] = ['\t', ';', ','];

/// A file that a model reads besides its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    /// Its path as the model gives it.
    pub path: String,
    /// A digest of its bytes (FNV-1a, 64 bits, hexadecimal).
    pub digest: String,
}

impl DataFile {
    /// A file that a model in a folder names, with its digest.
    pub(crate) fn beside(folder: &Path, path: &str) -> std::io::Result<Self> {
        let bytes = std::fs::read(folder.join(path))?;
        Ok(Self {
            path: path.to_owned(),
            digest: format!("{:016x}", fnv1a(&bytes)),
        })
    }
}

/// The columns that were asked for, row by row, with the lines on which they stand.
#[derive(Debug)]
pub(crate) struct Columns {
    pub file: DataFile,
    pub values: Vec<Vec<f64>>,
    /// The line of each row, from one.
    pub lines: Vec<usize>,
}

/// What is wrong with a data file, and what to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mistake {
    pub message: String,
    pub help: String,
}

impl Mistake {
    fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }
}

/// Where a file lies that a model names.
pub(crate) fn beside(model: &str, path: &str) -> PathBuf {
    Path::new(model)
        .parent()
        .unwrap_or(Path::new(""))
        .join(path)
}

/// Reads some columns; by default the first ones.
pub(crate) fn read(
    model: &str,
    path: &str,
    wanted: Option<&[&str]>,
) -> Result<Columns, Vec<Mistake>> {
    let path_here = beside(model, path);
    let bytes = oldham_files::read_beyond(&path_here, MAX_BYTES).map_err(|error| {
        let message = format!("`{path}` cannot be read: {error}");
        vec![Mistake::new(
            message,
            "its path is relative to the model file",
        )]
    })?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("`{path}` is longer than {} MiB", MAX_BYTES >> 20);
        return Err(vec![Mistake::new(message, "give fewer points")]);
    }
    let digest = format!("{:016x}", fnv1a(&bytes));
    let text = String::from_utf8_lossy(&bytes);
    let file = DataFile {
        path: path.to_owned(),
        digest,
    };
    parse(file, &text, wanted)
}

fn fnv1a(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

fn parse(file: DataFile, text: &str, wanted: Option<&[&str]>) -> Result<Columns, Vec<Mistake>> {
    let path = file.path.clone();
    let lines = text.trim_start_matches('\u{feff}').lines();
    let mut lines = (1..).zip(lines).filter(|(_, line)| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#')
    });
    let Some((first_line, first)) = lines.next() else {
        let message = format!("`{path}` has no numbers");
        return Err(vec![Mistake::new(message, "give a line for each point")]);
    };
    let separator = SEPARATORS.into_iter().find(|&sign| first.contains(sign));
    let separator = separator.unwrap_or(' ');
    let heading: Vec<&str> = fields(first, separator).collect();
    let has_heading = heading.iter().any(|field| field.parse::<f64>().is_err());
    let names: Vec<String> = match has_heading {
        true => heading.iter().map(|name| (*name).to_owned()).collect(),
        false => (1..=heading.len())
            .map(|number| number.to_string())
            .collect(),
    };
    let places = match wanted {
        Some(wanted) => places(&path, wanted, &names)?,
        None => (0..2.min(names.len())).collect(),
    };
    let mut columns = Columns {
        file,
        values: vec![Vec::new(); places.len()],
        lines: Vec::new(),
    };
    let mut mistakes = Vec::new();
    let unread = (!has_heading).then_some((first_line, first));
    for (number, line) in unread.into_iter().chain(lines) {
        let row: Vec<&str> = fields(line, separator).collect();
        columns.lines.push(number);
        for (&place, values) in places.iter().zip(&mut columns.values) {
            let field = row.get(place).copied().unwrap_or_default();
            match field.parse::<f64>() {
                Ok(value) if value.is_finite() => values.push(value),
                _ => {
                    values.push(f64::NAN);
                    mistakes.push(no_number(&path, number, &names[place], field));
                }
            }
        }
        if mistakes.len() >= MOST_MISTAKES {
            break;
        }
    }
    match mistakes.is_empty() {
        true => Ok(columns),
        false => Err(mistakes),
    }
}

fn fields(line: &str, separator: char) -> impl Iterator<Item = &str> {
    let pieces: Box<dyn Iterator<Item = &str>> = match separator {
        ' ' => Box::new(line.split_whitespace()),
        _ => Box::new(line.split(separator)),
    };
    pieces.map(|field| field.trim().trim_matches('"').trim())
}

fn places(path: &str, wanted: &[&str], names: &[String]) -> Result<Vec<usize>, Vec<Mistake>> {
    let mut mistakes = Vec::new();
    let mut places = Vec::new();
    for name in wanted {
        match names.iter().position(|known| known == name) {
            Some(place) => places.push(place),
            None => {
                let message = format!("`{path}` has no column `{name}`");
                let known = names.iter().map(|known| format!("`{known}`"));
                let known = known.collect::<Vec<_>>().join(", ");
                mistakes.push(Mistake::new(message, format!("its columns are {known}")));
            }
        }
    }
    match mistakes.is_empty() {
        true => Ok(places),
        false => Err(mistakes),
    }
}

fn no_number(path: &str, line: usize, column: &str, field: &str) -> Mistake {
    if field.is_empty() {
        let message = format!("line {line} of `{path}` has no value in column `{column}`");
        return Mistake::new(message, "fill the gap or delete the line");
    }
    let message =
        format!("line {line} of `{path}`: `{field}` in column `{column}` is not a number");
    let has_comma = field.contains(',') && field.replacen(',', ".", 1).parse::<f64>().is_ok();
    let help = match has_comma {
        true => "write decimal points, not commas",
        false => "write a finite number, or delete the line",
    };
    Mistake::new(message, help)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns(text: &str, wanted: Option<&[&str]>) -> Result<Vec<Vec<f64>>, String> {
        let file = DataFile {
            path: "a.csv".into(),
            digest: String::new(),
        };
        match parse(file, text, wanted) {
            Ok(found) => Ok(found.values),
            Err(mistakes) => Err(mistakes.into_iter().map(|m| m.message + "\n").collect()),
        }
    }

    #[test]
    fn columns_are_found_by_heading_or_number() {
        let text = "# a road\n\"t\", height ,x\n0, 1,7\n\n0.5,2,8\n";
        let found = columns(text, Some(&["height", "t"])).unwrap();
        assert_eq!(found, [[1.0, 2.0], [0.0, 0.5]]);
        assert_eq!(
            columns("0;1\n2;3\n", None).unwrap(),
            [[0.0, 2.0], [1.0, 3.0]]
        );
        assert_eq!(columns("0 1\n2   3\n", Some(&["2"])).unwrap(), [[1.0, 3.0]]);
        let missing = columns(text, Some(&["z"])).unwrap_err();
        assert!(missing.contains("no column `z`"));
    }

    #[test]
    fn gaps_and_words_are_told_with_their_lines() {
        let told = columns("t,x\n0,1\n1,\n2,n/a\n3\n4,NaN\n", None).unwrap_err();
        for part in [
            "line 3 of `a.csv` has no value in column `x`",
            "line 4 of `a.csv`: `n/a`",
            "line 5 of `a.csv` has no value",
            "line 6 of `a.csv`: `NaN`",
        ] {
            assert!(told.contains(part), "{told}");
        }
    }
}
