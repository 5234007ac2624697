//! Friction in joints: slip along and about the axes that a joint leaves free, pressed together by
//! its reactions.

use super::lugre::{BentBristles, MOST_DIRECTIONS, Slips};
use super::row::{Gradient, Row};
use super::{Geometry, Joint, LuGre};
use crate::element::{
    At, Element, ElementEnergy, Half, InternalState, Jacobian, NotLinear, References, Residual,
    STICKS, Weights,
};
use crate::linear::Destination;
use crate::node::{Marker, Motion, NodeId};
use oldham_space::Vec3;
use std::ops::Range;

/// A direction in which the two sides of a joint slip.
#[derive(Clone, Copy, Debug)]
enum Slip {
    /// Along an axis of the first marker.
    Along(usize),
    /// About an axis of a marker, on this radius.
    About {
        marker: usize,
        axis: usize,
        radius: f64,
    },
}

impl Slip {
    fn gradient(self, g: &Geometry) -> Gradient {
        match self {
            Self::Along(axis) => Row::along(axis, 0.0).gradient(g),
            Self::About {
                marker,
                axis,
                radius,
            } => {
                let n = g.axes[marker].column(axis) * radius;
                Gradient {
                    position: [Vec3::ZERO; 2],
                    rotation: [-n, n],
                }
            }
        }
    }

    /// Adds the derivative of `force · gradient`.
    fn add_hessian(self, g: &Geometry, force: f64, out: &mut Jacobian<'_>) {
        match self {
            Self::Along(axis) => Row::along(axis, 0.0).add_hessian(g, force, out),
            Self::About {
                marker,
                axis,
                radius,
            } => {
                let turned = g.axes[marker].column(axis).skew() * (radius * force);
                out.add((0, Half::Angular), (marker, Half::Angular), turned);
                out.add((1, Half::Angular), (marker, Half::Angular), -turned);
            }
        }
    }
}

impl Slip {
    /// Derivatives of the slip velocity by the poses of both nodes: those of the gradient, along
    /// the motion.
    fn rate_by_pose(self, g: &Geometry, motions: [&Motion; 2]) -> [[f64; 6]; 2] {
        const ORDER: usize = 12;
        let mut matrix = [0.0; ORDER * ORDER];
        let block = |row: usize, column: usize| Destination {
            start: 6 * column * ORDER + 6 * row,
            stride: ORDER,
        };
        let mut out = Jacobian {
            matrix: &mut matrix,
            destinations: &[block(0, 0), block(0, 1), block(1, 0), block(1, 1)],
            blocks: 2,
        };
        self.add_hessian(g, 1.0, &mut out);
        let velocity = |row: usize| {
            let motion = motions[row / 6];
            let parts = [motion.velocity, motion.angular_velocity];
            parts[row % 6 / 3][row % 3]
        };
        let column = |j: usize| -> f64 {
            let rows = matrix[j * ORDER..][..ORDER].iter().enumerate();
            rows.map(|(row, value)| value * velocity(row)).sum()
        };
        [0, 1].map(|node| std::array::from_fn(|k| column(6 * node + k)))
    }
}

/// A joint with friction along the coordinates that it leaves free.
#[derive(Clone, Debug)]
pub struct Frictional {
    joint: Joint,
    law: LuGre,
    /// Surfaces in contact: directions of slip whose bristles bend together.
    contacts: Vec<Vec<Slip>>,
    /// Normal force without any reaction.
    preload: f64,
    /// The rows of the joint whose reactions press.
    pressing: Range<usize>,
}

/// One contact at one state.
struct Sliding {
    gradients: [Gradient; MOST_DIRECTIONS],
    velocity: Slips,
    bristles: BentBristles,
}

const fn about(marker: usize, axis: usize, radius: f64) -> Slip {
    Slip::About {
        marker,
        axis,
        radius,
    }
}

impl Frictional {
    /// A revolute joint on a pin.
    pub fn revolute(a: Marker, b: Marker, radius: f64, preload: f64, law: LuGre) -> Self {
        let contacts = vec![vec![about(0, 2, radius)]];
        Self::new(Joint::revolute(a, b), contacts, 0..3, preload, law)
    }

