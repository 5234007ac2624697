//! Controllers in an interface model, what is refused, and what once panicked.

use std::time::Duration;

use oldham_cosim::{InMemory, Run, Simulation, SubsystemId};
use oldham_model::{Model, Overrides};
use oldham_stability::{Decision, Spectrum};

/// A cart on a rail that a controller with an interface model pushes.
fn pushed(control: &str, step: f64) -> String {
    format!(
        r#"
[model]
name = "Cart"
[simulation]
duration = 1.0
step = {step}
[schedule]
kind = "gauss-seidel"
order = ["hand", "rail"]
[multibody.rail.nodes]
cart = {{ position = [1, 0, 0], velocity = [0.1, 0, 0] }}
[multibody.rail.bodies]
cart = {{ node = "cart", mass = 1, inertia = [1, 1, 1] }}
[multibody.rail.joints]
guide = {{ type = "prismatic", between = ["ground", "cart"], axis = [1, 0, 0] }}
[multibody.rail.actuators]
push = {{ between = ["ground", "cart"], points = [[0, 0, 0], [1, 0, 0]] }}
[multibody.rail.inputs]
push = {{ thrust = "push" }}
[control.hand]
inputs = {{ length = "m", rate = "m/s" }}
predictor = "interface-model"
{control}
[[connection]]
from = "hand.force"
to = "rail.push"
[[connection]]
from = "rail.push.length"
to = "hand.length"
[[connection]]
from = "rail.push.rate"
to = "hand.rate"
"#
    )
}

fn simulation(text: &str) -> Simulation {
    let model = Model::parse(text, "test.toml", &Overrides::none())
        .unwrap_or_else(|problems| panic!("{problems}"));
    model
        .simulation()
        .unwrap_or_else(|problems| panic!("{problems}"))
}

fn place(simulation: &Simulation, name: &str) -> SubsystemId {
    let mut names = simulation.names();
    SubsystemId(names.position(|one| one == name).unwrap())
}

/// The radius that samples show, so many steps apart: each is made of the two before.
fn growth(simulation: &mut Simulation, every: u64, samples: usize) -> f64 {
    let rail = place(simulation, "rail");
    let ports = simulation.ports(rail).clone();
    let length = ports
        .output_range(ports.output("push.length").unwrap())
        .start;
    let mut values = Vec::new();
    for _ in 0..samples {
        simulation.steps(every).unwrap();
        values.push(simulation.outputs(rail)[length] - 1.0);
    }
    let last = &values[values.len() - 4..];
    // x₂ = a x₁ + b x₀ and x₃ = a x₂ + b x₁; the radius is the root of -b.
    let determinant = last[1] * last[1] - last[0] * last[2];
    let b = (last[1] * last[3] - last[2] * last[2]) / determinant;
    (-b).abs().sqrt()
}

/// A double integrator under a sampled spring grows by sqrt(1 + K Ts²/2) a sample. Once it was called stable, since
/// only one macro step of a sample was looked at; then its sample acted one macro step early, since it advances first.
#[test]
fn a_sampled_controller_with_an_interface_model_is_analysed_by_its_samples() {
    let control = r#"
sample = 0.05
outputs.force = { value = "-100*(length - 1)", unit = "N" }
"#;
    let text = pushed(control, 0.01);
    let spectrum = Spectrum::of(&mut simulation(&text)).unwrap();
    assert_eq!(spectrum.decision(), Decision::Unstable);
    assert!((spectrum.duration() - 0.05).abs() < 1e-12);
    // As long as the cart stays on its side of the ground.
    let run = growth(&mut simulation(&text), 5, 60);
    let radius = spectrum.radius();
    assert!((radius - run).abs() < 1e-6, "{radius}, run {run}");
    let exact = f64::sqrt(1.0 + 100.0 * 0.05 * 0.05 / 2.0);
    assert!((radius - exact).abs() < 1e-8, "{radius}, {exact}");
}

/// With a force of 1 - 0.2 v the length is 1 + 5 t - 25 (1 - exp(-0.2 t)) from rest; the delay must show it 0.1 s late.
#[test]
fn a_delay_in_an_interface_model_is_as_long_as_it_says() {
    let control = r#"
blocks.past = { kind = "delay", input = "length", time = 0.1, initial = 1 }
outputs.force = { value = "1 - 0.2*rate", unit = "N" }
outputs.late = { value = "past", unit = "m" }
"#;
    let text = pushed(control, 0.01).replace("velocity = [0.1, 0, 0]", "velocity = [0, 0, 0]");
    let mut simulation = simulation(&text);
    let hand = place(&simulation, "hand");
    let ports = simulation.ports(hand).clone();
    let late = ports.output_range(ports.output("late").unwrap()).start;
    for steps in 1..=100 {
        simulation.step().unwrap();
        let t = 0.01 * f64::from(steps) - 0.1;
        if t > 0.05 {
            let exact = 1.0 + 5.0 * t - 25.0 * (1.0 - (-0.2 * t).exp());
            let found = simulation.outputs(hand)[late];
            assert!((found - exact).abs() < 2e-5, "{t}: {found} {exact}");
        }
    }
}

