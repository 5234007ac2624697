//! Time stepping with impulses: joints against closed forms, contacts of bodies that joints hold, balances,
//! states, what is refused.

mod elliptic;

use elliptic::{TUMBLING, Tumbling, pendulum_angle};
use oldham_cosim::{Builder, Discard, Hold, Run, Schedule, Snapshot, Subsystem};
use oldham_multibody::contact::{Can, ContactShape, Grains, Shape, Start, Surface, Wall};
use oldham_multibody::{
    Body, Joint, Law, Marker, Mat3, Method, Model, ModelError, Motion, NodeId, Options,
    PartBuilder, Quaternion, Rod, SolveError, System, Vec3,
};

const GRAVITY: f64 = 9.81;

fn options() -> Options {
    Options {
        method: Method::Impulses,
        account_energy: true,
        ..Options::default()
    }
}

fn started(model: Model) -> System {
    let mut system = System::new(model, options()).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn run(model: Model, end: f64, steps: usize) -> System {
    let mut system = started(model);
    for _ in 0..steps {
        system.step(end / steps as f64, &[]).unwrap();
    }
    system
}

fn shape(model: &mut Model, at: impl Into<Marker>, shape: Shape, surface: Surface) {
    let at = at.into();
    let name = format!("shape of {}", model.node_name(at.node));
    model.contacts().shapes.push(ContactShape {
        name,
        at,
        shape,
        surface,
    });
}

/// A floor through the origin.
fn floor(model: &mut Model, surface: Surface) {
    shape(model, NodeId::GROUND, Shape::Plane, surface);
}

fn ball(model: &mut Model, name: &str, mass: f64, radius: f64, at: Vec3, v: Vec3) -> NodeId {
    let node = model.node(name, Motion::at(at).moving(v, Vec3::ZERO));
    let j = 0.4 * mass * radius * radius;
    model.body(node, Body::centred(mass, Mat3::diagonal(j, j, j)));
    node
}

fn cube(model: &mut Model, name: &str, mass: f64, half: f64, at: Vec3) -> NodeId {
    let node = model.node(name, Motion::at(at));
    let j = mass * half * half * 2.0 / 3.0;
    model.body(node, Body::centred(mass, Mat3::diagonal(j, j, j)));
    shape(
        model,
        node,
        Shape::Box {
            half: Vec3::new(half, half, half),
        },
        Surface::rough(0.5),
    );
    node
}

/// A point mass on a massless rod, by a spherical joint, released at 60°.
fn pendulum() -> (Model, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    let (s, c) = (60.0_f64.to_radians()).sin_cos();
    let bob = ball(
        &mut model,
        "bob",
        2.0,
        1e-3,
        Vec3::new(s, 0.0, -c),
        Vec3::ZERO,
    );
    let pivot = model.marker(bob, Vec3::ZERO);
    model.element("pivot", Joint::spherical(Marker::on(NodeId::GROUND), pivot));
    (model, bob)
}

#[test]
fn a_pendulum_converges_with_first_order_to_the_elliptic_solution() {
    let exact = pendulum_angle(60.0_f64.to_radians(), GRAVITY.sqrt(), 3.0);
    let errors = [1000, 2000, 4000].map(|steps| {
        let (model, bob) = pendulum();
        let at = run(model, 3.0, steps).motion(bob).position;
        (at[0].atan2(-at[2]) - exact).abs()
    });
    for pair in errors.windows(2) {
        let order = (pair[0] / pair[1]).log2();
        assert!((order - 1.0).abs() < 0.15, "{errors:?}");
    }
}

#[test]
fn a_swinging_mechanism_loses_no_energy_in_its_joints() {
    let (model, _) = pendulum();
    let mut system = started(model);
    let total = |system: &System| {
        let energy = system.energy(&[]);
        energy.kinetic + energy.potential
    };
    let first = total(&system);
    let (mut early, mut late) = (0.0_f64, 0.0_f64);
    for step in 0..40_000 {
        system.step(1e-3, &[]).unwrap();
        let off = (total(&system) - first).abs();
        if step < 4000 {
            early = early.max(off);
        } else if step >= 36_000 {
            late = late.max(off);
        }
    }
    // The error swings with the motion; it does not grow.
    assert!(late < 1.02 * early, "{early} {late}");
}

#[test]
fn joints_are_closed_to_rounding_after_every_step() {
    let (model, bob) = pendulum();
    let mut system = started(model);
    for _ in 0..1000 {
        system.step(5e-3, &[]).unwrap();
        let length = system.motion(bob).position.norm();
        assert!((length - 1.0).abs() < 1e-13, "{length}");
    }
}

/// Values of Zhang's double pendulum, found by an integrator of high order in minimal coordinates: L = 0.4 m,
/// unit masses and inertias about the centres at L/2, from θ = π/2 with 0.5 rad/s.
#[test]
fn a_double_pendulum_meets_its_reference() {
    let errors = [1000, 2000, 4000].map(|steps| {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, -GRAVITY, 0.0));
        let link = |model: &mut Model, name: &str, centre: Vec3, v: Vec3| {
            let axes = Quaternion::exp(Vec3::Z * std::f64::consts::FRAC_PI_2);
            let motion = Motion::at_rest(centre, axes).moving(v, Vec3::Z * 0.5);
            let node = model.node(name, motion);
            model.body(node, Body::centred(1.0, Mat3::IDENTITY));
            node
        };
        let first = link(&mut model, "first", Vec3::X * 0.2, Vec3::Y * 0.1);
        let second = link(&mut model, "second", Vec3::X * 0.6, Vec3::Y * 0.3);
        let hinge = |model: &mut Model, name: &str, a: NodeId, b: NodeId, at: Vec3| {
            let markers = [a, b].map(|node| model.axis_marker(node, at, Vec3::Z));
            model.element(name, Joint::revolute(markers[0], markers[1]));
        };
        hinge(&mut model, "a", NodeId::GROUND, first, Vec3::ZERO);
        hinge(&mut model, "b", first, second, Vec3::X * 0.4);
        let system = run(model, 1.0, steps);
        let angle = |node| system.motion(node).orientation.log()[2];
        [angle(first) + 0.135_031_9, angle(second) - 1.242_979_2]
    });
    for pair in errors.windows(2) {
        for (coarse, fine) in pair[0].iter().zip(&pair[1]) {
            let order = (coarse / fine).log2();
            assert!((order - 1.0).abs() < 0.2, "{errors:?}");
        }
    }
    assert!(errors[2].iter().all(|e| e.abs() < 1e-3), "{errors:?}");
}

