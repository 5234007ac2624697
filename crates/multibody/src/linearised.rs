//! The sparse matrices of the linearised motion: mass, damping, stiffness, constraints.
//!
//! Elements are linear in [`Weights`], so three evaluations of an element's Jacobian with unit
//! weights, in a small matrix of its own, give its part of each matrix. The work and the memory
//! are proportional to the number of elements.

pub(crate) mod exact;
pub(crate) mod first_order;
pub(crate) mod left_out;
pub(crate) mod rows;
pub(crate) mod states;

use crate::assembly::{Assembly, EvaluationPoint, Placed, full_spin};
use crate::element::{At, Jacobian, NOWHERE, Weights};
use crate::linear::Destination;
use crate::system::System;
use oldham_space::Mat3;

/// An entry of a sparse matrix: row, column, value. Entries at one place add up.
pub type Entry = (usize, usize, f64);

/// The matrices of the motion linearised at a state:
/// `M q'' + D q' + K q + columns λ = 0` and `rows q = 0`.
///
/// The unknowns are six per node, without the ground (change of the position, then spin, in the
/// absolute frame), then the multipliers; rows and columns of all entries count them so. Newton's
/// matrix of a step is the sum of all but `left_out`, with the weights of the step; of `left_out` it has the feedback by
/// sensors of motions.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearisedMatrices {
    /// Number of unknowns.
    pub unknowns: usize,
    /// Number of nodes, without the ground.
    pub nodes: usize,
    /// Derivatives by accelerations.
    pub mass: Vec<Entry>,
    /// Derivatives by velocities, gyroscopic terms included.
    pub damping: Vec<Entry>,
    /// Derivatives by poses.
    pub stiffness: Vec<Entry>,
    /// Gradients of the constraints.
    pub constraint_rows: Vec<Entry>,
    /// Derivatives by the multipliers. Friction makes them differ from the transposed gradients.
    pub force_columns: Vec<Entry>,
    /// What elements do not tell themselves.
    pub left_out: LeftOut,
}

/// Derivatives that elements do not tell themselves: feedback by sensors, and the change of viscous
/// forces with the pose while the nodes move. They are found by differences.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LeftOut {
    /// Derivatives by velocities.
    pub damping: Vec<Entry>,
    /// Derivatives by poses.
    pub stiffness: Vec<Entry>,
    /// Derivatives by multipliers, where reactions are measured.
    pub force_columns: Vec<Entry>,
}

impl LeftOut {
    /// Whether elements tell everything.
    pub fn is_empty(&self) -> bool {
        self.damping.is_empty() && self.stiffness.is_empty() && self.force_columns.is_empty()
    }
}

impl System {
    /// The matrices of the motion linearised at the present state. Time derivatives of changes are
    /// those of continuous time; coefficients count as constant in the absolute frame.
    pub fn linearised(&self, inputs: &[f64]) -> LinearisedMatrices {
        self.linearised_with(inputs, |_| true)
    }

    /// The same without what other parts add: these are known apart.
    pub(crate) fn linearised_alone(&self, inputs: &[f64]) -> LinearisedMatrices {
        self.linearised_with(inputs, |placed| !placed.element.stands_for_others())
    }

    /// The same without bodies.
    pub(crate) fn linearised_elements(&self, inputs: &[f64]) -> LinearisedMatrices {
        let at = self.evaluation_point(inputs);
        let mut matrices = elements(&self.assembly, &at, |placed| {
            !placed.element.stands_for_others()
        });
        matrices.left_out = left_out::left_out(&self.assembly, &at, self.size);
        matrices
    }

    fn linearised_with(
        &self,
        inputs: &[f64],
        is_wanted: impl Fn(&Placed) -> bool,
    ) -> LinearisedMatrices {
        let at = self.evaluation_point(inputs);
        let mut matrices = elements(&self.assembly, &at, is_wanted);
        bodies(&self.assembly, &at, &mut matrices);
        matrices.left_out = left_out::left_out(&self.assembly, &at, self.size);
        matrices
    }
}

