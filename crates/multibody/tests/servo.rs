//! Servos in joints, against closed forms and equations of motion by hand.

use oldham_multibody::{
    Body, Coordinate, Drive, Joint, Marker, Mat3, Method, Model, Motion, NodeId, Options, Servo,
    System, Vec3,
};

const G: f64 = 9.81;

fn options(method: Method) -> Options {
    Options {
        method,
        tolerance: 1e-10,
        account_energy: true,
        ..Options::default()
    }
}

fn lms2() -> Options {
    options(Method::Lms2 { rho: 0.6 })
}

/// A hinge about an axis through a place.
fn hinge(model: &mut Model, nodes: [NodeId; 2], place: Vec3, axis: Vec3) -> [Marker; 2] {
    let ends = nodes.map(|node| model.axis_marker(node, place, axis));
    let name = format!("hinge {}", nodes[1].index());
    model.element(name, Joint::revolute(ends[0], ends[1]));
    ends
}

/// A wheel in a hinge with the ground.
fn wheel(inertia: f64) -> (Model, NodeId, [Marker; 2]) {
    let mut model = Model::new();
    let node = model.node("wheel", Motion::at(Vec3::ZERO));
    model.body(node, Body::centred(1.0, Mat3::IDENTITY * inertia));
    let ends = hinge(&mut model, [NodeId::GROUND, node], Vec3::ZERO, Vec3::Z);
    (model, node, ends)
}

/// A pendulum of 1 m with 2 kg at its end; zero is where it hangs.
fn pendulum() -> (Model, NodeId, [Marker; 2]) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -G, 0.0));
    let node = model.node("bob", Motion::at(Vec3::Y * -1.0));
    model.body(node, Body::centred(2.0, Mat3::IDENTITY * 1e-3));
    let ends = hinge(&mut model, [NodeId::GROUND, node], Vec3::ZERO, Vec3::Z);
    (model, node, ends)
}