    /// A prismatic joint on a rail.
    pub fn prismatic(a: Marker, b: Marker, preload: f64, law: LuGre) -> Self {
        let contacts = vec![vec![Slip::Along(2)]];
        Self::new(Joint::prismatic(a, b), contacts, 0..2, preload, law)
    }

    /// A cylindrical joint on a pin: it slips along and about the axis at once.
    pub fn cylindrical(a: Marker, b: Marker, radius: f64, preload: f64, law: LuGre) -> Self {
        let contacts = vec![vec![Slip::Along(2), about(0, 2, radius)]];
        Self::new(Joint::cylindrical(a, b), contacts, 0..2, preload, law)
    }

    /// A ball of this radius in its socket.
    pub fn spherical(a: Marker, b: Marker, radius: f64, preload: f64, law: LuGre) -> Self {
        let contacts = vec![[0, 1, 2].map(|axis| about(0, axis, radius)).to_vec()];
        Self::new(Joint::spherical(a, b), contacts, 0..3, preload, law)
    }

    /// A universal joint: both arms of the cross turn in bearings of this radius, each pressed by
    /// the whole reaction.
    pub fn universal(a: Marker, b: Marker, radius: f64, preload: f64, law: LuGre) -> Self {
        let contacts = vec![vec![about(0, 0, radius)], vec![about(1, 1, radius)]];
        Self::new(Joint::universal(a, b), contacts, 0..3, preload, law)
    }

    /// A planar joint: it slides in two directions and turns about the normal, on a face whose
    /// friction acts at this mean radius.
    pub fn planar(a: Marker, b: Marker, radius: f64, preload: f64, law: LuGre) -> Self {
        let contacts = vec![vec![Slip::Along(0), Slip::Along(1), about(0, 2, radius)]];
        Self::new(Joint::planar(a, b), contacts, 2..3, preload, law)
    }

    fn new(
        joint: Joint,
        contacts: Vec<Vec<Slip>>,
        pressing: Range<usize>,
        preload: f64,
        law: LuGre,
    ) -> Self {
        Self {
            joint,
            law,
            contacts,
            preload,
            pressing,
        }
    }

    fn normal_force(&self, at: &At<'_>) -> f64 {
        let pressing = &at.multipliers[self.pressing.clone()];
        self.preload + pressing.iter().map(|m| m * m).sum::<f64>().sqrt()
    }

    /// All contacts, each with its directions and the place of its bristles in the memory.
    fn contacts(&self) -> impl Iterator<Item = (&[Slip], usize)> {
        let mut next = 0;
        self.contacts.iter().map(move |slips| {
            let first = next;
            next += slips.len();
            (&slips[..], first)
        })
    }

    fn sliding(&self, slips: &[Slip], first: usize, g: &Geometry, at: &At<'_>) -> Sliding {
        let motions = self.joint.ends.nodes.map(|node| at.motion(node));
        let mut gradients = [Gradient::default(); MOST_DIRECTIONS];
        let (mut velocity, mut before) = ([0.0; MOST_DIRECTIONS], [0.0; MOST_DIRECTIONS]);
        for (i, slip) in slips.iter().enumerate() {
            gradients[i] = slip.gradient(g);
            velocity[i] = gradients[i].rate(motions);
            before[i] = at.memory[first + i];
        }
        Sliding {
            gradients,
            velocity,
            bristles: self.law.evaluate_all(&velocity, &before, at.elapsed),
        }
    }
}

impl Element for Frictional {
    fn nodes(&self) -> &[NodeId] {
        self.joint.nodes()
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.joint.refer(references);
    }

    fn constraints(&self) -> usize {
        self.joint.constraints()
    }

    fn knows_derivatives(&self) -> bool {
        true
    }

    fn violation_derivatives(&self, at: &At<'_>, step: f64, out: &mut [[f64; 2]]) {
        self.joint.violation_derivatives(at, step, out);
    }

    /// The deflections of the bristles.
    fn memory(&self) -> usize {
        self.contacts.iter().map(Vec::len).sum()
    }

