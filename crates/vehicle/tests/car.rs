//! The car of the examples: wheel loads, suspension, handling, cut and whole, bad input.

mod common;

use common::car::{CAR, History, car};
use common::hard_points::Corner;
use oldham_cosim::{Discard, Run, Simulation};
use oldham_model::{Model, Overrides};
use oldham_multibody::Vec3;
use oldham_vehicle::tyre::{PropertyFile, Slip};
use oldham_vehicle::{Dual, MagicFormula};

const G: f64 = 9.81;
const WHEELBASE: f64 = 1.56;

/// Mass, distance of the centre of mass behind the front axle, moment of inertia about the vertical
/// axis through it: from the bodies of the file.
fn inertia(model: &Model) -> (f64, f64, f64) {
    let value = |name: &str| model.parameter(name).unwrap();
    let unsprung = value("m_upright") + value("m_rim") + 0.35;
    let mut bodies = vec![
        (value("m_chassis"), value("xg"), 0.0, 100.0),
        (1.2, 0.06, 0.0, 0.02),
    ];
    for (x, half_track) in [(0.0, 0.61), (-WHEELBASE, 0.59)] {
        bodies.push((2.0 * unsprung, x, half_track, 2.0 * (0.06 + 0.11 + 6e-4)));
    }
    let mass: f64 = bodies.iter().map(|body| body.0).sum();
    let behind = -bodies.iter().map(|body| body.0 * body.1).sum::<f64>() / mass;
    let about = |&(m, x, y, own): &(f64, f64, f64, f64)| own + m * ((x + behind).powi(2) + y * y);
    (mass, behind, bodies.iter().map(about).sum())
}

/// Sensors of tyres: at rest on the plane they read the weight and nothing else, with the contact point below the wheel;
/// forces and moments of motors are read like those of joints.
#[test]
fn tyres_and_motors_are_read_by_sensors() {
    let more = r#"
[multibody.car.sensors."load_{w}"]
repeat.w = ["fl", "fr", "rl", "rr"]
type = "tyre"
of = "tyre-{w}"
reads = "normal-force"

[multibody.car.sensors."patch_{a}"]
repeat.a = ["x", "y", "z"]
type = "tyre"
of = "tyre-rl"
reads = "patch-{a}"

[multibody.car.sensors.slip]
type = "tyre"
of = "tyre-rl"
reads = "longitudinal-slip"

[multibody.car.sensors.same]
force = "tyre-rl"
axis = [0, 0, 1]

[multibody.car.sensors.drive]
moment = "motor-rl"
on = "rim-rl"
axis = [0, 1, 0]
"#;
    let set = [
        ("v_test", "0"),
        ("simulation.duration", "3"),
        ("simulation.step", "1e-3"),
    ];
    let model = car(more, &set);
    let run = History::whole(&model, 1000);
    let read = |name: &str| run.last(&format!("car.sensors.{name}"));
    let (mass, behind, _) = inertia(&model);
    let sum: f64 = ["fl", "fr", "rl", "rr"]
        .map(|w| read(&format!("load_{w}")))
        .iter()
        .sum();
    assert!((sum / (mass * G) - 1.0).abs() < 1e-3, "{sum}");
    let rear = read("load_rl") + read("load_rr");
    assert!(
        (rear / (mass * G * behind / WHEELBASE) - 1.0).abs() < 1e-2,
        "{rear}"
    );
    assert!((read("same") / read("load_rl") - 1.0).abs() < 1e-9);
    assert!(read("slip").abs() < 1e-3 && read("drive").abs() < 50.0);
    assert!(
        (read("patch_x") + WHEELBASE).abs() < 0.02,
        "{}",
        read("patch_x")
    );
    assert!((read("patch_y") - 0.59).abs() < 0.02, "{}", read("patch_y"));
    assert!(read("patch_z").abs() < 1e-9, "{}", read("patch_z"));
}

/// At rest: the sum of the wheel loads is the weight, and its moment is balanced.
#[test]
fn static_wheel_loads_are_those_of_the_masses() {
    let set = [
        ("v_test", "0"),
        ("simulation.duration", "3"),
        ("simulation.step", "1e-3"),
    ];
    let model = car("", &set);
    let run = History::whole(&model, 1000);
    let (mass, behind, _) = inertia(&model);
    let load = |corner: &str| run.last(&format!("car.tyre-{corner}.fz"));
    let rear = mass * G * behind / WHEELBASE;
    let front = mass * G - rear;
    for (name, found, expected) in [
        ("front left", load("fl"), 0.5 * front),
        ("front right", load("fr"), 0.5 * front),
        ("rear left", load("rl"), 0.5 * rear),
        ("rear right", load("rr"), 0.5 * rear),
    ] {
        assert!(
            (found / expected - 1.0).abs() < 2e-3,
            "{name}: {found} {expected}"
        );
    }
}

