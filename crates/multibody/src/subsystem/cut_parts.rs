//! The subdomains of a cut model as parts, and how they are connected.

use super::{MechanismPart, Needs, PartBuilder, PortedModel};
use crate::cut::{Interface, Partition, Role, Split};
use crate::element::ElementId;
use crate::error::ModelError;
use crate::integrator::Method;
use crate::node::NodeId;
use crate::system::Options;
use oldham_cosim::{InputPort, MotionLaw, OutputPort};

/// How a model is cut into parts.
#[derive(Clone, Debug)]
pub struct CutSettings {
    /// What goes where.
    pub partition: Partition,
    /// Names of the subdomains, in the order of the partition.
    pub names: Vec<String>,
    /// How the subdomains are solved, in the order of the partition.
    pub solutions: Vec<SolverSettings>,
    /// How they are coupled.
    pub scheme: CutScheme,
    /// What subdomains follow of the motion of interface nodes.
    pub prescription: Prescription,
    /// Whether corrections end with an iteration; see [`PartBuilder::correct_thoroughly`].
    pub is_thorough: bool,
    /// Whether parts predict their interfaces themselves; see [`PartBuilder::predict_interface`].
    pub predicts_interface: bool,
}

/// What the copy of an interface node follows of its motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prescription {
    /// The pose; velocities follow from that.
    Pose,
    /// The velocity, too.
    Motion,
    /// Parts that are moved by impulses follow by a law, others the pose.
    Law(MotionLaw),
}

/// How a part is solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverSettings {
    /// Method and tolerances.
    pub options: Options,
    /// Integrator steps per macro step.
    pub micro_steps: usize,
}

/// How the subdomains of a cut model are coupled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CutScheme {
    /// Couplings know the tangents of the parts, which correct their steps in the end.
    InterfaceTangent,
    /// Couplings know the mass of the interface only.
    InterfaceMass,
    /// There are no couplings: the first part at an interface has it.
    ForceDisplacement,
}

/// The prefix of the results that show loads at interfaces.
const INTERFACES: &str = "interfaces";

