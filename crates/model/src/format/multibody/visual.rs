//! What is drawn and has no mass.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Lengths, Orientation, Vector};
use crate::format::{At, Positive};

/// Something that is drawn on a node and does nothing else: exactly one of `box`, `sphere`, `cylinder`, `capsule` and `mesh`. A node
/// that has some is not drawn by its bodies.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Visual {
    /// The node that carries it, which may be `ground`.
    #[schemars(required)]
    pub node: Option<At<String>>,
    /// Lengths in m along the three axes.
    #[serde(rename = "box")]
    pub cuboid: Option<At<Lengths>>,
    /// Radius in m.
    pub sphere: Option<At<Positive>>,
    /// Radius and length in m; along the first axis.
    pub cylinder: Option<At<Lengths>>,
    /// Radius, and length between the centres of the two half spheres, in m; along the first axis.
    pub capsule: Option<At<Lengths>>,
    /// A file of triangles (.stl, .obj, .dae, .gltf or .glb); its path is relative to the model file.
    pub mesh: Option<At<String>>,
    /// With `mesh`: metres for each unit of the file along its three axes; negative ones mirror it.
    #[schemars(extend("default" = [1.0, 1.0, 1.0]))]
    pub scale: Option<At<Vector>>,
    /// Where its centre, or the origin of the mesh, is relative to the node, in m and in node axes.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub position: Option<At<Vector>>,
    /// Its axes relative to the node's. By default the node's.
    pub orientation: Option<At<Orientation>>,
    /// Its colour as `"#rrggbb"`. By default that of its part.
    pub colour: Option<At<String>>,
}
