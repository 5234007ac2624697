//! Piles of boxes that land: steps of 2.5 ms in which bodies move by a tenth of their size.

use oldham_contact::bench::{PILE_TOLERANCE, Solid, pile};
use oldham_contact::narrow::collide;
use oldham_contact::{Body, BodyId, Coulomb, Options, Pose, Scene, Shape, Surface};
use oldham_space::{Quaternion, Vec3};

/// Boxes fall by up to 1 m onto each other. No box enters another one by more than its surface turns within a step: (ω h)² r/2 with 25 rad/s is 0.2 mm,
/// and impacts at several corners within a step add up to a few of these; 7 mm and more say that a corner was not looked at.
#[test]
fn boxes_that_land_do_not_enter_each_other() {
    let mut pile = pile(Solid::Box, 30).unwrap();
    let found = pile.land(&|| 0.0).unwrap();
    assert!(found.pressed > 20.0);
    assert!(found.penetration < 1e-3, "{found:?}");
    assert!(found.unmet * 50 <= found.steps, "{found:?}");
    assert!(found.residual < 100.0 * PILE_TOLERANCE, "{found:?}");
}

/// Where two edges meet, the faces beside them are nearly parallel, and a corner comes down next: the points of the face are known, none of them nearer than
/// the boxes are.
#[test]
fn corners_beside_edges_are_contacts_as_well() {
    let half = Vec3::new(0.08, 0.06, 0.05);
    let shape = Shape::Box { half };
    let mut with_edges = 0;
    for k in 0..400 {
        let t = k as f64;
        let tilt = Vec3::new(0.05 * (1.3 * t).sin(), 0.05 * (0.7 * t).cos(), t);
        let at = Vec3::new(0.09 * (2.1 * t).sin(), 0.07 * (1.7 * t).cos(), 0.106);
        let upper = Pose {
            position: at,
            axes: Quaternion::exp(tilt).matrix(),
        };
        let mut points = Vec::new();
        collide(&shape, &Pose::default(), &shape, &upper, 0.02, &mut points);
        let Some(met) = points.iter().find(|p| p.feature >= 1 << 20) else {
            continue;
        };
        assert!(points.iter().all(|p| p.gap >= met.gap));
        if met.normal[2] > 0.99 {
            with_edges += 1;
            assert!(points.len() > 1, "{k}: {points:?}");
        }
    }
    assert!(with_edges > 20, "{with_edges}");
}

/// A box in free fall above one that is about to stop: both are as fast, and none of them approaches the other until the lower one has landed.
#[test]
fn a_box_sees_that_the_one_below_it_will_stop() {
    let mut scene = Scene::new(Options::default(), Coulomb::new(1e-7, 5000));
    let rough = scene.add_surface(Surface::rough(0.5)).unwrap();
    let floor = Body::prescribed(Vec3::ZERO);
    scene.add_body(floor, Shape::Plane, rough).unwrap();
    let half = Vec3::new(0.1, 0.1, 0.05);
    for z in [0.06, 0.162] {
        let body = Body {
            velocity: Vec3::Z * -5.0,
            ..Body::free(1.0, Vec3::new(4.2e-3, 4.2e-3, 6.7e-3), Vec3::Z * z)
        };
        scene.add_body(body, Shape::Box { half }, rough).unwrap();
    }
    scene.start().unwrap();
    let h = 5e-3;
    for step in 0..20 {
        let report = scene.step(step as f64 * h, h).unwrap();
        assert!(report.penetration < 1e-6, "step {step}: {report:?}");
    }
    let height = scene.pose(BodyId(2)).position[2];
    assert!((height - 0.15).abs() < 1e-5, "{height}");
}
