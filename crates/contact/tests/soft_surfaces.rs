//! Surfaces with stiffness and damping, against closed forms of a mass on springs.

use oldham_contact::{Body, BodyId, Cone, ContactSolver, Options, Pivoting, Scene, Shape, Surface};
use oldham_space::Vec3;

const G: f64 = 9.81;
const MASS: f64 = 2.0;
const RADIUS: f64 = 0.1;

fn soft(stiffness: f64, damping: f64) -> Surface {
    Surface {
        stiffness,
        damping,
        ..Surface::rough(0.3)
    }
}

/// A body of 2 kg, 0.2 m high, that touches a floor.
fn on_floor(
    solver: impl ContactSolver + 'static,
    shape: Shape,
    [floor, own]: [Surface; 2],
    velocity: f64,
) -> (Scene, BodyId) {
    let options = Options {
        gravity: Vec3::Z * -G,
        ..Options::default()
    };
    let mut scene = Scene::new(options, solver);
    let [floor, own] = [floor, own].map(|surface| scene.add_surface(surface).unwrap());
    scene
        .add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, floor)
        .unwrap();
    let body = Body {
        velocity: Vec3::Z * velocity,
        ..Body::free(MASS, Vec3::new(0.01, 0.01, 0.01), Vec3::Z * RADIUS)
    };
    let body = scene.add_body(body, shape, own).unwrap();
    scene.start().unwrap();
    (scene, body)
}

fn run(scene: &mut Scene, steps: usize, h: f64) {
    for step in 0..steps {
        scene.step(step as f64 * h, h).unwrap();
    }
}

/// At rest each of n points carries m g / n with k times its depth, whatever the damping, the step and the solver; two surfaces yield as springs in series.
#[test]
fn a_body_sinks_in_by_its_weight_over_the_stiffness() {
    let sphere = Shape::Sphere { radius: RADIUS };
    let cube = Shape::Box {
        half: Vec3::new(RADIUS, RADIUS, RADIUS),
    };
    let rigid = Surface::rough(0.3);
    for (shape, points) in [(sphere, 1.0), (cube, 4.0)] {
        for (surfaces, k) in [
            ([rigid, soft(5000.0, 200.0)], 5000.0),
            ([soft(20000.0, 20.0), rigid], 20000.0),
            ([soft(10000.0, 100.0), soft(10000.0, 100.0)], 5000.0),
        ] {
            for h in [1e-3, 5e-4] {
                let steps = (4.0 / h) as usize;
                let depth = MASS * G / (points * k);
                let (mut scene, body) = on_floor(Pivoting::new(), shape.clone(), surfaces, 0.0);
                run(&mut scene, steps, h);
                let found = RADIUS - scene.pose(body).position[2];
                assert!(
                    (found / depth - 1.0).abs() < 1e-6,
                    "{k} {h}: {found} {depth}"
                );
                let (mut scene, body) =
                    on_floor(Cone::new(1e-10, 50_000), shape.clone(), surfaces, 0.0);
                run(&mut scene, steps, h);
                let found = RADIUS - scene.pose(body).position[2];
                assert!(
                    (found / depth - 1.0).abs() < 1e-4,
                    "{k} {h}: {found} {depth}"
                );
            }
        }
    }
}

/// A ball that meets a spring at speed v sinks in by δ = (g + √(g² + ω² v²))/ω², ω² = k/m, and comes back with √(v² + g²/ω²) at most. The force is taken where the step
/// ends: both errors are of first order and on the side of a loss.
#[test]
fn a_ball_is_thrown_back_by_a_soft_floor() {
    let (k, speed) = (5000.0, 1.0);
    let square = k / MASS;
    let depth = (G + (G * G + square * speed * speed).sqrt()) / square;
    let fastest = (speed * speed + G * G / square).sqrt();
    let errors = [2e-4, 1e-4, 5e-5].map(|h: f64| {
        let sphere = Shape::Sphere { radius: RADIUS };
        let surfaces = [Surface::rough(0.0), soft(k, 0.0)];
        let (mut scene, body) = on_floor(Pivoting::new(), sphere, surfaces, -speed);
        let (mut lowest, mut back) = (0.0_f64, 0.0_f64);
        for step in 0..(0.1 / h) as usize {
            scene.step(step as f64 * h, h).unwrap();
            lowest = lowest.max(RADIUS - scene.pose(body).position[2]);
            back = back.max(scene.velocity(body)[0][2]);
        }
        [1.0 - lowest / depth, 1.0 - back / fastest]
    });
    for [coarse, fine] in [[errors[0], errors[1]], [errors[1], errors[2]]] {
        for (coarse, fine) in coarse.into_iter().zip(fine) {
            assert!(
                fine > 0.0 && (coarse / fine - 2.0).abs() < 0.3,
                "{errors:?}"
            );
        }
    }
    assert!(errors[2].iter().all(|error| *error < 0.01), "{errors:?}");
}
