//! Random scenes of a few bodies of all shapes: never NaN, no energy from plastic contact, momentum kept, and the same bits after a save.
//!
//! `OLDHAM_TRIALS` takes more of them.

use std::sync::Arc;

use oldham_contact::{
    Body, ByNumber, Can, Coulomb, HeightField, Options, Polytope, Scene, Shape, Start, Surface,
    Wall,
};
use oldham_space::{Quaternion, Vec3};

/// Numbers that look random.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6364136223846793005)).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next()
    }

    fn below(&mut self, count: usize) -> usize {
        ((self.next() * count as f64) as usize).min(count - 1)
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        let mut part = || self.between(-size, size);
        Vec3::new(part(), part(), part())
    }
}

fn solid(random: &mut Random) -> Shape {
    let radius = random.between(0.05, 0.25);
    let half_length = random.between(0.05, 0.3);
    match random.below(5) {
        0 => Shape::Sphere { radius },
        1 => Shape::Box {
            half: random.vector(0.1) + Vec3::new(0.15, 0.15, 0.15),
        },
        2 => Shape::Capsule {
            half_length,
            radius,
        },
        3 => Shape::Cylinder {
            half_length,
            radius,
        },
        _ => {
            let count = 6 + random.below(10);
            let points: Vec<Vec3> = (0..count).map(|_| random.vector(0.25)).collect();
            let hull = Polytope::hull(&points).expect("points in space");
            let centre = hull.mass_properties().centre;
            Shape::Mesh(Arc::new(hull.moved(-centre)))
        }
    }
}

/// What the bodies fall onto; nothing for bodies that meet in free space.
fn ground(random: &mut Random) -> Option<Shape> {
    match random.below(7) {
        0 => Some(Shape::Plane),
        1 => Some(Shape::Can(Can::new(1.2, Some(12.0), Wall::Round))),
        2 => Some(Shape::Can(Can::new(1.2, None, Wall::Facets(7)))),
        3 => {
            let mut row = |_| (0..9).map(|_| random.between(0.0, 0.4)).collect();
            let rows: Vec<Vec<f64>> = (0..9).map(&mut row).collect();
            let field = HeightField::new(&rows, [0.7, 0.7]).expect("a ground");
            Some(Shape::Field(Arc::new(field)))
        }
        4 => Some(Shape::Box {
            half: Vec3::new(2.0, 2.0, 0.5),
        }),
        _ => None,
    }
}

fn scene(seed: u64) -> (Scene, bool, f64) {
    let mut random = Random(seed);
    let ground = ground(&mut random);
    let is_free = ground.is_none();
    let gravity = if is_free { 0.0 } else { -9.81 };
    let options = Options {
        gravity: Vec3::Z * gravity,
        start: Start::Resolve,
        domain: 1e3,
        ..Options::default()
    };
    let few = [0, 12, 40][random.below(3)];
    let mut scene = Scene::new(options, ByNumber::new(few, Coulomb::new(1e-8, 20_000)));
    let friction = [0.0, 0.3, 0.8][random.below(3)];
    let surface = scene.add_surface(Surface::rough(friction)).unwrap();
    if let Some(shape) = ground {
        let depth = if matches!(shape, Shape::Box { .. }) {
            0.5
        } else {
            0.0
        };
        let still = Body::prescribed(Vec3::Z * -depth);
        scene.add_body(still, shape, surface).unwrap();
    }
    for k in 0..2 + random.below(4) {
        let mass = 10.0_f64.powf(random.between(-2.0, 2.0));
        let shape = solid(&mut random);
        let size = shape.bounding_radius();
        let moment = 0.3 * mass * size * size;
        let inertia = Vec3::new(0.8, 1.0, 1.1) * moment;
        let above = Vec3::Z * (if is_free { 0.6 } else { 1.0 } + 0.8 * k as f64);
        let position = random.vector(0.3) + above;
        let velocity = match is_free {
            true => (Vec3::Z * 1.5 - position) * random.between(0.5, 2.0),
            false => random.vector(1.0),
        };
        let body = Body {
            orientation: Quaternion::exp(random.vector(3.0)),
            velocity,
            spin: random.vector(4.0),
            ..Body::free(mass, inertia, position)
        };
        scene.add_body(body, shape, surface).unwrap();
    }
    let h = [5e-4, 1e-3, 2e-3][random.below(3)];
    (scene, is_free, h)
}

