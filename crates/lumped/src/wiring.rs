//! Ports: which number of the flat input and output vectors belongs where in the equations.

use std::collections::BTreeSet;

use oldham_cosim::{Conjugate, InputPort, MotionLaw, OutputPort, Ports, Quantity};

use crate::assembly::Numbering;
use crate::equations::{Equations, Motion, OwnMass};
use crate::spec::{BoundaryMotion, BoundarySpec, NodeRef, PortKind, PortSpec, Prescribed, Spec};

/// Where a number of the input vector goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Displacement(usize),
    Velocity(usize),
    Acceleration(usize),
    /// On the own node of this row.
    Force(usize),
    /// The velocity of this slot at the start; from then on it follows from positions.
    StartingVelocity(usize),
    /// The same for its acceleration.
    StartingAcceleration(usize),
    /// Derivative of this order of the motion that this slot follows by a law.
    Followed(usize, usize),
}

impl Target {
    /// The slot that it moves and the order of the derivative, as steps become short: rates of position-driven nodes
    /// are then those of the motion, and what follows by a law is where it should be.
    pub(crate) fn moved(self) -> Option<(usize, usize)> {
        match self {
            Self::Displacement(slot) => Some((slot, 0)),
            Self::Velocity(slot) | Self::StartingVelocity(slot) => Some((slot, 1)),
            Self::Acceleration(slot) | Self::StartingAcceleration(slot) => Some((slot, 2)),
            Self::Followed(slot, order) => Some((slot, order)),
            Self::Force(_) => None,
        }
    }
}

/// Where a number of the output vector comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    Displacement(usize),
    Velocity(usize),
    Acceleration(usize),
    /// The force on the boundary node of this number.
    ForceOnBoundary(usize),
    /// Entry of the tangent of the forces on boundary nodes.
    Tangent(usize),
}

/// The ports and what they mean.
#[derive(Clone, Debug)]
pub(crate) struct Wiring {
    pub ports: Ports,
    pub targets: Vec<Target>,
    pub origins: Vec<Origin>,
    /// Own nodes on which forces from outside act.
    pushed: Vec<usize>,
    /// Whether the outputs need the accelerations of own nodes.
    pub needs_accelerations: bool,
    /// Slots of the boundary nodes of which only the position is received.
    pub position_driven: Vec<usize>,
    /// Those over which a tangent is sent, which are also their rows.
    pub answering: Vec<usize>,
    /// Boundary nodes that follow by a law.
    pub following: Vec<(usize, MotionLaw)>,
}

impl Wiring {
    pub(crate) fn new(spec: &Spec, equations: &Equations) -> Self {
        let numbering = Numbering(spec);
        let mut ports = Ports::new();
        let (mut targets, mut origins) = (Vec::new(), Vec::new());
        for port in &spec.inputs {
            ports.add_input(&port.name, port.kind.quantity(spec.coordinates));
            targets.extend(targets_of(port, numbering));
        }
        for port in &spec.outputs {
            ports.add_output(&port.name, port.kind.quantity(spec.coordinates));
            origins.extend(origins_of(port, numbering));
        }
        add_tangent_inputs(spec, &mut ports);
        let answering = add_tangent_outputs(spec, &mut ports, &mut origins);
        let dependence = Dependence { spec, equations };
        let mut needs_accelerations = false;
        for (component, origin) in origins.iter().enumerate() {
            needs_accelerations |= dependence.needs_accelerations(*origin);
            for input in dependence.direct_inputs(*origin, &targets) {
                ports.feed_through(component, input);
            }
        }
        for pair in conjugates(spec) {
            ports.conjugate(pair);
        }
        for (of, rate) in rates(spec) {
            ports.declare_rate(of, rate);
        }
        let row = |target: &Target| match *target {
            Target::Force(row) => Some(row),
            _ => None,
        };
        Self {
            pushed: targets.iter().filter_map(row).collect(),
            ports,
            targets,
            origins,
            needs_accelerations,
            position_driven: spec
                .position_driven()
                .map(|g| spec.nodes.len() + g.0)
                .collect(),
            answering,
            following: following(spec),
        }
    }

    /// Where a target gets its value from, if an input leads to it.
    pub(crate) fn component(&self, target: Target) -> Option<usize> {
        self.targets.iter().position(|&known| known == target)
    }

    /// Puts inputs where the equations read them.
    #[inline]
    pub(crate) fn distribute(&self, inputs: &[f64], motion: &mut Motion, applied: &mut [f64]) {
        for &row in &self.pushed {
            applied[row] = 0.0;
        }
        for (target, &value) in self.targets.iter().zip(inputs) {
            match *target {
                Target::Displacement(slot) => motion.x[slot] = value,
                Target::Velocity(slot) => motion.v[slot] = value,
                Target::Acceleration(slot) => motion.a[slot] = value,
                Target::Force(row) => applied[row] += value,
                Target::StartingVelocity(_)
                | Target::StartingAcceleration(_)
                | Target::Followed(..) => {}
            }
        }
    }
}

