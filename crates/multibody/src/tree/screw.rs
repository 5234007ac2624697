//! Motions, forces and inertias of rigid bodies about one fixed point, in absolute axes.
//!
//! About a common point all of these are added up without any transformation: that is why the recursion takes one
//! point for a whole tree.

use crate::body::Inertia;
use crate::node::Motion;
use oldham_space::Vec3;
use std::ops::{Add, AddAssign, Mul, Sub};

/// A motion (angular velocity, velocity of what is at the point) or a load (moment about the point, force).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Screw {
    pub angular: Vec3,
    pub linear: Vec3,
}

impl Screw {
    pub const ZERO: Self = Self {
        angular: Vec3::ZERO,
        linear: Vec3::ZERO,
    };

    #[inline(always)]
    pub fn new(angular: Vec3, linear: Vec3) -> Self {
        Self { angular, linear }
    }

    /// The rotation about an axis through a place, one radian per unit.
    #[inline(always)]
    pub fn turning(axis: Vec3, place: Vec3) -> Self {
        Self::new(axis, place.cross(axis))
    }

    /// Of a node at `place`.
    #[inline(always)]
    pub fn of_motion(motion: &Motion, place: Vec3) -> Self {
        let spin = motion.angular_velocity;
        Self::new(spin, motion.velocity - spin.cross(place))
    }

    /// Power of a load along a motion.
    #[inline(always)]
    pub fn dot(self, other: Self) -> f64 {
        self.angular.dot(other.angular) + self.linear.dot(other.linear)
    }

    /// How a motion changes that is carried along by this one.
    #[inline(always)]
    pub fn carries(self, other: Self) -> Self {
        Self::new(
            self.angular.cross(other.angular),
            self.angular.cross(other.linear) + self.linear.cross(other.angular),
        )
    }

    /// How a momentum changes that is carried along by this motion.
    #[inline(always)]
    pub fn carries_momentum(self, other: Self) -> Self {
        Self::new(
            self.angular.cross(other.angular) + self.linear.cross(other.linear),
            self.angular.cross(other.linear),
        )
    }
}

impl Add for Screw {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.angular + other.angular, self.linear + other.linear)
    }
}

impl Sub for Screw {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.angular - other.angular, self.linear - other.linear)
    }
}

impl Mul<f64> for Screw {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: f64) -> Self {
        Self::new(self.angular * factor, self.linear * factor)
    }
}

impl AddAssign for Screw {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.angular += other.angular;
        self.linear += other.linear;
    }
}

/// Mass, first moment and moments of inertia about the common point: ten numbers that add up.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct WorldInertia {
    pub mass: f64,
    pub first: Vec3,
    /// xx, yy, zz.
    pub own: Vec3,
    /// yz, xz, xy.
    pub products: Vec3,
}

impl WorldInertia {
    /// Of the bodies of a node that is at `place`.
    #[inline(always)]
    pub fn of_node(inertia: &Inertia, motion: &Motion, place: Vec3) -> Self {
        let r = &motion.rotation.0;
        let j = &inertia.second.0;
        let mass = inertia.mass;
        // Rows of R J, then R J Rᵀ.
        let half = r.map(|row| {
            let column = |k: usize| row[0] * j[0][k] + row[1] * j[1][k] + row[2] * j[2][k];
            [column(0), column(1), column(2)]
        });
        let product =
            |i: usize, k: usize| half[i][0] * r[k][0] + half[i][1] * r[k][1] + half[i][2] * r[k][2];
        let turned = motion.rotation * inertia.first;
        // About the point: J + m (d·d E - d dᵀ) + 2 (d·s) E - d sᵀ - s dᵀ with the arm d and the first moment s, as
        // (d·w) E - d wᵀ - s dᵀ with w = m d + 2 s where that is symmetric.
        let first = turned + place * mass;
        let (d, s, f) = (place, turned, first);
        let outer = |i: usize, k: usize| d[i] * f[k] + s[i] * d[k];
        let diagonal = [outer(0, 0), outer(1, 1), outer(2, 2)];
        Self {
            mass,
            first,
            own: Vec3::new(
                product(0, 0) + diagonal[1] + diagonal[2],
                product(1, 1) + diagonal[0] + diagonal[2],
                product(2, 2) + diagonal[0] + diagonal[1],
            ),
            products: Vec3::new(
                product(1, 2) - outer(1, 2),
                product(0, 2) - outer(0, 2),
                product(0, 1) - outer(0, 1),
            ),
        }
    }

    /// The momentum of a motion.
    #[inline(always)]
    pub fn times(&self, motion: Screw) -> Screw {
        let (w, v, h) = (motion.angular, motion.linear, self.first);
        let (o, p) = (self.own, self.products);
        let turning = Vec3::new(
            o[0] * w[0] + p[2] * w[1] + p[1] * w[2],
            p[2] * w[0] + o[1] * w[1] + p[0] * w[2],
            p[1] * w[0] + p[0] * w[1] + o[2] * w[2],
        );
        Screw::new(turning + h.cross(v), v * self.mass + w.cross(h))
    }
}

impl AddAssign for WorldInertia {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.mass += other.mass;
        self.first += other.first;
        self.own += other.own;
        self.products += other.products;
    }
}
