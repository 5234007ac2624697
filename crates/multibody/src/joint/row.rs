//! Scalar constraints between two markers, their gradients and second derivatives.
//!
//! In the formulas a and b are the markers, p their positions, d = p_b - p_a, r their arms from
//! the nodes, δφ spins in the absolute frame.

use super::Geometry;
use crate::drive::Drive;
use crate::element::{Half, Jacobian, Residual};
use crate::node::Motion;
use oldham_space::rotation::{
    Quaternion, inverse_tangent, inverse_transpose_derivative, tangent, tangent_derivative,
};
use oldham_space::{Mat3, Vec3};

/// One scalar constraint: some measure of the two markers equals a target.
#[derive(Clone, Debug)]
pub struct Row {
    pub(crate) kind: RowKind,
    pub(crate) target: Drive,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RowKind {
    /// n · d, n an axis of the first marker.
    Along { axis: usize },
    /// u · w, u an axis of the first marker and w one of the second.
    Between { first: usize, second: usize },
    /// |d|.
    Distance,
    /// A component of the relative rotation vector.
    Turn { axis: usize },
}

impl Row {
    /// Displacement of the second marker along an axis (0, 1, 2) of the first.
    pub fn along(axis: usize, target: impl Into<Drive>) -> Self {
        Self::new(RowKind::Along { axis }, target.into())
    }

    /// Scalar product of an axis of the first marker with one of the second is zero.
    pub fn perpendicular(first: usize, second: usize) -> Self {
        Self::new(RowKind::Between { first, second }, Drive::ZERO)
    }

    /// Distance of the markers.
    pub fn distance(target: impl Into<Drive>) -> Self {
        Self::new(RowKind::Distance, target.into())
    }

    /// Component of the rotation vector from the prescribed orientation to the present one.
    pub fn turn(axis: usize) -> Self {
        Self::new(RowKind::Turn { axis }, Drive::ZERO)
    }

    fn new(kind: RowKind, target: Drive) -> Self {
        Self { kind, target }
    }

    pub(crate) fn value(&self, g: &Geometry) -> f64 {
        match self.kind {
            RowKind::Along { axis } => g.axes[0].column(axis).dot(g.between),
            RowKind::Between { first, second } => {
                g.axes[0].column(first).dot(g.axes[1].column(second))
            }
            RowKind::Distance => g.between.norm(),
            RowKind::Turn { axis } => g.theta[axis],
        }
    }

    pub(crate) fn gradient(&self, g: &Geometry) -> Gradient {
        match self.kind {
            RowKind::Along { axis } => Gradient::along(g, unit(axis)),
            RowKind::Between { first, second } => {
                let c = g.axes[0].column(first).cross(g.axes[1].column(second));
                Gradient {
                    position: [Vec3::ZERO; 2],
                    rotation: [c, -c],
                }
            }
            RowKind::Distance => {
                let n = g.between.unit();
                Gradient {
                    position: [-n, n],
                    rotation: [n.cross(g.arms[0]), g.arms[1].cross(n)],
                }
            }
            RowKind::Turn { axis } => {
                let n = g.axes[0] * inverse_tangent(g.theta).transpose_mul(unit(axis));
                Gradient {
                    position: [Vec3::ZERO; 2],
                    rotation: [-n, n],
                }
            }
        }
    }

    /// First and second time derivative of the value while the markers move as `m` says and
    /// keep their velocities. Where the row is a component of a rotation vector, the target turns
    /// as `target` says.
    pub(crate) fn derivatives(&self, g: &Geometry, m: &Moving, turning: &TurnRates) -> [f64; 2] {
        match self.kind {
            RowKind::Along { axis } => {
                let n = g.axes[0].column(axis);
                let [n1, n2] = m.turned(0, n);
                [
                    n1.dot(g.between) + n.dot(m.between[0]),
                    n2.dot(g.between) + 2.0 * n1.dot(m.between[0]) + n.dot(m.between[1]),
                ]
            }
            RowKind::Between { first, second } => {
                let (u, w) = (g.axes[0].column(first), g.axes[1].column(second));
                let ([u1, u2], [w1, w2]) = (m.turned(0, u), m.turned(1, w));
                [
                    u1.dot(w) + u.dot(w1),
                    u2.dot(w) + 2.0 * u1.dot(w1) + u.dot(w2),
                ]
            }
            RowKind::Distance => {
                let length = g.between.norm();
                let n = g.between * (1.0 / length);
                let [v, a] = m.between;
                let rate = n.dot(v);
                [rate, (v.dot(v) - rate * rate) / length + n.dot(a)]
            }
            RowKind::Turn { axis } => turning.0.map(|vector| vector[axis]),
        }
    }

