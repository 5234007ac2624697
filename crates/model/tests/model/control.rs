//! Controllers in model files, against closed forms and recursions computed here.

use oldham_cosim::{Discard, Run};
use oldham_model::Model;
use oldham_stability::analyse;

use crate::common::{assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, read};

fn model(text: &str) -> Model {
    read(text).unwrap_or_else(|problems| panic!("{problems}"))
}

fn refused(text: &str) -> String {
    read(text).expect_err("problems").to_string()
}

/// A mass that a controller holds at one metre, both ways through the exchange.
fn servo(control: &str, schedule: &str) -> String {
    format!(
        r#"
[model]
name = "Servo"
[simulation]
duration = 2.0
step = 0.01
[lumped.cart]
integrator = "exact"
masses.x = {{ mass = 2.0 }}
inputs.push = {{ force = "x" }}
outputs.place = {{ displacement = "x" }}
outputs.speed = {{ velocity = "x" }}
[control.hand]
inputs = {{ x = "m", v = "m/s" }}
{control}
[[connection]]
from = "cart.place"
to = "hand.x"
[[connection]]
from = "cart.speed"
to = "hand.v"
[[connection]]
from = "hand.force"
to = "cart.push"
[schedule]
{schedule}
"#
    )
}

const HELD: &str = r#"
sample = 0.05
signals.u = "60*(1 - x) - 14*v"
outputs.force = { value = "u", unit = "N" }
"#;

const LATE: &str = r#"
sample = 0.05
signals.u = "12*(1 - x) - 6*v"
blocks.late = { kind = "delay", input = "u", time = 0.1 }
outputs.force = { value = "late", unit = "N" }
"#;

/// A mass under a force that is held between samples, solved exactly from sample to sample; `late`
/// samples pass until the force acts.
fn recursion([p, d]: [f64; 2], late: usize, samples: usize) -> Vec<f64> {
    let (mass, period) = (2.0, 0.05);
    let (mut x, mut v) = (0.0, 0.0);
    let mut waiting = vec![0.0; late];
    let mut places = Vec::new();
    for _ in 0..samples {
        places.push(x);
        waiting.push(p * (1.0 - x) - d * v);
        let a = waiting.remove(0) / mass;
        x += period * v + 0.5 * period * period * a;
        v += period * a;
    }
    places
}

#[test]
fn a_sampled_controller_with_and_without_delay_follows_the_z_domain() {
    for (control, gains, late) in [(HELD, [60.0, 14.0], 0), (LATE, [12.0, 6.0], 2)] {
        let model = model(&servo(control, "output_update = true"));
        let found = coupled(&model).column("cart.place");
        let expected = recursion(gains, late, 40);
        assert!(expected[39] > 0.5, "it goes somewhere");
        for (sample, expected) in expected.iter().enumerate() {
            let found = found[5 * sample];
            assert!(
                (found - expected).abs() < 1e-10,
                "sample {sample}: {found} {expected}"
            );
        }
    }
}

/// The radius over a sample is that of the closed-loop matrix of the recursion.
#[test]
fn the_stability_of_a_sampled_loop_is_that_of_its_recursion() {
    let model = model(&servo(HELD, "output_update = true"));
    let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
    // [x v]⁺ = A [x v] with A = [[1 - a p/2, T - a d/2], [-b p, 1 - b d]], a = T²/m, b = T/m.
    let (mass, period, p, d) = (2.0, 0.05, 60.0, 14.0);
    let (a, b) = (period * period / mass, period / mass);
    let trace: f64 = 2.0 - 0.5 * a * p - b * d;
    let determinant = (1.0 - 0.5 * a * p) * (1.0 - b * d) + b * p * (period - 0.5 * a * d);
    let root: f64 = 0.25 * trace * trace - determinant;
    let radius = match root < 0.0 {
        true => determinant.sqrt(),
        false => 0.5 * trace.abs() + root.sqrt(),
    };
    let found = verdict.radius;
    assert!(
        (found - radius).abs() < 1e-6,
        "{found} {radius} {verdict:?}"
    );
}

