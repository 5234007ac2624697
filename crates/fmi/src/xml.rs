//! XML, as far as readers of formats around FMI share it.

use std::collections::HashMap;

use roxmltree::{Document, Error, Node};

use crate::reader;
use crate::units::Conversion;

/// Reads XML: without document types, and so without entities, and with a limit on its elements.
pub fn parse(text: &str) -> Result<Document<'_>, Error> {
    reader::parse(text)
}

/// The elements in an element.
pub fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    reader::elements(node)
}

/// Those of a name, whatever their namespace.
pub fn children<'a, 'i>(
    node: Node<'a, 'i>,
    name: &'static str,
) -> impl Iterator<Item = Node<'a, 'i>> {
    reader::children(node, name)
}

/// Units by name, of an element that holds definitions of them.
pub fn units(node: Node<'_, '_>) -> HashMap<String, Conversion> {
    reader::units_of(node)
}
