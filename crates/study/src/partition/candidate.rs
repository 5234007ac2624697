//! A cut that was found, as names.

use std::collections::VecDeque;

use oldham_multibody::NodeId;
use oldham_multibody::cut::{Couplings, Cut, Outline};

/// Where a mechanism may be cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateCut {
    /// The mechanism.
    pub mechanism: String,
    /// Names of the interface nodes.
    pub at: Vec<String>,
    /// For each part the name of a node of each piece that hangs together.
    pub parts: Vec<Vec<String>>,
}

/// What parts are called.
const PART: &str = "part";

impl CandidateCut {
    /// The `i`-th part's name.
    pub fn part_name(part: usize) -> String {
        format!("{PART}{}", part + 1)
    }

    /// Key and value that make a model file cut so.
    pub fn setting(&self) -> (String, String) {
        let key = format!("multibody.{}.cut", key(&self.mechanism));
        let lines = self.lines().join(", ");
        (key, format!("{{ {lines} }}"))
    }

    /// What the section says, key by key.
    pub fn lines(&self) -> [String; 2] {
        let parts = self.parts.iter().enumerate().map(|(place, members)| {
            let members = match &members[..] {
                [one] => quoted(one),
                several => list(several),
            };
            format!("{} = {members}", Self::part_name(place))
        });
        let parts = parts.collect::<Vec<_>>().join(", ");
        [
            format!("at = {}", list(&self.at)),
            format!("parts = {{ {parts} }}"),
        ]
    }

    /// The header of the section.
    pub fn header(&self) -> String {
        format!("[multibody.{}.cut]", key(&self.mechanism))
    }
}

/// A key as TOML has it.
fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        false => quoted(name),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn list(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| quoted(name)).collect();
    format!("[{}]", names.join(", "))
}

/// The cut at these places of `nodes`; `parts` has the part of each node, and none for those of the cut.
pub(super) fn cut_of(
    outline: &Outline,
    nodes: &[NodeId],
    at: &[usize],
    parts: &[Option<usize>],
    count: usize,
) -> Cut {
    let node = |place: usize| nodes[place];
    let mut members = vec![Vec::new(); count];
    for (first, part) in pieces(outline, parts) {
        members[part].push(node(first));
    }
    Cut {
        nodes: at.iter().map(|&place| node(place)).collect(),
        elements: Vec::new(),
        parts: members,
        couplings: Couplings::Joined,
    }
}

/// The first node of each piece that hangs together without the cut, with its part.
fn pieces(outline: &Outline, parts: &[Option<usize>]) -> Vec<(usize, usize)> {
    let mut elements_at = vec![Vec::new(); outline.nodes.len()];
    for (place, element) in outline.elements.iter().enumerate() {
        element
            .nodes
            .iter()
            .for_each(|&node| elements_at[node].push(place));
    }
    let mut is_seen = vec![false; outline.nodes.len()];
    let mut found = Vec::new();
    for (start, part) in parts.iter().enumerate() {
        let Some(part) = *part else { continue };
        if std::mem::replace(&mut is_seen[start], true) {
            continue;
        }
        found.push((start, part));
        let mut queue = VecDeque::from([start]);
        while let Some(node) = queue.pop_front() {
            let elements = elements_at[node].iter();
            for &next in elements.flat_map(|&element| &outline.elements[element].nodes) {
                if parts[next].is_some() && !std::mem::replace(&mut is_seen[next], true) {
                    queue.push_back(next);
                }
            }
        }
    }
    found
}
