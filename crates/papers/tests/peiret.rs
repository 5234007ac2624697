//! The manipulator of peiret against values that were found independently.

use oldham_papers::{Report, find};

fn compute(name: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let report = find(Some(name)).unwrap()[0].compute(folder.path()).unwrap();
    assert!(report.files.iter().all(|file| file.exists()));
    report
}

fn value(report: &Report, name: &str) -> f64 {
    let found = report.rows.iter().find(|row| row.name == name);
    found.unwrap_or_else(|| panic!("no row {name}")).computed
}

#[test]
fn statics_finds_the_valves_that_hold_the_arm() {
    let report = compute("peiret/statics");
    for (name, expected) in [
        ("neutral spool, oil.boom", 0.441599),
        ("neutral spool, oil.stick", 0.487108),
    ] {
        let found = value(&report, name);
        assert!((found - expected).abs() < 1e-6, "{name}: {found}");
    }
}

/// The interface model at every step, and nothing else.
#[test]
fn only_the_interface_model_is_stable_at_every_step() {
    let report = compute("peiret/fig-13");
    assert_eq!(value(&report, "stable up to, interface model"), 20.0);
    for other in ["hold", "linear", "quadratic"] {
        let found = value(&report, &format!("stable up to, {other}"));
        assert!(found < 20.0, "{other}: {found}");
    }
    // First order or better: a tenth of the step, at most a seventh of the error.
    let error = |ms: u32| value(&report, &format!("RMS of length, interface model, {ms} ms"));
    assert!(error(10) > 7.0 * error(1), "{} {}", error(10), error(1));
}
