//! Cuts whose parts follow the velocity of the interface besides its pose.

use oldham_cosim::{Energy, Simulation, Stage};
use oldham_model::{Model, Overrides};
use oldham_stability::Spectrum;

use crate::common::{
    History, assert_checkpoint_keeps_bits, assert_threads_keep_bits, coupled, example, read,
};

const VELOCITY: (&str, &str) = ("multibody.beam.cut.prescribe", "position-and-velocity");
const PLAIN: (&str, &str) = ("multibody.beam.cut.scheme", "interface-mass");

fn beam(parts: usize, set: &[(&str, &str)]) -> Model {
    let text = example(["cut-beam", "cut-beam-three"][parts - 2]);
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    Model::parse(&text, "test.toml", &Overrides(set.collect())).unwrap_or_else(|p| panic!("{p}"))
}

fn difference(model: &Model) -> f64 {
    let whole = History::of(model, model.monolithic(None).expect("one piece"));
    let [pieces, whole] = [coupled(model), whole].map(|run| run.column("beam.middle.x"));
    assert!(whole.iter().any(|value| value.abs() > 1e-3), "it moves");
    let differences = pieces.iter().zip(&whole).map(|(a, b)| (a - b).abs());
    differences.fold(0.0, f64::max)
}

/// Motions are guessed with an error of third order. Loads that must be guessed, along a line, are
/// wrong by the second order.
#[test]
fn the_difference_from_the_whole_has_the_order_of_the_guesses() {
    for (parts, scheme, damping, expected) in [
        (2, "interface-mass", "0", 3.0),
        (2, "interface-mass", "1e-3", 3.0),
        (3, "interface-mass", "1e-3", 3.0),
        (2, "force-displacement", "5e-4", 2.0),
    ] {
        let at = |step: &str| {
            let set = [
                ("simulation.duration", "0.1"),
                ("simulation.step", step),
                ("multibody.beam.cut.scheme", scheme),
                ("multibody.beam.tolerance", "1e-10"),
                ("D", damping),
                VELOCITY,
            ];
            difference(&beam(parts, &set))
        };
        let order = (at("1e-4") / at("5e-5")).log2();
        let case = format!("{parts} parts, {scheme}, D = {damping} s: {order}");
        assert!((order - expected).abs() < 0.5, "{case}");
    }
}

/// To predict a pose and differentiate it by the formula, or to predict the velocity that the
/// formula made of the pose, are linear operations that commute.
#[test]
fn the_spectrum_is_that_of_prescribed_positions() {
    let coarse = example("cut-beam")
        .replace("girder.12", "girder.2")
        .replace("girder.24", "girder.4")
        .replace("elements = 12", "elements = 2");
    for damping in ["1e-3", "0.05"] {
        let radius = |prescribe: &str| {
            let set = [PLAIN, ("D", damping), (VELOCITY.0, prescribe)];
            let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
            let model = Model::parse(&coarse, "test.toml", &Overrides(set.collect())).unwrap();
            let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
            spectrum.dominant().value.norm()
        };
        let [pose, both] = ["position", VELOCITY.1].map(radius);
        assert!((pose / both - 1.0).abs() < 1e-5, "{damping}: {pose} {both}");
    }
}

/// With tangents there is nothing to choose: the corrected pose has the velocity of the interface.
#[test]
fn with_tangents_parts_have_the_velocity_of_the_interface_anyway() {
    let model = beam(3, &[("simulation.duration", "0.02")]);
    let mut simulation = model.simulation().unwrap();
    simulation.steps(200).unwrap();
    let motion = |simulation: &Simulation, part: &str, port: &str| -> Vec<f64> {
        let id = simulation.find(part).unwrap();
        let port = simulation.ports(id).output(port).expect(port);
        let range = simulation.ports(id).output_range(port);
        simulation.outputs(id)[range].to_vec()
    };
    let copy = motion(&simulation, "beam.middle", "girder.8.at");
    let node = motion(&simulation, "beam.coupling", "middle.0.motion");
    assert!(node[9].abs() > 0.1, "it moves");
    for i in 7..13 {
        assert!((copy[i] - node[i]).abs() < 1e-9, "{copy:?} {node:?}");
    }
}

