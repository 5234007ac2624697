//! The interface-mass scheme on the linear problem of Fontana 2026, against the spectral radii of
//! `papers/oracles/fontana_oscillators.py`.

mod support;

use nalgebra::Complex;
use oldham_stability::{AnalysisError, Recurrence, critical, map, radius};
use support::{C, Chain, K, RHO};

#[test]
fn the_baseline_has_the_published_spectral_radius() {
    let loose = radius(&mut Chain::of_table_1(3.0).cut());
    assert!((loose - 0.998_736_772).abs() < 1e-9, "{loose:.12}");
}

#[test]
fn the_border_of_stability_is_an_interface_mass_of_24_935_grams() {
    let border = critical(0.01, 0.1, |mass| Some(Chain::of_table_1(mass).cut())).unwrap();
    assert!((border - 0.024935).abs() < 1e-6, "{border}");
}

/// Balancing a matrix with infinite entries would never end.
#[test]
fn a_step_that_blows_everything_up_is_told_from_one_that_can_be_analysed() {
    for mass in [1e-60, 1e-200] {
        let found = Recurrence::of(&mut Chain::of_table_1(mass).cut());
        match found.and_then(|recurrence| recurrence.eigenvalues()) {
            Ok(eigenvalues) => assert!(eigenvalues[0].norm() > 1e6, "{}", eigenvalues[0]),
            Err(AnalysisError::Unbounded | AnalysisError::Fault(_)) => {}
            Err(other) => panic!("{other}"),
        }
    }
}

/// The coupled step of the chain by hand: s² M + P(w) Σ Z(w) is zero for its modes, with the operator
/// s of LMS2, the prediction P (Fontana 2026, Eq. 8) and the dynamic stiffness Z of each side.
fn by_hand(w: Complex<f64>, mass: f64, h: f64) -> Complex<f64> {
    let q = (1.0 - RHO) * (1.0 - RHO);
    let (beta, delta) = ((4.0 * RHO * RHO - q) / (4.0 - q), q / (2.0 * (4.0 - q)));
    let [a1, a2] = [1.0 - beta, beta];
    let [b0, b1, b2] = [
        delta + 0.5,
        0.5 * beta + 0.5 - 2.0 * delta,
        0.5 * beta + delta,
    ];
    let past = w * b1 + w * w * b2;
    let s = (-(w * a1) - w * w * a2 + 1.0) / ((past + b0) * h);
    let rate = (w - w * w) * (-12.0 / h) + (w * 8.0 + w * w * 5.0) * s;
    let prediction = w * a1 + w * w * a2 + (rate * b0 + past * s) * h;
    let spring = s * C + K;
    let side = |own: f64| spring - spring * spring / (s * s * own + spring * 2.0);
    s * s * mass + prediction * (side(2.0) + side(1.0))
}

/// A map takes histories as known, differences to one side and the dominant eigenvalues alone. Every
/// mode that it finds is a zero of the equation by hand, where Newton's method ends that begins at
/// the largest eigenvalue of the whole matrix.
#[test]
fn maps_have_the_radii_of_the_equation_by_hand() {
    let axis = |from: f64, span: f64, points: usize| -> Vec<f64> {
        let share = |k: usize| k as f64 / (points - 1) as f64;
        (0..points).map(|k| from * span.powf(share(k))).collect()
    };
    let (masses, steps) = (axis(1e-3, 1e6, 20), axis(1e-4, 1e3, 12));
    let chain = |mass: f64, step: f64| Chain {
        step,
        ..Chain::of_table_1(mass)
    };
    let build = |mass: f64, step: f64| Some(chain(mass, step).cut());
    let radii = map(&masses, &steps, 2, build, |_| {});
    let (mut decaying, mut growing) = (0, 0);
    for (place, &found) in radii.iter().enumerate() {
        let (mass, step) = (masses[place % 20], steps[place / 20]);
        let all = Recurrence::of(&mut chain(mass, step).cut()).unwrap();
        let mut w = all.eigenvalues().unwrap()[0].inv();
        for _ in 0..20 {
            let aside = 1e-6 * w.norm();
            let [up, down] = [aside, -aside].map(|aside| by_hand(w + aside, mass, step));
            w -= by_hand(w, mass, step) * (2.0 * aside) / (up - down);
        }
        let exact = 1.0 / w.norm();
        match exact > 1.0 {
            true => growing += 1,
            false => decaying += 1,
        }
        let off = (found - exact).abs() / exact;
        assert!(off < 1e-7, "m = {mass}, h = {step}: {found} {exact}");
    }
    assert!(decaying > 50 && growing > 20, "{decaying} {growing}");
}