/// A cut model: parts, and what the ports of the whole are in them.
pub struct CutParts {
    /// The parts, then the couplings.
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
pub struct SubdomainSolver {
    /// Its name.
    pub name: String,
    /// Whether it is a part or a coupling.
    pub role: Role,
    /// Its solver.
    pub part: MechanismPart,
}

/// From an output of one subdomain to an input of another.
pub struct SubdomainConnection {
    /// Subdomain and output.
    pub from: (usize, OutputPort),
    /// Subdomain and input.
    pub to: (usize, InputPort),
}

/// Subdomains while their ports are made.
struct CutPartsBuilder<'r> {
    whole: &'r PortedModel,
    settings: &'r CutSettings,
    builders: Vec<PartBuilder>,
    /// For each subdomain: nodes and elements of the whole there.
    splits: Vec<Names>,
    cut_parts: CutParts,
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

impl PortedModel {
    /// The subdomains of the model as parts with their ports, at its initial motions.
    pub fn cut(&self, settings: &CutSettings) -> Result<CutParts, Vec<ModelError>> {
        let splits = settings.partition.split(self.model.clone());
        let mut cutter = CutPartsBuilder::new(self, settings, splits);
        cutter.receive();
        cutter.couple();
        cutter.send();
        cutter.finish()
    }
}

impl<'r> CutPartsBuilder<'r> {
    fn new(whole: &'r PortedModel, settings: &'r CutSettings, splits: Vec<Split>) -> Self {
        let mut cut_builder = Self {
            whole,
            settings,
            builders: Vec::new(),
            splits: Vec::new(),
            cut_parts: CutParts {
                solvers: Vec::new(),
                inputs: vec![Vec::new(); whole.inputs.len()],
                outputs: Vec::new(),
                connections: Vec::new(),
                labels: Vec::new(),
            },
        };
        for (subdomain, mut split) in splits.into_iter().enumerate() {
            let mut first = 0;
            let mut here = 0;
            // Where each component of the whole's input vector is in that of the subdomain.
            let mut moved = Vec::new();
            let used = split.model.inputs_used();
            for (port, (_, received)) in whole.inputs.iter().enumerate() {
                let width = received.quantity().width();
                moved.extend((0..width).map(|component| here + component));
                let home = cut_builder.home(&received.needs());
                if home.map_or(used.contains(&first), |home| home == subdomain) {
                    let place = InputPort(cut_builder.inputs_of(subdomain));
                    cut_builder.cut_parts.inputs[port].push((subdomain, place));
                    here += width;
                }
                first += width;
            }
            split.model.redirect_inputs(|component| moved[component]);
            let mut builder = PartBuilder::new(split.model);
            if whole.shares_loads {
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
        let receivers = self.cut_parts.inputs.iter().flatten();
        receivers
            .filter(|(receiver, _)| *receiver == subdomain)
            .count()
    }

    /// The subdomain of what a port needs; nothing for what is nowhere.
    fn home(&self, needs: &Needs) -> Option<usize> {
        let Needs { nodes, elements } = needs;
        if nodes.is_empty() && elements.is_empty() {
            return None;
        }
        let home = self.settings.partition.home(nodes, elements);
        Some(home.expect("cuts through what a port needs are refused"))
    }

    fn node(&self, subdomain: usize, node: NodeId) -> NodeId {
        self.splits[subdomain].node(node)
    }

    /// Gives the subdomains the inputs of the whole, and the whole the outputs that answer them.
    fn receive(&mut self) {
        for (port, (name, received)) in self.whole.inputs.iter().enumerate() {
            for (subdomain, _) in self.cut_parts.inputs[port].clone() {
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
        self.cut_parts.outputs.push((subdomain, port));
        self.cut_parts.labels.push(((subdomain, port), Some(label)));
    }

    /// Connects the owner of each interface node with those who follow it.
    fn couple(&mut self) {
        match self.settings.scheme {
            CutScheme::InterfaceTangent => self.couple_by_tangents(),
            CutScheme::InterfaceMass | CutScheme::ForceDisplacement => self.couple_by_loads(),
        }
    }

    /// Each part shows the tangent of all its loads to the coupling that has all its interfaces.
    fn couple_by_tangents(&mut self) {
        let interfaces = self.settings.partition.interfaces();
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
            let attached = self.builders[owner].attach(&self.settings.names[follower], &nodes);
            for (i, &node) in followed.iter().enumerate() {
                let moved = (attached.loads[i], attached.motions[i]);
                self.exchange(node, (owner, moved), (follower, copies[i]));
                let found_at = (follower, shared.found_at[i]);
                self.connection(found_at, (owner, attached.found_at[i]));
                self.cut_parts.labels.push((found_at, None));
            }
            self.connection((follower, shared.tangent), (owner, attached.tangent));
        }
    }

    /// Each part sends its loads to whoever has the interface.
    fn couple_by_loads(&mut self) {
        for interface in self.settings.partition.interfaces() {
            let (node, owner) = (interface.node, interface.owner);
            for follower in interface.followers {
                let copy = self.follow(follower, node);
                let name = format!("{}.{}", self.settings.names[follower], self.node_name(node));
                let moved = self.node(owner, node);
                let moved = self.builders[owner].load(&name, moved);
                self.exchange(node, (owner, moved), (follower, copy));
            }
        }
    }

    fn node_name(&self, node: NodeId) -> &'r str {
        self.whole.model.node_name(node)
    }

    /// Prescribes the copy of a node: its motion comes in, its load goes out.
    fn follow(&mut self, subdomain: usize, node: NodeId) -> (InputPort, OutputPort) {
        let (copy, name) = (self.node(subdomain, node), self.node_name(node));
        let builder = &mut self.builders[subdomain];
        let method = self.settings.solutions[subdomain].options.method;
        match self.settings.prescription {
            Prescription::Motion => builder.prescribe_motion(name, copy),
            Prescription::Law(law) if method == Method::Impulses => builder.follow(name, copy, law),
            Prescription::Pose | Prescription::Law(_) => builder.prescribe(name, copy),
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
        let part = &self.settings.names[follower];
        let label = format!("{INTERFACES}.{}.{part}", self.node_name(node));
        self.cut_parts.labels.push(((follower, load), Some(label)));
        // The node shows its motion already.
        self.cut_parts.labels.push(((owner, motion), None));
    }

    fn connection(&mut self, from: (usize, OutputPort), to: (usize, InputPort)) {
        self.cut_parts
            .connections
            .push(SubdomainConnection { from, to });
    }

    /// The outputs of the whole, from the subdomains that have what they show.
    fn send(&mut self) {
        for (name, sent) in &self.whole.outputs {
            let home = self.home(&sent.needs());
            let subdomain = home.expect("an output shows something");
            let names = &self.splits[subdomain];
            let element = |whole: ElementId| names.elements[whole.index()].expect("it is there");
            let builder = &mut self.builders[subdomain];
            let port = sent.add_to(builder, name, |node| names.node(node), element);
            self.show(subdomain, port, name.clone());
        }
    }

    fn finish(mut self) -> Result<CutParts, Vec<ModelError>> {
        for (index, mut builder) in self.builders.into_iter().enumerate() {
            let role = self.settings.partition.subdomains[index].role;
            if self.settings.is_thorough {
                builder.correct_thoroughly();
            }
            if self.settings.predicts_interface {
                builder.predict_interface();
            }
            let solution = self.settings.solutions[index];
            let part = builder.build(solution.options, solution.micro_steps);
            self.cut_parts.solvers.push(SubdomainSolver {
                name: self.settings.names[index].clone(),
                role,
                part: part?,
            });
        }
        Ok(self.cut_parts)
    }
}
