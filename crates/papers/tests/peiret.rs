//! The manipulator of peiret; its statics against `papers/oracles/hydraulic_statics.py`.

use oldham_papers::{Report, find};

fn compute(name: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let report = find(Some(name)).unwrap()[0].compute(folder.path()).unwrap();
    assert!(report.files.iter().all(|file| file.exists()));
    report
}

fn value(report: &Report, name: &str) -> f64 {
    let found = report.rows.iter().find(|row| row.name == name);
    let found = found.unwrap_or_else(|| panic!("no row {name}"));
    found.computed.number()
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

/// The interface model at every step, and nothing else; with contact too.
#[test]
fn only_the_interface_model_is_stable_at_every_step() {
    let report = compute("peiret/fig-13");
    for variant in ["block as printed", "block that slides", "no block"] {
        let limit = |scheme: &str| value(&report, &format!("stable up to, {variant}, {scheme}"));
        assert_eq!(limit("interface model"), 20.0, "{variant}");
        // In contact from 2 s on, the arm as printed rests against the block, and a hold has nothing to excite.
        let others = match variant {
            "block as printed" => &["linear", "quadratic"][..],
            _ => &["hold", "linear", "quadratic"],
        };
        for other in others {
            assert!(limit(other) < 20.0, "{variant}, {other}: {}", limit(other));
        }
    }
    // First order or better: a tenth of the step, at most a seventh of the error.
    let error = |ms: u32| {
        let name = format!("RMS of length, no block, interface model, {ms} ms");
        value(&report, &name)
    };
    assert!(error(10) > 7.0 * error(1), "{} {}", error(10), error(1));
}

/// The machine has the printed size, follows the wanted speeds, and holds the log.
#[test]
fn the_crane_takes_the_log() {
    let report = compute("peiret/fig-10");
    assert_eq!(value(&report, "bodies"), 18.0);
    assert_eq!(value(&report, "equations of the joints"), 92.0);
    for (name, wanted) in [("actuator 1", -50.0), ("actuator 2", -20.0)] {
        let rate = value(&report, &format!("rate of {name}"));
        assert!((rate / wanted - 1.0).abs() < 0.2, "{name}: {rate}");
    }
    let report = compute("peiret/fig-11");
    for ms in [2, 10, 16, 20] {
        let height = value(
            &report,
            &format!("height of the log, interface model, {ms} ms"),
        );
        assert!(height > 0.5, "{ms} ms: {height}");
    }
}

/// The tip pushes with less than the friction holds, as printed; in the other variant it reaches the wall, and then
/// joints and contacts hold about as much as the paper counts.
#[test]
fn the_block_stays_or_slides_to_the_wall() {
    let report = compute("peiret/fig-7");
    assert!(value(&report, "way of the block, block as printed").abs() < 1e-5);
    let way = value(&report, "way of the block, block that slides");
    assert!((way - 0.1).abs() < 1e-5, "{way}");
    // Two revolutes, the tip without friction, four points on the floor; at the wall an edge or a face. Where floor and wall
    // yield, nothing is redundant, and all points press.
    let rows = value(&report, "most active rows, block that slides");
    assert!([29.0, 35.0].contains(&rows), "{rows}");
    let soft = "most active rows, block that slides on soft ground";
    let soft = report.rows.iter().find(|row| row.name == soft);
    let told = &soft.expect("such a row").note;
    assert!(told.contains("4 points on the floor"), "{told}");
    assert!(told.contains("4 on the wall"), "{told}");
}