#[test]
fn a_tumbling_body_keeps_its_angular_momentum_to_rounding() {
    let Tumbling { j, start } = TUMBLING;
    let mut model = Model::new();
    let motion = Motion::at(Vec3::ZERO).moving(Vec3::ZERO, start);
    let body = model.node("body", motion);
    // The node is not the centre of mass.
    let inertia = Mat3::diagonal(j[0], j[1], j[2]);
    let centre = Vec3::new(0.1, -0.2, 0.3);
    model.body(body, Body::centred(1.0, inertia).with_centre(centre));
    let momenta = |system: &System| {
        let m = system.motion(body);
        let arm = m.rotation * centre;
        let own = m.rotation * (inertia * m.rotation.transpose_mul(m.angular_velocity));
        (m.velocity + m.angular_velocity.cross(arm), own)
    };
    let mut system = started(model);
    let (p, l) = momenta(&system);
    for _ in 0..5000 {
        system.step(1e-3, &[]).unwrap();
    }
    let (p_after, l_after) = momenta(&system);
    assert!((p_after - p).norm() < 1e-11 && (l_after - l).norm() < 1e-11);
    // First order in time.
    let m = system.motion(body);
    let in_body = m.rotation.transpose_mul(m.angular_velocity);
    assert!((in_body - TUMBLING.spin(5.0)).norm() < 0.05);
}

