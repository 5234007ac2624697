//! Once warm, a step allocates nothing; and what a scene holds is what it says.

#[path = "../../cosim/tests/support/allocations.rs"]
mod allocations;

use std::sync::Arc;

use oldham_contact::bench::{bed, shaken_can};
use oldham_contact::{
    Body, Coulomb, HeightField, Options, Pivoting, Polytope, Scene, Shape, Surface, Wall,
};
use oldham_space::Vec3;

/// One test alone: other threads would be counted too.
#[test]
fn a_warm_step_does_not_allocate() {
    a_grain_takes_at_most_six_hundred_bytes();

    // Two periods of shaking hold every number of contacts that the third one needs, and more.
    let mut can = shaken_can(Wall::Facets(24), 0).unwrap();
    for _ in 0..1400 {
        can.step().unwrap();
    }
    let mut words = Vec::new();
    can.scene.save(&mut words);
    for _ in 0..100 {
        can.step().unwrap();
    }
    can.scene.restore(&words).unwrap();
    assert_none("the shaken can", || {
        for _ in 0..100 {
            can.step().unwrap();
        }
    });

    let mut grains = bed(300, 1).unwrap();
    for _ in 0..300 {
        grains.step().unwrap();
    }
    words.clear();
    grains.scene.save(&mut words);
    for _ in 0..50 {
        grains.step().unwrap();
    }
    grains.scene.restore(&words).unwrap();
    assert_none("a bed", || {
        for _ in 0..50 {
            grains.step().unwrap();
        }
    });

    let mut scene = Scene::new(Options::default(), Pivoting::new());
    let rough = scene.add_surface(Surface::rough(0.5)).unwrap();
    let level = HeightField::new(&vec![vec![0.0; 5]; 5], [0.5, 0.5]).unwrap();
    let ground = Shape::Field(Arc::new(level));
    scene
        .add_body(Body::prescribed(Vec3::ZERO), ground, rough)
        .unwrap();
    let corners = [0.1, -0.1].map(|z| {
        [(0.1, 0.1), (-0.1, 0.1), (-0.1, -0.1), (0.1, -0.1)].map(|(x, y)| Vec3::new(x, y, z))
    });
    let mesh = Shape::Mesh(Arc::new(Polytope::hull(&corners.concat()).unwrap()));
    let half = Vec3::new(0.1, 0.1, 0.1);
    let cylinder = Shape::Cylinder {
        half_length: 0.1,
        radius: 0.1,
    };
    let stack = [
        Shape::Box { half },
        mesh.clone(),
        mesh,
        cylinder.clone(),
        cylinder,
    ];
    for (k, shape) in stack.into_iter().enumerate() {
        let at = Vec3::Z * (0.1 + 0.2 * k as f64);
        let body = Body::free(1.0, Vec3::new(1.0, 1.0, 1.0) * 0.01, at);
        scene.add_body(body, shape, rough).unwrap();
    }
    scene.start().unwrap();
    for step in 0..20 {
        scene.step(step as f64, 1e-2).unwrap();
    }
    assert_none("a stack on a ground", || {
        for step in 0..100 {
            scene.step(step as f64, 1e-2).unwrap();
        }
    });
    by_coulombs_law();
    beside_sleepers();
}

/// A column sleeps while a box beside it slides on: neither costs an allocation.
fn beside_sleepers() {
    let options = Options {
        sleep: true,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Coulomb::new(1e-7, 500));
    let rough = scene.add_surface(Surface::rough(0.1)).unwrap();
    scene
        .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)
        .unwrap();
    let half = Vec3::new(0.1, 0.1, 0.1);
    for k in 0..4 {
        let (at, velocity) = match k {
            3 => (Vec3::new(0.0, 1.0, 0.1), Vec3::X * 2.0),
            _ => (Vec3::Z * (0.1 + 0.2 * k as f64), Vec3::ZERO),
        };
        let body = Body {
            velocity,
            ..Body::free(1.0, Vec3::new(1.0, 1.0, 1.0) * (1.0 / 150.0), at)
        };
        scene.add_body(body, Shape::Box { half }, rough).unwrap();
    }
    scene.start().unwrap();
    let mut run = |steps: std::ops::Range<usize>| {
        for step in steps {
            scene.step(step as f64 * 2e-3, 2e-3).unwrap();
        }
        scene.sleepers()
    };
    assert_eq!(run(0..200), 3, "the column sleeps");
    assert_none("beside sleepers", || {
        run(200..500);
    });
}

/// Boxes that are shoved, fall over and slide: sweeps, Newton's method and the interior point have had their room the first time.
fn by_coulombs_law() {
    let mut scene = Scene::new(Options::default(), Coulomb::new(1e-7, 500));
    let rough = scene.add_surface(Surface::rough(0.5)).unwrap();
    scene
        .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)
        .unwrap();
    let half = Vec3::new(0.1, 0.1, 0.1);
    for k in 0..4 {
        let at = Vec3::Z * (0.1 + 0.2 * k as f64);
        let body = Body {
            velocity: Vec3::X * if k == 1 { 1.0 } else { 0.0 },
            ..Body::free(1.0, Vec3::new(1.0, 1.0, 1.0) * (1.0 / 150.0), at)
        };
        scene.add_body(body, Shape::Box { half }, rough).unwrap();
    }
    scene.start().unwrap();
    let mut words = Vec::new();
    scene.save(&mut words);
    let run = |scene: &mut Scene| {
        for step in 0..300 {
            scene.step(step as f64 * 2e-3, 2e-3).unwrap();
        }
    };
    run(&mut scene);
    scene.restore(&words).unwrap();
    assert_none("boxes by Coulomb's law", || run(&mut scene));
}

/// Everything that a bed holds after as many steps as the benchmark takes with ten thousand grains: impacts with floor and lid, and the crush between them. A
/// smaller bed has more contacts with walls for each grain, and holds more.
fn a_grain_takes_at_most_six_hundred_bytes() {
    let grains = 1000;
    let region = allocations::region();
    let mut bed = bed(grains, 1).unwrap();
    for _ in 0..700 {
        bed.step().unwrap();
    }
    let change = region.change();
    let held = (change.bytes_allocated - change.bytes_deallocated) as f64;
    let told = bed.scene.bytes() as f64;
    assert!((told / held - 1.0).abs() < 0.02, "{told} {held}");
    assert!(held <= 600.0 * grains as f64, "{}", held / grains as f64);
}

fn assert_none(what: &str, mut run: impl FnMut()) {
    let region = allocations::region();
    run();
    let change = region.change();
    assert_eq!(change.allocations + change.reallocations, 0, "{what}");
}