const MASS: Weights = Weights {
    mass: 1.0,
    damping: 0.0,
    stiffness: 0.0,
};
const DAMPING: Weights = Weights {
    mass: 0.0,
    damping: 1.0,
    stiffness: 0.0,
};
const STIFFNESS: Weights = Weights {
    mass: 0.0,
    damping: 0.0,
    stiffness: 1.0,
};

pub(crate) fn elements(
    assembly: &Assembly,
    at: &EvaluationPoint<'_>,
    is_wanted: impl Fn(&Placed) -> bool,
) -> LinearisedMatrices {
    let mut matrices = LinearisedMatrices {
        unknowns: assembly.unknowns(),
        nodes: assembly.nodes(),
        ..LinearisedMatrices::default()
    };
    let mut local = Local::default();
    for placed in assembly.elements.iter().filter(|placed| is_wanted(placed)) {
        let at = &at.of(placed, &assembly.elements);
        local.lay_out(placed, assembly.unknowns());
        local.evaluate(placed, at, MASS);
        local.node_entries(&mut matrices.mass);
        local.evaluate(placed, at, DAMPING);
        local.node_entries(&mut matrices.damping);
        local.evaluate(placed, at, STIFFNESS);
        local.node_entries(&mut matrices.stiffness);
        local.constraint_entries(&mut matrices.constraint_rows, &mut matrices.force_columns);
    }
    matrices
}

fn bodies(assembly: &Assembly, at: &EvaluationPoint<'_>, matrices: &mut LinearisedMatrices) {
    let gravity = assembly.gravity * at.load_factor;
    for (i, (inertia, motion)) in assembly.inertia.iter().zip(at.motions).skip(1).enumerate() {
        let all = [
            (MASS, &mut matrices.mass),
            (DAMPING, &mut matrices.damping),
            (STIFFNESS, &mut matrices.stiffness),
        ];
        for (weights, to) in all {
            let blocks = inertia.jacobian(motion, gravity, weights, full_spin(motion));
            add_node_blocks(to, 6 * i, &blocks);
        }
    }
}

/// Adds four blocks of a node: force by position, force by spin, moment by position, moment by
/// spin.
pub(crate) fn add_node_blocks(to: &mut Vec<Entry>, first: usize, blocks: &[Mat3; 4]) {
    for (place, block) in blocks.iter().enumerate() {
        let (row, column) = (first + 3 * (place / 2), first + 3 * (place % 2));
        for (i, line) in block.0.iter().enumerate() {
            for (j, &value) in line.iter().enumerate() {
                if value != 0.0 {
                    to.push((row + i, column + j, value));
                }
            }
        }
    }
}

/// The Jacobian of one element in a matrix of its own, column by column.
#[derive(Default)]
struct Local {
    matrix: Vec<f64>,
    destinations: Vec<Destination>,
    /// For each row of the matrix the unknown, if it is one: not that of the ground.
    unknowns: Vec<Option<usize>>,
    blocks: usize,
    /// Rows of nodes; those of multipliers follow.
    of_nodes: usize,
}

impl Local {
    fn lay_out(&mut self, placed: &Placed, ground: usize) {
        let (nodes, border) = placed.rows.split_at(placed.rows.len() - 1);
        self.blocks = placed.rows.len();
        self.of_nodes = 6 * nodes.len();
        self.unknowns.clear();
        for &row in nodes {
            let unknown = |i: usize| (row < ground).then_some(row + i);
            self.unknowns.extend((0..6).map(unknown));
        }
        let constraints = placed.multipliers.len();
        self.unknowns
            .extend((0..constraints).map(|i| Some(border[0] + i)));
        let stride = self.unknowns.len();
        self.destinations.clear();
        let has = |block: usize| {
            block < nodes.len() && nodes[block] < ground || block == nodes.len() && constraints > 0
        };
        for row in 0..self.blocks {
            for column in 0..self.blocks {
                let start = 6 * column * stride + 6 * row;
                self.destinations.push(match has(row) && has(column) {
                    true => Destination { start, stride },
                    false => NOWHERE,
                });
            }
        }
        self.matrix.clear();
        self.matrix.resize(stride * stride, 0.0);
    }

