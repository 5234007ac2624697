//! A ball, or a point, that touches a solid whose surface yields: a force, smooth enough for any integrator.
//!
//! The force along the solid's normal is k δⁿ (1 + c δ̇) for a penetration δ, and never pulls. Where the surface is curved, how the
//! normal turns is part of the derivatives.
//!
//! Reference: K. Hunt, F. Crossley, "Coefficient of restitution interpreted as damping in vibroimpact", Journal of Applied Mechanics 42
//! (1975) 440–445.

use oldham_contact::Shape;

use super::{At, Element, ElementEnergy, Jacobian, References, Residual, Weights, refer_nodes};
use crate::joint::{Ends, Geometry, Gradient, add_along_hessian};
use crate::node::{Marker, NodeId};
use oldham_space::Vec3;

/// Of differences of the normal, relative to the distance of the ball from the solid's frame.
const STEP: f64 = 1e-6;

/// How a surface yields.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompliantLaw {
    /// Force for a unit of penetration to the power of the exponent.
    pub stiffness: f64,
    /// At least one: 1 for a spring, 1.5 for Hertz's spheres.
    pub exponent: f64,
    /// Share of the force for each unit of the rate of penetration, in s/m.
    pub damping: f64,
}

impl CompliantLaw {
    /// The force for a penetration and its rate, and its derivatives by both.
    fn evaluate(&self, depth: f64, rate: f64) -> [f64; 3] {
        let factor = 1.0 + self.damping * rate;
        if depth <= 0.0 || factor <= 0.0 {
            return [0.0; 3];
        }
        let power = self.stiffness * depth.powf(self.exponent - 1.0);
        [
            power * depth * factor,
            power * self.exponent * factor,
            power * depth * self.damping,
        ]
    }

    fn stored(&self, depth: f64) -> f64 {
        let depth = depth.max(0.0);
        self.stiffness * depth.powf(self.exponent + 1.0) / (self.exponent + 1.0)
    }
}

/// A ball on one node against a solid on another, as a force.
#[derive(Clone, Debug)]
pub struct CompliantContact {
    /// The frame of the solid, then the centre of the ball.
    ends: Ends,
    shape: Shape,
    radius: f64,
    law: CompliantLaw,
    /// Coefficient of friction, and the slip at which 1/√2 of it acts.
    friction: Option<[f64; 2]>,
}

/// Where the ball is.
struct Near {
    geometry: Geometry,
    /// In the frame of the solid.
    normal: Vec3,
    depth: f64,
    rate: f64,
}

impl CompliantContact {
    /// A ball about the second marker, of any radius from zero on, and a solid in the frame of the first.
    pub fn new(ends: [Marker; 2], shape: Shape, radius: f64, law: CompliantLaw) -> Self {
        Self {
            ends: Ends::of(ends),
            shape,
            radius,
            law,
            friction: None,
        }
    }

    /// The same with Coulomb's friction, rounded off about rest by a slip in m/s: what ought to stick creeps.
    pub fn with_friction(self, coefficient: f64, speed: f64) -> Self {
        Self {
            friction: Some([coefficient, speed]),
            ..self
        }
    }

    fn near(&self, at: &At<'_>) -> Near {
        let geometry = self.ends.geometry(at);
        let place = geometry.axes[0].transpose_mul(geometry.between);
        let nearest = self.shape.nearest(place);
        let motions = self.ends.nodes.map(|node| at.motion(node));
        Near {
            rate: -Gradient::along(&geometry, nearest.normal).rate(motions),
            depth: self.radius - nearest.distance,
            normal: nearest.normal,
            geometry,
        }
    }

    /// Directions across the normal.
    fn across(normal: Vec3) -> [Vec3; 2] {
        let first = normal.perpendicular();
        [first, normal.cross(first)]
    }

    /// How the normal turns when the ball moves across it: a symmetric matrix in these directions.
    fn curvature(&self, near: &Near) -> [[f64; 2]; 2] {
        let place = near.geometry.axes[0].transpose_mul(near.geometry.between);
        let across = Self::across(near.normal);
        let step = STEP * (place.norm() + self.radius).max(1e-3);
        let turned = across.map(|along| {
            let [ahead, behind] =
                [step, -step].map(|by| self.shape.nearest(place + along * by).normal);
            (ahead - behind) * (0.5 / step)
        });
        let entry = |i: usize, j: usize| across[i].dot(turned[j]);
        let mixed = 0.5 * (entry(0, 1) + entry(1, 0));
        [[entry(0, 0), mixed], [mixed, entry(1, 1)]]
    }