/// Feedback of the length as it was some time ago, through an interface model: radius and run agree.
#[test]
fn a_delayed_controller_with_an_interface_model_is_analysed_as_it_runs() {
    for delay in [0.03, 0.0731] {
        let control = format!(
            r#"
blocks.past = {{ kind = "delay", input = "length", time = {delay}, initial = 1 }}
outputs.force = {{ value = "-40*(past - 1) - 1*rate", unit = "N" }}
"#
        );
        // Small enough for the length to be as linear as the rail.
        let text = pushed(&control, 0.01).replace("velocity = [0.1,", "velocity = [1e-5,");
        let spectrum = Spectrum::of(&mut simulation(&text)).unwrap();
        let run = growth(&mut simulation(&text), 1, 600);
        let radius = spectrum.radius();
        assert!((radius - run).abs() < 1e-6, "{delay}: {radius}, run {run}");
        assert!(radius > 1.0);
    }
}

/// Delays are state: the same bits after a checkpoint and on any number of threads.
#[test]
fn a_delay_in_an_interface_model_is_state() {
    let control = r#"
blocks.past = { kind = "delay", input = "length", time = 0.0731, initial = 1 }
outputs.force = { value = "-4*(past - 1) - rate", unit = "N" }
"#;
    let text = pushed(control, 0.01);
    let rows = |simulation: &mut Simulation, steps: u64, threads: usize| {
        let mut recorder = InMemory::default();
        let mut run = Run::new(steps, &mut recorder);
        run.threads = threads;
        simulation.run(run).end.unwrap();
        let bits = |row: &Vec<f64>| row.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        recorder.rows.iter().map(bits).collect::<Vec<_>>()
    };
    let whole = rows(&mut simulation(&text), 100, 1);
    assert_eq!(whole, rows(&mut simulation(&text), 100, 2));
    let mut first = simulation(&text);
    rows(&mut first, 37, 1);
    let saved = first.checkpoint("model").unwrap();
    let mut second = simulation(&text);
    second.restore(&saved, "model").unwrap();
    let rest = rows(&mut second, 63, 2);
    assert_eq!(whole[whole.len() - rest.len()..], rest[..]);
}

/// One name for two kinds of parts, named in the order, is two problems, not a panic.
#[test]
fn one_name_for_two_kinds_is_reported() {
    let text = r#"
[model]
name = "two kinds, one name"
[simulation]
duration = 0.01
step = 1e-3
[lumped.a]
integrator = "exact"
masses.m = { mass = 1 }
[control.a]
sample = "1 ms"
[schedule]
order = ["a"]
"#;
    let problems = Model::parse(text, "test.toml", &Overrides::none())
        .unwrap_err()
        .to_string();
    assert!(problems.contains("`a`"), "{problems}");
}

/// Coefficients that overflow when they are divided by the leading one are named.
#[test]
fn a_transfer_function_that_overflows_is_refused() {
    let text = r#"
[model]
name = "overflow"
[simulation]
duration = 0.01
step = 1e-3
[control.c]
sample = "1 ms"
inputs = { u = "m" }
[control.c.blocks]
valve = { kind = "transfer-function", input = "u", numerator = [1], denominator = [0.008, 1e308] }
[control.c.outputs]
y = { value = "valve", unit = "N" }
[excitation]
"c.u" = 1
"#;
    let problems = Model::parse(text, "test.toml", &Overrides::none())
        .unwrap_err()
        .to_string();
    assert!(
        problems.contains("valve") && problems.contains("must be finite"),
        "{problems}"
    );
}