/// A mass on a spring: semi-implicit Euler has the frequency 2/h asin(ω h/2), and no damping.
#[test]
fn a_spring_oscillates_as_semi_implicit_euler_does() {
    let (k, h) = (400.0, 1e-2);
    let mut model = Model::new();
    let start = Vec3::X * 1.1;
    let mass = ball(&mut model, "mass", 1.0, 0.1, start, Vec3::ZERO);
    let rod = Rod::new(
        Marker::on(NodeId::GROUND),
        Marker::on(mass),
        1.0,
        Law::Linear {
            stiffness: k,
            damping: 0.0,
        },
    );
    model.element("spring", rod);
    let mut system = started(model);
    let theta = 2.0 * (0.5 * h * f64::sqrt(k)).asin();
    let mut largest = 0.0_f64;
    for n in 1..=2000 {
        system.step(h, &[]).unwrap();
        // x_n of x_{n+1} − 2 x_n + x_{n−1} = −h²ω² x_n from x_0 = A at rest before its first step.
        let n = f64::from(n);
        let amplitude = 0.1 / (0.5 * theta).cos();
        let exact = 1.0 + amplitude * ((n + 0.5) * theta).cos();
        largest = largest.max((system.motion(mass).position[0] - exact).abs());
    }
    assert!(largest < 1e-10, "{largest}");
}

/// A block with a joint-free node slides to rest by v²/(2 μ g); so does one that a joint keeps from turning, whose mobility comes
/// from the factors.
#[test]
fn a_block_slides_to_rest_where_coulomb_says() {
    for guided in [false, true] {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
        floor(&mut model, Surface::rough(0.5));
        let block = cube(&mut model, "block", 3.0, 0.1, Vec3::Z * 0.1);
        let motion = Motion::at(Vec3::Z * 0.1).moving(Vec3::X * 2.0, Vec3::ZERO);
        model.place(block, motion);
        if guided {
            let markers =
                [NodeId::GROUND, block].map(|n| model.axis_marker(n, Vec3::Z * 0.1, Vec3::Y));
            model.element("guide", Joint::planar(markers[0], markers[1]));
        }
        let h = 1e-4;
        let mut system = started(model);
        for _ in 0..6000 {
            system.step(h, &[]).unwrap();
        }
        let m = system.motion(block);
        let exact = 4.0 / (2.0 * 0.5 * GRAVITY);
        assert!(m.velocity.norm() < 1e-9, "{guided}: {:?}", m.velocity);
        // First order: half a step of the initial velocity.
        assert!(
            (m.position[0] - exact).abs() < 2.0 * h,
            "{guided}: {}",
            m.position[0] - exact
        );
        let energy = system.energy(&[]);
        assert!(
            (energy.dissipated - 6.0).abs() < 1e-2,
            "{}",
            energy.dissipated
        );
    }
}

/// A rod on a hinge falls from the horizontal onto a stop below: with restitution e it leaves at e times the angular velocity
/// with which it came, √(2 m g s sin φ / I).
#[test]
fn a_hinged_rod_rebounds_from_a_stop() {
    let restitution = 0.5;
    let surface = Surface {
        restitution,
        ..Surface::rough(0.0)
    };
    let (length, mass) = (1.0, 2.0);
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    let j = mass * length * length / 12.0;
    let rod = model.node("rod", Motion::at(Vec3::X * 0.5 * length));
    model.body(rod, Body::centred(mass, Mat3::diagonal(1e-3, j, j)));
    let hinge = [NodeId::GROUND, rod].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.element("hinge", Joint::revolute(hinge[0], hinge[1]));
    let tip = Marker::on(rod).offset(Vec3::X * 0.5 * length);
    shape(&mut model, tip, Shape::Sphere { radius: 0.05 }, surface);
    // The stop is a block that stands where the tip is after a quarter turn less 0.3 rad.
    let angle = std::f64::consts::FRAC_PI_2 - 0.3_f64;
    let base = model.node("base", Motion::at(Vec3::ZERO));
    model.element(
        "fixed",
        Joint::clamp(Marker::on(NodeId::GROUND), Marker::on(base)),
    );
    let place = Vec3::new(angle.cos(), 0.0, -angle.sin()) * length;
    // The normal of the plane is the direction from which the tip comes.
    let normal = Vec3::new(angle.sin(), 0.0, angle.cos());
    let stop = Marker::on(base).offset(place - normal * 0.05).axis(normal);
    shape(&mut model, stop, Shape::Plane, surface);
    let mut system = started(model);
    let (mut fastest, mut rebound) = (0.0_f64, 0.0_f64);
    for _ in 0..20_000 {
        system.step(5e-5, &[]).unwrap();
        let rate = system.motion(rod).angular_velocity[1];
        fastest = fastest.max(rate);
        if rebound == 0.0 && rate < 0.0 {
            rebound = -rate;
            break;
        }
    }
    let inertia = mass * length * length / 3.0;
    let exact = (mass * GRAVITY * length * angle.sin() / inertia).sqrt();
    assert!((fastest / exact - 1.0).abs() < 1e-3, "{fastest} {exact}");
    assert!(
        (rebound / (restitution * exact) - 1.0).abs() < 2e-3,
        "{rebound}"
    );
}

