//! Friction in revolute and prismatic joints: the LuGre model.
//!
//! Bristles of mean deflection z obey z' = v - σ₀ |v| z / g(v), and the friction force is
//! N (σ₀ z + σ₁ z' + σ₂ v), with g(v) = μ_C + (μ_S - μ_C) exp(-(v/v_S)²) and the normal force N
//! from the reactions of the joint. Over a step v is taken constant, for which z is known exactly.
//!
//! # References
//! Canudas de Wit, Olsson, Åström, Lischinsky, "A new model for control of systems with friction",
//! IEEE Trans. Automatic Control 40 (1995) 419–425.

use super::{Coordinate, Joint};
use crate::element::{At, Element, ElementEnergy, Half, Jacobian, References, Residual, Weights};
use crate::node::{Marker, NodeId};

/// Parameters of the LuGre model, for forces relative to the normal force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LuGre {
    /// Coulomb coefficient μ_C.
    pub coulomb: f64,
    /// Static coefficient μ_S.
    pub stiction: f64,
    /// Stribeck velocity v_S.
    pub stribeck: f64,
    /// Bristle stiffness σ₀, per metre.
    pub stiffness: f64,
    /// Bristle damping σ₁, in s/m.
    pub damping: f64,
    /// Viscous friction σ₂, in s/m.
    pub viscous: f64,
}

/// Friction at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bristles {
    /// Friction force over normal force, against the velocity.
    pub coefficient: f64,
    /// Its derivative by the velocity, for Newton's iteration, in s/m.
    pub slope: f64,
    /// Deflection of the bristles in m, to be remembered.
    pub deflection: f64,
}

impl LuGre {
    /// Friction at the velocity `v`, for bristles that were deflected by `before` when so much time
    /// ago they were last looked at.
    pub fn evaluate(&self, v: f64, before: f64, elapsed: f64) -> Bristles {
        let s0 = self.stiffness;
        let ratio = v / self.stribeck;
        let level = self.coulomb + (self.stiction - self.coulomb) * (-ratio * ratio).exp();
        let decay = s0 * v.abs() / level;
        let x = decay * elapsed;
        // (1 - exp(-x)) / x
        let mean = if x > 1e-8 {
            -(-x).exp_m1() / x
        } else {
            1.0 - 0.5 * x
        };
        let rate_before = v - decay * before;
        let deflection = before + rate_before * elapsed * mean;
        let left = (-x).exp();
        let rate = rate_before * left;
        let bristles = Bristles {
            coefficient: s0 * deflection + self.damping * rate + self.viscous * v,
            slope: 0.0,
            deflection,
        };
        // How far the bristles are bent in the direction of the motion, as a fraction of the most.
        let direction = if v == 0.0 { 0.0 } else { v.signum() };
        let bent = before * direction * s0 / level;
        if x > STRAIGHT && bent < BENT {
            // The iterate has passed a reversal, or rushed away from rest. The force is flat here,
            // and Newton's iteration would jump from one side of standstill to the other for
            // ever; the line to standstill leads back.
            let at_rest = s0 * before;
            let slope = (bristles.coefficient - at_rest) / v;
            return Bristles { slope, ..bristles };
        }
        let level_slope = -2.0 * (level - self.coulomb) * ratio / self.stribeck;
        let relative = 1.0 - v * level_slope / level;
        let decay_slope = s0 * direction / level * relative;
        let by_deflection =
            left * elapsed * relative * (1.0 - bent) - direction * level_slope / s0 * (-x).exp_m1();
        let by_rate = left * (1.0 - decay_slope * (before + rate_before * elapsed));
        Bristles {
            slope: s0 * by_deflection + self.damping * by_rate + self.viscous,
            ..bristles
        }
    }
}

/// Bristles that forget less than this within a step are followed by the true slope...
const STRAIGHT: f64 = 1.0;
/// ... and so are those that are already bent by this fraction of the most in the direction of the
/// motion: they slide on.
const BENT: f64 = 0.5;

/// A joint with friction along its free coordinate.
#[derive(Clone, Debug)]
pub struct Frictional {
    joint: Joint,
    coordinate: Coordinate,
    law: LuGre,
    /// Lever of the friction force: the pin's radius, or one for a slide.
    radius: f64,
    /// Normal force without any reaction.
    preload: f64,
    /// The first rows of the joint, whose reactions press.
    pressing: usize,
}

impl Frictional {
    /// A revolute joint on a pin.
    pub fn revolute(a: Marker, b: Marker, radius: f64, preload: f64, law: LuGre) -> Self {
        Self {
            joint: Joint::revolute(a, b),
            coordinate: Coordinate::Angle,
            law,
            radius,
            preload,
            pressing: 3,
        }
    }

