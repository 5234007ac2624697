//! Machines at rest on hydraulics that are connected in other ways than one cylinder to one thrust.

use oldham_model::{Model, Problems, Rest};

use crate::common::{coupled, example, read};

const WEIGHT: f64 = 800.0 * 9.81;
/// The load over both chambers of a lift: (F + A₁ p_T)/A₂.
fn carrying(load: f64) -> f64 {
    (load + 1e-3 * 1e5) / 2e-3
}

fn changed(name: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(example(name), |text, (from, to)| {
        assert!(text.contains(from), "{from}");
        text.replacen(from, to, 1)
    })
}

/// The lift until its valve opens, in steps that need no interface model.
fn lift(changes: &[(&str, &str)]) -> Result<Model, Problems> {
    let text = changed("hydraulic-lift", changes);
    let text = text.replace("interface-model", "first-order");
    let text = text.replace("step = 0.01", "step = 0.001");
    read(&text.replace("duration = 4.0", "duration = 0.2"))
}

fn at_rest(model: &Model) -> Rest {
    let mechanism = model.mechanisms().next().unwrap();
    mechanism.equilibrium(None, 4).unwrap()
}

fn assert_stays(model: &Model, signal: &str) {
    let run = coupled(model);
    let length = run.column(signal);
    let moved = length.iter().map(|l| (l - length[0]).abs());
    let moved = moved.fold(0.0, f64::max);
    assert!(moved < 1e-9, "it moves by {moved}");
}

const FORCE: &str = "to = \"lift.platform\"\n";
const LENGTH: &str = "to = \"oil.lift.length\"\n";

/// The run started with twice the force that holds the platform.
#[test]
fn a_force_that_is_doubled_on_its_way_carries_twice_the_load() {
    let gain = format!("{FORCE}gain = 2\n");
    let model = lift(&[(FORCE, &gain)]).unwrap();
    let head = coupled(&model).column("oil.head.p")[0];
    assert!(
        (head / carrying(WEIGHT / 2.0) - 1.0).abs() < 1e-10,
        "{head}"
    );
    assert_stays(&model, "lift.platform.length");
    // 500 N of it come from the offset.
    let both = format!("{FORCE}gain = 2\noffset = 500\n");
    let model = lift(&[(FORCE, &both)]).unwrap();
    let head = coupled(&model).column("oil.head.p")[0];
    let load = (WEIGHT - 500.0) / 2.0;
    assert!((head / carrying(load) - 1.0).abs() < 1e-10, "{head}");
}

/// The piston was taken to be beyond its end stop, which carried 1.7 GPa.
#[test]
fn a_length_that_is_shifted_on_its_way_is_that_of_the_piston() {
    let offset = format!("{LENGTH}offset = -0.75\n");
    let centre = ("centre = \"s0\"", "centre = \"s0 - 0.75\"");
    let model = lift(&[(LENGTH, &offset), centre]).unwrap();
    let head = coupled(&model).column("oil.head.p")[0];
    assert!((head / carrying(WEIGHT) - 1.0).abs() < 1e-10, "{head}");
    assert_stays(&model, "lift.platform.length");
}

/// Networks let the stop push a piston back from where the file puts it.
#[test]
fn a_cylinder_of_a_network_that_starts_beyond_its_stroke_is_refused() {
    let told = lift(&[("centre = \"s0\"", "centre = \"s0 - 0.75\"")]).unwrap_err();
    let told = told.to_string();
    assert!(
        told.contains("`lift` starts beyond its stroke: its line is 1.2000 m long"),
        "{told}"
    );
}

/// Circuits had the same gap, in loads and in strokes.
#[test]
fn a_circuit_counts_gains_and_offsets_too() {
    let plain = at_rest(&read(&example("two-cylinder-arm")).unwrap()).loads;
    let scaled = changed(
        "two-cylinder-arm",
        &[
            ("to = \"arm.boom\"\n", "to = \"arm.boom\"\ngain = 2\n"),
            (
                "to = \"oil.boom.length\"\n",
                "to = \"oil.boom.length\"\noffset = 3\n",
            ),
            ("centre = \"s1\"", "centre = \"s1 + 3\""),
            ("interface-model", "zero-order"),
        ],
    );
    let model = read(&scaled).unwrap_or_else(|problems| panic!("{problems}"));
    let (_, circuit) = oldham_hydraulics::circuits(&model).next().unwrap();
    let [boom, stick] = [0, 1].map(|index| circuit.actuators[index].rest);
    let load = |rest| match rest {
        oldham_hydraulics::Rest::Load(load) => load,
        oldham_hydraulics::Rest::Spool(_) => f64::NAN,
    };
    assert!((2.0 * load(boom) / plain[0].load - 1.0).abs() < 1e-9);
    assert!((load(stick) / plain[1].load - 1.0).abs() < 1e-9);
    let short = scaled.replace("centre = \"s1 + 3\"", "centre = \"s1\"");
    let told = read(&short).unwrap_err().to_string();
    assert!(told.contains("`boom` starts beyond its stroke"), "{told}");
}

