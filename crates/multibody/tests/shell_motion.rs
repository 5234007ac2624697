//! Shells that move: the shell of Fontana 2026, Sect. 5.2, and a free tube.

use oldham_multibody::bench::clamped_shell;
use oldham_multibody::{
    Drive, Load, Marker, Model, Options, ShellMesh, ShellSection, SurfaceInertia, System, Vec3,
    cylinder, mapped_shell,
};
use std::f64::consts::TAU;

/// Pulled up at its middle, the thin shell of Fontana 2026, Sect. 5.2, is a string: two straight
/// halves of length ℓ/(2 cos α) with F = 2 EA (1/cos α - 1) sin α.
#[test]
fn the_clamped_shell_becomes_a_taut_string() {
    let (stiffness, force) = (6.825e7 * 0.2 * 0.001, 20.0);
    let lift = |angle: f64| 2.0 * stiffness * (1.0 / angle.cos() - 1.0) * angle.sin();
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if lift(middle) < force {
            low = middle;
        } else {
            high = middle;
        }
    }
    let expected = 0.5 * f64::tan(low);
    for divisions in [[4, 2], [8, 4]] {
        let (model, grid) = clamped_shell(divisions);
        let mut system = System::new(model, Options::default()).unwrap();
        system.equilibrium(1.0, 4, &[]).unwrap();
        let middle = grid.node(divisions[0] / 2, divisions[1] / 2);
        let found = system.motion(middle).position[2];
        assert!((found / expected - 1.0).abs() < 0.01, "{found} {expected}");
    }
}

/// The work of the force is what is stored, but for the little that the method dissipates.
#[test]
fn the_clamped_shell_balances_its_energy() {
    let (model, _) = clamped_shell([4, 2]);
    let options = Options {
        account_energy: true,
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    for _ in 0..2000 {
        system.step(5e-4, &[]).unwrap();
    }
    let energy = system.energy(&[]);
    let lost = energy.supplied - energy.stored();
    assert!(lost.abs() < 0.02 * energy.supplied, "{lost} of {energy:?}");
    let counters = system.counters();
    assert!(
        counters.iterations < 3 * counters.micro_steps,
        "{counters:?}"
    );
    assert!(
        counters.factorisations < counters.micro_steps / 2,
        "{counters:?}"
    );
}

/// A free tube, pulled apart by opposite forces and let go, stays where it is, and damping takes
/// its energy.
#[test]
fn a_free_tube_rings_in_its_place() {
    let mut model = Model::new();
    let thickness = 0.02;
    let mesh = ShellMesh {
        divisions: [8, 2],
        closed: true,
        section: ShellSection::isotropic(1e6, 0.3, thickness).damped(1e-3),
        inertia: SurfaceInertia::uniform(1000.0, thickness),
    };
    let grid = mapped_shell(&mut model, "tube", &mesh, cylinder(1.0, 1.0, TAU)).unwrap();
    assert_eq!(grid.size(), [8, 3]);
    for (i, sign) in [(0, 1.0), (4, -1.0)] {
        let force = Drive::function(move |t| if t < 0.05 { 200.0 * sign } else { 0.0 });
        let none = || [Drive::ZERO, Drive::ZERO, Drive::ZERO];
        let pull = Load::fixed(
            Marker::on(grid.node(i, 1)),
            [force, Drive::ZERO, Drive::ZERO],
            none(),
        );
        model.element("pull", pull);
    }
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    let run = |system: &mut System, steps: usize| {
        for _ in 0..steps {
            system.step(1e-3, &[]).unwrap();
        }
    };
    run(&mut system, 60);
    let before = system.energy(&[]).stored();
    run(&mut system, 200);
    let after = system.energy(&[]).stored();
    let centre = grid
        .nodes()
        .iter()
        .fold(Vec3::ZERO, |sum, &node| sum + system.motion(node).position);
    let drift = centre * (1.0 / grid.nodes().len() as f64) - Vec3::Z * 0.5;
    assert!(drift.norm() < 1e-12, "{drift:?}");
    assert!(after < 0.9 * before, "{after} {before}");
}
