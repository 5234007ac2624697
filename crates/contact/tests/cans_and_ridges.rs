//! Bodies inside a round can, and edges of bodies on ridges of a ground, against geometry and pendulums.

use std::f64::consts::{FRAC_PI_2, TAU};
use std::sync::Arc;

use oldham_contact::narrow::collide;
use oldham_contact::{
    Body, BodyId, Can, HeightField, Options, Pivoting, Pose, Scene, Shape, Surface, Wall,
};
use oldham_space::{Quaternion, Vec3};

const G: f64 = 9.81;

/// Numbers from 0 to 1.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 = (self.0.wrapping_mul(6364136223846793005)).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn vector(&mut self, size: f64) -> Vec3 {
        let mut part = || size * (2.0 * self.next() - 1.0);
        Vec3::new(part(), part(), part())
    }
}

/// The least gap between a cylinder and the round wall is that of ten thousand points of its rims.
#[test]
fn a_cylinder_touches_a_round_wall_where_its_rims_are_farthest_from_the_axis() {
    let can = Shape::Can(Can::new(1.0, None, Wall::Round));
    let (half_length, radius) = (0.45, 0.35);
    let cylinder = Shape::Cylinder {
        half_length,
        radius,
    };
    let mut random = Random(5);
    let mut found = 0;
    for _ in 0..200 {
        let at_can = Pose {
            position: random.vector(1.0),
            axes: Quaternion::exp(random.vector(2.0)).matrix(),
        };
        let inner = Pose {
            position: random.vector(0.5) + Vec3::Z * 2.0,
            axes: Quaternion::exp(random.vector(3.0)).matrix(),
        };
        let at = at_can.then(&inner);
        let mut points = Vec::new();
        collide(&can, &at_can, &cylinder, &at, 0.2, &mut points);
        let rim = |k: usize| {
            let angle = TAU * (k / 2) as f64 / 5000.0;
            let end = if k.is_multiple_of(2) {
                half_length
            } else {
                -half_length
            };
            let local = Vec3::new(radius * angle.cos(), radius * angle.sin(), end);
            let [x, y, _] = inner.place(local).0;
            1.0 - x.hypot(y)
        };
        let least = (0..10_000).map(rim).fold(f64::INFINITY, f64::min);
        let gap = points.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
        if least < 0.19 {
            assert!((gap - least).abs() < 1e-6, "{gap} {least}");
            found += 1;
        }
        assert!(points.len() <= 4);
        for point in &points {
            // Normals point from the wall to its axis.
            let across = at_can.axes.transpose_mul(point.normal);
            let place = at_can.locate(point.position);
            assert!(across[2].abs() < 1e-12);
            assert!(across.dot(Vec3::new(place[0], place[1], 0.0)) < 0.0);
        }
    }
    assert!(found > 100, "{found}");
}

/// A cylinder that stands in the middle of the can is touched on all sides where it just fits.
#[test]
fn a_plug_is_held_on_all_sides() {
    let can = Shape::Can(Can::new(1.0, None, Wall::Round));
    let plug = Shape::Cylinder {
        half_length: 0.5,
        radius: 0.999,
    };
    let mut points = Vec::new();
    let at = Pose::at(Vec3::Z);
    collide(&can, &Pose::default(), &plug, &at, 0.01, &mut points);
    assert_eq!(points.len(), 4);
    let sum = points.iter().fold(Vec3::ZERO, |sum, p| sum + p.normal);
    assert!(sum.norm() < 1e-12);
    assert!(points.iter().all(|p| (p.gap - 1e-3).abs() < 1e-12));
}

