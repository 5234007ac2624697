//! A chain of balls, a loop of four bars and a humanoid on its feet, for `oldham bench robots`; `benches/robots_peer.py` makes
//! the same for MuJoCo and Drake.

use crate::contact::{ContactShape, Shape, Surface};
use crate::{Body, Coordinate, Joint, Marker, Mat3, Model, Motion, NodeId, Servo, Vec3};

/// Links of half a metre on balls, straight and turning as one body; and the last node.
pub fn ball_chain(links: usize) -> (Model, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let length = 0.5;
    let spin = Vec3::new(0.3, 0.0, 0.4);
    let mut above = NodeId::GROUND;
    for index in 0..links {
        let place = Vec3::X * (index as f64 * length);
        let centre = place + Vec3::X * (0.5 * length);
        let motion = Motion::at(centre).moving(spin.cross(centre), spin);
        let node = model.node(format!("link {index}"), motion);
        let inertia = Mat3::diagonal(0.002, 0.022, 0.022);
        model.body(node, Body::centred(1.0, inertia));
        let [a, b] = [above, node].map(|n| model.marker(n, place));
        model.element(format!("ball {index}"), Joint::spherical(a, b));
        above = node;
    }
    (model, above)
}

/// Crank, coupler and rocker of 1, 2.5 and 2 m on a base of 3 m, at rest with the crank at one radian; and the rocker's node.
pub fn four_bar() -> (Model, NodeId) {
    let [coupler, rocker, base] = [2.5_f64, 2.0, 3.0];
    let far = Vec3::X * base;
    let tip = Vec3::new(1.0_f64.cos(), 0.0, 1.0_f64.sin());
    let between = far - tip;
    let distance = between.norm();
    let along = (coupler * coupler - rocker * rocker + distance * distance) / (2.0 * distance);
    let across = (coupler * coupler - along * along).sqrt();
    let n = between * (1.0 / distance);
    let pin = tip + n * along + Vec3::new(-n[2], 0.0, n[0]) * across;
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let mut bar = |name: &str, from: Vec3, to: Vec3| {
        let node = model.node(name, Motion::at((from + to) * 0.5));
        model.body(node, Body::centred(1.0, Mat3::diagonal(0.1, 0.3, 0.3)));
        node
    };
    let crank = bar("crank", Vec3::ZERO, tip);
    let coupler = bar("coupler", tip, pin);
    let rocker = bar("rocker", far, pin);
    for (name, ends, place) in [
        ("crank bearing", [NodeId::GROUND, crank], Vec3::ZERO),
        ("crank pin", [crank, coupler], tip),
        ("rocker bearing", [NodeId::GROUND, rocker], far),
    ] {
        let [a, b] = ends.map(|node| model.axis_marker(node, place, Vec3::Y));
        model.element(name, Joint::revolute(a, b));
    }
    // What moves in a plane already is held in two directions only.
    let [a, b] = [coupler, rocker].map(|node| model.axis_marker(node, pin, Vec3::Y));
    model.element("rocker pin", Joint::in_line(a, b));
    (model, rocker)
}

/// A part of a humanoid.
struct Part {
    name: &'static str,
    /// What carries it; the first part is free.
    on: usize,
    centre: [f64; 3],
    mass: f64,
    edges: [f64; 3],
    /// Its hinge about the second axis.
    hinge: [f64; 3],
    /// Where its servo holds it, and how stiffly.
    target: f64,
    stiffness: f64,
    rotor: f64,
}

impl Part {
    const fn new(
        name: &'static str,
        on: usize,
        [centre, edges, hinge]: [[f64; 3]; 3],
        mass: f64,
        [target, stiffness, rotor]: [f64; 3],
    ) -> Self {
        Self {
            name,
            on,
            centre,
            mass,
            edges,
            hinge,
            target,
            stiffness,
            rotor,
        }
    }
}

const HIP: [f64; 3] = [-0.25, 4000.0, 0.5];
const KNEE: [f64; 3] = [0.5, 4000.0, 0.5];
const SHOULDER: [f64; 3] = [-0.4, 1000.0, 0.1];
const ELBOW: [f64; 3] = [0.0, 500.0, 0.1];
const TORSO: [f64; 3] = [0.2, 0.34, 0.44];
const THIGH: [f64; 3] = [0.14, 0.13, 0.42];
const SHANK: [f64; 3] = [0.1, 0.1, 0.42];
const FOOT: [f64; 3] = [0.26, 0.1, 0.08];
const ARM: [f64; 3] = [0.08, 0.08, 0.28];
const FOREARM: [f64; 3] = [0.07, 0.07, 0.3];

