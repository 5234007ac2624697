//! A mechanism of a model file: the model with its ports, and how it is solved.

use std::borrow::Cow;

use oldham_multibody::{
    CutParts, ElementId, Marker, MechanismPart, Method, ModelError, Motion, NodeId, Options,
    PortedModel, Received, SolveError, SolverSettings,
};

use super::{Cutting, Sketch, StaticLine};

/// A mechanism, and how it is solved.
#[derive(Clone, Debug, Default)]
pub(crate) struct MechanismSpec {
    pub whole: PortedModel,
    pub options: Options,
    pub micro_steps: usize,
    /// Whether it starts in static equilibrium.
    pub static_equilibrium: bool,
    /// How it is cut, if it is.
    pub cutting: Option<Cutting>,
    /// Its joints, whose reactions are asked for.
    pub joints: Vec<NamedJoint>,
    /// Actuators that hold it at rest.
    pub static_lines: Vec<StaticLine>,
    pub sketch: Sketch,
}

/// A joint with its name and its markers.
#[derive(Clone, Debug)]
pub(crate) struct NamedJoint {
    pub name: String,
    pub element: ElementId,
    pub ends: [Marker; 2],
}

/// Why no solver could be made.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum MechanismError {
    #[error("{}", .0.iter().map(ToString::to_string).collect::<Vec<_>>().join("; "))]
    Model(Vec<ModelError>),
    #[error("no static equilibrium to start from: {0}")]
    NoEquilibrium(SolveError),
    #[error("the mechanism cannot be started as one system: {0}")]
    NotStarted(SolveError),
}

impl MechanismSpec {
    /// A solver at the initial state.
    pub fn part(&self, start: f64) -> Result<MechanismPart, MechanismError> {
        let whole = self
            .balanced(start)
            .map_err(MechanismError::NoEquilibrium)?;
        self.started_part(&whole, start)
    }

    /// A solver of the balanced mechanism at the initial state.
    fn started_part(
        &self,
        whole: &PortedModel,
        start: f64,
    ) -> Result<MechanismPart, MechanismError> {
        let part = whole.builder().build(self.options, self.micro_steps);
        let mut part = part.map_err(MechanismError::Model)?;
        if self.static_equilibrium && !self.starts_under_static_loads() {
            let inputs = initial_inputs(&part);
            part.find_static_equilibrium(start, &inputs)
                .map_err(MechanismError::NoEquilibrium)?;
        }
        Ok(part)
    }

    /// A solver whose nodes are where they are given.
    pub fn part_before_statics(&self) -> Result<MechanismPart, Vec<ModelError>> {
        let whole = self.as_one(&self.whole);
        whole.builder().build(self.options, self.micro_steps)
    }

    /// What can be started as one system: contacts that belong to a part of its own method are left out.
    fn as_one<'w>(&self, whole: &'w PortedModel) -> Cow<'w, PortedModel> {
        match self.options.method == Method::Impulses {
            true => Cow::Borrowed(whole),
            false => Cow::Owned(whole.without_contacts()),
        }
    }

    /// How it is solved.
    pub fn solution(&self) -> SolverSettings {
        SolverSettings {
            options: self.options,
            micro_steps: self.micro_steps,
        }
    }

    /// The subdomains of the mechanism, at the initial state of the whole.
    pub fn cut_parts(&self, cutting: &Cutting, start: f64) -> Result<CutParts, MechanismError> {
        let mut whole = self
            .balanced(start)
            .map_err(MechanismError::NoEquilibrium)?;
        for (node, motion) in self.initial_motions(&whole, start)? {
            whole.model.place(node, motion);
        }
        whole.cut(&cutting.settings).map_err(MechanismError::Model)
    }

    /// Where the whole mechanism starts: in equilibrium, or with all joints fitting, so that its
    /// subdomains fit each other. With inputs it is not known yet what the joints prescribe.
    fn initial_motions(
        &self,
        whole: &PortedModel,
        start: f64,
    ) -> Result<Vec<(NodeId, Motion)>, MechanismError> {
        let mut part = self.started_part(&self.as_one(whole), start)?;
        let is_motion = |(_, received): &(_, Received)| !matches!(received, Received::Wrench(_));
        if !self.static_equilibrium {
            if self.whole.inputs.iter().any(is_motion) {
                return Ok(Vec::new());
            }
            let inputs = initial_inputs(&part);
            let started = part.system_mut().start(start, &inputs);
            started.map_err(MechanismError::NotStarted)?;
        }
        let nodes = self.whole.model.moving_nodes();
        Ok(nodes
            .map(|(node, _)| (node, *part.system().motion(node)))
            .collect())
    }
}

/// What the inputs are before the first exchange.
pub(super) fn initial_inputs(part: &MechanismPart) -> Vec<f64> {
    oldham_cosim::Subsystem::ports(part)
        .initial_inputs()
        .to_vec()
}
