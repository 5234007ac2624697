//! Rolling wheels, cables over pulleys, play in joints and end stops, against closed forms.

use oldham_multibody::{
    Body, Cable, Clearance, Coordinate, CoordinateForce, Joint, Law, LuGre, Marker, Mat3, Method,
    Model, Motion, NodeId, Options, Pulley, Quaternion, RollingWheel, SurfaceFriction, System,
    Vec3,
};
use std::f64::consts::PI;

const G: f64 = 9.81;

fn system(model: Model) -> System {
    system_by(Options::default().method, model)
}

fn system_by(method: Method, model: Model) -> System {
    let options = Options {
        method,
        account_energy: true,
        tolerance: 1e-9,
        ..Options::default()
    };
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

fn disc(mass: f64, radius: f64) -> Body {
    let [x, y, z] = [0.25, 0.25, 0.5].map(|part| part * mass * radius * radius);
    Body::centred(
        mass,
        Mat3::from_columns(Vec3::X * x, Vec3::Y * y, Vec3::Z * z),
    )
}

/// A wheel at a place, its third axis along the axle, on a plane through the ground.
fn wheel(model: &mut Model, motion: Motion, mass: f64, radius: f64, normal: Vec3) -> NodeId {
    let node = model.node("wheel", motion);
    model.body(node, disc(mass, radius));
    let axle = motion.rotation.column(2);
    let forward = normal.cross(axle).unit();
    let touching = motion.position - axle.cross(forward) * radius;
    let plane = model.axis_marker(NodeId::GROUND, touching, normal);
    model.element(
        "rolling",
        RollingWheel::new(plane, Marker::on(node), radius),
    );
    node
}

/// Down an incline a disc has 2/3 of the acceleration of what slides, and rolls as far as it turns.
#[test]
fn a_disc_rolls_down_an_incline() {
    let (radius, slope) = (0.3, 0.4_f64);
    let normal = Vec3::new(slope.sin(), 0.0, slope.cos());
    let downhill = Vec3::new(slope.cos(), 0.0, -slope.sin());
    let upright = Quaternion::exp(Vec3::X * (-PI / 2.0));
    let mut model = Model::new();
    model.gravity(Vec3::Z * -G);
    let node = wheel(
        &mut model,
        Motion::at_rest(normal * radius, upright),
        2.0,
        radius,
        normal,
    );
    let mut system = system(model);
    run(&mut system, 1.0, 200);
    let motion = system.motion(node);
    let speed = 2.0 / 3.0 * G * slope.sin();
    let expected = normal * radius + downhill * (0.5 * speed);
    assert!((motion.position - expected).norm() < 1e-9, "{motion:?}");
    assert!((motion.velocity - downhill * speed).norm() < 1e-9);
    let spin = motion.angular_velocity.norm();
    assert!((spin - speed / radius).abs() < 1e-9, "{spin}");
}

/// Euler's disc whirls about its resting centre with Ω² = 4 g / (r sin α): it turns about the diameter to
/// the point that touches, with Ω sin α (Moffatt, Nature 404 (2000) 833). Gives by how much the axle and the centre are off after 0.2 s, and the energy that is
/// lost.
fn whirling(method: Method, steps: usize) -> [f64; 3] {
    let (radius, tilt) = (0.1, 0.3_f64);
    let rate = (4.0 * G / (radius * tilt.sin())).sqrt();
    // The disc lies tilted about y: it touches on the side of +x.
    let orientation = Quaternion::exp(Vec3::Y * tilt);
    let to_touch = Vec3::new(tilt.cos(), 0.0, -tilt.sin());
    let position = Vec3::Z * (radius * tilt.sin());
    let mut model = Model::new();
    model.gravity(Vec3::Z * -G);
    let spin = to_touch * (-rate * tilt.sin());
    let start = Motion::at_rest(position, orientation).moving(Vec3::ZERO, spin);
    let node = wheel(&mut model, start, 0.4, radius, Vec3::Z);
    let mut system = system_by(method, model);
    let energy = system.energy(&[]).stored();
    let time = 0.2;
    run(&mut system, time, steps);
    let axle = system.motion(node).rotation.column(2);
    let upright = orientation.matrix().column(2);
    let off = [rate, -rate].map(|rate| {
        let expected = Quaternion::exp(Vec3::Z * (rate * time)).matrix() * upright;
        (axle - expected).norm()
    });
    let moved = (system.motion(node).position - position).norm();
    let lost = system.energy(&[]).stored() - energy;
    [off[0].min(off[1]), moved, lost.abs()]
}

/// The error of the azimuth is of second order.
#[test]
fn eulers_disc_whirls() {
    let [coarse, fine] = [1000, 2000].map(|steps| whirling(Options::default().method, steps));
    assert!(fine[0] < 5e-3 && fine[1] < 1e-4, "{fine:?}");
    let order = (coarse[0] / fine[0]).log2();
    assert!((order - 2.0).abs() < 0.2, "{order}: {coarse:?} {fine:?}");
    assert!(fine[2] < 1e-4, "{fine:?}");
}

/// By impulses all errors are of first order, and vanish: what holds for velocities holds at the end of each step.
#[test]
fn eulers_disc_whirls_by_impulses() {
    let [coarse, fine] = [8000, 16000].map(|steps| whirling(Method::Impulses, steps));
    for (coarse, fine) in coarse.iter().zip(&fine) {
        assert!(*fine < 0.6 * coarse, "{coarse:?} {fine:?}");
    }
    assert!(
        fine[0] < 0.05 && fine[1] < 1e-3 && fine[2] < 1e-2,
        "{fine:?}"
    );
}

const PRESLIDING: f64 = 1e-5;

fn friction(coulomb: f64) -> Option<LuGre> {
    Some(LuGre {
        coulomb,
        stiction: coulomb,
        stribeck: 0.01,
        stiffness: coulomb / PRESLIDING,
        damping: 0.0,
        viscous: 0.0,
    })
}

/// Two weights on a cable over a drum of radius 0.2 m: a light one at its first end, a heavy one at its
/// last; they move up and down alone. Gives the system and the heavy one.
fn two_weights(masses: [f64; 2], drum: Option<f64>, friction: Option<LuGre>) -> (System, NodeId) {
    let radius = 0.2;
    let mut model = Model::new();
    model.gravity(Vec3::Z * -G);
    let carrier = match drum {
        None => NodeId::GROUND,
        Some(inertia) => {
            let node = model.node("drum", Motion::at_rest(Vec3::ZERO, Quaternion::IDENTITY));
            model.body(node, Body::centred(1.0, Mat3::IDENTITY * inertia));
            let ends =
                [NodeId::GROUND, node].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::Y));
            model.element("bearing", Joint::revolute(ends[0], ends[1]));
            node
        }
    };
    let weights = [(-radius, masses[0]), (radius, masses[1])].map(|(x, mass)| {
        let place = Vec3::new(x, 0.0, -2.0);
        let node = model.node("weight", Motion::at_rest(place, Quaternion::IDENTITY));
        model.body(node, Body::centred(mass, Mat3::IDENTITY * 0.1));
        let ends = [NodeId::GROUND, node].map(|node| model.axis_marker(node, place, Vec3::Z));
        model.element(format!("guide {x}"), Joint::prismatic(ends[0], ends[1]));
        node
    });
    // Over the top towards +x is positive about +y.
    let course = [weights[0], carrier, weights[1]];
    let places = [
        Vec3::new(-radius, 0.0, -2.0),
        Vec3::ZERO,
        Vec3::new(radius, 0.0, -2.0),
    ];
    let markers = [0, 1, 2].map(|i: usize| model.axis_marker(course[i], places[i], Vec3::Y));
    let law = Law::Pulling(Box::new(Law::Linear {
        stiffness: 1e6,
        damping: 2e3,
    }));
    let length = 4.0 + PI * radius;
    let pulley = Pulley { radius, friction };
    model.element("rope", Cable::new(&markers, length, law).over(&[pulley]));
    (system(model), weights[1])
}