#[test]
fn random_scenes_stay_finite_lose_energy_and_keep_momentum() {
    let trials = std::env::var("OLDHAM_TRIALS").map_or(50, |n| n.parse().expect("a number"));
    let mut pressed = 0;
    for seed in 1..=trials {
        let (mut scene, is_free, h) = scene(seed);
        scene
            .start()
            .unwrap_or_else(|error| panic!("scene {seed}: {error}"));
        let momentum = scene.momentum();
        let size = (2.0 * scene.kinetic_energy()).sqrt() + momentum.norm() + 1.0;
        let total = |scene: &Scene| scene.kinetic_energy() + scene.potential_energy();
        let (start, mut pushed) = (total(&scene), 0.0);
        let mut saved = Vec::new();
        let steps = (0.8 / h) as usize;
        for k in 0..steps {
            if k == steps / 2 {
                scene.save(&mut saved);
            }
            let energy = scene.kinetic_energy() + 1e-6;
            let report = scene.step(k as f64 * h, h);
            let report = report.unwrap_or_else(|error| panic!("scene {seed}, step {k}: {error}"));
            assert!(report.residual.is_finite());
            // Under gravity a step counts its fall at the mean of two velocities: without it nothing hides what contacts take.
            let taken = if is_free { report.dissipated } else { 0.0 };
            assert!(
                taken > -1e-9 * energy,
                "scene {seed}, step {k}: {taken} J of {energy} J"
            );
            pushed += report.correction_work;
            pressed += report.pressed;
        }
        // Bodies that tumble keep their angular momentum, and their energy up to the step.
        let gained = total(&scene) - start - pushed;
        assert!(
            gained < 0.01 * start.abs(),
            "scene {seed}: {gained} J of {start} J"
        );
        if is_free {
            let change = (scene.momentum() - momentum).norm();
            assert!(change < 1e-11 * size, "scene {seed}: {change}");
        }
        let mut end = Vec::new();
        scene.save(&mut end);
        scene.restore(&saved).unwrap();
        for k in steps / 2..steps {
            scene.step(k as f64 * h, h).unwrap();
        }
        let mut again = Vec::new();
        scene.save(&mut again);
        assert!(end == again, "scene {seed}: other bits after a save");
    }
    assert!(pressed > 1000, "{pressed}");
}

/// A few solids thrown onto a rough floor and against each other, from one to some sixty contacts.
fn heap(seed: u64) -> (Scene, f64) {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let mut scene = Scene::new(Options::default(), Coulomb::new(1e-7, 5000));
    let friction = random.between(0.0, 1.0);
    let surface = scene.add_surface(Surface::rough(friction)).unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    scene.add_body(floor, Shape::Plane, surface).unwrap();
    for k in 0..1 + random.below(16) {
        let mass = 10.0_f64.powf(random.between(-1.0, 1.0));
        let shape = solid(&mut random);
        let size = shape.bounding_radius();
        let inertia = Vec3::new(0.8, 1.0, 1.1) * (0.3 * mass * size * size);
        let beside = Vec3::new((k % 2) as f64, (k / 2 % 2) as f64, 0.0) * 0.75;
        let above = beside + Vec3::Z * (size + 0.02 + 0.75 * (k / 4) as f64);
        let body = Body {
            orientation: Quaternion::exp(random.vector(3.0)),
            velocity: random.vector(1.0),
            spin: random.vector(4.0),
            ..Body::free(mass, inertia, above)
        };
        scene.add_body(body, shape, surface).unwrap();
    }
    scene.start().unwrap();
    (scene, [5e-4, 1e-3, 2e-3][random.below(3)])
}

/// Coulomb's problem is solved in every step: residuals from the impulses alone, against the fastest velocity that was there. What is not met is counted.
/// `OLDHAM_MODELS` takes more of them.
#[test]
fn random_heaps_meet_coulombs_law() {
    let models = std::env::var("OLDHAM_MODELS").map_or(20, |n| n.parse().expect("a number"));
    let (mut steps, mut above, mut far_above, mut most, mut worst) = (0, 0, 0, 0, 0.0_f64);
    for seed in 1..=models {
        let (mut scene, h) = heap(seed);
        for k in 0..(0.8 / h) as usize {
            let scale = (0..scene.bodies() as u32)
                .map(|body| scene.velocity(oldham_contact::BodyId(body))[0].norm())
                .fold(9.81 * h, f64::max);
            let report = scene
                .step(k as f64 * h, h)
                .unwrap_or_else(|error| panic!("scene {seed}, step {k}: {error}"));
            let relative = report.residual / scale;
            assert!(relative.is_finite(), "scene {seed}, step {k}");
            assert_eq!(report.residual > 1e-7, report.solved.unmet > 0);
            steps += 1;
            above += usize::from(relative > 1e-8);
            far_above += usize::from(relative > 1e-6);
            worst = worst.max(relative);
            most = most.max(report.pressed);
        }
    }
    println!(
        "{steps} steps, {most} contacts pressed at most; residual above 1e-8 in {above}, above 1e-6 in {far_above}, {worst:e} at worst"
    );
    assert!(above * 20 < steps, "{above} of {steps} steps above 1e-8");
    assert!(
        far_above * 10_000 <= steps,
        "{far_above} of {steps} steps above 1e-6"
    );
    assert!(worst < 1e-5, "{worst:e}");
}
