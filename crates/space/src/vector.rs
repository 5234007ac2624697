//! Three-dimensional vectors and matrices over any scalar, so that an element may evaluate several
//! integration points at once (see [`Pair`]).

use std::ops::{Add, AddAssign, Div, Index, IndexMut, Mul, Neg, Sub, SubAssign};

/// What vectors are made of: a number, or several numbers side by side.
pub trait Scalar:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
{
    /// The same number everywhere.
    fn splat(value: f64) -> Self;
}

impl Scalar for f64 {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        value
    }
}

/// Two numbers side by side: the compiler maps it to one vector register.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair(pub [f64; 2]);

macro_rules! pairwise {
    ($($trait:ident $method:ident $op:tt),*) => {$(
        impl $trait for Pair {
            type Output = Self;
            #[inline(always)]
            fn $method(self, other: Self) -> Self {
                Self([self.0[0] $op other.0[0], self.0[1] $op other.0[1]])
            }
        }
    )*};
}
pairwise!(Add add +, Sub sub -, Mul mul *, Div div /);

impl Neg for Pair {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self([-self.0[0], -self.0[1]])
    }
}

impl Scalar for Pair {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self([value; 2])
    }
}

/// A vector in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct V3<T>(pub [T; 3]);

/// A vector of numbers.
pub type Vec3 = V3<f64>;

impl Default for Vec3 {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Vec3 {
    /// The null vector.
    pub const ZERO: Self = Self([0.0; 3]);
    /// First unit vector.
    pub const X: Self = Self([1.0, 0.0, 0.0]);
    /// Second unit vector.
    pub const Y: Self = Self([0.0, 1.0, 0.0]);
    /// Third unit vector.
    pub const Z: Self = Self([0.0, 0.0, 1.0]);

    /// From components.
    pub const fn new(x: f64, y: f64, z: f64) -> Self {
        Self([x, y, z])
    }

    /// Euclidean length.
    #[inline(always)]
    pub fn norm(self) -> f64 {
        self.dot(self).sqrt()
    }

    /// The unit vector of the same direction.
    pub fn unit(self) -> Self {
        self * (1.0 / self.norm())
    }

    /// A unit vector at right angles to this one.
    pub fn perpendicular(self) -> Self {
        let smallest = (0..3)
            .min_by(|&i, &j| self.0[i].abs().total_cmp(&self.0[j].abs()))
            .expect("three components");
        let mut helper = Self::ZERO;
        helper.0[smallest] = 1.0;
        self.cross(helper).unit()
    }
}

impl V3<Pair> {
    /// One of the two vectors.
    #[inline(always)]
    pub fn lane(self, lane: usize) -> Vec3 {
        V3([self.0[0].0[lane], self.0[1].0[lane], self.0[2].0[lane]])
    }
}

impl<T: Scalar> V3<T> {
    /// The same vector everywhere.
    #[inline(always)]
    pub fn splat(value: Vec3) -> Self {
        Self(value.0.map(T::splat))
    }

    /// Scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> T {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        a * d + b * e + c * f
    }

    /// Vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([b * f - c * e, c * d - a * f, a * e - b * d])
    }

    /// The matrix that takes the vector product with this vector at its left.
    #[inline(always)]
    pub fn skew(self) -> M3<T> {
        let ([a, b, c], o) = (self.0, T::splat(0.0));
        M3([[o, -c, b], [c, o, -a], [-b, a, o]])
    }

    /// Dyadic product.
    #[inline(always)]
    pub fn outer(self, other: Self) -> M3<T> {
        let row = |a: T| other.0.map(|b| a * b);
        M3(self.0.map(row))
    }
}

impl<T> Index<usize> for V3<T> {
    type Output = T;
    #[inline(always)]
    fn index(&self, i: usize) -> &T {
        &self.0[i]
    }
}

impl<T> IndexMut<usize> for V3<T> {
    #[inline(always)]
    fn index_mut(&mut self, i: usize) -> &mut T {
        &mut self.0[i]
    }
}

impl<T: Scalar> Add for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([a + d, b + e, c + f])
    }
}

