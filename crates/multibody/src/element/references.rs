//! What an element refers to, listed once: nodes, and components of the input vector.
//!
//! A model can be taken apart because its elements can be told that what they refer to is called
//! otherwise now.

use super::ElementId;
use crate::drive::Drive;
use crate::node::NodeId;

/// Is shown every reference of an element, and may change it.
pub trait References {
    /// A node.
    fn node(&mut self, node: &mut NodeId);

    /// A component of the input vector, the first of those that belong to one port.
    fn input(&mut self, component: &mut usize);

    /// An element that a sensor reads.
    fn element(&mut self, _element: &mut ElementId) {}

    /// That it has sensors, whose references follow.
    fn measured(&mut self) {}
}

impl Drive {
    /// Shows the input that it follows, or what its sensors read, if it follows any.
    pub fn refer(&mut self, references: &mut dyn References) {
        match self {
            Self::Input(component) => references.input(component),
            Self::Measured(measured) => {
                references.measured();
                measured.refer(references);
            }
            _ => {}
        }
    }
}

/// Shows the references of several drives.
pub(crate) fn refer_drives(drives: &mut [Drive], references: &mut dyn References) {
    drives.iter_mut().for_each(|drive| drive.refer(references));
}

/// Shows several nodes.
pub(crate) fn refer_nodes(nodes: &mut [NodeId], references: &mut dyn References) {
    nodes.iter_mut().for_each(|node| references.node(node));
}
