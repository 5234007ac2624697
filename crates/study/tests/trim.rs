//! Steady motions against closed forms, published numbers and independent integrations.

use std::f64::consts::{PI, TAU};

use oldham_study::{
    ModelFile, PreparedRun, RunOptions, StudyError, Trim, TrimOptions, TrimmedFile, trim,
};

fn trimmed(text: &str) -> Trim {
    let file = ModelFile::of_text("test", text);
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    let found = trim(&file, &model, &TrimOptions::default(), |_| {});
    found.unwrap_or_else(|error| panic!("{error}")).trim
}

fn failure(text: &str) -> StudyError {
    let file = ModelFile::of_text("test", text);
    let model = file.read().unwrap_or_else(|problems| panic!("{problems}"));
    match trim(&file, &model, &TrimOptions::default(), |_| {}) {
        Ok(found) => panic!("found: {:?}", found.trim),
        Err(error) => error,
    }
}

fn found(trim: &Trim, name: &str) -> f64 {
    let quantity = trim.found.iter().find(|quantity| quantity.name == name);
    quantity.expect("a free parameter").value
}

fn near(value: f64, exact: f64, tolerance: f64) {
    let off = (value - exact).abs();
    assert!(
        off <= tolerance * exact.abs().max(1e-300),
        "{value} is not {exact}: off by {off:e}"
    );
}

/// Weight and drag that grows with the square of the speed: the speed at which both are the same.
const FALL: &str = r#"
[model]
name = "Fall"
[parameters]
weight = 20
[simulation]
duration = 1
step = 1e-3
[lumped.body]
integrator = "INTEGRATOR"
[lumped.body.masses]
x = { mass = 2, velocity = 3 }
[lumped.body.springs]
air = { between = ["ground", "x"], force = "0.8 * v * abs(v)" }
[lumped.body.loads]
weight = { on = "x", force = "weight" }
[lumped.body.outputs]
x = { motion = "x" }
"#;

#[test]
fn a_falling_body_has_its_final_speed() {
    for integrator in ["rk4", "lms2", "generalized-alpha"] {
        let text = FALL.replace("INTEGRATOR", integrator);
        let Ok(_) = ModelFile::of_text("test", &text).read() else {
            continue;
        };
        let hold = "\n[trim]\nfree = [\"weight\"]\nhold = { \"body.x.v\" = 5 }\n";
        let steady = trimmed(&(text.clone() + hold));
        assert!(steady.residual < 1e-9, "{steady:?}");
        // Twice the tolerance of the speed, at most.
        near(found(&steady, "weight"), 0.8 * 25.0, 4e-9);
        assert_eq!(steady.verdict, "stable");
        // The speed decays at 2 c v / m; the place is only counted.
        assert_eq!(steady.drifts, 1);
        near(steady.multipliers[0].growth, -2.0 * 0.8 * 5.0 / 2.0, 1e-4);
    }
}

/// A mass on a spring under a force that alternates: x(0) of the steady vibration is known.
fn vibration(integrator: &str, step: f64) -> String {
    format!(
        r#"
[model]
name = "Vibration"
[simulation]
duration = 10
step = {step}
[lumped.body]
integrator = "{integrator}"
[lumped.body.masses]
x = {{ mass = 1, velocity = 0 }}
[lumped.body.springs]
wall = {{ between = ["ground", "x"], stiffness = 9, damping = 0.4 }}
[lumped.body.loads]
push = {{ on = "x", force = "2 * cos(2.5 * t)" }}
[lumped.body.outputs]
x = {{ motion = "x" }}
[trim]
period = "2 * pi / 2.5"
"#
    )
}

#[test]
fn a_forced_vibration_is_found_at_once() {
    let steady = trimmed(&vibration("rk4", 0.005));
    assert!(steady.residual < 1e-10, "{steady:?}");
    // The step is a whole fraction of the period.
    near(steady.step * steady.steps as f64, TAU / 2.5, 1e-14);
    // Multipliers of a damped oscillator: exp(T(−c/2m ± iω)).
    let omega = (9.0_f64 - 0.04).sqrt();
    let period = TAU / 2.5;
    near(steady.multipliers[0].radius, (-0.2 * period).exp(), 1e-8);
    let angle = (omega * period).rem_euclid(TAU);
    let folded = angle.min(TAU - angle);
    let [re, im] = steady.multipliers[0].multiplier;
    near(im.atan2(re), folded, 1e-7);
    assert_eq!(steady.verdict, "stable");
}

