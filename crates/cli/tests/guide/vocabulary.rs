//! The page of the vocabulary names types, functions and modules that are there.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// All words of the sources.
fn words_of_the_code(root: &Path) -> HashSet<String> {
    let mut words = HashSet::new();
    let mut folders = vec![root.join("crates")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path: PathBuf = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                let text = fs::read_to_string(path).unwrap();
                let found = text.split(|c: char| !c.is_alphanumeric() && c != '_');
                words.extend(found.map(str::to_owned));
            }
        }
    }
    words
}

#[test]
fn every_type_of_the_vocabulary_is_in_the_code() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = fs::read_to_string(root.join("docs/src/vocabulary.md")).unwrap();
    let words = words_of_the_code(&root);
    let (types, _) = page.split_once("## Former words").unwrap();
    let mut missing = Vec::new();
    let mut named = 0;
    for row in types.lines().filter(|line| line.starts_with('|')) {
        let last = row.trim_end_matches('|').rsplit('|').next().unwrap();
        for name in last.split('`').skip(1).step_by(2) {
            named += 1;
            let is_there = name.split("::").all(|word| words.contains(word));
            missing.extend((!is_there).then_some(name));
        }
    }
    assert!(missing.is_empty(), "{missing:?}");
    assert!(named > 100, "{named} names were found");
}
