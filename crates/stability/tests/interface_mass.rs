//! The interface-mass scheme on the linear problem of Fontana 2026, against spectral radii that were
//! computed independently from the equations.

mod support;

use oldham_stability::{critical, radius};
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
