//! Prescribed motions: position and velocity at once.
//!
//! A constraint on positions alone leaves the velocity of its nodes to the integration formula,
//! which meets it up to the error of the method. Here both hold at the end of every step, also
//! where the two are not quite consistent, as when they come from another part. The equation of a
//! step prescribes the velocity, Φ v = r'. The position φ = r is met by a displacement of the joint's
//! own nodes besides the one that their velocities cause: x' = v + W Φᵀ μ, the stabilised index-2
//! form. W is the inverse inertia of the nodes, and μ, which vanishes with the step size, is found
//! joint by joint. At rest, at the start and in linearisations only the position counts; the given
//! velocity then says how an input goes on.
//!
//! # References
//! Gear, Leimkuhler, Gupta, "Automatic integration of Euler–Lagrange equations with constraints",
//! J. Comput. Appl. Math. 12–13 (1985) 77–90.

use super::row::{Gradient, Row, RowKind};
use super::{Direction, Geometry, Joint};
use crate::drive::Drive;
use crate::element::{
    At, Element, ElementEnergy, InverseMass, Jacobian, References, Residual, Weights, refer_drives,
};
use crate::node::{Marker, NodeId};
use nalgebra::{SMatrix, SVector};
use oldham_space::Vec3;
use oldham_space::rotation::{Quaternion, inverse_tangent, tangent_times};

/// Rows that a joint may have.
const MOST_ROWS: usize = 6;

/// A total joint some of whose components have their velocity prescribed besides their position.
#[derive(Clone, Debug)]
pub struct PrescribedMotion {
    joint: Joint,
    /// For each row the velocity that is prescribed.
    rates: Vec<Option<Drive>>,
    /// Rate of the prescribed rotation vector.
    turn_rate: [Drive; 3],
}

impl PrescribedMotion {
    /// Any subset of the six components of a [total](Joint::total) joint. Where a rate is given,
    /// it is met besides the value of the component; rates of free components are ignored.
    pub fn new(
        a: Marker,
        b: Marker,
        displacement: [(Direction, Option<Drive>); 3],
        turn: [(Direction, Option<Drive>); 3],
    ) -> Self {
        let all = displacement.iter().chain(&turn);
        let bound = all.filter(|(direction, _)| !matches!(direction, Direction::Free));
        let rates = bound.map(|(_, rate)| rate.clone()).collect();
        let turn_rate = [0, 1, 2].map(|i: usize| turn[i].1.clone().unwrap_or(Drive::ZERO));
        let joint = Joint::total(
            a,
            b,
            displacement.map(|(direction, _)| direction),
            turn.map(|(direction, _)| direction),
        );
        Self {
            joint,
            rates,
            turn_rate,
        }
    }

    /// The prescribed rate of a row: where the row is a component of a rotation vector, that of the
    /// deviation from a target that turns.
    fn target_rate(&self, row: &Row, rate: &Drive, g: &Geometry, at: &At<'_>) -> f64 {
        let RowKind::Turn { axis } = row.kind else {
            return rate.value(at.time, at.inputs);
        };
        let vector = |drives: &[Drive; 3]| {
            let [x, y, z] = [0, 1, 2].map(|i: usize| drives[i].value(at.time, at.inputs));
            Vec3::new(x, y, z)
        };
        let spin = tangent_times(vector(&self.joint.turn), vector(&self.turn_rate));
        let seen = Quaternion::exp(g.theta).matrix() * spin;
        (inverse_tangent(g.theta) * seen)[axis]
    }

    /// Rows whose velocity is prescribed, with their indices and prescribed rates.
    fn prescribed_rates<'a>(
        &'a self,
        g: &'a Geometry,
        at: &'a At<'_>,
    ) -> impl Iterator<Item = (usize, &'a Row, f64)> {
        let rows = self.joint.rows.iter().zip(&self.rates).enumerate();
        rows.filter_map(|(index, (row, rate))| {
            let rate = rate.as_ref()?;
            Some((index, row, self.target_rate(row, rate, g, at)))
        })
    }

    fn violation(&self, row: &Row, g: &Geometry, at: &At<'_>) -> f64 {
        row.value(g) - row.target.value(at.time, at.inputs)
    }

    /// Whether the position of a row comes from the inputs, which are held between communication points.
    fn is_received(&self, row: &Row) -> bool {
        let drive = match row.kind {
            RowKind::Turn { axis } => &self.joint.turn[axis],
            _ => &row.target,
        };
        matches!(drive, Drive::Input(_))
    }
}

