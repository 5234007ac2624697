//! Bodies that rest are left alone until something changes: the same motion as without that, to the residual.

use oldham_contact::{Body, BodyId, Coulomb, Options, Scene, Shape, StepReport, Surface};
use oldham_space::{Quaternion, Vec3};

const H: f64 = 1e-3;
const TOLERANCE: f64 = 1e-8;
const HALF: Vec3 = Vec3::new(0.1, 0.08, 0.05);

fn cuboid(mass: f64, half: Vec3) -> Vec3 {
    let [a, b, c] = half.0.map(|x| x * x);
    Vec3::new(b + c, a + c, a + b) * (mass / 3.0)
}

/// A floor, three boxes on each other, one apart, and a ball in the air that comes down on the stack.
fn stack(sleep: bool, ball: Vec3) -> (Scene, Vec<BodyId>) {
    let options = Options {
        sleep,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Coulomb::new(TOLERANCE, 5000));
    let rough = scene.add_surface(Surface::rough(0.5)).unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    scene.add_body(floor, Shape::Plane, rough).unwrap();
    let mut bodies = Vec::new();
    for (place, turn) in [
        (Vec3::new(0.0, 0.0, 0.05), 0.0),
        (Vec3::new(0.01, 0.0, 0.15), 0.3),
        (Vec3::new(0.0, 0.01, 0.25), -0.2),
        (Vec3::new(1.0, 0.0, 0.05), 0.1),
    ] {
        let body = Body {
            orientation: Quaternion::exp(Vec3::Z * turn),
            ..Body::free(2.0, cuboid(2.0, HALF), place)
        };
        let shape = Shape::Box { half: HALF };
        bodies.push(scene.add_body(body, shape, rough).unwrap());
    }
    let radius = 0.04;
    let body = Body::free(
        0.5,
        Vec3::new(1.0, 1.0, 1.0) * (0.2 * radius * radius),
        ball,
    );
    let shape = Shape::Sphere { radius };
    bodies.push(scene.add_body(body, shape, rough).unwrap());
    scene.start().unwrap();
    (scene, bodies)
}

fn step(scene: &mut Scene, number: usize) -> StepReport {
    let report = scene.step(number as f64 * H, H).unwrap();
    assert!(report.residual <= TOLERANCE, "step {number}: {report:?}");
    report
}

#[test]
fn a_stack_sleeps_and_wakes_in_the_step_in_which_it_is_hit() {
    let ball = Vec3::new(0.03, 0.02, 1.5);
    let (mut sleeping, bodies) = stack(true, ball);
    let (mut waking, _) = stack(false, ball);
    let (mut asleep, mut woken) = (0, None);
    for number in 0..900 {
        let was_asleep = sleeping.is_asleep(bodies[0]);
        let report = step(&mut sleeping, number);
        let other = step(&mut waking, number);
        asleep += usize::from(was_asleep);
        if was_asleep && !sleeping.is_asleep(bodies[0]) && woken.is_none() {
            woken = Some(number);
            // Nothing of the stack has slept through the step in which the ball arrives.
            assert!(!sleeping.has_slept(bodies[2]), "step {number}");
            assert!(
                sleeping.has_slept(bodies[3]),
                "the box apart goes on sleeping"
            );
        }
        if was_asleep && woken.is_none() {
            // What holds the sleepers is there as before.
            let [force, _] = sleeping.reaction(BodyId(0));
            assert!((force[2] + 4.0 * 2.0 * 9.81).abs() < 1e-3, "{force:?}");
            let between = sleeping.impulse_between(bodies[1], bodies[2]);
            assert!((between[2] / H - 2.0 * 9.81).abs() < 1e-3, "{between:?}");
            assert_eq!(report.pressed, other.pressed, "step {number}");
        }
        for &body in &bodies {
            let apart = (sleeping.pose(body).position - waking.pose(body).position).norm();
            assert!(apart < 1e-6, "step {number}: {body:?} {apart:e} m apart");
        }
    }
    let woken = woken.expect("the ball arrives");
    assert!(asleep > 400, "only {asleep} steps asleep");
    // 1.5 − 0.04 − 0.3 m of fall.
    let fall = (2.0 * 1.16 / 9.81_f64).sqrt() / H;
    assert!((woken as f64 - fall).abs() < 3.0, "{woken} after {fall}");
    assert!(
        sleeping.velocity(bodies[4])[0].norm() < 1.0,
        "the ball was stopped"
    );
}

