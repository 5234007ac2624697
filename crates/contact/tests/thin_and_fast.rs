//! What is thin and fast: a plate of 1 mm, hit at 100 m/s with steps in which a body flies 0.5 m.

use oldham_contact::{Body, BodyId, Coulomb, Motion, Options, Scene, Shape, Surface};
use oldham_space::{Mat3, Vec3};

const STEP: f64 = 5e-3;
const SPEED: f64 = 100.0;
const STEPS: usize = 20;
const HALF: Vec3 = Vec3::new(1.0, 1.0, 0.5e-3);
const PLATE: f64 = 5.0;
const MASS: f64 = 1.0;

fn weightless() -> Scene {
    let options = Options {
        gravity: Vec3::ZERO,
        domain: 1e3,
        ..Options::default()
    };
    Scene::new(options, Coulomb::new(1e-8, 5000))
}

fn bodies() -> [Shape; 2] {
    let cube = Vec3::new(0.05, 0.05, 0.05);
    [Shape::Sphere { radius: 0.05 }, Shape::Box { half: cube }]
}

fn flying(height: f64, speed: f64) -> Body {
    Body {
        velocity: Vec3::Z * speed,
        ..Body::free(MASS, Vec3::new(1e-3, 1e-3, 1e-3), Vec3::Z * height)
    }
}

/// A free plate, at rest or moving towards the body or away from it: both stay on their sides, momentum is kept, and they go on together.
#[test]
fn a_free_plate_of_a_millimetre_stops_what_is_fast() {
    for shape in bodies() {
        for own_speed in [0.0, 20.0, -30.0] {
            // The first step ends before the plate, in it, or beyond.
            for height in [0.06, 0.2, 0.3, 0.31, 0.55, 0.8, 1.3] {
                let mut scene = weightless();
                let smooth = scene.add_surface(Surface::rough(0.3)).unwrap();
                let inertia = Vec3::new(1.7, 1.7, 3.4);
                let plate = Body {
                    velocity: Vec3::Z * own_speed,
                    ..Body::free(PLATE, inertia, Vec3::ZERO)
                };
                let plate = scene
                    .add_body(plate, Shape::Box { half: HALF }, smooth)
                    .unwrap();
                let body = flying(height, -SPEED);
                let body = scene.add_body(body, shape.clone(), smooth).unwrap();
                scene.start().unwrap();
                let momentum = scene.momentum();
                for step in 0..STEPS {
                    scene.step(step as f64 * STEP, STEP).unwrap();
                    let above = scene.pose(body).position[2] - scene.pose(plate).position[2];
                    assert!(
                        above > 0.05,
                        "{shape:?} from {height} m, plate at {own_speed} m/s, step {step}: {above}"
                    );
                }
                let lost = (scene.momentum() - momentum).norm();
                assert!(lost < 1e-10 * MASS * SPEED, "{lost}");
                let together = (PLATE * own_speed - MASS * SPEED) / (PLATE + MASS);
                for one in [plate, body] {
                    let [velocity, spin] = scene.velocity(one);
                    assert!((velocity[2] - together).abs() < 1e-6, "{velocity:?}");
                    assert!(spin.norm() < 1e-6, "{spin:?}");
                }
            }
        }
    }
}

/// The same with a plate on a guide that others move: it answers along its guide alone.
#[test]
fn a_guided_plate_of_a_millimetre_stops_what_is_fast() {
    let mut mobility = vec![0.0; 36];
    mobility[2 * 6 + 2] = 1.0 / PLATE;
    for shape in bodies() {
        for own_speed in [0.0, 20.0, -30.0] {
            for height in [0.06, 0.3, 0.55, 1.3] {
                let mut scene = weightless();
                let rough = scene.add_surface(Surface::rough(0.3)).unwrap();
                let plate = Body {
                    motion: Motion::Held,
                    velocity: Vec3::Z * own_speed,
                    ..Body::prescribed(Vec3::ZERO)
                };
                let plate = scene
                    .add_body(plate, Shape::Box { half: HALF }, rough)
                    .unwrap();
                // Beside the middle: the guide carries the moment.
                let mut body = flying(height, -SPEED);
                body.position += Vec3::X * 0.4;
                let body = scene.add_body(body, shape.clone(), rough).unwrap();
                scene.start().unwrap();
                for step in 0..STEPS {
                    advance(&mut scene, plate, &mobility, step);
                    let above = scene.pose(body).position[2] - scene.pose(plate).position[2];
                    assert!(
                        above > 0.05,
                        "{shape:?} from {height} m, plate at {own_speed} m/s, step {step}: {above}"
                    );
                }
                let together = (PLATE * own_speed - MASS * SPEED) / (PLATE + MASS);
                for one in [plate, body] {
                    let velocity = scene.velocity(one)[0];
                    assert!((velocity[2] - together).abs() < 1e-6, "{velocity:?}");
                }
            }
        }
    }
}

/// A step of a scene whose first body is moved here, as a mechanism would do it.
fn advance(scene: &mut Scene, plate: BodyId, mobility: &[f64], step: usize) {
    scene.begin(STEP).unwrap();
    let report = scene.finish(step as f64 * STEP, STEP, mobility).unwrap();
    let [velocity, spin] = scene.velocity(plate);
    let mut pose = *scene.pose(plate);
    pose.position += velocity * STEP;
    if report.is_separated {
        pose.position += scene.shift(plate)[0];
    }
    pose.axes = Mat3::scaled_identity(1.0);
    scene.place(plate, pose, velocity, spin);
}
