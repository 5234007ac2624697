//! Bad input and hard problems have a clear outcome, and never give a number that is not one.

use oldham_contact::bench::shaken_can;
use oldham_contact::{
    Body, BodyId, Can, Cone, ContactError, Options, Pivoting, Pose, Scene, Shape, Start, Surface,
    Wall,
};
use oldham_space::Vec3;

fn scene(options: Options) -> Scene {
    Scene::new(options, Cone::new(1e-8, 20_000))
}

fn floor(scene: &mut Scene) -> oldham_contact::SurfaceId {
    let rough = scene.add_surface(Surface::rough(0.5)).unwrap();
    scene
        .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)
        .unwrap();
    rough
}

#[test]
fn overlap_at_the_start_is_reported_or_resolved() {
    let heap = [
        Vec3::new(0.0, 0.0, 0.009),
        Vec3::new(0.001, 0.0, 0.02),
        Vec3::new(0.0, 0.004, 0.035),
    ];
    let build = |start: Start| {
        let mut scene = scene(Options {
            start,
            ..Options::default()
        });
        let rough = floor(&mut scene);
        scene.add_grains(&heap, 0.01, 1000.0, rough).unwrap();
        let started = scene.start();
        (scene, started)
    };
    let (_, refused) = build(Start::Refuse);
    let Err(ContactError::Overlap {
        first,
        second,
        depth,
        pairs,
    }) = refused
    else {
        panic!("{refused:?}");
    };
    // The second and the first grain are bodies 1 and 2, 0.020 − |x₂ − x₁| deep.
    assert_eq!((first, second, pairs), (1, 2, 3));
    let distance = (heap[1] - heap[0]).norm();
    assert!((depth - (0.02 - distance)).abs() < 1e-15);
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("overlap") && text.contains("let the start be resolved"),
        "{text}"
    );

    let (mut scene, resolved) = build(Start::Resolve);
    resolved.unwrap();
    let report = scene.step(0.0, 1e-4).unwrap();
    assert!(report.penetration < 1e-8, "{report:?}");
    assert!(
        scene.kinetic_energy() < 1e-5,
        "moving apart gives no velocity"
    );
}

#[test]
fn sizes_masses_and_surfaces_out_of_range_are_refused() {
    let mut scene = scene(Options::default());
    let rough = floor(&mut scene);
    let at = Body::free(1.0, Vec3::new(1.0, 1.0, 1.0), Vec3::Z);
    let flat = Shape::Box {
        half: Vec3::new(0.1, 0.0, 0.1),
    };
    let error = scene.add_body(at, flat, rough).unwrap_err();
    assert!(matches!(error, ContactError::Size { size: 0.0, .. }));
    let two = Shape::Can(Can::new(1.0, None, Wall::Facets(2)));
    assert!(matches!(
        scene.add_body(Body::prescribed(Vec3::ZERO), two, rough),
        Err(ContactError::OpenCan { facets: 2, .. })
    ));
    for mass in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
        let body = Body::free(mass, Vec3::new(1.0, 1.0, 1.0), Vec3::Z);
        let error = scene.add_body(body, Shape::Sphere { radius: 0.1 }, rough);
        assert!(matches!(error, Err(ContactError::Inertia { .. })), "{mass}");
    }
    assert!(scene.add_surface(Surface::rough(f64::NAN)).is_err());
    let grains = scene.add_grains(&[Vec3::Z], 0.0, 1000.0, rough);
    assert!(matches!(grains, Err(ContactError::Size { .. })));
    assert!(matches!(
        scene.step(0.0, 0.0),
        Err(ContactError::Step { .. })
    ));
}

#[test]
fn a_lost_grain_is_detected() {
    let mut scene = scene(Options {
        domain: 1.0,
        ..Options::default()
    });
    let rough = floor(&mut scene);
    scene
        .add_grains(&[Vec3::Z * 0.5], 0.01, 1000.0, rough)
        .unwrap();
    scene.launch(0, Vec3::X * 10.0, Vec3::ZERO);
    scene.start().unwrap();
    let lost = (0..1000).find_map(|k| scene.step(k as f64 * 1e-3, 1e-3).err());
    let Some(ContactError::Lost {
        body: 1, time, x, ..
    }) = lost
    else {
        panic!("{lost:?}");
    };
    assert!(x > 0.8 && time < 0.1, "{x} {time}");
}

#[test]
fn a_velocity_that_is_not_a_number_stops_the_run_with_its_body() {
    let mut scene = scene(Options::default());
    let rough = floor(&mut scene);
    scene
        .add_grains(&[Vec3::Z * 0.5, Vec3::Z * 0.8], 0.01, 1000.0, rough)
        .unwrap();
    scene.start().unwrap();
    scene.launch(1, Vec3::X * f64::NAN, Vec3::ZERO);
    let error = scene.step(0.0, 1e-3).unwrap_err();
    assert_eq!(
        error,
        ContactError::NotFinite {
            body: 2,
            time: 1e-3
        }
    );
}