    fn evaluate(&mut self, placed: &Placed, at: &At<'_>, weights: Weights) {
        self.matrix.fill(0.0);
        let mut out = Jacobian {
            matrix: &mut self.matrix,
            destinations: &self.destinations,
            blocks: self.blocks,
        };
        placed.element.jacobian(at, weights, &mut out);
    }

    fn entries(
        &self,
        rows: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        to: &mut Vec<Entry>,
    ) {
        let stride = self.unknowns.len();
        for column in columns {
            for row in rows.clone() {
                let value = self.matrix[column * stride + row];
                if let (true, Some(i), Some(j)) =
                    (value != 0.0, self.unknowns[row], self.unknowns[column])
                {
                    to.push((i, j, value));
                }
            }
        }
    }

    fn node_entries(&self, to: &mut Vec<Entry>) {
        self.entries(0..self.of_nodes, 0..self.of_nodes, to);
    }

    fn constraint_entries(&self, rows: &mut Vec<Entry>, columns: &mut Vec<Entry>) {
        let all = self.unknowns.len();
        self.entries(self.of_nodes..all, 0..self.of_nodes, rows);
        self.entries(0..self.of_nodes, self.of_nodes..all, columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Body;
    use crate::drive::Drive;
    use crate::element::beam::{BeamMesh, LineInertia, Lumping, Section, straight_beam};
    use crate::element::{Bushing, Law, Load, Rod};
    use crate::joint::{Coordinate, Frictional, Joint, LuGre};
    use crate::model::Model;
    use crate::node::{Marker, Motion, NodeId};
    use crate::sensor::{Measured, Sensor};
    use crate::system::{Options, step_weights};
    use oldham_space::Quaternion;
    use oldham_space::Vec3;

    /// Bodies off their nodes, beams, dampers, friction and sensors, all in motion.
    fn machine() -> System {
        let mut model = Model::new();
        model.gravity(Vec3::new(0.3, -0.2, -9.81));
        let mesh = BeamMesh {
            from: Vec3::ZERO,
            to: Vec3::new(1.0, 0.2, 0.0),
            up: Vec3::Y,
            elements: 2,
            section: Section::diagonal([1e4, 1e4, 1e4, 30.0, 10.0, 20.0]),
            inertia: LineInertia {
                mass: 1.0,
                rotary: [0.02, 0.01, 0.01],
            },
            lumping: Lumping::Segments,
        };
        let nodes = straight_beam(&mut model, "beam", &mesh);
        let pose = Motion::at_rest(Vec3::new(1.4, 0.1, 0.2), Quaternion::exp(Vec3::X * 0.3));
        let pose = pose.moving(Vec3::new(0.1, 0.4, -0.3), Vec3::new(0.5, 1.0, 2.0));
        let wheel = model.node("wheel", pose);
        let body = Body::centred(2.0, Mat3::diagonal(0.3, 0.2, 0.1));
        model.body(wheel, body.with_centre(Vec3::new(0.1, 0.05, -0.02)));
        let [ground, root] = [NodeId::GROUND, nodes[0]].map(|n| model.marker(n, Vec3::ZERO));
        let law = LuGre {
            coulomb: 0.1,
            stiction: 0.2,
            stribeck: 0.1,
            stiffness: 100.0,
            damping: 1.0,
            viscous: 0.3,
        };
        model.element("pin", Frictional::revolute(ground, root, 0.1, 5.0, law));
        let [tip, hub] = [nodes[4], wheel].map(|n| model.marker(n, Vec3::new(1.2, 0.2, 0.1)));
        model.element("ball", Joint::spherical(tip, hub));
        let law = Law::Linear {
            stiffness: 100.0,
            damping: 3.0,
        };
        model.element("rod", Rod::new(Marker::on(nodes[2]), hub, 0.3, law));
        let mut bushing = Bushing::new(Marker::on(NodeId::GROUND), Marker::on(wheel));
        bushing.rotational_damping = Mat3::diagonal(1.0, 2.0, 3.0);
        model.element("bushing", bushing);
        let angle = Sensor::Coordinate(Coordinate::Angle, [ground, root]);
        let speed = Sensor::Velocity(wheel.into(), Vec3::Y);
        let control = Measured::new(vec![angle, speed], |r| -3.0 * r[1] - 0.5 * r[2] * r[2]);
        let drives = [Drive::ZERO, Drive::Measured(control), Drive::Constant(1.0)];
        let zero = [Drive::ZERO, Drive::ZERO, Drive::ZERO];
        model.element("push", Load::follower(Marker::on(nodes[1]), drives, zero));
        let mut system = System::new(model, Options::default()).unwrap();
        system.start(0.0, &[]).unwrap();
        system
    }

    fn add(to: &mut [f64], n: usize, entries: &[Entry], weight: f64) {
        for &(row, column, value) in entries {
            to[column * n + row] += weight * value;
        }
    }

    #[test]
    fn with_the_weights_of_a_step_they_add_up_to_the_dense_matrix() {
        let system = machine();
        let weights = step_weights([3e-3, 4e-3]);
        let expected = system
            .assembly
            .dense(&system.evaluation_point(&[]), weights);
        let found = system.linearised(&[]);
        let n = found.unknowns;
        let mut sum = vec![0.0; n * n];
        add(&mut sum, n, &found.mass, weights.mass);
        add(&mut sum, n, &found.damping, weights.damping);
        add(&mut sum, n, &found.stiffness, weights.stiffness);
        add(&mut sum, n, &found.constraint_rows, 1.0);
        add(&mut sum, n, &found.force_columns, 1.0);
        let size = expected.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        for (place, (a, b)) in sum.iter().zip(&expected).enumerate() {
            let [row, column] = [place % n, place / n];
            assert!((a - b).abs() < 1e-14 * size, "{row} {column}: {a} {b}");
        }
    }

    /// With what is left out, stiffness and damping are the derivatives of all forces.
    #[test]
    fn sensors_and_viscous_forces_are_complete() {
        let system = machine();
        let found = system.linearised(&[]);
        assert!(!found.left_out.is_empty());
        let n = found.unknowns;
        let forces = |motions: &[Motion]| {
            let at = EvaluationPoint {
                motions,
                ..system.evaluation_point(&[])
            };
            let mut values = vec![0.0; system.assembly.residual_length()];
            system.assembly.element_residual(&at, &mut values);
            values
        };
        let alone = elements(&system.assembly, &system.evaluation_point(&[]), |_| true);
        for pose in [true, false] {
            let mut matrix = vec![0.0; n * n];
            let entries = match pose {
                true => [&alone.stiffness, &found.left_out.stiffness],
                false => [&alone.damping, &found.left_out.damping],
            };
            entries.iter().for_each(|e| add(&mut matrix, n, e, 1.0));
            let size = matrix.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
            for column in 0..6 * found.nodes {
                let step = 1e-6;
                let changed = |step: f64| {
                    let mut motions = system.motions.clone();
                    let motion = &mut motions[column / 6 + 1];
                    let mut change = [Vec3::ZERO; 2];
                    change[column % 6 / 3][column % 3] = step;
                    match pose {
                        true => *motion = motion.displaced(change[0], change[1]),
                        false => {
                            motion.velocity += change[0];
                            motion.angular_velocity += change[1];
                        }
                    }
                    forces(&motions)
                };
                let (plus, minus) = (changed(step), changed(-step));
                for row in 0..6 * found.nodes {
                    let expected = (minus[row] - plus[row]) / (2.0 * step);
                    let is = matrix[column * n + row];
                    let error = (is - expected).abs();
                    assert!(error < 1e-7 * size, "{row} {column}: {is} {expected}");
                }
            }
        }
    }
}
