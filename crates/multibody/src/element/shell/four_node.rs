//! The four-node element.
//!
//! Relative to the frame, with p the corners, X the unloaded ones, and θ the rotation vectors of
//! the nodes since the unloaded shape, the stored energy is ½ dᵀ K d with d = (p - X, θ). Its
//! gradient, in frame axes: with (n, m) = K d and μ = G(θ)⁻ᵀ m, the moment t = Σ p × n + μ would
//! turn the frame; since the frame follows the corners, it acts on them as -y × X with y = A⁻¹ t.
//! So each node takes the force n - y × X and the moment μ.

use super::ShellSection;
use super::frame::Frame;
use super::jacobian::ShellJacobian;
use super::stiffness::{stiffness, strains_in_the_middle};
use crate::element::{
    At, Element, ElementEnergy, Jacobian, References, Residual, SectionState, Weights, refer_nodes,
};
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_space::rotation::{Quaternion, inverse_tangent, inverse_tangent_times};
use oldham_space::{Mat3, Vec3};
/// Displacements and rotations, or forces and moments, node by node.
pub(super) type ElementVector = [f64; 24];

/// Why four nodes make no shell element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShellError {
    /// A corner of 180° or more, or two nodes in one place.
    #[error(
        "a shell element has no proper corner at its node {corner} of 4: list its nodes around it, and take a finer or less distorted mesh"
    )]
    Corner {
        /// Place of the node in the element, from 1.
        corner: usize,
    },
    /// The membrane stiffness has no inverse.
    #[error("the membrane stiffness of a shell section is singular: make it positive definite")]
    Section,
}

/// A four-node shell.
#[derive(Clone, Debug)]
pub struct Shell4 {
    nodes: [NodeId; 4],
    /// Corners about their mean, in frame axes.
    unloaded: [Vec3; 4],
    /// From node axes to frame axes.
    node_axes: [Quaternion; 4],
    /// Column by column.
    stiffness: Box<[ElementVector; 24]>,
    damping: f64,
    middle: Box<Middle>,
}

/// What the section in the middle feels.
#[derive(Clone, Debug)]
struct Middle {
    /// Strains by displacements and rotations.
    strains: [ElementVector; 8],
    /// Loads by strains.
    section: ShellSection,
}

/// Where the element is and how it is deformed.
pub(super) struct Deformed {
    pub frame: Frame,
    /// Rotation vectors of the nodes, in frame axes.
    pub turns: [Vec3; 4],
}

/// Forces and moments at the nodes, in frame axes.
pub(super) struct Loads {
    /// n and m.
    pub elastic: ElementVector,
    /// The vector y.
    pub alignment: Vec3,
    /// On the nodes.
    pub forces: [Vec3; 4],
    /// On the nodes.
    pub moments: [Vec3; 4],
}

impl Shell4 {
    /// Through four nodes of a model in its initial, unloaded configuration, listed around the
    /// element. The first section axis points from the side between the first and the last node
    /// to the opposite side; the normal is that of a right-handed walk around the nodes.
    pub fn new(
        model: &Model,
        nodes: [NodeId; 4],
        section: &ShellSection,
    ) -> Result<Self, ShellError> {
        let corners = nodes.map(|node| model.nodes[node.0].initial.position);
        let directors = [0, 1, 2, 3].map(|i| corner_normal(&corners, i).unit());
        Self::with_directors(model, nodes, directors, section)
    }

