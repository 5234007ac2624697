//! Gains, offsets and units on connections.

use crate::common::{coupled, example, read};

/// The example of two masses with the right one seen in a mirror: displacement and force change
/// their signs on the way, which leaves motion and balance of energy as they were.
#[test]
fn a_mirrored_pair_moves_as_before_and_is_still_balanced() {
    let text = example("two-mass-force-displacement");
    let model = read(&text).unwrap();
    let plain = coupled(&model);
    let mirrored = text.replace("[[connection]]", "[[connection]]\ngain = -1");
    let mirrored = mirrored.replace("velocity = -100.0", "velocity = 100.0");
    let model = read(&mirrored).unwrap_or_else(|problems| panic!("{problems}"));
    let simulation = model.simulation().unwrap();
    assert_eq!(
        simulation.interfaces().len(),
        1,
        "it is still one interface"
    );
    let found = coupled(&model);
    let (left, right) = (found.column("left.x1.x"), found.column("right.x2.x"));
    for (found, expected) in left.iter().zip(plain.column("left.x1.x")) {
        assert!((found - expected).abs() <= 1e-12 * expected.abs().max(1.0));
    }
    for (found, expected) in right.iter().zip(plain.column("right.x2.x")) {
        assert!((found + expected).abs() <= 1e-12 * expected.abs().max(1.0));
    }
}

#[test]
fn unequal_gains_are_no_interface() {
    let text = example("two-mass-force-displacement");
    let unequal = text.replacen("[[connection]]", "[[connection]]\ngain = 0.5", 1);
    let model = read(&unequal).unwrap();
    assert!(model.simulation().unwrap().interfaces().is_empty());
    let refused = model.monolithic(None).err().expect("no monolithic model");
    assert!(
        refused.to_string().contains("has a gain or an offset"),
        "{refused}"
    );
}

/// Implicit coupling iterates on what is sent, and finds the same as with the gain inside.
#[test]
fn a_gain_outside_is_a_gain_inside() {
    let with = |inside: &str, outside: &str, coupling: &str| {
        let text = format!(
            r#"
[model]
name = "Gain"
[simulation]
duration = 1.0
step = 0.01
[lumped.cart]
integrator = "lms2"
masses.x = {{ mass = 2.0, position = 0.3 }}
inputs.push = {{ force = "x" }}
outputs.place = {{ displacement = "x" }}
[control.hand]
inputs = {{ x = "m" }}
outputs.force = {{ value = "{inside}", unit = "N" }}
[[connection]]
from = "cart.place"
to = "hand.x"
[[connection]]
from = "hand.force"
to = "cart.push"
{outside}
[schedule]
coupling = "{coupling}"
"#
        );
        let model = read(&text).unwrap_or_else(|problems| panic!("{problems}"));
        coupled(&model).column("cart.place")
    };
    for coupling in ["explicit", "implicit"] {
        let inside = with("1.5 - 50*x", "", coupling);
        let outside = with("x", "gain = -50\noffset = 1.5", coupling);
        let difference = inside.iter().zip(&outside).map(|(a, b)| (a - b).abs());
        assert!(difference.fold(0.0, f64::max) < 1e-9, "{coupling}");
        assert!((inside[0] - inside[50]).abs() > 1e-2, "it moves");
    }
}

#[test]
fn units_are_converted_on_the_way() {
    let text = r#"
[model]
name = "Units"
[simulation]
duration = 0.1
step = 0.01
[control.a]
outputs.speed = { value = "60", unit = "rpm" }
[control.b]
inputs = { w = "rad/s" }
outputs.w = { value = "w", unit = "rad/s" }
[[connection]]
from = "a.speed"
to = "b.w"
unit = "rpm"
"#;
    let found = coupled(&read(text).unwrap()).column("b.w");
    assert!(
        (found[5] - std::f64::consts::TAU).abs() < 1e-15,
        "{found:?}"
    );
    for (unit, said) in [
        ("", "give the connection a `gain`, or the `unit`"),
        ("unit = \"Hz\"", "`Hz` cannot be converted to rad/s"),
        ("gain = 0", "must not be zero"),
        ("unit = \"turns\"", "unknown unit `turns`"),
    ] {
        let problems = read(&text.replace("unit = \"rpm\"\n", &format!("{unit}\n")));
        // The output keeps its unit: only the connection loses it.
        let problems = match problems {
            Ok(_) => panic!("{unit}"),
            Err(problems) => problems.to_string(),
        };
        assert!(problems.contains(said), "{unit}: {problems}");
    }
}
