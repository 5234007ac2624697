//! The pieces of a cut mechanism as solvers, and how they are wired.

use oldham_cosim::{InputPort, OutputPort, Quantity};
use oldham_multibody::cut::{Interface, Role, Split};
use oldham_multibody::{Marker, Motion, NodeId, Part, PartBuilder};

use super::recipe::{RecipeError, initial_inputs};
use super::{Cutting, NODE_PORTS, Received, Recipe, Scheme, Sent};
use crate::model::Prediction;

/// The prefix of the results that show loads at interfaces.
const INTERFACES: &str = "interfaces";

/// Hold of couplings: they advance when the loads at the end of the step are known, and take the
/// line to them within it.
const COUPLING_HOLD: usize = 1;

/// A cut mechanism: solvers, and what the ports of the whole are in them.
pub(crate) struct Pieces {
    pub solvers: Vec<Solver>,
    /// Who takes each input of the whole; several may use the same number.
    pub inputs: Vec<Vec<(usize, InputPort)>>,
    /// Who sends each output of the whole.
    pub outputs: Vec<(usize, OutputPort)>,
    /// From the motions of interface nodes to those who follow, and from their loads back.
    pub wires: Vec<Wire>,
    /// What outputs are called in the results, after the mechanism; those without a name are not
    /// recorded.
    pub labels: Vec<((usize, OutputPort), Option<String>)>,
}

/// A piece that can be solved.
pub(crate) struct Solver {
    pub name: String,
    pub role: Role,
    pub part: Part,
    pub prediction: Prediction,
}

/// From an output of one piece to an input of another.
pub(crate) struct Wire {
    pub from: (usize, OutputPort),
    pub to: (usize, InputPort),
}

/// Pieces while their ports are made.
struct Workshop<'r> {
    recipe: &'r Recipe,
    cutting: &'r Cutting,
    builders: Vec<PartBuilder>,
    /// For each piece: nodes and elements of the whole there.
    splits: Vec<Names>,
    pieces: Pieces,
}

struct Names {
    nodes: Vec<Option<NodeId>>,
    elements: Vec<Option<oldham_multibody::ElementId>>,
}

impl Recipe {
    /// The pieces of the mechanism, at the initial state of the whole.
    pub fn pieces(&self, cutting: &Cutting, start: f64) -> Result<Pieces, RecipeError> {
        let (mut model, elements) = self.model();
        for (node, motion) in self.initial_motions(start)? {
            model.place(node, motion);
        }
        let splits = cutting.plan.split(model);
        let mut workshop = Workshop::new(self, cutting, splits);
        workshop.receive();
        workshop.couple();
        workshop.send(&elements);
        workshop.finish()
    }

    /// Where the whole mechanism starts: in equilibrium, or with all joints fitting, so that its
    /// pieces fit each other. With inputs it is not known yet what the joints demand.
    fn initial_motions(&self, start: f64) -> Result<Vec<(NodeId, Motion)>, RecipeError> {
        let mut part = self.part(start)?;
        let is_demand = |(_, received): &(_, Received)| !matches!(received, Received::Wrench(_));
        if !self.settles {
            if self.inputs.iter().any(is_demand) {
                return Ok(self.nodes.clone());
            }
            let inputs = initial_inputs(&part);
            let started = part.system_mut().start(start, &inputs);
            started.map_err(RecipeError::NotStarted)?;
        }
        let reached = |&(node, _): &(NodeId, Motion)| (node, *part.system().motion(node));
        Ok(self.nodes.iter().map(reached).collect())
    }
}

