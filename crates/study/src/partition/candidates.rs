//! Cuts that the graph suggests and the rules of cuts admit.

use oldham_cosim::Subsystem;
use oldham_model::{Mechanism, Model};
use oldham_multibody::NodeId;
use oldham_multibody::cut::{CutError, Obstacle, Outline, Partition, Place, Reason, judged};
use oldham_separator::{Separator, Settings, search};
use serde::Serialize;

use super::candidate::cut_of;
use super::graph::graph;
use super::{CandidateCut, CostTable};
use crate::{ModelFile, StudyError};

/// Searches at most, each without the nodes that the rules refused in those before.
const ROUNDS: usize = 6;

/// What was looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Searched {
    /// Starts of the search on the graph.
    pub starts: usize,
    /// Nodes that were tried alone.
    pub single_nodes: usize,
    /// The best cuts, which went through the rules.
    pub judged: usize,
    /// Cuts that the rules admit.
    pub admitted: usize,
}

/// Cuts, best first.
pub(super) struct Candidates {
    pub admitted: Vec<Admitted>,
    pub searched: Searched,
    /// Why others are refused, the best one's reason first.
    pub refusals: Vec<Refusal>,
}

/// A cut that the rules admit.
#[derive(Clone)]
pub(super) struct Admitted {
    pub cut: CandidateCut,
    pub separator: Separator,
    pub partition: Partition,
}

/// Why a cut is refused.
#[derive(Clone, Debug)]
pub(super) struct Refusal {
    pub text: String,
    /// Whether joints alone are to blame, or bodies that have all their mass at the cut.
    pub is_of_rigid_bodies: bool,
}

impl Candidates {
    /// Looks for cuts of a mechanism into so many parts.
    pub fn find(
        mechanism: Mechanism<'_>,
        model: &Model,
        costs: &CostTable,
        parts: usize,
    ) -> Result<Self, StudyError> {
        let outline = mechanism.model().outline();
        let nodes: Vec<NodeId> = mechanism.model().moving_nodes().map(|(id, _)| id).collect();
        let stiffness = stiffnesses(mechanism);
        let step = model.step() / mechanism.micro_steps() as f64;
        let mut forbidden = vec![false; nodes.len()];
        let mut found = Self {
            admitted: Vec::new(),
            searched: Searched::default(),
            refusals: Vec::new(),
        };
        for _ in 0..ROUNDS {
            let graph = graph(&outline, costs, &stiffness, step, &forbidden);
            let suggested = search(&graph, &Settings::parts(parts));
            found.searched.starts += suggested.starts;
            found.searched.single_nodes += suggested.singles;
            let mut wrong = Vec::new();
            for separator in suggested.separators {
                found.searched.judged += 1;
                let cut = cut_of(
                    &outline,
                    &nodes,
                    &separator.vertices,
                    &separator.parts,
                    parts,
                );
                match judged(mechanism.model(), &cut) {
                    Ok(partition) => found.admitted.push(Admitted {
                        cut: named(mechanism, &cut),
                        separator,
                        partition,
                    }),
                    Err(errors) => {
                        found.refusals.extend(errors.iter().map(Refusal::from));
                        wrong.extend(errors.iter().filter_map(|error| blamed(error, mechanism)));
                    }
                }
            }
            wrong.retain(|node: &NodeId| !forbidden[node.index() - 1]);
            if !found.admitted.is_empty() || wrong.is_empty() {
                break;
            }
            wrong
                .iter()
                .for_each(|node| forbidden[node.index() - 1] = true);
        }
        found.searched.admitted = found.admitted.len();
        if found.admitted.is_empty() && found.refusals.is_empty() {
            found.refusals.push(nowhere(&outline, parts));
        }
        Ok(found)
    }

    /// The first cut with which the model reads.
    pub fn readable(&self, file: &ModelFile) -> Option<Readable> {
        self.admitted.iter().find_map(|it| it.read(file).ok())
    }
}

/// A cut with the model that is cut so.
pub(super) struct Readable {
    pub parts: usize,
    pub file: ModelFile,
    pub model: Model,
    pub partition: Partition,
}

impl Admitted {
    /// The model that is cut so, or why it is refused.
    pub fn read(&self, file: &ModelFile) -> Result<Readable, String> {
        let file = file.with(&[self.cut.setting()]);
        let model = file.read().map_err(|problems| {
            let first = problems.iter().next();
            first.map_or_else(|| problems.to_string(), |problem| problem.message.clone())
        })?;
        Ok(Readable {
            parts: self.cut.parts.len(),
            file,
            model,
            partition: self.partition.clone(),
        })
    }
}

impl From<&CutError> for Refusal {
    fn from(error: &CutError) -> Self {
        Self {
            text: error.reason.to_string(),
            is_of_rigid_bodies: matches!(
                error.reason,
                Reason::HeldTwice { .. } | Reason::PartWithoutInertia { .. }
            ),
        }
    }
}

/// The node that is in the way of a cut.
fn blamed(error: &CutError, mechanism: Mechanism<'_>) -> Option<NodeId> {
    let node = match (&error.reason, error.at) {
        (Reason::HeldTwice { nodes, .. }, _) => {
            let mut all = mechanism.model().moving_nodes();
            let first = nodes.first()?;
            all.find_map(|(id, _)| (mechanism.model().node_name(id) == first).then_some(id))?
        }
        (_, Place::Node(node)) => node,
        _ => return None,
    };
    (node != NodeId::GROUND).then_some(node)
}

/// Why the graph has no separator.
fn nowhere(outline: &Outline, parts: usize) -> Refusal {
    let count = |f: &dyn Fn(&Obstacle) -> bool| {
        let obstacles = outline
            .nodes
            .iter()
            .filter_map(|node| node.obstacle.as_ref());
        obstacles.filter(|obstacle| f(obstacle)).count()
    };
    let light = count(&|it| matches!(it, Obstacle::NoInertia(_)));
    let inside = count(&|it| matches!(it, Obstacle::InsideElement(_)));
    let all = outline.nodes.len();
    let free = all - light - inside;
    Refusal {
        text: format!(
            "of its {all} nodes {light} have no mass or no rotary inertia about some axis, {inside} belong to a single beam or \
             shell element, and without the other {free} it does not fall into {parts} parts"
        ),
        is_of_rigid_bodies: false,
    }
}

fn named(mechanism: Mechanism<'_>, cut: &oldham_multibody::cut::Cut) -> CandidateCut {
    let name = |node: &NodeId| mechanism.model().node_name(*node).to_owned();
    CandidateCut {
        mechanism: mechanism.name().into(),
        at: cut.nodes.iter().map(name).collect(),
        parts: cut
            .parts
            .iter()
            .map(|part| part.iter().map(name).collect())
            .collect(),
    }
}

/// How stiff the elements are; nothing where the mechanism cannot be evaluated as one system.
fn stiffnesses(mechanism: Mechanism<'_>) -> Vec<f64> {
    mechanism.solver().map_or_else(
        |_| Vec::new(),
        |part| part.system().stiffnesses(part.ports().initial_inputs()),
    )
}
