//! Rigid mechanisms against closed forms and published values.

mod elliptic;

use elliptic::{TUMBLING, Tumbling};
use oldham_multibody::{
    Body, Drive, ElementId, Joint, Law, Marker, Mat3, Method, Model, Motion, NodeId, Options,
    Quaternion, Rod, System, Vec3,
};
use std::f64::consts::FRAC_PI_2;

fn system(model: Model, options: Options) -> System {
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn run(system: &mut System, end: f64, steps: usize) {
    let h = (end - system.time()) / steps as f64;
    for _ in 0..steps {
        system.step(h, &[]).unwrap();
    }
}

fn about_z(angle: f64) -> Quaternion {
    Quaternion::exp(Vec3::Z * angle)
}

fn angle_about_z(motion: &Motion) -> f64 {
    motion.rotation.0[1][0].atan2(motion.rotation.0[0][0])
}

/// Zhang et al., Sect. 4.2: L = 0.4 m, 1 kg, J = 1 kg m², both links start at 90° with 0.5 rad/s.
/// Angles from the hanging position. With the model come its links and the joint between them.
fn double_pendulum() -> (Model, [NodeId; 2], ElementId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let spin = Vec3::Z * 0.5;
    let link = |i: f64| {
        let position = Vec3::new(0.4 * i + 0.2, 0.0, 0.0);
        Motion::at_rest(position, about_z(FRAC_PI_2)).moving(spin.cross(position), spin)
    };
    let first = model.node("first", link(0.0));
    let second = model.node("second", link(1.0));
    for node in [first, second] {
        model.body(node, Body::centred(1.0, Mat3::IDENTITY));
    }
    let ends = [(NodeId::GROUND, first, 0.0), (first, second, 0.4)];
    let [_, last] = ends.map(|(a, b, x)| {
        let place = Vec3::new(x, 0.0, 0.0);
        let [a, b] = [a, b].map(|node| model.axis_marker(node, place, Vec3::Z));
        model.element(format!("hinge at {x}"), Joint::revolute(a, b))
    });
    (model, [first, second], last)
}

/// Values of an independent integration of the two equations of motion.
#[test]
fn double_pendulum_follows_its_reference() {
    let (model, nodes, _) = double_pendulum();
    let mut system = system(model, Options::default());
    for (time, steps, expected) in [
        (1.0, 5000, [-0.1350319, 1.2429792]),
        (5.0, 20000, [-1.4820032, 0.5494338]),
    ] {
        run(&mut system, time, steps);
        for (node, expected) in nodes.into_iter().zip(expected) {
            let error = angle_about_z(system.motion(node)) - expected;
            assert!(error.abs() < 3e-6, "{error:e} at {time} s");
        }
    }
    let counters = system.counters();
    assert!(
        counters.iterations < counters.micro_steps * 13 / 10,
        "{counters:?}"
    );
    assert!(
        counters.factorisations < counters.micro_steps / 40,
        "{counters:?}"
    );
}

/// Errors in position, velocity and multipliers against a much finer run.
#[test]
fn lms2_and_generalised_alpha_are_of_second_order_in_positions_velocities_and_multipliers() {
    for method in [
        Method::Lms2 { rho: 0.6 },
        Method::GeneralisedAlpha { rho: 0.6 },
    ] {
        assert_second_order(method);
    }
}

fn assert_second_order(method: Method) {
    let end = |steps: usize| {
        let (model, nodes, joint) = double_pendulum();
        let options = Options {
            tolerance: 1e-10,
            method,
            ..Options::default()
        };
        let mut system = system(model, options);
        run(&mut system, 1.0, steps);
        let motion = *system.motion(nodes[1]);
        let reaction = system.wrench(joint, 1, &[]).0;
        [motion.position, motion.velocity, reaction]
    };
    let exact = end(12800);
    let (coarse, fine) = (end(200), end(400));
    for i in 0..3 {
        let ratio = (coarse[i] - exact[i]).norm() / (fine[i] - exact[i]).norm();
        assert!(
            (ratio.log2() - 2.0).abs() < 0.15,
            "{method:?}, quantity {i}: order {}",
            ratio.log2()
        );
    }
}

#[test]
fn backward_euler_is_of_first_order() {
    let end = |steps: usize, method| {
        let (model, nodes, _) = double_pendulum();
        let mut system = system(
            model,
            Options {
                method,
                ..Options::default()
            },
        );
        run(&mut system, 0.5, steps);
        angle_about_z(system.motion(nodes[1]))
    };
    let exact = end(8000, Method::default());
    let error = |steps| (end(steps, Method::BackwardEuler) - exact).abs();
    let order = (error(500) / error(1000)).log2();
    assert!((order - 1.0).abs() < 0.1, "{order}");
}

#[test]
fn torque_free_body_tumbles_as_the_elliptic_functions_say() {
    let Tumbling { j, start } = TUMBLING;
    let mut model = Model::new();
    let body = model.node("body", Motion::at(Vec3::ZERO).moving(Vec3::ZERO, start));
    model.body(body, Body::centred(1.0, Mat3::diagonal(j[0], j[1], j[2])));
    let mut system = system(
        model,
        Options {
            tolerance: 1e-9,
            ..Options::default()
        },
    );
    let before = system.energy(&[]);
    run(&mut system, 10.0, 10000);
    let motion = system.motion(body);
    let in_body = motion.rotation.transpose_mul(motion.angular_velocity);
    let error = (in_body - TUMBLING.spin(10.0)).norm();
    assert!(error < 2e-5, "{in_body:?} {:?}", TUMBLING.spin(10.0));
    // Moment of momentum: J ω is constant in the absolute frame.
    let momentum = motion.rotation * (Mat3::diagonal(j[0], j[1], j[2]) * in_body);
    assert!(
        (momentum - Vec3::new(0.4, 0.0, 6.0)).norm() < 1e-9,
        "{momentum:?}"
    );
    let drift = system.energy(&[]).kinetic - before.kinetic;
    assert!(drift.abs() < 1e-5 * before.kinetic, "{drift:e}");
}

/// A heavy symmetric top in steady precession: J3 ω3 Ω - J1' Ω² cos θ... the slow and fast
/// precession rates solve (J1 cos θ) Ω² - (J3 ω3) Ω + m g l = 0 (Goldstein, Classical Mechanics,
/// Sect. 5.7), J1 about the tip, ω3 the whole spin about the axis.
#[test]
fn heavy_top_precesses_steadily() {
    let (mass, length, gravity, tilt) = (2.0_f64, 0.3, 9.81, 0.6_f64);
    let (j1_centre, j3) = (0.02, 0.01);
    let j1 = j1_centre + mass * length * length;
    let spin = 250.0;
    let (a, b, c) = (j1 * tilt.cos(), -j3 * spin, mass * gravity * length);
    let precession = (-b - (b * b - 4.0 * a * c).sqrt()) / (2.0 * a);
    let lean = Quaternion::exp(Vec3::X * tilt);
    let axis = lean.matrix() * Vec3::Z;
    let omega = Vec3::Z * precession + axis * (spin - precession * tilt.cos());
    let centre = axis * length;
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -gravity));
    let motion = Motion::at_rest(centre, lean).moving(omega.cross(centre), omega);
    let top = model.node("top", motion);
    model.body(
        top,
        Body::centred(mass, Mat3::diagonal(j1_centre, j1_centre, j3)),
    );
    let tip = model.marker(top, Vec3::ZERO);
    model.element("tip", Joint::spherical(Marker::on(NodeId::GROUND), tip));
    let mut system = system(model, Options::default());
    let time = 1.0;
    run(&mut system, time, 20000);
    let now = system.motion(top).position;
    let expected = about_z(precession * time).matrix() * centre;
    assert!(
        (now - expected).norm() < 1e-4 * length,
        "{now:?} {expected:?}"
    );
}

