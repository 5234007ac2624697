//! Shells.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Vector;
use crate::format::{At, Count, NonNegative, Poisson, Positive};

/// A thin shell over a surface with two parameters `u` and `v` from 0 to 1, meshed with four-node
/// elements for large displacements and rotations. Its nodes are called `<shell>.<i>.<j>`, counted from 0
/// along `u` and `v`; their first axis points along `u`, their third is the normal.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Shell {
    /// A rectangle or parallelogram: a corner in m, and the sides along `u` and `v` from there.
    pub rectangle: Option<At<Vec<At<Vector>>>>,
    /// Any other surface: three expressions of `u` and `v`, in m.
    pub surface: Option<At<Vector>>,
    /// The frame in which the surface is given. By default the absolute frame.
    #[serde(rename = "in")]
    pub frame: Option<At<String>>,
    /// The numbers of elements along `u` and `v`.
    #[schemars(required)]
    pub elements: Option<At<Vec<At<Count>>>>,
    /// Whether the surface closes on itself along `u`, as a tube does.
    #[schemars(extend("default" = false))]
    pub closed: Option<bool>,
    /// Thickness in m.
    #[schemars(required)]
    pub thickness: Option<At<Positive>>,
    /// Young's modulus in Pa.
    #[schemars(required)]
    pub young: Option<At<Positive>>,
    /// Poisson's ratio.
    #[schemars(extend("default" = 0.3))]
    pub poisson: Option<At<Poisson>>,
    /// Density in kg/m³.
    #[schemars(required)]
    pub density: Option<At<Positive>>,
    /// Damping in s: the stress is stiffness times strain plus `damping` times its rate.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Clamped edges: their nodes are fixed to the ground.
    pub clamp: Option<Vec<At<Edge>>>,
    /// Edges whose nodes are pinned to the ground: free to rotate.
    pub pin: Option<Vec<At<Edge>>>,
}

/// An edge of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Edge {
    /// Where `u` is 0.
    U0,
    /// Where `u` is 1.
    U1,
    /// Where `v` is 0.
    V0,
    /// Where `v` is 1.
    V1,
}
