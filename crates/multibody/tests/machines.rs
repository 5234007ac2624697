//! Transmissions, friction, viscoelasticity, and published benchmark mechanisms.

use oldham_multibody::{
    Body, Drive, Frictional, Joint, Law, Load, LuGre, Marker, Mat3, Model, Motion, NodeId, Options,
    Quaternion, Rod, System, Transmission, Vec3,
};

fn started(model: Model) -> System {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn run(system: &mut System, h: f64, steps: usize) {
    for _ in 0..steps {
        system.step(h, &[]).unwrap();
    }
}

fn constant(vector: Vec3) -> [Drive; 3] {
    vector.0.map(Drive::Constant)
}

fn torque(node: NodeId, value: f64) -> Load {
    Load::fixed(
        Marker::on(node),
        constant(Vec3::ZERO),
        constant(Vec3::Z * value),
    )
}

fn spin(system: &System, node: NodeId) -> f64 {
    system.motion(node).angular_velocity[2]
}

/// A wheel on a pivot; its markers on the ground and on itself.
fn wheel(model: &mut Model, name: &str, place: Vec3, inertia: f64) -> (NodeId, [Marker; 2]) {
    let node = model.node(name, Motion::at(place));
    model.body(
        node,
        Body::centred(1.0, Mat3::diagonal(inertia, inertia, inertia)),
    );
    let markers = [NodeId::GROUND, node].map(|n| model.axis_marker(n, place, Vec3::Z));
    model.element(
        format!("pivot of {name}"),
        Joint::revolute(markers[0], markers[1]),
    );
    (node, markers)
}

/// α₁ = T / (J₁ + J₂ (r₁/r₂)²), over many turns.
#[test]
fn gears_share_a_torque_in_their_ratio() {
    let (j, r, t) = ([0.02, 0.05], [0.1, 0.25], 0.7);
    let mut model = Model::new();
    let (first, a) = wheel(&mut model, "first", Vec3::ZERO, j[0]);
    let (second, b) = wheel(&mut model, "second", Vec3::X, j[1]);
    model.element("gear", Transmission::gear(a, b, r));
    model.element("torque", torque(first, t));
    let mut system = started(model);
    run(&mut system, 1e-3, 2000);
    let ratio = r[0] / r[1];
    let expected = t / (j[0] + j[1] * ratio * ratio) * 2.0;
    assert!((spin(&system, first) / expected - 1.0).abs() < 1e-6);
    assert!((spin(&system, second) + ratio * spin(&system, first)).abs() < 1e-6);
}

/// α = T / (J + m r²).
#[test]
fn a_pinion_moves_its_rack() {
    let (j, r, m, t) = (0.02, 0.1, 3.0, 0.7);
    let mut model = Model::new();
    let (pinion, a) = wheel(&mut model, "pinion", Vec3::ZERO, j);
    let rack = model.node("rack", Motion::at(Vec3::Y * -r));
    model.body(rack, Body::centred(m, Mat3::IDENTITY));
    let b = [NodeId::GROUND, rack].map(|n| model.axis_marker(n, Vec3::Y * -r, Vec3::X));
    model.element("rail", Joint::prismatic(b[0], b[1]));
    model.element("teeth", Transmission::rack(a, b, r));
    model.element("torque", torque(pinion, t));
    let mut system = started(model);
    run(&mut system, 1e-3, 1000);
    let expected = t / (j + m * r * r);
    assert!((spin(&system, pinion) / expected - 1.0).abs() < 1e-6);
    assert!((system.motion(rack).velocity[0] / (r * expected) - 1.0).abs() < 1e-6);
}

const DRY: LuGre = LuGre {
    coulomb: 0.3,
    stiction: 0.3,
    stribeck: 0.01,
    stiffness: 1e5,
    damping: 100.0,
    viscous: 0.0,
};

/// A block on a horizontal rail along x, with an initial velocity and a push.
fn block(law: LuGre, velocity: f64, push: Drive) -> (System, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let motion = Motion::at(Vec3::ZERO).moving(Vec3::X * velocity, Vec3::ZERO);
    let block = model.node("block", motion);
    model.body(block, Body::centred(2.0, Mat3::IDENTITY));
    let [a, b] = [NodeId::GROUND, block].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::X));
    model.element("rail", Frictional::prismatic(a, b, 0.0, law));
    let force = [push, Drive::ZERO, Drive::ZERO];
    let load = Load::fixed(Marker::on(block), force, constant(Vec3::ZERO));
    model.element("push", load);
    (started(model), block)
}

