//! Impacts about an edge, in closed form: a block that rocks, a wheel that climbs a step.

use oldham_contact::{Body, BodyId, Coulomb, Options, Pose, Scene, Shape, Surface};
use oldham_space::{Quaternion, Vec3};

const G: f64 = 9.81;

/// A slender block is let go at half its critical angle. It turns about one edge, and goes on about the other with 1 − 3/2 sin² α of its angular velocity, up to cos(α − θ₁) − cos α = (1 − 3/2 sin² α)² (cos(α − θ₀) − cos α): G. Housner,
/// Bulletin of the Seismological Society of America 53 (1963) 403–417. Where within a step the other edge arrives is chance, and moves the answer by as much as the
/// error itself: all errors stay below a bound proportional to the step, and means over steps of nearly the same length fall with it.
#[test]
fn a_rocking_block_loses_what_housner_says() {
    let half = Vec3::new(0.1, 0.15, 0.4);
    let alpha = half[0].atan2(half[2]);
    let start = 0.5 * alpha;
    let ratio = 1.0 - 1.5 * alpha.sin().powi(2);
    let swing = (alpha - start).cos() - alpha.cos();
    let expected = alpha - (alpha.cos() + ratio * ratio * swing).acos();
    let mut errors = Vec::new();
    for h in [1e-3, 5e-4, 2.5e-4] {
        let steps = [0.9, 0.94, 0.98, 1.02, 1.06, 1.1];
        let apart = steps.map(|share| height_of_swing(half, start, share * h) / expected - 1.0);
        assert!(apart.iter().all(|e| e.abs() < 40.0 * h), "{h}: {apart:?}");
        errors.push(apart.iter().sum::<f64>() / steps.len() as f64);
    }
    println!("{expected} rad, {errors:?}");
    assert!(errors[2].abs() < 0.01, "{errors:?}");
    // A quarter of the step: a quarter of the error, up to the scatter of six.
    let falls = errors[2] / errors[0];
    assert!((0.15..0.35).contains(&falls), "{falls} {errors:?}");
}

/// The angle at which a block turns round that was let go at another one, on the other side.
fn height_of_swing(half: Vec3, start: f64, h: f64) -> f64 {
    let mut scene = Scene::new(Options::default(), Coulomb::new(1e-9, 5000));
    let rough = scene.add_surface(Surface::rough(1.0)).unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    scene.add_body(floor, Shape::Plane, rough).unwrap();
    let orientation = Quaternion::exp(Vec3::Y * start);
    let edge = orientation.rotate(Vec3::new(half[0], 0.0, -half[2]));
    let squares = Vec3::new(
        half[1] * half[1] + half[2] * half[2],
        half[0] * half[0] + half[2] * half[2],
        half[0] * half[0] + half[1] * half[1],
    );
    let body = Body {
        orientation,
        ..Body::free(3.0, squares, -edge)
    };
    let block = scene.add_body(body, Shape::Box { half }, rough).unwrap();
    scene.start().unwrap();
    let mut highest = 0.0_f64;
    for step in 0..(2.0 / h) as usize {
        let report = scene.step(step as f64 * h, h).unwrap();
        assert!(report.residual < 1e-9, "step {step}: {report:?}");
        let tilt = -scene.pose(block).axes.column(2)[0].asin();
        if highest > 0.0 && tilt < highest - 1e-4 {
            break;
        }
        highest = highest.max(tilt);
    }
    highest
}

/// A wheel rolls against a step of height s: about the edge it goes on with 1 − 2 s/(3 r) of its angular velocity, and lifts itself onto the step.
#[test]
fn a_wheel_climbs_a_step() {
    let (radius, step_height, speed): (f64, f64, f64) = (0.25, 0.03, 1.2);
    let share = 1.0 - 2.0 / 3.0 * step_height / radius;
    let expected = ((speed * share).powi(2) - 4.0 / 3.0 * G * step_height).sqrt();
    let mut errors = Vec::new();
    for h in [1e-3, 2.5e-4] {
        let mut scene = Scene::new(Options::default(), Coulomb::new(1e-9, 5000));
        let rough = scene.add_surface(Surface::rough(1.5)).unwrap();
        let half = Vec3::new(1.0, 0.5, 0.5 * step_height);
        let shapes = [
            (Shape::Plane, Pose::default(), rough),
            (
                Shape::Box { half },
                Pose::at(Vec3::new(1.3, 0.0, 0.5 * step_height)),
                rough,
            ),
        ];
        let ground = Body::prescribed(Vec3::ZERO);
        scene.add_compound(ground, shapes).unwrap();
        let half_length = 0.1;
        let (mass, square) = (2.0, radius * radius);
        let about = 0.25 * square + half_length * half_length / 3.0;
        let body = Body {
            orientation: Quaternion::exp(Vec3::X * std::f64::consts::FRAC_PI_2),
            velocity: Vec3::X * speed,
            spin: Vec3::Y * (speed / radius),
            ..Body::free(
                mass,
                Vec3::new(about, about, 0.5 * square) * mass,
                Vec3::Z * radius,
            )
        };
        let shape = Shape::Cylinder {
            half_length,
            radius,
        };
        let wheel: BodyId = scene.add_body(body, shape, rough).unwrap();
        scene.start().unwrap();
        for step in 0..(0.7 / h) as usize {
            scene.step(step as f64 * h, h).unwrap();
        }
        let height = scene.pose(wheel).position[2];
        assert!(
            (height - radius - step_height).abs() < 1e-4,
            "{height} m, not on the step"
        );
        errors.push(scene.velocity(wheel)[0][0] / expected - 1.0);
    }
    println!("{expected} m/s, {errors:?}");
    assert!(errors[1].abs() < 0.01, "{errors:?}");
}