/// The boundary nodes that follow what they receive by a law.
fn following(spec: &Spec) -> Vec<(usize, MotionLaw)> {
    let boundary_nodes = spec.boundary_nodes.iter().enumerate();
    let law = |(index, boundary): (usize, &BoundarySpec)| match boundary.prescribed {
        Prescribed::Law(law) if boundary.motion == BoundaryMotion::Inputs => Some((index, law)),
        _ => None,
    };
    boundary_nodes.filter_map(law).collect()
}

/// Ports for the tangents of others; what arrives there is read where forces are evaluated.
fn add_tangent_inputs(spec: &Spec, ports: &mut Ports) {
    let motion = PortKind::Motion.quantity(spec.coordinates);
    for tangent in &spec.tangents {
        for (boundary, _) in &tangent.points {
            ports.add_input(tangent.at_input(boundary), motion.clone());
        }
        let quantity = Quantity::Tangent(tangent.points.len());
        ports.add_input(tangent.tangent_input(), quantity);
    }
}

/// Ports for the own tangent; gives the rows of its boundary nodes.
fn add_tangent_outputs(spec: &Spec, ports: &mut Ports, origins: &mut Vec<Origin>) -> Vec<usize> {
    if !spec.sends_tangent {
        return Vec::new();
    }
    let mut rows = Vec::new();
    for boundary in spec.position_driven() {
        let echo = PortSpec {
            name: Spec::at(&spec.boundary_nodes[boundary.0].name),
            node: NodeRef::Boundary(boundary),
            kind: PortKind::Motion,
        };
        ports.add_output(&echo.name, echo.kind.quantity(spec.coordinates));
        origins.extend(origins_of(&echo, Numbering(spec)));
        rows.push(spec.nodes.len() + boundary.0);
    }
    ports.add_output(Spec::TANGENT, Quantity::Tangent(rows.len()));
    origins.extend((0..rows.len() * rows.len()).map(Origin::Tangent));
    rows
}

fn targets_of(port: &PortSpec, numbering: Numbering<'_>) -> Vec<Target> {
    let slot = numbering.slot(port.node);
    let prescribed = numbering.prescribed(port.node);
    let position_driven = prescribed == Some(Prescribed::Position);
    if let Some(Prescribed::Law(_)) = prescribed {
        return (0..3).map(|order| Target::Followed(slot, order)).collect();
    }
    match port.kind {
        PortKind::Velocity if position_driven => vec![Target::StartingVelocity(slot)],
        PortKind::Acceleration if position_driven => vec![Target::StartingAcceleration(slot)],
        PortKind::Motion if position_driven => vec![
            Target::Displacement(slot),
            Target::StartingVelocity(slot),
            Target::StartingAcceleration(slot),
        ],
        PortKind::Motion => vec![
            Target::Displacement(slot),
            Target::Velocity(slot),
            Target::Acceleration(slot),
        ],
        PortKind::Displacement => vec![Target::Displacement(slot)],
        PortKind::Velocity => vec![Target::Velocity(slot)],
        PortKind::Acceleration => vec![Target::Acceleration(slot)],
        PortKind::Force => vec![Target::Force(slot)],
    }
}

fn origins_of(port: &PortSpec, numbering: Numbering<'_>) -> Vec<Origin> {
    let slot = numbering.slot(port.node);
    match (port.kind, port.node) {
        (PortKind::Force, NodeRef::Boundary(boundary)) => vec![Origin::ForceOnBoundary(boundary.0)],
        (PortKind::Force, _) => unreachable!("force outputs belong to boundary nodes"),
        (PortKind::Motion, _) => vec![
            Origin::Displacement(slot),
            Origin::Velocity(slot),
            Origin::Acceleration(slot),
        ],
        (PortKind::Displacement, _) => vec![Origin::Displacement(slot)],
        (PortKind::Velocity, _) => vec![Origin::Velocity(slot)],
        (PortKind::Acceleration, _) => vec![Origin::Acceleration(slot)],
    }
}

/// Which inputs an output depends on directly, read off the structure of the equations.
struct Dependence<'a> {
    spec: &'a Spec,
    equations: &'a Equations,
}