    /// Adds the derivative of `multiplier · gradient`.
    pub(crate) fn add_hessian(&self, g: &Geometry, multiplier: f64, out: &mut Jacobian<'_>) {
        match self.kind {
            RowKind::Along { axis } => {
                let force = g.axes[0].column(axis) * multiplier;
                add_along_hessian(g, force, out);
            }
            RowKind::Between { first, second } => {
                let u = g.axes[0].column(first).skew();
                let w = g.axes[1].column(second).skew();
                let by_turn = [w * u * multiplier, -(u * w * multiplier)];
                for (column, m) in by_turn.into_iter().enumerate() {
                    out.add((0, Half::Angular), (column, Half::Angular), m);
                    out.add((1, Half::Angular), (column, Half::Angular), -m);
                }
            }
            RowKind::Distance => add_distance_hessian(g, multiplier, out),
            RowKind::Turn { axis } => {
                let inverse = inverse_tangent(g.theta);
                let n = (g.axes[0] * inverse.transpose_mul(unit(axis))).skew();
                let change = inverse_transpose_derivative(g.theta, unit(axis)) * inverse;
                let relative = g.axes[0] * change * g.axes[0].transpose();
                let by_turn = [(-n - relative) * multiplier, relative * multiplier];
                for (column, m) in by_turn.into_iter().enumerate() {
                    out.add((0, Half::Angular), (column, Half::Angular), -m);
                    out.add((1, Half::Angular), (column, Half::Angular), m);
                }
            }
        }
    }
}

fn unit(axis: usize) -> Vec3 {
    [Vec3::X, Vec3::Y, Vec3::Z][axis]
}

/// F = λ n turns with the first node and acts at the second marker on both nodes.
pub(crate) fn add_along_hessian(g: &Geometry, force: Vec3, out: &mut Jacobian<'_>) {
    use Half::{Angular, Linear};
    let f = force.skew();
    let arm_b = g.arms[1].skew();
    let arm_a = (g.between + g.arms[0]).skew();
    out.add((0, Linear), (0, Angular), f);
    out.add((1, Linear), (0, Angular), -f);
    out.add((1, Angular), (0, Angular), -(arm_b * f));
    out.add((1, Angular), (1, Angular), f * arm_b);
    out.add((0, Angular), (0, Linear), -f);
    out.add((0, Angular), (1, Linear), f);
    out.add((0, Angular), (1, Angular), -(f * arm_b));
    out.add((0, Angular), (0, Angular), arm_a * f);
}

fn add_distance_hessian(g: &Geometry, multiplier: f64, out: &mut Jacobian<'_>) {
    let n = g.between.unit();
    let k = (Mat3::IDENTITY - n.outer(n)) * (multiplier / g.between.norm());
    crate::element::add_point_stiffness(out, k, g.arms);
    let f = (n * multiplier).skew();
    for (node, sign) in [(0, -1.0), (1, 1.0)] {
        let m = f * g.arms[node].skew() * sign;
        out.add((node, Half::Angular), (node, Half::Angular), m);
    }
}

/// How two markers move, their nodes keeping their velocities.
pub(crate) struct Moving {
    spins: [Vec3; 2],
    /// First and second derivative of the line from the first to the second.
    between: [Vec3; 2],
}

impl Moving {
    pub fn new(g: &Geometry, [a, b]: [&Motion; 2]) -> Self {
        let spins = [a.angular_velocity, b.angular_velocity];
        let arms = [0, 1].map(|i: usize| {
            let first = spins[i].cross(g.arms[i]);
            [first, spins[i].cross(first)]
        });
        let between = [
            b.velocity + arms[1][0] - a.velocity - arms[0][0],
            arms[1][1] - arms[0][1],
        ];
        Self { spins, between }
    }

