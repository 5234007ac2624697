//! The three-node element, with two evaluation points at ξ = ∓1/√3.
//!
//! Both points are evaluated side by side, in the axes of the middle node. Per point, with g the
//! interpolated parameters of the rotation since the unloaded shape, a = 4/(4 + g²), G(g) = a (I +
//! ½ g×), and primes for derivatives by the arc length: orientation R(g) = I + a (g× + ½ g×g×),
//! strains ε = Rᵀ p' - ε₀ and κ = Rᵀ G g' - κ₀.

mod section_tangent;

use super::Section;
use crate::element::{
    At, Element, ElementEnergy, Jacobian, References, Residual, SectionState, Weights, refer_nodes,
};
use crate::model::Model;
use crate::node::{Motion, NodeId};
use oldham_space::Quaternion;
use oldham_space::{M3, Mat3, Pair, Scalar, V3, Vec3};

type Vec3s = V3<Pair>;

/// ξ of the evaluation points.
const POINTS: Pair = Pair([-0.577_350_269_189_625_8, 0.577_350_269_189_625_8]);

/// A three-node beam.
#[derive(Clone, Debug)]
pub struct Beam3 {
    nodes: [NodeId; 3],
    /// From the nodes to the reference line, in node axes.
    offsets: [Vec3; 3],
    has_offsets: bool,
    /// From the axes of the outer nodes to those that coincided with the middle node's in the
    /// unloaded shape. Rotations since then are interpolated, so that the nodes' own axes do not
    /// matter.
    aligned: [Quaternion; 2],
    /// dξ/ds at the points.
    per_length: Pair,
    /// Section stiffness at the points, in the axes of the interpolated orientation.
    stiffness: [[Pair; 6]; 6],
    /// Strains of the unloaded beam, in the same axes.
    unloaded: [Vec3s; 2],
    /// Of the section at each point.
    damping: Pair,
    /// Axes of the section at each point, in those of the interpolated orientation.
    section_axes: [Mat3; 2],
}

/// Shape functions of the outer nodes and their derivatives by ξ; the middle one completes them.
struct Shapes {
    first: Pair,
    last: Pair,
    first_slope: Pair,
    last_slope: Pair,
}

fn shapes() -> Shapes {
    let half = Pair::splat(0.5);
    let one = Pair::splat(1.0);
    Shapes {
        first: half * POINTS * (POINTS - one),
        last: half * POINTS * (POINTS + one),
        first_slope: POINTS - half,
        last_slope: POINTS + half,
    }
}

/// Geometry at the points, in the axes of the middle node.
struct Deformed {
    /// Rotation parameters of the outer nodes, since the unloaded shape.
    ends: [Vec3; 2],
    g: Vec3s,
    /// By arc length.
    g_slope: Vec3s,
    a: Pair,
    /// From the middle node.
    place: Vec3s,
    /// By arc length.
    place_slope: Vec3s,
    /// Strains beyond the unloaded ones, in the axes of the interpolated orientation.
    strain: [Vec3s; 2],
}

impl Beam3 {
    /// Through three nodes of a model in its initial, unloaded configuration. `up` gives the
    /// direction of the section's second axis.
    pub fn new(model: &Model, nodes: [NodeId; 3], section: Section, up: Vec3) -> Self {
        Self::with_offsets(model, nodes, [Vec3::ZERO; 3], [section; 2], up)
    }

    /// With a reference line away from the nodes (in node axes), and one section for each point.
    pub fn with_offsets(
        model: &Model,
        nodes: [NodeId; 3],
        offsets: [Vec3; 3],
        sections: [Section; 2],
        up: Vec3,
    ) -> Self {
        let motions = nodes.map(|node| model.nodes[node.0].initial);
        let zero = V3::splat(Vec3::ZERO);
        let mut beam = Self {
            nodes,
            offsets,
            has_offsets: offsets.iter().any(|&offset| offset != Vec3::ZERO),
            aligned: [0, 2].map(|end| {
                let away = motions[end].orientation.conjugate();
                away.times(motions[1].orientation).normalised()
            }),
            per_length: Pair::splat(1.0),
            stiffness: [[Pair::splat(0.0); 6]; 6],
            unloaded: [zero; 2],
            damping: Pair(sections.map(|section| section.damping)),
            section_axes: [Mat3::IDENTITY; 2],
        };
        let motions = [&motions[0], &motions[1], &motions[2]];
        let by_xi = beam.deformed(motions).place_slope;
        beam.per_length = Pair([0, 1].map(|i| 1.0 / by_xi.lane(i).norm()));
        let unloaded = beam.deformed(motions);
        beam.unloaded = unloaded.strain;
        let middle = motions[1].rotation;
        for (lane, section) in sections.iter().enumerate() {
            let axes = middle * unloaded.orientation().lane(lane);
            let tangent = (middle * unloaded.place_slope.lane(lane)).unit();
            let local = axes.transpose() * section_axes(tangent, up);
            beam.section_axes[lane] = local;
            beam.set_stiffness(lane, section, &local);
        }
        beam
    }