/// v = (F/m − μ g) t from the very step in which the load comes on.
#[test]
fn a_load_wakes_a_box_at_once() {
    let (mut scene, bodies) = stack(true, Vec3::new(0.0, 3.0, 0.04));
    let alone = bodies[3];
    for number in 0..100 {
        step(&mut scene, number);
    }
    assert_eq!(scene.sleepers(), 5);
    let before = scene.pose(alone).position;
    step(&mut scene, 100);
    assert_eq!(
        scene.pose(alone).position,
        before,
        "a sleeper does not move"
    );
    let pushed = 3.0;
    scene.load(alone, Vec3::X * (2.0 * (0.5 * 9.81 + pushed)), Vec3::ZERO);
    for taken in 1..=50 {
        step(&mut scene, 100 + taken);
        let expected = pushed * taken as f64 * H;
        let [velocity, _] = scene.velocity(alone);
        assert!(
            (velocity[0] - expected).abs() < 1e-6,
            "{velocity:?} {expected}"
        );
    }
    assert_eq!(scene.sleepers(), 4, "all others sleep");
    scene.load(alone, Vec3::ZERO, Vec3::ZERO);
    for taken in 1..200 {
        step(&mut scene, 150 + taken);
    }
    assert_eq!(scene.sleepers(), 5, "it has come to rest again");
}

/// A step of another length, and a floor that begins to move, wake all that lie there.
#[test]
fn another_step_and_a_floor_that_moves_wake_all() {
    let (mut scene, bodies) = stack(true, Vec3::new(0.0, 3.0, 0.04));
    for number in 0..100 {
        step(&mut scene, number);
    }
    assert_eq!(scene.sleepers(), 5);
    let report = scene.step(0.1, 0.5 * H).unwrap();
    assert!(
        report.residual <= TOLERANCE && scene.sleepers() == 0,
        "{report:?}"
    );
    for number in 101..200 {
        step(&mut scene, number);
    }
    assert_eq!(scene.sleepers(), 5);
    // Friction takes 0.5 g: boxes follow a floor that jumps to 1 m/s after 1/(0.5 g).
    scene.prescribe(BodyId(0), Vec3::X, Vec3::ZERO);
    for taken in 1..=100 {
        step(&mut scene, 199 + taken);
        let [velocity, _] = scene.velocity(bodies[3]);
        let expected = 0.5 * 9.81 * taken as f64 * H;
        assert!((velocity[0] - expected).abs() < 1e-6, "{velocity:?}");
    }
}

/// Who sleeps is state: the same bits after a checkpoint, in sleep and where it ends.
#[test]
fn a_checkpoint_keeps_the_bits_of_sleepers() {
    let ball = Vec3::new(0.03, 0.02, 1.5);
    let (mut scene, bodies) = stack(true, ball);
    let mut saved = Vec::new();
    let mut at_rest = Vec::new();
    for number in 0..700 {
        if number == 200 {
            assert!(scene.is_asleep(bodies[0]));
            scene.save(&mut saved);
        }
        let report = step(&mut scene, number);
        if number == 300 {
            scene.save(&mut at_rest);
            at_rest.push(report.residual.to_bits());
        }
    }
    let mut end = Vec::new();
    scene.save(&mut end);
    let (mut other, _) = stack(true, ball);
    other.restore(&saved).unwrap();
    for number in 200..700 {
        let report = step(&mut other, number);
        if number == 300 {
            let mut words = Vec::new();
            other.save(&mut words);
            words.push(report.residual.to_bits());
            assert!(words == at_rest, "asleep");
            let [force, moment] = other.reaction(BodyId(0));
            assert!(force[2] < -70.0 && moment.norm() > 0.0);
        }
    }
    let mut words = Vec::new();
    other.save(&mut words);
    assert!(words == end, "after the blow");
}

/// Grains in a bowl that fall asleep cost no contact; a grain that is let go among them wakes those that it reaches.
#[test]
fn grains_sleep_too() {
    let options = Options {
        sleep: true,
        ..Options::default()
    };
    let mut scene = Scene::new(options, Coulomb::new(1e-7, 5000));
    let rough = scene.add_surface(Surface::rough(0.3)).unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    scene.add_body(floor, Shape::Plane, rough).unwrap();
    let radius = 0.01;
    let mut centres: Vec<Vec3> = (0..6)
        .map(|k| Vec3::new(0.05 * f64::from(k), 0.0, radius))
        .collect();
    centres.push(Vec3::new(0.0, 0.0, 0.5));
    scene.add_grains(&centres, radius, 2600.0, rough).unwrap();
    scene.start().unwrap();
    let first = scene.first_grain();
    let mut hit = false;
    for number in 0..500 {
        let report = scene.step(number as f64 * H, H).unwrap();
        assert!(report.residual <= 1e-7, "{report:?}");
        if number == 250 {
            assert_eq!(scene.sleepers(), 6);
            assert_eq!(report.pressed, 6);
        }
        hit |= number > 250 && !scene.is_asleep(first);
    }
    assert!(hit, "the grain that fell has woken the one below it");
    assert!(scene.is_asleep(BodyId(first.0 + 3)));
}
