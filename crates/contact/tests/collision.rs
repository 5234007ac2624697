//! Contact points against what geometry says.

use std::sync::Arc;

use oldham_contact::narrow::{Point, collide};
use oldham_contact::{Can, HeightField, Polytope, Pose, Shape, Surface, Wall, World};
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
        mesh(&octahedron(0.35)),
        ground(|x, y| 0.1 * (x - y) - 0.2 * x * x),
        Shape::Can(Can::new(2.0, Some(3.0), Wall::Facets(12))),
        Shape::Can(Can::new(2.0, None, Wall::Round)),
    ]
}

fn mesh(points: &[Vec3]) -> Shape {
    Shape::Mesh(Arc::new(Polytope::hull(points).unwrap()))
}

fn octahedron(radius: f64) -> Vec<Vec3> {
    [Vec3::X, Vec3::Y, Vec3::Z]
        .into_iter()
        .flat_map(|axis| [axis * radius, axis * -radius])
        .collect()
}

/// The corners of a cuboid.
fn corners(half: Vec3) -> Vec<Vec3> {
    let sign = |bit: usize| if bit & 1 == 1 { 1.0 } else { -1.0 };
    let corner = |i: usize| {
        Vec3::new(
            sign(i) * half[0],
            sign(i >> 1) * half[1],
            sign(i >> 2) * half[2],
        )
    };
    (0..8).map(corner).collect()
}

/// A ground of 21 × 21 heights, 4 m wide.
fn ground(height: impl Fn(f64, f64) -> f64) -> Shape {
    let place = |k: usize| 0.2 * (k as f64 - 10.0);
    let rows: Vec<Vec<f64>> = (0..21)
        .map(|j| (0..21).map(|i| height(place(i), place(j))).collect())
        .collect();
    Shape::Field(Arc::new(HeightField::new(&rows, [0.2, 0.2]).unwrap()))
}

