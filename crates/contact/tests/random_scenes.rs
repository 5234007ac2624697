//! Random scenes of a few bodies of all shapes: never NaN, no energy from plastic contact, momentum kept, and the same bits after a save.
//!
//! `OLDHAM_TRIALS` takes more of them.

use std::sync::Arc;

use oldham_contact::{
    Body, BodyId, ByNumber, Can, ContactError, ContactSolver, Coulomb, HeightField, Motion,
    Options, Polytope, Pose, Scene, Shape, Start, StepReport, Surface, Wall,
};
use oldham_space::{Mat3, Quaternion, Vec3};

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

/// What is left to a body on a guide or a hinge: one way.
#[derive(Clone, Copy)]
struct Held {
    mass: f64,
    moment: f64,
    /// Along a guide, or about an axis through the centre.
    axis: Vec3,
    is_hinged: bool,
}

impl Held {
    /// The velocity and angular velocity for a unit of its rate.
    fn way(&self) -> [f64; 6] {
        let [x, y, z] = self.axis.0;
        match self.is_hinged {
            true => [0.0, 0.0, 0.0, x, y, z],
            false => [x, y, z, 0.0, 0.0, 0.0],
        }
    }

    fn inertia(&self) -> f64 {
        match self.is_hinged {
            true => self.moment,
            false => self.mass,
        }
    }
}

/// Solids of all shapes that slide, turn, land and lean on each other, on a floor or in a shaft, free, on guides and on hinges: one to some
/// sixty contacts. The guides are moved here, as a mechanism would do it.
struct Heap {
    scene: Scene,
    step: f64,
    gravity: Vec3,
    /// The first bodies of the scene.
    held: Vec<Held>,
    orientations: Vec<Quaternion>,
    mobility: Vec<f64>,
    /// What corrections of penetrations added to the potential energy.
    pushed: f64,
}

/// A millionth of the smallest velocity that counts, that of a fall within the shortest step.
const TOLERANCE: f64 = 4e-9;
/// Distance of neighbours at the start: wider than the largest solid.
const SPACING: f64 = 1.15;

impl Heap {
    fn new(seed: u64, solver: impl ContactSolver + 'static) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let options = Options::default();
        let gravity = options.gravity;
        let mut scene = Scene::new(options, solver);
        let friction = random.between(0.0, 1.0);
        let surface = scene.add_surface(Surface::rough(friction)).unwrap();
        let along = 2 + random.below(2);
        let count = 1 + random.below(8 * along);
        let kept = [0, 0, 1, 3][random.below(4)].min(count);
        let has_walls = random.below(2) == 1;
        let (mut held, mut orientations) = (Vec::new(), Vec::new());
        for k in 0..count {
            let mass = 10.0_f64.powf(random.between(-1.0, 1.0));
            let shape = solid(&mut random);
            let size = shape.bounding_radius();
            let moment = 0.3 * mass * size * size;
            let beside = Vec3::new((k % along) as f64, (k / along % along) as f64, 0.0) * SPACING;
            let level = (k / (along * along)) as f64;
            let position = beside + Vec3::Z * (size + 0.02 + SPACING * level);
            let orientation = Quaternion::exp(random.vector(3.0));
            let middle = Vec3::new(0.5, 0.5, 0.0) * (SPACING * (along - 1) as f64);
            let inwards = (middle - beside) * 2.0;
            let (velocity, spin) = (random.vector(1.0) + inwards, random.vector(4.0));
            let mut body = Body {
                orientation,
                velocity,
                spin,
                ..Body::free(mass, Vec3::new(0.8, 1.0, 1.1) * moment, position)
            };
            if k < kept {
                let one = Held {
                    mass,
                    moment,
                    axis: random.vector(1.0).unit(),
                    is_hinged: random.below(2) == 1,
                };
                let [a, b] = match one.is_hinged {
                    true => [Vec3::ZERO, one.axis * one.axis.dot(spin)],
                    false => [one.axis * one.axis.dot(velocity), Vec3::ZERO],
                };
                body = Body {
                    motion: Motion::Held,
                    velocity: a,
                    spin: b,
                    ..body
                };
                held.push(one);
                orientations.push(orientation);
            }
            scene.add_body(body, shape, surface).unwrap();
        }
        let (low, high) = (-0.5 * SPACING, (along as f64 - 0.5) * SPACING);
        let mut planes = vec![(Vec3::ZERO, Vec3::Z)];
        if has_walls {
            for axis in [Vec3::X, Vec3::Y] {
                planes.push((axis * low, axis));
                planes.push((axis * high, -axis));
            }
        }
        let planes = planes.into_iter().map(|(position, normal)| {
            let beside = normal.perpendicular();
            let axes = Mat3::from_columns(beside, normal.cross(beside), normal);
            (Shape::Plane, Pose { position, axes }, surface)
        });
        let floor = Body::prescribed(Vec3::ZERO);
        scene.add_compound(floor, planes).unwrap();
        let n = 6 * held.len();
        let mut mobility = vec![0.0; n * n];
        for (body, one) in held.iter().enumerate() {
            let way = one.way();
            for (i, j) in (0..36).map(|k| (k / 6, k % 6)) {
                mobility[(6 * body + i) * n + 6 * body + j] = way[i] * way[j] / one.inertia();
            }
        }
        scene
            .start()
            .unwrap_or_else(|error| panic!("heap {seed}: {error}"));
        Self {
            scene,
            step: [5e-4, 1e-3, 2e-3][random.below(3)],
            gravity,
            held,
            orientations,
            mobility,
            pushed: 0.0,
        }
    }