fn started(model: Model, options: Options) -> System {
    let mut system = System::new(model, options).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn advance(system: &mut System, steps: usize, h: f64) {
    for _ in 0..steps {
        system.step(h, &[]).unwrap();
    }
}

/// Angle about z within half a turn.
fn turn(system: &System, node: NodeId) -> f64 {
    let x = system.motion(node).rotation.column(0);
    x[1].atan2(x[0])
}

/// Angle about z, from a rotor that has turned by less than half a turn.
fn rotor(model: &mut Model, ends: [Marker; 2], inertia: f64) -> NodeId {
    model.reflected_inertia("rotor", Coordinate::Angle, ends, inertia)
}

/// From rest towards `target`: the solution of J q'' + kd q' + kp (q - target) = 0.
fn step_response(j: f64, [kp, kd]: [f64; 2], target: f64, t: f64) -> f64 {
    let decay = 0.5 * kd / j;
    let omega = (kp / j - decay * decay).sqrt();
    let (sin, cos) = (omega * t).sin_cos();
    target * (1.0 - (-decay * t).exp() * (cos + decay / omega * sin))
}

/// With the inertia of a rotor behind a gear, each integrator with its order.
#[test]
fn a_step_of_the_target_is_answered_as_by_hand() {
    let (j, reflected, gains, target) = (0.3, 0.5, [40.0, 3.0], 0.8);
    let methods = [
        (Method::Lms2 { rho: 0.6 }, 2.0),
        (Method::GeneralisedAlpha { rho: 0.6 }, 2.0),
        (Method::BackwardEuler, 1.0),
        (Method::Impulses, 1.0),
        (
            Method::Rk4 {
                inputs: oldham_cosim::StageInputs::Interpolated,
            },
            4.0,
        ),
    ];
    for (method, order) in methods {
        let error = |steps: usize| {
            let (mut model, node, ends) = wheel(j);
            let servo = Servo::new(Coordinate::Angle, ends, gains).at_position(target);
            model.element("servo", servo);
            rotor(&mut model, ends, reflected);
            let mut system = started(model, options(method));
            advance(&mut system, steps, 0.6 / steps as f64);
            turn(&system, node) - step_response(j + reflected, gains, target, 0.6)
        };
        let [coarse, fine] = [error(60), error(120)];
        let found = (coarse / fine).abs().log2();
        println!("{method:?}: {coarse:e} {fine:e} order {found}");
        assert!((found - order).abs() < 0.2, "{method:?}: order {found}");
        assert!(fine.abs() < 0.02, "{method:?}: {fine:e}");
    }
}

/// A torque at its limit accelerates evenly, q = ½ (L / J) t², until kp (target - q) falls below the limit; from there on
/// it is a vibration about the target.
#[test]
fn at_its_limit_the_torque_is_constant() {
    let (j, reflected, kp, limit, target) = (0.3, 0.2, 50.0, 10.0, 1.0);
    let (mut model, node, ends) = wheel(j);
    let servo = Servo::new(Coordinate::Angle, ends, [kp, 0.0]);
    model.element("servo", servo.at_position(target).limited(limit));
    rotor(&mut model, ends, reflected);
    let mut system = started(
        model,
        Options {
            locates_kinks: true,
            ..lms2()
        },
    );
    let inertia = j + reflected;
    let until = target - limit / kp;
    let leaves = (2.0 * until * inertia / limit).sqrt();
    let (h, mut worst) = (1e-3, [0.0_f64; 2]);
    for step in 1..=600 {
        system.step(h, &[]).unwrap();
        let t = f64::from(step) * h;
        let later = t - leaves;
        let expected = match later < 0.0 {
            true => 0.5 * limit / inertia * t * t,
            false => {
                let omega = (kp / inertia).sqrt();
                let speed = limit / inertia * leaves;
                let (sin, cos) = (omega * later).sin_cos();
                target - limit / kp * cos + speed / omega * sin
            }
        };
        if expected > target + limit / kp {
            // The other limit.
            break;
        }
        let error = (turn(&system, node) - expected).abs();
        let phase = usize::from(later >= 0.0);
        worst[phase] = worst[phase].max(error);
    }
    println!("{worst:?}, leaves at {leaves}");
    assert!(worst[0] < 1e-11, "{worst:?}");
    assert!(worst[1] > 0.0 && worst[1] < 1e-5, "{worst:?}");
}

/// λ² J + λ kd + kp + m g l cos θ = 0 about a pendulum that is held at an angle.
#[test]
fn modes_are_those_of_the_loop() {
    let (held, [kp, kd], reflected) = (0.7, [300.0, 4.0], 1.5);
    let (mut model, node, ends) = pendulum();
    // The torque of the weight is provided by the error.
    let target = held + 2.0 * G * f64::sin(held) / kp;
    let servo = Servo::new(Coordinate::Angle, ends, [kp, kd]).at_position(target);
    model.element("servo", servo);
    rotor(&mut model, ends, reflected);
    let mut system = System::new(model, lms2()).unwrap();
    system.equilibrium(0.0, 4, &[]).unwrap();
    system.start(0.0, &[]).unwrap();
    assert!((turn(&system, node) - held).abs() < 1e-10);
    let modes = system.modes(1, None, &[]).unwrap();
    let j = 2.0 + 1e-3 + reflected;
    let stiffness = kp + 2.0 * G * f64::cos(held);
    let decay = 0.5 * kd / j;
    let omega = (stiffness / j - decay * decay).sqrt();
    let mode = &modes.modes[0];
    println!("{} {} instead of {omega} {decay}", mode.omega, mode.growth);
    assert!((mode.omega - omega).abs() < 1e-9 * omega);
    assert!((mode.growth + decay).abs() < 1e-9 * omega);
    assert_eq!(modes.degrees_of_freedom, Some(1));
}

/// Equations of motion by Lagrange, stepped by the classical method with a tiny step.
fn integrate<const N: usize>(
    mut state: [f64; N],
    end: f64,
    rates: impl Fn(f64, &[f64; N]) -> [f64; N],
) -> [f64; N] {
    let steps = 20_000;
    let h = end / f64::from(steps);
    let moved = |s: &[f64; N], r: &[f64; N], h: f64| -> [f64; N] {
        std::array::from_fn(|i| s[i] + h * r[i])
    };
    for step in 0..steps {
        let t = f64::from(step) * h;
        let k1 = rates(t, &state);
        let k2 = rates(t + 0.5 * h, &moved(&state, &k1, 0.5 * h));
        let k3 = rates(t + 0.5 * h, &moved(&state, &k2, 0.5 * h));
        let k4 = rates(t + h, &moved(&state, &k3, h));
        state = std::array::from_fn(|i| {
            state[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i])
        });
    }
    state
}

/// Laws of time for two joints with their rates.
fn laws(t: f64) -> [[f64; 2]; 2] {
    [
        [1.3 * (2.0 * t).sin(), 2.6 * (2.0 * t).cos()],
        [0.4 * (1.0 - (3.0 * t).cos()), 1.2 * (3.0 * t).sin()],
    ]
}