/// Exchanging two shapes turns the normals and changes nothing else; moving both moves everything with them.
#[test]
fn contact_is_symmetric_and_moves_with_its_bodies() {
    let mut found = 0;
    for a in all_shapes() {
        for b in all_shapes() {
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
                // The nearest place of a rim is known to the root of rounding; in a deep overlap the gap goes with the place.
                let rims = matches!((&a, &b), (Shape::Cylinder { .. }, Shape::Cylinder { .. }));
                let exact = if rims { 1e-7 } else { 1e-9 };
                let alike = std::mem::discriminant(&a) == std::mem::discriminant(&b)
                    && !matches!(a, Shape::Sphere { .. });
                let least = |found: &[Point]| found.iter().fold(1.0, |m: f64, p| m.min(p.gap));
                assert!(
                    (least(&one) - least(&other)).abs() < exact,
                    "{a:?} {b:?} {k}"
                );
                if !alike {
                    assert_eq!(one.len(), other.len());
                    for (p, q) in one.iter().zip(&other) {
                        assert!((p.gap - q.gap).abs() < 1e-12);
                        assert!((p.normal + q.normal).norm() < 1e-12);
                    }
                }
                for (p, r) in one.iter().zip(&moved) {
                    assert!((p.gap - r.gap).abs() < exact, "{a:?} {b:?} {k} {p:?} {r:?}");
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
    assert_eq!([found[0].feature >> 6, found[1].feature >> 6], [2, 3]);
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

/// A box and the same box as a mesh have the same contacts with everything.
#[test]
fn a_mesh_with_the_corners_of_a_box_touches_as_the_box_does() {
    let half = Vec3::new(0.2, 0.3, 0.4);
    let (as_box, as_mesh) = (Shape::Box { half }, mesh(&corners(half)));
    let other = Shape::Box {
        half: Vec3::new(0.25, 0.15, 0.3),
    };
    let mut found = 0;
    for k in 0..200 {
        let t = k as f64;
        let at = turned(Vec3::new(0.3 * t, 0.1, 0.2 * t), Vec3::ZERO);
        let away = Vec3::new((0.7 * t).sin(), (1.1 * t).cos(), (1.7 * t).sin()).unit();
        let at_other = turned(Vec3::new(0.5, 0.4 * t, -0.1 * t), away * 0.55);
        for (shape, at_shape) in [
            (other.clone(), at_other),
            (mesh(&corners(Vec3::new(0.25, 0.15, 0.3))), at_other),
        ] {
            let one = points(&as_box, &at, &other, &at_other, 0.02);
            let two = points(&as_mesh, &at, &shape, &at_shape, 0.02);
            let least = |all: &[Point]| all.iter().fold(1.0, |m: f64, p| m.min(p.gap));
            assert_eq!(one.is_empty(), two.is_empty(), "{k}");
            if let (Some(p), Some(q)) = (one.first(), two.first()) {
                assert!((least(&one) - least(&two)).abs() < 1e-6, "{k} {p:?} {q:?}");
                assert!((p.normal - q.normal).norm() < 1e-6, "{k} {p:?} {q:?}");
                assert!(two.len() <= 4 && two.is_sorted_by_key(|p| p.feature));
                found += 1;
            }
        }
    }
    assert!(found > 50, "{found}");
}

/// A tetrahedron stands on a floor, a box and a mesh on three points, under its corners.
#[test]
fn a_tetrahedron_stands_on_three_points() {
    let corners = [
        Vec3::new(1.0, 0.0, 0.0),
        Vec3::new(-0.5, 0.75_f64.sqrt(), 0.0),
        Vec3::new(-0.5, -(0.75_f64.sqrt()), 0.0),
        Vec3::new(0.0, 0.0, 1.4),
    ]
    .map(|p| p * 0.1);
    let solid = mesh(&corners);
    let slab = Vec3::new(0.5, 0.5, 0.1);
    let grounds = [
        (Shape::Plane, Pose::default()),
        (Shape::Box { half: slab }, Pose::at(Vec3::Z * -0.1)),
        (mesh(&self::corners(slab)), Pose::at(Vec3::Z * -0.1)),
        (ground(|_, _| 0.0), Pose::default()),
    ];
    for (below, at) in grounds {
        let found = points(&below, &at, &solid, &Pose::at(Vec3::Z * 1e-4), 1e-3);
        assert_eq!(found.len(), 3, "{found:?}");
        for p in &found {
            assert!((p.gap - 1e-4).abs() < 1e-12 && (p.normal - Vec3::Z).norm() < 1e-12);
            let under = corners.iter().map(|c| (*c - p.position).norm());
            assert!(under.fold(1.0, f64::min) < 1e-4);
        }
    }
}

/// Two cylinders: side on side along a line and across, end on end, end on side, rim on side.
#[test]
fn cylinders_touch_each_other_where_geometry_says() {
    let rod = |half_length: f64, radius: f64| Shape::Cylinder {
        half_length,
        radius,
    };
    let (log, short) = (rod(0.5, 0.1), rod(0.2, 0.05));
    let quarter = std::f64::consts::FRAC_PI_2;
    // Side by side: the ends of the shorter.
    let beside = Pose::at(Vec3::new(0.151, 0.0, 0.1));
    let found = points(&log, &Pose::default(), &short, &beside, 1e-2);
    assert_eq!(found.len(), 2, "{found:?}");
    for (p, z) in found.iter().zip([-0.1, 0.3]) {
        assert!((p.gap - 1e-3).abs() < 1e-12 && (p.normal - Vec3::X).norm() < 1e-12);
        assert!((p.position - Vec3::new(0.1005, 0.0, z)).norm() < 1e-12);
    }
    // Across: once, where the axes cross.
    let across = turned(Vec3::X * quarter, Vec3::new(0.149, 0.05, 0.2));
    let found = points(&log, &Pose::default(), &short, &across, 1e-2);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].gap + 1e-3).abs() < 1e-12);
    assert!((found[0].position - Vec3::new(0.0995, 0.0, 0.2)).norm() < 1e-9);
    // On the end of the other, in the middle and over its rim: within both ends, at most four, and around the middle of both.
    for aside in [0.0, 0.03, 0.09] {
        let on_top = Pose::at(Vec3::new(aside, 0.0, 0.7));
        let found = points(&log, &Pose::default(), &short, &on_top, 1e-3);
        assert!((3..=4).contains(&found.len()), "{aside}: {found:?}");
        for p in &found {
            assert!(p.gap.abs() < 1e-12 && (p.normal - Vec3::Z).norm() < 1e-12);
            let [x, y, _] = p.position.0;
            assert!(x.hypot(y) <= 0.1 + 1e-9 && (x - aside).hypot(y) <= 0.05 + 1e-9);
        }
        // The common area of the two ends reaches from its left to its right border; a rim touches with every third of a turn.
        let xs = found.iter().map(|p| p.position[0]);
        let (low, high) = xs.fold((1.0, -1.0), |(l, h): (f64, f64), x| (l.min(x), h.max(x)));
        let (left, right) = ((aside - 0.05_f64).max(-0.1), (aside + 0.05_f64).min(0.1));
        assert!(
            low - left < 0.03 && right - high < 0.02,
            "{aside}: {found:?}"
        );
    }
    // Equal ends, a little in each other: still along the axis.
    let twin = Pose::at(Vec3::new(0.0, 0.0, 1.0 - 1e-7));
    for p in points(&log, &Pose::default(), &log, &twin, 1e-3) {
        assert!((p.normal - Vec3::Z).norm() < 1e-12 && (p.gap + 1e-7).abs() < 1e-12);
    }
    // An end against a side: where the axis of the one meets the other, along a line across the end.
    let end_on = turned(Vec3::Y * quarter, Vec3::new(0.301, 0.0, 0.1));
    let found = points(&log, &Pose::default(), &short, &end_on, 1e-2);
    assert_eq!(found.len(), 2, "{found:?}");
    for (p, z) in found.iter().zip([0.15, 0.05]) {
        assert!((p.gap - 1e-3).abs() < 1e-12, "{found:?}");
        assert!((p.position[2] - z).abs() < 1e-9, "{found:?}");
    }
    // Leaning with its rim on the side: the lowest point of the rim.
    let lean: f64 = 0.5;
    let reach = 0.2 * lean.cos() + 0.05 * lean.sin();
    let leaning = turned(
        Vec3::Y * (quarter + lean),
        Vec3::new(0.1 + reach + 1e-3, 0.0, 0.0),
    );
    let found = points(&log, &Pose::default(), &short, &leaning, 1e-2);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].gap - 1e-3).abs() < 1e-9, "{found:?}");
    assert!((found[0].normal - Vec3::X).norm() < 1e-6, "{found:?}");
}

