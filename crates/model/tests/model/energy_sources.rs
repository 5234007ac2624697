//! The work of everything that brings or takes energy is counted, whichever method steps it.
//!
//! One body of unit mass (or inertia) on a spring of 50 N/m, with one source besides. What it should do is
//! found here by Runge–Kutta steps of the equation written by hand; the balance must close by the order of the method.

use oldham_cosim::{Discard, Run, Summary};
use oldham_model::Model;

use crate::common::{example, read};

const DURATION: f64 = 1.0;

const SLIDE: &str = r#"
nodes.c = { position = [1, 0, 0], velocity = [1, 0, 0] }
bodies.c = { node = "c", mass = 1, inertia = [1, 1, 1] }
joints.j = { type = "prismatic", between = ["ground", "c"], axis = [1, 0, 0] }
springs.k = { between = ["ground", "c"], stiffness = 50 }
"#;

const TURN: &str = r#"
nodes.c = { angular_velocity = [0, 0, 1] }
bodies.c = { node = "c", mass = 1, inertia = [1, 1, 1] }
joints.j = { type = "revolute", between = ["ground", "c"] }
torsion_springs.k = { between = ["ground", "c"], stiffness = 50 }
"#;

/// Tension over way, rate and time, and the power that is lost in it.
type Tension = fn(f64, f64, f64) -> [f64; 2];

/// A source, and the same by hand.
struct Source {
    base: &'static str,
    entry: &'static str,
    tension: Tension,
}

const fn source(base: &'static str, entry: &'static str, tension: Tension) -> Source {
    Source {
        base,
        entry,
        tension,
    }
}

fn free(t: f64) -> [f64; 2] {
    [0.1 * (5.0 * t).sin(), 0.5 * (5.0 * t).cos()]
}

