//! The subdomains of a cut mechanism as solvers, and how they are connected.

use oldham_cosim::{InputPort, OutputPort};
use oldham_multibody::cut::{Interface, Role, Split};
use oldham_multibody::{ElementId, MechanismPart, Motion, NodeId, PartBuilder};

use super::spec::{MechanismError, initial_inputs};
use super::{CutScheme, Cutting, InputSpec, MechanismSpec, OutputSpec};
use crate::model::Prediction;

/// The prefix of the results that show loads at interfaces.
const INTERFACES: &str = "interfaces";

/// Hold of couplings: they advance when the loads at the end of the step are known, and take the
/// line to them within it.
const COUPLING_HOLD: usize = 1;

/// A cut mechanism: solvers, and what the ports of the whole are in them.
pub(crate) struct CutSolvers {
    pub solvers: Vec<SubdomainSolver>,
    /// Who takes each input of the whole; several may use the same number.
    pub inputs: Vec<Vec<(usize, InputPort)>>,
    /// Who sends each output of the whole.
    pub outputs: Vec<(usize, OutputPort)>,
    /// From the motions of interface nodes to those who follow, and from their loads back.
    pub connections: Vec<SubdomainConnection>,
    /// What outputs are called in the results, after the mechanism; those without a name are not
    /// recorded.
    pub labels: Vec<((usize, OutputPort), Option<String>)>,
}

/// A subdomain that can be solved.
pub(crate) struct SubdomainSolver {
    pub name: String,
    pub role: Role,
    pub part: MechanismPart,
    pub prediction: Prediction,
}

/// From an output of one subdomain to an input of another.
pub(crate) struct SubdomainConnection {
    pub from: (usize, OutputPort),
    pub to: (usize, InputPort),
}

/// Subdomains while their ports are made.
struct CutSolverBuilder<'r> {
    spec: &'r MechanismSpec,
    cutting: &'r Cutting,
    builders: Vec<PartBuilder>,
    /// For each subdomain: nodes and elements of the whole there.
    splits: Vec<Names>,
    cut_solvers: CutSolvers,
}

struct Names {
    nodes: Vec<Option<NodeId>>,
    elements: Vec<Option<ElementId>>,
}

impl Names {
    fn node(&self, whole: NodeId) -> NodeId {
        self.nodes[whole.index()].expect("the node is in the piece")
    }
}

impl MechanismSpec {
    /// The subdomains of the mechanism, at the initial state of the whole.
    pub fn cut_solvers(&self, cutting: &Cutting, start: f64) -> Result<CutSolvers, MechanismError> {
        let mut model = self.model.clone();
        for (node, motion) in self.initial_motions(start)? {
            model.place(node, motion);
        }
        let splits = cutting.partition.split(model);
        let mut cut_builder = CutSolverBuilder::new(self, cutting, splits);
        cut_builder.receive();
        cut_builder.couple();
        cut_builder.send();
        cut_builder.finish()
    }

    /// Where the whole mechanism starts: in equilibrium, or with all joints fitting, so that its
    /// subdomains fit each other. With inputs it is not known yet what the joints demand.
    fn initial_motions(&self, start: f64) -> Result<Vec<(NodeId, Motion)>, MechanismError> {
        let mut part = self.part(start)?;
        let is_demand = |(_, received): &(_, InputSpec)| !matches!(received, InputSpec::Wrench(_));
        if !self.settles {
            if self.inputs.iter().any(is_demand) {
                return Ok(copied(self.model.moving_nodes()));
            }
            let inputs = initial_inputs(&part);
            let started = part.system_mut().start(start, &inputs);
            started.map_err(MechanismError::NotStarted)?;
        }
        let nodes = self.model.moving_nodes();
        Ok(copied(
            nodes.map(|(node, _)| (node, part.system().motion(node))),
        ))
    }
}

fn copied<'m>(motions: impl Iterator<Item = (NodeId, &'m Motion)>) -> Vec<(NodeId, Motion)> {
    motions.map(|(node, motion)| (node, *motion)).collect()
}