/// The distance of two cylinders is the least of many pairs of their points.
#[test]
fn gaps_of_cylinders_agree_with_the_nearest_of_many_surface_points() {
    let (one, other) = (
        Shape::Cylinder {
            half_length: 0.3,
            radius: 0.1,
        },
        Shape::Cylinder {
            half_length: 0.1,
            radius: 0.2,
        },
    );
    for k in 0..60 {
        let t = k as f64;
        let at = turned(Vec3::new(0.2 * t, 0.5, 0.1 * t), Vec3::ZERO);
        let away = Vec3::new((0.9 * t).sin(), (1.3 * t).cos(), (0.4 * t).sin()).unit();
        let at_other = turned(Vec3::new(1.0, -0.3 * t, 0.2), away * 0.5);
        let found = points(&one, &at, &other, &at_other, 1.0);
        let gap = found.iter().fold(1.0, |m: f64, p| m.min(p.gap));
        if gap < 0.0 {
            continue;
        }
        // Points all over the first, and their distances from the second.
        let mut nearest = f64::INFINITY;
        for i in 0..200 {
            let angle = std::f64::consts::TAU * i as f64 / 200.0;
            for j in -60_i32..=60 {
                let z = 0.3 * j as f64 / 60.0;
                for radius in [0.1, 0.06, 0.02] {
                    if radius < 0.1 && j.abs() < 60 {
                        continue;
                    }
                    let local = Vec3::new(radius * angle.cos(), radius * angle.sin(), z);
                    nearest = nearest.min(other.distance(at_other.locate(at.place(local))));
                }
            }
        }
        // Along the separating direction the gap is at most the distance, and it reaches it.
        assert!(gap <= nearest + 1e-9, "{k}: {gap} {nearest}");
        assert!(nearest - gap < 5e-3, "{k}: {gap} {nearest}");
    }
}

