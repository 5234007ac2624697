//! The scenes of the benchmark: what they must be whatever the machine.

use oldham_contact::Wall;
use oldham_contact::bench::{Mixed, bed, gripper, measure, shaken_can};
use oldham_contact::{FrictionBounds, Pivoting};

fn no_clock() -> f64 {
    0.0
}

/// Residual, penetration and count of sweeps over the first impacts with the floor and the lid.
#[test]
fn the_shaken_can_is_solved_in_few_sweeps() {
    for wall in [Wall::Facets(24), Wall::Round] {
        let mut can = shaken_can(wall, 1).unwrap();
        let found = measure(&mut can, 900, &no_clock).unwrap();
        assert!(found.residual <= 1e-5, "{found:?}");
        assert!(found.penetration < 1e-6, "{found:?}");
        assert!(found.pressed > 30.0, "the can is shaken: {found:?}");
        assert!(found.sweeps < 25.0, "{found:?}");
    }
}

/// A bed needs no more sweeps for being wider.
#[test]
fn beds_need_as_many_sweeps_whatever_their_width() {
    let sweeps = |grains: usize| {
        let found = measure(&mut bed(grains, 1).unwrap(), 300, &no_clock).unwrap();
        assert!(
            found.residual <= 1e-4 && found.pressed > 0.2 * grains as f64,
            "{found:?}"
        );
        found.sweeps
    };
    let (narrow, wide) = (sweeps(200), sweeps(1600));
    assert!(wide < 1.6 * narrow + 5.0, "{narrow} {wide}");
}

/// The mixed problems have the rows that their names tell, and pivoting solves each of them from the last with few changes.
#[test]
fn mixed_problems_are_solved_by_few_changes_of_the_sets() {
    for (mut mixed, rows) in [(Mixed::manipulator(), 35), (Mixed::chain(), 178)] {
        assert_eq!(mixed.rows(), rows);
        let mut pivoting = Pivoting::with_bounds(FrictionBounds::Last);
        let found = mixed.measure(&mut pivoting, 100, true, &no_clock);
        assert_eq!((found.fallbacks, found.unsolved), (0, 0), "{found:?}");
        assert!(found.residual < 1e-10, "{found:?}");
        assert!(found.changes < 5.0, "{found:?}");
    }
}

/// A box of 1 kg in two jaws: both together carry its weight, it does not slip, and every step is met.
#[test]
fn a_gripper_carries_its_box() {
    let found = gripper(400, &no_clock).unwrap();
    assert!((found.carried - 9.81).abs() < 1e-3, "{found:?}");
    assert!(found.fallen.abs() < 1e-5, "{found:?}");
    assert!(
        found.figures.unmet == 0 && found.figures.pressed > 7.5,
        "{found:?}"
    );
}