    fn depends_on_past(&self) -> bool {
        true
    }

    /// The deflections of the bristles again.
    fn internal_states(&self, at: &At<'_>) -> Result<Vec<InternalState>, NotLinear> {
        let geometry = self.joint.ends.geometry(at);
        let motions = self.joint.ends.nodes.map(|node| at.motion(node));
        let normal = self.normal_force(at);
        let mut states = vec![InternalState::default(); self.memory()];
        for (slips, first) in self.contacts() {
            let sliding = self.sliding(slips, first, &geometry, at);
            let mut z = [0.0; MOST_DIRECTIONS];
            z[..slips.len()].copy_from_slice(&at.memory[first..first + slips.len()]);
            let rates = self.law.rates(&sliding.velocity, &z).ok_or(STICKS)?;
            for (i, state) in states[first..].iter_mut().take(slips.len()).enumerate() {
                state.name = format!("bristles{}", first + i + 1);
                state.place = first + i;
                state.by_states = vec![0.0; self.memory()];
                state.by_states[first + i] = rates.by_deflection;
                state.by_poses = vec![[0.0; 6]; 2];
                state.by_velocities = vec![[0.0; 6]; 2];
                let force = -normal * rates.coefficient;
                state.forces = sliding.gradients[i].components(force).to_vec();
                for (j, slip) in slips.iter().enumerate() {
                    let factor = rates.by_velocity[i][j];
                    let by_velocity = sliding.gradients[j].components(factor);
                    let by_pose = slip.rate_by_pose(&geometry, motions);
                    for node in 0..2 {
                        for k in 0..6 {
                            state.by_velocities[node][k] += by_velocity[node][k];
                            state.by_poses[node][k] += factor * by_pose[node][k];
                        }
                    }
                }
            }
        }
        Ok(states)
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        let geometry = self.joint.ends.geometry(at);
        for (slips, first) in self.contacts() {
            let deflection = self
                .sliding(slips, first, &geometry, at)
                .bristles
                .deflection;
            memory[first..first + slips.len()].copy_from_slice(&deflection[..slips.len()]);
        }
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        self.joint.residual(at, out);
        let geometry = self.joint.ends.geometry(at);
        let normal = self.normal_force(at);
        for (slips, first) in self.contacts() {
            let sliding = self.sliding(slips, first, &geometry, at);
            let forces = sliding.gradients.iter().zip(sliding.bristles.coefficient);
            for (gradient, coefficient) in forces.take(slips.len()) {
                gradient.load(-normal * coefficient, out);
            }
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        self.joint.jacobian(at, weights, out);
        let geometry = self.joint.ends.geometry(at);
        let normal = self.normal_force(at);
        let reaction = normal - self.preload;
        for (slips, first) in self.contacts() {
            let sliding = self.sliding(slips, first, &geometry, at);
            let Sliding {
                gradients,
                bristles,
                ..
            } = &sliding;
            for (i, slip) in slips.iter().enumerate() {
                for j in 0..slips.len() {
                    let k = normal * bristles.slope[i][j] * weights.damping;
                    gradients[i].add_dyad(&gradients[j], k, out);
                }
                let coefficient = bristles.coefficient[i];
                slip.add_hessian(&geometry, normal * coefficient * weights.stiffness, out);
                if reaction <= 0.0 {
                    continue;
                }
                for index in self.pressing.clone() {
                    let share = coefficient * at.multipliers[index] / reaction;
                    for node in 0..2 {
                        let (x, r) = (gradients[i].position[node], gradients[i].rotation[node]);
                        out.by_multiplier(index, node, x * share, r * share);
                    }
                }
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let geometry = self.joint.ends.geometry(at);
        let power = |(slips, first): (&[Slip], usize)| -> f64 {
            let sliding = self.sliding(slips, first, &geometry, at);
            let each = sliding.bristles.coefficient.iter().zip(sliding.velocity);
            each.map(|(coefficient, velocity)| coefficient * velocity)
                .sum()
        };
        ElementEnergy {
            dissipated: self.normal_force(at) * self.contacts().map(power).sum::<f64>(),
            ..self.joint.energy(at)
        }
    }
}