    fn set_stiffness(&mut self, lane: usize, section: &Section, axes: &Mat3) {
        for block_row in 0..2 {
            for block_column in 0..2 {
                let entry =
                    |i: usize, j: usize| section.stiffness[3 * block_row + i][3 * block_column + j];
                let block = M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))));
                let turned = *axes * block * axes.transpose();
                for i in 0..3 {
                    for j in 0..3 {
                        let target = &mut self.stiffness[3 * block_row + i][3 * block_column + j];
                        target.0[lane] = turned.0[i][j];
                    }
                }
            }
        }
    }

    fn motions<'a>(&self, at: &At<'a>) -> [&'a Motion; 3] {
        self.nodes.map(|node| &at.motions[node.0])
    }

    #[inline(always)]
    fn deformed(&self, [first, middle, last]: [&Motion; 3]) -> Deformed {
        let n = shapes();
        let back = middle.orientation.conjugate();
        let turned = [first, last].map(|m| back.times(m.orientation));
        let ends = self.end_parameters(turned);
        let [g1, g3] = ends.map(Vec3s::splat);
        let g = g1 * n.first + g3 * n.last;
        let g_slope = (g1 * n.first_slope + g3 * n.last_slope) * self.per_length;
        let a = Pair::splat(4.0) / (Pair::splat(4.0) + g.dot(g));
        // Positions relative to the middle node, in its axes.
        let mut arms =
            [first, last].map(|m| middle.rotation.transpose_mul(m.position - middle.position));
        let mut middle_arm = Vec3::ZERO;
        if self.has_offsets {
            let [f1, f2, f3] = self.offsets;
            arms[0] += turned[0].matrix() * f1;
            arms[1] += turned[1].matrix() * f3;
            middle_arm = f2;
        }
        let [x1, x3] = arms.map(|arm| Vec3s::splat(arm - middle_arm));
        let place = x1 * n.first + x3 * n.last + Vec3s::splat(middle_arm);
        let place_slope = (x1 * n.first_slope + x3 * n.last_slope) * self.per_length;
        let half = Pair::splat(0.5);
        let curvature = (g_slope + g.cross(g_slope) * half) * a;
        let strain = [
            turn_back(g, a, place_slope) - self.unloaded[0],
            turn_back(g, a, curvature) - self.unloaded[1],
        ];
        Deformed {
            ends,
            g,
            g_slope,
            a,
            place,
            place_slope,
            strain,
        }
    }

    /// Parameters of the rotations of the outer nodes since the unloaded shape, from those against
    /// the middle node.
    #[inline(always)]
    fn end_parameters(&self, turned: [Quaternion; 2]) -> [Vec3; 2] {
        [0, 1].map(|end| rotation_parameters(turned[end].times(self.aligned[end])))
    }

    /// Strain rates, in the axes of the interpolated orientation.
    #[inline(always)]
    fn strain_rates(&self, d: &Deformed, [first, middle, last]: [&Motion; 3]) -> [Vec3s; 2] {
        let n = shapes();
        let half = Pair::splat(0.5);
        let local = |v: Vec3| middle.rotation.transpose_mul(v);
        let spin = local(middle.angular_velocity);
        let rate = |m: &Motion, g: Vec3| {
            let w = local(m.angular_velocity - middle.angular_velocity);
            w - g.cross(w) * 0.5 + g * (0.25 * g.dot(w))
        };
        let (r1, r3) = (rate(first, d.ends[0]), rate(last, d.ends[1]));
        let (r1, r3) = (Vec3s::splat(r1), Vec3s::splat(r3));
        let g_rate = r1 * n.first + r3 * n.last;
        let g_rate_slope = (r1 * n.first_slope + r3 * n.last_slope) * self.per_length;
        let u = g_rate + d.g.cross(g_rate) * half;
        let a_slope = -(d.a * d.a * half * d.g.dot(d.g_slope));
        let u_slope = g_rate_slope + (d.g_slope.cross(g_rate) + d.g.cross(g_rate_slope)) * half;
        let w_slope = u * a_slope + u_slope * d.a;
        let velocity = |m: &Motion, offset: Vec3| {
            let arm = m.rotation * offset;
            m.velocity + m.angular_velocity.cross(arm)
        };
        let middle_velocity = velocity(middle, self.offsets[1]);
        let relative =
            |m: &Motion, offset: Vec3| Vec3s::splat(local(velocity(m, offset) - middle_velocity));
        let (v1, v3) = (
            relative(first, self.offsets[0]),
            relative(last, self.offsets[2]),
        );
        let velocity_slope = (v1 * n.first_slope + v3 * n.last_slope) * self.per_length;
        let turning = Vec3s::splat(spin) + u * d.a;
        [
            turn_back(d.g, d.a, velocity_slope - turning.cross(d.place_slope)),
            turn_back(d.g, d.a, w_slope),
        ]
    }

    /// How fast the volumes on both sides of each evaluation point move apart there, and how fast they turn
    /// against each other, in the axes of the middle node: each volume moves with its node.
    fn apart(&self, d: &Deformed, [first, middle, last]: [&Motion; 3]) -> [Vec3s; 2] {
        let local = |v: Vec3| middle.rotation.transpose_mul(v);
        let against_middle = |m: &Motion, lane: usize| {
            let place = d.place.lane(lane);
            let arm = place - local(m.position - middle.position);
            let [spin, middle_spin] = [m, middle].map(|m| local(m.angular_velocity));
            let velocity = local(m.velocity - middle.velocity);
            [
                velocity + spin.cross(arm) - middle_spin.cross(place),
                spin - middle_spin,
            ]
        };
        let (left, right) = (against_middle(first, 0), against_middle(last, 1));
        [0, 1].map(|i| {
            let lanes = [-left[i], right[i]];
            V3([0, 1, 2].map(|k: usize| Pair(lanes.map(|v| v[k]))))
        })
    }

    /// Internal force and moment, in the axes of the middle node.
    #[inline(always)]
    fn internal_load(&self, d: &Deformed, motions: [&Motion; 3]) -> [Vec3s; 2] {
        self.felt(d, motions).map(|v| turn(d.g, d.a, v))
    }

    /// The same in the axes of the interpolated orientation.
    #[inline(always)]
    fn felt(&self, d: &Deformed, motions: [&Motion; 3]) -> [Vec3s; 2] {
        let mut strain = d.strain;
        if !self.is_conservative() {
            let rates = self.strain_rates(d, motions);
            strain = [
                strain[0] + rates[0] * self.damping,
                strain[1] + rates[1] * self.damping,
            ];
        }
        self.stress(&strain)
    }

    #[inline(always)]
    fn stress(&self, strain: &[Vec3s; 2]) -> [Vec3s; 2] {
        let [e, k] = strain;
        let row = |r: &[Pair; 6]| {
            r[0] * e[0] + r[1] * e[1] + r[2] * e[2] + r[3] * k[0] + r[4] * k[1] + r[5] * k[2]
        };
        let s = &self.stiffness;
        [
            V3([row(&s[0]), row(&s[1]), row(&s[2])]),
            V3([row(&s[3]), row(&s[4]), row(&s[5])]),
        ]
    }
}

