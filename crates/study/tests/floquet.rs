//! Multipliers of linear equations with periodic coefficients against SciPy's: `data/floquet.py`, whose output is `data/floquet.txt`.

use std::f64::consts::{PI, TAU};

use oldham_study::{ModelFile, Trim, TrimOptions, trim};

const SCIPY: &str = include_str!("data/floquet.txt");

/// What SciPy found, the largest first.
fn exact(name: &str) -> Vec<f64> {
    let line = SCIPY.lines().find_map(|line| line.strip_prefix(name));
    let line = line.unwrap_or_else(|| panic!("no `{name}`"));
    let numbers = line.split_whitespace().take_while(|word| *word != "+-");
    numbers.map(|word| word.parse().unwrap()).collect()
}

fn trimmed(text: &str) -> Trim {
    let file = ModelFile::of_text("test", text);
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let found = trim(&file, &model, &TrimOptions::default(), |_| {});
    found.unwrap_or_else(|error| panic!("{error}")).trim
}

fn head(step: f64, period: f64, integrator: &str) -> String {
    let rho = if integrator == "lms2" { "rho = 1" } else { "" };
    let duration = 100.0 * step;
    format!(
        r#"
[model]
name = "Test"
[simulation]
duration = {duration}
step = {step}
[trim]
period = {period}
[lumped.body]
integrator = "{integrator}"
{rho}
"#
    )
}

/// One coordinate with this force against its motion.
fn oscillator(step: f64, period: f64, integrator: &str, force: &str) -> Trim {
    let body = format!(
        r#"
[lumped.body.masses]
x = {{ mass = 1, position = 0 }}
[lumped.body.springs]
wall = {{ between = ["ground", "x"], force = "{force}" }}
[lumped.body.outputs]
x = {{ motion = "x" }}
"#
    );
    trimmed(&(head(step, period, integrator) + &body))
}

fn hill(delta: f64, step: f64, integrator: &str) -> Trim {
    let law = format!("({delta} + 0.3 * cos(2 * t) + 0.2 * cos(4 * t)) * d + 0.05 * v");
    oscillator(step, PI, integrator, &law)
}

/// About the upper rest of a pendulum, whose support is shaken up and down.
fn inverted(omega: f64, step: f64, integrator: &str) -> Trim {
    let law = format!("-(9.81 - 0.01 * {omega}^2 * cos({omega} * t)) / 0.2 * sin(d) + 0.4 * v");
    oscillator(step, TAU / omega, integrator, &law)
}

/// A shaft that is 100 and 60 N/m stiff across and turns: in axes that stand still, two directions and what couples them.
fn jeffcott(speed: f64, step: f64, integrator: &str) -> Trim {
    let (c, s) = (
        format!("20 * cos(2 * {speed} * t)"),
        format!("20 * sin(2 * {speed} * t)"),
    );
    let body = format!(
        r#"
[lumped.body.masses]
x = {{ mass = 1, position = 0 }}
y = {{ mass = 1, position = 0 }}
[lumped.body.springs]
x = {{ between = ["ground", "x"], force = "(80 + {c} + {s}) * d + 0.2 * v" }}
y = {{ between = ["ground", "y"], force = "(80 - {c} + {s}) * d + 0.2 * v" }}
xy = {{ between = ["x", "y"], force = "-{s} * d" }}
[lumped.body.outputs]
x = {{ motion = "x" }}
"#
    );
    trimmed(&(head(step, PI / speed, integrator) + &body))
}

/// A model for a step and an integrator.
type Case = Box<dyn Fn(f64, &str) -> Trim>;

/// Each with its name and a step for `rk4`.
fn all() -> Vec<(String, Case, f64)> {
    let mut all: Vec<(String, Case, f64)> = Vec::new();
    for delta in [1.0, 1.6] {
        let of = move |step: f64, integrator: &str| hill(delta, step, integrator);
        all.push((format!("hill {delta:.1}"), Box::new(of), 4e-3));
    }
    for omega in [60.0, 400.0] {
        let of = move |step: f64, integrator: &str| inverted(omega, step, integrator);
        all.push((
            format!("inverted {omega}"),
            Box::new(of),
            0.2 / omega / 20.0,
        ));
    }
    for speed in [9.0, 15.0] {
        let of = move |step: f64, integrator: &str| jeffcott(speed, step, integrator);
        all.push((format!("jeffcott {speed}"), Box::new(of), 4e-4));
    }
    all
}

#[test]
fn multipliers_with_rk4_are_those_of_scipy() {
    for (name, of, step) in all() {
        let exact = exact(&name);
        let found = of(step, "rk4");
        let radius = found.multipliers[0].radius;
        assert!(
            (radius - exact[0]).abs() < 1e-8,
            "{name}: {radius} {exact:?}"
        );
        let verdict = if exact[0] > 1.0 { "unstable" } else { "stable" };
        assert_eq!(found.verdict, verdict, "{name}");
    }
}

#[test]
fn multipliers_with_lms2_converge_by_order_two() {
    for (name, of, step) in all() {
        let exact = exact(&name)[0];
        let off = [16.0, 8.0, 4.0]
            .map(|times| (of(times * step, "lms2").multipliers[0].radius - exact).abs());
        for pair in off.windows(2) {
            let order = (pair[0] / pair[1]).log2();
            assert!((1.8..2.3).contains(&order), "{name}: {off:?}");
        }
    }
}
