//! Verdicts in the frequency domain: against the matrix of the probed recurrence, which knows
//! nothing of it, and against a limit by hand.

use oldham_stability::{Decision, Spectrum, Way};

use crate::common::CUT_CANTILEVER;
use crate::large::{beam_text, with};

/// The beam of the paper with few elements, cut in the middle.
fn beam(elements: usize, settings: &[(&str, &str)]) -> oldham_model::Model {
    with(&beam_text(elements), settings)
}

const SCHEME: &str = "multibody.beam.cut.scheme";
const MASS: (&str, &str) = (SCHEME, "interface-mass");

/// The two ways share nothing but the running objects.
#[test]
fn the_frequency_domain_agrees_with_the_probed_recurrence() {
    let step = |h| ("simulation.step", h);
    let cases = [
        beam(2, &[MASS, ("D", "1e-3")]),
        beam(2, &[MASS, ("D", "3e-3")]),
        beam(2, &[MASS, ("D", "0.05")]),
        beam(2, &[(SCHEME, "interface-tangent"), ("D", "1e-3")]),
        beam(2, &[MASS, ("D", "1e-3"), step("1e-3")]),
        beam(2, &[MASS, ("D", "1e-3"), ("multibody.beam.rho", "0.9")]),
    ];
    // Parts with a formula of their own, also one whose accelerations are not twice its velocities.
    let own = |method: &str| {
        let table = "[multibody.beam.cut]";
        let text = format!("{table}\nmethods.right = {{ integrator = \"{method}\" }}");
        let text = beam_text(2).replacen(table, &text, 1);
        with(&text, &[MASS, ("D", "1e-3")])
    };
    let cases: Vec<_> = cases
        .into_iter()
        .chain(["generalised-alpha", "backward-euler"].map(own))
        .collect();
    for (case, model) in cases.iter().enumerate() {
        let frequency = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
        assert!(
            matches!(frequency.way(), Way::Frequency { .. }),
            "{case}: {:?}",
            frequency.way()
        );
        let matrix = Spectrum::by_matrix(&mut model.simulation().unwrap()).unwrap();
        let (a, b) = (frequency.dominant(), matrix.dominant());
        let off = (a.value.norm() - b.value.norm()).abs();
        let allowed = (1e-7 * a.value.norm()).max(a.error + b.error);
        assert!(off <= allowed, "{case}: {a:?} {b:?}");
        assert!(a.error < 1e-6, "{case}: {a:?}");
    }
}

/// A cut cantilever at rest was called unstable with a radius of 1.103; it is not.
#[test]
fn a_cut_cantilever_is_no_false_alarm() {
    let model = with(CUT_CANTILEVER, &[]);
    let spectrum = Spectrum::of(&mut model.simulation().unwrap()).unwrap();
    assert_eq!(spectrum.decision(), Decision::Stable);
    // The first bending frequency of a clamped beam: 1.875104² sqrt(EI / m L⁴).
    let exact = 1.875104_f64.powi(2) * (2.1e11 * 0.01_f64.powi(2) / 12.0 / 7800.0).sqrt();
    let frequencies = spectrum.modes().iter().map(|mode| spectrum.pole(mode).im);
    let nearest = frequencies.map(|w| (w / exact - 1.0).abs());
    assert!(nearest.fold(1.0, f64::min) < 0.02);
}

/// A light hub that turns two heavy arms, which are fixed to it, cut there under a moment.
const HUB: &str = r#"
[model]
name = "Hub with rigid links"
[simulation]
duration = 1.0
step = 1e-3
[multibody.rotor]
rho = 0.6
[multibody.rotor.cut]
at = ["hub"]
parts = { a = "one", b = "two" }
scheme = "interface-mass"
[multibody.rotor.nodes]
hub = { position = [0, 0, 0] }
one = { position = [0.5, 0, 0] }
two = { position = [-0.5, 0, 0] }
[multibody.rotor.bodies]
hub = { node = "hub", mass = 0.1, inertia = [1e-3, 1e-3, 1e-3] }
one = { node = "one", mass = 1.0, inertia = [1e-3, 2e-2, 2e-2] }
two = { node = "two", mass = 1.0, inertia = [1e-3, 2e-2, 2e-2] }
[multibody.rotor.joints]
pin = { type = "revolute", between = ["ground", "hub"], axis = [0, 0, 1] }
first = { type = "fixed", between = ["hub", "one"] }
second = { type = "fixed", between = ["hub", "two"] }
[multibody.rotor.loads]
turn = { on = "hub", moment = [0, 0, 1.0] }
"#;

/// The coupling makes two thousand of every change in a step, so that the model does not survive its
/// first one. The growth is still told: the inertia J of the hub and that of the arms answer to the
/// motion of the hub and to its prediction, J + J_arms P(w) = 0.
#[test]
fn a_model_that_cannot_take_its_first_step_is_called_unstable() {
    // LMS2 with its asymptotic radius, and the prediction of the scheme (Fontana 2026, Eq. 8).
    let (h, rho) = (1e-3, 0.6_f64);
    let q = (1.0 - rho).powi(2);
    let (beta, delta) = ((4.0 * rho * rho - q) / (4.0 - q), q / (2.0 * (4.0 - q)));
    let [a1, a2] = [1.0 - beta, beta];
    let [b0, b1, b2] = [
        delta + 0.5,
        0.5 * beta + 0.5 - 2.0 * delta,
        0.5 * beta + delta,
    ];
    let prediction = |w: f64| {
        let s = (1.0 - a1 * w - a2 * w * w) / (h * (b0 + b1 * w + b2 * w * w));
        let rate = -12.0 / h * (w - w * w) + (8.0 * w + 5.0 * w * w) * s;
        a1 * w + a2 * w * w + h * (b0 * rate + (b1 * w + b2 * w * w) * s)
    };
    let arms = 2.0 * (2e-2 + 0.5_f64.powi(2));
    let sum = |w: f64| 1e-3 + arms * prediction(w);
    let (mut low, mut high) = (-1e-2, -1e-7);
    assert!(sum(low) < 0.0 && sum(high) > 0.0);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        match sum(middle) < 0.0 {
            true => low = middle,
            false => high = middle,
        }
    }
    let exact = 1.0 / low.abs();
    let model = with(HUB, &[]);
    let verdict = oldham_stability::analyse(&mut model.simulation().unwrap()).unwrap();
    assert_eq!(verdict.decision(), Decision::Unstable);
    let off = (verdict.radius / exact - 1.0).abs();
    assert!(off < 1e-6, "{} {exact}", verdict.radius);
}