/// A conical pendulum with the body's centre off the node: the node runs round the vertical at
/// Ω² = g / (l cos α) for a point mass.
#[test]
fn spatial_pendulum_goes_round_its_cone() {
    let (l, alpha, g) = (0.8_f64, 0.7_f64, 9.81);
    let rate = (g / (l * alpha.cos())).sqrt();
    let bob = Vec3::new(l * alpha.sin(), 0.0, -l * alpha.cos());
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -g));
    let omega = Vec3::Z * rate;
    let node = model.node("pivot", Motion::at(Vec3::ZERO).moving(Vec3::ZERO, omega));
    let tiny = 1e-9;
    model.body(
        node,
        Body::centred(1.5, Mat3::diagonal(tiny, tiny, tiny)).with_centre(bob),
    );
    let ground = Marker::on(NodeId::GROUND);
    let joint = model.element("pivot", Joint::spherical(ground, Marker::on(node)));
    let mut system = system(model, Options::default());
    run(&mut system, 2.0, 4000);
    let motion = system.motion(node);
    let expected = about_z(rate * 2.0).matrix() * bob;
    assert!((motion.rotation * bob - expected).norm() < 2e-5);
    // The pivot carries the weight and the centripetal force.
    let reaction = system.wrench(joint, 1, &[]).0;
    let inward = -(Vec3::new(expected[0], expected[1], 0.0)) * (1.5 * rate * rate);
    let carried = inward + Vec3::Z * (1.5 * g);
    assert!(
        (reaction - carried).norm() < 1e-3,
        "{reaction:?} {carried:?}"
    );
}

