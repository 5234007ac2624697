//! What a mechanism consists of, and how a solver is made of it.

use oldham_cosim::{OutputPort, Quantity, Unit};
use oldham_multibody::{
    Along, ElementId, Freedoms, LineValue, Marker, MechanismPart, Model, ModelError, NodeId,
    Options, PartBuilder, SolveError, Vec3,
};

use super::{Cutting, NODE_PORTS, Sketch, SolverSettings};

/// A mechanism: a model, the ports it gets, and how it is solved. Solvers are made of copies.
#[derive(Clone, Debug)]
pub(crate) struct MechanismSpec {
    pub model: Model,
    pub inputs: Vec<(String, InputSpec)>,
    pub outputs: Vec<(String, OutputSpec)>,
    /// Whether every node has an output of its own.
    pub shows_nodes: bool,
    pub options: Options,
    pub micro_steps: usize,
    /// Whether redundant joints share their load.
    pub shares_loads: bool,
    /// Whether it starts in static equilibrium.
    pub settles: bool,
    /// How it is cut, if it is.
    pub cutting: Option<Cutting>,
    pub sketch: Sketch,
}

/// What an input port receives.
#[derive(Clone, Debug)]
pub(crate) enum InputSpec {
    /// A force and a moment at a marker.
    Wrench(Marker),
    Pose(NodeId),
    Scalar(Unit),
    /// A force between two points.
    Thrust([Marker; 2]),
    /// A pressure on an area between two points.
    Pressure([Marker; 2], f64),
}

/// What an output port sends.
#[derive(Clone, Copy, Debug)]
pub(crate) enum OutputSpec {
    Motion(Marker),
    Along(Marker, Vec3, Along),
    /// Length or rate of the line between two points.
    Line([Marker; 2], LineValue),
    /// The wrench of an element on one of its nodes.
    Reaction {
        element: ElementId,
        node: usize,
    },
}

impl InputSpec {
    pub fn quantity(&self) -> Quantity {
        match self {
            Self::Wrench(_) => Quantity::Wrench,
            Self::Pose(_) => Quantity::Motion,
            Self::Scalar(unit) => Quantity::Scalar(unit.clone()),
            Self::Thrust(_) => Quantity::Scalar(Unit::NEWTON),
            Self::Pressure(..) => Quantity::Scalar(Unit::PASCAL),
        }
    }

    /// What a solver sends in return, by the ends of the ports' names.
    pub fn answers(&self) -> Vec<(&'static str, Quantity)> {
        match self {
            Self::Wrench(_) => vec![("motion", Quantity::Motion)],
            Self::Pose(_) => vec![("load", Quantity::Wrench)],
            Self::Thrust(_) => vec![
                ("length", LineValue::Length.quantity()),
                ("rate", LineValue::Rate.quantity()),
            ],
            Self::Scalar(_) | Self::Pressure(..) => Vec::new(),
        }
    }

    /// The nodes where it acts.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Self::Wrench(at) => vec![at.node],
            Self::Pose(node) => vec![*node],
            Self::Scalar(_) => Vec::new(),
            Self::Thrust(ends) | Self::Pressure(ends, _) => ends.map(|end| end.node).to_vec(),
        }
    }

    /// Gives a solver the port, whose nodes may have other names there; tells the ports that answer.
    pub fn add_to(
        &self,
        builder: &mut PartBuilder,
        name: &str,
        here: impl Fn(NodeId) -> NodeId,
    ) -> Vec<OutputPort> {
        match self {
            Self::Wrench(at) => vec![builder.load_at(name, moved(at, &here)).1],
            Self::Pose(node) => vec![builder.prescribe(name, here(*node)).1],
            Self::Scalar(unit) => {
                builder.drive(name, unit.clone());
                Vec::new()
            }
            Self::Thrust(ends) => {
                let ends = ends.map(|end| moved(&end, &here));
                builder.thrust(name, ends).1.to_vec()
            }
            Self::Pressure(ends, area) => {
                builder.pressure(name, ends.map(|end| moved(&end, &here)), *area);
                Vec::new()
            }
        }
    }
}

impl OutputSpec {
    pub fn quantity(&self) -> Quantity {
        match self {
            Self::Motion(_) => Quantity::Motion,
            Self::Along(_, _, along) => along.quantity(),
            Self::Line(_, value) => value.quantity(),
            Self::Reaction { .. } => Quantity::Wrench,
        }
    }

