//! Rigid bodies, gathered per node.

use crate::element::Weights;
use crate::node::Motion;
use oldham_space::{Mat3, Vec3};

/// A rigid body attached to a node; everything in node axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Body {
    /// Mass.
    pub mass: f64,
    /// Centre of mass relative to the node.
    pub centre: Vec3,
    /// Inertia tensor about the centre of mass.
    pub inertia: Mat3,
}

impl Body {
    /// A body whose centre of mass is the node.
    pub fn centred(mass: f64, inertia: Mat3) -> Self {
        Self {
            mass,
            centre: Vec3::ZERO,
            inertia,
        }
    }

    /// The same body with its centre of mass elsewhere.
    pub fn with_centre(self, centre: Vec3) -> Self {
        Self { centre, ..self }
    }

    /// Mass and inertia are finite, and no part has a negative mass: the principal moments obey
    /// the triangle inequality.
    pub(crate) fn is_physical(&self) -> bool {
        let j = &self.inertia.0;
        let symmetric = (0..3).all(|i| (0..i).all(|k| j[i][k] == j[k][i]));
        let second_moments = Mat3::IDENTITY * (0.5 * (j[0][0] + j[1][1] + j[2][2])) - self.inertia;
        let size = j.iter().flatten().fold(0.0_f64, |m, v| m.max(v.abs()));
        let finite = self.mass.is_finite() && self.centre.norm().is_finite() && size.is_finite();
        finite && self.mass >= 0.0 && symmetric && is_semidefinite(&second_moments, 1e-9 * size)
    }
}

/// All principal minors are non-negative up to `slack`.
fn is_semidefinite(m: &Mat3, slack: f64) -> bool {
    let a = &m.0;
    let minor = |i: usize, j: usize| a[i][i] * a[j][j] - a[i][j] * a[j][i];
    let determinant = m.column(0).dot(m.column(1).cross(m.column(2)));
    let size = slack * 1e9;
    (0..3).all(|i| a[i][i] >= -slack)
        && [(0, 1), (0, 2), (1, 2)]
            .iter()
            .all(|&(i, j)| minor(i, j) >= -slack * size)
        && determinant >= -slack * size * size
}

/// Mass, first and second moment about the node, in node axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Inertia {
    pub mass: f64,
    pub first: Vec3,
    pub second: Mat3,
}

/// Momentum and moment of momentum about the node, in the absolute frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Momentum {
    pub linear: Vec3,
    pub angular: Vec3,
}

impl Inertia {
    pub fn add(&mut self, body: &Body) {
        let c = body.centre;
        self.mass += body.mass;
        self.first += c * body.mass;
        self.second += body.inertia + (Mat3::IDENTITY * c.dot(c) - c.outer(c)) * body.mass;
    }

    /// Centre of mass in node axes; the node itself where there is no mass.
    pub fn centre(&self) -> Vec3 {
        match self.mass > 0.0 {
            true => self.first * (1.0 / self.mass),
            false => Vec3::ZERO,
        }
    }

    /// The inertia tensor about the centre of mass, in node axes.
    pub fn about_centre(&self) -> Mat3 {
        let c = self.centre();
        self.second - (Mat3::IDENTITY * c.dot(c) - c.outer(c)) * self.mass
    }

    /// Whether it resists any motion.
    #[inline(always)]
    pub fn is_massive(&self) -> bool {
        self.mass > 0.0 || self.second.0[0][0] + self.second.0[1][1] + self.second.0[2][2] > 0.0
    }

    /// β = m v + ω × S and γ = S × v + J ω (Fontana 2026, Sect. 2.3).
    #[inline(always)]
    pub fn momentum(&self, at: &Motion) -> Momentum {
        let (v, w) = (at.velocity, at.angular_velocity);
        let spin = at.rotation * (self.second * at.rotation.transpose_mul(w));
        if self.first == Vec3::ZERO {
            return Momentum {
                linear: v * self.mass,
                angular: spin,
            };
        }
        let s = at.rotation * self.first;
        Momentum {
            linear: v * self.mass + w.cross(s),
            angular: s.cross(v) + spin,
        }
    }

    /// Force and moment of gravity at the node.
    #[inline(always)]
    pub fn weight(&self, at: &Motion, gravity: Vec3) -> (Vec3, Vec3) {
        let s = at.rotation * self.first;
        (gravity * self.mass, s.cross(gravity))
    }

    /// Rates of both momenta for given accelerations.
    pub fn momentum_rate(&self, at: &Motion, a: Vec3, alpha: Vec3) -> Momentum {
        let (v, w) = (at.velocity, at.angular_velocity);
        let s = at.rotation * self.first;
        let j = at.rotation * self.second * at.rotation.transpose();
        let s_rate = w.cross(s);
        Momentum {
            linear: a * self.mass + alpha.cross(s) + w.cross(s_rate),
            angular: s.cross(a) + s_rate.cross(v) + j * alpha + w.cross(j * w),
        }
    }

    /// The mass matrix at a pose, times accelerations.
    pub fn times(&self, at: &Motion, a: Vec3, alpha: Vec3) -> Momentum {
        let s = at.rotation * self.first;
        let j = at.rotation * self.second * at.rotation.transpose();
        Momentum {
            linear: a * self.mass + alpha.cross(s),
            angular: s.cross(a) + j * alpha,
        }
    }

    pub fn kinetic_energy(&self, at: &Motion) -> f64 {
        let p = self.momentum(at);
        0.5 * (p.linear.dot(at.velocity) + p.angular.dot(at.angular_velocity))
    }

    pub fn potential_energy(&self, at: &Motion, gravity: Vec3) -> f64 {
        -gravity.dot(at.position * self.mass + at.rotation * self.first)
    }

    /// The negative derivative of inertia force and weight by the pose, as the four 3 × 3 blocks
    /// [force by x, force by φ, moment by x, moment by φ].
    pub fn jacobian(
        &self,
        at: &Motion,
        gravity: Vec3,
        weights: Weights,
        spin_coupling: Mat3,
    ) -> [Mat3; 4] {
        let Weights {
            mass: wm,
            damping: wd,
            stiffness: ws,
        } = weights;
        let s = (at.rotation * self.first).skew();
        let j = at.rotation * self.second * at.rotation.transpose();
        let p = self.momentum(at);
        let (v, w) = (at.velocity.skew(), at.angular_velocity.skew());
        let jw = (j * at.angular_velocity).skew();
        let turn = spin_coupling;
        [
            Mat3::IDENTITY * (self.mass * wm),
            -(s * wm) - (s * turn + w * s) * wd,
            s * wm + (v * self.mass - p.linear.skew()) * wd,
            j * wm + (v * s - jw + j * w + j * turn - v * s) * wd
                - (v * (s * turn + w * s) + gravity.skew() * s) * ws,
        ]
    }
}