/// Crank r, rod l, slider along x, driven at constant speed: x = r cos φ + √(l² - r² sin² φ).
#[test]
fn slider_crank_follows_its_closed_form() {
    let (r, l, speed) = (0.15_f64, 0.4_f64, 20.0);
    let mut model = Model::new();
    let crank = model.node("crank", Motion::at(Vec3::ZERO));
    let rod = model.node("rod", Motion::at(Vec3::new(r + 0.5 * l, 0.0, 0.0)));
    let slider = model.node("slider", Motion::at(Vec3::new(r + l, 0.0, 0.0)));
    for node in [crank, rod, slider] {
        model.body(node, Body::centred(0.5, Mat3::diagonal(1e-3, 2e-3, 2e-3)));
    }
    let pin = Vec3::new(r, 0.0, 0.0);
    let wrist = Vec3::new(r + l, 0.0, 0.0);
    let axis = |model: &Model, node, place, axis| model.axis_marker(node, place, axis);
    let [a, b] = [NodeId::GROUND, crank].map(|n| axis(&model, n, Vec3::ZERO, Vec3::Z));
    model.element(
        "drive",
        Joint::driven_revolute(a, b, Drive::function(move |t| speed * t)),
    );
    let [a, b] = [crank, rod].map(|n| axis(&model, n, pin, Vec3::Z));
    model.element("pin", Joint::revolute(a, b));
    // Only in line across the plane: a revolute wrist would be redundant in space.
    let [a, b] = [rod, slider].map(|n| model.marker(n, wrist));
    model.element("wrist", Joint::in_line(a, b));
    let [a, b] = [NodeId::GROUND, slider].map(|n| axis(&model, n, wrist, Vec3::X));
    model.element("guide", Joint::prismatic(a, b));
    let mut system = system(model, Options::default());
    let mut worst = [0.0_f64; 2];
    for _ in 0..4000 {
        system.step(1e-4, &[]).unwrap();
        let phi = speed * system.time();
        let (sin, cos) = phi.sin_cos();
        let root = (l * l - r * r * sin * sin).sqrt();
        let x = r * cos + root;
        let v = -speed * r * sin * (1.0 + r * cos / root);
        let motion = system.motion(slider);
        worst[0] = worst[0].max((motion.position[0] - x).abs());
        worst[1] = worst[1].max((motion.velocity[0] - v).abs());
    }
    assert!(worst[0] < 1e-9, "position {:e}", worst[0]);
    assert!(worst[1] < 1e-4, "velocity {:e}", worst[1]);
}