/// Two hinged bars afloat strike a free cube with friction: momentum and angular momentum of all stay to rounding, plastic contact
/// only takes energy.
#[test]
fn a_floating_mechanism_keeps_its_momenta_in_collisions() {
    let mut model = Model::new();
    let surface = Surface::rough(0.4);
    let bars: Vec<NodeId> = [-0.5, 0.5]
        .into_iter()
        .map(|x| {
            let motion = Motion::at(Vec3::new(x, 0.0, 0.0)).moving(Vec3::Z * -1.0, Vec3::ZERO);
            let node = model.node(format!("bar {x}"), motion);
            model.body(node, Body::centred(1.5, Mat3::diagonal(0.05, 0.2, 0.25)));
            let capsule = Shape::Capsule {
                half_length: 0.35,
                radius: 0.05,
            };
            let along = Marker::on(node).axis(Vec3::X);
            shape(&mut model, along, capsule, surface);
            node
        })
        .collect();
    let hinge = [bars[0], bars[1]].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Y));
    model.element("hinge", Joint::revolute(hinge[0], hinge[1]));
    let block = cube(&mut model, "cube", 1.0, 0.1, Vec3::new(0.45, 0.03, -0.2));
    let spin = Motion::at(Vec3::new(0.45, 0.03, -0.2)).moving(Vec3::X * 0.3, Vec3::Z * 3.0);
    model.place(block, spin);
    let all = [(bars[0], 1.5), (bars[1], 1.5), (block, 1.0)];
    let j = |mass: f64| match mass > 1.2 {
        true => Mat3::diagonal(0.05, 0.2, 0.25),
        false => Mat3::diagonal(0.02 / 3.0, 0.02 / 3.0, 0.02 / 3.0),
    };
    let momenta = |system: &System| {
        let mut sum = [Vec3::ZERO; 2];
        for (node, mass) in all {
            let m = system.motion(node);
            sum[0] += m.velocity * mass;
            sum[1] += m.position.cross(m.velocity * mass)
                + m.rotation * (j(mass) * m.rotation.transpose_mul(m.angular_velocity));
        }
        sum
    };
    model.contacts().options.penetration = Some(1e-3);
    let mut system = started(model);
    let [p, l] = momenta(&system);
    let mut energy = system.energy(&[]).kinetic;
    let first = energy;
    for _ in 0..1000 {
        system.step(1e-3, &[]).unwrap();
        let now = system.energy(&[]).kinetic;
        assert!(now < energy + 1e-5 * first, "{energy} {now}");
        energy = now;
    }
    assert!(energy < 0.95 * first, "they have met: {energy} of {first}");
    let [p_after, l_after] = momenta(&system);
    assert!((p_after - p).norm() < 1e-12, "{:?}", p_after - p);
    assert!((l_after - l).norm() < 1e-11, "{:?}", l_after - l);
}