const PARTS: [Part; 13] = [
    Part::new(
        "pelvis",
        0,
        [[0.0, 0.0, 0.97], [0.18, 0.3, 0.16], [0.0; 3]],
        11.0,
        [0.0; 3],
    ),
    Part::new(
        "trunk",
        0,
        [[0.0, 0.0, 1.27], TORSO, [0.0, 0.0, 1.05]],
        24.0,
        [0.0, 4000.0, 0.5],
    ),
    Part::new(
        "head",
        1,
        [[0.0, 0.0, 1.62], [0.18; 3], [0.0, 0.0, 1.5]],
        5.0,
        [0.0, 400.0, 0.05],
    ),
    Part::new(
        "left thigh",
        0,
        [[0.0, 0.1, 0.71], THIGH, [0.0, 0.1, 0.92]],
        7.5,
        HIP,
    ),
    Part::new(
        "left shank",
        3,
        [[0.0, 0.1, 0.29], SHANK, [0.0, 0.1, 0.5]],
        3.2,
        KNEE,
    ),
    Part::new(
        "left foot",
        4,
        [[0.05, 0.1, 0.04], FOOT, [0.0, 0.1, 0.08]],
        1.0,
        HIP,
    ),
    Part::new(
        "right thigh",
        0,
        [[0.0, -0.1, 0.71], THIGH, [0.0, -0.1, 0.92]],
        7.5,
        HIP,
    ),
    Part::new(
        "right shank",
        6,
        [[0.0, -0.1, 0.29], SHANK, [0.0, -0.1, 0.5]],
        3.2,
        KNEE,
    ),
    Part::new(
        "right foot",
        7,
        [[0.05, -0.1, 0.04], FOOT, [0.0, -0.1, 0.08]],
        1.0,
        HIP,
    ),
    Part::new(
        "left arm",
        1,
        [[0.0, 0.22, 1.28], ARM, [0.0, 0.22, 1.42]],
        2.0,
        SHOULDER,
    ),
    Part::new(
        "left forearm",
        9,
        [[0.0, 0.22, 0.99], FOREARM, [0.0, 0.22, 1.14]],
        1.6,
        ELBOW,
    ),
    Part::new(
        "right arm",
        1,
        [[0.0, -0.22, 1.28], ARM, [0.0, -0.22, 1.42]],
        2.0,
        SHOULDER,
    ),
    Part::new(
        "right forearm",
        11,
        [[0.0, -0.22, 0.99], FOREARM, [0.0, -0.22, 1.14]],
        1.6,
        ELBOW,
    ),
];

fn vector([x, y, z]: [f64; 3]) -> Vec3 {
    Vec3::new(x, y, z)
}

/// Thirteen bodies and twelve hinges with servos and rotors on two feet, upright, while the servos ask for bent knees; and the
/// node of the pelvis.
pub fn standing_humanoid() -> (Model, NodeId) {
    let mut model = Model::new();
    model.gravity(Vec3::new(0.0, 0.0, -9.81));
    let surface = Surface::rough(0.8);
    let floor = ContactShape {
        name: "floor".into(),
        at: Marker::on(NodeId::GROUND),
        shape: Shape::Plane,
        surface,
    };
    model.contacts().shapes.push(floor);
    let mut nodes = Vec::new();
    for part in &PARTS {
        let node = model.node(part.name, Motion::at(vector(part.centre)));
        let [x, y, z] = part.edges.map(|edge| edge * edge * part.mass / 12.0);
        let inertia = Mat3::diagonal(y + z, x + z, x + y);
        model.body(node, Body::centred(part.mass, inertia));
        nodes.push(node);
        if part.stiffness > 0.0 {
            let ends = [nodes[part.on], node];
            let ends = ends.map(|n| model.axis_marker(n, vector(part.hinge), Vec3::Y));
            let [a, b] = ends;
            model.element(format!("{} hinge", part.name), Joint::revolute(a, b));
            let gains = [part.stiffness, part.stiffness / 16.0];
            let servo = Servo::new(Coordinate::Angle, ends, gains).at_position(part.target);
            model.element(format!("{} servo", part.name), servo);
            let rotor = format!("{} rotor", part.name);
            model.reflected_inertia(&rotor, Coordinate::Angle, ends, part.rotor);
        }
        if part.edges == FOOT {
            let half = vector(part.edges) * 0.5;
            model.contacts().shapes.push(ContactShape {
                name: part.name.into(),
                at: Marker::on(node),
                shape: Shape::Box { half },
                surface,
            });
        }
    }
    (model, nodes[0])
}
