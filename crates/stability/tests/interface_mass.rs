//! The interface-mass scheme on the linear problem of Fontana 2026, against spectral radii that were
//! computed independently from the equations.

mod support;

use oldham_stability::{AnalysisError, Recurrence, critical, map, radius};
use support::Chain;

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

/// A map takes histories as known, differences to one side and the dominant eigenvalues alone: at
/// every point the radius is that of all eigenvalues of the matrix from central differences.
#[test]
fn maps_have_the_radii_of_the_whole_matrix() {
    let masses: Vec<f64> = (0..20)
        .map(|k| 1e-3 * 1e6_f64.powf(k as f64 / 19.0))
        .collect();
    let steps: Vec<f64> = (0..12)
        .map(|k| 1e-4 * 1e3_f64.powf(k as f64 / 11.0))
        .collect();
    let chain = |mass: f64, step: f64| Chain {
        step,
        ..Chain::of_table_1(mass)
    };
    let build = |mass: f64, step: f64| Some(chain(mass, step).cut());
    let radii = map(&masses, &steps, 2, build, |_| {});
    let mut compared = 0;
    for (place, &found) in radii.iter().enumerate() {
        let (mass, step) = (masses[place % 20], steps[place / 20]);
        let recurrence = Recurrence::of(&mut chain(mass, step).cut());
        let Ok(all) = recurrence.and_then(|recurrence| recurrence.eigenvalues()) else {
            continue;
        };
        let whole = all[0].norm();
        // A map says one where it found no growth.
        if whole > 1.0 && found == 1.0 {
            assert!(whole < 1.0 + 1e-6, "m = {mass}, h = {step}: {whole}");
            continue;
        }
        compared += 1;
        let off = (found - whole).abs() / whole;
        assert!(off < 1e-8, "m = {mass}, h = {step}: {found} {whole}");
    }
    assert!(compared > 200, "{compared}");
}