fn law(joint: usize) -> Drive {
    Drive::differentiable(move |t: f64| {
        let [value, rate] = laws(t)[joint];
        let second = [-4.0 * value, 3.6 * (3.0 * t).cos()][joint];
        [value, rate, second]
    })
}

/// A column that turns about z and an arm on it that swings about a horizontal axis, in gravity, with servos that have
/// rotors. By hand: T = ½ (C + R1) ψ'² + ½ m l² (θ'² + cos²θ ψ'²) + ½ R2 θ'², V = m g l sin θ.
struct Arm {
    limits: [f64; 2],
}

impl Arm {
    const COLUMN: f64 = 0.4;
    const MASS: f64 = 3.0;
    const LENGTH: f64 = 0.8;
    const ROTORS: [f64; 2] = [0.7, 0.9];
    const GAINS: [[f64; 2]; 2] = [[900.0, 30.0], [2000.0, 60.0]];
    const END: f64 = 0.8;

    /// Where the tip ends by its own equations.
    fn by_hand(&self) -> Vec3 {
        let torque = |i: usize, t: f64, q: f64, rate: f64| {
            let [kp, kd] = Self::GAINS[i];
            let [value, wanted] = laws(t)[i];
            let wish = kp * (value - q) + kd * (wanted - rate);
            wish.clamp(-self.limits[i], self.limits[i])
        };
        let point = Self::MASS * Self::LENGTH * Self::LENGTH;
        let weight = Self::MASS * G * Self::LENGTH;
        let [psi, theta, ..] = integrate([0.0; 4], Self::END, |t, &[psi, theta, spin, swing]| {
            let (sin, cos) = theta.sin_cos();
            let about_z = Self::COLUMN + Self::ROTORS[0] + point * cos * cos;
            let coriolis = 2.0 * point * sin * cos * spin * swing;
            let centrifugal = point * sin * cos * spin * spin;
            let lifting = torque(1, t, theta, swing) - weight * cos - centrifugal;
            [
                spin,
                swing,
                (torque(0, t, psi, spin) + coriolis) / about_z,
                lifting / (point + Self::ROTORS[1]),
            ]
        });
        let level = theta.cos();
        Vec3::new(level * psi.cos(), level * psi.sin(), theta.sin()) * Self::LENGTH
    }

    fn by_steps(&self, method: Method, steps: usize) -> Vec3 {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.0, 0.0, -G));
        let base = model.node("base", Motion::at(Vec3::ZERO));
        model.body(base, Body::centred(1.0, Mat3::IDENTITY * Self::COLUMN));
        let tip = model.node("tip", Motion::at(Vec3::X * Self::LENGTH));
        // A point: nothing that turns besides.
        model.body(tip, Body::centred(Self::MASS, Mat3::IDENTITY * 1e-9));
        let yaw = hinge(&mut model, [NodeId::GROUND, base], Vec3::ZERO, Vec3::Z);
        let swing = hinge(&mut model, [base, tip], Vec3::ZERO, Vec3::Y * -1.0);
        for (i, ends) in [yaw, swing].into_iter().enumerate() {
            let servo = Servo::new(Coordinate::Angle, ends, Self::GAINS[i]);
            let servo = servo.at_position(law(i)).limited(self.limits[i]);
            model.element(format!("servo {i}"), servo);
            let name = format!("rotor {i}");
            model.reflected_inertia(&name, Coordinate::Angle, ends, Self::ROTORS[i]);
        }
        let mut system = started(model, options(method));
        advance(&mut system, steps, Self::END / steps as f64);
        system.motion(tip).position
    }
}

/// Second order without limits; with limits, both of which are met, kinks disturb the order but not the limit.
#[test]
fn an_arm_follows_laws_of_time_as_by_hand() {
    let methods = [
        Method::Lms2 { rho: 0.6 },
        Method::GeneralisedAlpha { rho: 0.6 },
    ];
    let free = Arm {
        limits: [f64::INFINITY; 2],
    };
    let limited = Arm {
        limits: [18.0, 35.0],
    };
    let [exact, cut_off] = [free.by_hand(), limited.by_hand()];
    assert!((exact - cut_off).norm() > 0.01, "limits are met");
    for method in methods {
        let error = |steps: usize| (free.by_steps(method, steps) - exact).norm();
        let [coarse, fine] = [error(400), error(800)];
        println!("{method:?}: {coarse:e} {fine:e}");
        assert!(fine < 5e-7, "{method:?}: {fine:e}");
        let ratio = coarse / fine;
        assert!((ratio - 4.0).abs() < 0.1, "{method:?}: {ratio}");
        let error = (limited.by_steps(method, 1600) - cut_off).norm();
        assert!(error < 1e-5, "{method:?}: {error:e}");
    }
}

