//! The interface-mass scheme on the linear problem of Fontana 2026, against spectral radii that were
//! computed independently from the equations.

mod support;

use oldham_stability::{AnalysisError, Recurrence, critical, radius};
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