    /// The nodes that it shows; a reaction is of an element.
    pub fn nodes(&self) -> Vec<NodeId> {
        match self {
            Self::Motion(at) | Self::Along(at, ..) => vec![at.node],
            Self::Line(ends, _) => ends.map(|end| end.node).to_vec(),
            Self::Reaction { .. } => Vec::new(),
        }
    }

    /// Gives a solver the port, whose nodes and elements may have other names there.
    pub fn add_to(
        &self,
        builder: &mut PartBuilder,
        name: &str,
        here: impl Fn(NodeId) -> NodeId,
        element_here: impl Fn(ElementId) -> ElementId,
    ) -> OutputPort {
        match self {
            Self::Motion(at) => builder.observe_at(name, moved(at, &here)),
            Self::Along(at, axis, along) => {
                builder.observe_along(name, moved(at, &here), *axis, *along)
            }
            Self::Line(ends, value) => {
                builder.observe_line(name, ends.map(|end| moved(&end, &here)), *value)
            }
            Self::Reaction { element, node } => {
                builder.observe_element(name, element_here(*element), *node)
            }
        }
    }
}

/// The same marker on what its node is called elsewhere.
fn moved(marker: &Marker, here: impl Fn(NodeId) -> NodeId) -> Marker {
    Marker {
        node: here(marker.node),
        ..*marker
    }
}

/// Why no solver could be made.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum MechanismError {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Model(Vec<ModelError>),
    #[error("no static equilibrium to start from: {0}")]
    NotSettled(SolveError),
    #[error("the mechanism cannot be started as one system: {0}")]
    NotStarted(SolveError),
}

impl MechanismSpec {
    /// A mechanism of the ground alone.
    pub fn new() -> Self {
        Self {
            model: Model::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            shows_nodes: true,
            options: Options::default(),
            micro_steps: 1,
            shares_loads: false,
            settles: false,
            cutting: None,
            sketch: Sketch {
                nodes: vec!["ground".into()],
                ..Sketch::default()
            },
        }
    }

    /// A solver at the initial state.
    pub fn part(&self, start: f64) -> Result<MechanismPart, MechanismError> {
        let mut part = self.unsettled_part().map_err(MechanismError::Model)?;
        if self.settles {
            let inputs = initial_inputs(&part);
            part.settle(start, &inputs)
                .map_err(MechanismError::NotSettled)?;
        }
        Ok(part)
    }

    /// A solver whose nodes are where they are given.
    pub fn unsettled_part(&self) -> Result<MechanismPart, Vec<ModelError>> {
        let mut builder = PartBuilder::new(self.model.clone());
        if self.shares_loads {
            builder.share_loads();
        }
        for (name, received) in &self.inputs {
            received.add_to(&mut builder, name, |node| node);
        }
        for (name, sent) in self.all_outputs() {
            sent.add_to(&mut builder, &name, |node| node, |element| element);
        }
        builder.build(self.options, self.micro_steps)
    }

    /// Outputs that were asked for, then those of all nodes.
    pub fn all_outputs(&self) -> impl Iterator<Item = (String, OutputSpec)> {
        let shown = self.model.moving_nodes().filter(|_| self.shows_nodes);
        let nodes = shown.map(|(node, _)| {
            let name = format!("{NODE_PORTS}{}", self.model.node_name(node));
            (name, OutputSpec::Motion(node.into()))
        });
        self.outputs.iter().cloned().chain(nodes)
    }

    /// How it is solved.
    pub fn solution(&self) -> SolverSettings {
        SolverSettings {
            options: self.options,
            micro_steps: self.micro_steps,
        }
    }

    /// In how many ways it can move, in the given position.
    pub fn freedoms(&self, start: f64) -> Freedoms {
        let received = self.inputs.iter().map(|(_, received)| received);
        let given: Vec<NodeId> = received
            .clone()
            .filter(|received| matches!(received, InputSpec::Pose(_)))
            .flat_map(InputSpec::nodes)
            .collect();
        let width = received.map(|received| received.quantity().width()).sum();
        self.model.freedoms(start, &vec![0.0; width], &given)
    }
}

/// What the inputs are before the first exchange.
pub(super) fn initial_inputs(part: &MechanismPart) -> Vec<f64> {
    oldham_cosim::Subsystem::ports(part)
        .initial_inputs()
        .to_vec()
}
