//! Play between a pin and its bore, or between a ball and its socket.

use super::{
    At, Element, ElementEnergy, Jacobian, Law, References, Residual, Weights, refer_nodes,
};
use crate::joint::{Ends, Geometry, Gradient, add_along_hessian};
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;

/// A joint with clearance, as a force: the second marker moves freely near the first, and is pushed
/// back from where the play ends.
#[derive(Clone, Debug)]
pub struct Clearance {
    ends: Ends,
    /// Whether the play is about a line only, the third axis of the first marker.
    is_pin: bool,
    law: Law,
    friction: Option<SurfaceFriction>,
}

/// Coulomb's friction where a pin or a ball touches, rounded off about rest: what ought to stick creeps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceFriction {
    /// Coefficient of friction.
    pub coefficient: f64,
    /// Radius of the pin or the ball.
    pub radius: f64,
    /// Slip at which the friction is 1/√2 of its final value.
    pub speed: f64,
}

impl SurfaceFriction {
    /// Tangential forces for these slips, as fractions of the normal force.
    fn fractions(&self, slips: [f64; 2]) -> [f64; 2] {
        let per = self.coefficient / self.rounded(slips);
        slips.map(|slip| slip * per)
    }

    fn rounded(&self, [a, b]: [f64; 2]) -> f64 {
        (a * a + b * b + self.speed * self.speed).sqrt()
    }
}

/// Slip along two directions across the one in which the surfaces are pressed together.
struct Slip {
    /// In the axes of the first marker.
    directions: [Vec3; 2],
    /// Of the place of contact on the second body against that on the first.
    gradients: [Gradient; 2],
    speeds: [f64; 2],
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
            friction: None,
        }
    }

    /// The same with friction where it touches.
    pub fn with_friction(self, friction: SurfaceFriction) -> Self {
        Self {
            friction: Some(friction),
            ..self
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

    /// Directions across that of the offset: for a pin one around the axis and the axis itself.
    fn across(&self, direction: Vec3) -> [Vec3; 2] {
        let first = match self.is_pin {
            true => Vec3::Z.cross(direction),
            false => direction.perpendicular(),
        };
        [first, direction.cross(first)]
    }

    fn slip(&self, offset: &Offset, radius: f64, at: &At<'_>) -> Slip {
        let g = &offset.geometry;
        let motions = self.ends.nodes.map(|node| at.motion(node));
        let directions = self.across(offset.direction);
        // From the middle of the pin to where it touches.
        let arm = g.axes[0] * offset.direction * radius;
        let gradients = directions.map(|direction| {
            let mut gradient = Gradient::along(g, direction);
            let turn = arm.cross(g.axes[0] * direction);
            gradient.rotation[0] -= turn;
            gradient.rotation[1] += turn;
            gradient
        });
        Slip {
            speeds: gradients.map(|gradient| gradient.rate(motions)),
            directions,
            gradients,
        }
    }

    /// How the friction changes with the slip, with what presses, and as its direction turns with the offset.
    /// How its arm turns is left out: that is small beside the other terms, and nothing at rest.
    fn add_friction(
        &self,
        offset: &Offset,
        normal: (f64, f64),
        at: &At<'_>,
        weights: Weights,
        out: &mut Jacobian<'_>,
    ) {
        let Some(friction) = &self.friction else {
            return;
        };
        let (pressed, growth) = normal;
        let Slip {
            directions,
            gradients,
            speeds,
        } = self.slip(offset, friction.radius, at);
        let along = Gradient::along(&offset.geometry, offset.direction);
        let fractions = friction.fractions(speeds);
        let per_rounded = 1.0 / friction.rounded(speeds);
        for i in 0..2 {
            gradients[i].add_dyad(&along, fractions[i] * growth, out);
            for j in 0..2 {
                let own = if i == j { friction.coefficient } else { 0.0 };
                let bent = fractions[i] * speeds[j] * per_rounded;
                let by_slip = pressed * per_rounded * (own - bent) * weights.damping;
                gradients[i].add_dyad(&gradients[j], by_slip, out);
            }
            let force = fractions[i] * pressed * weights.stiffness;
            let axes = &offset.geometry.axes[0];
            add_along_hessian(&offset.geometry, *axes * directions[i] * force, out);
            // Across an axis it does not turn.
            if i == 0 || !self.is_pin {
                let turning = Gradient::along(&offset.geometry, directions[i]);
                along.add_dyad(&turning, -force / offset.distance, out);
            }
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

    fn side(&self, at: &At<'_>) -> u64 {
        let offset = self.offset(at);
        self.law.side(offset.distance, offset.rate, at)
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let offset = self.offset(at);
        let force = self.law.tension(offset.distance, offset.rate, at);
        Gradient::along(&offset.geometry, offset.direction).load(-force, out);
        if let (Some(friction), true) = (&self.friction, force > 0.0) {
            let slip = self.slip(&offset, friction.radius, at);
            let fractions = friction.fractions(slip.speeds);
            for (gradient, fraction) in slip.gradients.iter().zip(fractions) {
                gradient.load(-fraction * force, out);
            }
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let offset = self.offset(at);
        let Offset {
            geometry,
            direction,
            distance,
            rate,
        } = &offset;
        let (force, by_distance, by_rate) = self.law.evaluate(*distance, *rate, at);
        if force == 0.0 && by_distance == 0.0 {
            return;
        }
        let k = weights.stiffness * by_distance + weights.damping * by_rate;
        let gradient = Gradient::along(geometry, *direction);
        gradient.add_dyad(&gradient, k, out);
        let stiffening = force * weights.stiffness;
        add_along_hessian(geometry, geometry.axes[0] * *direction * stiffening, out);
        let across = self.across(*direction);
        let count = if self.is_pin { 1 } else { 2 };
        for direction in &across[..count] {
            let gradient = Gradient::along(geometry, *direction);
            gradient.add_dyad(&gradient, stiffening / distance, out);
        }
        self.add_friction(&offset, (force, k), at, weights, out);
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let offset = self.offset(at);
        let mut energy = self.law.energy(offset.distance, offset.rate, at);
        if let Some(friction) = &self.friction {
            let force = self.law.tension(offset.distance, offset.rate, at);
            let slip = self.slip(&offset, friction.radius, at);
            let fractions = friction.fractions(slip.speeds);
            let lost = fractions.iter().zip(slip.speeds).map(|(f, slip)| f * slip);
            energy.dissipated += force * lost.sum::<f64>();
        }
        energy
    }
}