/// Grains in a can that hangs on a spring and is guided: the whole falls and swings. Momentum of can and grains together
/// follows from gravity and the spring alone.
#[test]
fn grains_and_their_can_exchange_momentum() {
    let (model, can) = damper(27);
    let mut system = started(model);
    let h = 1e-4;
    let grain = 11344.0 * 4.0 / 3.0 * std::f64::consts::PI * 1e-9;
    let part_momentum = |system: &System| system.motion(can).velocity[2] * 0.05;
    let mass = 0.05 + 27.0 * grain;
    let mut expected = 0.0;
    for _ in 0..2000 {
        let at = system.motion(can).position[2];
        expected += h * (-GRAVITY * mass - 800.0 * at);
        system.step(h, &[]).unwrap();
    }
    let of_grains: f64 = system.grain_velocities().iter().map(|v| v[2] * grain).sum();
    let total = part_momentum(&system) + of_grains;
    assert!(
        (total - expected).abs() < 1e-9 * expected.abs().max(1e-2),
        "{total} {expected}"
    );
}

/// A can on a vertical guide and a spring, with grains on a lattice.
fn damper(grains: usize) -> (Model, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    let can = model.node("can", Motion::at(Vec3::ZERO));
    model.body(can, Body::centred(0.05, Mat3::diagonal(3e-6, 3e-6, 4e-6)));
    let markers = [NodeId::GROUND, can].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("guide", Joint::prismatic(markers[0], markers[1]));
    let rod = Rod::new(
        Marker::on(NodeId::GROUND).offset(Vec3::Z * 1.0),
        Marker::on(can),
        1.0,
        Law::Linear {
            stiffness: 800.0,
            damping: 0.0,
        },
    );
    model.element("spring", rod);
    let surface = Surface::rough(0.52);
    let inside = Shape::Can(Can::new(0.01, Some(0.01184), Wall::Round));
    shape(&mut model, can, inside, surface);
    let centres = (0..grains)
        .map(|i| {
            let place = [i % 3, i / 3 % 3, i / 9].map(|k| k as f64);
            Vec3::new(place[0] - 1.0, place[1] - 1.0, place[2] + 0.6) * 2.2e-3
        })
        .collect();
    model.contacts().grains.push(Grains {
        name: "lead".to_owned(),
        centres,
        radius: 1e-3,
        density: 11344.0,
        surface,
        container: Some(0),
    });
    (model, can)
}

#[test]
fn a_restored_state_goes_on_with_the_same_bits() {
    let (model, can) = damper(27);
    let mut builder = PartBuilder::new(model);
    builder.observe("can", can);
    let mut part = builder.build(options(), 1).unwrap();
    part.system_mut().start(0.0, &[]).unwrap();
    let step = |part: &mut oldham_multibody::MechanismPart, count: usize| {
        for _ in 0..count {
            part.system_mut().step(1e-4, &[]).unwrap();
        }
    };
    step(&mut part, 500);
    let mut saved = Snapshot::default();
    saved.save(part.state().unwrap());
    step(&mut part, 300);
    let mut straight = Snapshot::default();
    straight.save(part.state().unwrap());
    saved.restore(part.state().unwrap());
    step(&mut part, 300);
    let mut again = Snapshot::default();
    again.save(part.state().unwrap());
    assert_eq!(straight.words(), again.words());
}

#[test]
fn overlap_at_the_start_is_refused_or_resolved() {
    let overlapping = || {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
        floor(&mut model, Surface::rough(0.5));
        cube(&mut model, "low", 1.0, 0.1, Vec3::Z * 0.09);
        cube(&mut model, "high", 1.0, 0.1, Vec3::Z * 0.28);
        model
    };
    let mut system = System::new(overlapping(), options()).unwrap();
    let error = system.start(0.0, &[]).unwrap_err();
    let SolveError::Contact { what, .. } = &error else {
        panic!("{error}");
    };
    assert!(what.contains("overlap by 1.000e-2 m"), "{what}");
    assert!(what.contains("`low`"), "{what}");
    let mut model = overlapping();
    model.contacts().options.start = Start::Resolve;
    let nodes: Vec<NodeId> = model.moving_nodes().map(|(node, _)| node).collect();
    let mut system = started(model);
    for _ in 0..500 {
        system.step(1e-3, &[]).unwrap();
    }
    let heights = nodes.iter().map(|n| system.motion(*n).position[2]);
    for (height, exact) in heights.zip([0.1, 0.3]) {
        assert!((height - exact).abs() < 1e-5, "{height}");
    }
}

