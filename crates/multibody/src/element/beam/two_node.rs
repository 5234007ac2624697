//! The two-node element, with one evaluation point in the middle.
//!
//! The orientation there is half-way between the nodes'. With g the rotation parameters from the
//! middle to the second node (those to the first are -g), the curvature is 2 g / length.

use super::Section;
use super::three_node::section_axes;
use crate::element::{
    At, Element, ElementEnergy, Half, Jacobian, References, Residual, SectionState, Weights,
    refer_nodes,
};
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_space::Quaternion;
use oldham_space::{M3, Mat3, Vec3};

/// A two-node beam: cheaper than [`Beam3`](super::Beam3), of second order.
#[derive(Clone, Debug)]
pub struct Beam2 {
    nodes: [NodeId; 2],
    length: f64,
    /// From the axes of the second node to those that coincided with the first node's in the
    /// unloaded shape.
    aligned: Quaternion,
    /// Blocks of the section stiffness, in the axes of the middle.
    stiffness: [[Mat3; 2]; 2],
    unloaded: [Vec3; 2],
    damping: f64,
    /// Axes of the section, in the axes of the middle.
    section_axes: Mat3,
}

struct Deformed {
    axes: Mat3,
    /// In the axes of the middle.
    g: Vec3,
    tangent: Vec3,
    strain: [Vec3; 2],
    rate: [Vec3; 2],
}

impl Beam2 {
    /// Between two nodes of a model in its initial, unloaded configuration. `up` gives the
    /// direction of the section's second axis.
    pub fn new(model: &Model, nodes: [NodeId; 2], section: Section, up: Vec3) -> Self {
        let motions = nodes.map(|node| model.nodes[node.0].initial);
        let line = motions[1].position - motions[0].position;
        let mut beam = Self {
            nodes,
            length: line.norm(),
            aligned: {
                let away = motions[1].orientation.conjugate();
                away.times(motions[0].orientation).normalised()
            },
            stiffness: [[Mat3::ZERO; 2]; 2],
            unloaded: [Vec3::ZERO; 2],
            damping: section.damping,
            section_axes: Mat3::IDENTITY,
        };
        let unloaded = beam.deformed([&motions[0], &motions[1]]);
        beam.unloaded = unloaded.strain;
        let local = unloaded.axes.transpose() * section_axes(line.unit(), up);
        beam.section_axes = local;
        beam.stiffness = [0, 3].map(|row| {
            [0, 3].map(|column| {
                let entry = |i: usize, j: usize| section.stiffness[row + i][column + j];
                let block = M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))));
                local * block * local.transpose()
            })
        });
        beam
    }

    /// The rotation of the second node against the first since the unloaded shape.
    fn relative(&self, first: Quaternion, second: Quaternion) -> Quaternion {
        first.conjugate().times(second).times(self.aligned)
    }

    fn deformed(&self, [first, second]: [&Motion; 2]) -> Deformed {
        let relative = self.relative(first.orientation, second.orientation);
        // The square root of the relative rotation, on the sheet of the nearer one.
        let sign = if relative.0[0] < 0.0 { -1.0 } else { 1.0 };
        let [w, x, y, z] = relative.0.map(|c| c * sign);
        let half = Quaternion([w + 1.0, x, y, z]).normalised();
        let axes = first.orientation.times(half).matrix();
        let g = half.vector() * (2.0 / half.0[0]);
        let per_length = 1.0 / self.length;
        let local = |v: Vec3| axes.transpose_mul(v);
        let tangent = local(second.position - first.position) * per_length;
        let turn = local(second.angular_velocity - first.angular_velocity);
        let sum = local(second.angular_velocity + first.angular_velocity);
        let spin = sum * 0.5 - g.cross(turn) * 0.25;
        let stretch = local(second.velocity - first.velocity) * per_length;
        Deformed {
            axes,
            g,
            tangent,
            strain: [
                tangent - self.unloaded[0],
                g * (2.0 * per_length) - self.unloaded[1],
            ],
            rate: [
                stretch - spin.cross(tangent),
                turn * (per_length / factor(g)),
            ],
        }
    }

    /// Force and moment in the absolute frame.
    fn load(&self, d: &Deformed) -> [Vec3; 2] {
        self.felt(d).map(|v| d.axes * v)
    }

    /// Force and moment in the axes of the middle.
    fn felt(&self, d: &Deformed) -> [Vec3; 2] {
        let felt = |i: usize| d.strain[i] + d.rate[i] * self.damping;
        self.stress([felt(0), felt(1)])
    }

    fn stress(&self, strain: [Vec3; 2]) -> [Vec3; 2] {
        [0, 1].map(|row| self.stiffness[row][0] * strain[0] + self.stiffness[row][1] * strain[1])
    }

    fn motions<'a>(&self, at: &At<'a>) -> [&'a Motion; 2] {
        self.nodes.map(|node| &at.motions[node.0])
    }
}

