//! Forces and moments.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Given, Vector};
use crate::format::At;

/// An applied force and moment on a node.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Load {
    /// The node on which it acts.
    #[schemars(required)]
    pub on: Option<At<String>>,
    /// The opposite load acts on this node, at the same point: an internal load without resultant.
    pub reaction_on: Option<At<String>>,
    /// Where the force acts, relative to the node, in m and in node axes.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub offset: Option<At<Vector>>,
    /// The three components of the force in N.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub force: Option<At<Vec<At<Given>>>>,
    /// The three components of the moment in N·m.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub moment: Option<At<Vec<At<Given>>>>,
    /// Whether the components are in node axes, so that the load rotates with the node; else they
    /// are in absolute axes.
    #[schemars(extend("default" = false))]
    pub follower: Option<bool>,
}