/// A ball on a ground that is flat has one contact wherever it is, also over edges and grid points; in a valley it has
/// two, and on a crest the one of the crest.
#[test]
fn a_ball_touches_the_ground_without_feeling_its_grid() {
    let ball = Shape::Sphere { radius: 0.3 };
    let slope = ground(|x, y| 0.3 * x + 0.2 * y);
    let normal = Vec3::new(-0.3, -0.2, 1.0).unit();
    for k in 0..200 {
        let t = k as f64;
        let foot = match k {
            0 => Vec3::ZERO,
            1 => Vec3::new(0.2, 0.1, 0.08),
            2 => Vec3::new(0.1, 0.1, 0.05),
            _ => {
                let (x, y) = (0.8 * (1.3 * t).sin(), 0.8 * (2.1 * t).cos());
                Vec3::new(x, y, 0.3 * x + 0.2 * y)
            }
        };
        let found = points(
            &slope,
            &Pose::default(),
            &ball,
            &Pose::at(foot + normal * 0.301),
            0.01,
        );
        assert_eq!(found.len(), 1, "{k}: {found:?}");
        assert!((found[0].gap - 1e-3).abs() < 1e-12);
        assert!((found[0].normal - normal).norm() < 1e-9, "{k}: {found:?}");
    }
    let valley = ground(|x, _| 0.75 * x.abs());
    // A ball in a groove of this slope is 1.25 radii above its bottom.
    let found = points(
        &valley,
        &Pose::default(),
        &ball,
        &Pose::at(Vec3::new(0.0, 0.07, 0.375)),
        1e-6,
    );
    assert_eq!(found.len(), 2, "{found:?}");
    for p in &found {
        assert!(p.gap.abs() < 1e-12, "{p:?}");
        assert!((p.normal[0].abs() - 0.6).abs() < 1e-12 && p.normal[1].abs() < 1e-12);
    }
    let crest = ground(|x, _| -0.75 * x.abs());
    let top = Pose::at(Vec3::new(0.05, 0.07, 0.3));
    let found = points(&crest, &Pose::default(), &ball, &top, 0.01);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!((found[0].gap - (0.3_f64.hypot(0.05) - 0.3)).abs() < 1e-12);
}

/// What is over a slab that is wider than thick is not under its lower face.
#[test]
fn a_cylinder_over_a_wide_slab_is_touched_from_above_alone() {
    let slab = Shape::Box {
        half: Vec3::new(2.0, 2.0, 0.5),
    };
    let cylinder = Shape::Cylinder {
        half_length: 0.12,
        radius: 0.24,
    };
    for k in 0..50 {
        let turn = Vec3::new(0.1 * k as f64, 0.3, 0.05 * k as f64);
        let at = turned(turn, Vec3::new(0.4, -0.1, 0.4));
        let below = Pose::at(Vec3::Z * -0.5);
        let found = points(&slab, &below, &cylinder, &at, 0.4);
        assert!(!found.is_empty());
        assert!(found.iter().all(|p| p.gap > 0.0 && p.normal[2] > 0.99));
    }
}
