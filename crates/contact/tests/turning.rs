//! Rolling and torsional friction against closed forms.

use oldham_contact::{
    Body, BodyId, Cone, ContactError, Coulomb, Options, Scene, Shape, StepReport, Surface,
};
use oldham_space::{Quaternion, Vec3};

const GRAVITY: f64 = 9.81;
const RADIUS: f64 = 0.1;
const MASS: f64 = 2.0;
/// Of a solid ball.
const INERTIA: f64 = 0.4 * MASS * RADIUS * RADIUS;

fn surface(friction: f64, rolling: f64, torsion: f64) -> Surface {
    Surface {
        rolling,
        torsion,
        ..Surface::rough(friction)
    }
}

/// A ball on a plane that is tilted about the second axis.
fn ball(surface: Surface, tilt: f64, velocity: Vec3, spin: Vec3) -> (Scene, BodyId) {
    let mut scene = Scene::new(Options::default(), Coulomb::new(1e-9, 5000));
    let rough = scene.add_surface(surface).unwrap();
    let tilt = Quaternion::exp(Vec3::Y * tilt);
    let plane = Body {
        orientation: tilt,
        ..Body::prescribed(Vec3::ZERO)
    };
    scene.add_body(plane, Shape::Plane, rough).unwrap();
    let inertia = Vec3::new(1.0, 1.0, 1.0) * INERTIA;
    let body = Body {
        velocity: tilt.rotate(velocity),
        spin: tilt.rotate(spin),
        ..Body::free(MASS, inertia, tilt.rotate(Vec3::Z * RADIUS))
    };
    let ball = scene
        .add_body(body, Shape::Sphere { radius: RADIUS }, rough)
        .unwrap();
    scene.start().unwrap();
    (scene, ball)
}

fn run(scene: &mut Scene, h: f64, steps: usize) -> Vec<StepReport> {
    (0..steps)
        .map(|k| scene.step(k as f64 * h, h).unwrap())
        .collect()
}

/// A ball that rolls at v feels the moment c m g: it slows down by (5/7) c g/r, and stops after 7 v² r/(10 c g). Then it stays. The error falls with the
/// step.
#[test]
fn a_rolling_ball_stops_after_its_way() {
    let (c, v) = (2e-3, 0.5);
    let way = 7.0 * v * v * RADIUS / (10.0 * c * GRAVITY);
    let mut errors = Vec::new();
    for h in [4e-3, 2e-3] {
        let spin = Vec3::Y * (v / RADIUS);
        let (mut scene, ball) = ball(surface(0.5, c, 0.0), 0.0, Vec3::X * v, spin);
        let start = scene.kinetic_energy();
        let reports = run(&mut scene, h, (6.0 / h) as usize);
        assert!(reports.iter().all(|report| report.solved.unmet == 0));
        let [velocity, spin] = scene.velocity(ball);
        assert!(
            velocity.norm() < 1e-9 && spin.norm() < 1e-8,
            "{velocity:?} {spin:?}"
        );
        errors.push((scene.pose(ball).position[0] - way).abs());
        let lost: f64 = reports.iter().map(|report| report.dissipated).sum();
        assert!((lost - start).abs() < 1e-9, "{lost} of {start} J");
    }
    assert!(errors[0] < 0.002 * way, "{errors:?} of {way}");
    assert!(errors[1] < 0.6 * errors[0], "{errors:?}");
}

/// On a slope a ball rests while tan α is below c/r, and rolls with (5/7) g (sin α − (c/r) cos α) beyond.
#[test]
fn a_ball_on_a_slope_rests_or_rolls() {
    let c = 5e-3;
    let limit = (c / RADIUS).atan();
    for (tilt, rolls) in [(0.98 * limit, false), (1.5 * limit, true)] {
        let (mut scene, ball) = ball(surface(0.8, c, 0.0), tilt, Vec3::ZERO, Vec3::ZERO);
        let h = 1e-3;
        run(&mut scene, h, 1000);
        let speed = scene.velocity(ball)[0].norm();
        let expected = match rolls {
            true => 5.0 / 7.0 * GRAVITY * (tilt.sin() - c / RADIUS * tilt.cos()),
            false => 0.0,
        };
        assert!(
            (speed - expected).abs() < 1e-7,
            "{tilt}: {speed} {expected}"
        );
    }
}

/// A ball that spins about the vertical feels c m g: it stops after ω J/(c m g).
#[test]
fn a_spinning_ball_stops_in_time() {
    let (c, spin) = (1e-3, 20.0);
    let h = 1e-3;
    let (mut scene, ball) = ball(surface(0.5, 0.0, c), 0.0, Vec3::ZERO, Vec3::Z * spin);
    let stop = spin * INERTIA / (c * MASS * GRAVITY);
    let half = (0.5 * stop / h).round();
    run(&mut scene, h, half as usize);
    let left = spin - c * MASS * GRAVITY / INERTIA * half * h;
    assert!((scene.velocity(ball)[1][2] - left).abs() < 1e-6 * spin);
    run(&mut scene, h, (0.6 * stop / h) as usize);
    assert!(scene.velocity(ball)[1].norm() < 1e-8);
    assert!(scene.velocity(ball)[0].norm() < 1e-9);
}

/// A cylinder that stands and spins touches at several points: their torsional frictions add up to c m g, beside what friction does at the rim.
#[test]
fn moments_of_redundant_contacts_add_up() {
    let c = 2e-3;
    let mut scene = Scene::new(Options::default(), Coulomb::new(1e-9, 5000));
    let slippery = scene.add_surface(surface(0.0, 0.0, c)).unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    scene.add_body(floor, Shape::Plane, slippery).unwrap();
    let half = Vec3::new(0.1, 0.1, 0.05);
    let about = MASS * (0.2 * 0.2 + 0.2 * 0.2) / 12.0;
    let body = Body {
        spin: Vec3::Z * 5.0,
        ..Body::free(MASS, Vec3::new(0.9, 0.9, 1.0) * about, Vec3::Z * 0.05)
    };
    let block = scene.add_body(body, Shape::Box { half }, slippery).unwrap();
    scene.start().unwrap();
    run(&mut scene, 1e-3, 500);
    let left = 5.0 - c * MASS * GRAVITY / about * 0.5;
    assert!((scene.velocity(block)[1][2] - left).abs() < 1e-6);
}

#[test]
fn the_convex_law_does_not_know_it() {
    let mut scene = Scene::new(Options::default(), Cone::new(1e-9, 5000));
    let refused = scene.add_surface(surface(0.5, 1e-3, 0.0));
    assert!(matches!(refused, Err(ContactError::Surface { .. })));
}