const METER: &str = r#"
[[connection]]
from = "oil.lift.force"
to = "meter.f"
[control.meter]
inputs = { f = "N" }
outputs.g = { value = "2 * f", unit = "N" }
"#;

/// Whoever else took the force first was taken for what it carries.
#[test]
fn a_force_that_is_measured_too_carries_all_the_same() {
    let first = "[[connection]]\nfrom = \"oil.lift.force\"\nto = \"lift.platform\"\n";
    let both = format!("{METER}{first}");
    let order = ("[\"oil\", \"lift\"]", "[\"oil\", \"lift\", \"meter\"]");
    let model = lift(&[(first, &both), order]).unwrap_or_else(|problems| panic!("{problems}"));
    let head = coupled(&model).column("oil.head.p")[0];
    assert!((head / carrying(WEIGHT) - 1.0).abs() < 1e-10, "{head}");
}

/// A second cylinder beside that of the lift, both on the oil below the piston.
fn beside(head: &str) -> Result<Model, Problems> {
    let actuators = "[multibody.lift.actuators]\n";
    let left = format!(
        "{actuators}left = {{ between = [\"ground\", \"platform\"], points = [[-0.5, 0, 0], [-0.5, \"s0\", 0]] }}\n"
    );
    let cylinders = "[hydraulic_network.oil.cylinders]\n";
    let cylinder = format!(
        "{cylinders}left = {{ between = [\"tank\", \"head\"], areas = [\"rod\", \"area\"], stroke = 0.8, centre = \"s0\", friction = 4000 }}\n"
    );
    let inputs = "[multibody.lift.inputs]\n";
    let input = format!("{inputs}left = {{ thrust = \"left\" }}\n");
    let connections = r#"
[[connection]]
from = "oil.left.force"
to = "lift.left"
[[connection]]
from = "lift.left.length"
to = "oil.left.length"
[[connection]]
from = "lift.left.rate"
to = "oil.left.rate"
[excitation]
"#;
    lift(&[
        (actuators, &left),
        (cylinders, &cylinder),
        (inputs, &input),
        ("[excitation]\n", connections),
        ("pressure = \"static\"", &format!("pressure = {head}")),
    ])
}

/// Statics held both, and found them redundant.
#[test]
fn of_two_cylinders_side_by_side_the_second_pushes_as_it_starts() {
    let half = carrying(WEIGHT / 2.0);
    let model = beside(&half.to_string()).unwrap_or_else(|problems| panic!("{problems}"));
    assert_stays(&model, "lift.platform.length");
    let rest = at_rest(&model);
    let found: Vec<bool> = rest.loads.iter().map(|load| load.is_found).collect();
    assert_eq!(found.iter().filter(|found| **found).count(), 1, "{rest:?}");
    for load in &rest.loads {
        assert!((2.0 * load.load / WEIGHT - 1.0).abs() < 1e-9, "{load:?}");
    }
    let parts = model.resting_parts(None, &[&rest]);
    let values = parts[0].values.as_ref().unwrap();
    let head = values.iter().find(|value| value.name == "head.p").unwrap();
    assert!((head.found / half - 1.0).abs() < 1e-9, "{head:?}");
    // With other oil the two do not carry the same, though they must.
    let model = beside("3e6").unwrap();
    let rest = at_rest(&model);
    let parts = model.resting_parts(None, &[&rest]);
    let told = parts[0].values.as_ref().unwrap_err();
    assert!(
        told.contains("the same pressures have to carry the loads of `left`"),
        "{told}"
    );
}

