//! Meshes, cylinders and height fields in motion, against closed forms.

use std::sync::Arc;

use oldham_contact::{
    Body, BodyId, HeightField, Options, Pivoting, Polytope, Scene, Shape, Surface, SurfaceId,
};
use oldham_space::{Quaternion, Vec3};

const G: f64 = 9.81;

/// A scene with one surface.
fn scene(friction: f64) -> (Scene, SurfaceId) {
    let mut scene = Scene::new(Options::default(), Pivoting::new());
    let surface = scene.add_surface(Surface::rough(friction)).unwrap();
    (scene, surface)
}

/// A ground that falls along x.
fn slope(angle: f64) -> Shape {
    let rows: Vec<Vec<f64>> = (0..21)
        .map(|_| {
            (0..61)
                .map(|i| -0.1 * (i as f64 - 30.0) * angle.tan())
                .collect()
        })
        .collect();
    Shape::Field(Arc::new(HeightField::new(&rows, [0.1, 0.1]).unwrap()))
}

/// Moments of inertia of a solid cuboid.
fn cuboid(mass: f64, half: Vec3) -> Vec3 {
    let [x, y, z] = half.0.map(|h| h * h * mass / 3.0);
    Vec3::new(y + z, z + x, x + y)
}

fn run(scene: &mut Scene, steps: usize, h: f64) {
    for step in 0..steps {
        let report = scene.step(step as f64 * h, h).unwrap();
        assert!(report.residual < 1e-7, "step {step}: {report:?}");
    }
}

/// A ball rolls down a slope of heights with 5/7 g sin α, a solid cylinder with 2/3 g sin α: over some grid lines, without feeling them.
#[test]
fn round_bodies_roll_down_a_height_field() {
    let (angle, radius, mass, h) = (0.2_f64, 0.1, 2.0, 1e-3);
    let up = Vec3::new(angle.sin(), 0.0, angle.cos());
    let lying = Quaternion::exp(Vec3::X * std::f64::consts::FRAC_PI_2);
    let ball = 0.4 * mass * radius * radius;
    let about = 0.5 * mass * radius * radius;
    let across = mass * (3.0 * radius * radius + 0.36) / 12.0;
    let cases = [
        (
            Shape::Sphere { radius },
            Vec3::new(ball, ball, ball),
            5.0 / 7.0,
        ),
        (
            Shape::Cylinder {
                half_length: 0.3,
                radius,
            },
            Vec3::new(across, across, about),
            2.0 / 3.0,
        ),
    ];
    for (shape, inertia, share) in cases {
        let (mut scene, rough) = scene(0.6);
        let name = shape.name();
        scene
            .add_body(Body::prescribed(Vec3::ZERO), slope(angle), rough)
            .unwrap();
        let body = Body {
            orientation: lying,
            ..Body::free(mass, inertia, up * radius + Vec3::new(0.0, 0.013, 0.0))
        };
        let body = scene.add_body(body, shape, rough).unwrap();
        scene.start().unwrap();
        let steps = 600;
        run(&mut scene, steps, h);
        let speed = scene.velocity(body)[0].norm();
        let expected = share * G * angle.sin() * steps as f64 * h;
        assert!(
            (speed - expected).abs() < 2e-3 * expected,
            "{name}: {speed} {expected}"
        );
        let height = up.dot(scene.pose(body).position);
        assert!((height - radius).abs() < 1e-5, "{name}: {height}");
    }
}

/// Three logs: the upper one presses each of the lower ones with W/(2 cos 30°), and the angle is that of the line of centres.
#[test]
fn three_logs_carry_each_other_as_statics_says() {
    let (radius, mass, h) = (0.1, 5.0, 1e-3);
    let (mut scene, smooth) = scene(0.0);
    let log = Shape::Cylinder {
        half_length: 0.5,
        radius,
    };
    let lying = Quaternion::exp(Vec3::X * std::f64::consts::FRAC_PI_2);
    let lower: Vec<BodyId> = [-radius, radius]
        .into_iter()
        .map(|x| {
            let body = Body {
                orientation: lying,
                ..Body::prescribed(Vec3::X * x)
            };
            scene.add_body(body, log.clone(), smooth).unwrap()
        })
        .collect();
    let about = 0.5 * mass * radius * radius;
    let across = mass * (3.0 * radius * radius + 1.0) / 12.0;
    let body = Body {
        orientation: lying,
        ..Body::free(
            mass,
            Vec3::new(across, across, about),
            Vec3::new(0.0, 0.1, 3.0_f64.sqrt() * radius),
        )
    };
    let upper = scene.add_body(body, log, smooth).unwrap();
    scene.start().unwrap();
    run(&mut scene, 200, h);
    assert!(scene.velocity(upper)[0].norm() < 1e-9);
    let push = mass * G / (2.0 * (std::f64::consts::PI / 6.0).cos());
    for (body, side) in lower.into_iter().zip([-1.0, 1.0]) {
        let [force, _] = scene.reaction(body);
        let expected = Vec3::new(side * 0.5, 0.0, -(0.75_f64.sqrt())) * push;
        assert!(
            (force - expected).norm() < 1e-6 * push,
            "{force:?} {expected:?}"
        );
    }
}