/// On a drum that does not turn the tensions differ by e^(μ π), so that a = g (m₂ - E m₁) / (m₂ + E m₁); below
/// that the weights hang still.
#[test]
fn a_cable_slips_on_a_drum() {
    let (coulomb, light) = (0.2, 3.0);
    let ratio = (coulomb * PI).exp();
    let heavy = 8.0;
    let expected = G * (heavy - ratio * light) / (heavy + ratio * light);
    let (mut sliding, weight) = two_weights([light, heavy], None, friction(coulomb));
    run(&mut sliding, 0.2, 200);
    let early = sliding.motion(weight).velocity[2];
    run(&mut sliding, 0.7, 500);
    let found = (early - sliding.motion(weight).velocity[2]) / 0.5;
    assert!(
        (found - expected).abs() < 1e-3 * expected,
        "{found} {expected}"
    );
    // What friction has taken is what the weights have lost.
    let (start, end) = (-(light + heavy) * 2.0 * G, sliding.energy(&[]));
    let balance = end.stored() + end.dissipated - start;
    assert!(balance.abs() < 2e-3 * end.dissipated, "{balance} {end:?}");

    let (mut held, weight) = two_weights([light, 0.9 * ratio * light], None, friction(coulomb));
    run(&mut held, 0.5, 500);
    // The cable takes up the load, and slips a little while it swings.
    let sunk = -2.0 - held.motion(weight).position[2];
    assert!(sunk > 0.0 && sunk < 1e-3, "{sunk}");
    run(&mut held, 1.0, 500);
    let crept = -2.0 - sunk - held.motion(weight).position[2];
    assert!(crept.abs() < 1e-8, "{crept}");
}

