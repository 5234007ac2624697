//! Chains of masses between two walls, cut once: the force-displacement coupling of the paper.

use oldham_compensation::{Compensated, Compensation};
use oldham_cosim::{
    Builder, Hold, InputPort, OutputPort, Schedule, Simulation, Subsystem, SubsystemId,
};
use oldham_lumped::{
    BoundarySpec, Coordinates, Element, ElementKind, Integrator, Lumped, NodeRef, NodeSpec,
    PortKind, PortSpec, Spec,
};
use oldham_stability::compensate::{BuildFailure, Site};

/// m_i, and k_i and c_i of the springs before, between and behind the masses.
#[derive(Clone, Debug)]
pub struct Chain {
    pub masses: Vec<f64>,
    pub stiffness: Vec<f64>,
    pub damping: Vec<f64>,
    pub velocities: Vec<f64>,
    /// Masses in the first part, which owns the spring behind them.
    pub cut: usize,
    pub step: f64,
    pub micro_steps: usize,
}

pub const GIVER: SubsystemId = SubsystemId(0);
pub const TAKER: SubsystemId = SubsystemId(1);

impl Chain {
    /// The two-mass system of Tamellin 2022, Sect. 2.3.2.
    pub fn two_mass(damping: f64, step: f64) -> Self {
        Self {
            masses: vec![1.0, 1.0],
            stiffness: vec![10.0, 100.0, 1000.0],
            damping: vec![damping; 3],
            velocities: vec![100.0, -100.0],
            cut: 1,
            step,
            micro_steps: 1,
        }
    }

    /// The four-mass system of Sect. 6.2.
    pub fn four_mass() -> Self {
        let numbers = |count: u32| (1..=count).map(f64::from);
        Self {
            masses: numbers(4).collect(),
            stiffness: numbers(5).map(|i| 100.0 * i).collect(),
            damping: numbers(5).map(|i| 0.01 * i).collect(),
            velocities: vec![1.0, -2.0, 3.0, -4.0],
            cut: 2,
            step: 3e-3,
            micro_steps: 1,
        }
    }

    /// Two masses with random values from the ranges of Sect. 5.4, exchanged every 5 ms.
    pub fn random_pair(random: &mut Random) -> Self {
        let mut chain = Self::two_mass(0.0, 5e-3);
        for mass in &mut chain.masses {
            *mass = random.between(1.0, 10.0);
        }
        for stiffness in &mut chain.stiffness {
            *stiffness = random.between(1.0, 1000.0);
        }
        let critical = |m: f64, k: f64| 2.0 * (m * k).sqrt();
        let (m, k) = (&chain.masses, &chain.stiffness);
        let first = random.between(0.001, 0.1) * critical(m[0], k[0]);
        let last = random.between(0.001, 0.1) * critical(m[1], k[2]);
        chain.damping = vec![first, random.between(0.0, first), last];
        chain
    }

    /// A longer chain with values from the same ranges, cut anywhere.
    pub fn random(count: usize, random: &mut Random) -> Self {
        let masses: Vec<f64> = (0..count).map(|_| random.between(1.0, 10.0)).collect();
        let stiffness: Vec<f64> = (0..=count).map(|_| random.between(1.0, 1000.0)).collect();
        let damping = (0..=count).map(|i| {
            let mass = masses[i.min(count - 1)];
            random.between(0.0, 0.02) * 2.0 * (mass * stiffness[i]).sqrt()
        });
        Self {
            damping: damping.collect(),
            velocities: (0..count).map(|_| random.between(-10.0, 10.0)).collect(),
            cut: 1 + (random.between(0.0, count as f64 - 1.0) as usize).min(count - 2),
            masses,
            stiffness,
            step: 5e-3,
            micro_steps: 1,
        }
    }

    fn part(&self, range: std::ops::Range<usize>) -> Spec {
        let first = range.start;
        let node = |index: usize| NodeRef::node(index - first);
        let spring = |index: usize, ends: [NodeRef; 2]| Element {
            name: format!("spring {index}"),
            kind: ElementKind::Spring {
                ends,
                stiffness: self.stiffness[index],
                damping: self.damping[index],
                rest: 0.0,
            },
        };
        let mass = |index: usize| Element {
            name: format!("mass {index}"),
            kind: ElementKind::Mass {
                node: node(index),
                mass: self.masses[index],
            },
        };
        let mut elements: Vec<_> = range.clone().map(mass).collect();
        elements.extend((first + 1..range.end).map(|i| spring(i, [node(i - 1), node(i)])));
        let motion = |index: usize| PortSpec {
            name: format!("x{}", index + 1),
            node: node(index),
            kind: PortKind::Motion,
        };
        let mut outputs: Vec<_> = range.clone().map(motion).collect();
        let is_force_side = first == 0;
        let (mut boundary_nodes, mut inputs) = (Vec::new(), Vec::new());
        let port = |name: &str, node: NodeRef, kind: PortKind| PortSpec {
            name: name.into(),
            node,
            kind,
        };
        if is_force_side {
            let (last, boundary) = (node(range.end - 1), NodeRef::boundary(0));
            elements.push(spring(0, [NodeRef::Ground, node(0)]));
            elements.push(spring(range.end, [last, boundary]));
            boundary_nodes.push(BoundarySpec::new("far"));
            inputs.push(port("far", boundary, PortKind::Motion));
            inputs.push(port("correction", last, PortKind::Force));
            outputs.push(port("fc", boundary, PortKind::Force));
        } else {
            elements.push(spring(range.end, [node(range.end - 1), NodeRef::Ground]));
            inputs.push(port("push", node(first), PortKind::Force));
        }
        Spec {
            nodes: range
                .map(|index| NodeSpec {
                    name: format!("x{}", index + 1),
                    position: 0.0,
                    velocity: self.velocities[index],
                })
                .collect(),
            boundary_nodes,
            elements,
            inputs,
            outputs,
            micro_steps: self.micro_steps,
            ..Spec::new(Coordinates::Translation, Integrator::SemiImplicitEuler)
        }
    }

    /// The co-simulation with held inputs.
    pub fn build(
        &self,
        mut laws: Vec<(SubsystemId, Compensation)>,
    ) -> Result<Simulation, BuildFailure> {
        let count = self.masses.len();
        let mut builder = Builder::new();
        for (id, (name, range)) in [("left", 0..self.cut), ("right", self.cut..count)]
            .into_iter()
            .enumerate()
        {
            let part = Lumped::new(self.part(range)).expect("a chain is valid");
            let predictor = Box::new(Hold::new(0, part.ports()));
            match laws.iter().position(|(part, _)| part.0 == id) {
                None => builder.add(name, Box::new(part), predictor),
                Some(place) => {
                    let law = laws.swap_remove(place).1;
                    Compensated::add_to(&mut builder, name, Box::new(part), predictor, law)
                }
            };
        }
        builder.connect((TAKER, OutputPort(0)), (GIVER, InputPort(0)));
        builder.connect((GIVER, OutputPort(self.cut)), (TAKER, InputPort(0)));
        let schedule = Schedule::jacobi(self.step, [GIVER, TAKER]);
        let text = |errors: Vec<oldham_cosim::BuildError>| BuildFailure(format!("{errors:?}"));
        builder.build(schedule).map_err(text)
    }

    pub fn site(&self) -> Site {
        let simulation = self.build(Vec::new()).expect("a chain builds");
        Site::of(&simulation, (GIVER, OutputPort(self.cut)), None).expect("a chain has a site")
    }
}

/// A small generator (splitmix) that gives the same numbers everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        low + (high - low) * (bits >> 11) as f64 / (1_u64 << 53) as f64
    }
}
