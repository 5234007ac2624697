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
