//! Chains of lumped masses, cut at interface masses: the linear problem of Fontana 2026 (Fig. 7
//! and 8, Table 1) and its relatives.
#![allow(dead_code, reason = "every test file uses a part of this")]

use oldham_cosim::{
    Builder, Hold, InputPort, OutputPort, Predictor, Schedule, Simulation, Stage, Subsystem,
    SubsystemId,
};
use oldham_lumped::{
    BoundarySpec, Coordinates, Element, ElementKind, Integrator, LAW_VARIABLES, Lumped,
    MergedConnection, MergedPart, NodeIndex, NodeRef, NodeSpec, PortKind, PortSpec, Prescribed,
    Spec, TangentSpec, merge,
};
use oldham_prediction::{IntegratedMotion, RateExtrapolation};

pub const RHO: f64 = 0.6;
pub const LMS2: Integrator = Integrator::Lms2 { rho: RHO };
pub const STEP: f64 = 1e-3;
pub const K: f64 = 1e3;
pub const C: f64 = 10.0;

pub fn node(name: &str, position: f64, velocity: f64) -> NodeSpec {
    NodeSpec {
        name: name.into(),
        position,
        velocity,
    }
}

fn element(kind: ElementKind) -> Element {
    let name = "element".into();
    Element { name, kind }
}

pub fn mass(node: NodeRef, mass: f64) -> Element {
    element(ElementKind::Mass { node, mass })
}

pub fn spring(ends: [NodeRef; 2]) -> Element {
    element(ElementKind::Spring {
        ends,
        stiffness: K,
        damping: C,
        rest: 0.0,
    })
}

pub fn law(ends: [NodeRef; 2], text: &str) -> Element {
    let law = oldham_expression::Expression::parse(text, &LAW_VARIABLES).unwrap();
    element(ElementKind::ForceLaw { ends, law })
}

pub fn mass_matrix(nodes: [NodeRef; 2], mass: [f64; 4]) -> Element {
    element(ElementKind::Matrices {
        nodes: nodes.to_vec(),
        mass: Some(mass.to_vec()),
        damping: None,
        stiffness: None,
    })
}

fn port(name: String, node: NodeRef, kind: PortKind) -> PortSpec {
    PortSpec { name, node, kind }
}

/// A part with one own node and these interfaces, whose positions are prescribed.
pub fn part(
    own: NodeSpec,
    boundary_nodes: &[&str],
    integrator: Integrator,
    elements: Vec<Element>,
) -> Spec {
    let position_driven = |name: &&str| {
        let mut boundary = BoundarySpec::new(*name);
        boundary.prescribed = Prescribed::Position;
        boundary
    };
    let named = |prefix: &str, kind: PortKind| {
        let port = |(index, name): (usize, &&str)| {
            port(format!("{prefix}{name}"), NodeRef::boundary(index), kind)
        };
        boundary_nodes
            .iter()
            .enumerate()
            .map(port)
            .collect::<Vec<_>>()
    };
    let mut outputs = named("force_", PortKind::Force);
    outputs.push(port("own".into(), NodeRef::node(0), PortKind::Motion));
    Spec {
        nodes: vec![own],
        boundary_nodes: boundary_nodes.iter().map(position_driven).collect(),
        elements,
        inputs: named("", PortKind::Motion),
        outputs,
        ..Spec::new(Coordinates::Translation, integrator)
    }
}

/// A mass between the wall and an interface.
pub fn side(own_mass: f64, boundary: &str, integrator: Integrator) -> Spec {
    let (own, interface) = (NodeRef::node(0), NodeRef::boundary(0));
    let elements = vec![
        mass(own, own_mass),
        spring([NodeRef::Ground, own]),
        spring([own, interface]),
    ];
    part(node("own", 0.01, 0.1), &[boundary], integrator, elements)
}

/// Which parts say how their forces change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TangentUse {
    None,
    First,
    All,
}

/// Parts and the interface masses between them.
pub struct Chain {
    pub parts: Vec<(&'static str, Spec)>,
    /// Name, motion and mass of each interface.
    pub joints: Vec<(NodeSpec, f64)>,
    pub integrator: Integrator,
    pub extrapolation: RateExtrapolation,
    /// Order of the hold of the forces on the joints.
    pub hold: usize,
    pub tangent: TangentUse,
    pub step: f64,
}

impl Chain {
    /// Masses 2, 2 + 1 and 1 kg of Table 1; the interface masses together as given.
    pub fn of_table_1(interface_mass: f64) -> Self {
        Self {
            parts: vec![
                ("left", side(2.0, "x", LMS2)),
                ("right", side(1.0, "x", LMS2)),
            ],
            joints: vec![(node("x", 0.01, 0.1), interface_mass)],
            integrator: LMS2,
            extrapolation: RateExtrapolation::Hermite,
            hold: 0,
            tangent: TangentUse::None,
            step: STEP,
        }
    }

    pub fn with_tangent(mut self) -> Self {
        self.tangent = TangentUse::All;
        self
    }

