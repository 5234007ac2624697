//! Names that a model file takes.

use std::collections::{HashMap, HashSet};

/// Longest name that is kept.
const LONGEST: usize = 60;

/// Names that are taken already, in one table of a model file.
#[derive(Debug, Default)]
pub(crate) struct Names {
    taken: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Names {
    pub fn with(reserved: &[&str]) -> Self {
        Self {
            taken: reserved.iter().map(|&name| name.to_owned()).collect(),
            next: HashMap::new(),
        }
    }

    /// A name near the given one that nothing else has.
    pub fn take(&mut self, wish: &str) -> String {
        let plain = plain(wish);
        let mut name = plain.clone();
        while !self.taken.insert(name.clone()) {
            let number = self.next.entry(plain.clone()).or_insert(1);
            *number += 1;
            name = format!("{plain}_{number}");
        }
        name
    }
}

/// Letters, digits and `_` alone, not beginning with a digit.
pub(crate) fn plain(wish: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut name: String = wish.chars().take(LONGEST).map(kept).collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    name
}
