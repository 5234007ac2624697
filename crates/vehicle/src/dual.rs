//! Numbers that carry their derivatives: one description of a law gives its value and its
//! Jacobian.

use oldham_space::{Scalar, V3, Vec3};
use std::ops::{Add, Div, Mul, Neg, Sub};

/// What the laws of this crate are written in: plain numbers, or numbers with derivatives.
pub trait Real: Scalar + std::fmt::Debug {
    /// The number itself.
    fn value(self) -> f64;
    /// The number that `f` gives, when its slope is `slope`.
    fn with_slope(self, value: f64, slope: f64) -> Self;

    /// Sine.
    #[inline(always)]
    fn sin(self) -> Self {
        let (sin, cos) = self.value().sin_cos();
        self.with_slope(sin, cos)
    }
    /// Cosine.
    #[inline(always)]
    fn cos(self) -> Self {
        let (sin, cos) = self.value().sin_cos();
        self.with_slope(cos, -sin)
    }
    /// Tangent.
    #[inline(always)]
    fn tan(self) -> Self {
        let tan = self.value().tan();
        self.with_slope(tan, 1.0 + tan * tan)
    }
    /// Inverse tangent.
    #[inline(always)]
    fn atan(self) -> Self {
        let x = self.value();
        self.with_slope(x.atan(), 1.0 / (1.0 + x * x))
    }
    /// Inverse sine.
    #[inline(always)]
    fn asin(self) -> Self {
        let x = self.value();
        self.with_slope(x.asin(), 1.0 / (1.0 - x * x).sqrt())
    }
    /// cos(atan(x)), without either.
    #[inline(always)]
    fn cos_atan(self) -> Self {
        let x = self.value();
        let root = 1.0 / (1.0 + x * x).sqrt();
        self.with_slope(root, -x * root * root * root)
    }
    /// Exponential function.
    #[inline(always)]
    fn exp(self) -> Self {
        let exp = self.value().exp();
        self.with_slope(exp, exp)
    }
    /// Square root.
    #[inline(always)]
    fn sqrt(self) -> Self {
        let root = self.value().sqrt();
        self.with_slope(root, 0.5 / root)
    }
    /// A power of a positive number.
    #[inline(always)]
    fn powf(self, exponent: f64) -> Self {
        let x = self.value();
        self.with_slope(x.powf(exponent), exponent * x.powf(exponent - 1.0))
    }
    /// Absolute value.
    #[inline(always)]
    fn abs(self) -> Self {
        if self.value() < 0.0 { -self } else { self }
    }
    /// At least this; constant below.
    #[inline(always)]
    fn at_least(self, least: f64) -> Self {
        if self.value() < least {
            Self::splat(least)
        } else {
            self
        }
    }
    /// At most this; constant above.
    #[inline(always)]
    fn at_most(self, most: f64) -> Self {
        if self.value() > most {
            Self::splat(most)
        } else {
            self
        }
    }
    /// x / √(x² + width²): the sign, smoothed near zero.
    #[inline(always)]
    fn smooth_sign(self, width: f64) -> Self {
        let x = self.value();
        let root = 1.0 / (x * x + width * width).sqrt();
        self.with_slope(x * root, width * width * root * root * root)
    }
    /// Scaled by a plain number.
    #[inline(always)]
    fn times(self, factor: f64) -> Self {
        self * Self::splat(factor)
    }
    /// Increased by a plain number.
    #[inline(always)]
    fn plus(self, number: f64) -> Self {
        self + Self::splat(number)
    }
}

impl Real for f64 {
    #[inline(always)]
    fn value(self) -> f64 {
        self
    }
    #[inline(always)]
    fn with_slope(self, value: f64, _slope: f64) -> Self {
        value
    }
}

/// A number and its derivatives by `N` variables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dual<const N: usize> {
    /// The number.
    pub value: f64,
    /// Its derivatives.
    pub slopes: [f64; N],
}

impl<const N: usize> Dual<N> {
    /// The variable of this index.
    pub fn variable(value: f64, index: usize) -> Self {
        let mut slopes = [0.0; N];
        slopes[index] = 1.0;
        Self { value, slopes }
    }