    /// The parts, then the joints.
    fn specs(&self) -> Vec<(&'static str, Spec)> {
        let mut joints = Spec {
            nodes: self.joints.iter().map(|(node, _)| node.clone()).collect(),
            boundary_nodes: Vec::new(),
            elements: Vec::new(),
            inputs: Vec::new(),
            outputs: Vec::new(),
            integrator: self.integrator,
            ..self.parts[0].1.clone()
        };
        for (index, (joint, of_joint)) in self.joints.iter().enumerate() {
            let place = NodeRef::node(index);
            joints.elements.push(mass(place, *of_joint));
            let output = port(format!("{}_out", joint.name), place, PortKind::Motion);
            joints.outputs.push(output);
        }
        let mut specs = self.parts.clone();
        for (index, (name, spec)) in specs.iter_mut().enumerate() {
            spec.sends_tangent = match self.tangent {
                TangentUse::None => false,
                TangentUse::First => index == 0,
                TangentUse::All => true,
            };
            let points = spec.boundary_nodes.iter();
            let points = points.map(|boundary| (boundary.name.clone(), self.joint(&boundary.name)));
            let points: Vec<_> = points.collect();
            for (boundary, joint) in &points {
                let input = format!("{name}_{boundary}");
                joints
                    .inputs
                    .push(port(input, NodeRef::Node(*joint), PortKind::Force));
            }
            if spec.sends_tangent {
                let sender = (*name).to_owned();
                joints.tangents.push(TangentSpec { sender, points });
            }
        }
        specs.push(("joints", joints));
        specs
    }

    fn joint(&self, name: &str) -> NodeIndex {
        let found = self.joints.iter().position(|(node, _)| node.name == name);
        NodeIndex(found.unwrap())
    }

    /// Motions to the parts and forces back.
    fn connections(&self, specs: &[(&str, Spec)]) -> Vec<MergedConnection> {
        let joints = specs.len() - 1;
        let mut connections = Vec::new();
        let mut force_input = 0;
        for (index, (_, spec)) in specs[..joints].iter().enumerate() {
            for (boundary, described) in spec.boundary_nodes.iter().enumerate() {
                connections.push(MergedConnection {
                    from_part: joints,
                    output: OutputPort(self.joint(&described.name).0),
                    to_part: index,
                    input: InputPort(boundary),
                });
                connections.push(MergedConnection {
                    from_part: index,
                    output: OutputPort(boundary),
                    to_part: joints,
                    input: InputPort(force_input),
                });
                force_input += 1;
            }
        }
        connections
    }

    pub fn cut(&self) -> Simulation {
        let specs = self.specs();
        let mut builder = Builder::new();
        for (index, (name, spec)) in specs.iter().enumerate() {
            let part = Lumped::new(spec.clone()).unwrap();
            let predictor: Box<dyn Predictor> = if index + 1 < specs.len() {
                let ports = part.ports();
                Box::new(IntegratedMotion::new(self.extrapolation, RHO, ports))
            } else {
                Box::new(Hold::new(self.hold, part.ports()))
            };
            builder.add(name, Box::new(part), predictor);
        }
        for wire in self.connections(&specs) {
            let from = (SubsystemId(wire.from_part), wire.output);
            builder.connect(from, (SubsystemId(wire.to_part), wire.input));
        }
        let joints = SubsystemId(specs.len() - 1);
        for tangent in &specs[joints.0].1.tangents {
            let sender = specs.iter().position(|(name, _)| *name == tangent.sender);
            let sender = SubsystemId(sender.unwrap());
            let echoes = tangent.points.iter();
            let echoes =
                echoes.map(|(boundary, _)| (Spec::at(boundary), tangent.at_input(boundary)));
            let whole = (Spec::TANGENT.to_owned(), tangent.tangent_input());
            for (output, input) in echoes.chain([whole]) {
                let from = builder.ports(sender).output(&output).unwrap();
                let to = builder.ports(joints).input(&input).unwrap();
                builder.connect((sender, from), (joints, to));
            }
        }
        let parts: Vec<_> = (0..joints.0).map(SubsystemId).collect();
        let sends = |id: &SubsystemId| specs[id.0].1.sends_tangent;
        let corrected: Vec<_> = parts.iter().copied().filter(sends).collect();
        let mut stages = vec![Stage::Together(parts), Stage::Together(vec![joints])];
        if !corrected.is_empty() {
            stages.push(Stage::Corrected(corrected));
        }
        let schedule = Schedule::with_stages(self.step, stages);
        builder.build(schedule).unwrap()
    }

    pub fn monolithic(&self) -> Simulation {
        let specs = self.specs();
        let parts: Vec<_> = specs
            .iter()
            .map(|(name, spec)| MergedPart { name, spec })
            .collect();
        let joined = merge(&parts, &self.connections(&specs), self.integrator, 1).unwrap();
        let monolithic = Lumped::new(joined).unwrap();
        let mut builder = Builder::new();
        let hold = Hold::new(0, monolithic.ports());
        let id = builder.add("", Box::new(monolithic), Box::new(hold));
        builder.build(Schedule::jacobi(self.step, [id])).unwrap()
    }
}

/// The value of a column such as `left.own.x`, in a cut simulation or in its monolithic model.
pub fn value(simulation: &Simulation, part: &str, component: &str) -> f64 {
    let (id, name) = match simulation.find(part) {
        Some(id) => (id, component.to_owned()),
        None => (SubsystemId(0), format!("{part}.{component}")),
    };
    let ports = simulation.ports(id);
    let names = (0..ports.output_width()).map(|place| ports.output_component_name(place));
    let place = names.into_iter().position(|known| known == name).unwrap();
    simulation.outputs(id)[place]
}
