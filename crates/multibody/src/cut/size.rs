//! How large the pieces of a plan are.

use super::plan::{Piece, Plan};
use crate::element::Element;
use crate::model::Model;

/// Matrix entries that a node with mass touches.
pub(crate) const ENTRIES_OF_A_BODY: f64 = 36.0;
/// The same of a node whose pose is prescribed: six coordinates and as many constraints.
const ENTRIES_OF_A_COPY: f64 = 144.0;

/// What a piece amounts to.
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
    /// to compare pieces by.
    pub work: f64,
}

impl Plan {
    /// The sizes of the pieces, in order.
    pub fn sizes(&self, model: &Model) -> Vec<Size> {
        let pieces = self.pieces.iter();
        pieces.map(|piece| Size::of(piece, model)).collect()
    }
}

impl Size {
    fn of(piece: &Piece, model: &Model) -> Self {
        let elements = piece.elements.iter();
        let elements = elements.map(|id| &model.elements[id.0].element);
        let constraints: usize = elements.clone().map(|element| element.constraints()).sum();
        let touched = elements.map(|element| entries_of(&**element));
        let entries = ENTRIES_OF_A_BODY * piece.nodes.len() as f64
            + ENTRIES_OF_A_COPY * piece.copies.len() as f64;
        let mass = |node: &crate::node::NodeId| model.nodes[node.0].inertia.mass;
        Self {
            nodes: piece.nodes.len(),
            copies: piece.copies.len(),
            elements: piece.elements.len(),
            unknowns: 6 * piece.nodes.len() + 12 * piece.copies.len() + constraints,
            mass: piece.nodes.iter().map(mass).sum(),
            work: entries + touched.sum::<f64>(),
        }
    }
}

/// Matrix entries that an element touches.
pub(crate) fn entries_of(element: &dyn Element) -> f64 {
    let order = 6 * element.nodes().len() + element.constraints();
    (order * order) as f64
}