/// The chassis is lifted and lowered while the wheels stand on the road: camber, toe, track and roll
/// centre against the kinematics of the hard points.
#[test]
fn camber_toe_and_roll_centre_are_those_of_the_hard_points() {
    let stand = r#"
        [multibody.car.joints.stand]
        type = "total"
        between = ["ground", "chassis"]
        displacement = ["locked", "locked", "-0.03 * sin(pi * t)"]
        rotation = ["locked", "locked", "locked"]
    "#;
    let set = [
        ("v_test", "0"),
        ("simulation.duration", "2"),
        ("simulation.step", "1e-3"),
    ];
    let model = car(stand, &set);
    let run = History::whole(&model, 10);
    let corner = Corner::front_left(CAR);
    let uprights = run.positions("car.nodes.upright-fl");
    let turns = run.orientations("car.nodes.upright-fl");
    let chassis = run.positions("car.nodes.chassis");
    let start = Vec3::new(0.0, 0.61, 0.1965) - Vec3::new(-0.82, 0.0, 0.31);
    let axis = Vec3::new(0.0, 0.0175_f64.cos(), 0.0175_f64.sin());
    let (mut most, mut least) = (0.0_f64, 0.0_f64);
    for i in 0..uprights.len() {
        let moved = uprights[i] - chassis[i] - start;
        let (expected, turn) = corner.pose(moved[2], 0.0);
        assert!((moved - expected).norm() < 1e-8, "{moved:?} {expected:?}");
        let (found, expected) = (turns[i].rotate(axis), turn.rotate(axis));
        // Camber and toe in rad.
        assert!((found[2].asin() - expected[2].asin()).abs() < 1e-8);
        assert!(((found[0] / found[1]).atan() - (expected[0] / expected[1]).atan()).abs() < 1e-8);
        (most, least) = (most.max(moved[2]), least.min(moved[2]));
    }
    assert!(most > 0.02 && least < -0.02, "{most} {least}");
    // The contact point as a point of the upright: how it moves sideways tells the roll centre.
    for i in 20..uprights.len() - 20 {
        let travel = uprights[i][2] - chassis[i][2] - start[2];
        let rise = (uprights[i + 1] - chassis[i + 1])[2] - (uprights[i - 1] - chassis[i - 1])[2];
        if rise.abs() < 1e-3 {
            continue;
        }
        let height = uprights[i][2];
        let arm = turns[i].conjugate().rotate(Vec3::Z * -height);
        let contact = |k: usize| uprights[k] - chassis[k] + turns[k].rotate(arm);
        let sideways = (contact(i + 1) - contact(i - 1))[1];
        let rise = (contact(i + 1) - contact(i - 1))[2];
        let found = sideways / rise * uprights[i][1];
        let expected = corner.roll_centre(travel, height);
        assert!(
            (found - expected).abs() < 3e-3,
            "{travel}: {found} {expected}"
        );
    }
}

/// Slopes of the side force and of the aligning moment of an axle by its slip angle, and of the side
/// force by its camber.
fn axle(tyre: &MagicFormula, loads: [f64; 2]) -> [f64; 3] {
    let mut sums = [0.0; 3];
    for (load, camber) in loads.into_iter().zip([0.0175, -0.0175]) {
        let dual = |value: f64| Dual::<2> {
            value,
            slopes: [0.0; 2],
        };
        let slip = Slip::forward(
            dual(0.0),
            Dual::variable(0.0, 0),
            Dual::variable(camber, 1),
            dual(load),
            dual(28.0),
        );
        let forces = tyre.forces(&slip, 1.0);
        sums[0] -= forces.fy.slopes[0];
        sums[1] += forces.mz.slopes[0];
        sums[2] += forces.fy.slopes[1];
    }
    sums
}

/// The coefficients of the tyre in the model file.
fn tyre() -> MagicFormula {
    let (_, table) = CAR.split_once("tyre-fl.coefficients]").unwrap();
    let table = table.split("\n[").next().unwrap();
    let numbers = table.lines().filter_map(|line| {
        let (key, value) = line.split('#').next()?.split_once('=')?;
        Some((key.trim(), value.trim().parse().ok()?))
    });
    MagicFormula::from_properties(&PropertyFile::from_numbers(numbers)).unwrap()
}

