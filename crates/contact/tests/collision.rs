//! Contact points against what geometry says.

use oldham_contact::narrow::{Point, collide, is_known};
use oldham_contact::{Can, Pose, Shape, Surface, Wall, World};
use oldham_space::{Quaternion, Vec3};

fn points(a: &Shape, at_a: &Pose, b: &Shape, at_b: &Pose, reach: f64) -> Vec<Point> {
    let mut out = Vec::new();
    collide(a, at_a, b, at_b, reach, &mut out);
    out
}

fn turned(rotation: Vec3, position: Vec3) -> Pose {
    Pose {
        position,
        axes: Quaternion::exp(rotation).matrix(),
    }
}

fn all_shapes() -> Vec<Shape> {
    vec![
        Shape::Sphere { radius: 0.3 },
        Shape::Plane,
        Shape::Box {
            half: Vec3::new(0.2, 0.3, 0.4),
        },
        Shape::Capsule {
            half_length: 0.4,
            radius: 0.2,
        },
        Shape::Cylinder {
            half_length: 0.3,
            radius: 0.25,
        },
        Shape::Can(Can::new(2.0, Some(3.0), Wall::Facets(12))),
        Shape::Can(Can::new(2.0, None, Wall::Round)),
    ]
}

/// Exchanging two shapes turns the normals and changes nothing else; moving both moves everything with them.
#[test]
fn contact_is_symmetric_and_moves_with_its_bodies() {
    let mut found = 0;
    for a in all_shapes() {
        for b in all_shapes() {
            if !is_known(&a, &b) {
                continue;
            }
            for k in 0..30 {
                let t = k as f64;
                let at_a = turned(
                    Vec3::new(0.1 * t, 0.3, -0.2 * t),
                    Vec3::new(0.02 * t, 0.0, 0.1),
                );
                let at_b = turned(
                    Vec3::new(1.0, 0.2 * t, 0.4),
                    Vec3::new(0.5 + 0.01 * t, 0.05 * t - 0.6, 0.3),
                );
                let one = points(&a, &at_a, &b, &at_b, 0.1);
                let other = points(&b, &at_b, &a, &at_a, 0.1);
                let far = turned(Vec3::new(-0.7, 1.1, 0.3), Vec3::new(3.0, -2.0, 1.0));
                let moved = points(&a, &far.then(&at_a), &b, &far.then(&at_b), 0.1);
                assert_eq!(one.len(), moved.len(), "{a:?} {b:?} {k}");
                // Of two boxes or capsules the first is asked for its faces or its distance: only the least gap is the same.
                let alike = std::mem::discriminant(&a) == std::mem::discriminant(&b)
                    && !matches!(a, Shape::Sphere { .. });
                let least = |found: &[Point]| found.iter().fold(1.0, |m: f64, p| m.min(p.gap));
                assert!((least(&one) - least(&other)).abs() < 1e-9);
                if !alike {
                    assert_eq!(one.len(), other.len());
                    for (p, q) in one.iter().zip(&other) {
                        assert!((p.gap - q.gap).abs() < 1e-12);
                        assert!((p.normal + q.normal).norm() < 1e-12);
                    }
                }
                for (p, r) in one.iter().zip(&moved) {
                    assert!((p.gap - r.gap).abs() < 1e-9, "{a:?} {b:?} {k} {p:?} {r:?}");
                    assert!((far.axes * p.normal - r.normal).norm() < 1e-6);
                    found += 1;
                }
            }
        }
    }
    assert!(found > 500, "{found}");
}

/// A sphere's gap is the distance of its centre from the other solid's surface, found by walking over that surface.
#[test]
fn gaps_of_spheres_agree_with_the_nearest_of_many_surface_points() {
    let half = Vec3::new(0.2, 0.3, 0.4);
    let solid = Shape::Box { half };
    for k in 0..50 {
        let t = k as f64;
        let centre = Vec3::new((1.3 * t).sin(), (2.7 * t).cos(), (0.9 * t).sin()) * 0.7;
        let inside = (0..3).all(|i| centre[i].abs() < half[i]);
        let found = points(
            &solid,
            &Pose::default(),
            &Shape::Sphere { radius: 0.1 },
            &Pose::at(centre),
            10.0,
        );
        let mut nearest = f64::INFINITY;
        for face in 0..3 {
            for side in [-1.0, 1.0] {
                for i in -40..=40 {
                    for j in -40..=40 {
                        let mut p = Vec3::ZERO;
                        p[face] = side * half[face];
                        p[(face + 1) % 3] = half[(face + 1) % 3] * i as f64 / 40.0;
                        p[(face + 2) % 3] = half[(face + 2) % 3] * j as f64 / 40.0;
                        nearest = nearest.min((p - centre).norm());
                    }
                }
            }
        }
        let expected = if inside { -nearest } else { nearest } - 0.1;
        assert!(
            (found[0].gap - expected).abs() < 2e-3,
            "{k}: {} {expected}",
            found[0].gap
        );
    }
}

