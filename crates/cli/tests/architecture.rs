//! `ARCHITECTURE.md` says where things are: the places that it names in full must exist.

use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What stands between backticks, outside of blocks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`')
        .enumerate()
        .filter_map(|(place, part)| (place % 2 == 1).then_some(part))
}

/// Paths that begin with a crate's folder or with one of the project.
fn places(text: &str) -> Vec<&str> {
    let begins = |path: &str| {
        let first = path.split('/').next().unwrap_or_default();
        let crates = root().join("crates").join(first);
        crates.is_dir() || root().join(first).is_dir()
    };
    quoted(text)
        .filter(|word| word.contains('/') && !word.contains([' ', '*']) && !word.contains("NAME"))
        .filter(|word| begins(word))
        .collect()
}

#[test]
fn every_place_of_the_map_exists() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let text = text.replace("```", "");
    let found = places(&text);
    assert!(found.len() > 100, "{} places", found.len());
    let missing: Vec<_> = found
        .into_iter()
        .filter(|place| {
            let outside = root().join(place);
            let inside = root().join("crates").join(place);
            // `tests/` stands both for the project's folder and, short, for that of a crate.
            !outside.exists() && !inside.exists() && !place.starts_with("tests/")
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

/// Each change by which the map is tried has a row that begins at a place which exists.
#[test]
fn twelve_changes_have_a_place_to_begin() {
    let text = std::fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let section = text.split("\n## Twelve questions\n").nth(1).expect("it");
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<&str> = section
        .lines()
        .filter(|line| line.starts_with("| ") && !line.starts_with("| The change"))
        .collect();
    assert_eq!(rows.len(), 12);
    for row in rows {
        let begins = row.split('|').nth(2).unwrap();
        let begins = places(begins);
        assert!(!begins.is_empty(), "{row}");
        for place in begins {
            let [outside, inside] = ["", "crates"].map(|from| root().join(from).join(place));
            assert!(outside.exists() || inside.exists(), "{place}");
        }
    }
}

#[test]
fn every_record_is_in_its_list() {
    let folder = root().join("docs/adr");
    let list = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let files = std::fs::read_dir(&folder).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let records: Vec<String> = names.filter(|name| name != "README.md").collect();
    assert!(records.len() > 80, "{} records", records.len());
    let missing: Vec<_> = records
        .iter()
        .filter(|name| {
            // The number in front is that of the file.
            let number = name[..4].trim_start_matches('0');
            !list
                .lines()
                .any(|line| line.starts_with(&format!("{number}. [")) && line.contains(*name))
        })
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
