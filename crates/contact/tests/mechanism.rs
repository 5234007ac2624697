//! Contacts of bodies that joints hold together: the problem takes their mobility as one matrix.

use oldham_contact::problem::{Aim, Bodies, BodyMotion, Levers, Mechanism, Problem};
use oldham_contact::{Cone, ContactSolver, End, Pivoting, RowState, Touch};
use oldham_space::{Mat3, Vec3};

/// Contacts that touch, no more.
const NOTHING: Aim<'static> = Aim {
    own: &[0.0; 3],
    rate: 1.0,
    band: 0.0,
    limit: 0.0,
};

/// The mobility of bodies that turn together about one axis through a point, with a moment of inertia about it: each
/// part of the motion is the rate of the angle times a vector.
fn hinged(axis: Vec3, centres: &[Vec3], inertia: f64) -> Vec<f64> {
    let way: Vec<f64> = centres
        .iter()
        .flat_map(|centre| [axis.cross(*centre).0, axis.0].concat())
        .collect();
    let n = way.len();
    (0..n * n)
        .map(|k| way[k / n] * way[k % n] / inertia)
        .collect()
}

/// Two balls on one massless rod hinged at the origin; a third, free, is struck by the lower one. Plastic impact without
/// friction: the points share the velocity L d / (I + m d²) d of angular momentum L about the hinge.
#[test]
fn a_hinged_pair_strikes_a_free_ball() {
    let (hung, free) = (2.0, 3.0);
    let centres = [Vec3::Z * -0.5, Vec3::Z * -1.0];
    let inertia = hung * (0.25 + 1.0);
    let mobility = hinged(Vec3::Y, &centres, inertia);
    // The rod turns at −2 rad/s about y: the lower ball moves along +x.
    let rate = -2.0;
    let swinging = |centre: Vec3| BodyMotion {
        velocity: (Vec3::Y * rate).cross(centre),
        spin: Vec3::Y * rate,
        ..BodyMotion::default()
    };
    let ball = BodyMotion {
        inverse_mass: 1.0 / free,
        ..BodyMotion::default()
    };
    let motion = [swinging(centres[0]), swinging(centres[1]), ball];
    let touches = [Touch {
        normal: Vec3::X,
        gap: 0.0,
        ends: [End::new(1, 0), End::new(2, 0)],
    }];
    let levers = [Levers {
        arms: [Vec3::X * 0.1, Vec3::X * -0.1],
        friction: 0.0,
        compliance: 0.0,
        give: 0.0,
        turning: [0.0; 2],
        is_plain: false,
    }];
    let problem = Bodies {
        touches: &touches,
        aim: NOTHING,
        levers: &levers,
        grain_friction: 0.0,
        motion: &motion,
        inertia: &[Mat3::ZERO, Mat3::ZERO, Mat3::IDENTITY],
        radii: &[],
        mechanism: Mechanism {
            bodies: 2,
            mobility: &mobility,
        },
    };
    // The contact point is 1 m below the hinge.
    let expected = inertia * rate.abs() / (inertia + free);
    let solvers: [Box<dyn ContactSolver>; 2] =
        [Box::new(Cone::new(1e-13, 1000)), Box::new(Pivoting::new())];
    for mut solver in solvers {
        let (mut impulses, mut sets) = (vec![0.0; 3], vec![RowState::Open; 3]);
        let solved = solver.solve(&Problem::Bodies(problem), &mut impulses, &mut sets);
        assert!(solved.is_converged);
        let mut after = motion;
        problem.apply(&impulses, &mut after);
        assert!(
            (after[2].velocity - Vec3::X * expected).norm() < 1e-12,
            "{:?}",
            after[2]
        );
        for (body, centre) in centres.iter().enumerate() {
            let moved = after[body];
            assert!(
                (moved.velocity - moved.spin.cross(*centre)).norm() < 1e-12,
                "the hinge holds"
            );
        }
        assert!((after[1].velocity[0] - expected).abs() < 1e-12);
        assert!((impulses[0] - free * expected).abs() < 1e-12);
        assert_eq!(sets[0], RowState::Active);
    }
}

/// A free body given as a mechanism of its own answers as the body does, with friction and arms in any direction.
#[test]
fn a_free_body_is_a_mechanism_of_one() {
    let inverse = Mat3::diagonal(5.0, 7.0, 11.0);
    let mut mobility = vec![0.0; 36];
    for k in 0..3 {
        mobility[7 * k] = 2.0;
        mobility[7 * (k + 3)] = inverse.0[k][k];
    }
    let falling = BodyMotion {
        velocity: Vec3::new(0.3, -0.2, -1.0),
        inverse_mass: 2.0,
        spin: Vec3::new(0.1, 2.0, 0.5),
        ..BodyMotion::default()
    };
    let motion = [falling, BodyMotion::default()];
    let touch = |normal: Vec3| Touch {
        normal,
        gap: 0.0,
        ends: [End::new(0, 0), End::new(1, 0)],
    };
    let lever = |arm: Vec3| Levers {
        arms: [arm, Vec3::ZERO],
        friction: 0.4,
        compliance: 0.0,
        give: 0.0,
        turning: [0.0; 2],
        is_plain: false,
    };
    let touches = [touch(-Vec3::Z), touch(-Vec3::Z), touch(Vec3::X)];
    let levers = [
        lever(Vec3::new(0.2, 0.1, -0.3)),
        lever(Vec3::new(-0.2, 0.15, -0.3)),
        lever(Vec3::new(0.4, 0.0, 0.1)),
    ];
    let free = Bodies {
        touches: &touches,
        aim: NOTHING,
        levers: &levers,
        grain_friction: 0.0,
        motion: &motion,
        inertia: &[inverse, Mat3::ZERO],
        radii: &[],
        mechanism: Mechanism::default(),
    };
    let held = Bodies {
        mechanism: Mechanism {
            bodies: 1,
            mobility: &mobility,
        },
        ..free
    };
    for contact in 0..3 {
        let (one, other) = (free.block(contact), held.block(contact));
        for i in 0..3 {
            for j in 0..3 {
                assert!((one.0[i][j] - other.0[i][j]).abs() < 1e-14);
            }
        }
    }
    let solve = |problem: Bodies<'_>| {
        let (mut impulses, mut sets) = (vec![0.0; 9], vec![RowState::Open; 9]);
        let mut cone = Cone::new(1e-13, 10_000);
        assert!(
            cone.solve(&Problem::Bodies(problem), &mut impulses, &mut sets)
                .is_converged
        );
        assert!(problem.residual(&impulses) < 1e-12);
        impulses
    };
    for (one, other) in solve(free).iter().zip(solve(held)) {
        assert!((one - other).abs() < 1e-10, "{one} {other}");
    }
}