    /// The same number as a function of what its variables are functions of.
    #[inline(always)]
    pub fn through<const M: usize>(self, variables: &[Dual<M>; N]) -> Dual<M> {
        let mut slopes = [0.0; M];
        for (slope, variable) in self.slopes.iter().zip(variables) {
            for (sum, inner) in slopes.iter_mut().zip(&variable.slopes) {
                *sum += slope * inner;
            }
        }
        Dual {
            value: self.value,
            slopes,
        }
    }

    #[inline(always)]
    fn combined(self, other: Self, value: f64, by_self: f64, by_other: f64) -> Self {
        let mut slopes = [0.0; N];
        for (i, slope) in slopes.iter_mut().enumerate() {
            *slope = by_self * self.slopes[i] + by_other * other.slopes[i];
        }
        Self { value, slopes }
    }
}

impl<const N: usize> Scalar for Dual<N> {
    #[inline(always)]
    fn splat(value: f64) -> Self {
        Self {
            value,
            slopes: [0.0; N],
        }
    }
}

impl<const N: usize> Real for Dual<N> {
    #[inline(always)]
    fn value(self) -> f64 {
        self.value
    }
    #[inline(always)]
    fn with_slope(self, value: f64, slope: f64) -> Self {
        Self {
            value,
            slopes: self.slopes.map(|inner| slope * inner),
        }
    }
}

impl<const N: usize> Add for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self.combined(other, self.value + other.value, 1.0, 1.0)
    }
}

impl<const N: usize> Sub for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self.combined(other, self.value - other.value, 1.0, -1.0)
    }
}

impl<const N: usize> Mul for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self.combined(other, self.value * other.value, other.value, self.value)
    }
}

impl<const N: usize> Div for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn div(self, other: Self) -> Self {
        let inverse = 1.0 / other.value;
        let value = self.value * inverse;
        self.combined(other, value, inverse, -value * inverse)
    }
}

impl<const N: usize> Neg for Dual<N> {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        self.with_slope(-self.value, -1.0)
    }
}

/// The motion of a node as twelve variables: displacement, spin, velocity, angular velocity.
pub(crate) type Varied = Dual<12>;

/// A vector whose components are the variables from `first` on.
pub(crate) fn varied(vector: Vec3, first: usize) -> V3<Varied> {
    V3([0, 1, 2].map(|i| Dual::variable(vector[i], first + i)))
}

/// A vector that is fixed to the node.
pub(crate) fn carried(vector: Vec3) -> V3<Varied> {
    // δs = δφ × s
    let skew = -vector.skew();
    V3([0, 1, 2].map(|i| {
        let mut slopes = [0.0; 12];
        slopes[3..6].copy_from_slice(&skew.0[i]);
        Dual {
            value: vector[i],
            slopes,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_differences() {
        type Function = fn(Dual<1>) -> Dual<1>;
        let functions: [(&str, Function); 12] = [
            ("sin", |x| x.sin()),
            ("cos", |x| x.cos()),
            ("tan", |x| x.tan()),
            ("atan", |x| x.atan()),
            ("asin", |x| x.asin()),
            ("cos_atan", |x| x.cos_atan()),
            ("exp", |x| x.exp()),
            ("sqrt", |x| x.sqrt()),
            ("powf", |x| x.powf(1.7)),
            ("sign", |x| x.smooth_sign(0.3)),
            ("quotient", |x| (x * x).plus(1.0) / x.exp()),
            ("mixed", |x| -(x.times(3.0) - x * x.abs())),
        ];
        let (x, step) = (0.37, 1e-5);
        for (name, f) in functions {
            let [above, below] = [x + step, x - step].map(|x| f(Dual::variable(x, 0)).value);
            let expected = (above - below) / (2.0 * step);
            let found = f(Dual::variable(x, 0)).slopes[0];
            assert!(
                (found - expected).abs() < 1e-8,
                "{name}: {found} {expected}"
            );
        }
    }
}