/// Two wheels on one axis: what a rotor adds resists the relative motion alone.
#[test]
fn a_rotor_resists_the_relative_motion_alone() {
    let ([i1, i2], [r1, r2], [k1, k2]) = ([0.5, 0.3], [0.2, 0.9], [40.0, 70.0]);
    let (mut model, first, lower) = wheel(i1);
    let second = model.node("second", Motion::at(Vec3::Z));
    model.body(second, Body::centred(1.0, Mat3::IDENTITY * i2));
    let upper = hinge(&mut model, [first, second], Vec3::Z, Vec3::Z);
    for (i, (ends, k, r)) in [(lower, k1, r1), (upper, k2, r2)].into_iter().enumerate() {
        let servo = Servo::new(Coordinate::Angle, ends, [k, 0.0]);
        model.element(format!("servo {i}"), servo);
        model.reflected_inertia(&format!("rotor {i}"), Coordinate::Angle, ends, r);
    }
    let mut system = started(model, lms2());
    let modes = system.modes(2, None, &[]).unwrap();
    // (K - ω² M) q = 0 in relative angles, M = [[i1 + r1 + i2, i2], [i2, i2 + r2]].
    let (a, b, c) = (i1 + r1 + i2, i2, i2 + r2);
    let (m2, m1, m0) = (a * c - b * b, -(a * k2 + c * k1), k1 * k2);
    let root = (m1 * m1 - 4.0 * m2 * m0).sqrt();
    for (mode, square) in modes.modes.iter().zip([(-m1 - root), (-m1 + root)]) {
        let expected = (0.5 * square / m2).sqrt();
        let error = mode.omega / expected - 1.0;
        assert!(error.abs() < 1e-9, "{} {expected}", mode.omega);
    }
}

/// A slider: the rotor adds a mass, here that of a free fall with a tenth of the weight left.
#[test]
fn a_rotor_behind_a_slider_is_a_mass() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -G));
    let node = model.node("slider", Motion::at(Vec3::ZERO));
    model.body(node, Body::centred(1.0, Mat3::IDENTITY));
    let ends = [NodeId::GROUND, node].map(|n| model.axis_marker(n, Vec3::ZERO, Vec3::Z));
    model.element("guide", Joint::prismatic(ends[0], ends[1]));
    model.reflected_inertia("rotor", Coordinate::Slide, ends, 9.0);
    let mut system = started(model, lms2());
    advance(&mut system, 100, 1e-2);
    let fallen = system.motion(node).position[2];
    assert!((fallen + 0.05 * G).abs() < 1e-10, "{fallen}");
}

/// A target that rests stores, a damper loses, a target that moves supplies; the balance closes with second order.
#[test]
fn energy_is_stored_lost_and_supplied() {
    let balance = |servo: &dyn Fn([Marker; 2]) -> Servo, steps: usize| {
        let (mut model, _, ends) = pendulum();
        model.element("servo", servo(ends));
        rotor(&mut model, ends, 0.5);
        let mut system = started(model, lms2());
        let first = system.energy(&[]);
        advance(&mut system, steps, 1.0 / steps as f64);
        let last = system.energy(&[]);
        let gained = last.kinetic + last.potential - first.kinetic - first.potential;
        (gained + last.dissipated - last.supplied, first, last)
    };
    let angle = |ends| Servo::new(Coordinate::Angle, ends, [60.0, 5.0]);
    let resting = |ends| angle(ends).at_position(1.2);
    let (lost, first, last) = balance(&resting, 1000);
    // Half kp times the square of the error, besides the weight.
    let lifted = first.potential + 2.0 * G;
    assert!((lifted - 0.5 * 60.0 * 1.44).abs() < 1e-9, "{first:?}");
    assert_eq!(last.supplied, 0.0);
    assert!(
        last.dissipated > 1.0 && lost.abs() < 1e-3,
        "{lost} {last:?}"
    );
    let moving = |ends| angle(ends).at_position(law(0));
    let speed = |ends| {
        Servo::new(Coordinate::Angle, ends, [0.0, 5.0]).at_velocity(Drive::function(|t| 3.0 * t))
    };
    let limited = |ends| angle(ends).at_position(law(0)).limited(12.0);
    let cases: [&dyn Fn([Marker; 2]) -> Servo; 4] = [&resting, &moving, &speed, &limited];
    for (case, servo) in cases.into_iter().enumerate() {
        let [(coarse, ..), (fine, _, last)] = [balance(servo, 500), balance(servo, 1000)];
        println!("{case}: {coarse:e} {fine:e} of {last:?}");
        assert!(fine.abs() < 5e-4, "{case}: {fine:e}");
        // Kinks leave the order as it is, but not the ratio.
        assert!(
            coarse.abs() > 3.0 * fine.abs() || fine.abs() < 1e-5,
            "{case}"
        );
        assert!(case == 0 || last.supplied.abs() > 0.5, "{case}: {last:?}");
    }
}