    fn step(&mut self, k: usize) -> Result<StepReport, ContactError> {
        let h = self.step;
        let scene = &mut self.scene;
        scene.begin(h)?;
        for (body, one) in self.held.iter().enumerate() {
            let id = BodyId(body as u32);
            let [velocity, spin] = scene.velocity(id);
            if !one.is_hinged {
                let fall = one.axis * (h * one.axis.dot(self.gravity));
                scene.prescribe(id, velocity + fall, spin);
            }
        }
        let report = scene.finish(k as f64 * h, h, &self.mobility)?;
        self.pushed += report.correction_work;
        for (body, one) in self.held.iter().enumerate() {
            let id = BodyId(body as u32);
            let [velocity, spin] = scene.velocity(id);
            let [mut by, mut turn] = [velocity * h, spin * h];
            if report.is_separated {
                let [shift, turned] = scene.shift(id);
                (by, turn) = (by + shift, turn + turned);
                self.pushed -= one.mass * self.gravity.dot(shift);
            }
            let turned = &mut self.orientations[body];
            *turned = Quaternion::exp(turn).times(*turned).normalised();
            let pose = Pose {
                position: scene.pose(id).position + by,
                axes: turned.matrix(),
            };
            scene.place(id, pose, velocity, spin);
        }
        Ok(report)
    }

    /// Kinetic and potential.
    fn energy(&self) -> f64 {
        let of_held = self.held.iter().enumerate().map(|(body, one)| {
            let id = BodyId(body as u32);
            let [velocity, spin] = self.scene.velocity(id);
            let fallen = self.gravity.dot(self.scene.pose(id).position);
            0.5 * one.mass * velocity.dot(velocity) + 0.5 * one.moment * spin.dot(spin)
                - one.mass * fallen
        });
        self.scene.kinetic_energy() + self.scene.potential_energy() + of_held.sum::<f64>()
    }

    /// Of any body, or of a fall within the step.
    fn fastest(&self) -> f64 {
        let speeds =
            (0..self.scene.bodies() as u32).map(|body| self.scene.velocity(BodyId(body))[0].norm());
        speeds.fold(9.81 * self.step, f64::max)
    }
}

fn models(few: u64) -> u64 {
    std::env::var("OLDHAM_MODELS").map_or(few, |n| n.parse().expect("a number"))
}

