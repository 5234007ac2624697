//! Computed values against scripts in `papers/oracles` that know the equations alone.

use oldham_papers::{Report, find};

fn compute(name: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let items = find(Some(name)).unwrap();
    assert_eq!(items.len(), 1);
    let report = items[0].compute(folder.path()).unwrap();
    for file in &report.files {
        assert!(file.exists());
    }
    report
}

fn value(report: &Report, name: &str) -> f64 {
    let found = report.rows.iter().find(|row| row.name == name);
    let found = found.unwrap_or_else(|| panic!("no row {name}"));
    found.computed.number()
}

/// Every digit of the printed table comes out with the damping that its authors must have used.
#[test]
fn table_2_of_fontana_comes_out_with_stronger_dampers_on_the_left() {
    let report = compute("fontana/table-2");
    for row in report.rows.iter().filter(|row| row.printed.is_some()) {
        let printed = row.printed.unwrap();
        assert!(
            (row.computed.number() / printed - 1.0).abs() < 5e-5,
            "{}: {:?}",
            row.name,
            row.computed
        );
    }
    assert!((value(&report, "Table 1, eigenvalue 1, real part") + 1.2641).abs() < 5e-5);
    assert!((value(&report, "Table 1, eigenvalue 3, imaginary part") - 45.916).abs() < 5e-4);
}

/// `papers/oracles/fontana_oscillators.py` has these numbers, but for the literature's schemes.
#[test]
fn fig_9_of_fontana_has_the_known_radii_and_counts() {
    let report = compute("fontana/fig-9");
    assert!((value(&report, "proposed: spectral radius") - 0.998_736_772).abs() < 1e-9);
    assert!((value(&report, "monolithic: spectral radius") - 0.998_736_785).abs() < 1e-9);
    assert_eq!(value(&report, "proposed: stable points"), 599.0);
    for (order, count) in [("constant", 606.0), ("linear", 589.0), ("Hermite", 599.0)] {
        let name = format!("{order} extrapolation: stable points");
        assert_eq!(value(&report, &name), count, "{order}");
    }
    // Velocities of the coupling subsystem exchanged too.
    let both = |what: &str| value(&report, &format!("position and velocity exchanged: {what}"));
    assert!((both("spectral radius") - 0.998_736_507).abs() < 1e-9);
    assert_eq!(both("stable points"), 606.0);
    assert!((both("smallest interface mass") - 0.0190).abs() < 1e-4);
    // The literature's scheme: 2.99 at the baseline, 36 % of the map.
    assert!((value(&report, "literature: spectral radius") - 2.99).abs() < 5e-3);
    let share = value(&report, "literature: stable points") / 625.0;
    assert!((share - 0.36).abs() < 5e-3, "{share}");
    let share = value(&report, "literature, semi-implicit Euler: stable points") / 625.0;
    assert!((share - 0.55).abs() < 1e-2, "{share}");
    assert_eq!(value(&report, "interface Jacobian: stable points"), 625.0);
    let name = "interface Jacobian: largest difference of radii from monolithic";
    assert!(value(&report, name) < 1e-9);
}

/// Borders of `papers/oracles/fontana_oscillators.py`: 24.935 g explicit, 10.91 g implicit.
#[test]
fn fig_11_of_fontana_has_the_known_borders() {
    let report = compute("fontana/fig-11");
    let loose = value(&report, "explicit: smallest interface mass");
    assert!((loose - 0.024935).abs() < 1e-6, "{loose}");
    let tight = value(
        &report,
        "implicit, plain iteration: smallest interface mass",
    );
    assert!((tight - 0.01091).abs() < 3e-5, "{tight}");
    for what in ["stiffness", "damping"] {
        let name = format!("masses and {what}, interface Jacobian: stable points");
        assert_eq!(value(&report, &name), 625.0, "{name}");
    }
}

/// Ratios at 1 ms and orders that were computed independently.
#[test]
fn fig_13_of_fontana_has_the_known_errors_and_orders() {
    let report = compute("fontana/fig-13");
    let expected = [
        ("LMS2", 1.02, 2.0),
        ("RK4, force interpolated", 0.59, 2.0),
        ("RK4, force held", 115.0, 1.0),
        ("backward Euler", 220.0, 1.0),
    ];
    for (name, ratio, order) in expected {
        let found = value(&report, &format!("{name}: error / monolithic"));
        assert!((found / ratio - 1.0).abs() < 0.03, "{name} {found}");
        let found = value(&report, &format!("{name}: order"));
        assert!((found - order).abs() < 0.06, "{name} {found}");
    }
    let coupling = value(&report, "LMS2: order of the coupling error");
    assert!((coupling - 3.0).abs() < 0.05, "{coupling}");
}

#[test]
fn an_unknown_item_is_told_with_what_there_is() {
    let error = find(Some("fontana/fig-99")).err().unwrap().to_string();
    assert!(error.contains("fontana/fig-9"), "{error}");
}

/// The car reaches its speed and corners at 0.8 g; cut it moves as it does whole.
#[test]
fn fig_20_of_fontana_corners_as_wanted_cut_and_whole() {
    let report = compute("fontana/fig-20");
    assert!((value(&report, "lateral acceleration") - 0.8).abs() < 2e-3);
    assert!((value(&report, "speed before the step") - 100.0 / 3.6).abs() < 0.1);
    let name = "largest difference of the velocity from the monolithic car";
    assert!(value(&report, name) < 1e-7, "{}", value(&report, name));
    let order = value(&report, "order of the difference");
    assert!(order > 1.8, "{order}");
}

/// Half a second of each run by the clock: all of them are there, none is ahead of it, and a viewer
/// changes nothing of what is counted. How late steps are is the machine's affair.
#[test]
fn the_car_runs_by_the_clock_with_and_without_viewers() {
    let folder = tempfile::tempdir().unwrap();
    let items = find(Some("fontana/real-time")).unwrap();
    let began = std::time::Instant::now();
    let report = items[0].compute_for(folder.path(), Some(0.5)).unwrap();
    assert!(began.elapsed().as_secs_f64() >= 6.0 * 0.49);
    assert!(report.files[0].exists());
    for kind in ["whole", "cut"] {
        for audience in ["no viewer", "a viewer", "a stalled viewer"] {
            let of = |what: &str| value(&report, &format!("{kind}, {audience}: {what}"));
            let steps = (0.5_f64 / 3e-4).round();
            assert!((0.0..=steps).contains(&of("missed")));
            assert!(of("p99.9") <= 1.04 * of("longest step"));
            assert!(of("largest lateness") >= 0.0 && of("slip") >= 0.0);
        }
    }
}

/// The printed gains in the very runs of Table 5, and when its errors are reached, as `papers/oracles/tamellin_two_masses.py` has it.
#[test]
fn table_5_of_tamellin_runs_with_the_printed_gains() {
    let report = compute("tamellin/table-5");
    let near = |name: &str, expected: f64, tolerance: f64| {
        let found = value(&report, name);
        assert!(
            (found / expected - 1.0).abs() < tolerance,
            "{name}: {found}"
        );
    };
    near(
        "undamped, Ts = 1 ms, with the printed gains, displacement",
        0.0090,
        0.01,
    );
    near(
        "undamped, Ts = 1 ms, with the printed gains, force",
        0.0081,
        0.015,
    );
    let reached = "without compensation, displacement: printed error reached at";
    near(&format!("undamped, Ts = 1 ms, {reached}"), 80.7, 2e-3);
    near(&format!("damped, Ts = 4 ms, {reached}"), 43.3, 2e-3);
}
