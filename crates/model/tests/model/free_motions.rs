//! Verdicts on mechanisms that move freely: all of these motions are at one place, z = 1, where
//! rounding tells little of each.

use oldham_model::Model;
use oldham_stability::{Decision, Spectrum, Way, analyse};

use crate::common::example;
use crate::large::with;

/// A free hub of unit mass and inertia between two bodies at a distance of 1, cut at the hub.
fn hub(links: &str, share: f64, moment: f64) -> Model {
    let text = format!(
        r#"
        [model]
        name = "hub"
        [simulation]
        duration = 0.12
        step = 3e-4
        [multibody.hub]
        rho = 0.6
        [multibody.hub.cut]
        at = ["hub"]
        scheme = "interface-mass"
        parts = {{ a = "left", b = "right" }}
        [multibody.hub.nodes]
        hub = {{ position = [0, 0, 0] }}
        left = {{ position = [-1, 0, 0] }}
        right = {{ position = [1, 0, 0] }}
        [multibody.hub.bodies]
        hub = {{ node = "hub", mass = 1, inertia = [1, 1, 1] }}
        left = {{ node = "left", mass = {share}, inertia = [{share}, {share}, {share}] }}
        right = {{ node = "right", mass = {share}, inertia = [{share}, {share}, {share}] }}
        [multibody.hub.loads]
        push = {{ on = "hub", moment = [0, 0, {moment}] }}
        {links}
        "#
    );
    with(&text, &[])
}

const FIXED: &str = r#"
    [multibody.hub.joints]
    left = { type = "fixed", between = ["hub", "left"] }
    right = { type = "fixed", between = ["hub", "right"] }
"#;
const LEADS: &str = r#"
    [multibody.hub.rigid_links]
    left = { master = "hub", nodes = ["left"] }
    right = { master = "hub", nodes = ["right"] }
"#;
const FOLLOWS: &str = r#"
    [multibody.hub.rigid_links]
    left = { master = "left", nodes = ["hub"] }
    right = { master = "right", nodes = ["hub"] }
"#;
const ONE_LINK: &str = r#"
    [multibody.hub.rigid_links]
    both = { master = "hub", nodes = ["left", "right"] }
"#;

/// The share of the bodies at which the hub begins to turn to and fro from step to step: at z = -1
/// the prediction of the formula is 119/6 times what happens, and the bodies answer it with the
/// inertia 2 (share + share · 1²).
const LIMIT: f64 = 6.0 / 119.0 / 4.0;

#[test]
fn a_free_hub_has_the_limit_of_its_inertia_however_it_is_joined() {
    for links in [FIXED, LEADS, FOLLOWS, ONE_LINK] {
        for (factor, decision) in [
            (0.5, Decision::Stable),
            (0.9999, Decision::Stable),
            (1.0001, Decision::Unstable),
            (2.0, Decision::Unstable),
            (40.0, Decision::Unstable),
        ] {
            let model = hub(links, factor * LIMIT, 0.0);
            let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
            assert!(matches!(spectrum.way(), Way::Frequency { .. }), "{links}");
            let dominant = spectrum.dominant();
            assert_eq!(
                spectrum.decision(),
                decision,
                "{links} {factor}: {dominant:?}"
            );
            assert!(dominant.error < 1e-6, "{links} {factor}: {dominant:?}");
            // Free motions neither grow nor decay; with a radius of zero they were missed.
            assert!(
                spectrum.radius() > 1.0 - 1e-6,
                "{links} {factor}: {dominant:?}"
            );
            if decision == Decision::Unstable {
                assert!(dominant.value.re < -1.0, "{links} {factor}: {dominant:?}");
            }
        }
    }
}

/// What the verdict says, a run does.
#[test]
fn a_hub_that_is_pushed_blows_up_beyond_the_limit() {
    for links in [FIXED, LEADS, FOLLOWS, ONE_LINK] {
        for factor in [0.9, 2.0, 10.0] {
            let model = hub(links, factor * LIMIT, 1.0);
            let verdict = analyse(&mut model.simulation().unwrap()).unwrap();
            let mut simulation = model.simulation().unwrap();
            let mut rows = oldham_cosim::InMemory::default();
            let end = simulation
                .run(oldham_cosim::Run {
                    energy_bound: Some(100.0),
                    ..oldham_cosim::Run::new(400, &mut rows)
                })
                .end;
            assert_eq!(end.is_err(), factor > 1.0, "{links} {factor}: {end:?}");
            assert_eq!(
                verdict.is_unstable(),
                factor > 1.0,
                "{links} {factor}: {verdict:?}"
            );
            assert_eq!(
                verdict.is_stable(),
                factor < 1.0,
                "{links} {factor}: {verdict:?}"
            );
        }
    }
}

/// Twelve links that turn freely have dozens of motions at z = 1. Rounding of the formula near there
/// was taken for growth by 1e-6 in a step.
#[test]
fn a_chain_with_tangents_is_not_called_unstable() {
    let scheme = ("multibody.chain.cut.scheme", "interface-tangent");
    let model = with(&example("cut-chain"), &[scheme]);
    let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
    let dominant = spectrum.dominant();
    assert_eq!(spectrum.decision(), Decision::Stable, "{dominant:?}");
    assert!(dominant.error < 1e-6, "{dominant:?}");
}

/// A cart that nothing holds: rounding splits the double eigenvalue 1 of its free motion, by more than an
/// error to first order tells.
#[test]
fn a_free_cart_is_stable() {
    for integrator in ["lms2", "rk4", "exact"] {
        let text = example("driven-cart").replace("\"lms2\"", &format!("\"{integrator}\""));
        let model = with(&text, &[]);
        let mut simulation = model.simulation().unwrap();
        let spectrum = Spectrum::of(&mut simulation).unwrap();
        assert_eq!(
            spectrum.decision(),
            Decision::Stable,
            "{integrator}: {}",
            spectrum.radius()
        );
    }
}

/// The verdict on the spinning rotor of the examples, which once failed, is what its run does: a kick of
/// the spin neither grows nor sets the blades in growing motion.
#[test]
fn a_spinning_rotor_is_stable_as_its_run_is() {
    let text = example("rotor");
    let model = with(&text, &[("torque", "0")]);
    let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
    assert_eq!(spectrum.decision(), Decision::Stable);
    assert!(spectrum.radius() <= 1.0 + 1e-6, "{}", spectrum.radius());
    let mut run = model.simulation().unwrap();
    let before = run.energy().unwrap();
    run.steps(1000).unwrap();
    // Kinetic energy is what may grow: the blades sag and stretch by little.
    let after = run.energy().unwrap();
    let change = after.kinetic / before.kinetic - 1.0;
    assert!(change.abs() < 0.02, "{change}");
}