/// Coulomb friction stops a block after v²/(2 μ g).
#[test]
fn a_sliding_block_stops_where_coulomb_says() {
    let velocity = 1.0;
    let (mut system, node) = block(DRY, velocity, Drive::ZERO);
    run(&mut system, 1e-4, 6000);
    let distance = velocity * velocity / (2.0 * 0.3 * 9.81);
    let motion = system.motion(node);
    assert!(
        (motion.position[0] - distance).abs() < 2e-4,
        "{}",
        motion.position[0]
    );
    assert!(motion.velocity[0].abs() < 1e-6, "{:e}", motion.velocity[0]);
}

/// Below the limit the bristles hold. A slowly rising force F moves the block by
/// -(μ/σ₀) ln(1 - F/(μ N)), since dz/dx = 1 - σ₀ z/μ. Above the limit it slides with F/m - μ g.
#[test]
fn friction_holds_up_to_its_limit() {
    let weight = 2.0 * 9.81;
    let push = Drive::SmoothStep {
        start: 0.0,
        end: 1.0,
        from: 0.0,
        to: 0.2 * weight,
    };
    let (mut system, node) = block(DRY, 0.0, push);
    run(&mut system, 1e-3, 1000);
    let expected = -0.3 / DRY.stiffness * (1.0 - 0.2 / 0.3_f64).ln();
    let moved = system.motion(node).position[0];
    assert!(
        (moved / expected - 1.0).abs() < 1e-2,
        "{moved:e} {expected:e}"
    );
    let (mut system, node) = block(DRY, 0.0, Drive::Constant(0.4 * weight));
    run(&mut system, 1e-3, 1000);
    let expected = (0.4 - 0.3) * 9.81;
    assert!((system.motion(node).velocity[0] / expected - 1.0).abs() < 1e-2);
}

/// Steady sliding at a given speed: the Stribeck curve, by the pin's friction torque.
#[test]
fn a_pin_follows_the_stribeck_curve() {
    let law = LuGre {
        stiction: 0.5,
        viscous: 0.4,
        ..DRY
    };
    let (radius, preload, speed) = (0.02, 100.0, 0.6);
    let mut model = Model::new();
    let wheel = model.node("wheel", Motion::at(Vec3::ZERO));
    model.body(wheel, Body::centred(1e-9, Mat3::diagonal(1.0, 1.0, 1.0)));
    let [a, b] = [NodeId::GROUND, wheel].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    let pin = model.element("pin", Frictional::revolute(a, b, radius, preload, law));
    let motor = model.node("motor", Motion::at(Vec3::ZERO));
    model.body(motor, Body::centred(1.0, Mat3::IDENTITY));
    let drive = Drive::function(move |t| speed * t);
    let [c, d] = [NodeId::GROUND, motor].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("motor", Joint::driven_revolute(c, d, drive));
    let [e, f] = [motor, wheel].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    let key = oldham_multibody::Row::perpendicular(0, 1);
    model.element("key", Joint::from_rows(e, f, vec![key]));
    let mut system = started(model);
    run(&mut system, 1e-3, 500);
    let v: f64 = speed * radius;
    let ratio = v / law.stribeck;
    let level = law.coulomb + (law.stiction - law.coulomb) * (-ratio * ratio).exp();
    let expected = -radius * preload * (level + law.viscous * v);
    let moment = system.wrench(pin, 1, &[]).1[2];
    assert!(
        (moment / expected - 1.0).abs() < 1e-4,
        "{moment} {expected}"
    );
}

/// Stress relaxation of a Maxwell solid: F = (k + k₁ exp(-t/τ)) e after a sudden elongation, here
/// a ramp of length T, for which the branch starts at k₁ e (τ/T) (1 - exp(-T/τ)).
#[test]
fn a_viscoelastic_rod_relaxes() {
    let (k, k1, tau, e, ramp) = (100.0_f64, 300.0, 0.05_f64, 0.02, 0.01);
    let mut model = Model::new();
    let end = model.node("end", Motion::at(Vec3::X));
    model.body(end, Body::centred(1.0, Mat3::IDENTITY));
    let pull = Drive::Ramp {
        start: 0.0,
        end: ramp,
        from: 0.0,
        to: e,
    };
    use oldham_multibody::Direction::{Locked, Prescribed};
    let [a, b] = [NodeId::GROUND, end].map(|n| model.marker(n, Vec3::X));
    let joint = Joint::total(
        a,
        b,
        [Prescribed(pull), Locked, Locked],
        [Locked, Locked, Locked],
    );
    model.element("hold", joint);
    let law = Law::Viscoelastic {
        stiffness: k,
        branches: [(k1, tau)].into(),
    };
    let rod = Rod::new(Marker::on(NodeId::GROUND), Marker::on(end), 1.0, law);
    let rod = model.element("rod", rod);
    let mut system = started(model);
    run(&mut system, 1e-3, 110);
    let start = k1 * e * tau / ramp * (1.0 - (-ramp / tau).exp());
    let expected = k * e + start * (-(0.11 - ramp) / tau).exp();
    let tension = system.wrench(rod, 0, &[]).0[0];
    assert!(
        (tension / expected - 1.0).abs() < 1e-9,
        "{tension} {expected}"
    );
}

