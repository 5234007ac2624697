//! How large the subdomains of a partition are.

use super::partition::{Partition, Subdomain};
use crate::element::Element;
use crate::model::Model;

/// Matrix entries that a node with mass touches.
pub(crate) const ENTRIES_OF_A_BODY: f64 = 36.0;
/// The same of a node whose pose is prescribed: six coordinates and as many constraints.
pub(super) const ENTRIES_OF_A_COPY: f64 = 144.0;

/// What a subdomain amounts to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Nodes with their mass.
    pub nodes: usize,
    /// Nodes whose poses are prescribed.
    pub copies: usize,
    /// Elements.
    pub elements: usize,
    /// Unknowns of a step: poses and multipliers, those of the prescribed poses included.
    pub unknowns: usize,
    /// Mass in all.
    pub mass: f64,
    /// Work of a step, as the number of matrix entries that elements and bodies touch: an estimate
    /// to compare subdomains by.
    pub work: f64,
}

impl Partition {
    /// The sizes of the subdomains, in order.
    pub fn sizes(&self, model: &Model) -> Vec<Size> {
        let subdomains = self.subdomains.iter();
        subdomains
            .map(|subdomain| Size::of(subdomain, model))
            .collect()
    }
}

impl Size {
    fn of(subdomain: &Subdomain, model: &Model) -> Self {
        let elements = subdomain.elements.iter();
        let elements = elements.map(|id| &model.elements[id.0].element);
        let constraints: usize = elements.clone().map(|element| element.constraints()).sum();
        let touched = elements.map(|element| entries_of_element(&**element));
        let entries = ENTRIES_OF_A_BODY * subdomain.nodes.len() as f64
            + ENTRIES_OF_A_COPY * subdomain.copies.len() as f64;
        let mass = |node: &crate::node::NodeId| model.nodes[node.0].inertia.mass;
        Self {
            nodes: subdomain.nodes.len(),
            copies: subdomain.copies.len(),
            elements: subdomain.elements.len(),
            unknowns: 6 * subdomain.nodes.len() + 12 * subdomain.copies.len() + constraints,
            mass: subdomain.nodes.iter().map(mass).sum(),
            work: entries + touched.sum::<f64>(),
        }
    }
}

/// Matrix entries that an element touches.
pub(crate) fn entries_of_element(element: &dyn Element) -> f64 {
    entries_of(element.nodes().len(), element.constraints())
}

/// The same for so many nodes and constraints.
pub(super) fn entries_of(nodes: usize, constraints: usize) -> f64 {
    let order = 6 * nodes + constraints;
    (order * order) as f64
}