/// Yaw rate and side slip after a small step of the steering in 0.3 s (the car rolls at 3 Hz), against the linear single-track model
/// with the masses, tyres and steering kinematics of the car.
#[test]
fn a_small_step_steer_is_that_of_the_linear_bicycle() {
    let (rack, begin) = (2e-4, 1.2);
    let h = 5e-4;
    let set = [
        ("v0", "28"),
        ("v_test", "28"),
        ("steer", "2e-4"),
        ("t_step", "1.2"),
        ("t_ramp", "0.3"),
        ("simulation.duration", "2.4"),
        ("simulation.step", "5e-4"),
    ];
    let model = car("", &set);
    let run = History::whole(&model, 1);
    let before = run.times().iter().position(|t| *t > begin - 0.01).unwrap();
    let speed = run.column("car.chassis.vx")[before];
    let load = |corner: &str| run.column(&format!("car.tyre-{corner}.fz"))[before];
    let tyre = tyre();
    let [front, front_moment, front_lean] = axle(&tyre, [load("fl"), load("fr")]);
    let [rear, rear_moment, rear_lean] = axle(&tyre, [load("rl"), load("rr")]);
    let lengths = ["fl", "rl"].map(|corner| tyre.relaxation_lengths(load(corner), 0.0175)[1]);
    let (mass, a, yaw_inertia) = inertia(&model);
    let b = WHEELBASE - a;
    // Angular momentum of the two wheels of an axle.
    let spin = 2.0 * model.parameter("j_rim").unwrap() * speed / 0.2;
    // Toe of the left and of the right wheel, which is the left one with the rack to the other side.
    let corner = Corner::front_left(CAR);
    let travel = |upright: &str| {
        let ride =
            run.positions(upright)[before][2] - run.positions("car.nodes.chassis")[before][2];
        ride - (0.1965 - 0.31)
    };
    // How the car rolls is taken from itself, what that does to the wheels from the hard points.
    let front_travel = travel("car.nodes.upright-fl");
    let by_roll = [
        corner.by_roll(front_travel),
        Corner::rear_left(CAR).by_roll(travel("car.nodes.upright-rl")),
    ];
    let roll_centre = 0.5
        * (corner.roll_centre(front_travel, 0.19)
            + Corner::rear_left(CAR).roll_centre(travel("car.nodes.upright-rl"), 0.19));
    let lever = run.column("car.chassis.pz")[before] - roll_centre;
    // All that is sprung moves sideways when it rolls, as seen from the wheels.
    let swing = lever * model.parameter("m_chassis").unwrap() / mass;
    let angles = |rack: f64| {
        let axis = corner.pose(front_travel, rack).1.rotate(Vec3::Y);
        [-(axis[0] / axis[1]).atan(), axis[2].asin()]
    };
    let (left, right) = (angles(rack), angles(-rack));
    let [angle, lean] = [0, 1].map(|i| 0.5 * (left[i] - right[i]));
    let thrust: f64 = ["fl", "fr"]
        .map(|corner| run.column(&format!("car.tyre-{corner}.fx"))[before])
        .iter()
        .sum();
    // What a turned wheel does besides slipping: its driving force turns, and it leans.
    let by_steer = thrust + front_lean * lean / angle;
    let (mut side, mut yaw) = (0.0, 0.0);
    let mut slips = [0.0; 2];
    let rates = run.column("car.chassis.wz");
    let roll_rates = run.column("car.chassis.wx");
    let velocities = run.velocities("car.chassis");
    let turns = run.orientations("car.chassis");
    let steps = 20;
    let dt = h / f64::from(steps);
    let (mut worst, mut last) = ([0.0_f64; 2], [0.0; 2]);
    for i in 0..run.times().len() - 1 {
        let roll = turns[i].rotate(Vec3::Y)[2].asin();
        for step in 0..steps {
            let t = run.times()[i] + f64::from(step) * dt;
            let progress = ((t - begin) / 0.3).clamp(0.0, 1.0);
            let steer = angle * 0.5 * (1.0 - (std::f64::consts::PI * progress).cos());
            let at_wheels = side + swing * roll_rates[i];
            let wanted = [
                steer + by_roll[0][1] * roll - (at_wheels + a * yaw) / speed,
                by_roll[1][1] * roll - (at_wheels - b * yaw) / speed,
            ];
            for axle in 0..2 {
                slips[axle] += dt * speed / lengths[axle] * (wanted[axle] - slips[axle]);
            }
            let forces = [
                front * slips[0] + front_lean * by_roll[0][0] * roll + by_steer * steer,
                rear * slips[1] + rear_lean * by_roll[1][0] * roll,
            ];
            // A slip to the left is negative here: the aligning moment acts against the steer.
            let aligning = -front_moment * slips[0] - rear_moment * slips[1];
            side += dt * ((forces[0] + forces[1]) / mass - speed * yaw);
            // Wheels that are tilted turn the car as gyroscopes.
            let tilting = (by_roll[0][0] + by_roll[1][0]) * roll_rates[i];
            let moment = a * forces[0] - b * forces[1] + aligning - spin * tilting;
            yaw += dt * moment / yaw_inertia;
        }
        // The car's own motion at the wheels, below its centre of mass.
        let own = turns[i + 1].conjugate().rotate(velocities[i + 1]);
        let at_wheels = own[1] + rates[i + 1] * (-a + 0.82) + lever * roll_rates[i + 1];
        worst[0] = worst[0].max((rates[i + 1] - yaw).abs());
        worst[1] = worst[1].max((at_wheels - side - swing * roll_rates[i + 1]).abs());
        last = [yaw, side];
    }
    let errors = [worst[0] / last[0].abs(), worst[1] / last[1].abs()];
    println!("bicycle: errors of yaw rate and side slip {errors:?}; steady {last:?}");
    assert!(errors[0] < 0.03 && errors[1] < 0.03, "{errors:?}");
}