/// A drum in a bearing turns with the cable: a = g (m₂ - m₁) / (m₁ + m₂ + J / r²). Without friction it does not.
#[test]
fn a_cable_turns_a_pulley() {
    let (masses, inertia) = ([3.0, 5.0], 0.08);
    for (friction, carried) in [(friction(2.0), inertia / 0.04), (None, 0.0)] {
        let expected = G * 2.0 / (8.0 + carried);
        let (mut system, weight) = two_weights(masses, Some(inertia), friction);
        run(&mut system, 0.2, 200);
        let early = system.motion(weight).velocity[2];
        run(&mut system, 0.7, 500);
        let found = (early - system.motion(weight).velocity[2]) / 0.5;
        assert!(
            (found - expected).abs() < 1e-3 * expected,
            "{found} {expected}"
        );
    }
}

/// A mass flies from one side of a bore to the other and bounces off its compliant wall: a period takes
/// 4 gap / v + 2 π √(m / k), in any direction across the axis, or of a socket.
#[test]
fn a_pin_flies_through_its_play() {
    let (gap, stiffness, mass, speed) = (2e-3, 1e6_f64, 2.0, 0.5);
    let flight = 4.0 * gap / speed;
    let period = flight + 2.0 * PI * (mass / stiffness).sqrt();
    for (direction, is_pin) in [
        (Vec3::new(0.6, 0.8, 0.0), true),
        (Vec3::new(0.48, 0.64, 0.6), false),
    ] {
        let off = |steps: usize| {
            let mut model = Model::new();
            let start = Motion::at_rest(Vec3::ZERO, Quaternion::IDENTITY);
            let node = model.node("pin", start.moving(direction * speed, Vec3::ZERO));
            model.body(node, Body::centred(mass, Mat3::IDENTITY));
            let ends = [Marker::on(NodeId::GROUND), Marker::on(node)];
            model.element(
                "play",
                match is_pin {
                    true => Clearance::pin(ends, gap, stiffness, 0.0),
                    false => Clearance::ball(ends, gap, stiffness, 0.0),
                },
            );
            let mut system = system(model);
            // Half of the first flight: there is nothing but the velocity.
            run(&mut system, 0.2 * flight, 16);
            let expected = direction * (0.2 * flight * speed);
            assert!((system.motion(node).position - expected).norm() < 1e-15);
            run(&mut system, 3.0 * period, steps);
            system.motion(node).position.norm()
        };
        let [coarse, fine] = [off(2000), off(4000)];
        assert!(fine < 0.02 * gap && fine < 0.4 * coarse, "{coarse} {fine}");
    }
}

/// A shaft that runs dry in its bearing climbs the wall up to the angle of friction φ, and its load W passes it at the
/// distance r sin φ: the friction circle. Its spin falls at W r sin φ / J; so does that of a ball in a socket.
#[test]
fn a_shaft_runs_dry_in_its_bearing() {
    let (gap, stiffness, mass, radius) = (1e-3, 1e7_f64, 2.0, 0.05);
    let (coefficient, spin, duration) = (0.3_f64, 100.0, 0.4);
    let inertia = 0.5 * mass * radius * radius;
    let (sin, cos) = coefficient.atan().sin_cos();
    let depth = mass * G * cos / stiffness;
    for is_pin in [true, false] {
        let mut model = Model::new();
        model.gravity(Vec3::Y * -G);
        let place = Vec3::new(-sin, -cos, 0.0) * (gap + depth);
        let start = Motion::at(place).moving(Vec3::ZERO, Vec3::Z * spin);
        let node = model.node("shaft", start);
        let body = Body::centred(mass, Mat3::diagonal(inertia, inertia, inertia));
        model.body(node, body);
        let ends = [Marker::on(NodeId::GROUND), Marker::on(node)];
        let play = match is_pin {
            true => Clearance::pin(ends, gap, stiffness, 10.0),
            false => Clearance::ball(ends, gap, stiffness, 10.0),
        };
        let friction = SurfaceFriction {
            coefficient,
            radius,
            speed: 1e-3,
        };
        model.element("play", play.with_friction(friction));
        let mut system = system(model);
        let before = system.energy(&[]);
        run(&mut system, duration, 2000);
        let expected = spin - mass * G * radius * sin / inertia * duration;
        let motion = system.motion(node);
        let found = motion.angular_velocity[2];
        assert!((found - expected).abs() < 1e-4 * spin, "{found} {expected}");
        let moved = (motion.position - place).norm();
        assert!(moved < 1e-3 * depth, "{moved:e} {depth:e}");
        let after = system.energy(&[]);
        let lost = before.stored() - after.stored();
        let balance = lost - after.dissipated;
        assert!(balance.abs() < 1e-4 * lost, "{lost} {balance}");
    }
}