/// The hull of a cuboid slides and stays on a slope as the cuboid does: on a plane, on a box, on a mesh and on heights.
#[test]
fn a_mesh_stays_below_the_friction_angle_and_slides_above_it() {
    let (friction, h, steps) = (0.5_f64, 1e-3, 300);
    let half = Vec3::new(0.1, 0.08, 0.05);
    let sign = |bit: usize| if bit & 1 == 1 { 1.0 } else { -1.0 };
    let corners = |half: Vec3| -> Vec<Vec3> {
        (0..8)
            .map(|i| {
                Vec3::new(
                    sign(i) * half[0],
                    sign(i >> 1) * half[1],
                    sign(i >> 2) * half[2],
                )
            })
            .collect()
    };
    let mesh = |half: Vec3| Shape::Mesh(Arc::new(Polytope::hull(&corners(half)).unwrap()));
    let slab = Vec3::new(3.0, 1.0, 0.2);
    let limit = friction.atan();
    for angle in [0.97 * limit, 1.03 * limit] {
        let tilt = Quaternion::exp(Vec3::Y * angle);
        let flat = |shape: Shape, below: f64| (shape, tilt, tilt.rotate(Vec3::Z * -below));
        let grounds = [
            flat(Shape::Plane, 0.0),
            flat(Shape::Box { half: slab }, slab[2]),
            flat(mesh(slab), slab[2]),
            (slope(angle), Quaternion::default(), Vec3::ZERO),
        ];
        for (ground, orientation, position) in grounds {
            let (mut scene, rough) = scene(friction);
            let name = ground.name();
            let below = Body {
                orientation,
                ..Body::prescribed(position)
            };
            scene.add_body(below, ground, rough).unwrap();
            let block = Body {
                orientation: tilt,
                ..Body::free(2.0, cuboid(2.0, half), tilt.rotate(Vec3::Z * half[2]))
            };
            let block = scene.add_body(block, mesh(half), rough).unwrap();
            scene.start().unwrap();
            run(&mut scene, steps, h);
            let speed = scene.velocity(block)[0].norm();
            let acceleration = (G * (angle.sin() - friction * angle.cos())).max(0.0);
            let expected = acceleration * steps as f64 * h;
            assert!(
                (speed - expected).abs() < 1e-6,
                "{name}, {angle}: {speed} {expected}"
            );
        }
    }
}

/// A stack of a mesh, a cylinder and a mesh on heights stands: nothing moves, and the ground carries the weight.
#[test]
fn a_stack_of_solids_stands_on_a_height_field() {
    let (mut scene, rough) = scene(0.5);
    let level = slope(0.0);
    let ground = scene
        .add_body(Body::prescribed(Vec3::ZERO), level, rough)
        .unwrap();
    let radius = 0.12;
    let prism: Vec<Vec3> = (0..12)
        .map(|i| {
            let angle = std::f64::consts::TAU * (i % 6) as f64 / 6.0;
            let z = if i < 6 { -0.05 } else { 0.05 };
            Vec3::new(radius * angle.cos(), radius * angle.sin(), z)
        })
        .collect();
    let hexagon = Shape::Mesh(Arc::new(Polytope::hull(&prism).unwrap()));
    let drum = Shape::Cylinder {
        half_length: 0.05,
        radius: 0.1,
    };
    let inertia = Vec3::new(0.01, 0.01, 0.015);
    let mut bodies = Vec::new();
    for (k, shape) in [hexagon.clone(), drum.clone(), hexagon, drum]
        .into_iter()
        .enumerate()
    {
        let at = Vec3::new(0.02 + 0.01 * k as f64, 0.03, 0.05 + 0.1 * k as f64);
        let body = scene
            .add_body(Body::free(2.0, inertia, at), shape, rough)
            .unwrap();
        bodies.push((body, at));
    }
    scene.start().unwrap();
    run(&mut scene, 1000, 5e-3);
    for (body, at) in bodies {
        let moved = (scene.pose(body).position - at).norm();
        assert!(moved < 1e-7, "{body:?} moved by {moved}");
    }
    let [force, _] = scene.reaction(ground);
    assert!((force + Vec3::Z * (8.0 * G)).norm() < 1e-5, "{force:?}");
}
