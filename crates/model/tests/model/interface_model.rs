//! Fast subsystems that are fed by an interface model of a mechanism.

use crate::common::{
    History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
};

/// The manipulator with other settings.
fn manipulator(changes: &[(&str, &str)]) -> String {
    let mut text = example("hydraulic-manipulator");
    let model = ("predictor = \"dmd\"", "predictor = \"interface-model\"");
    for (from, to) in [model].iter().chain(changes) {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    text
}

fn lengths(run: &History) -> Vec<f64> {
    run.column("arm.lift.length")
}

/// At 20 ms a hold is unstable (Pikulinski et al., Sect. 3.3); with the model the arm moves as it does
/// in steps of 1 ms, and closer the shorter the step.
#[test]
fn long_steps_are_stable_with_the_interface_model() {
    let at = |step: &str| {
        let text = manipulator(&[
            ("step = 0.012", &format!("step = {step}")),
            ("duration = 9.996", "duration = 6.0"),
        ]);
        coupled(&read(&text).unwrap())
    };
    let reference = at("1e-3");
    let error = |step: &str, every: usize| {
        let found = lengths(&at(step));
        let expected = lengths(&reference);
        let expected = expected.iter().step_by(every);
        let apart = found.iter().zip(expected).map(|(a, b)| (a - b).abs());
        apart.fold(0.0, f64::max)
    };
    let (short, long) = (error("5e-3", 5), error("0.02", 20));
    assert!(long < 0.01, "{long}");
    assert!(short < 0.5 * long, "{short} {long}");
}

fn refusal(changes: &[(&str, &str)]) -> String {
    match read(&manipulator(changes)).and_then(|model| model.simulation()) {
        Err(problems) => problems.to_string(),
        Ok(_) => panic!("a model with problems"),
    }
}

#[test]
fn what_cannot_be_modelled_is_refused_with_a_remedy() {
    let implicit = "[schedule]\ncoupling = \"implicit\"\n\n[excitation]";
    let told = refusal(&[("[excitation]", implicit)]);
    assert!(told.contains("use explicit coupling"), "{told}");
    let late = "[schedule]\nkind = \"gauss-seidel\"\norder = [\"arm\", \"oil\"]\n\n[excitation]";
    let told = refusal(&[("[excitation]", late)]);
    assert!(told.contains("let it advance first"), "{told}");
    let lost = refusal(&[
        (
            "[[connection]]\nfrom = \"arm.lift.length\"\nto = \"oil.lift.length\"\n",
            "",
        ),
        ("[excitation]", "[excitation]\n\"oil.lift.length\" = 0.5"),
    ]);
    assert!(
        lost.contains("sends no force whose motion it receives"),
        "{lost}"
    );
}

/// First the oil, then the arm with the force at the end of the step: closer than both at once.
#[test]
fn one_after_the_other_is_closer_than_both_at_once() {
    let text = |step: &str, kind: &str| {
        manipulator(&[
            ("step = 0.012", &format!("step = {step}")),
            ("duration = 9.996", "duration = 2.0"),
            (
                "[excitation]",
                &format!("[schedule]\n{kind}\n\n[excitation]"),
            ),
        ])
    };
    let run = |text: &str| lengths(&coupled(&read(text).unwrap()));
    let (together, after) = (
        "kind = \"jacobi\"",
        "kind = \"gauss-seidel\"\norder = [\"oil\", \"arm\"]",
    );
    let reference = run(&text("4e-4", after));
    let error = |kind: &str| {
        let found = run(&text("0.01", kind));
        let pairs = found.iter().zip(reference.iter().step_by(25));
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    let (jacobi, sequential) = (error(together), error(after));
    assert!(sequential < jacobi, "{sequential} {jacobi}");
}

fn settings(changes: &[(&str, &str)], duration: &str) -> String {
    let duration = format!("duration = {duration}");
    let all = [&[("duration = 9.996", duration.as_str())], changes].concat();
    manipulator(&all)
}

fn is_finite(run: &History, columns: &[&str]) -> bool {
    let mut values = columns.iter().flat_map(|name| run.column(name));
    values.all(f64::is_finite)
}

/// The boom is fixed: no force moves it, the model says so, and the oil presses against a wall.
#[test]
fn an_interface_that_cannot_move_stays() {
    let foot =
        "foot = { type = \"revolute\", between = [\"ground\", \"boom\"], position = [0, 0, 0] }";
    let fixed = "foot = { type = \"fixed\", between = [\"ground\", \"boom\"] }";
    let run = coupled(&read(&settings(&[(foot, fixed)], "1.2")).unwrap());
    assert!(is_finite(&run, &["oil.lift.force", "oil.lift.p1"]));
    assert!(
        lengths(&run)
            .iter()
            .all(|length| (length - 0.5).abs() < 1e-12)
    );
}

/// The valve opens wide: the piston reaches both ends, and stays between them but for what the stops yield.
#[test]
fn an_actuator_at_the_end_of_its_stroke_is_stopped() {
    let wide = [
        ("amplitude = 0.0454", "amplitude = 0.4"),
        ("frequency = 1.0", "frequency = 0.2"),
    ];
    let run = coupled(&read(&settings(&wide, "6.0")).unwrap());
    assert!(is_finite(&run, &["oil.lift.force", "oil.lift.p1"]));
    let ways: Vec<f64> = lengths(&run).iter().map(|length| length - 0.5).collect();
    let [least, most] = [f64::min, f64::max].map(|pick| ways.iter().copied().fold(0.0, pick));
    assert!(least < -0.12 && most > 0.22, "{least} {most}");
    assert!(
        least > -0.221 - 0.02 && most < 0.221 + 0.02,
        "{least} {most}"
    );
}

#[test]
fn an_actuator_that_starts_beyond_its_stroke_is_refused() {
    let told = refusal(&[("centre = \"s0\"", "centre = 0.9")]);
    assert!(told.contains("`lift` starts beyond its stroke"), "{told}");
    assert!(told.contains("0.6790 m to 1.1210 m"), "{told}");
}

/// A tank below the pressure of cavitation is refused; a chamber that cavitates stays at that pressure.
#[test]
fn no_pressure_falls_below_cavitation() {
    let fluid = "fluid = { density = 850, a = 6.53e-10, b = -1.19e-18 }";
    let cavitating =
        |pressure: &str| format!("{}, cavitation = {pressure} }}", &fluid[..fluid.len() - 2]);
    let told = refusal(&[(fluid, &cavitating("2e5"))]);
    assert!(told.contains("must rise from cavitation"), "{told}");
    // A heavy load falls while the valve is nearly closed on the side that should fill the chamber.
    let torn = [
        (fluid, cavitating("5e4")),
        ("mQ = 250 ", "mQ = 1500 ".to_owned()),
        ("load = \"load\"", "spool = 0.98".to_owned()),
    ];
    let torn: Vec<(&str, &str)> = torn.iter().map(|(from, to)| (*from, to.as_str())).collect();
    let run = coupled(&read(&settings(&torn, "1.2")).unwrap());
    for column in ["oil.lift.p1", "oil.lift.p2"] {
        let pressures = run.column(column);
        assert!(pressures.iter().all(|p| *p >= 5e4 - 1e-6), "{column}");
    }
}

/// Two carts on either side of a cut, each pushed by a cylinder of the same circuit.
const TWO_CARTS: &str = r#"
[model]
name = "Two carts"

[simulation]
duration = 0.1
step = 0.01

[multibody.carts.nodes]
a = { position = [1, 0, 0] }
middle = { position = [2, 0, 0] }
b = { position = [3, 0, 0] }

[multibody.carts.bodies]
a = { node = "a", mass = 100, inertia = [1, 1, 1] }
middle = { node = "middle", mass = 100, inertia = [1, 1, 1] }
b = { node = "b", mass = 100, inertia = [1, 1, 1] }

[multibody.carts.joints]
a = { type = "prismatic", between = ["ground", "a"], axis = [1, 0, 0] }
rail = { type = "prismatic", between = ["ground", "middle"], axis = [1, 0, 0] }
b = { type = "prismatic", between = ["ground", "b"], axis = [1, 0, 0] }

[multibody.carts.springs]
left = { between = ["a", "middle"], stiffness = 1e4 }
right = { between = ["middle", "b"], stiffness = 1e4 }

[multibody.carts.actuators]
push_a = { between = ["ground", "a"], points = [[0, 0, 0], [1, 0, 0]] }
push_b = { between = ["ground", "b"], points = [[4, 0, 0], [3, 0, 0]] }

[multibody.carts.inputs]
a = { thrust = "push_a" }
b = { thrust = "push_b" }

[multibody.carts.cut]
at = ["middle"]
parts = { left = "a", right = "b" }

[hydraulics.oil]
fluid = { density = 850, a = 6.53e-10 }
pump = 7.6e6
tank = 1e5
micro_step = 1e-3
predictor = "interface-model"

[hydraulics.oil.actuators]
a = { areas = [1e-3, 1e-3], stroke = 0.4, centre = 1, valve = { area = 1e-4, discharge = 0.67 } }
b = { areas = [1e-3, 1e-3], stroke = 0.4, centre = 1, valve = { area = 1e-4, discharge = 0.67 } }

[[connection]]
from = "oil.a.force"
to = "carts.a"

[[connection]]
from = "carts.a.length"
to = "oil.a.length"

[[connection]]
from = "carts.a.rate"
to = "oil.a.rate"

[[connection]]
from = "oil.b.force"
to = "carts.b"

[[connection]]
from = "carts.b.length"
to = "oil.b.length"

[[connection]]
from = "carts.b.rate"
to = "oil.b.rate"

[excitation]
"oil.a.spool" = "0"
"oil.b.spool" = "0"
"#;

#[test]
fn interfaces_in_different_parts_of_a_cut_are_refused() {
    let model = read(TWO_CARTS).unwrap();
    let told = model.simulation().err().expect("refused").to_string();
    assert!(told.contains("different parts of a cut"), "{told}");
    assert!(told.contains("cut elsewhere"), "{told}");
}

/// All arrangements run at 20 ms, and come together as the micro steps get shorter: the others are of first order in these,
/// the merged one of second.
#[test]
fn arrangements_differ_by_the_micro_step_only() {
    let at = |micro: &str, arrangement: &str| {
        let predictor = format!(
            "predictor = {{ kind = \"interface-model\", arrangement = \"{arrangement}\" }}"
        );
        let text = settings(&[("step = 0.012", "step = 0.02")], "3.0");
        let text = text.replace("predictor = \"interface-model\"", &predictor);
        let text = text.replace("micro_step = 2e-4", &format!("micro_step = {micro}"));
        lengths(&coupled(&read(&text).unwrap()))
    };
    for arrangement in ["jacobi", "sequential"] {
        let apart = ["2e-4", "1e-4", "5e-5"].map(|micro| {
            let (own, merged) = (at(micro, arrangement), at(micro, "merged"));
            let pairs = own.iter().zip(&merged);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        });
        let ratios = [apart[0] / apart[1], apart[1] / apart[2]];
        assert!(
            apart[0] > 0.0 && apart[0] < 1e-3,
            "{arrangement}: {apart:?}"
        );
        assert!(
            ratios.iter().all(|ratio| (1.7..2.3).contains(ratio)),
            "{arrangement}: {apart:?}"
        );
    }
}

/// A mass on oil that is shut in: an undamped oscillator. The model of the interface moved under the forces at the start of each micro
/// step, which fed it at ω² δ / 4 per second, whatever the macro step.
#[test]
fn oil_that_is_shut_in_neither_gains_nor_loses() {
    let energies = |arrangement: &str| {
        let predictor =
            format!("{{ kind = \"interface-model\", arrangement = \"{arrangement}\" }}");
        let text = SHUT_IN.replace("\"interface-model\"", &predictor);
        let run = coupled(&read(&text).unwrap());
        let lengths = run.column("slide.a.length");
        let swing = |range: std::ops::Range<usize>| {
            let part = &lengths[range];
            let ends = part.iter().fold([f64::MAX, f64::MIN], |[low, high], &x| {
                [low.min(x), high.max(x)]
            });
            ends[1] - ends[0]
        };
        let n = lengths.len();
        swing(n - 200..n) / swing(0..200)
    };
    // ω² = 2 K A² / (V m) of both chambers, at half their stroke.
    let squared = 2.0 * 1.0 / 6.53e-10 * 2e-3 / (0.2 * 500.0);
    let growth = |times: f64| (times * squared * 1e-4 / 4.0 * 1.8_f64).exp();
    let merged = energies("merged");
    assert!((merged - 1.0).abs() < 2e-2, "{merged}");
    // As the paper has it: twice the growth, which is what its first order costs.
    let jacobi = energies("jacobi").ln() / growth(2.0).ln();
    assert!((0.8..1.2).contains(&jacobi), "{jacobi}");
}

/// A slide between two shut chambers of a cylinder.
const SHUT_IN: &str = r#"
[model]
name = "Shut in"
[simulation]
duration = 2.0
step = 1e-3
[schedule]
kind = "gauss-seidel"
order = ["oil", "slide"]
[multibody.slide]
nodes.c = { position = [1, 0, 0] }
bodies.c = { node = "c", mass = 500, inertia = [1, 1, 1] }
joints.g = { type = "prismatic", between = ["ground", "c"], axis = [1, 0, 0] }
actuators.a = { between = ["ground", "c"], points = [[0, 0, 0], [1, 0, 0]] }
inputs.a = { thrust = "a" }
[hydraulics.oil]
fluid = { density = 850, a = 6.53e-10 }
pump = 2e7
tank = 1e5
micro_step = 1e-4
predictor = "interface-model"
[hydraulics.oil.actuators.cyl]
areas = [2e-3, 2e-3]
stroke = 0.4
centre = 1.0
friction = 0
load = 2000
valve = { area = 2e-5, discharge = 0.67, closed_centre = true }
[[connection]]
from = "oil.cyl.force"
to = "slide.a"
[[connection]]
from = "slide.a.length"
to = "oil.cyl.length"
[[connection]]
from = "slide.a.rate"
to = "oil.cyl.rate"
[excitation]
"oil.cyl.spool" = "0"
"#;

/// Three sliders in a row, cut in the middle, with oil at one end. What the oil asks of its part was asked while the step of that part
/// still waited for its correction, which then went astray: the slider left by kilometres from rest.
#[test]
fn oil_at_a_part_that_corrects_its_steps_does_as_with_the_whole() {
    let end = |more: &str| {
        let run = coupled(&read(&format!("{SLIDERS}{more}")).unwrap());
        *run.column("s.a.length").last().unwrap()
    };
    let whole = end("");
    let cut = end("[multibody.s.cut]\nat = [\"b\"]\nparts = { left = \"a\", right = \"c\" }\n");
    assert!((whole - 1.0).abs() > 1e-3, "{whole}");
    assert!((cut - whole).abs() < 1e-5, "{cut} {whole}");
}

const SLIDERS: &str = r#"
[model]
name = "Sliders"
[simulation]
duration = 0.5
step = 2e-3
[schedule]
kind = "jacobi"
[excitation]
"oil.a.spool" = "-0.1 * clamp((t - 0.1) / 0.05, 0, 1)"
[[connection]]
from = "oil.a.force"
to = "s.a"
[[connection]]
from = "s.a.length"
to = "oil.a.length"
[[connection]]
from = "s.a.rate"
to = "oil.a.rate"
[hydraulics.oil]
fluid = { density = 850, a = 6.53e-10 }
pump = 1e7
tank = 1e5
micro_step = 1e-4
predictor = "interface-model"
[hydraulics.oil.actuators.a]
areas = [1e-3, 1e-3]
stroke = 0.6
centre = 1
friction = 1000
load = "static"
valve = { area = 1e-5, discharge = 0.67 }
[multibody.s]
nodes = { a = { position = [1, 0, 0] }, b = { position = [2, 0, 0] }, c = { position = [3, 0, 0] } }
[multibody.s.bodies]
a = { node = "a", mass = 100, inertia = [1, 1, 1] }
b = { node = "b", mass = 100, inertia = [1, 1, 1] }
c = { node = "c", mass = 100, inertia = [1, 1, 1] }
[multibody.s.joints]
ga = { type = "prismatic", between = ["ground", "a"], axis = [1, 0, 0] }
gb = { type = "prismatic", between = ["ground", "b"], axis = [1, 0, 0] }
gc = { type = "prismatic", between = ["ground", "c"], axis = [1, 0, 0] }
[multibody.s.springs]
ab = { between = ["a", "b"], stiffness = 2e5, damping = 200 }
bc = { between = ["b", "c"], stiffness = 2e5, damping = 200 }
[multibody.s.actuators]
a = { between = ["ground", "a"] }
[multibody.s.inputs]
a = { thrust = "a" }
"#;

/// A motor on a shaft turns a flange of 0.02 kg m² that moves a wheel of 5. The torque of the wheel on the flange was held over a micro
/// step, and turned it by 0.02 rad too far.
#[test]
fn a_light_flange_moves_a_heavy_wheel() {
    for integrator in ["rk4", "exact", "lms2", "semi-implicit-euler"] {
        let run = coupled(&read(&WHEEL.replace("INTEGRATOR", integrator)).unwrap());
        let (motor, wheel, stiffness, torque) = (0.5, 5.02, 2e4, 10.0);
        let both: f64 = motor + wheel;
        let squared = stiffness * both / (motor * wheel);
        let turned = |t: f64| {
            let twist = torque / motor / squared * (1.0 - (squared.sqrt() * t).cos());
            0.5 * torque / both * t * t - motor / both * twist
        };
        let found = run.column("drive.t.x");
        let off = found
            .iter()
            .enumerate()
            .map(|(n, angle)| (angle - turned(0.01 * n as f64)).abs());
        let off = off.fold(0.0, f64::max);
        assert!(off < 5e-4, "{integrator}: {off}");
    }
}

const WHEEL: &str = r#"
[model]
name = "Drive moves a wheel"
[simulation]
duration = 1
step = 0.01
[schedule]
kind = "gauss-seidel"
order = ["drive", "wheel"]
[multibody.wheel]
nodes.w = { position = [0, 0, 0] }
bodies.w = { node = "w", mass = 10, inertia = [5, 5, 5] }
joints.g = { type = "revolute", between = ["ground", "w"], axis = [0, 0, 1] }
inputs.t = { rotation = "g" }
[lumped.drive]
coordinates = "rotation"
integrator = "INTEGRATOR"
micro_step = 1e-4
predictor = "interface-model"
masses = { motor = { mass = 0.5 }, flange = { mass = 0.02 } }
springs.shaft = { between = ["motor", "flange"], stiffness = 2e4 }
loads.l = { on = "motor", force = "10" }
inputs.w = { force = "flange" }
outputs.t = { motion = "flange" }
[[connection]]
from = "drive.t"
to = "wheel.t"
[[connection]]
from = "wheel.t.torque"
to = "drive.w"
"#;

#[test]
fn an_arrangement_is_for_interface_models_only() {
    let text = example("hydraulic-manipulator").replace(
        "predictor = \"dmd\"",
        "predictor = { kind = \"zero-order\", arrangement = \"jacobi\" }",
    );
    let told = read(&text).expect_err("refused").to_string();
    assert!(
        told.contains("belongs to the predictor `interface-model`"),
        "{told}"
    );
}

/// Everything at once: a cut mechanism, contact, two cylinders with interface models, a controller, a learning
/// predictor. The block gets to the wall, and the energy balance closes.
#[test]
fn the_loader_runs_as_a_whole() {
    let model = read(&example("loader")).unwrap();
    let run = coupled(&model);
    let block = run.column("loader.nodes.block.px");
    let last = block.last().copied().unwrap();
    assert!((last - 1.35).abs() < 1e-4, "{last}");
    let spurious = run.column("energy.imbalance");
    let dissipated = run.column("energy.dissipated").last().copied().unwrap();
    let worst = spurious.iter().map(|e| e.abs()).fold(0.0, f64::max);
    assert!(worst < 0.05 * dissipated, "{worst} of {dissipated}");
    assert_checkpoint_keeps_bits(&model, &["loader.arm", "oil", "driver"]);
    assert_threads_keep_bits(&model);
}

/// A motor meets the angle of a drum. At rest the pressure carries the load; later the pump's oil has turned the drum, but for
/// what compression and accumulator hold.
#[test]
fn the_winch_turns_by_the_oil_that_is_pumped() {
    let run = coupled(&read(&example("winch")).unwrap());
    let (mass, radius, displacement) = (500.0, 0.15, 7e-5);
    let at = |column: &str, step: usize| run.column(column)[step];
    let torque = mass * 9.81 * radius;
    assert!((at("drive.motor.torque", 20) / torque - 1.0).abs() < 1e-6);
    // 2.5 s: the pump has come up to speed from 0.5 s to 1 s.
    let step = 250;
    let pumped = displacement * 5.0 * (0.25 + 1.5);
    let compression = |p: f64| p * (6.53e-10 - 1.19e-18 * p);
    let held = |step: usize| {
        let [supply, high] = ["drive.supply.p", "drive.high.p"].map(|name| at(name, step));
        5e-4 * compression(supply) + 1e-3 * compression(high) + at("drive.bladder.oil", step)
    };
    let turned = displacement * at("winch.motor.motion.x", step);
    let expected = pumped - (held(step) - held(0));
    assert!(
        (turned / expected - 1.0).abs() < 5e-3,
        "{turned} {expected}"
    );
    let lifted = at("winch.nodes.load.py", step) - 0.5;
    assert!((lifted * displacement / (radius * turned) - 1.0).abs() < 1e-6);
}

#[test]
fn a_network_is_checked_with_places() {
    let wrong = [
        (
            "between = [\"supply\", \"high\"]",
            "between = [\"supply\", \"hihg\"]",
        ),
        (
            "low = { volume = 2e-3, pressure = \"low\" }",
            "low = { volume = 2e-3, pressure = 9e9 }",
        ),
        (
            "between = [\"low\", \"charge\"]",
            "between = [\"low\", \"low\"]",
        ),
    ];
    let mut text = example("winch");
    for (from, to) in wrong {
        assert_eq!(text.matches(from).count(), 1, "{from}");
        text = text.replace(from, to);
    }
    let told = read(&text).expect_err("refused").to_string();
    for part in [
        "no volume or tank is called `hihg`",
        "the fluid's law holds from",
        "nothing can flow",
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Two mechanisms that meet cannot both predict by a model of the other.
#[test]
fn of_two_that_meet_only_one_has_a_model() {
    let text = example("pendulum-spring")
        .replace("predictor = \"dmd\"", "predictor = \"interface-model\"")
        .replace(
            "predictor = \"first-order\"",
            "predictor = \"interface-model\"",
        );
    let model = read(&text).expect("each of them could have one");
    let told = model.simulation().err().expect("refused").to_string();
    assert!(told.contains("which it meets, has one itself"), "{told}");
}

/// A flange on a spring that turns a heavy stick, one rigid pendulum of J + j: the mechanism follows the flange within its step, so that
/// its reaction does its work along the way of that step. Both sides of the interface then see the same work, as the energy of the
/// whole says; and the torque is that of the pendulum from the first step on.
#[test]
fn work_at_a_moved_coordinate_was_taken_with_the_force_of_the_step_before() {
    let text = r#"
[model]
name = "Moved"
[simulation]
duration = 2.0
step = 0.01
[schedule]
kind = "gauss-seidel"
order = ["drive", "arm"]
[multibody.arm]
gravity = [0, -9.81, 0]
[multibody.arm.nodes]
stick = { position = [0.5, 0, 0] }
[multibody.arm.bodies]
stick = { node = "stick", mass = 10, inertia = [1, 1, 1] }
[multibody.arm.joints]
axle = { type = "revolute", between = ["ground", "stick"], position = [0, 0, 0], axis = [0, 0, 1] }
[multibody.arm.inputs]
stick = { rotation = "axle" }
[lumped.drive]
coordinates = "rotation"
integrator = "semi-implicit-euler"
micro_step = 1e-5
predictor = "interface-model"
[lumped.drive.masses]
flange = { mass = 0.3 }
[lumped.drive.springs]
gear = { between = ["ground", "flange"], stiffness = 2000 }
[lumped.drive.inputs]
load = { force = "flange" }
[lumped.drive.outputs]
flange = { motion = "flange" }
[[connection]]
from = "drive.flange"
to = "arm.stick"
[[connection]]
from = "arm.stick.torque"
to = "drive.load"
"#;
    // Small turns: x = -x₀ (1 - cos ω t) with k x₀ = m g l.
    let (inertia, weight) = (10.0 * 0.25 + 1.0, 10.0 * 9.81 * 0.5);
    let omega = (2000.0_f64 / (inertia + 0.3)).sqrt();
    for integrator in ["lms2", "rk4"] {
        let text = text.replace(
            "[multibody.arm]\n",
            &format!("[multibody.arm]\nintegrator = \"{integrator}\"\n"),
        );
        let run = coupled(&read(&text).unwrap());
        let created = run.column("exchange.arm.stick.torque<->drive.flange");
        let imbalance = run.column("energy.imbalance");
        for (n, torque) in run.column("arm.stick.torque").iter().enumerate() {
            let t = 0.01 * n as f64;
            let acceleration = -weight / (inertia + 0.3) * (omega * t).cos();
            let expected = -weight - inertia * acceleration;
            // The weight turns with the stick, which changes its moment by a few thousandths.
            assert!(
                (torque - expected).abs() < 0.06 * weight,
                "{integrator} {n}: {torque} {expected}"
            );
            assert!(created[n].abs() < 0.05, "{integrator} {n}: {}", created[n]);
            assert!(
                imbalance[n].abs() < 0.02,
                "{integrator} {n}: {}",
                imbalance[n]
            );
        }
    }
}