/// Andrews' squeezing mechanism, of the IFToMM library and of the Test Set for IVP Solvers
/// (Mazzia and Magherini, release 2.4, problem "Andrews"), with its reference angles at 0.03 s.
#[test]
fn the_squeezer_reaches_its_reference_angles() {
    let (d, da, e, ea, zf, fa) = (28e-3, 115e-4, 2e-2, 1421e-5, 2e-2, 1421e-5);
    let (rr, ra, ss, sa, sb, sc, sd) = (7e-3, 92e-5, 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2);
    let (ta, tb, u, ua, ub, zt) = (2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 4e-2);
    let a = Vec3::new(-0.06934, -0.00227, 0.0);
    let b = Vec3::new(-0.03635, 0.03273, 0.0);
    let c = Vec3::new(0.014, 0.072, 0.0);
    let [beta, theta, gamma, phi, delta, omega, epsilon] = [
        -0.061_713_890_014_276_45_f64,
        0.0_f64,
        0.455_279_819_163_070_4_f64,
        0.222_668_390_165_885_9_f64,
        0.487_364_979_543_842_55_f64,
        -0.222_668_390_165_885_9_f64,
        1.230_547_444_549_821_2_f64,
    ];
    // A vector with components along and across a direction at an angle.
    let at = |angle: f64, along: f64, across: f64| {
        let (s, c) = angle.sin_cos();
        Vec3::new(along * c - across * s, along * s + across * c, 0.0)
    };
    let crank_pin = at(beta, rr, 0.0);
    let elbow = a + at(delta, zt, 0.0);
    let other_elbow = a + at(epsilon, 0.0, -u);
    let squeezed = crank_pin - at(beta + theta, d, 0.0);
    let bodies = [
        (at(beta, ra, 0.0), beta, 0.04325, 2.194e-6),
        (
            crank_pin - at(beta + theta, da, 0.0),
            beta + theta,
            0.00365,
            4.410e-7,
        ),
        (b + at(gamma, sb, -sa), gamma, 0.02373, 5.255e-6),
        (
            elbow + at(phi + delta, 0.0, -(e - ea)),
            phi + delta,
            0.00706,
            5.667e-7,
        ),
        (a + at(delta, ta, tb), delta, 0.07050, 1.169e-5),
        (
            other_elbow + at(omega + epsilon, zf - fa, 0.0),
            omega + epsilon,
            0.00706,
            5.667e-7,
        ),
        (a + at(epsilon, -ub, -ua), epsilon, 0.05498, 1.912e-5),
    ];
    // The free ends of links 3, 4 and 6 meet the end of link 2.
    for end in [
        b + at(gamma, 0.0, -ss),
        elbow + at(phi + delta, 0.0, -e),
        other_elbow + at(omega + epsilon, zf, 0.0),
    ] {
        assert!((end - squeezed).norm() < 1e-9);
    }
    let mut model = Model::new();
    let mut nodes = Vec::new();
    for (i, (place, angle, mass, inertia)) in bodies.into_iter().enumerate() {
        let turned = Quaternion::exp(Vec3::Z * angle);
        let node = model.node(format!("link {}", i + 1), Motion::at_rest(place, turned));
        let planar = Mat3::diagonal(inertia, inertia, inertia);
        model.body(node, Body::centred(mass, planar));
        nodes.push(node);
    }
    let hinges = [
        (NodeId::GROUND, nodes[0], Vec3::ZERO),
        (nodes[0], nodes[1], crank_pin),
        (NodeId::GROUND, nodes[2], b),
        (NodeId::GROUND, nodes[4], a),
        (nodes[4], nodes[3], elbow),
        (NodeId::GROUND, nodes[6], a),
        (nodes[6], nodes[5], other_elbow),
    ];
    for (i, (p, q, place)) in hinges.into_iter().enumerate() {
        let [p, q] = [p, q].map(|n| model.axis_marker(n, place, Vec3::Z));
        model.element(format!("hinge {i}"), Joint::revolute(p, q));
    }
    for link in [2, 3, 5] {
        let [p, q] = [nodes[1], nodes[link]].map(|n| model.axis_marker(n, squeezed, Vec3::Z));
        model.element(format!("pin {link}"), Joint::in_line(p, q));
    }
    let hook = model.marker(nodes[2], b + at(gamma, sd, -sc));
    let anchor = Marker::on(NodeId::GROUND).offset(c);
    let law = Law::Linear {
        stiffness: 4530.0,
        damping: 0.0,
    };
    model.element("spring", Rod::new(anchor, hook, 0.07785, law));
    model.element("motor", torque(nodes[0], 0.033));
    let mut system = started(model);
    let mut turns = 0.0;
    let mut last = beta;
    let angle = |system: &System, node: NodeId| {
        let r = &system.motion(node).rotation;
        r.0[1][0].atan2(r.0[0][0])
    };
    for _ in 0..30_000 {
        system.step(1e-6, &[]).unwrap();
        let now = angle(&system, nodes[0]);
        if now < last - 3.0 {
            turns += 1.0;
        }
        last = now;
    }
    let beta_end = last + turns * std::f64::consts::TAU;
    assert!(
        (beta_end - 15.810_771_196_299_04).abs() < 2e-3,
        "β = {beta_end}"
    );
    let gamma_end = angle(&system, nodes[2]);
    assert!(
        (gamma_end - 0.040_822_240_130_731_01).abs() < 1e-4,
        "γ = {gamma_end}"
    );
    let delta_end = angle(&system, nodes[4]);
    assert!(
        (delta_end - 0.524_409_965_880_530_4).abs() < 1e-4,
        "δ = {delta_end}"
    );
    let epsilon_end = angle(&system, nodes[6]);
    assert!(
        (epsilon_end - 1.048_080_741_042_263).abs() < 1e-4,
        "ε = {epsilon_end}"
    );
}