/// Growth of Mathieu's equation over a period, x'' + c x' + (δ + 2ε cos 2t) x = 0, by Taylor series of order twelve in
/// two hundred steps: the trace of the monodromy matrix.
fn mathieu_trace(c: f64, delta: f64, epsilon: f64) -> f64 {
    let steps = 400;
    let h = PI / steps as f64;
    let mut columns = [[1.0, 0.0], [0.0, 1.0]];
    for column in &mut columns {
        for n in 0..steps {
            let t = n as f64 * h;
            // Coefficients of cos 2t about t, and of x by the recursion of the equation.
            let order = 14;
            let mut k = vec![0.0; order];
            let mut factor = 1.0;
            for (power, k) in k.iter_mut().enumerate() {
                let derivative = (2.0 * t + power as f64 * PI / 2.0).cos();
                *k = 2.0 * epsilon * derivative * factor;
                factor *= 2.0 / (power as f64 + 1.0);
            }
            k[0] += delta;
            let mut x = vec![column[0], column[1]];
            for j in 0..order - 2 {
                let product: f64 = (0..=j).map(|i| k[i] * x[j - i]).sum();
                let next = -(product + c * (j as f64 + 1.0) * x[j + 1])
                    / ((j as f64 + 1.0) * (j as f64 + 2.0));
                x.push(next);
            }
            let value = |x: &[f64]| x.iter().rev().fold(0.0, |sum, a| sum * h + a);
            let rate: Vec<f64> = (1..x.len()).map(|j| j as f64 * x[j]).collect();
            *column = [value(&x), value(&rate)];
        }
    }
    columns[0][0] + columns[1][1]
}

fn mathieu(integrator: &str, step: f64, c: f64, delta: f64, epsilon: f64) -> Trim {
    let rho = if integrator == "lms2" { "rho = 1" } else { "" };
    let text = format!(
        r#"
[model]
name = "Mathieu"
[simulation]
duration = 31.4
step = {step}
[lumped.body]
integrator = "{integrator}"
RHO
[lumped.body.masses]
x = {{ mass = 1, position = 0.0 }}
[lumped.body.springs]
wall = {{ between = ["ground", "x"], force = "({delta} + 2 * {epsilon} * cos(2 * t)) * d + {c} * v" }}
[lumped.body.outputs]
x = {{ motion = "x" }}
[trim]
period = "pi"
"#
    );
    trimmed(&text.replace("RHO", rho))
}

/// Multipliers of Mathieu's equation, whose product is exp(−cπ) and whose sum is the trace.
fn exact_radius(c: f64, delta: f64, epsilon: f64) -> f64 {
    let trace = mathieu_trace(c, delta, epsilon);
    let determinant = (-c * PI).exp();
    let root = trace * trace / 4.0 - determinant;
    match root > 0.0 {
        true => trace.abs() / 2.0 + root.sqrt(),
        false => determinant.sqrt(),
    }
}

#[test]
fn mathieus_multipliers_with_rk4() {
    // In the first tongue, beside it, and in the second one.
    for (c, delta, epsilon) in [(0.05, 1.0, 0.2), (0.05, 1.5, 0.2), (0.02, 4.05, 0.9)] {
        let exact = exact_radius(c, delta, epsilon);
        let steady = mathieu("rk4", 2e-3, c, delta, epsilon);
        near(steady.multipliers[0].radius, exact, 1e-8);
        let verdict = if exact > 1.0 { "unstable" } else { "stable" };
        assert_eq!(steady.verdict, verdict, "{delta}");
        assert!(steady.multipliers[0].error < 1e-6);
    }
}

#[test]
fn mathieus_multipliers_with_lms2_converge_by_order_two() {
    let (c, delta, epsilon) = (0.05, 1.0, 0.2);
    let exact = exact_radius(c, delta, epsilon);
    let off = [0.04, 0.02, 0.01].map(|step| {
        let steady = mathieu("lms2", step, c, delta, epsilon);
        (steady.multipliers[0].radius - exact).abs()
    });
    for pair in off.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((1.8..2.3).contains(&order), "{off:?}");
    }
}

/// A rod on a ball joint that goes round: (I_t − I_a) Ω² cos θ = m g l.
#[test]
fn a_conical_pendulum_leans_as_it_must() {
    let steady = |omega: f64, step: f64| {
        trimmed(&format!(
            r#"
[model]
name = "Conical pendulum"
[parameters]
lean = "40 deg"
[simulation]
duration = 1
step = {step}
[multibody.arm]
gravity = [0, 0, -9.81]
[multibody.arm.nodes]
rod = {{ position = ["0.5 * sin(lean)", 0, "-0.5 * cos(lean)"], velocity = [0, "2.5 * sin(lean)", 0], angular_velocity = [0, 0, 5] }}
[multibody.arm.bodies]
rod = {{ node = "rod", mass = 2, inertia = [0.02, 0.02, 0.002], orientation = {{ axis = [0, 1, 0], angle = "-lean" }} }}
[multibody.arm.joints]
pivot = {{ type = "spherical", between = ["ground", "rod"], position = [0, 0, 0] }}
[multibody.arm.sensors]
wz = {{ angular_velocity = "rod", axis = [0, 0, 1] }}
[multibody.arm.outputs]
rod = {{ motion = "rod" }}
[trim]
hold = {{ "arm.sensors.wz" = {omega} }}
"#
        ))
    };
    let omega = 5.0;
    let trim = steady(omega, 1e-3);
    assert!(trim.residual < 1e-9, "{trim:?}");
    near(trim.turning[2], omega, 1e-9);
    let cosine = 2.0 * 9.81 * 0.5 / ((0.02 + 2.0 * 0.25 - 0.002) * omega * omega);
    let radius = 0.5 * (1.0 - cosine * cosine).sqrt();
    let speed = trim.velocity.iter().map(|v| v * v).sum::<f64>().sqrt();
    // To the order of the formula, at 5 mrad a step.
    near(speed, radius * omega, 2e-5);
}