/// Coulomb's problem is solved in every step: residuals from the impulses alone, against the fastest velocity that was there. What is not met is counted.
/// Contacts make no energy. `OLDHAM_MODELS` takes more of them.
#[test]
fn random_heaps_meet_coulombs_law() {
    let models = models(18);
    let (mut steps, mut above, mut far_above, mut worst) = (0, 0, 0, 0.0_f64);
    let (mut most, mut on_guides) = (0, 0);
    for seed in 1..=models {
        let mut heap = Heap::new(seed, Coulomb::new(TOLERANCE, 5000));
        let (start, mut highest) = (heap.energy(), 0.0_f64);
        for k in 0..(0.8 / heap.step) as usize {
            let scale = heap.fastest();
            let report = heap
                .step(k)
                .unwrap_or_else(|error| panic!("heap {seed}, step {k}: {error}"));
            let relative = report.residual / scale;
            assert!(relative.is_finite(), "heap {seed}, step {k}");
            assert_eq!(report.residual > TOLERANCE, report.solved.unmet > 0);
            if relative > 1e-6 {
                println!(
                    "heap {seed}, step {k}: {relative:e} of {scale:.2} m/s, {} contacts",
                    report.pressed
                );
            }
            steps += 1;
            above += usize::from(relative > 1e-8);
            far_above += usize::from(relative > 1e-6);
            worst = worst.max(relative);
            most = most.max(report.pressed);
            on_guides += usize::from(!heap.held.is_empty() && report.pressed > 0);
            highest = highest.max(heap.energy() - heap.pushed);
        }
        // Bodies that turn have their energy up to the step.
        assert!(
            highest < start + 0.01 * start.abs(),
            "heap {seed}: {highest} J of {start} J"
        );
    }
    println!(
        "{models} heaps, {steps} steps, {on_guides} of them with guides, {most} contacts pressed at most; residual above 1e-8 in {above}, above 1e-6 in {far_above}, {worst:e} at worst"
    );
    assert!(above * 20 < steps, "{above} of {steps} steps above 1e-8");
    assert!(
        worst <= 1e-6,
        "{far_above} of {steps} steps above 1e-6, {worst:e} at worst"
    );
    assert!(on_guides * 10 > steps && most >= 20, "{on_guides} {most}");
}

/// The chain and pivoting with exact sets take single steps from the same states, and give the same velocities. Where many contacts share friction in many
/// ways, pivoting bounds it in boxes, and may find another one: such steps are counted.
#[test]
fn the_chain_and_exact_sets_agree_on_random_heaps() {
    let (mut compared, mut determined, mut differing, mut worst) = (0, 0, 0, 0.0_f64);
    for seed in 1..=models(18) {
        let mut heap = Heap::new(seed, Coulomb::new(1e-9, 5000));
        let mut exact = Heap::new(seed, ByNumber::new(12, Coulomb::new(1e-9, 5000)));
        let mut words = Vec::new();
        for k in 0..(0.6 / heap.step) as usize {
            words.clear();
            heap.scene.save(&mut words);
            // Guides are the owner's, not the scene's.
            let guides: Vec<Pose> = (0..heap.held.len() as u32)
                .map(|body| *heap.scene.pose(BodyId(body)))
                .collect();
            exact.orientations.clone_from(&heap.orientations);
            let report = heap.step(k).unwrap();
            if k % 5 > 0 || report.pressed == 0 || report.contacts > 12 {
                continue;
            }
            exact.scene.restore(&words).unwrap();
            for (body, pose) in guides.into_iter().enumerate() {
                let body = BodyId(body as u32);
                let [velocity, spin] = exact.scene.velocity(body);
                exact.scene.place(body, pose, velocity, spin);
            }
            let other = exact.step(k).unwrap();
            if report.solved.unmet + other.solved.unmet > 0 || other.solved.fallback.is_some() {
                continue;
            }
            compared += 1;
            let apart = (0..heap.scene.bodies() as u32)
                .map(BodyId)
                .map(|body| (heap.scene.velocity(body)[0] - exact.scene.velocity(body)[0]).norm())
                .fold(0.0, f64::max);
            let relative = apart / heap.fastest();
            let is_determined = report.contacts <= 3;
            determined += usize::from(is_determined);
            if relative > 1e-6 {
                differing += 1;
                assert!(!is_determined, "heap {seed}, step {k}: {apart:e} m/s apart");
            }
            worst = worst.max(relative);
        }
    }
    println!(
        "{compared} steps compared, {determined} of them with three contacts or fewer; {differing} of the others differ by more than 1e-6, {worst:e} at worst"
    );
    assert!(determined > 200 && differing * 20 <= compared);
}
