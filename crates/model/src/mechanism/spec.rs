//! What a mechanism consists of, and how a solver is made of it.

use oldham_cosim::Unit;
use oldham_multibody::{
    Along, Beam2, Beam3, Body, Bushing, Element, ElementId, Freedoms, Frictional, InternalLoad,
    Joint, LineValue, Load, Marker, MechanismPart, Model, ModelError, Motion, NodeId, Options,
    PartBuilder, PrescribedMotion, Rod, ShellError, ShellGrid, ShellMesh, SolveError,
    TorsionSpring, Transmission, Vec3, mapped_shell,
};

use super::{Cutting, NODE_PORTS, Sketch, SolverSettings, Surface};

/// A mechanism as plain data. Nodes, elements and ports are made in the order of the lists, so that
/// the identities in it hold for every solver.
#[derive(Clone, Debug)]
pub(crate) struct MechanismSpec {
    pub gravity: Vec3,
    /// All nodes but the ground, with their initial motions; those of shells come last.
    pub nodes: Vec<(NodeId, Motion)>,
    pub bodies: Vec<(NodeId, Body)>,
    pub shells: Vec<ShellSpec>,
    pub elements: Vec<(String, ElementSpec)>,
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

/// A shell and its mesh.
#[derive(Clone, Debug)]
pub(crate) struct ShellSpec {
    pub name: String,
    pub mesh: ShellMesh,
    pub surface: Surface,
}

/// An element.
#[derive(Clone, Debug)]
pub(crate) enum ElementSpec {
    Joint(Joint),
    PrescribedMotion(PrescribedMotion),
    Frictional(Frictional),
    Transmission(Transmission),
    Rod(Rod),
    TorsionSpring(TorsionSpring),
    Bushing(Bushing),
    Load(Load),
    InternalLoad(InternalLoad),
    Beam2(Box<Beam2>),
    Beam3(Box<Beam3>),
}

/// What an input port receives.
#[derive(Clone, Debug)]
pub(crate) enum InputSpec {
    Wrench(NodeId),
    Pose(NodeId),
    Scalar(Unit),
    /// A force between two points.
    Thrust([Marker; 2]),
    /// A pressure on an area between two points.
    Pressure([Marker; 2], f64),
}

/// What an output port sends.
#[derive(Clone, Debug)]
pub(crate) enum OutputSpec {
    Motion(NodeId),
    Along(NodeId, Vec3, Along),
    /// Length or rate of the line between two points.
    Line([Marker; 2], LineValue),
    /// The wrench of an element on one of its nodes.
    Reaction {
        element: usize,
        node: usize,
    },
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
            gravity: Vec3::ZERO,
            nodes: Vec::new(),
            bodies: Vec::new(),
            shells: Vec::new(),
            elements: Vec::new(),
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
        let (model, elements) = self.model();
        let mut builder = PartBuilder::new(model);
        if self.shares_loads {
            builder.share_loads();
        }
        for (name, received) in &self.inputs {
            match received {
                InputSpec::Wrench(node) => drop(builder.load(name, *node)),
                InputSpec::Pose(node) => drop(builder.prescribe(name, *node)),
                InputSpec::Scalar(unit) => drop(builder.drive(name, unit.clone())),
                InputSpec::Thrust(ends) => drop(builder.thrust(name, *ends)),
                InputSpec::Pressure(ends, area) => drop(builder.pressure(name, *ends, *area)),
            }
        }
        for (name, sent) in &self.outputs {
            match *sent {
                OutputSpec::Motion(node) => builder.observe(name, node),
                OutputSpec::Along(node, axis, along) => {
                    builder.observe_along(name, node, axis, along)
                }
                OutputSpec::Line(ends, value) => builder.observe_line(name, ends, value),
                OutputSpec::Reaction { element, node } => {
                    builder.observe_element(name, elements[element], node)
                }
            };
        }
        if self.shows_nodes {
            for &(node, _) in &self.nodes {
                let name = &self.sketch.nodes[node.index()];
                builder.observe(&format!("{NODE_PORTS}{name}"), node);
            }
        }
        builder.build(self.options, self.micro_steps)
    }

    /// How it is solved.
    pub fn solution(&self) -> SolverSettings {
        SolverSettings {
            options: self.options,
            micro_steps: self.micro_steps,
        }
    }