    /// The same with given unit normals of the smooth surface at the nodes, in absolute axes: a
    /// curved shell then needs fewer elements.
    pub fn with_directors(
        model: &Model,
        nodes: [NodeId; 4],
        directors: [Vec3; 4],
        section: &ShellSection,
    ) -> Result<Self, ShellError> {
        let motions = nodes.map(|node| model.nodes[node.0].initial);
        let corners = motions.map(|motion| motion.position);
        let axes = section_axes(&corners);
        check_corners(&corners, axes.column(2))?;
        let mean = (corners[0] + corners[1] + corners[2] + corners[3]) * 0.25;
        let orientation = Quaternion::from_matrix(&axes);
        let local = |v: Vec3| orientation.matrix().transpose_mul(v);
        let unloaded = corners.map(|x| local(x - mean));
        let matrix =
            stiffness(&unloaded, &directors.map(local), section).ok_or(ShellError::Section)?;
        let column = |j: usize| std::array::from_fn(|i| matrix[(i, j)]);
        let strains = strains_in_the_middle(&unloaded, &directors.map(local), section)
            .ok_or(ShellError::Section)?;
        let row = |i: usize| std::array::from_fn(|j| strains[(i, j)]);
        Ok(Self {
            nodes,
            unloaded,
            node_axes: motions.map(|m| m.orientation.conjugate().times(orientation)),
            stiffness: Box::new(std::array::from_fn(column)),
            damping: section.damping,
            middle: Box::new(Middle {
                strains: std::array::from_fn(row),
                section: *section,
            }),
        })
    }

    #[inline(always)]
    fn motions<'a>(&self, at: &At<'a>) -> [&'a Motion; 4] {
        self.nodes.map(|node| &at.motions[node.0])
    }

    #[inline(always)]
    fn deformed(&self, motions: [&Motion; 4]) -> Deformed {
        let carried: [Quaternion; 4] =
            std::array::from_fn(|i| motions[i].orientation.times(self.node_axes[i]));
        let positions = motions.map(|motion| motion.position);
        let frame = Frame::fit(&self.unloaded, positions, mean(&carried));
        let back = frame.orientation.conjugate();
        Deformed {
            turns: carried.map(|orientation| back.times(orientation).log()),
            frame,
        }
    }

    /// d.
    #[inline(always)]
    fn strains(&self, d: &Deformed) -> ElementVector {
        let shifts = std::array::from_fn(|i| d.frame.places[i] - self.unloaded[i]);
        join(&shifts, &d.turns)
    }

    /// The time derivative of d.
    #[inline(always)]
    fn strain_rates(&self, d: &Deformed, motions: [&Motion; 4]) -> ElementVector {
        let local = |v: Vec3| d.frame.axes.transpose_mul(v);
        let velocities = motions.map(|m| local(m.velocity));
        let mean = (velocities[0] + velocities[1] + velocities[2] + velocities[3]) * 0.25;
        let spin = d.frame.spin(&self.unloaded, &velocities);
        let shifts = std::array::from_fn(|i| velocities[i] - mean - spin.cross(d.frame.places[i]));
        let turns = std::array::from_fn(|i| {
            inverse_tangent_times(d.turns[i], local(motions[i].angular_velocity) - spin)
        });
        join(&shifts, &turns)
    }

    /// K times a vector.
    #[inline(always)]
    fn stress(&self, strains: &ElementVector) -> ElementVector {
        let mut sum = [0.0; 24];
        for (column, &strain) in self.stiffness.iter().zip(strains) {
            for (entry, &k) in sum.iter_mut().zip(column) {
                *entry += k * strain;
            }
        }
        sum
    }

    #[inline(always)]
    fn loads(&self, d: &Deformed, motions: [&Motion; 4]) -> Loads {
        let mut strains = self.strains(d);
        if self.damping != 0.0 {
            let rates = self.strain_rates(d, motions);
            for (strain, rate) in strains.iter_mut().zip(&rates) {
                *strain += self.damping * rate;
            }
        }
        let elastic = self.stress(&strains);
        let moments: [Vec3; 4] = std::array::from_fn(|i| {
            // G(θ)⁻ᵀ = G(-θ)⁻¹
            inverse_tangent_times(-d.turns[i], moment(&elastic, i))
        });
        let mut turning = Vec3::ZERO;
        for (i, &moment) in moments.iter().enumerate() {
            turning += d.frame.places[i].cross(force(&elastic, i)) + moment;
        }
        let alignment = d.frame.inverse * turning;
        Loads {
            forces: std::array::from_fn(|i| force(&elastic, i) - alignment.cross(self.unloaded[i])),
            elastic,
            alignment,
            moments,
        }
    }
}