/// Three boxes stand for 60 s: nothing creeps where the solver is exact.
#[test]
fn stacked_boxes_stand() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    floor(&mut model, Surface::rough(0.5));
    let nodes: Vec<NodeId> = (0..3)
        .map(|k| {
            let at = Vec3::new(0.01 * f64::from(k), 0.0, 0.1 + 0.2 * f64::from(k));
            cube(&mut model, &format!("box {k}"), 1.0, 0.1, at)
        })
        .collect();
    let start: Vec<Vec3> = nodes.iter().map(|n| model.initial(*n).position).collect();
    let mut system = started(model);
    for _ in 0..12_000 {
        system.step(5e-3, &[]).unwrap();
    }
    for (node, from) in nodes.iter().zip(start) {
        let moved = (system.motion(*node).position - from).norm();
        assert!(moved < 1e-6, "{moved}");
    }
}

#[test]
fn what_impulses_cannot_do_is_refused() {
    let (mut model, bob) = pendulum();
    shape(
        &mut model,
        bob,
        Shape::Sphere { radius: 0.1 },
        Surface::rough(0.0),
    );
    let smooth = System::new(model, Options::default());
    let errors = smooth.err().unwrap();
    assert!(matches!(
        &errors[..],
        [ModelError::ContactWithoutImpulses { .. }]
    ));
    // Shapes on a node without inertia.
    let mut model = Model::new();
    let point = model.node("point", Motion::at(Vec3::ZERO));
    model.body(point, Body::centred(1.0, Mat3::ZERO));
    shape(
        &mut model,
        point,
        Shape::Sphere { radius: 0.1 },
        Surface::rough(0.0),
    );
    floor(&mut model, Surface::rough(0.0));
    let errors = System::new(model, options()).err().unwrap();
    assert!(
        errors[0].to_string().contains("need mass and inertia"),
        "{errors:?}"
    );
}

/// A ball of a million times the mass on a small one: the answer is finite and the small one is not crushed.
#[test]
fn a_mass_ratio_of_a_million_is_borne() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    floor(&mut model, Surface::rough(0.5));
    cube(&mut model, "small", 1e-3, 0.1, Vec3::Z * 0.1);
    let large = cube(&mut model, "large", 1e3, 0.1, Vec3::Z * 0.3);
    let mut system = started(model);
    for _ in 0..2000 {
        system.step(1e-3, &[]).unwrap();
    }
    let height = system.motion(large).position[2];
    assert!((height - 0.3).abs() < 1e-5, "{height}");
}

/// A block at rest on the floor loses nothing, however long it stands: the floor does no work. Every step used to cost
/// m g² h² / 2.
#[test]
fn what_rests_dissipates_nothing() {
    for guided in [false, true] {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
        floor(&mut model, Surface::rough(0.5));
        let block = cube(&mut model, "block", 3.0, 0.1, Vec3::Z * 0.1);
        if guided {
            let markers =
                [NodeId::GROUND, block].map(|n| model.axis_marker(n, Vec3::Z * 0.1, Vec3::Y));
            model.element("guide", Joint::planar(markers[0], markers[1]));
        }
        model.contacts().grains.push(Grains {
            name: "sand".into(),
            centres: vec![Vec3::new(1.0, 0.0, 0.05)],
            radius: 0.05,
            density: 1000.0,
            surface: Surface::rough(0.5),
            container: None,
        });
        let system = run(model, 1.0, 1000);
        let energy = system.energy(&[]);
        assert!(
            energy.dissipated.abs() < 1e-9,
            "{guided}: {}",
            energy.dissipated
        );
    }
}

