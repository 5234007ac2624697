//! The nearest cut that works, for one that does not.

use super::error::{CutError, Home, Place, Reason, Remedy};
use super::graph::Graph;
use super::partition::{Cut, Partition, Role};
use super::partitioner::Partitioner;
use crate::model::Model;
use crate::node::NodeId;

/// Nodes that are tried at most, nearest first.
const TRIED: usize = 100;

/// Decides what goes where, or tells everything that is wrong with a cut, each with the nearest
/// cut that would work.
pub fn partition(model: &Model, cut: &Cut) -> Result<Partition, Vec<CutError>> {
    let graph = Graph::of(model);
    let search = Search {
        model,
        graph: &graph,
        cut,
    };
    search.partition(cut).map_err(|errors| {
        let mut errors = search.causes(errors);
        for error in &mut errors {
            error.remedy = search.remedy(error);
        }
        errors
    })
}

/// The same without looking for other cuts: for those who try many.
pub fn judged(model: &Model, cut: &Cut) -> Result<Partition, Vec<CutError>> {
    Partitioner::new(model, &Graph::of(model), cut).partition()
}

struct Search<'m> {
    model: &'m Model,
    graph: &'m Graph,
    cut: &'m Cut,
}

impl Search<'_> {
    fn partition(&self, cut: &Cut) -> Result<Partition, Vec<CutError>> {
        Partitioner::new(self.model, self.graph, cut).partition()
    }

    /// Parts that are not separated may only show that the cut itself is wrong.
    fn causes(&self, errors: Vec<CutError>) -> Vec<CutError> {
        let is_consequence = |error: &CutError| matches!(error.reason, Reason::NotSeparated { .. });
        if !errors.iter().any(is_consequence) {
            return errors;
        }
        let unnamed = Cut {
            parts: Vec::new(),
            ..self.cut.clone()
        };
        self.partition(&unnamed).err().unwrap_or(errors)
    }

    /// The number of nodes in the smallest part, if a cut gives at least two parts and no errors.
    fn smallest_part(&self, cut: &Cut) -> Option<usize> {
        let subdomains = self.partition(cut).ok()?.subdomains;
        let parts = subdomains
            .iter()
            .filter(|subdomain| subdomain.role == Role::Part);
        let sizes: Vec<usize> = parts.map(|part| part.nodes.len()).collect();
        sizes.iter().copied().min().filter(|_| sizes.len() > 1)
    }

    fn works(&self, cut: &Cut) -> bool {
        self.smallest_part(cut).is_some()
    }

    fn remedy(&self, error: &CutError) -> Option<Remedy> {
        match &error.reason {
            Reason::NothingSeparated { nodes, .. } => {
                self.instead(error, nodes).or_else(|| self.also(error))
            }
            Reason::NoInertia { node, .. } | Reason::InsideElement { node, .. } => {
                self.instead(error, std::slice::from_ref(node))
            }
            Reason::HeldTwice { nodes, .. } => {
                self.instead(error, nodes).or_else(|| self.without())
            }
            Reason::MeasuredElsewhere {
                home, elsewhere, ..
            } => self
                .instead(error, &self.wrong(error))
                .or_else(|| self.together(home, elsewhere))
                .or_else(|| self.without()),
            Reason::PartWithoutInertia { .. } => self.without(),
            Reason::NotBetweenTwo { .. } => self.instead(error, &[]),
            Reason::Ground | Reason::NotSeparated { .. } | Reason::CutNodeAsMember { .. } => None,
        }
    }

    /// The nearest node that works in place of what is wrong.
    fn instead(&self, error: &CutError, wrong: &[String]) -> Option<Remedy> {
        let mut cut = self.cut.clone();
        if let Place::Element(element) = error.at {
            cut.elements.retain(|&other| other != element);
        }
        cut.nodes
            .retain(|node| !wrong.contains(&self.model.nodes[node.0].name));
        let works = |&&node: &&usize| {
            let mut cut = cut.clone();
            cut.nodes.push(NodeId(node));
            !self.cut.nodes.contains(&NodeId(node)) && self.works(&cut)
        };
        let candidates = self.graph.by_distance(self.start(error)?);
        let found = candidates.iter().take(TRIED).find(works)?;
        Some(Remedy::Instead(self.model.nodes[*found].name.clone()))
    }

    /// The second node that makes the parts most alike.
    fn also(&self, error: &CutError) -> Option<Remedy> {
        let rating = |&node: &usize| {
            let mut cut = self.cut.clone();
            cut.nodes.push(NodeId(node));
            Some((self.smallest_part(&cut)?, node))
        };
        let candidates = self.graph.by_distance(self.start(error)?);
        let rated: Vec<_> = candidates.iter().take(TRIED).filter_map(rating).collect();
        // Of equally good ones the nearest, which comes last here.
        let (_, node) = rated.into_iter().rev().max_by_key(|(size, _)| *size)?;
        Some(Remedy::Also(self.model.nodes[node].name.clone()))
    }

    /// The node of the cut that is wrong, if it is one.
    fn wrong(&self, error: &CutError) -> Vec<String> {
        match error.at {
            Place::Node(node) => vec![self.model.nodes[node.0].name.clone()],
            Place::Element(_) | Place::Part(_) => Vec::new(),
        }
    }

    /// Two parts in one, where others are left.
    fn together(&self, home: &Home, elsewhere: &Home) -> Option<Remedy> {
        let (Home::Part(a), Home::Part(b)) = (home, elsewhere) else {
            return None;
        };
        let node = |name: &String| {
            let named = |node: &crate::model::Node| node.name == *name;
            self.model.nodes.iter().position(named).map(NodeId)
        };
        let cut = Cut {
            parts: vec![vec![node(a)?, node(b)?]],
            ..self.cut.clone()
        };
        let pair = || Remedy::Together([a.clone(), b.clone()]);
        self.works(&cut).then(pair)
    }

    /// A node of the cut that had better be left out.
    fn without(&self) -> Option<Remedy> {
        let works = |&&node: &&NodeId| {
            let mut cut = self.cut.clone();
            cut.nodes.retain(|&other| other != node);
            self.works(&cut)
        };
        let found = self.cut.nodes.iter().find(works)?;
        Some(Remedy::Without(self.model.nodes[found.0].name.clone()))
    }

    /// Where to begin to look.
    fn start(&self, error: &CutError) -> Option<usize> {
        match error.at {
            Place::Node(node) => Some(node.0),
            Place::Element(element) => self.graph.nodes_of(element.0).first().copied(),
            Place::Part(_) => None,
        }
    }
}