/// Cut between front and rear axle: the difference from the whole falls with the step, where Newton's
/// iteration leaves nothing of it.
#[test]
fn the_cut_car_moves_as_the_whole_one() {
    let difference = |step: &str, tolerance: &str| {
        let set = [
            ("v0", "20"),
            ("v_test", "20"),
            ("t_step", "0.1"),
            ("simulation.duration", "0.6"),
            ("simulation.step", step),
            ("multibody.car.tolerance", tolerance),
        ];
        let model = car("", &set);
        let whole = History::whole(&model, 1);
        let cut = History::of(model.simulation().unwrap(), &model, 1);
        let apart = |name: &str| {
            let (whole, cut) = (whole.column(name), cut.column(name));
            let pairs = whole.iter().zip(&cut);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        (apart("car.chassis.vy"), apart("car.chassis.wz"))
    };
    let usual = difference("3e-4", "1e-6");
    let [coarse, fine] = ["6e-4", "3e-4"].map(|step| difference(step, "1e-10"));
    println!("cut and whole: {coarse:?} at 6e-4 s, {fine:?} at 3e-4 s; as usual {usual:?}");
    assert!(usual.0 < 1e-6 && usual.1 < 1e-6, "{usual:?}");
    assert!(
        fine.0 < 0.4 * coarse.0 && fine.1 < 0.4 * coarse.1,
        "{coarse:?} {fine:?}"
    );
}

/// Rack and rockers are light, and rods hold an upright between nodes that are prescribed: nothing is singular in
/// that, and all cuts differ from the whole by the square of the step.
#[test]
fn the_car_can_be_cut_left_and_right_and_in_four() {
    let run = |step, cut: Option<&str>| {
        let set = [
            ("v0", "20"),
            ("v_test", "20"),
            ("t_step", "0.05"),
            ("simulation.duration", "0.15"),
            ("simulation.step", step),
            ("multibody.car.tolerance", "1e-12"),
            ("with", cut.unwrap_or("[]")),
        ];
        let model = car("", &set);
        match cut {
            None => History::whole(&model, 1),
            Some(_) => History::of(model.simulation().unwrap(), &model, 1),
        }
    };
    let apart = |whole: &History, cut: &History| {
        ["car.chassis.vx", "car.chassis.vy", "car.chassis.wz"].map(|name| {
            let (whole, cut) = (whole.column(name), cut.column(name));
            let pairs = whole.iter().zip(&cut);
            pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        })
    };
    let wholes = ["1.2e-3", "6e-4"].map(|step| (step, run(step, None)));
    for cut in ["\"left-right\"", "\"four-corners\""] {
        let [coarse, fine] = [0, 1].map(|i: usize| {
            let (step, whole) = &wholes[i];
            apart(whole, &run(step, Some(cut)))
        });
        println!("{cut}: {coarse:?} at 1.2e-3 s, {fine:?} at 6e-4 s");
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            assert!(fine < 1e-7 && fine < 0.4 * coarse, "{cut}: {coarse} {fine}");
        }
    }
}

