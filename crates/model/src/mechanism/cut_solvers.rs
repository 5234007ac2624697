//! The subdomains of a cut mechanism as solvers, and how they are connected.

use oldham_cosim::{InputPort, OutputPort, Quantity};
use oldham_multibody::cut::{Interface, Role, Split};
use oldham_multibody::{Marker, MechanismPart, Motion, NodeId, PartBuilder};

use super::spec::{MechanismError, initial_inputs};
use super::{CutScheme, Cutting, InputSpec, MechanismSpec, NODE_PORTS, OutputSpec};
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
    elements: Vec<Option<oldham_multibody::ElementId>>,
}

impl MechanismSpec {
    /// The subdomains of the mechanism, at the initial state of the whole.
    pub fn cut_solvers(&self, cutting: &Cutting, start: f64) -> Result<CutSolvers, MechanismError> {
        let (mut model, elements) = self.model();
        for (node, motion) in self.initial_motions(start)? {
            model.place(node, motion);
        }
        let splits = cutting.partition.split(model);
        let mut cut_builder = CutSolverBuilder::new(self, cutting, splits);
        cut_builder.receive();
        cut_builder.couple();
        cut_builder.send(&elements);
        cut_builder.finish()
    }

    /// Where the whole mechanism starts: in equilibrium, or with all joints fitting, so that its
    /// subdomains fit each other. With inputs it is not known yet what the joints demand.
    fn initial_motions(&self, start: f64) -> Result<Vec<(NodeId, Motion)>, MechanismError> {
        let mut part = self.part(start)?;
        let is_demand = |(_, received): &(_, InputSpec)| !matches!(received, InputSpec::Wrench(_));
        if !self.settles {
            if self.inputs.iter().any(is_demand) {
                return Ok(self.nodes.clone());
            }
            let inputs = initial_inputs(&part);
            let started = part.system_mut().start(start, &inputs);
            started.map_err(MechanismError::NotStarted)?;
        }
        let reached = |&(node, _): &(NodeId, Motion)| (node, *part.system().motion(node));
        Ok(self.nodes.iter().map(reached).collect())
    }
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
                let width = received.width();
                moved.extend((0..width).map(|component| here + component));
                if cut_builder.is_taken_by(subdomain, received, used.contains(&whole)) {
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

    fn is_taken_by(&self, subdomain: usize, received: &InputSpec, is_used: bool) -> bool {
        match received {
            InputSpec::Wrench(node) | InputSpec::Pose(node) => {
                self.cutting.owner(*node) == subdomain
            }
            InputSpec::Scalar(_) => is_used,
            InputSpec::Thrust(ends) | InputSpec::Pressure(ends, _) => self.home(*ends) == subdomain,
        }
    }

    /// The subdomain that has both ends of a line.
    fn home(&self, ends: [Marker; 2]) -> usize {
        let home = self.cutting.home(ends.map(|end| end.node));
        home.expect("cuts between the ends of a line are refused")
    }

    fn line(&self, subdomain: usize, ends: [Marker; 2]) -> [Marker; 2] {
        ends.map(|end| Marker {
            node: self.node(subdomain, end.node),
            ..end
        })
    }

    fn node(&self, subdomain: usize, node: NodeId) -> NodeId {
        self.splits[subdomain].nodes[node.index()].expect("the node is in the piece")
    }

    /// Gives the subdomains the inputs of the whole, and the whole the outputs that answer them.
    fn receive(&mut self) {
        for (port, (name, received)) in self.spec.inputs.iter().enumerate() {
            for (subdomain, _) in self.cut_solvers.inputs[port].clone() {
                match received {
                    InputSpec::Wrench(node) => {
                        let node = self.node(subdomain, *node);
                        let (_, motion) = self.builders[subdomain].load(name, node);
                        self.show(subdomain, motion, format!("{name}.motion"));
                    }
                    InputSpec::Pose(node) => {
                        let node = self.node(subdomain, *node);
                        let (_, load) = self.builders[subdomain].prescribe(name, node);
                        self.show(subdomain, load, format!("{name}.load"));
                    }
                    InputSpec::Scalar(unit) => {
                        self.builders[subdomain].drive(name, unit.clone());
                    }
                    InputSpec::Thrust(ends) => {
                        let ends = self.line(subdomain, *ends);
                        let (_, [length, rate]) = self.builders[subdomain].thrust(name, ends);
                        self.show(subdomain, length, format!("{name}.length"));
                        self.show(subdomain, rate, format!("{name}.rate"));
                    }
                    InputSpec::Pressure(ends, area) => {
                        let ends = self.line(subdomain, *ends);
                        self.builders[subdomain].pressure(name, ends, *area);
                    }
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
    fn send(&mut self, elements: &[oldham_multibody::ElementId]) {
        for (name, sent) in &self.spec.outputs {
            let (subdomain, port) = match *sent {
                OutputSpec::Motion(node) => {
                    let subdomain = self.cutting.owner(node);
                    let node = self.node(subdomain, node);
                    (subdomain, self.builders[subdomain].observe(name, node))
                }
                OutputSpec::Along(node, axis, along) => {
                    let subdomain = self.cutting.owner(node);
                    let node = self.node(subdomain, node);
                    let port = self.builders[subdomain].observe_along(name, node, axis, along);
                    (subdomain, port)
                }
                OutputSpec::Line(ends, value) => {
                    let subdomain = self.home(ends);
                    let ends = self.line(subdomain, ends);
                    (
                        subdomain,
                        self.builders[subdomain].observe_line(name, ends, value),
                    )
                }
                OutputSpec::Reaction { element, node } => {
                    let whole = elements[element].index();
                    let here = self.splits.iter().map(|split| split.elements[whole]);
                    let (subdomain, element) = here
                        .enumerate()
                        .find_map(|(subdomain, element)| Some((subdomain, element?)))
                        .expect("every element is in a piece");
                    let port = self.builders[subdomain].observe_element(name, element, node);
                    (subdomain, port)
                }
            };
            self.show(subdomain, port, name.clone());
        }
        if self.spec.shows_nodes {
            for &(node, _) in &self.spec.nodes {
                let subdomain = self.cutting.owner(node);
                let name = format!("{NODE_PORTS}{}", self.spec.sketch.nodes[node.index()]);
                let node = self.node(subdomain, node);
                let port = self.builders[subdomain].observe(&name, node);
                self.show(subdomain, port, name);
            }
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

impl InputSpec {
    /// Components of the input vector.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Wrench(_) => Quantity::Wrench.width(),
            Self::Pose(_) => Quantity::Motion.width(),
            Self::Scalar(_) | Self::Thrust(_) | Self::Pressure(..) => 1,
        }
    }
}