/// A parallelogram of two arms and a coupler falls from the horizontal until the coupler strikes a stop. One coordinate moves it all: it comes
/// with ω² = 2 g L sin φ (m + M) / (2 m L²/3 + M L²) and leaves with −e ω, whatever joints lie between.
#[test]
fn a_four_bar_rebounds_from_a_stop() {
    let (length, arm, coupler, restitution) = (0.5, 1.0, 2.0, 0.4);
    let surface = Surface {
        restitution,
        ..Surface::rough(0.0)
    };
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -GRAVITY));
    let bar = |model: &mut Model, name: &str, at: Vec3, mass: f64, along: bool| {
        let node = model.node(name, Motion::at(at));
        let j = mass * length * length / 12.0;
        let inertia = match along {
            true => Mat3::diagonal(1e-3, j, j),
            false => Mat3::diagonal(j, j, 1e-3),
        };
        model.body(node, Body::centred(mass, inertia));
        node
    };
    let low = bar(&mut model, "low", Vec3::new(0.25, 0.0, 0.0), arm, true);
    let high = bar(&mut model, "high", Vec3::new(0.25, 0.0, 0.5), arm, true);
    let link = bar(
        &mut model,
        "link",
        Vec3::new(0.5, 0.0, 0.25),
        coupler,
        false,
    );
    let hinge = |model: &mut Model, nodes: [NodeId; 2], at: Vec3| {
        let markers = nodes.map(|node| model.axis_marker(node, at, Vec3::Y));
        model.element(
            format!("hinge at {at:?}"),
            Joint::revolute(markers[0], markers[1]),
        );
    };
    hinge(&mut model, [NodeId::GROUND, low], Vec3::ZERO);
    hinge(&mut model, [NodeId::GROUND, high], Vec3::Z * 0.5);
    hinge(&mut model, [low, link], Vec3::X * 0.5);
    // The fourth joint holds two directions only: three revolute joints leave no more to hold.
    let end = Vec3::new(0.5, 0.0, 0.5);
    let markers = [high, link].map(|node| model.axis_marker(node, end, Vec3::Y));
    model.element("last", Joint::in_line(markers[0], markers[1]));
    // The coupler keeps its direction: its lower end comes down on a floor.
    let ball = Marker::on(link).offset(Vec3::Z * -0.25);
    shape(&mut model, ball, Shape::Sphere { radius: 0.05 }, surface);
    let angle = 0.6_f64;
    let depth = length * angle.sin() + 0.05;
    let stop = Marker::on(NodeId::GROUND).offset(Vec3::Z * -depth);
    shape(&mut model, stop, Shape::Plane, surface);
    let mut system = started(model);
    let (mut fastest, mut rebound) = (0.0_f64, 0.0_f64);
    for _ in 0..40_000 {
        system.step(2e-5, &[]).unwrap();
        let rate = system.motion(low).angular_velocity[1];
        fastest = fastest.max(rate);
        if rate < 0.0 {
            rebound = -rate;
            break;
        }
    }
    let inertia = (2.0 * arm / 3.0 + coupler) * length * length;
    let exact = (2.0 * GRAVITY * length * angle.sin() * (arm + coupler) / inertia).sqrt();
    assert!((fastest / exact - 1.0).abs() < 1e-3, "{fastest} {exact}");
    let ratio = rebound / fastest;
    assert!((ratio / restitution - 1.0).abs() < 2e-3, "{ratio}");
}

/// What the floor does to a block that is pushed aside: the weight, friction against the push, and the moment that both make about a node away from
/// the centre; pressed under the block.
#[test]
fn the_load_of_contacts_on_a_node_is_what_statics_says() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.2 * GRAVITY, 0.0, -GRAVITY));
    floor(&mut model, Surface::rough(0.5));
    let block = cube(&mut model, "block", 3.0, 0.1, Vec3::Z * 0.1);
    let system = run(model, 0.1, 100);
    let [force, moment, at] = system.contact_load(block);
    let expected = Vec3::new(-0.2 * 3.0 * GRAVITY, 0.0, 3.0 * GRAVITY);
    assert!((force - expected).norm() < 1e-9, "{force:?}");
    // At rest nothing turns the block about its centre, which is its node.
    assert!(moment.norm() < 1e-9, "{moment:?}");
    assert!(at[2].abs() < 1e-6 && at[0].abs() < 0.1, "{at:?}");
    assert_eq!(system.contact_load(NodeId::GROUND), [Vec3::ZERO; 3]);
}