/// The IFToMM benchmark of N four-bar linkages (here two windows) with uniform bars of 1 m and
/// 1 kg: it starts upright with 1 m/s and passes singular positions, where all bars are in line.
/// Energy must be conserved over 10 s.
#[test]
fn four_bars_pass_their_singular_positions() {
    let windows = 2;
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -9.81, 0.0));
    let bar = |model: &mut Model, name: String, motion: Motion| {
        let node = model.node(name, motion);
        let across = 1.0 / 12.0;
        model.body(
            node,
            Body::centred(1.0, Mat3::diagonal(across, across, across)),
        );
        node
    };
    let hinge = |model: &mut Model, name: String, p: NodeId, q: NodeId, place: Vec3| {
        let [p, q] = [p, q].map(|n| model.axis_marker(n, place, Vec3::Z));
        model.element(name, Joint::revolute(p, q));
    };
    let swing = Vec3::Z * -1.0;
    let mut uprights = Vec::new();
    for i in 0..=windows {
        let foot = Vec3::X * i as f64;
        let motion = Motion::at(foot + Vec3::Y * 0.5).moving(swing.cross(Vec3::Y * 0.5), swing);
        let node = bar(&mut model, format!("upright {i}"), motion);
        hinge(&mut model, format!("foot {i}"), NodeId::GROUND, node, foot);
        uprights.push(node);
    }
    for i in 0..windows {
        let top = Vec3::new(i as f64, 1.0, 0.0);
        let motion = Motion::at(top + Vec3::X * 0.5).moving(Vec3::X, Vec3::ZERO);
        let node = bar(&mut model, format!("coupler {i}"), motion);
        hinge(&mut model, format!("top {i}"), uprights[i], node, top);
        let end = top + Vec3::X;
        let [p, q] = [node, uprights[i + 1]].map(|n| model.axis_marker(n, end, Vec3::Z));
        model.element(format!("closure {i}"), Joint::in_line(p, q));
    }
    let mut system = started(model);
    let before = system.energy(&[]).stored();
    run(&mut system, 1e-3, 10_000);
    let lost = before - system.energy(&[]).stored();
    assert!(lost.abs() < 0.1, "{lost} J of {before} J");
}