/// Implicit coupling of a continuous controller converges to the closed form of second order.
#[test]
fn a_continuous_loop_converges_to_the_textbook() {
    let control = r#"
signals.u = "18*(1 - x) - 4.8*v"
outputs.force = { value = "u", unit = "N" }
"#;
    let (omega, zeta) = (3.0_f64, 0.4);
    let damped = omega * (1.0_f64 - zeta * zeta).sqrt();
    let expected = |t: f64| {
        let phase = damped * t;
        1.0 - (-zeta * omega * t).exp() * (phase.cos() + zeta * omega / damped * phase.sin())
    };
    let error = |step: f64| {
        let text = servo(control, "coupling = \"implicit\"");
        let text = text.replace("step = 0.01", &format!("step = {step}"));
        let found = coupled(&model(&text)).column("cart.place");
        let errors = found.iter().enumerate();
        let errors = errors.map(|(k, x)| (x - expected(step * k as f64)).abs());
        errors.fold(0.0, f64::max)
    };
    let errors = [0.02, 0.01, 0.005].map(error);
    let orders = [errors[0] / errors[1], errors[1] / errors[2]].map(f64::log2);
    assert!(orders.iter().all(|order| *order > 1.9), "{errors:?}");
    assert!(errors[2] < 2e-5, "{errors:?}");
}

/// What a controller does to a mass comes from outside: there is no spurious energy.
#[test]
fn the_work_of_a_controller_is_supplied() {
    for schedule in ["output_update = true", "coupling = \"implicit\""] {
        let control = HELD.replace("sample = 0.05", "");
        let model = model(&servo(&control, schedule));
        let mut simulation = model.simulation().unwrap();
        let outcome = simulation.run(Run::new(60, &mut Discard));
        let energy = outcome.summary.final_energy.expect("all parts know theirs");
        assert!(energy.stored > 0.01 && energy.supplied > 0.01, "{energy:?}");
        let difference = (energy.stored - energy.supplied).abs();
        assert!(
            difference < 0.05 * energy.supplied,
            "{schedule}: {energy:?}"
        );
        assert!(simulation.interfaces().is_empty());
    }
}

#[test]
fn controllers_are_saved_and_shared_among_threads_bit_by_bit() {
    let limited = r#"
blocks.u = { kind = "pid", input = "1 - x", kp = 60, ki = 20, kd = 14, filter = 100, limits = [-5, 5] }
blocks.late = { kind = "delay", input = "u", time = 0.03 }
outputs.force = { value = "late", unit = "N" }
"#;
    for control in [HELD, LATE, limited] {
        let model = model(&servo(control, "output_update = true"));
        assert_checkpoint_keeps_bits(&model, &["hand", "cart"]);
        assert_threads_keep_bits(&model);
    }
}

#[test]
fn a_loop_without_delay_is_named_with_all_its_parts() {
    let text = r#"
[model]
name = "Loop"
[simulation]
duration = 1.0
step = 0.01
[control.a]
inputs = { u = "1" }
outputs.y = { value = "2*u + 1" }
[control.b]
inputs = { u = "1", w = "1" }
blocks.slow = { kind = "transfer-function", input = "w", numerator = [1], denominator = [0.1, 1] }
outputs.y = { value = "slow - u" }
[control.c]
inputs = { u = "1" }
outputs.y = { value = "u" }
[[connection]]
from = "a.y"
to = "b.u"
[[connection]]
from = "b.y"
to = "c.u"
[[connection]]
from = "c.y"
to = "a.u"
[excitation]
"b.w" = "t"
"#;
    let said = refused(text);
    assert!(
        said.contains("a control loop without delay: a.y <- c.y <- b.y <- a.y"),
        "{said}"
    );
    assert!(said.contains("put a state into the loop"), "{said}");
    // With a state in it, or solved by iteration, it is none.
    model(&text.replace("value = \"u\"", "value = \"z\"").replace(
        "[control.c]\n",
        "[control.c]\nstates.z = { rate = \"(u - z)/0.1\" }\n",
    ));
    model(&format!("{text}\n[schedule]\ncoupling = \"implicit\"\n"));
}