impl Dependence<'_> {
    fn direct_inputs(&self, origin: Origin, targets: &[Target]) -> Vec<usize> {
        let own = self.equations.own;
        let wanted = |target: &Target| match origin {
            Origin::Displacement(slot) => *target == Target::Displacement(slot),
            Origin::Velocity(slot) => *target == Target::Velocity(slot),
            Origin::Acceleration(slot) if slot >= own => *target == Target::Acceleration(slot),
            Origin::Acceleration(node) => self.acceleration_depends(node, *target),
            Origin::ForceOnBoundary(boundary) if self.follows(boundary) => false,
            Origin::ForceOnBoundary(boundary) => self.boundary_force_depends(boundary, *target),
            Origin::Tangent(_) => false,
        };
        let components = targets.iter().enumerate();
        components
            .filter(|(_, target)| wanted(target))
            .map(|(component, _)| component)
            .collect()
    }

    /// Whether the force on a boundary node is that of the last step.
    fn follows(&self, boundary: usize) -> bool {
        matches!(
            self.spec.boundary_nodes[boundary].prescribed,
            Prescribed::Law(_)
        )
    }

    fn needs_accelerations(&self, origin: Origin) -> bool {
        match origin {
            Origin::Acceleration(slot) => slot < self.equations.own,
            Origin::ForceOnBoundary(boundary) => {
                !self.own_nodes_with_common_inertia(boundary).is_empty()
            }
            _ => false,
        }
    }

    fn own_nodes_with_common_inertia(&self, boundary: usize) -> Vec<usize> {
        let row = self
            .equations
            .masses
            .row(self.equations.own + boundary)
            .iter();
        let slots = row.map(|entry| entry.0);
        slots.filter(|&slot| slot < self.equations.own).collect()
    }

    fn boundary_force_depends(&self, boundary: usize, target: Target) -> bool {
        let nodes = self.own_nodes_with_common_inertia(boundary);
        self.row_depends(self.equations.own + boundary, target)
            || nodes
                .iter()
                .any(|&node| self.acceleration_depends(node, target))
    }

    fn acceleration_depends(&self, node: usize, target: Target) -> bool {
        let rows = self.coupled_by_inertia(node);
        rows.iter().any(|&row| self.row_depends(row, target))
    }

    /// Whether the force on a row, own inertia apart, depends on an input.
    fn row_depends(&self, row: usize, target: Target) -> bool {
        let equations = self.equations;
        let couplings = equations.couplings.row(row).iter();
        let laws = equations.laws.iter();
        let mut laws = laws.filter(|law| law.receivers.iter().any(|r| r.row == row));
        match target {
            Target::Force(at) => at == row,
            Target::Displacement(slot) => {
                couplings
                    .clone()
                    .any(|(s, c)| *s == slot && c.stiffness != 0.0)
                    || laws.any(|law| law.uses_displacement && law.ends.contains(&slot))
            }
            Target::Velocity(slot) => {
                couplings
                    .clone()
                    .any(|(s, c)| *s == slot && c.damping != 0.0)
                    || laws.any(|law| law.uses_velocity && law.ends.contains(&slot))
            }
            Target::Acceleration(slot) => {
                let mut masses = equations.masses.row(row).iter();
                masses.any(|(s, m)| *s == slot && *m != 0.0)
            }
            Target::StartingVelocity(_)
            | Target::StartingAcceleration(_)
            | Target::Followed(..) => false,
        }
    }

    /// The own nodes whose forces reach this node's acceleration through the mass matrix.
    fn coupled_by_inertia(&self, node: usize) -> BTreeSet<usize> {
        let mut coupled = BTreeSet::from([node]);
        if matches!(self.equations.own_mass, OwnMass::Diagonal { .. }) {
            return coupled;
        }
        let mut pending = vec![node];
        while let Some(row) = pending.pop() {
            for &(slot, _) in self.equations.masses.row(row) {
                if slot < self.equations.own && coupled.insert(slot) {
                    pending.push(slot);
                }
            }
        }
        coupled
    }
}

/// Pairs of what is received and given at one node. A complete motion is preferred to a
/// displacement.
fn conjugates(spec: &Spec) -> Vec<Conjugate> {
    let mut pairs = Vec::new();
    for (index, port) in spec.outputs.iter().enumerate() {
        if port.kind == PortKind::Force
            && let Some(motion) = motion_port(&spec.inputs, port.node)
        {
            pairs.push(Conjugate::GivesForce {
                motion: InputPort(motion),
                force: OutputPort(index),
            });
        }
    }
    for (index, port) in spec.inputs.iter().enumerate() {
        if port.kind == PortKind::Force
            && let Some(motion) = motion_port(&spec.outputs, port.node)
        {
            pairs.push(Conjugate::GivesMotion {
                force: InputPort(index),
                motion: OutputPort(motion),
            });
        }
    }
    pairs
}

/// Displacements and velocities of the same nodes.
fn rates(spec: &Spec) -> Vec<(OutputPort, OutputPort)> {
    let outputs = || spec.outputs.iter().enumerate();
    let of_kind = |wanted: PortKind| outputs().filter(move |(_, port)| port.kind == wanted);
    let mut pairs = Vec::new();
    for (displacement, port) in of_kind(PortKind::Displacement) {
        let mut velocities = of_kind(PortKind::Velocity);
        if let Some((rate, _)) = velocities.find(|(_, other)| other.node == port.node) {
            pairs.push((OutputPort(displacement), OutputPort(rate)));
        }
    }
    pairs
}

fn motion_port(ports: &[PortSpec], node: NodeRef) -> Option<usize> {
    let find = |kind| {
        let mut ports = ports.iter();
        ports.position(|port| port.node == node && port.kind == kind)
    };
    find(PortKind::Motion).or_else(|| find(PortKind::Displacement))
}