impl<'r> CutSolverBuilder<'r> {
    fn new(spec: &'r MechanismSpec, cutting: &'r Cutting, splits: Vec<Split>) -> Self {
        let mut cut_builder = Self {
            spec,
            cutting,
            builders: Vec::new(),
            splits: Vec::new(),
            cut_solvers: CutSolvers {
                solvers: Vec::new(),
                inputs: vec![Vec::new(); spec.inputs.len()],
                outputs: Vec::new(),
                connections: Vec::new(),
                labels: Vec::new(),
            },
        };
        for (subdomain, mut split) in splits.into_iter().enumerate() {
            let mut whole = 0;
            let mut here = 0;
            // Where each component of the whole's input vector is in that of the subdomain.
            let mut moved = Vec::new();
            let used = split.model.inputs_used();
            for (port, (_, received)) in spec.inputs.iter().enumerate() {
                let width = received.quantity().width();
                moved.extend((0..width).map(|component| here + component));
                let home = cut_builder.home(&received.nodes());
                if home.map_or(used.contains(&whole), |home| home == subdomain) {
                    let place = InputPort(cut_builder.inputs_of(subdomain));
                    cut_builder.cut_solvers.inputs[port].push((subdomain, place));
                    here += width;
                }
                whole += width;
            }
            split.model.redirect_inputs(|component| moved[component]);
            let mut builder = PartBuilder::new(split.model);
            if spec.shares_loads {
                builder.share_loads();
            }
            cut_builder.builders.push(builder);
            cut_builder.splits.push(Names {
                nodes: split.nodes,
                elements: split.elements,
            });
        }
        cut_builder
    }

    /// How many inputs of the whole a subdomain takes so far.
    fn inputs_of(&self, subdomain: usize) -> usize {
        let takers = self.cut_solvers.inputs.iter().flatten();
        takers.filter(|(taker, _)| *taker == subdomain).count()
    }

    /// The subdomain of something at these nodes; nothing for what is nowhere.
    fn home(&self, nodes: &[NodeId]) -> Option<usize> {
        match *nodes {
            [] => None,
            [node] => Some(self.cutting.owner(node)),
            [a, b, ..] => {
                let home = self.cutting.home([a, b]);
                Some(home.expect("cuts between the ends of a line are refused"))
            }
        }
    }

    fn node(&self, subdomain: usize, node: NodeId) -> NodeId {
        self.splits[subdomain].node(node)
    }

    /// Gives the subdomains the inputs of the whole, and the whole the outputs that answer them.
    fn receive(&mut self) {
        for (port, (name, received)) in self.spec.inputs.iter().enumerate() {
            for (subdomain, _) in self.cut_solvers.inputs[port].clone() {
                let names = &self.splits[subdomain];
                let builder = &mut self.builders[subdomain];
                let answers = received.add_to(builder, name, |node| names.node(node));
                for (answer, (suffix, _)) in answers.into_iter().zip(received.answers()) {
                    self.show(subdomain, answer, format!("{name}.{suffix}"));
                }
            }
        }
    }

    /// An output of the whole.
    fn show(&mut self, subdomain: usize, port: OutputPort, label: String) {
        self.cut_solvers.outputs.push((subdomain, port));
        self.cut_solvers
            .labels
            .push(((subdomain, port), Some(label)));
    }

    /// Connects the owner of each interface node with those who follow it.
    fn couple(&mut self) {
        match self.cutting.scheme {
            CutScheme::InterfaceTangent => self.couple_by_tangents(),
            CutScheme::InterfaceMass | CutScheme::ForceDisplacement => self.couple_by_loads(),
        }
    }

    /// Each part shows the tangent of all its loads to the coupling that has all its interfaces.
    fn couple_by_tangents(&mut self) {
        let interfaces = self.cutting.partition.interfaces();
        for follower in 0..self.builders.len() {
            let follows = |interface: &&Interface| interface.followers.contains(&follower);
            let followed: Vec<&Interface> = interfaces.iter().filter(follows).collect();
            let Some(&&Interface { owner, .. }) = followed.first() else {
                continue;
            };
            let followed: Vec<NodeId> = followed.iter().map(|interface| interface.node).collect();
            let copies: Vec<_> = followed
                .iter()
                .map(|&node| self.follow(follower, node))
                .collect();
            let shared = self.builders[follower].share_tangent();
            let nodes: Vec<NodeId> = followed
                .iter()
                .map(|&node| self.node(owner, node))
                .collect();
            let attached = self.builders[owner].attach(&self.cutting.names[follower], &nodes);
            for (i, &node) in followed.iter().enumerate() {
                let moved = (attached.loads[i], attached.motions[i]);
                self.exchange(node, (owner, moved), (follower, copies[i]));
                let found_at = (follower, shared.found_at[i]);
                self.connection(found_at, (owner, attached.found_at[i]));
                self.cut_solvers.labels.push((found_at, None));
            }
            self.connection((follower, shared.tangent), (owner, attached.tangent));
        }
    }