/// A box flat on another touches at the four corners of the common face.
#[test]
fn a_box_on_a_box_touches_at_four_corners_of_the_common_face() {
    let half = Vec3::new(0.1, 0.1, 0.1);
    let one = Shape::Box { half };
    let found = points(
        &one,
        &Pose::default(),
        &one,
        &Pose::at(Vec3::new(0.05, 0.0, 0.2)),
        1e-3,
    );
    assert_eq!(found.len(), 4);
    let mut corners: Vec<(i64, i64)> = found
        .iter()
        .map(|p| {
            (
                (p.position[0] * 1e3).round() as i64,
                (p.position[1] * 1e3).round() as i64,
            )
        })
        .collect();
    corners.sort();
    assert_eq!(corners, [(-50, -100), (-50, 100), (100, -100), (100, 100)]);
    for p in &found {
        assert!((p.normal - Vec3::Z).norm() < 1e-12 && p.gap.abs() < 1e-12);
    }
    let features: Vec<u32> = found.iter().map(|p| p.feature).collect();
    assert!(features.is_sorted());
}

/// Two boxes edge over edge at right angles touch once, where the edges cross.
#[test]
fn crossed_edges_touch_once() {
    let half = Vec3::new(0.1, 0.1, 0.5);
    let quarter = std::f64::consts::FRAC_PI_4;
    let one = Shape::Box { half };
    // The first lies along z with an edge up (towards x); the second above it along y with an edge down.
    let below = turned(Vec3::Z * quarter, Vec3::ZERO);
    let above = {
        let lying = Quaternion::exp(Vec3::X * std::f64::consts::FRAC_PI_2);
        let on_edge = Quaternion::exp(Vec3::Y * quarter);
        Pose {
            position: Vec3::new(2.0 * 0.1 * 2.0_f64.sqrt() + 1e-3, 0.05, 0.1),
            axes: on_edge.times(lying).matrix(),
        }
    };
    let found = points(&one, &below, &one, &above, 1e-2);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap - 1e-3).abs() < 1e-12, "{found:?}");
    assert!((found[0].normal - Vec3::X).norm() < 1e-12);
    let expected = Vec3::new(0.1 * 2.0_f64.sqrt() + 0.5e-3, 0.0, 0.1);
    assert!((found[0].position - expected).norm() < 1e-12);
}

/// A standing cylinder has three points of its rim on the floor, a lying one two.
#[test]
fn cylinders_stand_on_three_points_and_lie_on_two() {
    let rod = Shape::Cylinder {
        half_length: 0.3,
        radius: 0.1,
    };
    let standing = points(
        &Shape::Plane,
        &Pose::default(),
        &rod,
        &Pose::at(Vec3::Z * 0.3),
        1e-3,
    );
    assert_eq!(standing.len(), 3);
    let centre = standing.iter().fold(Vec3::ZERO, |sum, p| sum + p.position) * (1.0 / 3.0);
    assert!(
        centre.norm() < 1e-12,
        "the centre of mass lies between them"
    );
    let lying = turned(Vec3::X * std::f64::consts::FRAC_PI_2, Vec3::Z * 0.1);
    let found = points(&Shape::Plane, &Pose::default(), &rod, &lying, 1e-3);
    assert_eq!(found.len(), 2);
    assert!(((found[0].position - found[1].position).norm() - 0.6).abs() < 1e-12);
}