    /// The node in a place of the sketch.
    pub fn node(&self, index: usize) -> NodeId {
        match index.checked_sub(1) {
            None => NodeId::GROUND,
            Some(moving) => self.nodes[moving].0,
        }
    }

    /// In how many ways it can move, in the given position.
    pub fn freedoms(&self, start: f64) -> Freedoms {
        let given: Vec<NodeId> = self
            .inputs
            .iter()
            .filter_map(|(_, received)| match received {
                InputSpec::Pose(node) => Some(*node),
                _ => None,
            })
            .collect();
        let inputs = vec![
            0.0;
            self.inputs
                .iter()
                .map(|(_, received)| received.width())
                .sum()
        ];
        self.model().0.freedoms(start, &inputs, &given)
    }

    /// The whole model, and what the elements are in it.
    pub fn model(&self) -> (Model, Vec<ElementId>) {
        let mut model = Model::new();
        model.gravity(self.gravity);
        let meshed: usize = self.shells.iter().map(ShellSpec::nodes).sum();
        for &(node, motion) in &self.nodes[..self.nodes.len() - meshed] {
            let made = model.node(self.sketch.nodes[node.index()].as_str(), motion);
            debug_assert_eq!(made, node);
        }
        for shell in &self.shells {
            let made = shell.mesh_into(&mut model);
            made.expect("the same mesh was made when the model was checked");
        }
        for &(node, body) in &self.bodies {
            model.body(node, body);
        }
        let add = |(name, element): &(String, ElementSpec)| element.add_to(&mut model, name);
        let elements = self.elements.iter().map(add).collect();
        (model, elements)
    }
}

impl ShellSpec {
    /// Why it cannot be meshed, if it cannot.
    pub fn trial(&self) -> Result<(), String> {
        let [across, up] = self.mesh.divisions;
        for (i, j) in (0..=across).flat_map(|i| (0..=up).map(move |j| (i, j))) {
            let (u, v) = (i as f64 / across as f64, j as f64 / up as f64);
            if !self.surface.at(u, v).norm().is_finite() {
                return Err(format!("the surface has no point at u = {u}, v = {v}"));
            }
        }
        let made = self.mesh_into(&mut Model::new());
        made.map(drop).map_err(|error| error.to_string())
    }

    /// Adds its nodes, bodies and elements.
    pub fn mesh_into(&self, model: &mut Model) -> Result<ShellGrid, ShellError> {
        let surface = |u: f64, v: f64| self.surface.at(u, v);
        mapped_shell(model, &self.name, &self.mesh, surface)
    }

    fn nodes(&self) -> usize {
        let [across, up] = self.mesh.divisions;
        let columns = if self.mesh.closed { across } else { across + 1 };
        columns * (up + 1)
    }
}

impl ElementSpec {
    fn add_to(&self, model: &mut Model, name: &str) -> ElementId {
        match self {
            Self::Joint(joint) => model.element(name, joint.clone()),
            Self::PrescribedMotion(joint) => model.element(name, joint.clone()),
            Self::Frictional(joint) => model.element(name, joint.clone()),
            Self::Transmission(transmission) => model.element(name, transmission.clone()),
            Self::Rod(rod) => model.element(name, rod.clone()),
            Self::TorsionSpring(spring) => model.element(name, spring.clone()),
            Self::Bushing(bushing) => model.element(name, bushing.clone()),
            Self::Load(load) => model.element(name, load.clone()),
            Self::InternalLoad(load) => model.element(name, load.clone()),
            Self::Beam2(beam) => model.element(name, (**beam).clone()),
            Self::Beam3(beam) => model.element(name, (**beam).clone()),
        }
    }

    pub fn constraints(&self) -> usize {
        match self {
            Self::Joint(joint) => joint.constraints(),
            Self::PrescribedMotion(joint) => joint.constraints(),
            Self::Frictional(joint) => joint.constraints(),
            Self::Transmission(transmission) => transmission.constraints(),
            _ => 0,
        }
    }
}

/// What the inputs are before the first exchange.
pub(super) fn initial_inputs(part: &MechanismPart) -> Vec<f64> {
    oldham_cosim::Subsystem::ports(part)
        .initial_inputs()
        .to_vec()
}