/// All that change smoothly in time.
fn smooth() -> Vec<Source> {
    let follows: Tension = |d, v, t| {
        let [free, rate] = free(t);
        [
            100.0 * (d - free) + 2.0 * (v - rate),
            2.0 * (v - rate).powi(2),
        ]
    };
    // Never slack.
    let taut: Tension = |d, v, t| {
        let [free, rate] = free(t);
        [
            5.0 * (d + 0.5 - free) + 2.0 * (v - rate),
            2.0 * (v - rate).powi(2),
        ]
    };
    let servo: Tension = |d, v, t| [100.0 * (d - free(t)[0]) + 2.0 * v, 2.0 * v * v];
    let timed: Tension = |_, v, t| [10.0 * (5.0 * t).sin() + 2.0 * v, 2.0 * v * v];
    let elastic: Tension = |d, _, t| [100.0 * (d - free(t)[0]), 0.0];
    let pushed: Tension = |_, _, t| [-10.0 * (5.0 * t).sin(), 0.0];
    let braked: Tension = |_, v, t| [-10.0 * (5.0 * t).sin() + 2.0 * v, 0.0];
    let grows: Tension = |d, v, t| {
        [
            40.0 * d * (1.0 + t) * (1.0 + t) + 2.0 * v * t,
            2.0 * v * v * t,
        ]
    };
    let nonlinear: Tension = |d, v, _| [300.0 * d * d * d + 3.0 * v, 3.0 * v * v];
    vec![
        source(
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], stiffness = 100, damping = 2, length = "1 + 0.1 * sin(5 * t)" }"#,
            follows,
        ),
        source(
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], stiffness = 100, damping = 2, length = { sine = [1, 0.1, "5 / (2 * pi)", 0] } }"#,
            follows,
        ),
        source(
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], force = "10 * sin(5 * t) + 2 * v" }"#,
            timed,
        ),
        source(
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], force = "100 * (d - 0.1 * sin(5 * t))" }"#,
            elastic,
        ),
        source(
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], force = "40 * d * (1 + t)^2 + 2 * v * t" }"#,
            grows,
        ),
        source(
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], force = "300 * d^3 + 3 * v" }"#,
            nonlinear,
        ),
        source(
            SLIDE,
            r#"bushings.a = { between = ["ground", "c"], force = ["10 * sin(5 * t) + 2 * v", 0, 0] }"#,
            timed,
        ),
        source(
            SLIDE,
            r#"bushings.a = { between = ["ground", "c"], force = ["40 * d * (1 + t)^2 + 2 * v * t", 0, 0] }"#,
            grows,
        ),
        source(
            SLIDE,
            r#"cables.a = { through = ["ground", "c"], stiffness = 5, damping = 2, length = "0.5 + 0.1 * sin(5 * t)" }"#,
            taut,
        ),
        source(
            SLIDE,
            r#"actuators.a = { between = ["ground", "c"], load = "10 * sin(5 * t)" }"#,
            pushed,
        ),
        source(
            SLIDE,
            r#"loads.a = { on = "c", force = ["10 * sin(5 * t)", 0, 0] }"#,
            pushed,
        ),
        source(
            SLIDE,
            "sensors.v = { velocity = \"c\", axis = [1, 0, 0] }\nloads.a = { on = \"c\", force = [\"10 * sin(5 * t) - 2 * v\", 0, 0] }",
            braked,
        ),
        source(
            SLIDE,
            "sensors.x = { displacement = \"c\", axis = [1, 0, 0] }\nsprings.a = { between = [\"ground\", \"c\"], stiffness = 100, length = \"1 + 0.1 * sin(5 * t) + 0.3 * x\" }",
            |d, _, t| [100.0 * (0.7 * d - free(t)[0]), 0.0],
        ),
        source(
            TURN,
            r#"torsion_springs.a = { between = ["ground", "c"], stiffness = 100, damping = 2, angle = "0.1 * sin(5 * t)" }"#,
            servo,
        ),
        source(
            TURN,
            r#"torsion_springs.a = { between = ["ground", "c"], torque = "10 * sin(5 * t) + 2 * v" }"#,
            timed,
        ),
        source(
            TURN,
            r#"torsion_springs.a = { between = ["ground", "c"], torque = "100 * (d - 0.1 * sin(5 * t))" }"#,
            elastic,
        ),
        source(
            TURN,
            r#"torsion_springs.a = { between = ["ground", "c"], torque = "40 * d * (1 + t)^2 + 2 * v * t" }"#,
            grows,
        ),
        source(
            TURN,
            r#"bushings.a = { between = ["ground", "c"], torque = [0, 0, "10 * sin(5 * t) + 2 * v"] }"#,
            timed,
        ),
        source(
            TURN,
            r#"bushings.a = { between = ["ground", "c"], torque = [0, 0, "40 * d * (1 + t)^2 + 2 * v * t"] }"#,
            grows,
        ),
        source(
            TURN,
            r#"loads.a = { on = "c", moment = [0, 0, "10 * sin(5 * t)"] }"#,
            pushed,
        ),
    ]
}

/// Kinetic energy at the end, and what was lost, by steps of 1e-4 s of the fourth order.
fn by_hand(tension: Tension) -> [f64; 2] {
    let h = 1e-4;
    let slope = |[x, v, _]: [f64; 3], t: f64| {
        let [tension, lost] = tension(x, v, t);
        [v, -50.0 * x - tension, lost]
    };
    let mut y = [0.0, 1.0, 0.0];
    for n in 0..(DURATION / h).round() as u32 {
        let t = f64::from(n) * h;
        let next = |k: [f64; 3], c: f64| std::array::from_fn(|i| y[i] + c * h * k[i]);
        let k1 = slope(y, t);
        let k2 = slope(next(k1, 0.5), t + 0.5 * h);
        let k3 = slope(next(k2, 0.5), t + 0.5 * h);
        let k4 = slope(next(k3, 1.0), t + h);
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (k1[i] + 2.0 * (k2[i] + k3[i]) + k4[i]));
    }
    [0.5 * y[1] * y[1], y[2]]
}

fn mechanism(base: &str, entry: &str, integrator: &str, step: f64) -> Model {
    let tolerance = match integrator {
        "lms2" | "generalised-alpha" => "tolerance = 1e-10\n",
        _ => "",
    };
    let text = format!(
        "[model]\nname = \"E\"\n[simulation]\nduration = {DURATION}\nstep = {step}\n\
         [multibody.m]\nintegrator = \"{integrator}\"\n{tolerance}{base}{entry}\n"
    );
    read(&text).unwrap_or_else(|problems| panic!("{entry}: {problems}"))
}

