//! Rigid bodies.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Lengths, Orientation, Vector};
use crate::format::{At, Mass, Positive};

/// A rigid body, given by mass and inertia or by its shape.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Body {
    /// The node that carries it.
    #[schemars(required)]
    pub node: Option<At<String>>,
    /// Mass in kg. With a shape, `density` may be given instead.
    pub mass: Option<At<Mass>>,
    /// Density of the shape in kg/m³, instead of the mass.
    pub density: Option<At<Positive>>,
    /// Centre of mass relative to the node in m, in node axes; not with a `mesh`, which has its own.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub centre: Option<At<Vector>>,
    /// Axes of the body relative to the node's, in which inertia and shape are given. By default
    /// the node's.
    pub orientation: Option<At<Orientation>>,
    /// Inertia about the centre of mass in kg·m²: three principal moments, or the six entries xx,
    /// yy, zz, xy, xz, yz of the tensor. Beside a shape it is that of the body, and the shape is drawn and touched.
    pub inertia: Option<At<Vector>>,
    /// A homogeneous shape, which gives the inertia where none is given, and is drawn.
    pub shape: Option<At<Solid>>,
    /// A file of triangles (.stl, .obj, .dae, .gltf or .glb) that is drawn in the browser instead, in node axes; its path
    /// is relative to the model file. It has no mass.
    pub mesh: Option<At<String>>,
    /// With `mesh`: metres for each unit of the file, such as 1e-3 for millimetres.
    #[schemars(extend("default" = 1.0))]
    pub mesh_scale: Option<At<Positive>>,
}

/// A homogeneous shape: exactly one of these. All but a mesh are around the centre of mass.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Solid {
    /// Lengths in m along the three axes.
    #[serde(rename = "box")]
    pub cuboid: Option<At<Lengths>>,
    /// Radius in m.
    pub sphere: Option<At<Positive>>,
    /// Radius and length in m; along the first axis.
    pub cylinder: Option<At<Lengths>>,
    /// Outer radius, inner radius and length in m; along the first axis.
    pub tube: Option<At<Vector>>,
    /// Length in m of a thin rod along the first axis; needs `mass`.
    pub rod: Option<At<Positive>>,
    /// Points in m, relative to the node, whose convex hull is the solid, at most 64; its centre of mass follows from them.
    pub mesh: Option<At<Vec<At<Vector>>>>,
}
