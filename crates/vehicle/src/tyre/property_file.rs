//! Tyre property files (`.tir`): sections, `KEY = value` lines, comments, units.
//!
//! ```text
//! $ a comment
//! [UNITS]
//! LENGTH = 'meter'
//! [VERTICAL]
//! FNOMIN = 800      $ nominal load
//! ```

use std::collections::BTreeMap;
use std::fmt;

/// Something in a tyre property file that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TyreProblem {
    /// The line, if it is about one; the first is 1.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do.
    pub help: String,
}

impl TyreProblem {
    pub(super) fn new(line: Option<usize>, what: String, help: impl Into<String>) -> Self {
        Self {
            line,
            what,
            help: help.into(),
        }
    }
}

impl fmt::Display for TyreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }
        write!(f, "{}; {}", self.what, self.help)
    }
}

/// What a tyre property file says, in SI units: numbers and words by their keys in capitals.
#[derive(Clone, Debug, Default)]
pub struct PropertyFile {
    entries: BTreeMap<String, (Entry, usize)>,
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Number(f64),
    Word(String),
}

/// Sections that hold tables instead of keys; none of them is used here.
const TABLES: [&str; 3] = ["SHAPE", "DEFLECTION_LOAD_CURVE", "BOTTOMING_CURVE"];
const UNITS: &str = "UNITS";

/// Keys that have a unit, with the powers of length, force and time in it. All others are
/// dimensionless.
const DIMENSIONS: [(&str, [i32; 3]); 13] = [
    ("FNOMIN", [0, 1, 0]),
    ("FZMIN", [0, 1, 0]),
    ("FZMAX", [0, 1, 0]),
    ("UNLOADED_RADIUS", [1, 0, 0]),
    ("WIDTH", [1, 0, 0]),
    ("RIM_RADIUS", [1, 0, 0]),
    ("RIM_WIDTH", [1, 0, 0]),
    ("VERTICAL_STIFFNESS", [-1, 1, 0]),
    ("VERTICAL_DAMPING", [-1, 1, 1]),
    ("LONGITUDINAL_STIFFNESS", [-1, 1, 0]),
    ("LATERAL_STIFFNESS", [-1, 1, 0]),
    ("LONGVL", [1, 0, -1]),
    ("VXLOW", [1, 0, -1]),
];

/// Units by what they measure, with their size in SI units.
const KNOWN_UNITS: [(&str, &[(&str, f64)]); 6] = [
    (
        "LENGTH",
        &[
            ("meter", 1.0),
            ("metre", 1.0),
            ("m", 1.0),
            ("mm", 1e-3),
            ("millimeter", 1e-3),
            ("cm", 1e-2),
            ("inch", 0.0254),
            ("foot", 0.3048),
        ],
    ),
    (
        "FORCE",
        &[
            ("newton", 1.0),
            ("n", 1.0),
            ("kn", 1e3),
            ("knewton", 1e3),
            ("pound_force", 4.448_221_615_260_5),
        ],
    ),
    (
        "TIME",
        &[
            ("second", 1.0),
            ("sec", 1.0),
            ("s", 1.0),
            ("millisecond", 1e-3),
        ],
    ),
    ("ANGLE", &[("radian", 1.0), ("radians", 1.0), ("rad", 1.0)]),
    (
        "MASS",
        &[
            ("kg", 1.0),
            ("kilogram", 1.0),
            ("gram", 1e-3),
            ("pound_mass", 0.453_592_37),
        ],
    ),
    (
        "PRESSURE",
        &[
            ("pascal", 1.0),
            ("pa", 1.0),
            ("kpa", 1e3),
            ("bar", 1e5),
            ("psi", 6_894.757),
        ],
    ),
];

impl PropertyFile {
    /// Reads the text of a file; all problems are told at once.
    pub fn parse(text: &str) -> Result<Self, Vec<TyreProblem>> {
        let mut reader = Reader::default();
        for (index, line) in text.lines().enumerate() {
            reader.line(index + 1, line);
        }
        reader.finish()
    }

    /// From keys and numbers in SI units; they have no lines.
    pub fn from_numbers<'k>(numbers: impl IntoIterator<Item = (&'k str, f64)>) -> Self {
        let entries = numbers.into_iter();
        Self {
            entries: entries
                .map(|(key, value)| (key.to_uppercase(), (Entry::Number(value), 0)))
                .collect(),
        }
    }

    /// The number under a key.
    pub fn number(&self, key: &str) -> Option<f64> {
        match self.entries.get(key) {
            Some((Entry::Number(value), _)) => Some(*value),
            _ => None,
        }
    }

    /// The word under a key.
    pub fn word(&self, key: &str) -> Option<&str> {
        match self.entries.get(key) {
            Some((Entry::Word(word), _)) => Some(word),
            _ => None,
        }
    }

    /// The line of a key, if it has one.
    pub fn line(&self, key: &str) -> Option<usize> {
        let (_, line) = self.entries.get(key)?;
        (*line > 0).then_some(*line)
    }

    /// All keys.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }
}

