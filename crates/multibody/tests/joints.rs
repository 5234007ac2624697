//! Joints and force elements of mechanisms against closed forms.

use oldham_multibody::{
    Body, Bushing, Cable, Coordinate, CoordinateForce, Drive, DrivenCoordinate,
    ElasticTransmission, ForceMap, Frictional, Hysteresis, Joint, Law, Load, LuGre, M3, Marker,
    Mat3, Model, Motion, NodeId, Options, PlaneCurve, PointOnCurve, Quaternion, Rod, System,
    Target, Transmission, Vec3,
};
use std::sync::Arc;

fn started(model: Model) -> System {
    let options = Options {
        account_energy: true,
        ..Options::default()
    };
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn advance(system: &mut System, h: f64, steps: usize) {
    (0..steps).for_each(|_| system.step(h, &[]).unwrap());
}

const MASS: f64 = 2.0;
const INERTIA: f64 = 0.4;

/// A body, and markers on the ground and on it where it is.
fn body(model: &mut Model, velocity: Vec3, spin: Vec3) -> (NodeId, [Marker; 2]) {
    let node = model.node("body", Motion::at(Vec3::ZERO).moving(velocity, spin));
    model.body(node, Body::centred(MASS, Mat3::IDENTITY * INERTIA));
    (node, [Marker::on(NodeId::GROUND), Marker::on(node)])
}

/// Kinetic, stored and lost energy is what was there and what was supplied.
fn assert_balanced(system: &System, at_start: f64, tolerance: f64) {
    let e = system.energy(&[]);
    let balance = e.kinetic + e.potential + e.dissipated - e.supplied - at_start;
    assert!(balance.abs() < tolerance, "{balance:e}: {e:?}");
}

#[test]
fn a_slide_and_a_cylinder_move_as_they_are_told() {
    let slide = || Drive::function(|t| 0.1 * t.sin());
    let angle = || Drive::function(|t| 7.0 * t);
    let mut model = Model::new();
    let (node, [a, b]) = body(&mut model, Vec3::ZERO, Vec3::ZERO);
    let joint = Joint::driven_cylindrical(a, b, Some(slide()), Some(angle()));
    model.element("cylinder", joint);
    let other = model.node("other", Motion::at(Vec3::X));
    model.body(other, Body::centred(MASS, Mat3::IDENTITY));
    let [a, b] = [NodeId::GROUND, other].map(|n| model.marker(n, Vec3::X));
    let prismatic = model.element("slide", Joint::driven_prismatic(a, b, slide()));
    let mut system = started(model);
    advance(&mut system, 1e-3, 2000);
    let t = system.time();
    for node in [node, other] {
        let z = system.motion(node).position[2];
        assert!((z - 0.1 * t.sin()).abs() < 1e-12, "{z}");
    }
    let rotation = system.motion(node).rotation.0;
    assert!((rotation[1][0] - (7.0 * t).sin()).abs() < 1e-12);
    // The force that drives it.
    let (force, _) = system.wrench(prismatic, 1, &[]);
    let expected = -MASS * 0.1 * t.sin();
    assert!(
        (force[2] - expected).abs() < 1e-5,
        "{} {expected}",
        force[2]
    );
}

/// A prescribed speed ω(t) = 2 + sin 3t, over several turns: the angle is its integral, the torque
/// J ω'.
#[test]
fn a_prescribed_speed_is_integrated() {
    let mut model = Model::new();
    let (node, ends) = body(&mut model, Vec3::ZERO, Vec3::ZERO);
    model.element("hinge", Joint::revolute(ends[0], ends[1]));
    let speed = Target::Rate(Drive::function(|t| 2.0 + (3.0 * t).sin()));
    let driven = DrivenCoordinate::new(Coordinate::Angle, ends, speed);
    let motor = model.element("motor", driven);
    let mut system = started(model);
    assert!((system.motion(node).angular_velocity[2] - 2.0).abs() < 1e-9);
    advance(&mut system, 1e-3, 5000);
    let t = system.time();
    let angle = 2.0 * t + (1.0 - (3.0 * t).cos()) / 3.0;
    let x = system.motion(node).rotation.column(0);
    assert!((x[0] - angle.cos()).abs() + (x[1] - angle.sin()).abs() < 1e-11);
    let (_, moment) = system.wrench(motor, 1, &[]);
    let expected = INERTIA * 3.0 * (3.0 * t).cos();
    assert!(
        (moment[2] - expected).abs() < 1e-5,
        "{} {expected}",
        moment[2]
    );
}

/// A mass runs into a stop and comes back: after Hunt and Crossley c v - ln(1 + c v) is the same
/// before and after, since v dv / (1 + c v) = -k x dx / m. The energy lost is that of the speeds.
#[test]
fn a_stop_gives_back_what_hunt_and_crossley_say() {
    for (coordinate, inertia) in [(Coordinate::Slide, MASS), (Coordinate::Angle, INERTIA)] {
        for side in [1.0, -1.0] {
            let (speed, damping) = (1.5, 0.4);
            let mut model = Model::new();
            let (node, ends) = body(&mut model, Vec3::Z * speed * side, Vec3::Z * speed * side);
            model.element("guide", Joint::cylindrical(ends[0], ends[1]));
            let law = Law::Stops {
                lower: -0.2,
                upper: 0.2,
                stiffness: 4e3 * inertia,
                damping,
            };
            model.element("stop", CoordinateForce::new(coordinate, ends, law, 0.0));
            let mut system = started(model);
            let at_start = system.energy(&[]).kinetic;
            advance(&mut system, 2e-5, 20_000);
            let motion = system.motion(node);
            let after = match coordinate {
                Coordinate::Slide => motion.velocity[2],
                Coordinate::Angle => motion.angular_velocity[2],
            };
            let kept = |v: f64| damping * v - (damping * v).ln_1p();
            let (before, after) = (kept(speed), kept(after * side));
            assert!((before - after).abs() < 1e-5 * before, "{before} {after}");
            assert_balanced(&system, at_start, 1e-5 * at_start);
        }
    }
}

/// T = T₀ (1 - ω/ω₀): the speed rises as ω₀ (1 - exp(-T₀ t / J ω₀)).
#[test]
fn a_motor_follows_its_characteristic() {
    let (stall, idle) = (6.0, 30.0);
    for command in [1.0, -0.5] {
        let mut model = Model::new();
        let (node, ends) = body(&mut model, Vec3::ZERO, Vec3::ZERO);
        model.element("hinge", Joint::revolute(ends[0], ends[1]));
        // With a negative command the motor brakes where it would else drive.
        let law = Law::Motor {
            points: [(-2.0 * idle, 3.0 * stall), (2.0 * idle, -stall)].into(),
            command: Drive::Constant(command),
        };
        model.element(
            "motor",
            CoordinateForce::new(Coordinate::Angle, ends, law, 0.0),
        );
        let mut system = started(model);
        advance(&mut system, 1e-3, 1000);
        let rate = command * stall / (INERTIA * idle);
        let expected = idle * (1.0 - (-rate * system.time()).exp());
        let speed = system.motion(node).angular_velocity[2];
        assert!((speed / expected - 1.0).abs() < 1e-5, "{speed} {expected}");
        assert_balanced(&system, 0.0, 1e-4 * speed * speed);
    }
}

/// A spring that only pulls: half a sine, then the mass flies on at its speed; one that only pushes
/// does the same from the other side.
#[test]
fn one_sided_springs_let_go() {
    let (k, amplitude) = (200.0_f64, 0.1);
    let linear = || {
        Box::new(Law::Linear {
            stiffness: k,
            damping: 0.0,
        })
    };
    for (law, side) in [
        (Law::Pulling(linear()), 1.0),
        (Law::Pushing(linear()), -1.0),
    ] {
        let mut model = Model::new();
        let node = model.node("body", Motion::at(Vec3::X * (1.0 + side * amplitude)));
        model.body(node, Body::centred(MASS, Mat3::IDENTITY));
        let rod = Rod::new(Marker::on(NodeId::GROUND), Marker::on(node), 1.0, law);
        model.element("spring", rod);
        let mut system = started(model);
        let at_start = system.energy(&[]).potential;
        advance(&mut system, 1e-4, 3000);
        let w = (k / MASS).sqrt();
        let released = std::f64::consts::FRAC_PI_2 / w;
        let expected = -side * amplitude * w * (system.time() - released);
        let found = system.motion(node).position[0] - 1.0;
        assert!((found - expected).abs() < 2e-5, "{found} {expected}");
        assert_balanced(&system, at_start, 1e-5 * at_start);
    }
}

/// A map of a linear spring and damper is one: x = A e^(-δt) (cos ωt + δ/ω sin ωt).
#[test]
fn a_map_over_elongation_and_rate_is_a_spring_and_a_damper() {
    let (k, c, amplitude) = (200.0_f64, 8.0_f64, 0.1);
    let (d, v) = (vec![-1.0, 0.0, 1.0], vec![-5.0, 0.0, 5.0]);
    let tensions = d.iter().flat_map(|d| v.iter().map(move |v| k * d + c * v));
    let map = ForceMap::new(d.clone(), v.clone(), tensions.collect()).unwrap();
    let mut model = Model::new();
    let node = model.node("body", Motion::at(Vec3::X * (1.0 + amplitude)));
    model.body(node, Body::centred(MASS, Mat3::IDENTITY));
    let ends = [Marker::on(NodeId::GROUND), Marker::on(node)];
    model.element(
        "strut",
        Rod::new(ends[0], ends[1], 1.0, Law::Given(Arc::new(map))),
    );
    let mut system = started(model);
    let at_start = system.energy(&[]).potential;
    advance(&mut system, 2e-4, 2500);
    let delta = c / (2.0 * MASS);
    let omega = (k / MASS - delta * delta).sqrt();
    let (s, co) = (omega * system.time()).sin_cos();
    let expected = amplitude * (-delta * system.time()).exp() * (co + delta / omega * s);
    let found = system.motion(node).position[0] - 1.0;
    assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    assert_balanced(&system, at_start, 1e-4 * at_start);
}

const DRY: LuGre = LuGre {
    coulomb: 0.2,
    stiction: 0.2,
    stribeck: 0.01,
    stiffness: 1e5,
    damping: 0.0,
    viscous: 0.0,
};

/// A block slides over a plane in some direction: it slows down at μ g and keeps its direction.
#[test]
fn a_block_on_a_plane_keeps_its_direction() {
    let (g, speed) = (9.81, 1.0);
    let direction = Vec3::new(0.6, -0.8, 0.0);
    let mut model = Model::new();
    model.gravity(Vec3::Z * -g);
    let (node, ends) = body(&mut model, direction * speed, Vec3::ZERO);
    let face = Frictional::planar(ends[0], ends[1], 0.1, 0.0, DRY);
    model.element("face", face);
    let mut system = started(model);
    let at_start = system.energy(&[]).kinetic;
    advance(&mut system, 5e-4, 600);
    let velocity = system.motion(node).velocity;
    let expected = direction * (speed - DRY.coulomb * g * system.time());
    assert!(
        (velocity - expected).norm() < 5e-3,
        "{velocity:?} {expected:?}"
    );
    assert!(velocity.cross(direction).norm() < 1e-9);
    assert_balanced(&system, at_start, 1e-2 * at_start);
    advance(&mut system, 5e-4, 1000);
    assert!(system.motion(node).velocity.norm() < 1e-6, "it rests");
}

/// On a sleeve with a normal force N, slip along and about the axis share the friction: the slip
/// (v, r ω) keeps its direction if the mass along it and about it are the same, m = J / r².
#[test]
fn a_sleeve_shares_its_friction_between_sliding_and_turning() {
    let radius = (INERTIA / MASS).sqrt();
    let (press, slide, turn) = (50.0, 0.8, 0.6);
    let mut model = Model::new();
    let spin = Vec3::Z * (turn / radius);
    let (node, ends) = body(&mut model, Vec3::Z * slide, spin);
    let sleeve = Frictional::cylindrical(ends[0], ends[1], radius, press, DRY);
    model.element("sleeve", sleeve);
    let mut system = started(model);
    advance(&mut system, 2e-4, 500);
    let motion = system.motion(node);
    let left = 1.0 - DRY.coulomb * press / MASS * system.time();
    let found = [motion.velocity[2], motion.angular_velocity[2] * radius];
    for (found, expected) in found.into_iter().zip([slide * left, turn * left]) {
        assert!((found - expected).abs() < 2e-3, "{found} {expected}");
    }
}

/// A ball in its socket, spinning about any axis, is slowed by μ N r; a cross by μ N r about each
/// arm that turns.
#[test]
fn balls_and_crosses_are_slowed() {
    let (radius, press, speed) = (0.05, 40.0, 6.0);
    let axis = Vec3::new(0.48, 0.6, 0.64);
    let slowed = |system: &System| speed - DRY.coulomb * press * radius / INERTIA * system.time();
    let mut model = Model::new();
    let (node, ends) = body(&mut model, Vec3::ZERO, axis * speed);
    let ball = Frictional::spherical(ends[0], ends[1], radius, press, DRY);
    model.element("ball", ball);
    let mut system = started(model);
    let at_start = system.energy(&[]).kinetic;
    advance(&mut system, 5e-4, 1000);
    let spin = system.motion(node).angular_velocity;
    let expected = slowed(&system);
    assert!(
        (spin - axis * expected).norm() < 2e-2,
        "{spin:?} {expected}"
    );
    assert_balanced(&system, at_start, 1e-2 * at_start);

    let mut model = Model::new();
    let (node, ends) = body(&mut model, Vec3::ZERO, Vec3::Y * speed);
    let cross = Frictional::universal(ends[0], ends[1], radius, press, DRY);
    model.element("cross", cross);
    let mut system = started(model);
    advance(&mut system, 5e-4, 1000);
    let spin = system.motion(node).angular_velocity;
    let expected = slowed(&system);
    assert!((spin - Vec3::Y * expected).norm() < 2e-2, "{spin:?}");
}

/// A bushing with a full matrix under a small load: displacement and rotation solve K q = f.
#[test]
fn a_bushing_with_a_full_matrix_yields_to_all_loads() {
    let along = M3([[5e3, 300.0, 0.0], [300.0, 4e3, 100.0], [0.0, 100.0, 6e3]]);
    let about = M3([[40.0, 3.0, 0.0], [3.0, 50.0, 2.0], [0.0, 2.0, 60.0]]);
    let mixed = M3([[0.0, 90.0, 10.0], [-60.0, 0.0, 30.0], [20.0, 5.0, 0.0]]);
    let mut model = Model::new();
    let (node, ends) = body(&mut model, Vec3::ZERO, Vec3::ZERO);
    let mut bushing = Bushing::new(ends[0], ends[1]);
    bushing.stiffness = along;
    bushing.rotational_stiffness = about;
    bushing.coupling = mixed;
    model.element("bushing", bushing);
    let (shift, turn) = (Vec3::new(1e-6, -2e-6, 5e-7), Vec3::new(2e-6, 1e-6, -3e-6));
    let force = along * shift + mixed * turn;
    let moment = mixed.transpose() * shift + about * turn;
    let drives = |v: Vec3| v.0.map(Drive::Constant);
    let load = Load::fixed(ends[1], drives(force), drives(moment));
    model.element("load", load);
    let mut system = System::new(model, Options::default()).unwrap();
    system.equilibrium(0.0, 1, &[]).unwrap();
    let motion = system.motion(node);
    assert!((motion.position - shift).norm() < 1e-10 * shift.norm() + 1e-10);
    assert!((motion.orientation.log() - turn).norm() < 1e-10);
}

/// Two inertias on a soft bushing that couples force and rotation: energy is kept, and lost only by
/// the damping.
#[test]
fn a_coupled_bushing_keeps_its_energy() {
    let mut model = Model::new();
    let (_, ends) = body(
        &mut model,
        Vec3::new(0.3, 0.1, 0.0),
        Vec3::new(0.0, 2.0, 1.0),
    );
    let mut bushing = Bushing::new(ends[0], ends[1]);
    bushing.stiffness = Mat3::IDENTITY * 100.0;
    bushing.rotational_stiffness = Mat3::IDENTITY * 20.0;
    bushing.coupling = M3([[0.0, 9.0, 1.0], [-6.0, 0.0, 3.0], [2.0, 5.0, 0.0]]);
    bushing.damping = Mat3::IDENTITY * 2.0;
    bushing.rotational_damping = Mat3::IDENTITY * 0.5;
    bushing.damping_coupling = M3([[0.0, 0.2, 0.0], [-0.1, 0.0, 0.1], [0.0, 0.1, 0.0]]);
    model.element("bushing", bushing);
    let mut system = started(model);
    let at_start = system.energy(&[]).kinetic;
    advance(&mut system, 1e-3, 2000);
    assert_balanced(&system, at_start, 2e-4 * at_start);
    assert!(system.energy(&[]).dissipated > 0.1 * at_start);
}

/// Two shafts at an angle: with a constant-velocity joint both turn alike at all times, with a
/// universal joint the second one's speed is that of Cardan.
#[test]
fn a_constant_velocity_joint_turns_both_shafts_alike() {
    let (tilt, speed) = (0.5_f64, 3.0);
    let second = Vec3::new(0.0, -tilt.sin(), tilt.cos());
    for is_constant in [true, false] {
        let mut model = Model::new();
        let driver = model.node("driver", Motion::at(Vec3::ZERO));
        let driven = model.node("driven", Motion::at(Vec3::ZERO));
        for node in [driver, driven] {
            model.body(node, Body::centred(1.0, Mat3::IDENTITY * 0.1));
        }
        let ends = [Marker::on(NodeId::GROUND), Marker::on(driver)];
        let turning = Joint::driven_revolute(ends[0], ends[1], Drive::function(move |t| speed * t));
        model.element("motor", turning);
        let tilted = Quaternion::exp(Vec3::X * tilt);
        let [a, b] = [Marker::on(driver), Marker::on(driven).oriented(tilted)];
        let joint = match is_constant {
            true => Joint::constant_velocity(a, b),
            false => Joint::universal(a, b),
        };
        model.element("joint", joint);
        let far = second * 0.7;
        let [a, b] = [NodeId::GROUND, driven].map(|n| model.axis_marker(n, far, second));
        model.element("bearing", Joint::in_line(a, b));
        let mut system = started(model);
        for _ in 0..50 {
            advance(&mut system, 1e-3, 20);
            let found = system.motion(driven).angular_velocity.dot(second);
            let angle = speed * system.time();
            // The first arm of the cross is along x at the start, normal to the plane of the shafts.
            let cardan = tilt.cos() / (1.0 - (tilt.sin() * angle.sin()).powi(2));
            let expected = if is_constant { speed } else { speed * cardan };
            assert!(
                (found - expected).abs() < 1e-4 * speed,
                "{found} {expected}"
            );
        }
    }
}

/// An eccentric circle as a cam: the follower above it is at e sin φ + √(r² - e² cos² φ).
#[test]
fn an_eccentric_cam_lifts_its_follower() {
    let (e, r, speed) = (0.03_f64, 0.1_f64, 5.0);
    let count = 240;
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / count as f64;
    let points = (0..count).map(|i| [e + r * angle(i).cos(), r * angle(i).sin()]);
    let curve = PlaneCurve::new(points.collect(), true).unwrap();
    let mut model = Model::new();
    let cam = model.node("cam", Motion::at(Vec3::ZERO));
    model.body(cam, Body::centred(1.0, Mat3::IDENTITY * 0.01));
    let ends = [Marker::on(NodeId::GROUND), Marker::on(cam)];
    let turning = Joint::driven_revolute(ends[0], ends[1], Drive::function(move |t| speed * t));
    model.element("motor", turning);
    let height = (r * r - e * e).sqrt();
    let follower = model.node("follower", Motion::at(Vec3::Y * height));
    model.body(follower, Body::centred(MASS, Mat3::IDENTITY));
    let [a, b] =
        [NodeId::GROUND, follower].map(|n| model.axis_marker(n, Vec3::Y * height, Vec3::Y));
    model.element("guide", Joint::prismatic(a, b));
    let ends = [Marker::on(cam), Marker::on(follower)];
    let contact = model.element("contact", PointOnCurve::new(ends, curve));
    let mut system = started(model);
    for _ in 0..40 {
        advance(&mut system, 5e-4, 100);
        let phi = speed * system.time();
        let root = (r * r - (e * phi.cos()).powi(2)).sqrt();
        let expected = e * phi.sin() + root;
        let found = system.motion(follower).position[1];
        assert!((found - expected).abs() < 1e-8, "{found} {expected}");
        // Its acceleration by differences of the closed form, and the force that causes it.
        let lift = |phi: f64| e * phi.sin() + (r * r - (e * phi.cos()).powi(2)).sqrt();
        let h = 1e-3;
        let bend = (lift(phi + h) - 2.0 * lift(phi) + lift(phi - h)) / (h * h);
        let (force, _) = system.wrench(contact, 1, &[]);
        let expected = MASS * speed * speed * bend;
        assert!(
            (force[1] - expected).abs() < 2e-3,
            "{} {expected}",
            force[1]
        );
    }
}

/// A weight on a cable over two pulleys and a counterweight: Atwood's machine. On a stiff cable the
/// acceleration is g (m₁ - m₂) / (m₁ + m₂), and the tension 2 g m₁ m₂ / (m₁ + m₂).
#[test]
fn a_cable_over_pulleys_is_atwoods_machine() {
    let (m1, m2, g) = (3.0, 2.0, 9.81);
    let mut model = Model::new();
    model.gravity(Vec3::Z * -g);
    let body = |model: &mut Model, x: f64, mass: f64| {
        let node = model.node("body", Motion::at(Vec3::new(x, 0.0, -1.0)));
        model.body(node, Body::centred(mass, Mat3::IDENTITY));
        node
    };
    let [first, second] = [body(&mut model, 0.0, m1), body(&mut model, 1.0, m2)];
    let pulley = |x: f64| Marker::on(NodeId::GROUND).offset(Vec3::X * x);
    let points = [
        Marker::on(first),
        pulley(0.0),
        pulley(1.0),
        Marker::on(second),
    ];
    let tension = 2.0 * g * m1 * m2 / (m1 + m2);
    let (stiffness, damping) = (1e6, 3e3);
    let law = Law::Pulling(Box::new(Law::Linear { stiffness, damping }));
    let cable = Cable::new(&points, 3.0 - tension / stiffness, law);
    let cable = model.element("cable", cable);
    let mut system = started(model);
    let at_start = system.energy(&[]);
    let at_start = at_start.potential + at_start.kinetic;
    advance(&mut system, 1e-4, 4000);
    let t = system.time();
    let acceleration = g * (m1 - m2) / (m1 + m2);
    let fallen = -1.0 - system.motion(first).position[2];
    assert!(
        (fallen - 0.5 * acceleration * t * t).abs() < 1e-5,
        "{fallen}"
    );
    let risen = system.motion(second).position[2] + 1.0;
    assert!((risen - fallen).abs() < 1e-5);
    let (force, _) = system.wrench(cable, 0, &[]);
    assert!((force[2] - tension).abs() < 1e-3, "{} {tension}", force[2]);
    assert_balanced(&system, at_start, 1e-4);
}

/// Two wheels whose teeth give: ω² = k (r₁²/J₁ + r₂²/J₂) about the common motion; with backlash
/// nothing passes within it.
#[test]
fn a_gear_mesh_gives_and_has_play() {
    let (radii, inertias, k) = ([0.1, 0.2], [0.01, 0.04], 1e4);
    let wheels = |model: &mut Model, speed: f64| {
        [0, 1].map(|i: usize| {
            let spin = if i == 0 { speed } else { 0.0 };
            let motion = Motion::at(Vec3::X * i as f64).moving(Vec3::ZERO, Vec3::Z * spin);
            let node = model.node("wheel", motion);
            model.body(node, Body::centred(1.0, Mat3::IDENTITY * inertias[i]));
            let ends = [NodeId::GROUND, node].map(|n| model.marker(n, Vec3::X * i as f64));
            model.element("bearing", Joint::revolute(ends[0], ends[1]));
            (node, ends)
        })
    };
    let speed = 2.0;
    let mut model = Model::new();
    let [(first, a), (second, b)] = wheels(&mut model, speed);
    let law = Law::Linear {
        stiffness: k,
        damping: 0.0,
    };
    let mesh = ElasticTransmission::new(Transmission::gear(a, b, radii), law);
    model.element("mesh", mesh);
    let mut system = started(model);
    let at_start = system.energy(&[]).kinetic;
    advance(&mut system, 1e-4, 1000);
    let share: [f64; 2] = [0, 1].map(|i: usize| radii[i] * radii[i] / inertias[i]);
    let omega = (k * (share[0] + share[1])).sqrt();
    let slip = radii[0] * system.motion(first).angular_velocity[2]
        + radii[1] * system.motion(second).angular_velocity[2];
    let expected = radii[0] * speed * (omega * system.time()).cos();
    assert!((slip - expected).abs() < 1e-3, "{slip} {expected}");
    assert_balanced(&system, at_start, 1e-3 * at_start);

    let play = 0.05;
    let mut model = Model::new();
    let [_, (second, _)] = {
        let [(first, a), (second, b)] = wheels(&mut model, speed);
        let law = Law::Stops {
            lower: -0.5 * play,
            upper: 0.5 * play,
            stiffness: k,
            damping: 0.0,
        };
        let mesh = ElasticTransmission::new(Transmission::gear(a, b, radii), law);
        model.element("mesh", mesh);
        [(first, a), (second, b)]
    };
    let mut system = started(model);
    let touch = 0.5 * play / (radii[0] * speed);
    advance(&mut system, 1e-4, (touch * 1e4) as usize - 1);
    assert!(
        system.motion(second).angular_velocity.norm() < 1e-12,
        "not yet"
    );
    advance(&mut system, 1e-4, 300);
    assert!(
        system.motion(second).angular_velocity[2] < -0.1,
        "it drives"
    );
}

/// A spring with hysteresis, pulled to and fro by a prescribed motion with n = 1: the force of the
/// first loading is known, and a closed loop loses the energy that it dissipates.
#[test]
fn a_hysteretic_spring_follows_bouc_and_wen() {
    let (k, y, ratio, amplitude) = (1e3, 0.02, 0.1, 0.06);
    let mut model = Model::new();
    let node = model.node("end", Motion::at(Vec3::X));
    model.body(node, Body::centred(1e-3, Mat3::IDENTITY * 1e-3));
    let [a, b] = [NodeId::GROUND, node].map(|n| model.axis_marker(n, Vec3::X, Vec3::X));
    let motion = Drive::function(move |t| amplitude * (2.0 * t).sin());
    model.element("shaker", Joint::driven_prismatic(a, b, motion));
    let law = Law::Hysteresis(Hysteresis {
        stiffness: k,
        ratio,
        yield_at: y,
        exponent: 1.0,
        softness: 0.5,
    });
    let rod = Rod::new(Marker::on(NodeId::GROUND), Marker::on(node), 1.0, law);
    let spring = model.element("spring", rod);
    let mut system = started(model);
    advance(&mut system, 1e-3, 700);
    let d = amplitude * (2.0 * system.time()).sin();
    let expected = ratio * k * d + (1.0 - ratio) * k * y * (1.0 - (-d / y).exp());
    let (force, _) = system.wrench(spring, 0, &[]);
    assert!(
        (force[0] - expected).abs() < 1e-9,
        "{} {expected}",
        force[0]
    );
    advance(&mut system, 1e-3, 6000);
    let energy = system.energy(&[]);
    assert!(energy.dissipated > 1.0, "{energy:?}");
    assert_balanced(&system, 0.0, 1e-4 * energy.dissipated);
}

/// A winch lifts a weight by its cable: what it supplies is the work against gravity.
#[test]
fn a_winch_supplies_the_work_of_lifting() {
    let (mass, g) = (5.0, 9.81);
    let mut model = Model::new();
    model.gravity(Vec3::Z * -g);
    let node = model.node("load", Motion::at(Vec3::Z * -3.0));
    model.body(node, Body::centred(mass, Mat3::IDENTITY));
    let points = [
        Marker::on(NodeId::GROUND).offset(Vec3::X),
        Marker::on(NodeId::GROUND),
        Marker::on(node),
    ];
    let (stiffness, damping) = (2e4, 300.0);
    let stretch = mass * g / stiffness;
    let length = Drive::SmoothStep {
        start: 0.1,
        end: 1.1,
        from: 4.0 - stretch,
        to: 3.0 - stretch,
    };
    let law = Law::Pulling(Box::new(Law::Linear { stiffness, damping }));
    model.element("rope", Cable::new(&points, length, law));
    let mut system = started(model);
    let at_start = system.energy(&[]);
    let at_start = at_start.potential + at_start.kinetic;
    advance(&mut system, 2e-4, 10_000);
    assert!(
        (system.motion(node).position[2] + 2.0).abs() < 1e-4,
        "lifted by a metre"
    );
    let supplied = system.energy(&[]).supplied;
    let dissipated = system.energy(&[]).dissipated;
    let expected = mass * g * 1.0 + dissipated;
    assert!(
        (supplied / expected - 1.0).abs() < 1e-4,
        "{supplied} {expected}"
    );
    assert_balanced(&system, at_start, 1e-3);
}