impl<'r> Workshop<'r> {
    fn new(recipe: &'r Recipe, cutting: &'r Cutting, splits: Vec<Split>) -> Self {
        let mut workshop = Self {
            recipe,
            cutting,
            builders: Vec::new(),
            splits: Vec::new(),
            pieces: Pieces {
                solvers: Vec::new(),
                inputs: vec![Vec::new(); recipe.inputs.len()],
                outputs: Vec::new(),
                wires: Vec::new(),
                labels: Vec::new(),
            },
        };
        for (piece, mut split) in splits.into_iter().enumerate() {
            let mut whole = 0;
            let mut here = 0;
            // Where each component of the whole's input vector is in that of the piece.
            let mut moved = Vec::new();
            let used = split.model.inputs_used();
            for (port, (_, received)) in recipe.inputs.iter().enumerate() {
                let width = received.width();
                moved.extend((0..width).map(|component| here + component));
                if workshop.is_taken_by(piece, received, used.contains(&whole)) {
                    let place = InputPort(workshop.inputs_of(piece));
                    workshop.pieces.inputs[port].push((piece, place));
                    here += width;
                }
                whole += width;
            }
            split.model.redirect_inputs(|component| moved[component]);
            let mut builder = PartBuilder::new(split.model);
            if recipe.shares_loads {
                builder.share_loads();
            }
            workshop.builders.push(builder);
            workshop.splits.push(Names {
                nodes: split.nodes,
                elements: split.elements,
            });
        }
        workshop
    }

    /// How many inputs of the whole a piece takes so far.
    fn inputs_of(&self, piece: usize) -> usize {
        let takers = self.pieces.inputs.iter().flatten();
        takers.filter(|(taker, _)| *taker == piece).count()
    }

    fn is_taken_by(&self, piece: usize, received: &Received, is_used: bool) -> bool {
        match received {
            Received::Wrench(node) | Received::Pose(node) => self.cutting.owner(*node) == piece,
            Received::Scalar(_) => is_used,
            Received::Thrust(ends) | Received::Pressure(ends, _) => self.home(*ends) == piece,
        }
    }

    /// The piece that has both ends of a line.
    fn home(&self, ends: [Marker; 2]) -> usize {
        let home = self.cutting.home(ends.map(|end| end.node));
        home.expect("cuts between the ends of a line are refused")
    }

    fn line(&self, piece: usize, ends: [Marker; 2]) -> [Marker; 2] {
        ends.map(|end| Marker {
            node: self.node(piece, end.node),
            ..end
        })
    }

    fn node(&self, piece: usize, node: NodeId) -> NodeId {
        self.splits[piece].nodes[node.index()].expect("the node is in the piece")
    }

    /// Gives the pieces the inputs of the whole, and the whole the outputs that answer them.
    fn receive(&mut self) {
        for (port, (name, received)) in self.recipe.inputs.iter().enumerate() {
            for (piece, _) in self.pieces.inputs[port].clone() {
                match received {
                    Received::Wrench(node) => {
                        let node = self.node(piece, *node);
                        let (_, motion) = self.builders[piece].load(name, node);
                        self.show(piece, motion, format!("{name}.motion"));
                    }
                    Received::Pose(node) => {
                        let node = self.node(piece, *node);
                        let (_, load) = self.builders[piece].prescribe(name, node);
                        self.show(piece, load, format!("{name}.load"));
                    }
                    Received::Scalar(unit) => {
                        self.builders[piece].drive(name, unit.clone());
                    }
                    Received::Thrust(ends) => {
                        let ends = self.line(piece, *ends);
                        let (_, [length, rate]) = self.builders[piece].thrust(name, ends);
                        self.show(piece, length, format!("{name}.length"));
                        self.show(piece, rate, format!("{name}.rate"));
                    }
                    Received::Pressure(ends, area) => {
                        let ends = self.line(piece, *ends);
                        self.builders[piece].pressure(name, ends, *area);
                    }
                }
            }
        }
    }

    /// An output of the whole.
    fn show(&mut self, piece: usize, port: OutputPort, label: String) {
        self.pieces.outputs.push((piece, port));
        self.pieces.labels.push(((piece, port), Some(label)));
    }

    /// Connects the owner of each interface node with those who follow it.
    fn couple(&mut self) {
        match self.cutting.scheme {
            Scheme::InterfaceTangent => self.couple_by_tangents(),
            Scheme::InterfaceMass | Scheme::ForceDisplacement => self.couple_by_loads(),
        }
    }

