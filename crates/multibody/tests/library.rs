//! Problems of the IFToMM library of multibody benchmarks (González, Dopico, Lugrís, Cuadrado, "A
//! benchmarking system for MBS simulation software", Multibody Syst. Dyn. 16 (2006) 179–190). The
//! library's four-bar and squeezer problems are among the machines.

use oldham_multibody::{
    Body, Joint, Marker, Mat3, Model, Motion, NodeId, Options, Quaternion, Row, System, V3, Vec3,
};

const G: f64 = 9.81;

fn started(model: Model) -> System {
    let mut system = System::new(model, Options::default()).unwrap();
    system.start(0.0, &[]).unwrap();
    system
}

fn arithmetic_geometric_mean(mut a: f64, mut b: f64) -> f64 {
    while (a - b).abs() > 1e-15 * a {
        (a, b) = (0.5 * (a + b), (a * b).sqrt());
    }
    a
}

/// Problem A01: a point of 1 kg on a massless bar of 1 m, released where the bar is horizontal.
/// The period is 2π √(L/g) / agm(1, cos(θ₀/2)); four periods are 9.5 s of the library's ten. After
/// each quarter it passes its lowest point with √(2 g L).
#[test]
fn the_simple_pendulum_returns_after_its_period() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -G, 0.0));
    let point = model.node("point", Motion::at(-Vec3::X));
    model.body(point, Body::centred(1.0, Mat3::diagonal(1e-3, 1e-3, 1e-3)));
    let ends = [Marker::on(NodeId::GROUND), Marker::on(point)];
    model.element("bar", Joint::distance(ends[0], ends[1], 1.0));
    let mut system = started(model);
    let mean = arithmetic_geometric_mean(1.0, 0.5_f64.sqrt());
    let period = std::f64::consts::TAU / G.sqrt() / mean;
    let (periods, steps) = (4, 4000);
    let h = period / steps as f64;
    for step in 1..=periods * steps {
        system.step(h, &[]).unwrap();
        let motion = system.motion(point);
        if step % steps == steps / 4 {
            let place = motion.position + Vec3::Y;
            assert!(place.norm() < 1e-4, "{step}: {place:?}");
            let speed = motion.velocity[0];
            assert!((speed - (2.0 * G).sqrt()).abs() < 1e-4, "{step}: {speed}");
        }
    }
    let place = system.motion(point).position + Vec3::X;
    assert!(place.norm() < 1e-6, "{place:?}");
}

/// The closed polygon of Bricard's mechanism: six edges of a cube of 1 m, and at each corner the
/// axis of the joint, at right angles to both edges.
const CORNERS: [([f64; 3], [f64; 3]); 6] = [
    ([1.0, 0.0, 0.0], [1.0, 0.0, 0.0]),
    ([1.0, 1.0, 0.0], [0.0, 0.0, 1.0]),
    ([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]),
    ([0.0, 1.0, 1.0], [1.0, 0.0, 0.0]),
    ([0.0, 0.0, 1.0], [0.0, 0.0, 1.0]),
    ([1.0, 0.0, 1.0], [0.0, 1.0, 0.0]),
];

/// Problem A04: five rods of 1 m, 1 kg and 0.1 m × 0.1 m between six revolute joints, the ground
/// being the sixth edge. Counting degrees of freedom there are none left, yet it moves (Bricard, "Mémoire
/// sur la théorie de l'octaèdre articulé", J. Math. Pures Appl. 3 (1897) 113–148). So one of the
/// thirty constraints must follow from the others: with it left out of the last joint, the axes of
/// that joint must stay aligned by themselves, and energy must be conserved over the ten seconds.
#[test]
fn bricards_mechanism_moves_as_he_proved() {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, -G, 0.0));
    let corner = |i: usize| V3(CORNERS[i % 6].0);
    let axis = |i: usize| V3(CORNERS[i % 6].1);
    let mut last = NodeId::GROUND;
    for i in 0..5 {
        let (from, to) = (corner(i), corner(i + 1));
        let x = to - from;
        let y = x.perpendicular();
        let axes = Quaternion::from_matrix(&Mat3::from_columns(x, y, x.cross(y)));
        let middle = (from + to) * 0.5;
        let rod = model.node(format!("rod {i}"), Motion::at_rest(middle, axes));
        let (across, along) = ((1.0 + 0.01) / 12.0, 0.02 / 12.0);
        model.body(
            rod,
            Body::centred(1.0, Mat3::diagonal(along, across, across)),
        );
        let [a, b] = [last, rod].map(|n| model.axis_marker(n, from, axis(i)));
        model.element(format!("joint {i}"), Joint::revolute(a, b));
        last = rod;
    }
    let [a, b] = [last, NodeId::GROUND].map(|n| model.axis_marker(n, corner(5), axis(5)));
    let rows = [0, 1, 2].map(|i| Row::along(i, 0.0)).to_vec();
    let rows = [rows, vec![Row::perpendicular(0, 2)]].concat();
    model.element("joint 5", Joint::from_rows(a, b, rows));
    let mut system = started(model);
    let before = system.energy(&[]).stored();
    let held = a.orientation.matrix().column(2);
    let mut fastest = 0.0_f64;
    for _ in 0..10_000 {
        system.step(1e-3, &[]).unwrap();
        let motion = system.motion(last);
        let aligned = (motion.rotation * held).dot(axis(5)).abs();
        assert!((aligned - 1.0).abs() < 1e-9, "{}: {aligned}", system.time());
        fastest = fastest.max(motion.angular_velocity.norm());
    }
    assert!(fastest > 1.0, "it moves: {fastest}");
    let lost = before - system.energy(&[]).stored();
    assert!(lost.abs() < 2e-3, "{lost} J of {before} J");
}