/// The benchmark bicycle (Meijaard, Papadopoulos, Ruina and Schwab 2007, Table 2) at 5 m/s.
#[test]
fn the_benchmark_bicycle_has_its_published_eigenvalues() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/bicycle.toml");
    let poles = |step: f64| -> Vec<[f64; 2]> {
        let file = ModelFile::new(path).set("simulation.step", step);
        let model = file.read().unwrap();
        let trim = trim(&file, &model, &TrimOptions::default(), |_| {});
        let trim = trim.unwrap_or_else(|error| panic!("{error}")).trim;
        assert!(trim.residual < 1e-9, "{trim:?}");
        near(trim.velocity[0], 5.0, 1e-6);
        assert_eq!(trim.verdict, "stable");
        let poles = trim.multipliers.iter();
        poles.map(|one| [one.growth, TAU * one.frequency]).collect()
    };
    let nearest = |poles: &[[f64; 2]], to: [f64; 2]| {
        let off = |pole: &&[f64; 2]| (pole[0] - to[0]).hypot(pole[1] - to[1]);
        *poles
            .iter()
            .min_by(|a, b| off(a).total_cmp(&off(b)))
            .unwrap()
    };
    // To the order of the formula, at a turn of the wheels of a thirtieth in a step.
    let poles = poles(2e-3);
    for published in [
        [-0.775_342, 4.464_868],
        [-0.322_866, 0.0],
        [-14.078_390, 0.0],
    ] {
        let found = nearest(&poles, published);
        let off = (found[0] - published[0]).hypot(found[1] - published[1]);
        let size = published[0].hypot(published[1]);
        assert!(off < 3e-3 * size, "{published:?}: {found:?}");
    }
}

#[test]
fn what_is_not_determined_is_named() {
    let text = FALL.replace("INTEGRATOR", "rk4") + "\n[trim]\nfree = [\"weight\"]\n";
    let error = failure(&text).to_string();
    assert!(
        error.contains("`weight`") && error.contains("not determined"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_held_is_named() {
    let text = FALL.replace("INTEGRATOR", "rk4") + "\n[trim]\nhold = { \"body.x.v\" = 7 }\n";
    let error = failure(&text).to_string();
    assert!(
        error.contains("`body.x.v`") && error.contains("cannot be held"),
        "{error}"
    );
}

/// A run from a trimmed state stays there, and the state is a file that is read back.
#[test]
fn a_run_from_a_trimmed_state_begins_and_stays_there() {
    let folder = tempfile::tempdir().unwrap();
    let [state, out] = ["fall.trim", "fall.parquet"].map(|name| folder.path().join(name));
    let text = FALL.replace("INTEGRATOR", "rk4")
        + "\n[trim]\nfree = [\"weight\"]\nhold = { \"body.x.v\" = 5 }\n";
    let file = ModelFile::of_text("test", text);
    let found = trim(
        &file,
        &file.read().unwrap(),
        &TrimOptions::default(),
        |_| {},
    )
    .unwrap();
    found.write(&state).unwrap();
    let read = TrimmedFile::read(&state).unwrap();
    assert_eq!(read.trim, found.trim);
    let file = read.applied(&file);
    let model = file.read().unwrap();
    assert!(read.is_of(&file, &model));
    let options = RunOptions {
        from: Some(state),
        ..RunOptions::default()
    };
    let run = PreparedRun::new(&file, &model, &out, &options).unwrap();
    let report = run.solve(None, &mut |_| {}).unwrap();
    assert_eq!(report.status(), "finished");
    let table = oldham_results::read(&report.results).unwrap();
    // As every resumed run, it records from the first step on.
    assert_eq!(table.time()[0], 1e-3);
    let speeds = table.column("body.x.v").unwrap();
    // A thousand steps later it falls at the same speed: it started with 3 m/s in the file.
    assert!(speeds.iter().all(|speed| (speed - 5.0).abs() < 1e-8));
    assert_eq!(speeds.len(), 1000);
}

/// The limit cycle of van der Pol's oscillator with μ = 1 has the period 6.663286859323 (SciPy at 1e-12, `data/floquet.py`).
#[test]
fn the_period_of_a_limit_cycle_is_found() {
    let steady = trimmed(
        r#"
[model]
name = "Van der Pol"
[simulation]
duration = 20
step = 0.02
[lumped.body]
integrator = "rk4"
[lumped.body.masses]
x = { mass = 1, position = 2 }
[lumped.body.springs]
wall = { between = ["ground", "x"], force = "d - (1 - d^2) * v" }
[lumped.body.outputs]
x = { motion = "x" }
[trim]
period = 6.5
find_period = true
"#,
    );
    assert!(steady.residual < 1e-9, "{steady:?}");
    near(steady.duration, 6.663_286_859_323, 1e-6);
}
