//! What became of a file.

use std::collections::BTreeMap;

use roxmltree::Node;
use serde::Serialize;

use crate::error::line;

/// What became of a file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// Its format.
    pub format: &'static str,
    /// The name that it gives itself.
    pub name: String,
    /// What was converted.
    pub counts: Counts,
    /// What was left out, assumed or is remarkable.
    pub notes: Vec<Note>,
    #[serde(skip)]
    unknown: BTreeMap<String, (u32, usize)>,
}

/// How many things there are in the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct Counts {
    pub nodes: usize,
    pub bodies: usize,
    pub joints: usize,
    pub fixed_joints: usize,
    pub transmissions: usize,
    pub loops: usize,
    pub servos: usize,
    pub inputs: usize,
    pub sensors: usize,
    pub shapes: usize,
    pub visuals: usize,
    pub meshes: usize,
}

/// Something that is said about a conversion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// What sort of thing it is.
    pub kind: NoteKind,
    /// The line of the file, if it belongs to one.
    pub line: Option<u32>,
    /// In words.
    pub text: String,
}

/// What sort of thing a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoteKind {
    /// It has no counterpart, or cannot be read.
    LeftOut,
    /// The file does not say it.
    Assumed,
    /// It is possible, but unlikely.
    Remark,
}

impl NoteKind {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::LeftOut => "left out",
            Self::Assumed => "assumed",
            Self::Remark => "remark",
        }
    }
}

impl Report {
    pub(crate) fn note(
        &mut self,
        kind: NoteKind,
        node: Option<Node<'_, '_>>,
        text: impl Into<String>,
    ) {
        let note = Note {
            kind,
            line: node.map(line),
            text: text.into(),
        };
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub(crate) fn left_out(&mut self, node: Node<'_, '_>, text: impl Into<String>) {
        self.note(NoteKind::LeftOut, Some(node), text);
    }

    pub(crate) fn remark(&mut self, node: Node<'_, '_>, text: impl Into<String>) {
        self.note(NoteKind::Remark, Some(node), text);
    }

    pub(crate) fn assumed(&mut self, text: impl Into<String>) {
        self.note(NoteKind::Assumed, None, text);
    }

    /// An element or attribute that is not known: they are counted, since some are there a hundred times.
    pub(crate) fn unknown(&mut self, node: Node<'_, '_>, what: &str) {
        let seen = self.unknown.entry(what.to_owned());
        seen.or_insert((line(node), 0)).1 += 1;
    }

    /// Puts what was counted among the notes, which are then in order.
    pub(crate) fn finish(&mut self) {
        for (what, (line, count)) in std::mem::take(&mut self.unknown) {
            let times = match count {
                1 => String::new(),
                _ => format!(", {count} times"),
            };
            self.notes.push(Note {
                kind: NoteKind::LeftOut,
                line: Some(line),
                text: format!("{what}{times}"),
            });
        }
        self.notes.sort_by_key(|note| (note.kind, note.line));
    }
}
