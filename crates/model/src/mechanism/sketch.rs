//! What a mechanism looks like.

use std::sync::Arc;

use oldham_multibody::{Marker, NodeId, Quaternion, Vec3};

use super::RoadSketch;

/// What there is to draw of a mechanism. Where things are is another matter: poses of the nodes
/// come from a solution.
#[derive(Clone, Debug, Default)]
pub struct Sketch {
    /// Names of the nodes, the ground first.
    pub nodes: Vec<String>,
    /// Rigid bodies.
    pub bodies: Vec<Solid>,
    /// Beams through nodes, springs and actuators between markers, faces of shells, cables, cams.
    pub outlines: Vec<Outline>,
    /// Joints, with the two places that they connect.
    pub joints: Vec<(Symbol, [Marker; 2])>,
    /// Half spaces, below the first two axes of each marker.
    pub planes: Vec<Marker>,
    /// Particles, in the order of the file.
    pub particles: Vec<ParticleSketch>,
    /// Nodes whose contacts are recorded.
    pub contacts: Vec<NodeId>,
    /// Bodies that are drawn by files.
    pub meshes: Vec<MeshFile>,
    /// What is drawn besides.
    pub visuals: Vec<VisualSketch>,
    /// Internal loads of elements of beams and shells that are recorded.
    pub section_loads: Vec<SectionLoad>,
}

/// Spheres without nodes; where they are is recorded under their name.
#[derive(Clone, Debug, PartialEq)]
pub struct ParticleSketch {
    /// Their name in the subsystem.
    pub name: String,
    /// In m.
    pub radius: f64,
    /// How many there are.
    pub count: usize,
}

/// An internal load of an element.
#[derive(Clone, Debug, PartialEq)]
pub struct SectionLoad {
    /// The nodes of the element.
    pub nodes: Vec<NodeId>,
    /// Which load, as model files call it.
    pub load: &'static str,
    /// The port that shows it.
    pub port: String,
}

/// A rigid body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solid {
    /// The node that carries it.
    pub node: NodeId,
    /// Its centre relative to the node, in node axes.
    pub centre: Vec3,
    /// Its axes relative to the node's.
    pub orientation: Quaternion,
    /// What it looks like, if that is known.
    pub shape: Option<Shape>,
}

/// A file of triangles that is drawn instead of a body.
#[derive(Clone, Debug, PartialEq)]
pub struct MeshFile {
    /// The place of the body among all.
    pub body: usize,
    /// Relative to the model file.
    pub path: String,
    /// Metres for each unit of the file.
    pub scale: f64,
}

/// Something that is drawn and has no mass.
#[derive(Clone, Debug, PartialEq)]
pub struct VisualSketch {
    /// Where it is.
    pub at: Marker,
    /// What it is.
    pub look: Look,
    /// Red, green and blue; that of its part where none is given.
    pub colour: Option<[u8; 3]>,
}

/// What something looks like.
#[derive(Clone, Debug, PartialEq)]
pub enum Look {
    /// A plain shape.
    Plain(Shape),
    /// A cylinder with round ends, along the first axis.
    Capsule {
        /// In m.
        radius: f64,
        /// Between the centres of the ends, in m.
        length: f64,
    },
    /// A file of triangles.
    Mesh {
        /// Relative to the model file.
        path: String,
        /// Metres for each unit of the file, along its axes.
        scale: [f64; 3],
    },
}

/// A homogeneous shape; round ones and rods lie along the first axis. Lengths in m.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shape {
    /// Sides.
    Box([f64; 3]),
    /// Radius.
    Sphere(f64),
    /// A tube, or a cylinder if nothing is inside.
    Tube {
        /// Outer radius.
        outer: f64,
        /// Inner radius.
        inner: f64,
        /// Length.
        length: f64,
    },
    /// Length.
    Rod(f64),
}

/// A line or a face.
#[derive(Clone, Debug, PartialEq)]
pub enum Outline {
    /// A beam through nodes.
    Beam(Vec<NodeId>),
    /// A spring between two points.
    Spring([Marker; 2]),
    /// A damper between two points.
    Damper(Telescope),
    /// A damper within a spring, between two points.
    Strut(Telescope),
    /// An actuator between two points.
    Actuator(Telescope),
    /// A face between four nodes.
    Face([NodeId; 4]),
    /// A cable through points.
    Cable(Vec<Marker>),
    /// A curve that is drawn on a node, such as the profile of a cam.
    Profile(Vec<Marker>),
    /// A wheel that turns about an axis of its node.
    Wheel {
        /// The node of the rim.
        rim: NodeId,
        /// Its axis in node axes, of length one.
        axis: Vec3,
        /// In m.
        radius: f64,
    },
    /// A road, which stays where it is.
    Road(Arc<RoadSketch>),
}

/// A tube and a rod that slides in it, between two points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Telescope {
    /// Where the tube is attached, then the rod.
    pub ends: [Marker; 2],
    /// Distance of the two points at the start in m.
    pub length: f64,
}

/// How a joint is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// A rigid connection.
    Clamp,
    /// A pin, or a ball.
    Pin,
    /// Something that slides along the third axis of the first marker.
    Slide,
    /// A point of the second node that is led by something drawn otherwise.
    Point,
    /// A rigid rod between two points.
    Rod,
}
