//! Pairs of oscillators in force–displacement coupling, and their monolithic models.
#![allow(dead_code, reason = "every test file uses a part of this")]

use oldham_cosim::{
    Builder, Hold, InputPort, OutputPort, Ports, Predictor, Schedule, Simulation, Subsystem,
    SubsystemId,
};
use oldham_dmd::{Dmd, Monitor, Settings};
use oldham_expression::Expression;
use oldham_lumped::{
    BoundarySpec, Coordinates, Element, ElementKind, Integrator, LAW_VARIABLES, Lumped,
    MergedConnection, MergedPart, NodeRef, NodeSpec, PortKind, PortSpec, Spec, merge,
};

pub const K1: f64 = 10.0;
pub const KC: f64 = 100.0;
pub const K2: f64 = 1000.0;
const SPEED: f64 = 100.0;

const OWN: NodeRef = NodeRef::Node(oldham_lumped::NodeIndex(0));
const FAR: NodeRef = NodeRef::Boundary(oldham_lumped::BoundaryIndex(0));

/// What the right mass tells the left one about its motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    Position,
    Velocity,
    Acceleration,
}

impl Exchange {
    fn ports(self, node: NodeRef) -> Vec<PortSpec> {
        let port = |name: &str, kind| PortSpec {
            name: name.to_owned(),
            node,
            kind,
        };
        match self {
            Self::Position => vec![port("x", PortKind::Displacement)],
            Self::Velocity => vec![
                port("x", PortKind::Displacement),
                port("v", PortKind::Velocity),
            ],
            Self::Acceleration => vec![port("motion", PortKind::Motion)],
        }
    }
}

fn element(kind: ElementKind) -> Element {
    let name = "element".to_owned();
    Element { name, kind }
}

fn spring(a: NodeRef, b: NodeRef, stiffness: f64) -> Element {
    element(ElementKind::Spring {
        ends: [a, b],
        stiffness,
        damping: 0.0,
        rest: 0.0,
    })
}

fn mass_on(velocity: f64, wall: Element) -> Spec {
    Spec {
        nodes: vec![NodeSpec {
            name: "mass".to_owned(),
            position: 0.0,
            velocity,
        }],
        elements: vec![
            element(ElementKind::Mass {
                node: OWN,
                mass: 1.0,
            }),
            wall,
        ],
        ..Spec::new(Coordinates::Translation, Integrator::SemiImplicitEuler)
    }
}

/// The two-mass oscillator of Pikuliński 2026, Sect. 2.1.
#[derive(Clone)]
pub struct TwoMass {
    pub left: Spec,
    pub right: Spec,
}

impl TwoMass {
    pub fn linear(exchange: Exchange) -> Self {
        Self::with_wall(exchange, spring(NodeRef::Ground, OWN, K2))
    }

    /// With the wall spring of Eq. 25 on the right.
    pub fn square_root(exchange: Exchange) -> Self {
        let text = format!("{K2}*sign(d)*sqrt(abs(d))");
        let law = Expression::parse(&text, &LAW_VARIABLES).unwrap();
        let ends = [NodeRef::Ground, OWN];
        Self::with_wall(exchange, element(ElementKind::ForceLaw { ends, law }))
    }

    fn with_wall(exchange: Exchange, wall: Element) -> Self {
        let mut left = mass_on(SPEED, spring(NodeRef::Ground, OWN, K1));
        left.boundary_nodes = vec![BoundarySpec::new("far")];
        left.elements.push(spring(OWN, FAR, KC));
        left.inputs = exchange.ports(FAR);
        left.outputs = vec![PortSpec {
            name: "pull".to_owned(),
            node: FAR,
            kind: PortKind::Force,
        }];
        let mut right = mass_on(-SPEED, wall);
        right.inputs = vec![PortSpec {
            name: "push".to_owned(),
            node: OWN,
            kind: PortKind::Force,
        }];
        right.outputs = exchange.ports(OWN);
        Self { left, right }
    }

    pub fn micro_steps(mut self, steps: usize) -> Self {
        self.left.micro_steps = steps;
        self.right.micro_steps = steps;
        self
    }

    /// Jacobi, with this predictor on the left and a plain hold on the right.
    pub fn coupled(
        &self,
        h: f64,
        predictor: impl FnOnce(&Ports) -> Box<dyn Predictor>,
    ) -> Simulation {
        let jacobi = |left, right| Schedule::jacobi(h, [left, right]);
        self.scheduled(
            [predictor(&self.left_ports()), hold(&self.right_ports())],
            jacobi,
        )
    }

    pub fn left_ports(&self) -> Ports {
        Lumped::new(self.left.clone()).unwrap().ports().clone()
    }

    pub fn right_ports(&self) -> Ports {
        Lumped::new(self.right.clone()).unwrap().ports().clone()
    }

    pub fn scheduled(
        &self,
        predictors: [Box<dyn Predictor>; 2],
        schedule: impl FnOnce(SubsystemId, SubsystemId) -> Schedule,
    ) -> Simulation {
        let [on_left, on_right] = predictors;
        let [left, right] = [&self.left, &self.right].map(|spec| Lumped::new(spec.clone()));
        let mut builder = Builder::new();
        let left = builder.add("left", Box::new(left.unwrap()), on_left);
        let right = builder.add("right", Box::new(right.unwrap()), on_right);
        for port in 0..self.left.inputs.len() {
            builder.connect((right, OutputPort(port)), (left, InputPort(port)));
        }
        builder.connect((left, OutputPort(0)), (right, InputPort(0)));
        builder.build(schedule(left, right)).unwrap()
    }

    /// Both masses in one part, in the same steps.
    pub fn monolithic(&self, h: f64) -> Simulation {
        let connection = |from_part, output, to_part, input| MergedConnection {
            from_part,
            output: OutputPort(output),
            to_part,
            input: InputPort(input),
        };
        let mut connections: Vec<_> = (0..self.left.inputs.len())
            .map(|port| connection(1, port, 0, port))
            .collect();
        connections.push(connection(0, 0, 1, 0));
        let parts = [("left", &self.left), ("right", &self.right)];
        let parts = parts.map(|(name, spec)| MergedPart { name, spec });
        let integrator = Integrator::SemiImplicitEuler;
        let monolithic = merge(&parts, &connections, integrator, self.left.micro_steps).unwrap();
        let monolithic = Lumped::new(monolithic).unwrap();
        let mut builder = Builder::new();
        let predictor = hold(monolithic.ports());
        let id = builder.add("twin", Box::new(monolithic), predictor);
        builder.build(Schedule::jacobi(h, [id])).unwrap()
    }
}

pub fn hold(ports: &Ports) -> Box<dyn Predictor> {
    Box::new(Hold::new(0, ports))
}

/// A learning predictor, and the window to watch it through.
pub fn learning(
    ports: &Ports,
    settings: &Settings,
    monitor: &mut Option<Monitor>,
) -> Box<dyn Predictor> {
    let dmd = Dmd::new(ports, settings).unwrap();
    *monitor = Some(dmd.monitor());
    Box::new(dmd)
}

pub fn stored(simulation: &mut Simulation) -> f64 {
    simulation.energy().unwrap().stored()
}

/// Largest difference of stored energies, relative to the initial one, over so many steps.
pub fn energy_error(a: &mut Simulation, b: &mut Simulation, steps: usize) -> f64 {
    let start = stored(b);
    let mut worst: f64 = 0.0;
    for _ in 0..steps {
        a.step().unwrap();
        b.step().unwrap();
        worst = worst.max((stored(a) - stored(b)).abs());
    }
    worst / start
}
