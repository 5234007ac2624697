//! Stability of mechanisms that are too large for a matrix of their macro step.

use oldham_cosim::{InMemory, Run};
use oldham_model::{Model, Overrides};
use oldham_stability::{Decision, Spectrum, Way, analyse, critical};

use crate::common::example;

/// An example with some of its values replaced.
fn with(text: &str, set: &[(&str, &str)]) -> Model {
    let set = set.iter().map(|&(key, value)| (key.into(), value.into()));
    let overrides = Overrides(set.collect());
    Model::parse(text, "test.toml", &overrides).unwrap_or_else(|p| panic!("{p}"))
}

/// The beam of so many elements, cut at its middle.
fn beam(elements: usize, scheme: &str, damping: &str) -> Model {
    let text = example("cut-beam")
        .replace("girder.12", "girder.middle")
        .replace("girder.24", &format!("girder.{}", 2 * elements))
        .replace("girder.middle", &format!("girder.{elements}"))
        .replace("elements = 12", &format!("elements = {elements}"));
    with(
        &text,
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
        let dense = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
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
        assert!(matches!(verdict.way, Way::Krylov { products } if products <= 40));
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

#[test]
fn no_mode_of_the_tangent_scheme_grows() {
    for elements in [4, 12] {
        let model = beam(elements, "interface-tangent", "0.05");
        let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
        assert_ne!(verdict.decision(), Decision::Unstable, "{verdict:?}");
    }
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
