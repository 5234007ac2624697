//! Why a file cannot be converted.

use roxmltree::Node;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct ImportError {
    /// The line, from one.
    pub line: Option<u32>,
    /// What is wrong, and what to do.
    pub message: String,
}

impl ImportError {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self {
            line: None,
            message: message.into(),
        }
    }

    pub(crate) fn at(node: Node<'_, '_>, message: impl Into<String>) -> Self {
        Self {
            line: Some(line(node)),
            message: message.into(),
        }
    }
}

/// The line of an element, from one.
pub(crate) fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}