/// Freudenstein's equation for a four-bar linkage with ground d, crank a, coupler b, rocker c:
/// (d + c cos ψ - a cos φ)² + (c sin ψ - a sin φ)² = b².
#[test]
fn four_bar_obeys_freudenstein() {
    let (a, b, c, d) = (0.1_f64, 0.3_f64, 0.25_f64, 0.35_f64);
    let angle = 1.0_f64;
    let crank_end = Vec3::new(a * angle.cos(), a * angle.sin(), 0.0);
    // Rocker pin: intersection of two circles.
    let pivot = Vec3::new(d, 0.0, 0.0);
    let between = pivot - crank_end;
    let distance = between.norm();
    let along = (b * b - c * c + distance * distance) / (2.0 * distance);
    let height = (b * b - along * along).sqrt();
    let unit = between * (1.0 / distance);
    let rocker_end = crank_end + unit * along + Vec3::Z.cross(unit) * height;
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let middle = |p: Vec3, q: Vec3| Motion::at((p + q) * 0.5);
    let crank = model.node("crank", middle(Vec3::ZERO, crank_end));
    let coupler = model.node("coupler", middle(crank_end, rocker_end));
    let rocker = model.node("rocker", middle(rocker_end, pivot));
    for node in [crank, coupler, rocker] {
        model.body(node, Body::centred(1.0, Mat3::diagonal(1e-3, 2e-3, 3e-3)));
    }
    let hinge = |model: &Model, n, place| model.axis_marker(n, place, Vec3::Z);
    let [p, q] = [NodeId::GROUND, crank].map(|n| hinge(&model, n, Vec3::ZERO));
    let drive = Drive::function(|t: f64| 3.0 * t);
    model.element("drive", Joint::driven_revolute(p, q, drive));
    let [p, q] = [crank, coupler].map(|n| hinge(&model, n, crank_end));
    model.element("first pin", Joint::revolute(p, q));
    let [p, q] = [coupler, rocker].map(|n| model.marker(n, rocker_end));
    model.element("second pin", Joint::in_line(p, q));
    let [p, q] = [NodeId::GROUND, rocker].map(|n| hinge(&model, n, pivot));
    model.element("rocker pin", Joint::revolute(p, q));
    let local_end = rocker_end - (rocker_end + pivot) * 0.5;
    let mut system = system(model, Options::default());
    for _ in 0..3000 {
        system.step(1e-3, &[]).unwrap();
        let phi = angle + 3.0 * system.time();
        let end = system.motion(rocker).position + system.motion(rocker).rotation * local_end;
        let pin = Vec3::new(a * phi.cos(), a * phi.sin(), 0.0);
        let error = (end - pin).norm() - b;
        assert!(error.abs() < 1e-9, "{error:e} at {}", system.time());
        assert!(((end - pivot).norm() - c).abs() < 1e-9);
    }
}

/// Two masses drawn together by an internal force keep their common centre.
#[test]
fn an_internal_force_moves_no_centre_of_mass() {
    let mut model = Model::new();
    let [light, heavy] = [(1.0, 0.0), (3.0, 2.0)].map(|(mass, x)| {
        let node = model.node("mass", Motion::at(Vec3::X * x));
        model.body(node, Body::centred(mass, Mat3::IDENTITY));
        node
    });
    let law = Law::Prescribed(Drive::Constant(6.0));
    model.element(
        "rope",
        Rod::new(Marker::on(light), Marker::on(heavy), 0.0, law),
    );
    let mut system = system(model, Options::default());
    run(&mut system, 0.4, 400);
    // x = ½ (F/m) t²
    assert!((system.motion(light).position[0] - 0.48).abs() < 1e-9);
    assert!((system.motion(heavy).position[0] - 1.84).abs() < 1e-9);
}
