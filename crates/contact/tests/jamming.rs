//! A sleeve on a pole whose centre of mass is aside: it jams by friction, as the clamp of a carpenter or the woodpecker of a toy does.

use oldham_contact::{Body, BodyId, Options, Pivoting, Pose, Scene, Shape, Surface};
use oldham_space::Vec3;

const HEIGHT: f64 = 0.02;
const ASIDE: f64 = 0.05;
const TIP: f64 = 2e-3;

/// Points of a sleeve, on the left of a pole above and on its right below, and a centre of mass on the right; it tilts with 1 rad/s.
fn sleeve(friction: f64, beside: &[f64], gap: f64) -> (Scene, BodyId) {
    let mut scene = Scene::new(Options::default(), Pivoting::new());
    let rough = scene.add_surface(Surface::rough(friction)).unwrap();
    let pole = Shape::Box {
        half: Vec3::new(0.01, 0.01, 5.0),
    };
    scene
        .add_body(Body::prescribed(Vec3::ZERO), pole, rough)
        .unwrap();
    let moment = 0.1 * 4e-4;
    let body = Body {
        spin: Vec3::Y,
        ..Body::free(0.1, Vec3::new(moment, moment, moment), Vec3::X * ASIDE)
    };
    let at = |sign: f64, y: f64| {
        let x = -sign * (0.01 + TIP + gap) - ASIDE;
        let place = Pose::at(Vec3::new(x, y, sign * 0.5 * HEIGHT));
        (Shape::Sphere { radius: TIP }, place, rough)
    };
    let points = beside.iter().flat_map(|&y| [at(1.0, y), at(-1.0, y)]);
    let body = scene.add_compound(body, points).unwrap();
    scene.start().unwrap();
    (scene, body)
}

/// Pressed by its tilting, the sleeve stops and hangs where 2 μ L > H, and slides where it is less: friction μ N at both points turns it on with
/// 2 μ N L, the normal forces turn it back with N H. (Rigid bodies that nothing presses may fall freely as well: without the tilting no contact
/// begins to carry.)
#[test]
fn a_sleeve_jams_beyond_its_ratio_of_height_to_overhang_and_slides_below() {
    let h = 1e-4;
    let limit = HEIGHT / (2.0 * ASIDE);
    for (friction, jams) in [
        (0.5 * limit, false),
        (1.5 * limit, true),
        (3.0 * limit, true),
    ] {
        // Two points, or four of which two are redundant; without play, and with some.
        for (beside, gap) in [
            (&[0.0][..], 0.0),
            (&[-0.006, 0.006], 0.0),
            (&[0.0], 2e-5),
            (&[-0.006, 0.006], 2e-5),
        ] {
            let (mut scene, body) = sleeve(friction, beside, gap);
            let mut fallbacks = 0;
            for step in 0..500 {
                let report = scene.step(step as f64 * h, h).unwrap();
                assert!(report.residual < 1e-8, "{report:?}");
                fallbacks += usize::from(report.solved.fallback.is_some());
            }
            // Redundant points that are struck at once may take sweeps, in the step of the impact.
            assert!(fallbacks <= 1, "{friction} {beside:?} {gap}: {fallbacks}");
            let [velocity, spin] = scene.velocity(body);
            let free = 9.81 * 500.0 * h;
            match jams {
                true => assert!(
                    velocity.norm() < 1e-6 && spin.norm() < 1e-4,
                    "{friction} {beside:?} {gap}: {velocity:?}"
                ),
                false => assert!(velocity[2] < -0.5 * free, "{velocity:?}"),
            }
        }
    }
}