impl Deformed {
    fn orientation(&self) -> M3<Pair> {
        let s = self.g.skew();
        let half = Pair::splat(0.5);
        M3::scaled_identity(Pair::splat(1.0)) + (s + s * s * half) * self.a
    }
}

/// Cayley–Gibbs–Rodrigues parameters: twice the tangent of half the angle, along the axis.
#[inline(always)]
fn rotation_parameters(q: Quaternion) -> Vec3 {
    q.vector() * (2.0 / q.0[0])
}

/// R(g) v.
#[inline(always)]
fn turn(g: Vec3s, a: Pair, v: Vec3s) -> Vec3s {
    let c = g.cross(v);
    v + (c + g.cross(c) * Pair::splat(0.5)) * a
}

/// R(g)ᵀ v.
#[inline(always)]
fn turn_back(g: Vec3s, a: Pair, v: Vec3s) -> Vec3s {
    let c = g.cross(v);
    v - (c - g.cross(c) * Pair::splat(0.5)) * a
}

pub(super) fn section_axes(tangent: Vec3, up: Vec3) -> Mat3 {
    let third = tangent.cross(up).unit();
    Mat3::from_columns(tangent, third.cross(tangent), third)
}

impl Element for Beam3 {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.nodes, references);
    }

    fn section(&self, at: &At<'_>, point: usize) -> Option<SectionState> {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let axes = self.section_axes.get(point)?;
        let felt = self.felt(&d, motions);
        let here = |values: [Vec3s; 2]| values.map(|v| v.lane(point));
        Some(SectionState::of_beam(axes, here(d.strain), here(felt)))
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let [force, moment] = self.internal_load(&d, motions);
        // Moments about the middle node, in its axes.
        let about_middle = moment + d.place.cross(force);
        let axes = motions[1].rotation;
        let [f, m] = [force, about_middle].map(|v| [axes * v.lane(0), axes * v.lane(1)]);
        let arm = |i: usize| motions[i].position - motions[1].position;
        out.load(0, f[0], m[0] - arm(0).cross(f[0]));
        out.load(1, f[1] - f[0], m[1] - m[0]);
        out.load(2, -f[1], arm(2).cross(f[1]) - m[1]);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let load = self.internal_load(&d, motions);
        for lane in 0..2 {
            let section_tangent = self.section_tangent(&d, motions, load, lane, weights);
            section_tangent.add_to(out, [lane, lane + 1], motions, weights.stiffness);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let work = |a: [Vec3s; 2], b: [Vec3s; 2], factor: Pair| {
            let density = (a[0].dot(b[0]) + a[1].dot(b[1])) * factor / self.per_length;
            density.0[0] + density.0[1]
        };
        let rates = self.strain_rates(&d, motions);
        ElementEnergy {
            stored: work(d.strain, self.stress(&d.strain), Pair::splat(0.5)),
            dissipated: work(rates, self.stress(&rates), self.damping),
            supplied: 0.0,
        }
    }

    /// Balances of finite volumes do not follow from the strain energy.
    fn has_potential(&self) -> bool {
        false
    }

    fn taken_besides(&self, at: &At<'_>) -> f64 {
        let motions = self.motions(at);
        let d = self.deformed(motions);
        let rates = self.strain_rates(&d, motions);
        let mut strain = d.strain;
        if !self.is_conservative() {
            strain = [0, 1].map(|i| strain[i] + rates[i] * self.damping);
        }
        let felt = self.stress(&strain);
        let inside = (rates[0].dot(felt[0]) + rates[1].dot(felt[1])) / self.per_length;
        let [force, moment] = felt.map(|v| turn(d.g, d.a, v));
        // The parts of the element beside an evaluation point move as rigid bodies with their nodes.
        let apart = self.apart(&d, motions);
        let outside = apart[0].dot(force) + apart[1].dot(moment);
        let besides = outside - inside;
        besides.0[0] + besides.0[1]
    }

    fn turns(&self, orientation: &dyn Fn(NodeId) -> Quaternion) -> Option<[Vec3; 2]> {
        let [first, middle, last] = self.nodes.map(orientation);
        let turned = [first, last].map(|end| middle.conjugate().times(end));
        Some(self.end_parameters(turned))
    }

    fn is_structural(&self) -> bool {
        true
    }

    fn is_conservative(&self) -> bool {
        self.damping.0 == [0.0; 2]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assembly::{Assembly, EvaluationPoint};
    use crate::element::assert_derivatives;

    fn full_section() -> Section {
        let mut section = Section::diagonal([900.0, 500.0, 600.0, 30.0, 20.0, 50.0]);
        for i in 0..6 {
            for j in 0..i {
                let value = 1.0 + (i + 2 * j) as f64;
                section.stiffness[i][j] = value;
                section.stiffness[j][i] = value;
            }
        }
        section.damped(0.3)
    }

    /// A curved, offset, twisted element, then moved far away from its unloaded shape.
    #[test]
    fn derivatives_are_exact_in_large_deformation() {
        let mut model = Model::new();
        let turn = |v: Vec3| Quaternion::exp(v);
        let poses = [
            (Vec3::new(0.0, 0.1, 0.0), Vec3::new(0.1, 0.0, 0.2)),
            (Vec3::new(1.1, 0.0, 0.1), Vec3::new(0.0, 0.1, 0.1)),
            (Vec3::new(2.0, 0.3, 0.0), Vec3::new(-0.1, 0.2, 0.0)),
        ];
        let nodes = poses.map(|(x, r)| model.node("node", Motion::at_rest(x, turn(r))));
        let offsets = [0.1, -0.05, 0.2].map(|y| Vec3::new(0.02, y, -y));
        let sections = [full_section(); 2];
        let beam = Beam3::with_offsets(&model, nodes, offsets, sections, Vec3::Y);
        for (i, node) in nodes.into_iter().enumerate() {
            let s = i as f64;
            let shift = Vec3::new(0.1 * s, -0.2 * s * s, 0.1);
            let motion = &mut model.nodes[node.0].initial;
            let twist = turn(Vec3::new(0.3 * s, -0.4 * s, 0.5));
            *motion = Motion::at_rest(motion.position + shift, twist.times(motion.orientation));
        }
        model.element("beam", beam);
        assert_derivatives(model, 0.0, &[], 1e-8);
    }

    /// What the loads on the nodes take from them is stored, lost, or taken besides: in large motion, with
    /// offsets and damping.
    #[test]
    fn all_that_is_taken_from_the_nodes_is_accounted_for() {
        let mut model = Model::new();
        let nodes = [0.0, 1.0, 2.0].map(|x| model.node("node", Motion::at(Vec3::X * x)));
        let offsets = [0.1, -0.05, 0.2].map(|y| Vec3::new(0.02, y, -y));
        let beam = Beam3::with_offsets(&model, nodes, offsets, [full_section(); 2], Vec3::Y);
        for (i, node) in nodes.into_iter().enumerate() {
            let s = i as f64;
            let turn = Quaternion::exp(Vec3::new(0.3 * s, -0.4, 0.2 * s));
            let velocity = Vec3::new(0.4 * s, 0.5, -s);
            let position = Vec3::new(s, 0.1 * s * s, -0.2 * s);
            let spin = Vec3::new(0.7, -s, 0.4 * s);
            model.nodes[node.0].initial = Motion::at_rest(position, turn).moving(velocity, spin);
        }
        let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
        model.element("beam", beam);
        let (assembly, _) = Assembly::new(model);
        let energy = |motions: &[Motion]| {
            let at = EvaluationPoint::new(0.0, motions, &[], &[], &[]);
            assembly.element_energy(&at)
        };
        let step = 1e-5;
        let stored = [step, -step].map(|dt| {
            let moved: Vec<Motion> = motions.iter().map(|m| m.extrapolated(dt)).collect();
            energy(&moved).stored
        });
        let storing = (stored[0] - stored[1]) / (2.0 * step);
        let at = EvaluationPoint::new(0.0, &motions, &[], &[], &[]);
        let mut values = vec![0.0; assembly.residual_length()];
        let placed = &assembly.elements[0];
        let mut out = Residual::new(&mut values, &placed.rows);
        placed
            .element
            .residual(&at.of(placed, &assembly.elements), &mut out);
        let taken = motions[1..]
            .iter()
            .zip(values.chunks_exact(6))
            .map(|(motion, load)| {
                let power = |k: usize| {
                    load[k] * motion.velocity[k] + load[3 + k] * motion.angular_velocity[k]
                };
                -(power(0) + power(1) + power(2))
            });
        let taken: f64 = taken.sum();
        let besides = assembly.taken_besides(&at);
        let sum = storing + energy(&motions).dissipated + besides;
        assert!((taken - sum).abs() < 1e-6 * taken.abs(), "{taken} {sum}");
        assert!(
            besides.abs() > 1e-3 * taken.abs(),
            "the test would see nothing"
        );
    }

    /// The strain rate that the damping sees is the time derivative of the strain.
    #[test]
    fn strain_rates_are_derivatives_of_strains() {
        let mut model = Model::new();
        let nodes = [0.0, 1.0, 2.0].map(|x| model.node("node", Motion::at(Vec3::X * x)));
        let offsets = [0.1, -0.05, 0.2].map(|y| Vec3::new(0.02, y, -y));
        let sections = [full_section(); 2];
        let beam = Beam3::with_offsets(&model, nodes, offsets, sections, Vec3::Y);
        let motions: Vec<Motion> = (0..3)
            .map(|i| {
                let s = i as f64;
                let turn = Quaternion::exp(Vec3::new(0.3 * s, -0.4, 0.2 * s));
                let position = Vec3::new(s, 0.1 * s * s, -0.2 * s);
                let velocity = Vec3::new(0.4 * s, 0.5, -s);
                Motion::at_rest(position, turn).moving(velocity, Vec3::new(0.7, -s, 0.4 * s))
            })
            .collect();
        let strains = |dt: f64| {
            let moved: Vec<Motion> = motions.iter().map(|m| m.extrapolated(dt)).collect();
            beam.deformed([&moved[0], &moved[1], &moved[2]]).strain
        };
        let step = 1e-6;
        let (plus, minus) = (strains(step), strains(-step));
        let here = [&motions[0], &motions[1], &motions[2]];
        let rates = beam.strain_rates(&beam.deformed(here), here);
        for kind in 0..2 {
            for lane in 0..2 {
                let difference = (plus[kind].lane(lane) - minus[kind].lane(lane)) * (0.5 / step);
                assert!((difference - rates[kind].lane(lane)).norm() < 1e-8);
            }
        }
    }
}
