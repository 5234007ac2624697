//! What an element is, as far as its work depends on it.

use super::Element;

/// The type of an element with its size: those of a kind cost the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ElementKind {
    /// The name of the type.
    pub name: &'static str,
    /// How many nodes it connects.
    pub nodes: usize,
    /// How many constraints it has.
    pub constraints: usize,
}

impl ElementKind {
    /// The kind of an element.
    pub fn of(element: &dyn Element) -> Self {
        Self {
            name: element.type_name(),
            nodes: element.nodes().len(),
            constraints: element.constraints(),
        }
    }
}