    /// A prismatic joint on a rail.
    pub fn prismatic(a: Marker, b: Marker, preload: f64, law: LuGre) -> Self {
        Self {
            joint: Joint::prismatic(a, b),
            coordinate: Coordinate::Slide,
            law,
            radius: 1.0,
            preload,
            pressing: 2,
        }
    }

    fn normal_force(&self, at: &At<'_>) -> f64 {
        let pressing = &at.multipliers[..self.pressing];
        self.preload + pressing.iter().map(|m| m * m).sum::<f64>().sqrt()
    }

    fn bristles(&self, at: &At<'_>) -> Bristles {
        let geometry = self.joint.ends.geometry(at);
        let rate = self.coordinate.rate(&self.joint.ends, &geometry, at);
        self.law
            .evaluate(rate * self.radius, at.memory[0], at.elapsed)
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

    /// The deflection of the bristles.
    fn memory(&self) -> usize {
        1
    }

    fn depends_on_past(&self) -> bool {
        true
    }

    fn remember(&self, at: &At<'_>, memory: &mut [f64]) {
        memory[0] = self.bristles(at).deflection;
    }

    fn residual(&self, at: &At<'_>, out: &mut Residual<'_>) {
        self.joint.residual(at, out);
        let geometry = self.joint.ends.geometry(at);
        let gradient = self.coordinate.gradient(&geometry);
        let force = -self.radius * self.normal_force(at) * self.bristles(at).coefficient;
        for node in 0..2 {
            let (x, r) = (gradient.position[node], gradient.rotation[node]);
            out.load(node, x * force, r * force);
        }
    }

    fn jacobian(&self, at: &At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        self.joint.jacobian(at, weights, out);
        let geometry = self.joint.ends.geometry(at);
        let gradient = self.coordinate.gradient(&geometry);
        let bristles = self.bristles(at);
        let slope = self.radius * self.radius * self.normal_force(at) * bristles.slope;
        let reaction = self.normal_force(at) - self.preload;
        if reaction > 0.0 {
            let pressing = at.multipliers[..self.pressing].iter().enumerate();
            for (index, multiplier) in pressing {
                let share = self.radius * bristles.coefficient * multiplier / reaction;
                for node in 0..2 {
                    let (x, r) = (gradient.position[node], gradient.rotation[node]);
                    out.by_multiplier(index, node, x * share, r * share);
                }
            }
        }
        let k = slope * weights.damping;
        let vectors = |node: usize| {
            [
                (Half::Linear, gradient.position[node]),
                (Half::Angular, gradient.rotation[node]),
            ]
        };
        for row in 0..2 {
            for column in 0..2 {
                for (row_part, u) in vectors(row) {
                    for (column_part, w) in vectors(column) {
                        out.add((row, row_part), (column, column_part), u.outer(w) * k);
                    }
                }
            }
        }
    }

    fn energy(&self, at: &At<'_>) -> ElementEnergy {
        let geometry = self.joint.ends.geometry(at);
        let rate = self.coordinate.rate(&self.joint.ends, &geometry, at) * self.radius;
        ElementEnergy {
            dissipated: self.normal_force(at) * self.bristles(at).coefficient * rate,
            ..self.joint.energy(at)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At rest, in presliding, while sliding, with the Stribeck effect, and after a jump of the
    /// velocity against the bristles within a short step.
    #[test]
    fn slope_is_the_derivative_of_the_force() {
        let law = LuGre {
            coulomb: 0.2,
            stiction: 0.35,
            stribeck: 0.05,
            stiffness: 1e3,
            damping: 0.7,
            viscous: 0.3,
        };
        for v in [1e-4_f64, 3e-3, 0.04, 0.3, 2.0, -0.04, -2.0] {
            for bent in [0.6, 0.9, 1.0] {
                let before = bent * v.signum() * 0.25 / law.stiffness;
                for elapsed in [0.0, 1e-5, 1e-3, 0.05] {
                    assert_slope(&law, v, before, elapsed);
                }
            }
            assert_slope(&law, v, -1e-4, 1e-5);
        }
    }

    fn assert_slope(law: &LuGre, v: f64, before: f64, elapsed: f64) {
        let step = 1e-6 * v.abs();
        let force = |v: f64| law.evaluate(v, before, elapsed).coefficient;
        let expected = (force(v + step) - force(v - step)) / (2.0 * step);
        let found = law.evaluate(v, before, elapsed).slope;
        let size = expected.abs().max(0.01 * force(v).abs() / v.abs());
        assert!(
            (found - expected).abs() < 1e-5 * size,
            "v {v}, z {before}, h {elapsed}: {found} instead of {expected}"
        );
    }
}
