//! Stability of mechanisms that are too large for a matrix of their macro step.

use oldham_cosim::{InMemory, Run};
use oldham_model::{Model, Overrides};
use oldham_stability::{Decision, Spectrum, Way, analyse, critical};

use crate::common::{example, shipped_kinds};

/// An example with some of its values replaced.
pub fn with(text: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    let overrides = Overrides(set.collect());
    Model::parse_with(text, "test.toml", &overrides, shipped_kinds())
        .unwrap_or_else(|p| panic!("{p}"))
}

/// The beam of so many elements, cut at its middle, its mass lumped at points: so are those that it
/// is compared with.
pub fn beam_text(elements: usize) -> String {
    example("cut-beam")
        .replace("girder.12", "girder.middle")
        .replace("girder.24", &format!("girder.{}", 2 * elements))
        .replace("girder.middle", &format!("girder.{elements}"))
        .replace("elements = 12", &format!("elements = {elements}"))
}

fn beam(elements: usize, scheme: &str, damping: &str) -> Model {
    with(
        &beam_text(elements),
        &[("multibody.beam.cut.scheme", scheme), ("D", damping)],
    )
}

/// Both ways see the same modes of the same simulations.
#[test]
fn products_find_the_dominant_eigenvalue_of_the_matrix() {
    let text = example;
    let models = [
        with(&text("two-mass-damped"), &[]),
        with(&text("interface-mass"), &[]),
        with(&text("interface-mass"), &[("schedule.tangent", "true")]),
        beam(2, "interface-mass", "0.05"),
    ];
    for model in models {
        let dense = Spectrum::by_matrix(&mut model.simulation().unwrap()).unwrap();
        let products = Spectrum::by_products(&mut model.simulation().unwrap()).unwrap();
        assert_eq!(dense.way(), Way::Dense);
        let (a, b) = (dense.dominant(), products.dominant());
        let off = (a.value - b.value).norm();
        assert!(off < 1e-6 * a.value.norm(), "{}: {off:e}", model.name());
        assert!(off < b.error + 1e-6, "{}: {off:e} {b:?}", model.name());
        assert_eq!(dense.decision(), products.decision(), "{}", model.name());
    }
}

/// A radius of about 16 was computed independently for the straight beam cut at mid-span.
#[test]
fn strong_damping_makes_the_plain_scheme_violently_unstable_on_any_mesh() {
    for elements in [4, 12] {
        let model = beam(elements, "interface-mass", "0.05");
        let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
        assert!(matches!(verdict.way, Way::Frequency { evaluations } if evaluations <= 5000));
        assert_eq!(verdict.decision(), Decision::Unstable);
        let radius = verdict.radius;
        assert!((14.0..24.0).contains(&radius), "{elements}: {radius}");
        assert!(verdict.error < 0.01, "{}", verdict.error);
        let interface = verdict.interface.unwrap();
        assert!(interface.contains("girder"), "{interface}");
    }
}

/// Slow modes are those of a hinged beam: pi/2 (n / L)^2 sqrt(EI / m) in the soft direction.
#[test]
fn slow_modes_of_a_large_beam_have_their_frequencies() {
    let model = beam(12, "interface-tangent", "0.05");
    let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
    let found: Vec<f64> = spectrum
        .modes()
        .iter()
        .map(|mode| spectrum.pole(mode).im / std::f64::consts::TAU)
        .collect();
    for n in [2.0_f64, 3.0, 4.0] {
        let exact = 0.5 * std::f64::consts::PI * (n / 24.0).powi(2) * (2e3_f64 / 5.0).sqrt();
        let near = found.iter().any(|f| (f / exact - 1.0).abs() < 0.02);
        assert!(near, "{exact} Hz among {found:?}");
    }
}

/// What products say may be less than what the matrix says, but never something else: 22 models,
/// stable and unstable, some of them just so.
#[test]
fn products_never_contradict_the_matrix() {
    let dampings = [
        "0", "1e-4", "1e-3", "1.7e-3", "1.78e-3", "1.85e-3", "3e-3", "0.05",
    ];
    let schemes = ["interface-mass", "force-displacement"];
    let beams = schemes
        .iter()
        .flat_map(|scheme| dampings.map(|damping| beam(2, scheme, damping)));
    let masses = ["1e-3", "2.4e-2", "2.5e-2", "1"].map(|mass| {
        let set = [("m2", mass), ("m3", "1e-6")];
        with(&example("interface-mass"), &set)
    });
    let pairs = ["1e-3", "4e-3"].map(|step| {
        let set = [("simulation.step", step)];
        with(&example("two-mass-damped"), &set)
    });
    let mut decided = [0, 0];
    for (case, model) in beams.chain(masses).chain(pairs).enumerate() {
        let dense = Spectrum::by_matrix(&mut model.simulation().unwrap()).unwrap();
        let products = Spectrum::by_products(&mut model.simulation().unwrap()).unwrap();
        assert_eq!(dense.way(), Way::Dense);
        let (radius, reach) = (dense.radius(), products.reach());
        // Differences leave the matrix that much noise in slow modes.
        assert!(radius <= reach + 1e-5, "{case}: {radius} beyond {reach}");
        match products.decision() {
            Decision::Unstable => {
                assert_eq!(dense.decision(), Decision::Unstable, "{case}: {radius}");
                decided[1] += 1;
            }
            _ => assert!(
                radius <= products.reach() + dense.dominant().error,
                "{case}"
            ),
        }
        decided[0] += usize::from(dense.decision() == Decision::Stable);
    }
    assert!(decided[0] >= 8 && decided[1] >= 8, "{decided:?}");
}