    /// Derivatives of a vector that turns with a marker.
    fn turned(&self, marker: usize, v: Vec3) -> [Vec3; 2] {
        let first = self.spins[marker].cross(v);
        [first, self.spins[marker].cross(first)]
    }
}

/// First and second derivative of a rotation vector.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TurnRates(pub [Vec3; 2]);

impl TurnRates {
    /// Of the vector θ from a target to an orientation, both seen in one frame. In that frame the
    /// orientation has the spin `spin`, which changes at `spin_rate`; the target turns with
    /// `target` and its rate, before the rotation by θ.
    pub fn new(theta: Vec3, [spin, spin_rate]: [Vec3; 2], target: [Vec3; 2]) -> Self {
        let turn = Quaternion::exp(theta).matrix();
        let carried = turn * target[0];
        // The rotation by θ has the spin w, and θ' = G(θ)⁻¹ w.
        let w = spin - carried;
        let w_rate = spin_rate - w.cross(carried) - turn * target[1];
        let inverse = inverse_tangent(theta);
        let first = inverse * w;
        // G(θ)⁻¹ is G(-θ)⁻ᵀ.
        let change = -inverse_transpose_derivative(-theta, w);
        Self([first, change * first + inverse * w_rate])
    }
}

/// The spin of the rotation by a vector ψ(t), and its rate.
pub(crate) fn spin_of(psi: Vec3, rate: Vec3, second: Vec3) -> [Vec3; 2] {
    let tangent = tangent(psi);
    [
        tangent * rate,
        tangent_derivative(psi, rate) * rate + tangent * second,
    ]
}

/// Derivative of a row by the positions and rotations of the two nodes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Gradient {
    pub position: [Vec3; 2],
    pub rotation: [Vec3; 2],
}

impl Gradient {
    /// Of the displacement of the second marker along a direction in the axes of the first.
    pub fn along(g: &Geometry, direction: Vec3) -> Self {
        let n = g.axes[0] * direction;
        Self {
            position: [-n, n],
            rotation: [n.cross(g.between + g.arms[0]), g.arms[1].cross(n)],
        }
    }

    /// Rate of the row when the nodes move.
    pub fn rate(&self, motions: [&Motion; 2]) -> f64 {
        let node = |i: usize| {
            self.position[i].dot(motions[i].velocity)
                + self.rotation[i].dot(motions[i].angular_velocity)
        };
        node(0) + node(1)
    }

    /// Adds this gradient times that of another measure to the derivatives of forces.
    pub fn add_dyad(&self, other: &Self, factor: f64, out: &mut Jacobian<'_>) {
        let parts = |gradient: &Self, node: usize| {
            [
                (Half::Linear, gradient.position[node]),
                (Half::Angular, gradient.rotation[node]),
            ]
        };
        for (row, column) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            for (row_part, u) in parts(self, row) {
                for (column_part, w) in parts(other, column) {
                    out.add((row, row_part), (column, column_part), u.outer(w) * factor);
                }
            }
        }
    }

    /// Its components times a factor: of each node by the position, then by the rotation.
    pub fn components(&self, factor: f64) -> [[f64; 6]; 2] {
        [0, 1].map(|node| {
            let [x, r] = [self.position[node], self.rotation[node]].map(|v| v * factor);
            [x[0], x[1], x[2], r[0], r[1], r[2]]
        })
    }

    /// Adds forces on both nodes that do `factor` times the work of the measure.
    pub fn load(&self, factor: f64, out: &mut Residual<'_>) {
        for node in 0..2 {
            let (x, r) = (self.position[node], self.rotation[node]);
            out.load(node, x * factor, r * factor);
        }
    }

    /// The same times a factor.
    pub fn scaled(&self, factor: f64) -> Self {
        Self {
            position: self.position.map(|v| v * factor),
            rotation: self.rotation.map(|v| v * factor),
        }
    }

    pub fn add_scaled(&mut self, other: &Self, factor: f64) {
        for node in 0..2 {
            self.position[node] += other.position[node] * factor;
            self.rotation[node] += other.rotation[node] * factor;
        }
    }
}
