//! Contacts as rows: what impulses do to velocities, and what velocities may be.
//!
//! A problem asks for impulses γ such that u = N γ + u₀, with γ in the friction cone and u in its
//! dual, γ · u = 0 (Tasora and Anitescu 2011: cone complementarity, without de Saxcé's term). With that term, u + μ |u_t| n in place of
//! u, it asks for Coulomb's law. N is the Delassus
//! matrix, symmetric and positive semidefinite: the problem is the optimality condition of a convex
//! program, and has a solution wherever velocities exist that satisfy it.
//!
//! References: A. Tasora, M. Anitescu, "A matrix-free cone complementarity approach for solving
//! large-scale, nonsmooth, rigid body dynamics", CMAME 200 (2011) 439–453.

mod aim;
mod bodies;
mod dense;

pub use aim::Aim;
pub use bodies::{Bodies, BodyMotion, Levers, Mechanism};
pub(crate) use dense::bounds;
pub use dense::{Dense, RowKind};

use oldham_space::Vec3;

/// A problem in one of two forms.
#[derive(Clone, Copy, Debug)]
pub enum Problem<'a> {
    /// Many contacts of free bodies. Each contact has three rows: its relative velocity along the absolute axes.
    Bodies(Bodies<'a>),
    /// Few rows with a full matrix, joints among them. Friction follows its normal row.
    Dense(Dense<'a>),
}

impl Problem<'_> {
    /// How many rows there are.
    pub fn rows(&self) -> usize {
        match self {
            Self::Bodies(bodies) => 3 * bodies.touches.len(),
            Self::Dense(dense) => dense.rows.len(),
        }
    }
}

/// The point of the friction cone about `normal` that is nearest to `impulse`, in the metric that weighs the normal
/// part with `normal_weight` and the tangential one with `tangential_weight`.
#[inline(always)]
pub fn project(
    impulse: Vec3,
    normal: Vec3,
    friction: f64,
    normal_weight: f64,
    tangential_weight: f64,
) -> Vec3 {
    let along = impulse.dot(normal);
    let across = impulse - normal * along;
    let square = across.dot(across);
    if along >= 0.0 && square <= friction * friction * along * along {
        return impulse;
    }
    // Nothing across, and not pressed.
    if square == 0.0 {
        return Vec3::ZERO;
    }
    let per_length = 1.0 / square.sqrt();
    let share = 1.0 / (normal_weight + friction * friction * tangential_weight);
    let drawn = friction * tangential_weight * (square * per_length);
    let pressed = (normal_weight * along + drawn) * share;
    if pressed <= 0.0 {
        return Vec3::ZERO;
    }
    normal * pressed + across * (friction * pressed * per_length)
}

/// The residual of one contact in m/s: |γ − Π(γ − η u)| / η, with η the inverse of the mean
/// diagonal entry of its own block.
#[inline(always)]
pub(crate) fn natural_residual(
    impulse: Vec3,
    velocity: Vec3,
    normal: Vec3,
    friction: f64,
    mean_diagonal: f64,
) -> f64 {
    // Where impulses do nothing, velocities stay as they are: they may open.
    if mean_diagonal <= 0.0 {
        return (-velocity.dot(normal)).max(0.0);
    }
    let step = impulse - velocity * (1.0 / mean_diagonal);
    (impulse - project(step, normal, friction, 1.0, 1.0)).norm() * mean_diagonal
}

/// The same with de Saxcé's term μ |u_t|, which makes it the residual of Coulomb's law.
#[inline(always)]
pub(crate) fn coulomb_residual(
    impulse: Vec3,
    velocity: Vec3,
    normal: Vec3,
    friction: f64,
    mean_diagonal: f64,
) -> f64 {
    let sliding = velocity - normal * velocity.dot(normal);
    let shifted = match mean_diagonal > 0.0 {
        true => velocity + normal * (friction * sliding.norm()),
        false => velocity,
    };
    natural_residual(impulse, shifted, normal, friction, mean_diagonal)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The projection is the nearest point in its metric: no point of the cone around it is nearer.
    #[test]
    fn projection_is_nearest_in_its_metric() {
        let normal = Vec3::new(1.0, 2.0, -2.0) * (1.0 / 3.0);
        let tangent = normal.perpendicular();
        let (friction, wn, wt) = (0.52, 2.0, 7.0);
        let far = |p: Vec3, q: Vec3| {
            let d = p - q;
            let n = d.dot(normal);
            wn * n * n + wt * (d.dot(d) - n * n)
        };
        for i in 0..40 {
            let angle = 0.157 * i as f64;
            let impulse = normal * (2.0 * angle.cos()) + tangent * (2.0 * angle.sin());
            let found = project(impulse, normal, friction, wn, wt);
            for j in 0..200 {
                for k in -10..=10 {
                    let pressed = 0.02 * j as f64;
                    let other = normal * pressed + tangent * (0.1 * k as f64 * friction * pressed);
                    assert!(far(found, impulse) <= far(other, impulse) + 1e-12);
                }
            }
        }
    }
}