impl Element for Shell4 {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
    }

    /// In the middle of the element.
    fn section(&self, at: &At<'_>, point: usize) -> Option<SectionState> {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let (moved, rates) = (self.strains(&d), self.strain_rates(&d, motions));
        let by = |values: &ElementVector| -> [f64; 8] {
            let row = |row: &ElementVector| row.iter().zip(values).map(|(b, v)| b * v).sum();
            self.middle.strains.each_ref().map(row)
        };
        let (strains, rates) = (by(&moved), by(&rates));
        let felt = std::array::from_fn(|i| strains[i] + self.damping * rates[i]);
        (point == 0).then(|| SectionState {
            strains,
            loads: self.middle.section.loads(&felt),
        })
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        if !d.frame.is_fitted {
            out.note_misfit();
        }
        let loads = self.loads(&d, motions);
        for i in 0..4 {
            let [force, moment] = [loads.forces[i], loads.moments[i]].map(|v| d.frame.axes * v);
            out.load(i, -force, -moment);
        }
    }

    // The change of strain rates with the pose is left out: it is smaller than their change with
    // the velocities by the angle of one time step.
    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let loads = self.loads(&d, motions);
        let inverses = d.turns.map(inverse_tangent);
        let elastic = weights.stiffness + weights.damping * self.damping;
        let mut jacobian = ShellJacobian::elastic(&self.stiffness, elastic, &inverses);
        jacobian.add_turning_moments(&d, &loads, &inverses, weights.stiffness);
        jacobian.follow_frame(&self.unloaded, &d.frame, &loads, weights.stiffness);
        jacobian.turn(&d.frame.axes);
        jacobian.add_to(out);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let (strains, rates) = (self.strains(&d), self.strain_rates(&d, motions));
        let work = |a: &ElementVector| dot(a, &self.stress(a));
        ElementEnergy {
            stored: 0.5 * work(&strains),
            dissipated: self.damping * work(&rates),
            supplied: 0.0,
        }
    }

    fn is_structural(&self) -> bool {
        true
    }

    fn is_conservative(&self) -> bool {
        self.damping == 0.0
    }
}

/// Section axes as columns.
fn section_axes(corners: &[Vec3; 4]) -> Mat3 {
    let [a, b, c, d] = *corners;
    let normal = (c - a).cross(d - b).unit();
    let along = b + c - a - d;
    let first = (along - normal * normal.dot(along)).unit();
    Mat3::from_columns(first, normal.cross(first), normal)
}

/// Normal of the surface at a corner, not scaled.
fn corner_normal(corners: &[Vec3; 4], i: usize) -> Vec3 {
    let side = |j: usize| corners[j % 4] - corners[i];
    side(i + 1).cross(side(i + 3))
}

fn check_corners(corners: &[Vec3; 4], normal: Vec3) -> Result<(), ShellError> {
    let is_proper = |i: &usize| corner_normal(corners, *i).dot(normal) > 0.0;
    match (0..4).find(|i| !is_proper(i)) {
        Some(i) => Err(ShellError::Corner { corner: i + 1 }),
        None => Ok(()),
    }
}

/// The mean of neighbouring rotations: a guess.
#[inline(always)]
fn mean(rotations: &[Quaternion; 4]) -> Quaternion {
    let mut sum = rotations[0].0;
    for q in &rotations[1..] {
        let same_side: f64 = q.0.iter().zip(&rotations[0].0).map(|(a, b)| a * b).sum();
        for (entry, value) in sum.iter_mut().zip(&q.0) {
            *entry += value * same_side.signum();
        }
    }
    Quaternion(sum).normalised()
}

#[inline(always)]
fn join(linear: &[Vec3; 4], angular: &[Vec3; 4]) -> ElementVector {
    let mut values = [0.0; 24];
    for (i, node) in values.chunks_exact_mut(6).enumerate() {
        node[..3].copy_from_slice(&linear[i].0);
        node[3..].copy_from_slice(&angular[i].0);
    }
    values
}