/// More than three turns behind, and beyond: the angle is counted.
#[test]
fn whole_turns_count() {
    let (mut model, node, ends) = wheel(0.1);
    let servo = Servo::new(Coordinate::Angle, ends, [8.0, 4.0]).at_position(20.0);
    model.element("servo", servo.limited(3.0));
    let rotor = rotor(&mut model, ends, 0.1);
    let mut system = started(model, lms2());
    let mut turned = 0.0;
    let mut last = 0.0;
    for _ in 0..4000 {
        system.step(2.5e-3, &[]).unwrap();
        let now = turn(&system, node);
        turned += (now - last + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU)
            - std::f64::consts::PI;
        last = now;
    }
    assert!((turned - 20.0).abs() < 1e-6, "{turned}");
    let apart = turn(&system, rotor) - turn(&system, node);
    assert!(apart.sin().abs() < 1e-9, "{apart}");
}

/// 10⁹ N·m/rad at steps of 1 ms: the error is the load over the gain, with and without a limit.
#[test]
fn a_servo_may_be_as_stiff_as_one_likes() {
    for (kp, kd) in [(1e9, 1e6), (1e9, 0.0), (1e6, 1e3)] {
        for limit in [f64::INFINITY, 200.0] {
            let (mut model, node, ends) = pendulum();
            let target = Drive::differentiable(|t: f64| {
                let (sin, cos) = (2.0 * t).sin_cos();
                [0.5 * (1.0 - cos), sin, 2.0 * cos]
            });
            let servo = Servo::new(Coordinate::Angle, ends, [kp, kd]);
            model.element("servo", servo.at_position(target).limited(limit));
            rotor(&mut model, ends, 0.5);
            let mut system = started(
                model,
                Options {
                    account_energy: true,
                    ..Options::default()
                },
            );
            advance(&mut system, 1000, 1e-3);
            let error = turn(&system, node) - 0.5 * (1.0 - f64::cos(2.0));
            println!("{kp:e} {kd:e} {limit}: {error:e} {:?}", system.counters());
            assert_eq!(system.counters().retries, 0);
            assert!(
                error.abs() < 60.0 / kp + 2e-6,
                "{kp:e} {kd:e} {limit}: {error:e}"
            );
        }
    }
}

/// Steep laws with limits made Newton's iteration jump from one limit to the other: from one target to the next far
/// away, and while it holds there. Each step now finds on which side of its limits the servo is.
#[test]
fn a_stiff_servo_goes_from_one_limit_to_the_other() {
    let (j, limit, target) = (0.3, 6.0, 0.5);
    for (kp, kd) in [(1e5, 2e4), (1e7, 2e6), (1e9, 2e8)] {
        let (mut model, node, ends) = wheel(j);
        let servo = Servo::new(Coordinate::Angle, ends, [kp, kd]).at_position(target);
        model.element("servo", servo.limited(limit));
        let mut system = started(model, lms2());
        advance(&mut system, 6000, 1e-3);
        let counters = system.counters();
        println!(
            "{kp:e} {kd:e}: {counters:?} {:e}",
            turn(&system, node) - target
        );
        assert_eq!(counters.retries, 0, "{counters:?}");
        assert!(
            counters.iterations < 4 * counters.micro_steps,
            "{counters:?}"
        );
        // In the end the slow way along kp e + kd e' = 0, with the time constant kd / kp = 0.2 s.
        assert!((turn(&system, node) - target).abs() < 1e-9);
    }
}