/// What ought to stick creeps: down an incline of 20° with μ = 0.5 at speed · tan 20° / √(μ² - tan² 20°).
#[test]
fn a_pin_that_sticks_creeps() {
    let (gap, stiffness, mass, coefficient) = (1e-3, 1e6_f64, 2.0, 0.5_f64);
    let speed = 1e-3;
    let tilt = 20.0_f64.to_radians();
    let mut model = Model::new();
    // It is pressed along -y, and slides along the axis.
    model.gravity(Vec3::new(0.0, -tilt.cos(), tilt.sin()) * G);
    let depth = mass * G * tilt.cos() / stiffness;
    let node = model.node("pin", Motion::at(Vec3::Y * -(gap + depth)));
    // So large that its friction does not turn it.
    model.body(node, Body::centred(mass, Mat3::diagonal(1e6, 1e6, 1e6)));
    let ends = [Marker::on(NodeId::GROUND), Marker::on(node)];
    let friction = SurfaceFriction {
        coefficient,
        radius: 0.01,
        speed,
    };
    let play = Clearance::pin(ends, gap, stiffness, 10.0).with_friction(friction);
    model.element("play", play);
    let mut system = system(model);
    run(&mut system, 0.1, 400);
    let expected = speed * tilt.tan() / (coefficient.powi(2) - tilt.tan().powi(2)).sqrt();
    let found = system.motion(node).velocity[2];
    assert!(
        (found - expected).abs() < 1e-6 * expected,
        "{found} {expected}"
    );
}

/// A mass falls onto a stiff stop and bounces, without loss: free flight and half a sine, whose times are known.
/// The law changes within steps; since its force is continuous, the order of two stays.
#[test]
fn a_mass_bounces_on_a_stop() {
    let (height, mass, stiffness) = (0.2, 1.5, 4e4_f64);
    let w = (stiffness / mass).sqrt();
    let fall = (2.0_f64 * height / G).sqrt();
    let speed = G * fall;
    // On the stop x = s (1 - cos w t) - (v / w) sin w t with the sag s, until it is back.
    let sag = G / (w * w);
    let contact = 2.0 / w * (PI - (speed / w / sag).atan());
    let period = 2.0 * fall + contact;
    let error = |steps: usize| {
        let mut model = Model::new();
        model.gravity(Vec3::X * -G);
        let node = model.node(
            "mass",
            Motion::at_rest(Vec3::X * height, Quaternion::IDENTITY),
        );
        model.body(node, Body::centred(mass, Mat3::IDENTITY));
        let ends = [NodeId::GROUND, node].map(|node| model.axis_marker(node, Vec3::ZERO, Vec3::X));
        model.element("rail", Joint::prismatic(ends[0], ends[1]));
        let law = Law::Stops {
            // The rail counts from where the mass starts.
            lower: -height,
            upper: f64::INFINITY,
            stiffness,
            damping: 0.0,
        };
        model.element(
            "stop",
            CoordinateForce::new(Coordinate::Slide, ends, law, 0.0),
        );
        let mut system = system(model);
        run(&mut system, 3.25 * period, steps);
        let flown = 0.25 * period;
        let expected = height - 0.5 * G * flown * flown;
        (system.motion(node).position[0] - expected).abs()
    };
    // Where in a step the contact falls differs from run to run: the mean over several counts.
    let mean = |steps: usize| (0..5).map(|i| error(steps + 7 * i)).sum::<f64>() / 5.0;
    let [coarse, fine] = [mean(2000), mean(8000)];
    let order = (coarse / fine).log2() / 2.0;
    assert!(order > 1.7, "{order}: {coarse} {fine}");
    assert!(fine < 1e-3 * height, "{fine}");
}