/// A ball of a tonne on one of a gram, and the other way round: the weight arrives at the floor.
#[test]
fn mass_ratios_of_a_million_are_solved() {
    for (below, above) in [(1e-3, 1e3), (1e3, 1e-3)] {
        let mut scene = Scene::new(Options::default(), Pivoting::new());
        let rough = scene.add_surface(Surface::rough(0.3)).unwrap();
        let ground = scene
            .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)
            .unwrap();
        for (mass, z) in [(below, 0.1), (above, 0.3)] {
            let half = Vec3::new(0.1, 0.1, 0.1);
            let inertia = Vec3::new(1.0, 1.0, 1.0) * (mass * 0.02 / 3.0);
            scene
                .add_body(
                    Body::free(mass, inertia, Vec3::Z * z),
                    Shape::Box { half },
                    rough,
                )
                .unwrap();
        }
        scene.start().unwrap();
        for step in 0..200 {
            let report = scene.step(step as f64 * 1e-3, 1e-3).unwrap();
            assert!(report.residual < 1e-6, "{report:?}");
        }
        let weight = 9.81 * (below + above);
        let force = scene.reaction(ground)[0][2];
        assert!((force + weight).abs() < 1e-6 * weight, "{force} {weight}");
    }
}

/// Two walls that close on a ball leave it no room: the step says that it found no solution, and everything stays finite.
#[test]
fn walls_that_crush_a_ball_give_a_residual_and_finite_numbers() {
    let mut scene = scene(Options::default());
    let rough = scene.add_surface(Surface::rough(0.3)).unwrap();
    let lower = scene
        .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)
        .unwrap();
    let over = Body {
        orientation: oldham_space::Quaternion::exp(Vec3::X * std::f64::consts::PI),
        ..Body::prescribed(Vec3::Z * 0.2)
    };
    scene.add_body(over, Shape::Plane, rough).unwrap();
    scene
        .add_grains(&[Vec3::Z * 0.1], 0.1, 1000.0, rough)
        .unwrap();
    scene.start().unwrap();
    scene.prescribe(lower, Vec3::Z * 0.1, Vec3::ZERO);
    let report = scene.step(0.0, 1e-3).unwrap();
    assert!(!report.solved.is_converged);
    assert!(
        report.residual > 1e-3 && report.residual.is_finite(),
        "{report:?}"
    );
    let [velocity, spin] = scene.velocity(scene.first_grain());
    assert!(velocity.norm().is_finite() && spin.norm().is_finite());
}

/// The same contacts whether found by a world that has seen other poses before or by a new one.
#[test]
fn contacts_do_not_depend_on_history() {
    let mut long = shaken_can(Wall::Facets(24), 0).unwrap();
    for _ in 0..300 {
        long.step().unwrap();
    }
    let mut words = Vec::new();
    long.scene.save(&mut words);
    let mut fresh = shaken_can(Wall::Facets(24), 0).unwrap();
    fresh.scene.restore(&words).unwrap();
    for step in 0..50 {
        // Both are told the same motion of the can, and nothing else.
        let velocity = Vec3::Z * (0.3 * (0.01 * step as f64).sin());
        for scene in [&mut long.scene, &mut fresh.scene] {
            scene.prescribe(BodyId(0), velocity, Vec3::ZERO);
        }
        let one = long.scene.step(0.0, 1e-4).unwrap();
        let other = fresh.scene.step(0.0, 1e-4).unwrap();
        assert_eq!(one, other);
        assert_eq!(long.scene.touches(), fresh.scene.touches());
        assert_eq!(long.scene.impulses(), fresh.scene.impulses());
    }
    let (mut a, mut b) = (Vec::new(), Vec::new());
    long.scene.save(&mut a);
    fresh.scene.save(&mut b);
    assert_eq!(a, b, "the same bits");
    assert!(fresh.scene.restore(&a[..10]).is_err());
}

/// Placing a body's frame elsewhere places its shape there.
#[test]
fn shapes_sit_where_their_pose_says() {
    let mut scene = scene(Options::default());
    let rough = floor(&mut scene);
    let offset = Pose::at(Vec3::Z * -0.5);
    let ball = (Shape::Sphere { radius: 0.1 }, offset, rough);
    let body = Body::free(1.0, Vec3::new(1.0, 1.0, 1.0), Vec3::Z * 0.6);
    scene.add_compound(body, [ball]).unwrap();
    scene.start().unwrap();
    scene.step(0.0, 1e-3).unwrap();
    assert_eq!(scene.touches().len(), 1);
    assert!(scene.touches()[0].gap.abs() < 1e-15);
}
