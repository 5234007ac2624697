//! Learning predictors on the paper's examples, beside `papers/oracles/pikulinski_learning.py`.

use oldham_papers::{Report, find};

fn compute(name: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let items = find(Some(name)).unwrap();
    assert_eq!(items.len(), 1);
    items[0].compute(folder.path()).unwrap()
}

fn value(report: &Report, name: &str) -> f64 {
    let found = report.rows.iter().find(|row| row.name == name);
    let found = found.unwrap_or_else(|| panic!("no row {name}"));
    found.computed.number()
}

#[test]
fn three_pairs_give_the_printed_recurrence() {
    let report = compute("pikulinski/eq-24");
    assert!(value(&report, "largest difference") < 1e-12);
}

/// A start from two pairs leaves 1.2 to 1.3 %, by the script and by the paper's method; a tenth of that is wanted.
#[test]
fn the_start_leaves_less_than_a_tenth_of_what_a_hold_leaves() {
    let report = compute("pikulinski/fig-9");
    assert!(value(&report, "energy error that our start leaves") < 1.3e-3);
    assert!(value(&report, "largest energy error, ours") < 1.3e-3);
}

/// A hold gains 2.0 J (2.047 by the script); 1e-4 J is wanted.
#[test]
fn the_energy_of_the_pendula_is_kept() {
    let report = compute("pikulinski/fig-15");
    let worst = |what: &str| value(&report, &format!("largest energy error in 5 s, {what}"));
    assert!((worst("hold") - 2.03).abs() < 0.03);
    assert!(worst("learned, window 100") < 1e-4);
    assert!(worst("learned, automatic window") < 1e-4);
}

/// The choice while running is as good as the best that could have been made before.
#[test]
fn automatic_windows_are_within_ten_percent_of_the_best_fixed_ones() {
    for figure in ["fig-6", "fig-14", "fig-18"] {
        let report = compute(&format!("pikulinski/{figure}"));
        let rows = report.rows.iter();
        let ratios: Vec<_> = rows
            .filter(|row| row.name.starts_with("automatic over best"))
            .collect();
        assert!(!ratios.is_empty());
        for row in ratios {
            let ratio = row.computed.number();
            assert!(ratio < 1.1, "{}: {ratio}", row.name);
        }
    }
}

/// At 20 ms a hold is unstable, learning and exchanging pressures are not.
#[test]
fn learning_and_pressures_are_stable_where_a_hold_is_not() {
    let report = compute("pikulinski/fig-22");
    let stable = |what: &str| value(&report, &format!("stable, {what}")) > 0.0;
    assert!(!stable("hold"));
    for what in [
        "pressure coupling",
        "learned, window 10",
        "learned, automatic window",
    ] {
        assert!(stable(what), "{what}");
        let worst = value(&report, &format!("largest length error, {what}"));
        assert!(worst < 0.02, "{what}: {worst}");
    }
}

/// The paper's own predictor: its start leaves 1.3 % (1.2 % by the script, with least norm); over the window its error falls up to 100 and stays,
/// as the paper says of Fig. 6; the pendula keep their energy.
#[test]
fn the_predictor_of_the_paper_does_what_the_paper_says() {
    let report = compute("pikulinski/fig-9");
    let left = value(&report, "energy error that the paper's start leaves");
    assert!((left / 0.013 - 1.0).abs() < 0.2, "{left}");
    let report = compute("pikulinski/fig-6");
    for statement in &report.statements {
        assert!(statement.holds, "{}: {}", statement.text, statement.note);
    }
    let recursive = value(&report, "NMSE, paper's, recursive");
    let anew = value(&report, "NMSE, paper's, window 100");
    assert!((recursive / anew - 1.0).abs() < 0.01, "{recursive} {anew}");
}