    /// Slip of the ball's lowest point along a direction.
    fn slip(&self, near: &Near, direction: Vec3) -> Gradient {
        let g = &near.geometry;
        let mut gradient = Gradient::along(g, direction);
        let arm = g.axes[0] * near.normal * -self.radius;
        let turn = arm.cross(g.axes[0] * direction);
        gradient.rotation[0] -= turn;
        gradient.rotation[1] += turn;
        gradient
    }

    /// Slips in both directions, and friction as shares of the normal force.
    fn friction(&self, near: &Near, at: &At<'_>) -> Option<Friction> {
        let [coefficient, speed] = self.friction?;
        let motions = self.ends.nodes.map(|node| at.motion(node));
        let gradients = Self::across(near.normal).map(|along| self.slip(near, along));
        let speeds = [0, 1].map(|i: usize| gradients[i].rate(motions));
        let rounded = (speeds[0] * speeds[0] + speeds[1] * speeds[1] + speed * speed).sqrt();
        Some(Friction {
            gradients,
            speeds,
            coefficient,
            per_rounded: 1.0 / rounded,
        })
    }
}

struct Friction {
    gradients: [Gradient; 2],
    speeds: [f64; 2],
    coefficient: f64,
    per_rounded: f64,
}

impl Friction {
    fn share(&self, i: usize) -> f64 {
        self.coefficient * self.speeds[i] * self.per_rounded
    }
}

impl Element for CompliantContact {
    fn nodes(&self) -> &[NodeId] {
        &self.ends.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        refer_nodes(&mut self.ends.nodes, references);
    }

    fn side(&self, at: &At<'_>) -> u64 {
        let near = self.near(at);
        let [force, ..] = self.law.evaluate(near.depth, near.rate);
        u64::from(force > 0.0)
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        let near = self.near(at);
        let [force, ..] = self.law.evaluate(near.depth, near.rate);
        if force == 0.0 {
            return;
        }
        Gradient::along(&near.geometry, near.normal).load(force, out);
        if let Some(friction) = self.friction(&near, at) {
            for (i, gradient) in friction.gradients.iter().enumerate() {
                gradient.load(-friction.share(i) * force, out);
            }
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let near = self.near(at);
        let [force, by_depth, by_rate] = self.law.evaluate(near.depth, near.rate);
        if force == 0.0 {
            return;
        }
        let g = &near.geometry;
        let along = Gradient::along(g, near.normal);
        let growth = weights.stiffness * by_depth + weights.damping * by_rate;
        along.add_dyad(&along, growth, out);
        let pushed = force * weights.stiffness;
        add_along_hessian(g, g.axes[0] * near.normal * -pushed, out);
        let across = Self::across(near.normal);
        let moved = across.map(|direction| Gradient::along(g, direction));
        let curvature = self.curvature(&near);
        for i in 0..2 {
            for j in 0..2 {
                moved[i].add_dyad(&moved[j], -pushed * curvature[i][j], out);
            }
        }
        let Some(friction) = self.friction(&near, at) else {
            return;
        };
        // How its directions and its arm turn is left out: that is nothing at rest, and small beside the rest elsewhere.
        for i in 0..2 {
            let share = friction.share(i);
            friction.gradients[i].add_dyad(&along, -share * growth, out);
            for j in 0..2 {
                let own = if i == j { friction.coefficient } else { 0.0 };
                let bent = share * friction.speeds[j] * friction.per_rounded;
                let by_slip = force * friction.per_rounded * (own - bent) * weights.damping;
                friction.gradients[i].add_dyad(&friction.gradients[j], by_slip, out);
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let near = self.near(at);
        let [force, ..] = self.law.evaluate(near.depth, near.rate);
        let elastic = match near.depth > 0.0 {
            true => self.law.stiffness * near.depth.powf(self.law.exponent),
            false => 0.0,
        };
        let mut energy = ElementEnergy {
            stored: self.law.stored(near.depth),
            dissipated: (force - elastic) * near.rate,
            ..ElementEnergy::default()
        };
        if let Some(friction) = self.friction(&near, at) {
            let lost = (0..2).map(|i| friction.share(i) * friction.speeds[i]);
            energy.dissipated += force * lost.sum::<f64>();
        }
        energy
    }
}