/// The period of a body that rocks at the bottom of a can which lies along y.
fn period(
    shape: Shape,
    orientation: Quaternion,
    mass: f64,
    inertia: Vec3,
    start: Vec3,
    friction: f64,
) -> f64 {
    let h = 5e-4;
    let mut scene = Scene::new(Options::default(), Pivoting::new());
    let surface = scene.add_surface(Surface::rough(friction)).unwrap();
    let lying = Body {
        orientation: Quaternion::exp(Vec3::X * -FRAC_PI_2),
        ..Body::prescribed(Vec3::Y * -3.0)
    };
    let can = Shape::Can(Can::new(1.0, None, Wall::Round));
    scene.add_body(lying, can, surface).unwrap();
    let body = Body {
        orientation,
        ..Body::free(mass, inertia, start)
    };
    let body = scene.add_body(body, shape, surface).unwrap();
    scene.start().unwrap();
    // From one passage to the right to the next.
    let mut passed = Vec::new();
    let mut last = start[0];
    for step in 0..40_000 {
        scene.step(step as f64 * h, h).unwrap();
        let now = scene.pose(body).position[0];
        if last < 0.0 && now >= 0.0 {
            passed.push((step as f64 - last / (now - last)) * h);
        }
        last = now;
        if passed.len() == 2 {
            return passed[1] - passed[0];
        }
    }
    panic!("it does not rock: {passed:?}");
}

/// A cylinder and a capsule that roll without slip swing with ω² = g / ((R − r) (1 + J/(m r²))), without friction with g/(R − r); a box whose corners slide on the wall
/// is a rigid pendulum about the axis of the can.
#[test]
fn bodies_in_a_can_are_pendulums() {
    let (radius, mass, swing) = (0.3, 2.0, 0.05_f64);
    let arm = 1.0 - radius;
    let lying = Quaternion::exp(Vec3::X * -FRAC_PI_2);
    let at = Vec3::new(arm * swing.sin(), 0.0, -arm * swing.cos());
    let about = 0.5 * mass * radius * radius;
    let long = Vec3::new(0.3, 0.3, about);
    let shapes = [
        Shape::Cylinder {
            half_length: 0.4,
            radius,
        },
        Shape::Capsule {
            half_length: 0.4,
            radius,
        },
    ];
    // Large swings are slower by 1 + a²/16, and 2e-3 is left for the step.
    let expect = |square: f64| TAU / square.sqrt() * (1.0 + swing * swing / 16.0);
    for shape in shapes {
        for (friction, square) in [(0.8, G / (1.5 * arm)), (0.0, G / arm)] {
            let found = period(shape.clone(), lying, mass, long, at, friction);
            let name = shape.name();
            assert!(
                (found / expect(square) - 1.0).abs() < 2e-3,
                "{name} {friction}: {found}"
            );
        }
    }
    let half = Vec3::new(0.4, 0.5, 0.2);
    let depth = (1.0 - half[0] * half[0]).sqrt() - half[2];
    let inertia = Vec3::new(
        half[1] * half[1] + half[2] * half[2],
        half[0] * half[0] + half[2] * half[2],
        half[0] * half[0] + half[1] * half[1],
    ) * (mass / 3.0);
    let square = mass * G * depth / (inertia[1] + mass * depth * depth);
    let turn = Quaternion::exp(Vec3::Y * -swing);
    let at = turn.rotate(Vec3::Z * -depth);
    let found = period(Shape::Box { half }, turn, mass, inertia, at, 0.0);
    assert!((found / expect(square) - 1.0).abs() < 2e-3, "box: {found}");
}

/// Two ridges along y at x = ±1, of height 1, without grid points between their ends.
fn two_ridges() -> Shape {
    let row = vec![0.0, 1.0, 0.0, 1.0, 0.0];
    let field = HeightField::new(&[row.clone(), row], [1.0, 4.0]).unwrap();
    Shape::Field(Arc::new(field))
}

