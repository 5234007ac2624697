//! The two-mass oscillator of zhang against `papers/oracles/zhang_two_masses.py`, which runs its equations by hand.

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

fn assert_near(report: &Report, name: &str, expected: f64, tolerance: f64) {
    let found = value(report, name);
    assert!(
        (found - expected).abs() <= tolerance,
        "{name}: {found}, expected {expected}"
    );
}

/// Half a point of the map, and the last printed digit.
const FRACTION: f64 = 0.5 / 1640.0 + 5e-4;

#[test]
fn fig_5_has_the_known_radii_and_fractions() {
    let report = compute("zhang/fig-5");
    let expected = [
        ("original", 1.1053, 0.0, 1.285, 1.0),
        ("index-3", 0.99938, 0.288, 1.167, 0.89),
        ("index-2", 0.99938, 0.194, 1.186, 1.0),
        ("index-1", 0.99938, 0.936, 1.140, 1.0),
    ];
    for (law, radius, fraction, jacobi, smooth_first) in expected {
        assert_near(&report, &format!("{law}: spectral radius"), radius, 5e-5);
        assert_near(
            &report,
            &format!("{law}: stable points"),
            fraction,
            FRACTION,
        );
        let both = "both at once (Jacobi)";
        let name = format!("{both}, {law}: spectral radius");
        assert_near(&report, &name, jacobi, 5e-4);
        let name = format!("{both}, {law}: stable points");
        assert_near(&report, &name, 0.0, 0.0);
        let name = format!("smooth side first, {law}: stable points");
        assert_near(&report, &name, smooth_first, 5e-3);
    }
}

#[test]
fn fig_6_has_the_known_fractions() {
    let report = compute("zhang/fig-6");
    for (label, fraction) in [
        ("weights 0.2, 0.2, 1", 1.0),
        ("weights 20, 20, 1", 0.329),
        ("weights 200, 200, 1", 0.210),
        ("implicit", 1.0),
    ] {
        let name = format!("{label}: stable points");
        assert_near(&report, &name, fraction, FRACTION);
    }
}

#[test]
fn fig_7_has_the_known_fractions() {
    let report = compute("zhang/fig-7");
    for (label, fraction) in [
        ("m2 / m1 = 0.5, original", 0.832),
        ("m2 / m1 = 0.5, index-1", 1.0),
        ("m2 / m1 = 2, original", 0.0),
        ("m2 / m1 = 2, index-1", 0.232),
        ("m2 / m1 = 2, smooth side first, original", 0.464),
        ("m2 / m1 = 2, smooth side first, index-2", 0.971),
        ("m2 / m1 = 2, smooth side first, index-1", 0.663),
    ] {
        let name = format!("{label}: stable points");
        assert_near(&report, &name, fraction, FRACTION);
    }
}

#[test]
fn fig_8_grows_with_original_inputs_only() {
    let report = compute("zhang/fig-8");
    assert!(value(&report, "original: largest position") > 1.0);
    for law in ["index-3", "index-2", "index-1"] {
        let largest = value(&report, &format!("{law}: largest position"));
        assert!(largest < 2.05e-3, "{law}: {largest}");
    }
}

#[test]
fn fig_9_has_the_known_errors() {
    let report = compute("zhang/fig-9");
    for (name, errors) in [
        ("index-1", [0.1406, 0.01553, 0.001568]),
        ("implicit", [0.14149, 0.015533, 0.0015683]),
    ] {
        for (step, error) in ["1e-3", "1e-4", "1e-5"].into_iter().zip(errors) {
            let name = format!("{name}: error of x at {step} s");
            assert_near(&report, &name, error, 1e-3 * error);
        }
    }
    for name in ["index-3", "index-2", "index-1", "implicit"] {
        for quantity in ["x", "v"] {
            assert_near(&report, &format!("{name}: order of {quantity}"), 1.0, 0.02);
        }
    }
}