    /// Each part sends its loads to whoever has the interface.
    fn couple_by_loads(&mut self) {
        for interface in self.cutting.partition.interfaces() {
            let (node, owner) = (interface.node, interface.owner);
            for follower in interface.followers {
                let copy = self.follow(follower, node);
                let name = format!("{}.{}", self.cutting.names[follower], self.node_name(node));
                let moved = self.node(owner, node);
                let moved = self.builders[owner].load(&name, moved);
                self.exchange(node, (owner, moved), (follower, copy));
            }
        }
    }

    fn node_name(&self, node: NodeId) -> &'r str {
        &self.spec.sketch.nodes[node.index()]
    }

    /// Prescribes the copy of a node: its motion comes in, its load goes out.
    fn follow(&mut self, subdomain: usize, node: NodeId) -> (InputPort, OutputPort) {
        let (copy, name) = (self.node(subdomain, node), self.node_name(node));
        let builder = &mut self.builders[subdomain];
        match self.cutting.prescribes_velocity {
            true => builder.prescribe_motion(name, copy),
            false => builder.prescribe(name, copy),
        }
    }

    /// The motion of an interface node goes to one who follows it, the load on it back.
    fn exchange(
        &mut self,
        node: NodeId,
        (owner, (wrench, motion)): (usize, (InputPort, OutputPort)),
        (follower, (pose, load)): (usize, (InputPort, OutputPort)),
    ) {
        self.connection((owner, motion), (follower, pose));
        self.connection((follower, load), (owner, wrench));
        let part = &self.cutting.names[follower];
        let label = format!("{INTERFACES}.{}.{part}", self.node_name(node));
        self.cut_solvers
            .labels
            .push(((follower, load), Some(label)));
        // The node shows its motion already.
        self.cut_solvers.labels.push(((owner, motion), None));
    }

    fn connection(&mut self, from: (usize, OutputPort), to: (usize, InputPort)) {
        self.cut_solvers
            .connections
            .push(SubdomainConnection { from, to });
    }

    /// The outputs of the whole, from the subdomains that have what they show.
    fn send(&mut self) {
        for (name, sent) in self.spec.all_outputs() {
            let subdomain = match (self.home(&sent.nodes()), sent) {
                (Some(home), _) => home,
                (None, OutputSpec::Reaction { element, .. }) => {
                    let has = |names: &Names| names.elements[element.index()].is_some();
                    let found = self.splits.iter().position(has);
                    found.expect("every element is in a piece")
                }
                (None, _) => unreachable!("everything else is at nodes"),
            };
            let names = &self.splits[subdomain];
            let element = |whole: ElementId| names.elements[whole.index()].expect("it is there");
            let builder = &mut self.builders[subdomain];
            let port = sent.add_to(builder, &name, |node| names.node(node), element);
            self.show(subdomain, port, name);
        }
    }

    fn finish(mut self) -> Result<CutSolvers, MechanismError> {
        for (index, mut builder) in self.builders.into_iter().enumerate() {
            let role = self.cutting.partition.subdomains[index].role;
            if self.cutting.is_thorough() {
                builder.correct_thoroughly();
            }
            let solution = self.cutting.solutions[index];
            let part = builder.build(solution.options, solution.micro_steps);
            self.cut_solvers.solvers.push(SubdomainSolver {
                name: self.cutting.names[index].clone(),
                role,
                part: part.map_err(MechanismError::Model)?,
                prediction: match role {
                    Role::Part => self.cutting.prediction.clone(),
                    Role::Coupling => Prediction::Hold(COUPLING_HOLD),
                },
            });
        }
        Ok(self.cut_solvers)
    }
}
