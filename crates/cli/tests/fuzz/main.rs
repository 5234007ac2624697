//! Files that were damaged at random, read as the commands read them: none may panic, take more than 20 s or
//! 1 GB, or end well with a number that is none.
//!
//! A few of each kind by default; `make fuzz` takes 20,000 in all (`OLDHAM_FUZZ`). A failure names its kind and case,
//! which is always the same: `OLDHAM_FUZZ_CASE=models:1234` runs that one alone, and keeps its file.

mod mutation;
mod readers;
mod watch;

use mutation::Random;

/// What of all cases a kind gets, in hundredths.
type Share = u64;

fn asked() -> Option<u64> {
    let count = std::env::var("OLDHAM_FUZZ").ok()?;
    Some(count.parse().expect("OLDHAM_FUZZ is a number of cases"))
}

fn is_asked_for() -> bool {
    asked().is_some()
}

/// Runs the cases of a kind on a folder of its own, and names all that fail.
fn cases(
    kind: &str,
    share: Share,
    mut one: impl FnMut(&mut Random, &std::path::Path) -> Result<(), String>,
) {
    const BY_DEFAULT: u64 = 400;
    let count = (asked().unwrap_or(BY_DEFAULT) * share).div_ceil(100);
    let only = std::env::var("OLDHAM_FUZZ_CASE").ok();
    let only = only
        .as_deref()
        .map(|case| case.split_once(':').expect("KIND:NUMBER"));
    let range = match only {
        Some((of, _)) if of != kind => return,
        Some((_, case)) => {
            let case: u64 = case.parse().expect("the number of a case");
            case..case + 1
        }
        None => 0..count,
    };
    let folder = tempfile::tempdir().expect("a folder");
    let mut failed = Vec::new();
    for case in range {
        let mut random = Random::of(kind, case);
        let name = format!("{kind}:{case}");
        failed.extend(watch::watched(&name, || one(&mut random, folder.path())).err());
    }
    if only.is_some() {
        eprintln!("kept: {}", folder.keep().display());
    }
    assert!(
        failed.is_empty(),
        "{} of {count} cases:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn models() {
    let models = readers::Models::of_examples();
    cases("models", 35, |random, folder| models.run(random, folder));
}

#[test]
fn settings() {
    let models = readers::Models::of_examples();
    cases("settings", 5, |random, folder| models.set(random, folder));
}

#[test]
fn analyses() {
    let models = readers::Models::small();
    cases("analyses", 5, |random, folder| {
        models.analyse(random, folder)
    });
}

#[test]
fn tables() {
    cases("tables", 10, readers::table);
}

#[test]
fn tyres() {
    cases("tyres", 5, readers::tyre);
}

#[test]
fn meshes() {
    cases("meshes", 5, readers::mesh);
}

#[test]
fn robots() {
    let robots = readers::Robots::new();
    cases("robots", 5, |random, folder| robots.convert(random, folder));
}

#[test]
fn results() {
    let results = readers::Results::new();
    cases("results", 15, |random, folder| results.read(random, folder));
}

#[test]
fn checkpoints() {
    let saved = readers::Saved::new();
    cases("checkpoints", 5, |random, folder| {
        saved.restore(random, folder)
    });
}

#[test]
fn wheels() {
    cases("wheels", 5, readers::wheel);
}

#[test]
fn frames() {
    let server = readers::Served::new();
    cases("frames", 5, |random, _| server.send(random));
}