#[derive(Default)]
struct Reader {
    section: String,
    file: PropertyFile,
    /// Size of the units of length, force and time, where they are given; and of pressure.
    units: BTreeMap<&'static str, f64>,
    problems: Vec<TyreProblem>,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) {
        let line = without_comment(line).trim();
        if line.is_empty() {
            return;
        }
        if let Some(rest) = line.strip_prefix('[') {
            match rest.strip_suffix(']') {
                Some(name) => self.section = name.trim().to_uppercase(),
                None => self.report(
                    number,
                    format!("the section `{line}` is not closed"),
                    "end it with `]`",
                ),
            }
            return;
        }
        if TABLES.contains(&self.section.as_str()) {
            return;
        }
        let Some((key, value)) = line.split_once('=') else {
            let what = format!("`{line}` is neither a section nor `KEY = value`");
            self.report(number, what, "begin comments with `$` or `!`");
            return;
        };
        self.entry(number, key.trim().to_uppercase(), value.trim());
    }

    fn entry(&mut self, number: usize, key: String, value: &str) {
        let word = value.trim_matches(['\'', '"']);
        let entry = match word == value {
            true => match value.parse::<f64>() {
                Ok(value) if value.is_finite() => Entry::Number(value),
                _ => {
                    let what = format!("`{value}` is not a number for {key}");
                    self.report(number, what, "write a number, or a word in quotes");
                    return;
                }
            },
            false => Entry::Word(word.trim().to_owned()),
        };
        if self.section == UNITS {
            self.unit(number, &key, &entry);
        }
        let entries = &mut self.file.entries;
        if let Some((_, first)) = entries.insert(key.clone(), (entry, number)) {
            let what = format!("{key} is given twice, first in line {first}");
            self.report(number, what, "keep one of them");
        }
    }

    fn unit(&mut self, number: usize, key: &str, entry: &Entry) {
        let Some((kind, known)) = KNOWN_UNITS.iter().find(|(kind, _)| *kind == key) else {
            return;
        };
        let name = match entry {
            Entry::Word(word) => word.to_lowercase(),
            Entry::Number(value) => value.to_string(),
        };
        match known.iter().find(|(unit, _)| *unit == name) {
            Some((_, size)) => {
                self.units.insert(kind, *size);
            }
            None => {
                let names: Vec<&str> = known.iter().map(|(unit, _)| *unit).collect();
                let what = format!("the unit `{name}` of {key} is not known");
                self.report(number, what, format!("use one of {}", names.join(", ")));
            }
        }
    }

    fn report(&mut self, line: usize, what: String, help: impl Into<String>) {
        self.problems.push(TyreProblem::new(Some(line), what, help));
    }

    fn finish(mut self) -> Result<PropertyFile, Vec<TyreProblem>> {
        if !self.problems.is_empty() {
            return Err(self.problems);
        }
        let size = |kind: &str| self.units.get(kind).copied().unwrap_or(1.0);
        let sizes = ["LENGTH", "FORCE", "TIME"].map(size);
        let pressure = size("PRESSURE");
        for (key, (entry, _)) in &mut self.file.entries {
            let Entry::Number(value) = entry else {
                continue;
            };
            if key == "INFLPRES" || key == "NOMPRES" {
                *value *= pressure;
            } else if let Some((_, powers)) = DIMENSIONS.iter().find(|(known, _)| known == key) {
                for (size, power) in sizes.iter().zip(powers) {
                    *value *= size.powi(*power);
                }
            }
        }
        Ok(self.file)
    }
}

/// A line up to its comment; signs within quotes begin none.
fn without_comment(line: &str) -> &str {
    let mut quoted = false;
    for (place, sign) in line.char_indices() {
        match sign {
            '\'' | '"' => quoted = !quoted,
            '$' | '!' if !quoted => return &line[..place],
            _ => {}
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections_comments_units_and_tables() {
        let text = "! a comment\n[UNITS]\nLENGTH = 'mm' $ not metres\nFORCE='kN'\n\
            [MODEL]\nFITTYP = 61\nTYRESIDE = 'LEFT'\n[DIMENSION]\nUNLOADED_RADIUS = 229\n\
            [VERTICAL]\nFNOMIN = 0.8\nVERTICAL_STIFFNESS = 0.1\n[SHAPE]\n{radial width}\n1.0 0.4\n";
        let file = PropertyFile::parse(text).unwrap();
        assert_eq!(file.word("TYRESIDE"), Some("LEFT"));
        let close = |key: &str, value: f64| {
            assert!(
                (file.number(key).unwrap() - value).abs() < 1e-12 * value,
                "{key}"
            );
        };
        close("UNLOADED_RADIUS", 0.229);
        close("FNOMIN", 800.0);
        close("VERTICAL_STIFFNESS", 1e5);
        assert_eq!(file.line("FNOMIN"), Some(11));
    }

    #[test]
    fn all_problems_are_told_with_their_lines() {
        let text = "[UNITS\nLENGTH = 'cubit'\n[UNITS]\nANGLE = 'degrees'\n[VERTICAL]\nFNOMIN = many\n\
            PDX1 = 1.2\nPDX1 = 1.3\nnonsense\nPKX1 = inf\n";
        let problems = PropertyFile::parse(text).unwrap_err();
        let lines: Vec<_> = problems.iter().map(|p| p.line.unwrap()).collect();
        assert_eq!(lines, [1, 4, 6, 8, 9, 10]);
        assert_eq!(
            problems[3].to_string(),
            "line 8: PDX1 is given twice, first in line 7; keep one of them"
        );
    }
}