/// Work of the parts of a cut, by counting: a part that is told the motion of the chassis as well as the whole
/// predicts it itself has no more to iterate and to factor than the whole.
#[test]
fn an_axle_iterates_no_more_than_the_whole_car() {
    let set = [
        ("v0", "100 / 3.6"),
        ("t_step", "0.2"),
        ("simulation.duration", "0.6"),
    ];
    let model = car("", &set);
    let work = |mut simulation: Simulation| {
        let outcome = simulation.run(Run::new(model.steps(), &mut Discard));
        outcome.end.unwrap_or_else(|fault| panic!("{fault}"));
        let parts = outcome.summary.parts.into_iter();
        let counts = parts.map(|part| {
            (
                part.name,
                part.counters.iterations,
                part.counters.factorisations,
            )
        });
        counts.collect::<Vec<_>>()
    };
    let whole = work(model.monolithic(None).unwrap());
    let parts = work(model.simulation().unwrap());
    println!("whole {whole:?}, cut {parts:?}");
    let (_, iterations, _) = whole[0];
    // The whole predicts with the second differences of its accelerations, which its parts do not: they have their
    // tangents exchanged instead. Neither needs much more than one iteration a step.
    let steps = model.steps();
    assert!(10 * iterations <= 13 * steps, "{iterations} of {steps}");
    for (name, of_part, factored) in &parts {
        assert!(
            5 * of_part <= 6 * iterations,
            "{name}: {of_part} {iterations}"
        );
        assert!(20 * factored <= steps, "{name}: {factored} {steps}");
    }
}

/// Pulled over by its side it comes to lie on its hoop, and does not fall through the road.
#[test]
fn a_rolled_over_car_lies_on_its_hoop() {
    let set = [
        ("v_test", "0"),
        ("multibody.car.gravity", "[0, -14, -6]"),
        ("multibody.car.elements.tyre-fl.road.grip", "3"),
        ("simulation.duration", "3"),
        ("simulation.step", "5e-4"),
    ];
    let run = History::whole(&car("", &set), 10);
    let turns = run.orientations("car.nodes.chassis");
    let up = |i: usize| turns[i].rotate(Vec3::Z)[2];
    let least = (0..turns.len()).map(up).fold(1.0, f64::min);
    assert!(least < 0.5, "it rolls over: {least}");
    let lowest = run
        .column("car.nodes.chassis.pz")
        .into_iter()
        .fold(1.0, f64::min);
    assert!(lowest > 0.1, "{lowest}");
}

fn problems(set: &[(&str, &str)]) -> String {
    let set = set
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    let kinds = oldham_vehicle::extensions();
    let model = Model::parse_with(CAR, "car.toml", &Overrides(set.collect()), &kinds);
    model.expect_err("bad input").to_string()
}

#[test]
fn bad_input_is_told_with_its_reason() {
    let text = problems(&[("multibody.car.joints.lower-front-fl.length", "0.05")]);
    assert!(
        text.contains("the rod `lower-front-fl` is 0.3299 m too short"),
        "{text}"
    );
    let text = problems(&[("multibody.car.elements.tyre-fl.coefficients.PKY1", "45")]);
    assert!(text.contains("PKY1 = 45 is absurd"), "{text}");
    let text = problems(&[("multibody.car.elements.tyre-fr.like", "\"tyre-xx\"")]);
    assert!(
        text.contains("there is no tyre `tyre-xx` before this"),
        "{text}"
    );
    let text = problems(&[(
        "multibody.car.elements.tyre-fl.road.file",
        "\"no-such-road.csv\"",
    )]);
    assert!(
        text.contains("the road file `no-such-road.csv` cannot be read"),
        "{text}"
    );
    let text = problems(&[
        ("multibody.car.elements.tyre-fl.road.class", "\"A\""),
        ("multibody.car.elements.tyre-fl.road.height", "0.01"),
    ]);
    assert!(
        text.contains("a road with a class of roughness has no `height`"),
        "{text}"
    );
    let text = problems(&[("multibody.car.elements.motor-fl.max_power", "-1")]);
    assert!(text.contains("the number must be positive"), "{text}");
}

/// Fontana 2026, Sect. 5.3: a hundred steps for a revolution at top speed.
#[test]
fn steps_that_are_long_for_the_wheels_are_remarked() {
    let notes = |step: &str| {
        let set = [
            ("v_top", "32"),
            ("simulation.step", step),
            ("simulation.duration", "0.6"),
        ];
        car("", &set).notes().to_vec()
    };
    // 2π 0.203 / 32 / 100 = 3.99e-4 s
    assert!(notes("3e-4").is_empty());
    let [note] = &notes("6e-4")[..] else {
        panic!("one remark");
    };
    assert!(
        note.contains("turns once in 66 steps") && note.contains("4.0e-4"),
        "{note}"
    );
}
