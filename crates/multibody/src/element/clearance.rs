//! Play between a pin and its bore, or between a ball and its socket.

use super::{
    At, Element, ElementEnergy, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::joint::{Ends, Geometry, Gradient, add_along_hessian};
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;

/// A joint with clearance, as a force: the second marker moves freely near the first, and is pushed
/// back from where the play ends. There is no friction.
#[derive(Clone, Debug)]
pub struct Clearance {
    ends: Ends,
    /// Whether the play is about a line only, the third axis of the first marker.
    is_pin: bool,
    law: Law,
}

/// How far the markers are apart, and in which direction in the axes of the first.
struct Offset {
    geometry: Geometry,
    direction: Vec3,
    distance: f64,
    rate: f64,
}

impl Clearance {
    /// A pin in a bore whose axis is the third of the first marker: nothing acts along the axis, nor about
    /// any. `gap` is the difference of the radii.
    pub fn pin(ends: [Marker; 2], gap: f64, stiffness: f64, damping: f64) -> Self {
        Self::new(ends, true, gap, stiffness, damping)
    }

    /// A ball in a socket.
    pub fn ball(ends: [Marker; 2], gap: f64, stiffness: f64, damping: f64) -> Self {
        Self::new(ends, false, gap, stiffness, damping)
    }

    fn new(ends: [Marker; 2], is_pin: bool, gap: f64, stiffness: f64, damping: f64) -> Self {
        let law = Law::Stops {
            lower: f64::NEG_INFINITY,
            upper: gap,
            stiffness,
            damping,
        };
        Self {
            ends: Ends::of(ends),
            is_pin,
            law,
        }
    }

    fn offset(&self, at: &At<'_>) -> Offset {
        let geometry = self.ends.geometry(at);
        let mut seen = geometry.axes[0].transpose_mul(geometry.between);
        if self.is_pin {
            seen[2] = 0.0;
        }
        let distance = seen.norm();
        // In the very middle any direction does: nothing acts there.
        let direction = match distance > 0.0 {
            true => seen * (1.0 / distance),
            false => Vec3::X,
        };
        let motions = self.ends.nodes.map(|node| at.motion(node));
        Offset {
            rate: Gradient::along(&geometry, direction).rate(motions),
            geometry,
            direction,
            distance,
        }
    }
}

impl Element for Clearance {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let offset = self.offset(at);
        let (force, ..) = self.law.evaluate(offset.distance, offset.rate, at);
        Gradient::along(&offset.geometry, offset.direction).load(-force, out);
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let Offset {
            geometry,
            direction,
            distance,
            rate,
        } = self.offset(at);
        let (force, by_distance, by_rate) = self.law.evaluate(distance, rate, at);
        if force == 0.0 && by_distance == 0.0 {
            return;
        }
        let k = weights.stiffness * by_distance + weights.damping * by_rate;
        let gradient = Gradient::along(&geometry, direction);
        gradient.add_dyad(&gradient, k, out);
        let force = force * weights.stiffness;
        add_along_hessian(&geometry, geometry.axes[0] * direction * force, out);
        let across = match self.is_pin {
            true => [Vec3::Z.cross(direction), Vec3::ZERO],
            false => {
                let first = direction.perpendicular();
                [first, direction.cross(first)]
            }
        };
        for direction in across {
            let gradient = Gradient::along(&geometry, direction);
            gradient.add_dyad(&gradient, force / distance, out);
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let offset = self.offset(at);
        self.law.energy(offset.distance, offset.rate, at)
    }
}
