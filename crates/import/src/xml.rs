//! XML as a tree, and numbers in it.

use oldham_space::Vec3;
use roxmltree::{Document, Node, ParsingOptions};

use crate::error::ImportError;

/// Most elements and texts of a file.
const MOST_NODES: u32 = 2_000_000;
/// Largest number that is believed: beyond it sums of squares overflow.
const LARGEST: f64 = 1e100;
/// Elements in one another.
pub(crate) const DEEPEST: usize = 200;

pub(crate) fn parse(text: &str) -> Result<Document<'_>, ImportError> {
    let options = ParsingOptions {
        nodes_limit: MOST_NODES,
        ..ParsingOptions::default()
    };
    let document = Document::parse_with_options(text, options);
    let document = document.map_err(|error| {
        let row = error.pos().row;
        ImportError {
            line: (row > 0).then_some(row),
            message: format!("is not XML: {error}"),
        }
    })?;
    // Of each node, by its number; parents come first.
    let mut depths: Vec<usize> = Vec::new();
    for node in document.descendants() {
        let above = node
            .parent()
            .and_then(|parent| depths.get(parent.id().get_usize()));
        let depth = above.map_or(0, |depth| depth + 1);
        if depth > DEEPEST {
            let message = format!("elements stand in one another more than {DEEPEST} deep");
            return Err(ImportError::at(node, message));
        }
        depths.resize(node.id().get_usize(), 0);
        depths.push(depth);
    }
    Ok(document)
}

pub(crate) fn elements<'a, 'i>(node: Node<'a, 'i>) -> impl Iterator<Item = Node<'a, 'i>> {
    node.children().filter(Node::is_element)
}

pub(crate) fn named<'a, 'i>(node: Node<'a, 'i>, name: &str) -> impl Iterator<Item = Node<'a, 'i>> {
    elements(node).filter(move |child| child.tag_name().name() == name)
}

pub(crate) fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    named(node, name).next()
}

pub(crate) fn required<'a>(node: Node<'a, '_>, key: &str) -> Result<&'a str, ImportError> {
    node.attribute(key).ok_or_else(|| {
        let message = format!("<{}> has no `{key}`", node.tag_name().name());
        ImportError::at(node, message)
    })
}

/// The numbers of a text; those that are none, or no use, are reported at the element.
pub(crate) fn numbers(node: Node<'_, '_>, key: &str, text: &str) -> Result<Vec<f64>, ImportError> {
    let wrong = |word: &str| {
        let hint = match word.contains("${") || word.contains("$(") {
            true => "; expand the file first: xacro robot.urdf.xacro > robot.urdf",
            false => "",
        };
        let word: String = word.chars().take(40).collect();
        ImportError::at(
            node,
            format!("`{key}`: `{word}` is not a usable number{hint}"),
        )
    };
    text.split_whitespace()
        .map(|word| match word.parse::<f64>() {
            Ok(value) if value.abs() <= LARGEST => Ok(value),
            _ => Err(wrong(word)),
        })
        .collect()
}

/// So many numbers of an attribute, if it is there.
pub(crate) fn array<const N: usize>(
    node: Node<'_, '_>,
    key: &str,
) -> Result<Option<[f64; N]>, ImportError> {
    let Some(text) = node.attribute(key) else {
        return Ok(None);
    };
    let values = numbers(node, key, text)?;
    let count = values.len();
    let values = values.try_into().map_err(|_| {
        let message = format!("`{key}` needs {N} numbers and has {count}");
        ImportError::at(node, message)
    });
    values.map(Some)
}

pub(crate) fn vector(node: Node<'_, '_>, key: &str) -> Result<Option<Vec3>, ImportError> {
    Ok(array(node, key)?.map(|[x, y, z]: [f64; 3]| Vec3::new(x, y, z)))
}

pub(crate) fn number(node: Node<'_, '_>, key: &str) -> Result<Option<f64>, ImportError> {
    Ok(array(node, key)?.map(|[x]: [f64; 1]| x))
}

/// A number above zero, or not below it.
pub(crate) fn size(
    node: Node<'_, '_>,
    key: &str,
    value: f64,
    may_be_zero: bool,
) -> Result<f64, ImportError> {
    if value > 0.0 || may_be_zero && value == 0.0 {
        return Ok(value);
    }
    let bound = if may_be_zero {
        "negative"
    } else {
        "zero or negative"
    };
    let message = format!(
        "`{key}` of <{}> is {value}: it must not be {bound}",
        node.tag_name().name()
    );
    Err(ImportError::at(node, message))
}

/// A direction of length one.
pub(crate) fn unit(node: Node<'_, '_>, key: &str, vector: Vec3) -> Result<Vec3, ImportError> {
    let length = vector.norm();
    if length > 1e-12 && length.is_finite() {
        return Ok(vector * (1.0 / length));
    }
    Err(ImportError::at(
        node,
        format!("`{key}` has no length: it must be a direction"),
    ))
}
