//! Gains of a compensator as plain numbers: given in a model file, or read from and written to a
//! file of their own.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

use oldham_stability::compensate::{Action, Architecture};

/// Gains by row and by component without the subsystem's name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Gains {
    /// Force on the force side.
    pub correct: Vec<(String, f64)>,
    /// Force on the motion side.
    pub push: Vec<(String, f64)>,
    /// Added to the force as it is sent.
    pub send: Vec<(String, f64)>,
}

/// Why gains could not be read or do not fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GainsError {
    /// The file cannot be read.
    #[error("the gains cannot be read from `{path}`: {reason}")]
    Unreadable {
        /// As resolved.
        path: String,
        /// The system's or the parser's words.
        reason: String,
    },
    /// The file has gains for other compensators only.
    #[error("`{path}` has no gains for `{name}`; it has: {}", .known.join(", "))]
    NotThere {
        /// As resolved.
        path: String,
        /// The compensator.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// A gain for something that is not there.
    #[error("`{row}` cannot feed back `{component}`; it can: {}", .known.join(", "))]
    NoSuchSignal {
        /// The row of gains.
        row: &'static str,
        /// As written.
        component: String,
        /// What can be fed back.
        known: Vec<String>,
    },
}

/// Names of the rows, in the order of their keys.
pub const ROWS: [&str; 3] = ["force_side", "motion_side", "sent_force"];

/// The same as they were called before: files with them are still read.
const FORMER_ROWS: [&str; 3] = ["correct", "push", "send"];

/// Longest file of gains that is read.
const MOST_BYTES: u64 = 16 << 20;

type Tables = BTreeMap<String, BTreeMap<String, BTreeMap<String, f64>>>;

/// Reads the gains of a compensator from a file beside a model file. A file with the gains of one
/// compensator serves for any.
pub(crate) fn read(model: &str, path: &str, name: &str) -> Result<Gains, GainsError> {
    let folder = Path::new(model).parent().unwrap_or(Path::new(""));
    let resolved = folder.join(path);
    let path = resolved.display().to_string();
    let unreadable = |reason: String| GainsError::Unreadable {
        path: path.clone(),
        reason,
    };
    let text =
        oldham_files::read_text(&resolved, MOST_BYTES).map_err(|e| unreadable(e.to_string()))?;
    let tables: Tables = toml::from_str(&text).map_err(|e| unreadable(e.message().into()))?;
    let only = tables.values().next().filter(|_| tables.len() == 1);
    let Some(rows) = tables.get(name).or(only) else {
        return Err(GainsError::NotThere {
            name: name.into(),
            known: tables.keys().cloned().collect(),
            path,
        });
    };
    let gains = rows
        .iter()
        .flat_map(|(row, gains)| gains.iter().map(move |gain| (row, gain)));
    for (row, (component, gain)) in gains {
        if !gain.is_finite() {
            return Err(unreadable(format!(
                "the gain `{component}` of `{row}` is {gain}; gains are finite numbers"
            )));
        }
    }
    let is_known = |row: &str| ROWS.contains(&row) || FORMER_ROWS.contains(&row);
    if let Some(unknown) = rows.keys().find(|row| !is_known(row)) {
        let known = ROWS.join(", ");
        return Err(unreadable(format!(
            "there is no row `{unknown}`; rows are {known}"
        )));
    }
    let [correct, push, send] = [0, 1, 2].map(|row| -> Vec<(String, f64)> {
        let gains = rows.get(ROWS[row]).or_else(|| rows.get(FORMER_ROWS[row]));
        let gains = gains.into_iter().flatten();
        gains.map(|(key, gain)| (key.clone(), *gain)).collect()
    });
    Ok(Gains {
        correct,
        push,
        send,
    })
}

impl Gains {
    /// The gains of one interface out of an architecture of several, in the order of the sites.
    pub fn of(rows: &Architecture, gains: &[f64], site: usize) -> Self {
        let mut tables = [Vec::new(), Vec::new(), Vec::new()];
        for ((row, candidate), gain) in rows.candidates().zip(gains) {
            if let Some(table) = table_of(rows, row, site)
                && *gain != 0.0
            {
                tables[table].push((local(&candidate.name).into(), *gain));
            }
        }
        let [correct, push, send] = tables;
        Self {
            correct,
            push,
            send,
        }
    }

    /// A gain for every candidate of an architecture with one interface.
    pub(crate) fn for_rows(&self, rows: &Architecture) -> Result<Vec<f64>, GainsError> {
        let mut gains = vec![0.0; rows.unknowns()];
        for (table, given) in [&self.correct, &self.push, &self.send]
            .into_iter()
            .enumerate()
        {
            for (component, gain) in given {
                let mut places = rows.candidates().enumerate();
                let place = places.find(|(_, (row, candidate))| {
                    table_of(rows, *row, 0) == Some(table) && local(&candidate.name) == component
                });
                match place {
                    Some((place, _)) => gains[place] = *gain,
                    None => {
                        let here = rows.candidates();
                        let here = here.filter(|(row, _)| table_of(rows, *row, 0) == Some(table));
                        return Err(GainsError::NoSuchSignal {
                            row: ROWS[table],
                            component: component.clone(),
                            known: here.map(|(_, c)| local(&c.name).to_owned()).collect(),
                        });
                    }
                }
            }
        }
        Ok(gains)
    }

    /// As a section of a gains file.
    pub fn to_toml(&self, name: &str) -> String {
        let mut text = String::new();
        for (row, gains) in ROWS
            .into_iter()
            .zip([&self.correct, &self.push, &self.send])
        {
            writeln!(text, "[{name}.{row}]").expect("a text takes all");
            for (component, gain) in gains {
                writeln!(text, "\"{component}\" = {gain:?}").expect("a text takes all");
            }
            text.push('\n');
        }
        text
    }
}

/// Which table a row of an architecture belongs to, if it is of this site. Each site has two rows
/// that correct, then one that amends.
fn table_of(rows: &Architecture, row: usize, site: usize) -> Option<usize> {
    match rows.rows[row].action {
        Action::Correct => (row / 2 == site).then_some(row % 2),
        Action::Amend => (row - rows.forces == site).then_some(2),
    }
}

/// A component without its subsystem's name.
fn local(component: &str) -> &str {
    component
        .split_once('.')
        .map_or(component, |(_, rest)| rest)
}