impl Element for PrescribedMotion {
    fn nodes(&self) -> &[NodeId] {
        self.joint.nodes()
    }

    fn refer(&mut self, references: &mut dyn References) {
        self.joint.refer(references);
        self.rates
            .iter_mut()
            .flatten()
            .for_each(|rate| rate.refer(references));
        refer_drives(&mut self.turn_rate, references);
    }

    fn constraints(&self) -> usize {
        self.joint.constraints()
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        self.joint.residual(at, out);
        let g = self.joint.geometry(at);
        let motions = self.joint.ends.nodes.map(|node| at.motion(node));
        for (index, row, rate) in self.prescribed_rates(&g, at) {
            if at.elapsed > 0.0 {
                let excess = row.gradient(&g).rate(motions) - rate;
                out.constraint(index, excess * at.elapsed);
            } else if self.is_received(row) {
                let gone_on = rate * (at.time - at.input_time);
                out.constraint(index, self.violation(row, &g, at) - gone_on);
            }
        }
    }

    fn knows_derivatives(&self) -> bool {
        true
    }

    /// What is received goes on at its given rate.
    fn violation_derivatives(&self, at: &At<'_>, step: f64, out: &mut [[f64; 2]]) {
        let derivatives = |drive: &Drive, rate: Option<&Drive>| match (drive, rate) {
            (Drive::Input(_), Some(rate)) => {
                let change = rate.derivatives(at.time, step)[0];
                [rate.value(at.time, at.inputs), change]
            }
            _ => drive.derivatives(at.time, step),
        };
        let turn = [0, 1, 2].map(|i| derivatives(&self.joint.turn[i], Some(&self.turn_rate[i])));
        let turn = [0, 1].map(|k| Vec3::new(turn[0][k], turn[1][k], turn[2][k]));
        let targets = |index: usize, row: &Row| match row.kind {
            RowKind::Turn { .. } => [0.0; 2],
            _ => derivatives(&row.target, self.rates[index].as_ref()),
        };
        self.joint.derivatives(at, turn, targets, out);
    }

    /// The change of the gradient in time is left out.
    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        self.joint.jacobian(at, weights, out);
        if at.elapsed == 0.0 || weights.damping == 0.0 {
            return;
        }
        let g = self.joint.geometry(at);
        let more = at.elapsed * weights.damping - 1.0;
        for (index, row, _) in self.prescribed_rates(&g, at) {
            let Gradient { position, rotation } = row.gradient(&g);
            for node in 0..2 {
                let (x, r) = (position[node] * more, rotation[node] * more);
                out.constraint_row(index, node, x, r);
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        self.joint.energy(at)
    }

    fn drifts(&self) -> bool {
        self.rates.iter().any(Option::is_some)
    }

    fn drift(&self, at: &At<'_>, inverse_mass: [InverseMass; 2], c: f64) -> [(Vec3, Vec3); 2] {
        let g = self.joint.geometry(at);
        let mut gradients = [Gradient::default(); MOST_ROWS];
        let mut violations = SVector::<f64, MOST_ROWS>::zeros();
        let motions = self.joint.ends.nodes.map(|node| at.motion(node));
        for (index, row, rate) in self.prescribed_rates(&g, at) {
            let gradient = row.gradient(&g);
            let excess = gradient.rate(motions) - rate;
            violations[index] = self.violation(row, &g, at) - c * excess;
            gradients[index] = gradient;
        }
        let product = |i: usize, j: usize| -> f64 {
            let (a, b) = (&gradients[i], &gradients[j]);
            let node = |n: usize| {
                inverse_mass[n].linear * a.position[n].dot(b.position[n])
                    + inverse_mass[n].angular * a.rotation[n].dot(b.rotation[n])
            };
            node(0) + node(1)
        };
        let mut compliance = SMatrix::<f64, MOST_ROWS, MOST_ROWS>::from_fn(product);
        for i in 0..MOST_ROWS {
            if compliance[(i, i)] == 0.0 {
                compliance[(i, i)] = 1.0;
            }
        }
        let Some(factors) = compliance.cholesky() else {
            return [(Vec3::ZERO, Vec3::ZERO); 2];
        };
        let forces = factors.solve(&violations);
        let mut sum = Gradient::default();
        for (gradient, force) in gradients.iter().zip(forces.iter()) {
            sum.add_scaled(gradient, -force);
        }
        [0, 1].map(|n| {
            let InverseMass { linear, angular } = inverse_mass[n];
            (sum.position[n] * linear, sum.rotation[n] * angular)
        })
    }
}