/// The pieces have the energy balance of the whole: what the exchange creates is far below what
/// the method loses.
#[test]
fn the_energy_balance_is_that_of_the_whole() {
    for damping in ["0", "1e-3"] {
        let model = beam(3, &[("D", damping), PLAIN, VELOCITY]);
        let [pieces, whole] = [model.simulation(), model.monolithic(None)].map(|simulation| {
            let mut simulation = simulation.unwrap();
            let balance = |energy: Energy| {
                energy.kinetic + energy.potential + energy.dissipated - energy.supplied
            };
            let before = balance(simulation.energy().expect("an energy"));
            simulation.steps(model.steps()).unwrap();
            let created: f64 = simulation.created().iter().map(|joules| joules.abs()).sum();
            (balance(simulation.energy().unwrap()) - before, created)
        });
        let off = (pieces.0 - whole.0).abs();
        assert!(off < 1e-5, "{damping}: {pieces:?} {whole:?}");
        assert!(pieces.1 < 1e-5, "{damping}: {pieces:?}");
    }
}

#[test]
fn neither_threads_nor_checkpoints_change_a_bit() {
    let model = beam(
        3,
        &[("D", "1e-3"), ("simulation.duration", "0.01"), VELOCITY],
    );
    assert_threads_keep_bits(&model);
    let parts = ["beam.left", "beam.middle", "beam.right", "beam.coupling.1"];
    assert_checkpoint_keeps_bits(&model, &parts);
}

/// Where no scheme is asked for, one is taken that can do it.
#[test]
fn by_default_the_plain_scheme_is_taken() {
    let stages = |set: &[(&str, &str)]| {
        let simulation = beam(2, set).simulation().unwrap();
        let stages = simulation.schedule().stages.iter();
        let corrected = stages.filter(|stage| matches!(stage, Stage::Corrected(_)));
        corrected.count()
    };
    assert_eq!(stages(&[]), 1);
    assert_eq!(stages(&[VELOCITY]), 0);
}

#[test]
fn what_cannot_be_prescribed_is_refused() {
    let said = |cut: &str| {
        let at = "at = [\"girder.12\"]";
        let text = example("cut-beam").replace(at, &format!("{at}\n{cut}"));
        read(&text).expect_err(cut).to_string()
    };
    let cases = [
        (
            "scheme = \"interface-tangent\"\nprescribe = \"position-and-velocity\"",
            "cannot be used with prescribed velocities",
            "leave `prescribe` out",
        ),
        ("prescribe = \"velocity\"", "`velocity`", "position"),
        (
            "prescribe = true",
            "`multibody.beam.cut.prescribe`",
            "string in quotes",
        ),
        ("prescribes = \"position\"", "`prescribes`", "`prescribe`"),
    ];
    for (cut, message, help) in cases {
        let said = said(cut);
        assert!(said.contains(message), "{cut}: {said}");
        assert!(said.contains(help), "{cut}: {said}");
    }
}

/// A follower with several micro steps that holds what it follows rests at their end: the run was that of a mass without it,
/// however short the steps were, and nobody said so.
#[test]
fn a_motion_that_is_held_over_micro_steps_is_told() {
    let notes = |more: &str| {
        let text = format!(
            r#"
            [model]
            name = "Follower"
            [simulation]
            duration = 1.0
            step = 1e-3
            [lumped.a]
            integrator = "lms2"
            masses.x = {{ mass = 5.0, velocity = 1.0 }}
            springs.g = {{ between = ["ground", "x"], stiffness = 200.0 }}
            inputs.push = {{ force = "x" }}
            outputs.x = {{ motion = "x" }}
            [multibody.p]
            integrator = "backward-euler"
            {more}
            nodes.b = {{ }}
            bodies.b = {{ node = "b", mass = 2.0, inertia = [0.1, 0.1, 0.1] }}
            joints.rail = {{ type = "prismatic", between = ["ground", "b"], axis = [1, 0, 0] }}
            inputs.c = {{ sliding = "rail" }}
            [[connection]]
            from = "a.x"
            to = "p.c"
            [[connection]]
            from = "p.c.force"
            to = "a.push"
            "#
        );
        read(&text)
            .unwrap_or_else(|p| panic!("{p}"))
            .notes()
            .to_vec()
    };
    let [told] = &notes("micro_steps = 10")[..] else {
        panic!("one remark");
    };
    assert!(
        told.contains("`p.c`") && told.contains("lacks its inertia"),
        "{told}"
    );
    assert!(told.contains("predictor = \"hermite\""), "{told}");
    for quiet in ["", "micro_steps = 10\npredictor = \"hermite\""] {
        assert_eq!(notes(quiet), Vec::<String>::new(), "{quiet}");
    }
}
