//! A machine as all formats have it: a tree of nodes, what hangs on them, and what closes loops.

use oldham_space::{Mat3, Vec3};

use crate::pose::Pose;
use crate::report::{NoteKind, Report};

/// A whole machine.
#[derive(Debug, Default)]
pub(crate) struct Machine {
    pub name: String,
    pub gravity: Vec3,
    pub step: Option<f64>,
    /// What stands still.
    pub ground: Content,
    /// Each after its parent.
    pub nodes: Vec<Node>,
    pub couplings: Vec<Coupling>,
    pub loops: Vec<Loop>,
    pub drives: Vec<Drive>,
    pub sensors: Vec<Sensor>,
    /// Nodes whose shapes pass through each other.
    pub exclusions: Vec<[Option<usize>; 2]>,
    /// Whether its shapes come into contact with each other, or only with the ground.
    pub touches_itself: bool,
    /// Friction of surfaces that give none.
    pub friction: f64,
}

/// What moves as one, in the axes of its frame.
#[derive(Debug)]
pub(crate) struct Node {
    pub name: String,
    /// Nothing: the ground.
    pub parent: Option<usize>,
    /// Where it is in its parent while the joint is at zero.
    pub origin: Pose,
    /// Nothing: it moves freely.
    pub joint: Option<Joint>,
    pub content: Content,
}

/// What hangs on a node.
#[derive(Debug, Default)]
pub(crate) struct Content {
    pub bodies: Vec<Body>,
    pub shapes: Vec<Solid>,
    pub visuals: Vec<Solid>,
}

/// How a node moves in its parent; the joint is at the origin of the node.
#[derive(Clone, Debug)]
pub(crate) struct Joint {
    pub name: String,
    pub kind: JointKind,
    /// Of length one.
    pub axis: Vec3,
    pub limits: Option<[f64; 2]>,
    pub effort: Option<f64>,
    pub damping: f64,
    pub stiffness: f64,
    /// Where its spring is at rest.
    pub rest: f64,
    pub friction: f64,
    pub inertia: f64,
    pub start: f64,
}

impl Joint {
    pub fn new(name: &str, kind: JointKind, axis: Vec3) -> Self {
        Self {
            name: name.to_owned(),
            kind,
            axis,
            limits: None,
            effort: None,
            damping: 0.0,
            stiffness: 0.0,
            rest: 0.0,
            friction: 0.0,
            inertia: 0.0,
            start: 0.0,
        }
    }
}

/// What a joint leaves free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JointKind {
    Hinge,
    Slide,
    Ball,
    Planar,
}

impl JointKind {
    /// Whether it has one coordinate.
    pub fn is_single(self) -> bool {
        matches!(self, Self::Hinge | Self::Slide)
    }
}

/// A rigid body.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub name: String,
    pub mass: f64,
    pub centre: Vec3,
    /// About the centre, in the axes of the node.
    pub inertia: Mat3,
}

/// A shape.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    pub name: String,
    pub at: Pose,
    pub form: Form,
    /// Red, green, blue from 0 to 1.
    pub colour: Option<[f64; 3]>,
    pub friction: Option<f64>,
}

/// What a shape is; what is round lies along the third axis.
#[derive(Clone, Debug)]
pub(crate) enum Form {
    /// Three lengths.
    Box([f64; 3]),
    Sphere(f64),
    /// Radius and length.
    Cylinder(f64, f64),
    /// Radius, and length between the centres of the ends.
    Capsule(f64, f64),
    /// Three half axes.
    Ellipsoid([f64; 3]),
    /// Out along the third axis.
    Plane,
    /// Number of a file of triangles, and factors along its axes.
    Mesh(usize, [f64; 3]),
    /// Corners of a convex solid.
    Points(Vec<Vec3>),
}

/// The first coordinate is `ratio` times the second, and something.
#[derive(Debug)]
pub(crate) struct Coupling {
    pub name: String,
    /// Numbers of nodes, whose joints they are.
    pub joints: [usize; 2],
    pub ratio: f64,
}

/// What closes a loop.
#[derive(Debug)]
pub(crate) struct Loop {
    pub name: String,
    pub nodes: [Option<usize>; 2],
    /// Whether it holds the orientation too.
    pub is_rigid: bool,
    /// Where, on the first node.
    pub at: Pose,
}

/// What drives a joint.
#[derive(Debug)]
pub(crate) struct Drive {
    pub name: String,
    /// Number of the node whose joint it is.
    pub joint: usize,
    pub kind: DriveKind,
    /// The largest torque or force of the joint.
    pub limit: Option<f64>,
}

/// How a drive acts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum DriveKind {
    /// A torque or force from outside.
    Torque,
    /// A servo with gains of position and rate.
    Servo {
        kp: f64,
        kd: f64,
        goal: f64,
        speed: f64,
    },
}