fn run(model: &Model) -> Summary {
    let mut simulation = model.simulation().expect("a simulation");
    let outcome = simulation.run(Run {
        energy_bound: model.energy_bound(),
        ..Run::new(model.steps(), &mut Discard)
    });
    outcome.end.expect("a finished run");
    outcome.summary
}

/// Spurious energy of a run, and what it dissipated.
fn spurious(model: &Model) -> [f64; 2] {
    let summary = run(model);
    let energy = summary.final_energy.expect("energy");
    [summary.imbalance.expect("energy"), energy.dissipated]
}

#[test]
fn the_work_of_every_source_is_counted_by_every_method() {
    // The method, and by how much the balance is better with half the step at least.
    let methods = [
        ("lms2", 3.0),
        ("generalised-alpha", 3.0),
        ("rk4", 12.0),
        ("impulses", 1.6),
    ];
    let mut wrong = Vec::new();
    for Source {
        base,
        entry,
        tension,
    } in smooth()
    {
        let [_, lost] = by_hand(tension);
        for (method, gain) in methods {
            let [coarse, fine] =
                [2e-3, 1e-3].map(|step| spurious(&mechanism(base, entry, method, step)));
            let (small, floor) = match method {
                "impulses" => (0.2, 5e-3),
                "rk4" => (1e-8, 1e-10),
                _ => (2e-4, 2e-6),
            };
            let is_small = fine[0].abs() < small * (1.0 + lost);
            // Below the floor the two are rounding, or pass through zero.
            let falls = fine[0].abs() < floor || fine[0].abs() * gain < coarse[0].abs();
            let tolerance = if method == "impulses" { 0.02 } else { 2e-4 };
            let loses = (fine[1] - lost).abs() <= tolerance * (1.0 + lost);
            if !(is_small && falls && loses) {
                wrong.push(format!(
                    "{entry} {method}: {coarse:?} {fine:?}, {lost} lost"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A free length or angle, or a force, that jumps: the balance is off by what moves within one step, and
/// not by the jump of the stored energy, which is 12.5 J and more here.
#[test]
fn jumps_in_time_are_counted() {
    let sources = [
        (
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], stiffness = 100, length = "if(t > 0.3, 1.5, 1)" }"#,
        ),
        (
            SLIDE,
            r#"springs.a = { between = ["ground", "c"], force = "if(t > 0.3, 100 * (d + 0.5), 10 * d)" }"#,
        ),
        (
            TURN,
            r#"torsion_springs.a = { between = ["ground", "c"], stiffness = 100, angle = "if(t > 0.3, 0.5, 0)" }"#,
        ),
        (
            TURN,
            r#"torsion_springs.a = { between = ["ground", "c"], torque = "if(t > 0.3, 100 * (d + 0.5), 10 * d)" }"#,
        ),
    ];
    let mut wrong = Vec::new();
    for (base, entry) in sources {
        for method in ["lms2", "generalised-alpha", "rk4", "impulses"] {
            let [coarse, fine] =
                [2e-3, 5e-4].map(|step| spurious(&mechanism(base, entry, method, step))[0]);
            let small = if method == "impulses" { 0.5 } else { 0.08 };
            if fine.abs() > small || fine.abs() > 0.5 * coarse.abs().max(0.02) {
                wrong.push(format!("{entry} {method}: {coarse} {fine}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The servo that was stopped for its energy: it runs, and its balance closes.
#[test]
fn a_servo_with_a_moving_free_angle_is_not_stopped() {
    let entry = r#"torsion_springs.act = { between = ["ground", "c"], stiffness = 1000, damping = 20, angle = "0.1 * sin(5 * t)" }"#;
    let at_rest = TURN.replace("angular_velocity = [0, 0, 1]", "");
    let model = mechanism(&at_rest, entry, "lms2", 1e-3);
    let summary = run(&model);
    let supplied = summary.final_energy.expect("energy").supplied;
    let imbalance = summary.imbalance.expect("energy");
    assert!(supplied > 1.0, "{supplied}");
    assert!(
        imbalance.abs() < 1e-3 * supplied,
        "{imbalance} of {supplied}"
    );
    assert!(summary.notes.is_empty(), "{:?}", summary.notes);
}

/// Laws of time in lumped parts, by all their methods.
#[test]
fn laws_of_time_in_lumped_parts_are_counted() {
    // The work is summed up by the trapezoidal rule over micro steps, whatever the method.
    let methods = [
        ("rk4", 3.0),
        ("lms2", 3.0),
        ("backward-euler", 1.6),
        ("semi-implicit-euler", 1.6),
    ];
    let timed: Tension = |_, v, t| [10.0 * (5.0 * t).sin() + 2.0 * v, 2.0 * v * v];
    let grows: Tension = |d, v, t| {
        [
            40.0 * d * (1.0 + t) * (1.0 + t) + 2.0 * v * t,
            2.0 * v * v * t,
        ]
    };
    let laws = [
        ("10 * sin(5 * t) + 2 * v", timed),
        ("40 * d * (1 + t)^2 + 2 * v * t", grows),
    ];
    let mut wrong = Vec::new();
    for (law, tension) in laws {
        let [_, lost] = by_hand(tension);
        for (method, gain) in methods {
            let [coarse, fine] = [2e-3, 1e-3].map(|step| {
                let text = format!(
                    "[model]\nname = \"E\"\n[simulation]\nduration = {DURATION}\nstep = {step}\n\
                     [lumped.m]\nintegrator = \"{method}\"\nmasses.x = {{ mass = 1, velocity = 1 }}\n\
                     springs.k = {{ between = [\"ground\", \"x\"], stiffness = 50 }}\n\
                     springs.a = {{ between = [\"ground\", \"x\"], force = \"{law}\" }}\n\
                     outputs.x = {{ motion = \"x\" }}\n"
                );
                spurious(&read(&text).unwrap_or_else(|problems| panic!("{problems}")))
            });
            let floor = if gain < 2.0 { 5e-3 } else { 2e-6 };
            let falls = fine[0].abs() < floor || fine[0].abs() * gain < coarse[0].abs();
            if !falls || (fine[1] - lost).abs() > 0.05 * (1.0 + lost) {
                wrong.push(format!("{law} {method}: {coarse:?} {fine:?}, {lost} lost"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A body on a ball joint with a torsion spring about an axis that nothing keeps common, without damping
/// and loads: its energy stays, up to the error of the method.
#[test]
fn a_torsion_spring_whose_axis_no_joint_keeps_stores_energy() {
    let base = r#"
nodes.n = { angular_velocity = [2, 4, 3] }
bodies.n = { node = "n", mass = 1, inertia = [0.02, 0.03, 0.04] }
joints.ball = { type = "spherical", between = ["ground", "n"] }
"#;
    let entry =
        r#"torsion_springs.ts = { between = ["ground", "n"], axis = [0, 1, 0], stiffness = 5 }"#;
    let initial: f64 = 0.5 * (0.02 * 4.0 + 0.03 * 16.0 + 0.04 * 9.0);
    for (method, small) in [("rk4", 1e-7), ("generalised-alpha", 1e-2)] {
        let [coarse, fine] =
            [1e-3, 5e-4].map(|step| spurious(&mechanism(base, entry, method, step))[0].abs());
        assert!(fine < small * initial, "{method}: {coarse} {fine}");
        assert!(fine < 0.4 * coarse, "{method}: {coarse} {fine}");
    }
}

/// Beams by finite volumes have no potential: what their loads take up counts as stored, so that the balance
/// closes with the step, and not only with the mesh.
#[test]
fn the_balance_of_a_beam_closes_with_the_step() {
    let text = example("cut-beam");
    let [coarse, fine] = ["2e-4", "1e-4"].map(|step| {
        let text = text.replace("step = 1e-4", &format!("step = {step}"));
        spurious(&read(&text).expect("a model"))
    });
    assert!(fine[1] > 4.0, "{fine:?}");
    assert!(fine[0].abs() < 2e-3 * fine[1], "{coarse:?} {fine:?}");
    assert!(fine[0].abs() < 0.4 * coarse[0].abs(), "{coarse:?} {fine:?}");
}
