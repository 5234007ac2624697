//! Beams and their cross-sections.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Lengths, Pairs, Vector};
use crate::format::forms::by_form;
use crate::format::{At, Count, NonNegative, Poisson, Positive};

/// The cross-section of a beam, by its stiffnesses or by material and profile. The first section
/// axis points along the beam, the second to `up` of the beam.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Section {
    /// Axial stiffness EA in N.
    pub axial: Option<At<Positive>>,
    /// Shear stiffness GA in N along the second and third section axis.
    pub shear: Option<At<Lengths>>,
    /// Torsional stiffness GJ in N·m².
    pub torsion: Option<At<Positive>>,
    /// Bending stiffness EJ in N·m² about the second and third section axis.
    pub bending: Option<At<Lengths>>,
    /// The full stiffness instead, as six rows of six: axial and shear forces, torque and bending
    /// moments over axial and shear strains, twist and curvatures.
    pub stiffness: Option<At<Pairs>>,
    /// Young's modulus in Pa, for a profile.
    pub young: Option<At<Positive>>,
    /// Poisson's ratio, for a profile.
    #[schemars(extend("default" = 0.3))]
    pub poisson: Option<At<Poisson>>,
    /// Density in kg/m³, for a profile.
    pub density: Option<At<Positive>>,
    /// Profile: sides in m along the second and third section axis.
    pub rectangle: Option<At<Lengths>>,
    /// Profile: radius in m.
    pub circle: Option<At<Positive>>,
    /// Profile: outer and inner radius in m.
    pub tube: Option<At<Vector>>,
    /// Mass per length in kg/m; zero where bodies on the nodes carry all mass. By default that of the
    /// profile.
    pub mass: Option<At<NonNegative>>,
    /// Rotary inertia per length in kg·m, about the three section axes. By default that of the
    /// profile, or none.
    pub inertia: Option<At<Vector>>,
    /// Damping in s: the stress is stiffness times strain plus `damping` times its rate.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
}

/// A beam along a line, meshed with geometrically exact elements. Its nodes are called `<beam>.0`,
/// `<beam>.1` and so on, apart from ends that are user-defined nodes.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Beam {
    /// Where it begins: the name of a node, or a point in m.
    pub from: Option<At<End>>,
    /// Where it ends: the name of a node, or a point in m.
    pub to: Option<At<End>>,
    /// A curved line instead of a straight one: three expressions of `s`, which goes from 0 to 1,
    /// in m. With `from` and `to`, these must be nodes at its ends.
    pub curve: Option<At<Vector>>,
    /// The frame in which points, the curve and `up` are given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// The number of elements.
    #[schemars(required)]
    pub elements: Option<At<Count>>,
    /// Nodes of an element: 3, or 2 for cheaper and less accurate ones.
    #[schemars(extend("default" = 3))]
    pub nodes_per_element: Option<At<Count>>,
    /// The cross-section, by its name.
    #[schemars(required)]
    pub section: Option<At<String>>,
    /// What of the beam's mass its nodes carry.
    #[schemars(extend("default" = "segments"))]
    pub lumping: Option<Lumping>,
    /// A direction towards which the second section axis points.
    #[schemars(required)]
    pub up: Option<At<Vector>>,
    /// Initial velocity of its nodes in m/s, in the axes of the frame.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub velocity: Option<At<Vector>>,
    /// Initial angular velocity of the whole beam about its beginning in rad/s, in the axes of the
    /// frame.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub angular_velocity: Option<At<Vector>>,
}

/// How the mass of a beam is given to its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Lumping {
    /// Each node carries the segment half way to its neighbours as a rigid body, with its centre of
    /// mass and the inertia of its extent: mass, centre of mass and inertia of the undeformed beam
    /// are exact.
    Segments,
    /// Each node carries the mass of that segment at its own position, with the rotary inertia of the
    /// sections alone: simpler, and less accurate on coarse meshes.
    Points,
}

// The end of a beam. What is described in the schema is the key.
#[derive(Debug, JsonSchema)]
#[schemars(untagged, inline)]
pub(crate) enum End {
    Node(String),
    Point(Vector),
}

by_form! { End { plain Node, list Point, } }