/// A cylinder with a load as a number beside one that asks for its own was refused when the file was read.
#[test]
fn a_given_load_relieves_the_one_that_is_found() {
    let plain = at_rest(&read(&example("two-cylinder-arm")).unwrap()).loads;
    let text = changed(
        "two-cylinder-arm",
        &[
            (
                "[multibody.arm.actuators]\n",
                "[multibody.arm.actuators]\nhelp = { between = [\"ground\", \"boom\"], points = [[\"xA\", \"yA\", 0.2], [\"x1\", \"y1\", 0.2]] }\n",
            ),
            (
                "[multibody.arm.inputs]\n",
                "[multibody.arm.inputs]\nhelp = { thrust = \"help\" }\n",
            ),
            (
                "[hydraulics.oil.actuators.stick]\n",
                "[hydraulics.oil.actuators.help]\nareas = [\"area\", \"area\"]\nstroke = 0.442\ncentre = \"s1\"\nfriction = 1e5\nload = 2000\nvalve = { area = 5e-4, discharge = 0.67 }\n[hydraulics.oil.actuators.stick]\n",
            ),
            (
                "[excitation]\n",
                "[[connection]]\nfrom = \"oil.help.force\"\nto = \"arm.help\"\n[[connection]]\nfrom = \"arm.help.length\"\nto = \"oil.help.length\"\n[[connection]]\nfrom = \"arm.help.rate\"\nto = \"oil.help.rate\"\n[excitation]\n\"oil.help.spool\" = 0\n",
            ),
        ],
    );
    let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
    let rest = at_rest(&model);
    let of = |loads: &[oldham_model::ActuatorLoad], name: &str| {
        let mut loads = loads.iter();
        let load = loads.find(|load| load.actuator == name).unwrap();
        (load.load, load.is_found)
    };
    let (boom, is_found) = of(&rest.loads, "boom");
    let expected = of(&plain, "boom").0 - 2000.0;
    assert!(
        is_found && (boom / expected - 1.0).abs() < 1e-9,
        "{boom} {expected}"
    );
    let (help, is_found) = of(&rest.loads, "help");
    assert!(!is_found && (help - 2000.0).abs() < 1e-6, "{help}");
    // The valve of the stick begins to move at 1 s.
    let run = coupled(&model);
    let length = run.column("arm.boom.length");
    assert!((length[40] - length[0]).abs() < 1e-7, "{:?}", &length[..40]);
}

/// Statics took the first line and left the other to itself.
#[test]
fn one_force_on_two_lines_is_refused_where_its_load_is_wanted() {
    let more = r#"
[[connection]]
from = "oil.lift.force"
to = "lift.left"
[excitation]
"#;
    let actuators = "[multibody.lift.actuators]\n";
    let left = format!(
        "{actuators}left = {{ between = [\"ground\", \"platform\"], points = [[-0.5, 0, 0], [-0.5, \"s0\", 0]] }}\n"
    );
    let inputs = "[multibody.lift.inputs]\n";
    let input = format!("{inputs}left = {{ thrust = \"left\" }}\n");
    let changes = [
        (actuators, &left[..]),
        (inputs, &input),
        ("[excitation]\n", more),
    ];
    let told = lift(&changes).unwrap_err().to_string();
    assert!(
        told.contains("`oil.lift.force` pushes `lift.platform` and `lift.left`"),
        "{told}"
    );
}

const DRIVE: &str = r#"
[hydraulic_network.drive]
fluid = { density = 850, a = 6.53e-10 }
volumes.high = { volume = 5e-4, pressure = 1e6 }
tanks.tank = { pressure = 1e5 }
pumps.pump = { between = ["tank", "high"] }
motors.motor = { between = ["high", "tank"], displacement = 7e-5 }
[lumped.wheel]
coordinates = "rotation"
integrator = "lms2"
masses.w = { mass = 1 }
springs.d = { between = ["ground", "w"], damping = 1 }
inputs.t = { force = "w" }
outputs.m = { motion = "w" }
[[connection]]
from = "drive.motor.torque"
to = "wheel.t"
[[connection]]
from = "wheel.m"
to = "drive.motor.shaft"
[excitation]
"drive.pump.flow" = "1e-5"
"#;

/// A drive that has nothing to do with the mechanism was asked to hold it.
#[test]
fn a_network_that_carries_no_mechanism_is_none_of_statics() {
    let order = (
        "[\"oil\", \"lift\"]",
        "[\"oil\", \"lift\", \"drive\", \"wheel\"]",
    );
    let model = lift(&[("[excitation]\n", DRIVE), order]);
    let model = model.unwrap_or_else(|problems| panic!("{problems}"));
    let parts = model.resting_parts(None, &[&at_rest(&model)]);
    let names: Vec<&str> = parts.iter().map(|part| &*part.name).collect();
    assert_eq!(names, ["oil"]);
}
