//! Many impacts at once: a billiard break, and bricks that a projectile strikes.

use oldham_contact::{Body, BodyId, Cone, Options, Scene, Shape, Surface};
use oldham_space::{Quaternion, Vec3};

/// Fifteen balls in a triangle that touch, and one that strikes its tip. Newton's law with e = 1 for all contacts of a step together keeps
/// energy and momentum (Brogliato, "Nonsmooth Mechanics", 3rd ed., Sect. 5.3: kinetic energy for equal coefficients without
/// friction). The rack and the stroke are symmetric, and stay so: the law does not prefer one of two mirror images, as laws that take one
/// contact after the other do.
#[test]
fn a_billiard_break_keeps_energy_momentum_and_symmetry() {
    let radius = 0.02625;
    let bouncy = Surface {
        restitution: 1.0,
        ..Surface::rough(0.0)
    };
    let options = Options {
        gravity: Vec3::ZERO,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Cone::new(1e-13, 200_000));
    let phenolic = scene.add_surface(bouncy).unwrap();
    let mut centres = vec![Vec3::X * -0.2];
    // Row k has k + 1 balls; the mirror image of ball i is that with the opposite y.
    let mut mirrored = vec![0];
    for row in 0..5 {
        let first = centres.len();
        for i in 0..=row {
            let x = row as f64 * 3.0_f64.sqrt() * radius;
            let y = (2.0 * i as f64 - row as f64) * radius;
            centres.push(Vec3::new(x, y, 0.0));
            mirrored.push(first + row - i);
        }
    }
    scene
        .add_grains(&centres, radius, 1700.0, phenolic)
        .unwrap();
    let speed = 8.0;
    scene.launch(0, Vec3::X * speed, Vec3::ZERO);
    scene.start().unwrap();
    let (energy, momentum) = (scene.kinetic_energy(), scene.momentum());
    let h = 1e-4;
    for step in 0..600 {
        scene.step(step as f64 * h, h).unwrap();
        let change = scene.kinetic_energy() / energy - 1.0;
        assert!(change.abs() < 1e-9, "step {step}: {change}");
    }
    let lost = (scene.momentum() - momentum).norm() / momentum.norm();
    assert!(lost < 1e-12, "{lost}");
    let first = scene.first_grain().0;
    let velocity = |i: usize| scene.velocity(BodyId(first + i as u32))[0];
    let mut moving = 0;
    for (i, &other) in mirrored.iter().enumerate() {
        let (one, two) = (velocity(i), velocity(other));
        let image = Vec3::new(two[0], -two[1], two[2]);
        assert!((one - image).norm() < 1e-6 * speed, "{i}: {one:?} {two:?}");
        moving += usize::from(one.norm() > 1e-3 * speed);
    }
    assert!(moving > 10, "the rack is broken: {moving} balls move");
}

/// Moments of inertia of a solid cuboid.
fn cuboid(mass: f64, half: Vec3) -> Vec3 {
    let [x, y, z] = half.0.map(|h| h * h * mass / 3.0);
    Vec3::new(y + z, z + x, x + y)
}

/// A wall of bricks in running bond, struck by a block: what the floor takes and the weight gives is all that changes the momentum, at
/// rounding; the energy of plastic contact falls; and in the end everything lies still.
#[test]
fn bricks_under_a_projectile_balance_momentum_lose_energy_and_come_to_rest() {
    let (rows, half) = (4, Vec3::new(0.06, 0.12, 0.05));
    let (brick, shot) = (3.0, 4.0);
    let gravity = Vec3::Z * -9.81;
    let mut scene = Scene::new(Options::default(), Cone::new(1e-7, 100_000));
    let rough = scene.add_surface(Surface::rough(0.6)).unwrap();
    let floor = scene
        .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)
        .unwrap();
    let mut bodies = Vec::new();
    for row in 0..rows {
        let shift = if row % 2 == 0 { 0.0 } else { half[1] };
        for k in 0..3 {
            let y = 2.0 * half[1] * k as f64 + shift - 2.0 * half[1];
            let at = Vec3::new(0.0, y, half[2] * (2 * row + 1) as f64);
            let body = Body::free(brick, cuboid(brick, half), at);
            bodies.push(scene.add_body(body, Shape::Box { half }, rough).unwrap());
        }
    }
    let cube = Vec3::new(0.06, 0.06, 0.06);
    let projectile = Body {
        velocity: Vec3::new(9.0, 0.4, 0.0),
        spin: Vec3::new(2.0, 1.0, 3.0),
        orientation: Quaternion::exp(Vec3::new(0.2, -0.1, 0.4)),
        ..Body::free(shot, cuboid(shot, cube), Vec3::new(-0.5, 0.05, 0.27))
    };
    bodies.push(
        scene
            .add_body(projectile, Shape::Box { half: cube }, rough)
            .unwrap(),
    );
    scene.start().unwrap();
    let mass = brick * (bodies.len() - 1) as f64 + shot;
    let energy = |scene: &Scene| scene.kinetic_energy() + scene.potential_energy();
    let (start, mut expected) = (energy(&scene), scene.momentum());
    let (mut before, mut struck, mut added) = (start, false, 0.0);
    let h = 5e-4;
    for step in 0..6000 {
        let report = scene.step(step as f64 * h, h).unwrap();
        expected += (gravity * mass - scene.reaction(floor)[0]) * h;
        let off = (scene.momentum() - expected).norm();
        assert!(off < 1e-9 * shot * 9.0, "step {step}: {off}");
        // What the correction of penetrations lifts is accounted apart; bodies that tumble have energy to first order only.
        added += report.correction_work;
        let now = energy(&scene) - added;
        assert!(now < before + 2e-3 * start, "step {step}: {before} {now}");
        before = before.min(now);
        struck |= scene.velocity(bodies[0])[0].norm() > 0.05 && step > 10;
    }
    assert!(struck);
    for body in &bodies {
        let [velocity, spin] = scene.velocity(*body);
        let speed = velocity.norm() + 0.1 * spin.norm();
        assert!(speed < 1e-4, "{body:?} moves with {speed} m/s");
        assert!(
            scene.pose(*body).position[2] > 0.04,
            "{body:?} is in the floor"
        );
    }
    assert!(before < 0.9 * start, "{before} {start}");
}