/// A ball and a block that are thrown onto a floor, to a residual in m/s.
fn thrown(residual: f64) -> Model {
    let mut model = Model::new();
    model.gravity(Vec3::Z * -GRAVITY);
    floor(&mut model, Surface::rough(0.4));
    let at = Vec3::new(0.0, 1.0, 0.12);
    let rolling = ball(&mut model, "ball", 1.0, 0.1, at, Vec3::X);
    shape(
        &mut model,
        rolling,
        Shape::Sphere { radius: 0.1 },
        Surface::rough(0.4),
    );
    let turned = Motion::at(Vec3::Z * 0.2).moving(Vec3::X * 2.0, Vec3::new(1.0, 2.0, 3.0));
    let block = model.node("block", turned);
    model.body(block, Body::centred(2.0, Mat3::diagonal(0.01, 0.02, 0.02)));
    let half = Vec3::new(0.15, 0.1, 0.05);
    shape(&mut model, block, Shape::Box { half }, Surface::rough(0.4));
    model.contacts().options.tolerance = residual;
    model
}

/// Steps whose residual is above a bound that no number with 53 bits meets are counted as a loop over the steps counts them; steps that are taken back are not. A run
/// tells their number and the worst of them, and says nothing where all are met.
#[test]
fn steps_that_miss_the_law_of_contact_are_counted_and_told() {
    const STEPS: usize = 150;
    for residual in [1e-21, 1e-8] {
        let mut system = started(thrown(residual));
        let (mut steps, mut unmet, mut worst) = (0, 0, 0.0_f64);
        for _ in 0..STEPS {
            system.step(1e-3, &[]).unwrap();
            let report = system.contact_report().unwrap();
            steps += u64::from(report.contacts > 0);
            if report.residual > residual {
                unmet += 1;
                worst = worst.max(report.residual);
            }
        }
        let counted = system.counters().contacts.unwrap();
        assert_eq!((counted.steps, counted.unmet), (steps, unmet));
        assert_eq!(counted.worst_residual, worst);
        assert!(steps > 50 && (unmet > 10) == (residual < 1e-8), "{unmet}");
        let islands = counted.islands;
        assert!(
            islands.sweeps + islands.newton + islands.kept > 0,
            "{islands:?}"
        );

        let part = PartBuilder::new(thrown(residual))
            .build(options(), 1)
            .unwrap();
        let mut builder = Builder::new();
        let hold = Box::new(Hold::new(0, part.ports()));
        let bodies = builder.add("bodies", Box::new(part), hold);
        let mut simulation = builder.build(Schedule::jacobi(1e-3, [bodies])).unwrap();
        let mut discard = Discard;
        let half = STEPS as u64 / 2;
        simulation.run(Run::new(half, &mut discard)).end.unwrap();
        let saved = simulation.checkpoint("thrown").unwrap();
        // Twice from the middle on: only one of them counts.
        simulation.run(Run::new(half, &mut discard)).end.unwrap();
        simulation.restore(&saved, "thrown").unwrap();
        simulation.run(Run::new(half, &mut discard)).end.unwrap();
        let summary = simulation.summary();
        assert_eq!(summary.parts[0].counters.contacts, Some(counted));
        let told =
            format!(" in {unmet} of {steps} steps with contacts, by {worst:.2e} m/s at most");
        let notes = summary.notes.iter().filter(|note| note.contains(&told));
        assert_eq!(notes.count(), usize::from(unmet > 0), "{:?}", summary.notes);
        assert!(unmet > 0 || summary.notes.is_empty(), "{:?}", summary.notes);
    }
}