/// What is measured.
#[derive(Debug)]
pub(crate) struct Sensor {
    pub name: String,
    pub kind: SensorKind,
}

/// What a sensor measures.
#[derive(Debug)]
pub(crate) enum SensorKind {
    Coordinate(usize),
    Rate(usize),
    /// Of a drive, by its place.
    Torque(usize),
    /// Component along an axis of the velocity of a point of a node.
    Velocity(Option<usize>, Vec3, Vec3),
    /// The same of its place.
    Displacement(Option<usize>, Vec3, Vec3),
    /// Component of the angular velocity of a node.
    Spin(Option<usize>, Vec3),
}

impl Machine {
    pub fn content(&mut self, node: Option<usize>) -> &mut Content {
        match node {
            None => &mut self.ground,
            Some(node) => &mut self.nodes[node].content,
        }
    }

    /// Joints at the ends of branches without mass would move nothing: their nodes become part of their parents.
    pub fn weld_massless(&mut self, report: &mut Report) {
        let mut is_heavy = vec![false; self.nodes.len()];
        for place in (0..self.nodes.len()).rev() {
            let node = &self.nodes[place];
            is_heavy[place] |= !node.content.bodies.is_empty();
            if let (true, Some(parent)) = (is_heavy[place], node.parent) {
                is_heavy[parent] = true;
            }
        }
        for &Loop { nodes, .. } in &self.loops {
            let held = nodes.into_iter().flatten();
            held.for_each(|node| is_heavy[node] = true);
        }
        if is_heavy.iter().all(|&heavy| heavy) {
            return;
        }
        // Where each node goes, and by what pose.
        let mut goes: Vec<(Option<usize>, Pose)> = Vec::new();
        let mut kept = Vec::new();
        let nodes = std::mem::take(&mut self.nodes);
        for (place, mut node) in nodes.into_iter().enumerate() {
            let (parent, by) = match node.parent {
                None => (None, Pose::default()),
                Some(parent) => goes[parent],
            };
            node.origin = by.then(&node.origin);
            node.parent = parent;
            if is_heavy[place] {
                goes.push((Some(kept.len()), Pose::default()));
                kept.push(node);
                continue;
            }
            let joint = match &node.joint {
                Some(joint) => format!("the joint `{}` is fixed at zero", joint.name),
                None => "it is fixed".into(),
            };
            let text = format!(
                "nothing beyond the joint of `{}` has a mass: {joint}. Give the link an inertia{}",
                node.name,
                match report.format {
                    "URDF" => ", or convert with --density",
                    _ => "",
                }
            );
            report.note(NoteKind::Remark, None, text);
            let at = node.origin;
            let content = match parent {
                None => &mut self.ground,
                Some(parent) => &mut kept[parent].content,
            };
            for (from, to) in [
                (node.content.shapes, &mut content.shapes),
                (node.content.visuals, &mut content.visuals),
            ] {
                to.extend(from.into_iter().map(|solid| Solid {
                    at: at.then(&solid.at),
                    ..solid
                }));
            }
            goes.push((parent, at));
        }
        self.nodes = kept;
        let is_kept = |node: &usize| is_heavy[*node];
        let new = |node: usize| goes[node].0.unwrap_or_default();
        self.couplings
            .retain(|coupling| coupling.joints.iter().all(is_kept));
        for coupling in &mut self.couplings {
            coupling.joints = coupling.joints.map(new);
        }
        let mut places = Vec::new();
        let mut drives = Vec::new();
        for mut drive in std::mem::take(&mut self.drives) {
            places.push(is_kept(&drive.joint).then_some(drives.len()));
            if is_kept(&drive.joint) {
                drive.joint = new(drive.joint);
                drives.push(drive);
            }
        }
        self.drives = drives;
        self.sensors.retain_mut(|sensor| match &mut sensor.kind {
            SensorKind::Coordinate(joint) | SensorKind::Rate(joint) => {
                let keep = is_kept(joint);
                *joint = new(*joint);
                keep
            }
            SensorKind::Torque(drive) => {
                let place = places[*drive];
                *drive = place.unwrap_or_default();
                place.is_some()
            }
            SensorKind::Velocity(node, offset, _) | SensorKind::Displacement(node, offset, _) => {
                if let Some(old) = *node {
                    let (to, by) = goes[old];
                    (*node, *offset) = (to, by.point(*offset));
                }
                true
            }
            SensorKind::Spin(node, _) => {
                *node = node.and_then(|node| goes[node].0);
                true
            }
        });
        for joined in &mut self.loops {
            joined.nodes = joined.nodes.map(|node| node.and_then(|node| goes[node].0));
        }
        for pair in &mut self.exclusions {
            *pair = pair.map(|node| node.and_then(|node| goes[node].0));
        }
    }
}