/// Bars that lie across two ridges, far from corners and crests, press on them by the law of the lever.
#[test]
fn bars_rest_across_two_ridges() {
    let (mass, h) = (3.0, 1e-3);
    let lying = Quaternion::exp(Vec3::Y * FRAC_PI_2);
    let bars = [
        (
            Shape::Box {
                half: Vec3::new(1.6, 0.2, 0.1),
            },
            Quaternion::default(),
        ),
        (
            Shape::Capsule {
                half_length: 1.5,
                radius: 0.1,
            },
            lying,
        ),
        (
            Shape::Cylinder {
                half_length: 1.6,
                radius: 0.1,
            },
            lying,
        ),
    ];
    for (bar, orientation) in bars {
        let name = bar.name();
        let mut scene = Scene::new(Options::default(), Pivoting::new());
        let surface = scene.add_surface(Surface::rough(0.5)).unwrap();
        let ground = scene.add_body(Body::prescribed(Vec3::ZERO), two_ridges(), surface);
        let ground = ground.unwrap();
        let aside = 0.25;
        let body = Body {
            orientation,
            ..Body::free(mass, Vec3::new(1.0, 1.0, 1.0), Vec3::new(aside, 0.3, 1.11))
        };
        let body = scene.add_body(body, bar, surface).unwrap();
        scene.start().unwrap();
        for step in 0..400 {
            scene.step(step as f64 * h, h).unwrap();
        }
        let [velocity, spin] = scene.velocity(body);
        assert!(
            velocity.norm() + spin.norm() < 1e-6,
            "{name}: {velocity:?} {spin:?}"
        );
        let height = scene.pose(body).position[2];
        assert!((height - 1.1).abs() < 2e-6, "{name}: {height}");
        let [force, moment] = scene.reaction(ground);
        assert!((force[2] + mass * G).abs() < 1e-6, "{name}: {force:?}");
        assert!(
            (moment[1] - mass * G * aside).abs() < 1e-4,
            "{name}: {moment:?}"
        );
    }
}

/// Boxes that come to rest on rough ground are nowhere in it, nor the ground in them, by points sampled on the edges of both.
#[test]
fn boxes_on_rough_ground_rest_on_edges_too() {
    let mut random = Random(11);
    let rows: Vec<Vec<f64>> = (0..7)
        .map(|_| (0..7).map(|_| 0.35 * random.next()).collect())
        .collect();
    let field = HeightField::new(&rows, [0.6, 0.6]).unwrap();
    let half = Vec3::new(0.5, 0.35, 0.15);
    let shape = Shape::Box { half };
    for trial in 0..8 {
        let mut scene = Scene::new(Options::default(), Pivoting::new());
        let surface = scene.add_surface(Surface::rough(0.7)).unwrap();
        let ground = Shape::Field(Arc::new(field.clone()));
        scene
            .add_body(Body::prescribed(Vec3::ZERO), ground, surface)
            .unwrap();
        let inertia = Vec3::new(0.1, 0.2, 0.3);
        let body = Body {
            orientation: Quaternion::exp(random.vector(0.4) + Vec3::Z * (6.0 * random.next())),
            ..Body::free(2.0, inertia, random.vector(0.4) + Vec3::Z * 1.3)
        };
        let body = scene.add_body(body, shape.clone(), surface).unwrap();
        scene.start().unwrap();
        for step in 0..2000 {
            scene.step(step as f64 * 1e-3, 1e-3).unwrap();
        }
        assert_apart(&scene, body, half, &field, trial);
    }
}

/// Edges of the box are over the ground, edges of the ground outside the box.
fn assert_apart(scene: &Scene, body: BodyId, half: Vec3, field: &HeightField, trial: usize) {
    let pose = scene.pose(body);
    let shape = Shape::Box { half };
    let [width, depth] = field.counts();
    for j in 0..depth {
        for i in 0..width {
            for (right, up) in [(1, 0), (0, 1), (1, 1)] {
                if i + right >= width || j + up >= depth {
                    continue;
                }
                let (from, to) = (field.point(i, j), field.point(i + right, j + up));
                for k in 0..=40 {
                    let point = from + (to - from) * (k as f64 / 40.0);
                    let depth = -shape.distance(pose.locate(point));
                    assert!(
                        depth < 2e-3,
                        "trial {trial}: the ground is {depth} m in the box"
                    );
                }
            }
        }
    }
}