impl<T: Scalar> Sub for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [d, e, f]) = (self.0, other.0);
        Self([a - d, b - e, c - f])
    }
}

impl<T: Scalar> Neg for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|a| -a))
    }
}

impl<T: Scalar> Mul<T> for V3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: T) -> Self {
        Self(self.0.map(|a| a * factor))
    }
}

impl<T: Scalar> AddAssign for V3<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<T: Scalar> SubAssign for V3<T> {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}

/// A 3 × 3 matrix, row by row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct M3<T>(pub [[T; 3]; 3]);

/// A matrix of numbers.
pub type Mat3 = M3<f64>;

impl Default for Mat3 {
    fn default() -> Self {
        Self::ZERO
    }
}

impl Mat3 {
    /// The null matrix.
    pub const ZERO: Self = Self([[0.0; 3]; 3]);
    /// The identity.
    pub const IDENTITY: Self = Self::diagonal(1.0, 1.0, 1.0);

    /// A diagonal matrix.
    pub const fn diagonal(a: f64, b: f64, c: f64) -> Self {
        Self([[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]])
    }
}

impl M3<Pair> {
    /// One of the two matrices.
    #[inline(always)]
    pub fn lane(self, lane: usize) -> Mat3 {
        M3(self.0.map(|row| row.map(|entry| entry.0[lane])))
    }
}

impl<T: Scalar> M3<T> {
    /// The same matrix everywhere.
    #[inline(always)]
    pub fn splat(value: Mat3) -> Self {
        Self(value.0.map(|row| row.map(T::splat)))
    }

    /// A multiple of the identity.
    #[inline(always)]
    pub fn scaled_identity(a: T) -> Self {
        let o = T::splat(0.0);
        Self([[a, o, o], [o, a, o], [o, o, a]])
    }

    /// From columns.
    #[inline(always)]
    pub fn from_columns(a: V3<T>, b: V3<T>, c: V3<T>) -> Self {
        Self([[a[0], b[0], c[0]], [a[1], b[1], c[1]], [a[2], b[2], c[2]]])
    }

    /// A column.
    #[inline(always)]
    pub fn column(&self, j: usize) -> V3<T> {
        V3([self.0[0][j], self.0[1][j], self.0[2][j]])
    }

    /// Rows and columns exchanged.
    #[inline(always)]
    pub fn transpose(&self) -> Self {
        let m = &self.0;
        Self([
            [m[0][0], m[1][0], m[2][0]],
            [m[0][1], m[1][1], m[2][1]],
            [m[0][2], m[1][2], m[2][2]],
        ])
    }

    /// Product of the transpose with a vector.
    #[inline(always)]
    pub fn transpose_mul(&self, v: V3<T>) -> V3<T> {
        let m = &self.0;
        V3([0, 1, 2].map(|j| m[0][j] * v[0] + m[1][j] * v[1] + m[2][j] * v[2]))
    }
}

impl<T: Scalar> Mul<V3<T>> for M3<T> {
    type Output = V3<T>;
    #[inline(always)]
    fn mul(self, v: V3<T>) -> V3<T> {
        V3(self.0.map(|[a, b, c]| a * v[0] + b * v[1] + c * v[2]))
    }
}

impl<T: Scalar> Mul for M3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let b = &other.0;
        let row = |[x, y, z]: [T; 3]| [0, 1, 2].map(|j| x * b[0][j] + y * b[1][j] + z * b[2][j]);
        Self(self.0.map(row))
    }
}

impl<T: Scalar> Mul<T> for M3<T> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: T) -> Self {
        Self(self.0.map(|row| row.map(|a| a * factor)))
    }
}

impl<T: Scalar> Add for M3<T> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        Self([0, 1, 2].map(|i| [0, 1, 2].map(|j| a[i][j] + b[i][j])))
    }
}

impl<T: Scalar> Sub for M3<T> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        let (a, b) = (&self.0, &other.0);
        Self([0, 1, 2].map(|i| [0, 1, 2].map(|j| a[i][j] - b[i][j])))
    }
}

impl<T: Scalar> Neg for M3<T> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self(self.0.map(|row| row.map(|a| -a)))
    }
}

impl<T: Scalar> AddAssign for M3<T> {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