/// 4 / (4 + g²).
fn factor(g: Vec3) -> f64 {
    4.0 / (4.0 + g.dot(g))
}

impl Element for Beam2 {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
    }

    fn section(&self, at: &At<'_>, point: usize) -> Option<SectionState> {
        let d = self.deformed(self.motions(at));
        let state = SectionState::of_beam(&self.section_axes, d.strain, self.felt(&d));
        (point == 0).then_some(state)
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let motions = self.motions(at);
        let [force, moment] = self.load(&self.deformed(motions));
        let arm = (motions[1].position - motions[0].position) * 0.5;
        out.load(0, force, moment + arm.cross(force));
        out.load(1, -force, arm.cross(force) - moment);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        use Half::{Angular, Linear};
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let load = self.load(&d);
        let per_length = 1.0 / self.length;
        let turn = |m: Mat3| d.axes * m * d.axes.transpose();
        let weight = weights.stiffness + weights.damping * self.damping;
        let c = self
            .stiffness
            .map(|row| row.map(|block| turn(block) * weight));
        let held = load.map(|v| v.skew() * weights.stiffness);
        let tangent = (d.axes * d.tangent).skew();
        let quarter = (d.axes * d.g).skew() * 0.25;
        let half = Mat3::IDENTITY * 0.5;
        let spins = [half + quarter, half - quarter];
        let bend = per_length / factor(d.g);
        let arm = ((motions[1].position - motions[0].position) * 0.5).skew();
        let force = load[0].skew() * weights.stiffness;
        for (column, side) in [-1.0, 1.0].into_iter().enumerate() {
            let by = [0, 1].map(|row| {
                let by_spin = c[row][0] * tangent * spins[column] + c[row][1] * (bend * side);
                [
                    c[row][0] * (per_length * side),
                    by_spin - held[row] * spins[column],
                ]
            });
            for (row, sign) in [-1.0, 1.0].into_iter().enumerate() {
                for (k, part) in [Linear, Angular].into_iter().enumerate() {
                    let mut moment = by[1][k] * sign - arm * by[0][k];
                    if k == 0 {
                        // Half of the change of the line, with the force held.
                        moment += force * (0.5 * side);
                    }
                    out.add((row, Linear), (column, part), by[0][k] * sign);
                    out.add((row, Angular), (column, part), moment);
                }
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let d = self.deformed(self.motions(at));
        let work = |a: [Vec3; 2], b: [Vec3; 2]| (a[0].dot(b[0]) + a[1].dot(b[1])) * self.length;
        ElementEnergy {
            stored: 0.5 * work(d.strain, self.stress(d.strain)),
            dissipated: self.damping * work(d.rate, self.stress(d.rate)),
            supplied: 0.0,
        }
    }

    fn turns(&self, orientation: &dyn Fn(NodeId) -> Quaternion) -> Option<[Vec3; 2]> {
        let [first, second] = self.nodes.map(orientation);
        let relative = self.relative(first, second);
        Some([relative.vector() * (2.0 / relative.0[0]), Vec3::ZERO])
    }

    fn is_structural(&self) -> bool {
        true
    }

    fn is_conservative(&self) -> bool {
        self.damping == 0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::assert_derivatives;
    use crate::element::check::two_nodes;

    #[test]
    fn derivatives_are_exact_in_large_deformation() {
        let mut model = Model::new();
        let nodes = two_nodes(&mut model, false);
        let mut section = Section::diagonal([900.0, 500.0, 600.0, 30.0, 20.0, 50.0]).damped(0.2);
        section.stiffness[0][4] = 7.0;
        section.stiffness[4][0] = 7.0;
        let beam = Beam2::new(&model, nodes, section, Vec3::Y);
        let motion = &mut model.nodes[nodes[1].0].initial;
        let twist = Quaternion::exp(Vec3::new(0.5, -0.6, 0.7));
        let place = motion.position + Vec3::new(0.2, 0.3, -0.1);
        *motion = Motion::at_rest(place, twist.times(motion.orientation));
        model.element("beam", beam);
        assert_derivatives(model, 0.0, &[], 1e-8);
    }

    #[test]
    fn strain_rates_are_derivatives_of_strains() {
        let mut model = Model::new();
        let nodes = two_nodes(&mut model, true);
        let section = Section::diagonal([1.0; 6]);
        let beam = Beam2::new(&model, nodes, section, Vec3::Y);
        let motions = nodes.map(|node| model.nodes[node.0].initial);
        let strain = |dt: f64| {
            let [a, b] = motions.map(|m| m.extrapolated(dt));
            beam.deformed([&a, &b]).strain
        };
        let step = 1e-6;
        let (plus, minus) = (strain(step), strain(-step));
        let rate = beam.deformed([&motions[0], &motions[1]]).rate;
        for i in 0..2 {
            let difference = (plus[i] - minus[i]) * (0.5 / step);
            assert!(
                (difference - rate[i]).norm() < 1e-8,
                "{difference:?} {:?}",
                rate[i]
            );
        }
    }
}