    /// Each part shows the tangent of all its loads to the coupling that has all its interfaces.
    fn couple_by_tangents(&mut self) {
        let interfaces = self.cutting.plan.interfaces();
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
                self.wire(found_at, (owner, attached.found_at[i]));
                self.pieces.labels.push((found_at, None));
            }
            self.wire((follower, shared.tangent), (owner, attached.tangent));
        }
    }

    /// Each part sends its loads to whoever has the interface.
    fn couple_by_loads(&mut self) {
        for interface in self.cutting.plan.interfaces() {
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
        &self.recipe.sketch.nodes[node.index()]
    }

    /// Prescribes the copy of a node: its motion comes in, its load goes out.
    fn follow(&mut self, piece: usize, node: NodeId) -> (InputPort, OutputPort) {
        let (copy, name) = (self.node(piece, node), self.node_name(node));
        let builder = &mut self.builders[piece];
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
        self.wire((owner, motion), (follower, pose));
        self.wire((follower, load), (owner, wrench));
        let part = &self.cutting.names[follower];
        let label = format!("{INTERFACES}.{}.{part}", self.node_name(node));
        self.pieces.labels.push(((follower, load), Some(label)));
        // The node shows its motion already.
        self.pieces.labels.push(((owner, motion), None));
    }

    fn wire(&mut self, from: (usize, OutputPort), to: (usize, InputPort)) {
        self.pieces.wires.push(Wire { from, to });
    }

    /// The outputs of the whole, from the pieces that have what they show.
    fn send(&mut self, elements: &[oldham_multibody::ElementId]) {
        for (name, sent) in &self.recipe.outputs {
            let (piece, port) = match *sent {
                Sent::Motion(node) => {
                    let piece = self.cutting.owner(node);
                    let node = self.node(piece, node);
                    (piece, self.builders[piece].observe(name, node))
                }
                Sent::Along(node, axis, along) => {
                    let piece = self.cutting.owner(node);
                    let node = self.node(piece, node);
                    let port = self.builders[piece].observe_along(name, node, axis, along);
                    (piece, port)
                }
                Sent::Line(ends, value) => {
                    let piece = self.home(ends);
                    let ends = self.line(piece, ends);
                    (piece, self.builders[piece].observe_line(name, ends, value))
                }
                Sent::Reaction { piece, node } => {
                    let whole = elements[piece].index();
                    let here = self.splits.iter().map(|split| split.elements[whole]);
                    let (piece, element) = here
                        .enumerate()
                        .find_map(|(piece, element)| Some((piece, element?)))
                        .expect("every element is in a piece");
                    let port = self.builders[piece].observe_element(name, element, node);
                    (piece, port)
                }
            };
            self.show(piece, port, name.clone());
        }
        if self.recipe.shows_nodes {
            for &(node, _) in &self.recipe.nodes {
                let piece = self.cutting.owner(node);
                let name = format!("{NODE_PORTS}{}", self.recipe.sketch.nodes[node.index()]);
                let node = self.node(piece, node);
                let port = self.builders[piece].observe(&name, node);
                self.show(piece, port, name);
            }
        }
    }

    fn finish(mut self) -> Result<Pieces, RecipeError> {
        for (index, mut builder) in self.builders.into_iter().enumerate() {
            let role = self.cutting.plan.pieces[index].role;
            if self.cutting.is_thorough() {
                builder.correct_thoroughly();
            }
            let solution = self.cutting.solutions[index];
            let part = builder.build(solution.options, solution.micro_steps);
            self.pieces.solvers.push(Solver {
                name: self.cutting.names[index].clone(),
                role,
                part: part.map_err(RecipeError::Model)?,
                prediction: match role {
                    Role::Part => self.cutting.prediction.clone(),
                    Role::Coupling => Prediction::Hold(COUPLING_HOLD),
                },
            });
        }
        Ok(self.pieces)
    }
}

impl Received {
    /// Components of the input vector.
    pub(super) fn width(&self) -> usize {
        match self {
            Self::Wrench(_) => Quantity::Wrench.width(),
            Self::Pose(_) => Quantity::Motion.width(),
            Self::Scalar(_) | Self::Thrust(_) | Self::Pressure(..) => 1,
        }
    }
}