/// The acceleration of a mass depends directly on the force on it.
#[test]
fn a_loop_through_an_acceleration_is_named() {
    let text = servo(HELD, "").replace("sample = 0.05", "");
    let text = text
        .replace("{ velocity = \"x\" }", "{ acceleration = \"x\" }")
        .replace("v = \"m/s\"", "v = \"m/s^2\"");
    let said = refused(&text);
    assert!(
        said.contains("hand.force <- cart.speed <- hand.force"),
        "{said}"
    );
}

#[test]
fn mistakes_in_controllers_say_what_to_do() {
    let base = servo(HELD, "");
    for (before, after, said) in [
        (
            "sample = 0.05",
            "sample = 0.025",
            "no multiple of the macro step of 0.01 s",
        ),
        (
            "sample = 0.05",
            "every = 2\nsample = 0.05",
            "advances with every macro step",
        ),
        ("x = \"m\"", "x = \"meter\"", "unknown unit `meter`"),
        (
            "x = \"m\"",
            "x = \"rad\"",
            "sends scalar in m, but `hand.x` takes scalar in rad",
        ),
        (
            "\"60*(1 - x) - 14*v\"",
            "\"60*(1 - y) - 14*v\"",
            "`y` is no parameter and no variable",
        ),
        (
            "signals.u = \"60",
            "signals.t = \"60",
            "`t` has another meaning",
        ),
        (
            "signals.u = \"60",
            "signals.x = \"60",
            "two things called `x`",
        ),
        (
            "signals.u = \"60*(1 - x)",
            "signals.u = \"u + 60*(1 - x)",
            "without delay: u <- u",
        ),
        (
            "sample = 0.05",
            "states.z = { rate = \"x\" }\nsample = 0.05",
            "a sampled controller has no rates",
        ),
        (
            "sample = 0.05",
            "states.z = { next = \"x\" }",
            "a continuous controller has no next value",
        ),
        (
            "sample = 0.05",
            "states.z = { initial = 1 }",
            "the state `z` has no `rate`",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"pid\", input = \"x\", kd = 1 }",
            "needs `filter`",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"pid\", kp = 1 }",
            "needs `input`",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"pid\", input = \"x\", rise = 1 }",
            "`rise` does not belong",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"pid\", input = \"x\", kp = 1, limits = [1, 0] }",
            "must be below the upper one",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"pdi\", input = \"x\" }",
            "cannot be `pdi`",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"delay\", input = \"x\", time = 0.001 }",
            "shorter than the macro step",
        ),
        (
            "sample = 0.05",
            "sample = 0.05\nblocks.p = { kind = \"delay\", input = \"x\", time = 0.12 }",
            "take 0.1 or 0.15",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"rate-limit\", input = \"x\", rise = 1 }",
            "needs `lag`",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"transfer-function\", input = \"x\", numerator = [1, 0], denominator = [1] }",
            "it would differentiate",
        ),
        (
            "sample = 0.05",
            "blocks.p = { kind = \"state-space\", input = \"x\", a = [[0, 1]], b = [[1]], c = [[1]] }",
            "the matrix a must have 1 rows and 1 columns",
        ),
    ] {
        let changed = base.replace(before, after);
        assert_ne!(changed, base, "{before}");
        let found = refused(&changed);
        assert!(found.contains(said), "{after}: {found}");
    }
    let implicit = refused(&servo(HELD, "coupling = \"implicit\""));
    assert!(implicit.contains("needs explicit coupling"), "{implicit}");
}
