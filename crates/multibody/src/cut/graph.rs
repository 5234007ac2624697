//! The graph of a model: nodes, joined by elements. The ground joins nothing.

use std::collections::VecDeque;

use crate::model::Model;
use crate::node::NodeId;

/// Nodes and the elements at them.
pub(super) struct Graph {
    /// For each element its nodes but the ground, each once.
    nodes_of: Vec<Vec<usize>>,
    /// For each node the elements at it.
    elements_at: Vec<Vec<usize>>,
}

impl Graph {
    pub fn of(model: &Model) -> Self {
        let moving = |named: &crate::model::NamedElement| {
            let nodes = named.element.nodes().iter();
            let mut nodes: Vec<usize> = nodes
                .filter(|&&node| node != NodeId::GROUND)
                .map(|node| node.0)
                .collect();
            nodes.sort_unstable();
            nodes.dedup();
            nodes
        };
        let nodes_of: Vec<_> = model.elements.iter().map(moving).collect();
        let mut elements_at = vec![Vec::new(); model.nodes.len()];
        for (element, nodes) in nodes_of.iter().enumerate() {
            nodes
                .iter()
                .for_each(|&node| elements_at[node].push(element));
        }
        Self {
            nodes_of,
            elements_at,
        }
    }

    /// The moving nodes of an element, each once.
    pub fn nodes_of(&self, element: usize) -> &[usize] {
        &self.nodes_of[element]
    }

    /// The elements at a node.
    pub fn elements_at(&self, node: usize) -> &[usize] {
        &self.elements_at[node]
    }

    /// All nodes that can be reached from `start`, nearest first, without `start` itself.
    pub fn by_distance(&self, start: usize) -> Vec<usize> {
        let mut seen = vec![false; self.elements_at.len()];
        seen[start] = true;
        let (mut queue, mut found) = (VecDeque::from([start]), Vec::new());
        while let Some(node) = queue.pop_front() {
            for &next in self.neighbours(node) {
                if !std::mem::replace(&mut seen[next], true) {
                    found.push(next);
                    queue.push_back(next);
                }
            }
        }
        found
    }

    /// Elements along a shortest way between two nodes that avoids some nodes and elements; nothing
    /// if there is none.
    pub fn path(
        &self,
        from: usize,
        to: usize,
        avoids_node: &[bool],
        avoids_element: &[bool],
    ) -> Option<Vec<usize>> {
        let mut reached: Vec<Option<(usize, usize)>> = vec![None; self.elements_at.len()];
        let mut queue = VecDeque::from([from]);
        while let Some(node) = queue.pop_front() {
            if node == to {
                return Some(walk_back(&reached, from, to));
            }
            for &element in &self.elements_at[node] {
                if avoids_element[element] {
                    continue;
                }
                for &next in &self.nodes_of[element] {
                    let is_new = next != from && reached[next].is_none();
                    if is_new && !avoids_node[next] {
                        reached[next] = Some((node, element));
                        queue.push_back(next);
                    }
                }
            }
        }
        None
    }

    fn neighbours(&self, node: usize) -> impl Iterator<Item = &usize> {
        self.elements_at[node]
            .iter()
            .flat_map(|&element| &self.nodes_of[element])
    }
}

fn walk_back(reached: &[Option<(usize, usize)>], from: usize, to: usize) -> Vec<usize> {
    let (mut path, mut node) = (Vec::new(), to);
    while node != from {
        let (before, element) = reached[node].expect("every step was reached from somewhere");
        path.push(element);
        node = before;
    }
    path.reverse();
    path
}
