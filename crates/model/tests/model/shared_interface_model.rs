//! Several fast subsystems that share an interface model, and fast subsystems that move a mechanism.

use crate::common::{
    History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
};

fn replaced(text: &str, changes: &[(&str, &str)]) -> String {
    let mut text = text.to_owned();
    for (from, to) in changes {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    text
}

fn worst(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let apart = a.iter().zip(b).map(|(a, b)| (a - b).abs());
    apart.fold(0.0, f64::max)
}

/// The arm whose cylinders have a circuit each.
fn two_circuits() -> String {
    let text = example("two-cylinder-arm");
    let head = "fluid = { density = 850, a = 6.53e-10, b = -1.19e-18 }\npump = 7.6e6\ntank = 1e5\nmicro_step = 2e-4\npredictor = \"interface-model\"\n";
    let text = replaced(
        &text,
        &[(
            "[hydraulics.oil.actuators.stick]",
            &format!("[hydraulics.second]\n{head}\n[hydraulics.second.actuators.stick]"),
        )],
    );
    text.replace("oil.stick", "second.stick")
}

/// Pump and tank keep their pressures, so that two circuits are the same as one: with a model that they share they
/// run alike, whether they advance at the same time as the arm or before it.
#[test]
fn two_circuits_that_share_a_model_run_as_one_circuit_does() {
    let orders = [
        ("", ""),
        (
            "order = [\"oil\", \"arm\"]",
            "order = [\"oil\", \"second\", \"arm\"]",
        ),
    ];
    for (one, two) in orders {
        let with = |text: String, order: &str| match order {
            "" => text,
            order => {
                let schedule =
                    format!("[schedule]\nkind = \"gauss-seidel\"\n{order}\n\n[excitation]");
                replaced(&text, &[("[excitation]", &schedule)])
            }
        };
        let one = coupled(&read(&with(example("two-cylinder-arm"), one)).unwrap());
        let model = read(&with(two_circuits(), two)).unwrap();
        let both = coupled(&model);
        for column in ["arm.boom.length", "arm.stick.rate"] {
            let apart = worst(&one.column(column), &both.column(column));
            assert!(apart < 1e-11, "{column}: {apart}");
        }
        // Names are those of the file.
        let apart = worst(&one.column("oil.stick.p1"), &both.column("second.stick.p1"));
        assert!(apart < 1e-3, "{apart}");
        for column in ["energy.imbalance", "energy.supplied", "energy.dissipated"] {
            let apart = worst(&one.column(column), &both.column(column));
            assert!(apart < 1e-6, "{column}: {apart}");
        }
        assert_threads_keep_bits(&model);
    }
}

/// A light motor on a stiff spring that moves a cart a hundred times as heavy.
fn moved_cart(step: &str, predictor: &str) -> String {
    format!(
        r#"
[model]
name = "Moved cart"

[simulation]
duration = 0.5
step = {step}

[schedule]
kind = "gauss-seidel"
order = ["drive", "cart"]

[multibody.cart.nodes]
cart = {{ position = [0, 0, 0] }}

[multibody.cart.bodies]
cart = {{ node = "cart", mass = 10, inertia = [1, 1, 1] }}

[multibody.cart.joints]
rail = {{ type = "prismatic", between = ["ground", "cart"], axis = [1, 0, 0] }}

[multibody.cart.inputs]
pull = {{ sliding = "rail" }}

[lumped.drive]
integrator = "semi-implicit-euler"
micro_step = 1e-5
predictor = "{predictor}"

[lumped.drive.masses]
motor = {{ mass = 0.1, velocity = 0.2 }}

[lumped.drive.springs]
spring = {{ between = ["ground", "motor"], stiffness = 1e4 }}

[lumped.drive.inputs]
load = {{ force = "motor" }}

[lumped.drive.outputs]
motor = {{ motion = "motor" }}

[[connection]]
from = "drive.motor"
to = "cart.pull"

[[connection]]
from = "cart.pull.force"
to = "drive.load"
"#
    )
}

fn ran(text: &str) -> History {
    coupled(&read(text).unwrap())
}

/// Both masses swing at √(k/(m + M)), and no energy is made.
#[test]
fn a_drive_moves_a_heavy_cart_as_both_would_move() {
    let omega = (1e4_f64 / 10.1).sqrt();
    let error = |step: f64| {
        let run = ran(&moved_cart(&step.to_string(), "interface-model"));
        let (found, times) = (run.column("drive.motor.x"), 0..);
        let apart = found.iter().zip(times).map(|(x, n)| {
            let t = step * f64::from(n);
            (x - 0.2 / omega * (omega * t).sin()).abs()
        });
        apart.fold(0.0, f64::max) * omega / 0.2
    };
    for step in [0.005, 0.01] {
        assert!(error(step) < 1e-6, "{}", error(step));
    }
}

/// Held forces know nothing of the acceleration that they cause: the heavier side has to give way.
#[test]
fn without_a_model_the_same_drive_is_unstable() {
    let simulation = read(&moved_cart("0.005", "zero-order"))
        .unwrap()
        .simulation();
    let mut simulation = simulation.unwrap();
    let id = simulation.find("drive").unwrap();
    let swing = 0.2 / (1e4_f64 / 10.1).sqrt();
    let grows = (0..100).any(|_| {
        let stepped = simulation.steps(1);
        stepped.is_err() || simulation.outputs(id)[0].abs() > 10.0 * swing
    });
    assert!(grows);
}

/// A cylinder that pushes and a drive that moves, with one model.
#[test]
fn the_servo_boom_follows() {
    let text = example("servo-boom");
    let model = read(&text).unwrap();
    let run = coupled(&model);
    let angle = run.column("drive.flange.x");
    let last = angle.last().copied().unwrap();
    assert!((last - 1.2).abs() < 0.05, "{last}");
    let imbalance = run.column("energy.imbalance");
    let most = imbalance.iter().map(|e| e.abs()).fold(0.0, f64::max);
    let supplied = run.column("energy.supplied").last().copied().unwrap();
    assert!(most < 0.02 * supplied, "{most} of {supplied}");
    // Shorter steps change little.
    let fine = coupled(&read(&replaced(&text, &[("step = 0.01", "step = 0.002")])).unwrap());
    for column in ["arm.boom.length", "drive.flange.x"] {
        let thinned: Vec<f64> = fine.column(column).into_iter().step_by(5).collect();
        let apart = worst(&run.column(column), &thinned);
        assert!(apart < 2e-3, "{column}: {apart}");
    }
    assert_threads_keep_bits(&model);
    assert_checkpoint_keeps_bits(&model, &["oil+drive", "arm"]);
}

/// With both valves closed the oil under the platform is a spring: ω² = A² (1 + a p)/(a V m), about the height that carries
/// the weight. The oil sees the platform through an interface model; steps are a thirtieth of a period.
#[test]
fn a_platform_on_closed_oil_swings_at_its_frequency() {
    let (mass, area, volume, a) = (800.0, 2e-3, 2e-4, 6.53e-10);
    let pressure: f64 = (mass * 9.81 + 1e-3 * 1e5) / area;
    let volume = volume + area * 0.5 * 0.8;
    let omega = (area * area * (1.0 + a * pressure) / (a * volume * mass)).sqrt();
    let text = example("hydraulic-lift");
    let from = text
        .find("\"oil.up.opening\"")
        .expect("excitations at the end");
    let text = format!(
        "{}\"oil.up.opening\" = \"0\"\n\"oil.down.opening\" = \"0\"\n",
        &text[..from]
    );
    let step = 2.0 * std::f64::consts::PI / omega / 30.0;
    let text = replaced(
        &text,
        &[
            ("step = 0.01", &format!("step = {step}")),
            ("duration = 4.0", &format!("duration = {}", 300.0 * step)),
            ("micro_step = 2e-4", "micro_steps = 20"),
            (
                "platform = { position = [0, \"s0\", 0] }",
                "platform = { position = [0, \"s0\", 0], velocity = [0, 0.01, 0] }",
            ),
            ("friction = 4000", "friction = 0"),
        ],
    );
    let run = ran(&text);
    let rates = run.column("lift.platform.rate");
    // Rising through zero, between two communication points.
    let crossings: Vec<f64> = (1..rates.len())
        .filter(|&n| rates[n - 1] < 0.0 && rates[n] >= 0.0)
        .map(|n| n as f64 - rates[n] / (rates[n] - rates[n - 1]))
        .collect();
    let count = crossings.len();
    assert!(count >= 8, "{crossings:?}");
    let period = (crossings[count - 1] - crossings[0]) / (count - 1) as f64;
    assert!((period / 30.0 - 1.0).abs() < 0.01, "{period}");
}

/// The platform carries its load by the oil below, rises by what passes the valve, and sinks again.
#[test]
fn the_lift_rises_and_sinks() {
    let model = read(&example("hydraulic-lift")).unwrap();
    let run = coupled(&model);
    let length = run.column("lift.platform.length");
    let at = |t: f64| length[(t / 0.01).round() as usize];
    assert!((at(0.45) - at(0.0)).abs() < 1e-6);
    assert!(at(2.0) - at(0.5) > 0.05, "{} {}", at(0.5), at(2.0));
    assert!(at(4.0) < at(2.4) - 0.05);
    let imbalance = run.column("energy.imbalance");
    let most = imbalance.iter().map(|e| e.abs()).fold(0.0, f64::max);
    assert!(most < 5.0, "{most}");
    assert_checkpoint_keeps_bits(&model, &["oil", "lift"]);
}