/// In the corner of a can a grain touches floor and wall; between two flat walls both.
#[test]
fn a_can_is_touched_by_every_wall_within_reach() {
    let ball = Shape::Sphere { radius: 0.1 };
    let round = Shape::Can(Can::new(1.0, Some(2.0), Wall::Round));
    let corner = Pose::at(Vec3::new(0.9 * 0.6, 0.9 * 0.8, 0.1));
    let found = points(&round, &Pose::default(), &ball, &corner, 1e-3);
    assert_eq!(found.len(), 2);
    assert!((found[0].normal - Vec3::Z).norm() < 1e-15);
    assert!((found[1].normal + Vec3::new(0.6, 0.8, 0.0)).norm() < 1e-12);
    let prism = Shape::Can(Can::new(1.0, None, Wall::Facets(6)));
    let edge = 0.9 / (std::f64::consts::PI / 6.0).cos();
    let angle = std::f64::consts::PI / 6.0;
    let between = Pose::at(Vec3::new(edge * angle.cos(), edge * angle.sin(), 0.5));
    let found = points(&prism, &Pose::default(), &ball, &between, 1e-3);
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|p| p.gap.abs() < 1e-12));
    assert_eq!([found[0].feature >> 3, found[1].feature >> 3], [2, 3]);
}

/// A hundred thousand grains on a lattice that touch their neighbours along three axes: exactly so many contacts, in order.
#[test]
fn a_hundred_thousand_grains_have_the_contacts_of_their_lattice() {
    let (along, across, up) = (50, 50, 40);
    let mut world = World::new(1e-4);
    let rough = world.add_surface(Surface::rough(0.3)).unwrap();
    let centres: Vec<Vec3> = (0..along * across * up)
        .map(|i| {
            Vec3::new(
                (i % along) as f64,
                (i / along % across) as f64,
                (i / (along * across)) as f64,
            ) * 2.0e-3
        })
        .collect();
    world.add_grains(&vec![1e-3; centres.len()], rough).unwrap();
    world.find(&[], &centres);
    let expected =
        (along - 1) * across * up + along * (across - 1) * up + along * across * (up - 1);
    assert_eq!(world.touches().len(), expected);
    let keys: Vec<_> = (0..expected).map(|contact| world.key(contact)).collect();
    assert!(keys.is_sorted());
    assert!(world.touches().iter().all(|touch| touch.gap.abs() < 1e-12));
}

/// A cylinder stands on a box on three points of its rim, lies along it on the lowest points of both rims, and lies across a
/// narrow one on its two edges.
#[test]
fn a_cylinder_rests_on_a_box_as_on_a_floor_and_on_edges() {
    let rod = Shape::Cylinder {
        half_length: 0.3,
        radius: 0.1,
    };
    let wide = Shape::Box {
        half: Vec3::new(0.5, 0.5, 0.2),
    };
    let on_top = |found: &[Point], count: usize| {
        assert_eq!(found.len(), count, "{found:?}");
        for point in found {
            // The place of a least distance is known to the root of rounding, the distance to rounding.
            assert!(point.gap.abs() < 1e-12, "{point:?}");
            assert!((point.normal - Vec3::Z).norm() < 1e-7, "{point:?}");
        }
    };
    let standing = Pose::at(Vec3::new(0.1, -0.1, 0.5));
    on_top(&points(&wide, &Pose::default(), &rod, &standing, 1e-3), 3);
    let quarter = Vec3::Y * std::f64::consts::FRAC_PI_2;
    let lying = turned(quarter, Vec3::Z * 0.3);
    on_top(&points(&wide, &Pose::default(), &rod, &lying, 1e-3), 2);
    let narrow = Shape::Box {
        half: Vec3::new(0.1, 0.5, 0.2),
    };
    let found = points(&narrow, &Pose::default(), &rod, &lying, 1e-3);
    on_top(&found, 2);
    let mut across: Vec<f64> = found.iter().map(|p| p.position[0]).collect();
    across.sort_by(f64::total_cmp);
    assert!((across[0] + 0.1).abs() < 1e-9 && (across[1] - 0.1).abs() < 1e-9);
    // A corner of the box against the round side: the distance from the axis decides.
    let tilted = turned(Vec3::new(0.0, 0.0, 0.4), Vec3::ZERO);
    let beside = Pose::at(Vec3::new(0.75, 0.3, 0.0));
    let cube = Shape::Box {
        half: Vec3::new(0.5, 0.5, 0.5),
    };
    let found = points(&cube, &tilted, &rod, &beside, 1.0);
    let least = found.iter().map(|p| p.gap).fold(f64::INFINITY, f64::min);
    let local = tilted.locate(beside.position);
    let apart = Vec3::new((local[0] - 0.5).max(0.0), (local[1] - 0.5).max(0.0), 0.0).norm();
    assert!(
        (least - (apart - 0.1)).abs() < 1e-9,
        "{least} {}",
        apart - 0.1
    );
}
