//! Files that commands write beside results: what they may not replace.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Longest text that is looked through.
const MOST_BYTES: u64 = 64 << 20;
/// Files that are looked through at most.
const MOST_FILES: usize = 1000;

/// Refuses to write over what a command reads, over any file that a model among its inputs names, or over any other
/// model. Other files that are there are from an earlier call, and are replaced.
pub fn protect(target: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let Some(there) = real(target) else {
        return Ok(());
    };
    let inputs: Vec<PathBuf> = inputs.iter().filter_map(|input| real(input)).collect();
    if inputs.contains(&there) || is_named(&there, inputs) || is_model(&there) {
        return Err(Failure::WouldReplace {
            path: target.to_owned(),
        });
    }
    Ok(())
}

/// Whether a text among the inputs, or a model that one of them includes, names the file: as a table, a mesh, a road.
fn is_named(target: &Path, mut texts: Vec<PathBuf>) -> bool {
    let mut seen = BTreeSet::new();
    while let Some(path) = texts.pop() {
        let is_model = path.extension().is_some_and(|ending| ending == "toml");
        if !is_model || seen.len() == MOST_FILES || !seen.insert(path.clone()) {
            continue;
        }
        let text = oldham_files::read_text(&path, MOST_BYTES).unwrap_or_default();
        let folder = path.parent().unwrap_or(Path::new(""));
        let words = text.lines().flat_map(|line| line.split(['"', '\'']));
        for word in words.filter(|word| word.contains('.')) {
            let Ok(named) = fs::canonicalize(folder.join(word)) else {
                continue;
            };
            if named == target {
                return true;
            }
            texts.push(named);
        }
    }
    false
}

/// Whether a file reads like a model: TOML with a section that only models have.
fn is_model(path: &Path) -> bool {
    let text = oldham_files::read_text(path, MOST_BYTES).unwrap_or_default();
    const SECTIONS: [&str; 4] = ["simulation", "lumped", "multibody", "hydraulics"];
    text.lines().any(|line| {
        let section = line.trim_start().strip_prefix('[');
        let name = section.and_then(|rest| rest.split(['.', ']']).next());
        name.is_some_and(|name| SECTIONS.contains(&name.trim()))
    })
}