#[inline(always)]
pub(super) fn force(values: &ElementVector, node: usize) -> Vec3 {
    Vec3::new(values[6 * node], values[6 * node + 1], values[6 * node + 2])
}

#[inline(always)]
pub(super) fn moment(values: &ElementVector, node: usize) -> Vec3 {
    Vec3::new(
        values[6 * node + 3],
        values[6 * node + 4],
        values[6 * node + 5],
    )
}

fn dot(a: &ElementVector, b: &ElementVector) -> f64 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, EvaluationPoint};
    use crate::element::assert_derivatives;

    const CORNERS: [Vec3; 4] = [
        Vec3::new(0.0, 0.1, 0.1),
        Vec3::new(1.3, 0.0, -0.1),
        Vec3::new(1.1, 0.9, 0.05),
        Vec3::new(-0.2, 0.8, -0.05),
    ];

    /// A warped element whose nodes have axes of their own.
    fn warped(damping: f64) -> (Model, [NodeId; 4], Shell4) {
        let mut model = Model::new();
        let nodes = [0, 1, 2, 3].map(|i| {
            let axes = Quaternion::exp(Vec3::new(0.3, -0.2, 0.5) * i as f64);
            model.node("node", Motion::at_rest(CORNERS[i], axes))
        });
        let mut section = ShellSection::isotropic(1000.0, 0.3, 0.1).damped(damping);
        section.coupling = [[0.5, 0.1, 0.2], [0.3, -0.4, 0.1], [0.2, 0.0, 0.3]];
        let shell = Shell4::new(&model, nodes, &section).unwrap();
        (model, nodes, shell)
    }

    fn deformed_motion(motion: &Motion, i: usize) -> Motion {
        let s = i as f64;
        let shift = Vec3::new(0.1 * s, -0.05 * s * s, 0.2 - 0.1 * s);
        let twist = Quaternion::exp(Vec3::new(0.9 + 0.2 * s, -0.4 * s, 0.5));
        Motion::at_rest(motion.position + shift, twist.times(motion.orientation))
    }

    #[test]
    fn derivatives_are_exact_in_large_deformation() {
        let (mut model, nodes, shell) = warped(0.3);
        for (i, node) in nodes.into_iter().enumerate() {
            let motion = &mut model.nodes[node.0].initial;
            *motion = deformed_motion(motion, i);
        }
        model.element("shell", shell);
        assert_derivatives(model, 0.0, &[], 1e-8);
    }

    #[test]
    fn forces_are_the_gradient_of_the_energy() {
        let (model, nodes, shell) = warped(0.0);
        let motions = nodes.map(|node| model.nodes[node.0].initial);
        let motions: [Motion; 4] = std::array::from_fn(|i| deformed_motion(&motions[i], i));
        let energy = |motions: &[Motion; 4]| {
            let d = shell.deformed(motions.each_ref());
            let strains = shell.strains(&d);
            0.5 * dot(&strains, &shell.stress(&strains))
        };
        let d = shell.deformed(motions.each_ref());
        let loads = shell.loads(&d, motions.each_ref());
        for i in 0..4 {
            let (velocity, spin) = (Vec3::new(0.3, -0.8, 0.5), Vec3::new(0.2, 0.4, -0.9));
            let step = 1e-5;
            let moved = |dt: f64| {
                let mut moved = motions;
                moved[i] = motions[i].moving(velocity, spin).extrapolated(dt);
                energy(&moved)
            };
            let power = (moved(step) - moved(-step)) / (2.0 * step);
            let [force, moment] = [loads.forces[i], loads.moments[i]].map(|v| d.frame.axes * v);
            let expected = force.dot(velocity) + moment.dot(spin);
            assert!(
                (power - expected).abs() < 1e-7 * expected.abs(),
                "{power} {expected}"
            );
        }
    }

    /// A rigid motion of the deformed element turns its forces and changes nothing else; from the
    /// unloaded shape it gives no energy.
    #[test]
    fn rigid_motions_change_nothing() {
        let (model, nodes, shell) = warped(0.0);
        let unloaded = nodes.map(|node| model.nodes[node.0].initial);
        let bent: [Motion; 4] = std::array::from_fn(|i| deformed_motion(&unloaded[i], i));
        let turn = Quaternion::exp(Vec3::new(1.0, -2.0, 1.5));
        let rigid = |motion: &Motion| {
            let position = turn.matrix() * motion.position + Vec3::new(30.0, -20.0, 10.0);
            Motion::at_rest(position, turn.times(motion.orientation))
        };
        let strains = |motions: &[Motion; 4]| {
            let d = shell.deformed(motions.each_ref());
            (shell.strains(&d), d.frame.axes)
        };
        let (still, _) = strains(&unloaded.each_ref().map(rigid));
        assert!(dot(&still, &still) < 1e-26);
        let ((before, axes), (after, turned)) =
            (strains(&bent), strains(&bent.each_ref().map(rigid)));
        for (a, b) in before.iter().zip(&after) {
            assert!((a - b).abs() < 1e-13);
        }
        let error = turn.matrix() * axes - turned;
        assert!(error.0.iter().flatten().all(|e| e.abs() < 1e-13));
    }

    #[test]
    fn strain_rates_are_derivatives_of_strains() {
        let (model, nodes, shell) = warped(0.3);
        let motions: [Motion; 4] = std::array::from_fn(|i| {
            let s = i as f64;
            let motion = deformed_motion(&model.nodes[nodes[i].0].initial, i);
            motion.moving(Vec3::new(0.4 * s, 0.5, -s), Vec3::new(0.7, -s, 0.4 * s))
        });
        let strains = |dt: f64| {
            let moved = motions.each_ref().map(|m| m.extrapolated(dt));
            shell.strains(&shell.deformed(moved.each_ref()))
        };
        let step = 1e-6;
        let (plus, minus) = (strains(step), strains(-step));
        let rates = shell.strain_rates(&shell.deformed(motions.each_ref()), motions.each_ref());
        for i in 0..24 {
            let difference = (plus[i] - minus[i]) / (2.0 * step);
            assert!((difference - rates[i]).abs() < 1e-8);
        }
    }

    /// That corners fit no frame is said of the very residual. An element had remembered it until it was asked.
    #[test]
    fn a_misfit_belongs_to_its_residual() {
        let (mut model, nodes, shell) = warped(0.0);
        let fitting: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        model.element("shell", shell);
        let (assembly, _) = Assembly::new(model);
        // All corners in one point: every frame fits as badly as any other.
        let mut collapsed = fitting.clone();
        for node in nodes {
            collapsed[node.0].position = Vec3::ZERO;
        }
        let misfits = |motions: &[Motion]| {
            let at = EvaluationPoint::new(0.0, motions, &[], &[], &[]);
            assembly.element_residual(&at, &mut vec![0.0; assembly.residual_length()])
        };
        assert!(misfits(&collapsed));
        assert!(!misfits(&fitting));
    }

    #[test]
    fn impossible_elements_are_refused() {
        let mut model = Model::new();
        let places = [(0.0, 0.0), (1.0, 0.0), (0.2, 0.2), (0.0, 1.0)];
        let nodes = places.map(|(x, y)| model.node("node", Motion::at(Vec3::new(x, y, 0.0))));
        let mut section = ShellSection::isotropic(1.0, 0.3, 0.1);
        let concave = Shell4::new(&model, nodes, &section);
        assert_eq!(concave.unwrap_err(), ShellError::Corner { corner: 3 });
        let (model, nodes, _) = warped(0.0);
        section.membrane = [[0.0; 3]; 3];
        let slack = Shell4::new(&model, nodes, &section);
        assert_eq!(slack.unwrap_err(), ShellError::Section);
    }
}