/// Undamped meshes have hundreds of modes on the unit circle.
#[test]
fn fine_meshes_are_decided() {
    let shell = |scheme| with(&shell(), &[("multibody.plate.cut.scheme", scheme)]);
    let stable = [
        beam(24, "interface-mass", "0"),
        beam(12, "interface-mass", "1.5e-3"),
        beam(24, "interface-tangent", "0"),
        beam(24, "interface-tangent", "0.05"),
        shell("interface-tangent"),
    ];
    let unstable = [
        beam(12, "interface-mass", "1.7e-3"),
        beam(24, "interface-mass", "1.35e-3"),
        shell("interface-mass"),
    ];
    let wanted = [Decision::Stable, Decision::Unstable];
    for (models, decision) in [&stable[..], &unstable[..]].into_iter().zip(wanted) {
        for (case, model) in models.iter().enumerate() {
            let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
            assert_eq!(verdict.decision(), decision, "{case}: {verdict:?}");
        }
    }
    // Products alone never say stable of a large model, and how fast a mode could grow.
    for model in [
        beam(24, "interface-tangent", "0.05"),
        shell("interface-tangent"),
    ] {
        let spectrum = Spectrum::by_products(&mut model.simulation().unwrap()).unwrap();
        assert_ne!(spectrum.decision(), Decision::Unstable);
        assert!(spectrum.reach() < 1.05, "{}", spectrum.reach());
    }
}

/// The strip of the example without damping: the plain scheme does not stand its stiffness.
fn shell() -> String {
    example("cut-shell").replace("damping = 2e-3", "damping = 0")
}

/// What the analysis calls the limit is where runs begin to blow up.
#[test]
fn runs_of_the_plain_scheme_blow_up_beyond_the_limit_of_damping() {
    let at = |damping: f64| beam(4, "interface-mass", &damping.to_string());
    let limit = critical(1e-4, 1e-2, |damping| at(damping).simulation().ok()).expect("a limit");
    let ends = |damping: f64| {
        let mut simulation = at(damping).simulation().unwrap();
        let mut rows = InMemory::default();
        let run = Run {
            energy_bound: Some(100.0),
            ..Run::new(1000, &mut rows)
        };
        simulation.run(run).end
    };
    assert!(ends(0.97 * limit).is_ok(), "{limit:e}");
    assert!(ends(1.05 * limit).is_err(), "{limit:e}");
}

/// Wagons on a track with springs and dampers between them, which nothing holds.
fn train(wagons: usize) -> String {
    let mut text = String::from(
        "[model]\nname = \"Train\"\n[simulation]\nduration = 1\nstep = 1e-3\n[multibody.train.nodes]\n",
    );
    for i in 0..wagons {
        text += &format!("w{i} = {{ position = [{i}, 0, 0], velocity = [3, 0, 0] }}\n");
    }
    text += "[multibody.train.bodies]\n";
    for i in 0..wagons {
        text += &format!("w{i} = {{ node = \"w{i}\", mass = 2, inertia = [1, 1, 1] }}\n");
    }
    text += "[multibody.train.joints]\n";
    for i in 0..wagons {
        text += &format!(
            "w{i} = {{ type = \"prismatic\", between = [\"ground\", \"w{i}\"], axis = [1, 0, 0] }}\n"
        );
    }
    text += "[multibody.train.springs]\n";
    for i in 1..wagons {
        let before = i - 1;
        text += &format!(
            "c{i} = {{ between = [\"w{before}\", \"w{i}\"], stiffness = 800, damping = 4 }}\n"
        );
    }
    text
}

/// The train keeps its place and its speed, a chain of two ones. Beside them the modes of a chain with free ends:
/// k_n = 2 k (1 - cos(n pi / N)), and with h of a thousandth the formula's poles are theirs to (s h)^3.
#[test]
fn what_may_drift_does_not_hide_what_decays() {
    let wagons = 12;
    let model = with(&train(wagons), &[]);
    let found = Spectrum::by_two_searches(&mut model.simulation().unwrap()).unwrap();
    let found = found.expect("both searches find the same");
    assert_eq!(found.decision(), Decision::Stable);
    assert!((found.radius() - 1.0).abs() < 1e-12, "{}", found.radius());
    assert!(found.dominant().error < 1e-6, "{:?}", found.dominant());
    for n in 1..wagons {
        let share = 2.0 * (1.0 - (n as f64 * std::f64::consts::PI / wagons as f64).cos()) / 2.0;
        let (decay, square) = (0.5 * 4.0 * share, 800.0 * share);
        let pole = nalgebra::Complex::new(-decay, (square - decay * decay).sqrt());
        let distance = |mode: &oldham_stability::EigenMode| (found.pole(mode) - pole).norm();
        let nearest = found
            .modes()
            .iter()
            .map(distance)
            .fold(f64::INFINITY, f64::min);
        let due = pole.norm().powi(3) * 1e-6;
        assert!(nearest < due, "mode {n}: {pole} is off by {nearest:e}");
    }
}