fn example(name: &str, from: &str, to: &str) -> Model {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let text = std::fs::read_to_string(folder.join(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    let text = text.replace(from, to);
    let mut kinds = oldham_vehicle::extensions();
    oldham_hydraulics::register(&mut kinds);
    Model::parse_with(&text, name, &Overrides::none(), &kinds)
        .unwrap_or_else(|problems| panic!("{problems}"))
}

/// With an interface model on one side both sides give the matrices that they give without one: it stands for what is
/// between communication points, which a linear system does not have.
#[test]
fn parts_of_an_interface_model_are_linear_systems_as_without_one() {
    let matrices = |predictor: &str| {
        let model = example("carried-machine.toml", "\"interface-model\"", predictor);
        let mut simulation = model
            .simulation()
            .unwrap_or_else(|problems| panic!("{problems}"));
        ["table", "machine"].map(|name| {
            let id = place(&simulation, name);
            simulation.linearise(id).unwrap().expect("a linear system")
        })
    };
    let (with, without) = (matrices("\"interface-model\""), matrices("\"zero-order\""));
    for (with, without) in with.iter().zip(&without) {
        assert_eq!(with.states, without.states);
        let close = |a: &[f64], b: &[f64]| {
            let largest = b.iter().fold(1.0_f64, |most, x| most.max(x.abs()));
            a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-6 * largest)
        };
        assert!(close(&with.a, &without.a));
        // Outputs that are shown besides are the last.
        assert!(close(&with.c[..without.c.len()], &without.c));
        assert!(with.c[without.c.len()..].iter().all(|x| *x == 0.0));
    }
}

/// Weak pivots change the layout of one matrix and not that of another: whoever exchanges them connects anew. It
/// panicked within the analysis.
#[test]
fn an_analysis_with_weak_pivots_does_not_panic() {
    let analysed = |model: Model| {
        let mut simulation = model
            .simulation()
            .unwrap_or_else(|problems| panic!("{problems}"));
        match Spectrum::within(&mut simulation, Duration::from_secs(3)) {
            Err(error) => assert!(!error.to_string().contains("panicked"), "{error}"),
            Ok(found) => assert!(found.radius().is_finite()),
        }
    };
    for step in ["step = 1.0", "step = 0.5"] {
        analysed(example("winch.toml", "\nstep = 0.01", &format!("\n{step}")));
    }
    let centre = "centre = [0, 0, 1000]";
    analysed(example(
        "two-cylinder-arm.toml",
        "centre = [\"L2 / 2\", 0, 0]",
        centre,
    ));
}

/// Aitken's method on two parts that hardly need it: plain iteration takes four. With motions that fade away it came
/// to a standstill after 451 s and ended the run.
#[test]
fn aitken_does_not_stall_where_plain_iteration_converges() {
    let text = |acceleration: &str| {
        format!(
            r#"
[model]
name = "fading"
[simulation]
duration = 756
step = 0.00756
energy_bound = 0
[lumped.p0]
integrator = "rk4"
predictor = {{ kind = "linear-rate", rho = 0.91 }}
masses.x0 = {{ mass = 6.75028, position = 0.05069, velocity = 0.425 }}
masses.x1 = {{ mass = 1.69419, position = -0.09891, velocity = 0.424 }}
masses.x2 = {{ mass = 1.1093, position = -0.02465, velocity = -0.01489 }}
outputs.x1 = {{ motion = "x1" }}
springs.s0 = {{ between = ["x0", "x1"], stiffness = 101.509, damping = 0.0484359 }}
springs.s1 = {{ between = ["x1", "x2"], stiffness = 184.326, damping = 0 }}
springs.s2 = {{ between = ["ground", "x1"], stiffness = 36.0321, damping = 0.0288576 }}
springs.s3 = {{ between = ["x1", "far0"], stiffness = 30.1651, damping = 0.0123842 }}
inputs.far0 = {{ motion = "far0" }}
[lumped.p1]
integrator = "exact"
micro_steps = 2
predictor = {{ kind = "linear-rate", rho = 0.91 }}
masses.x0 = {{ mass = 0.372701, position = -0.06186, velocity = -0.5893 }}
masses.x1 = {{ mass = 4.97951, position = -0.06357, velocity = 0.5782 }}
outputs.x0 = {{ motion = "x0" }}
springs.s0 = {{ between = ["x0", "x1"], stiffness = 8.97563, damping = 0.00675534 }}
springs.s1 = {{ between = ["ground", "x0"], stiffness = 19.738, damping = 0.0100177 }}
springs.s2 = {{ between = ["far0", "x0"], stiffness = 30.1651, damping = 0.0123842 }}
inputs.far0 = {{ motion = "far0" }}
[[connection]]
from = "p1.x0"
to = "p0.far0"
[[connection]]
from = "p0.x1"
to = "p1.far0"
[schedule]
kind = "jacobi"
coupling = "implicit"
implicit = {{ acceleration = "{acceleration}", max_iterations = 200 }}
"#
        )
    };
    let most = |acceleration: &str| {
        let mut simulation = simulation(&text(acceleration));
        let mut recorder = oldham_cosim::Discard;
        let outcome = simulation.run(Run::new(61_000, &mut recorder));
        outcome.end.unwrap();
        (outcome.summary.iterations, outcome.summary.most_iterations)
    };
    let (plain, aitken) = (most("fixed"), most("aitken"));
    assert!(
        aitken.1 <= 60 && aitken.0 < 3 * plain.0,
        "{plain:?} {aitken:?}"
    );
}
