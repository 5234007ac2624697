//! Whether an expression is affine in some of its variables.

use crate::function::{One, Two};
use crate::number::Number;
use crate::table::Table;

/// How an expression depends on the variables that are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Degree {
    /// Not at all, and on no other variable either.
    Constant,
    /// A sum of constants times variables, and a constant.
    Affine,
    /// In any other way.
    Other,
}

impl Degree {
    /// Something that is a constant only if all of these are.
    fn nonlinear(operands: &[Self]) -> Self {
        match operands.iter().all(|operand| *operand == Self::Constant) {
            true => Self::Constant,
            false => Self::Other,
        }
    }
}

impl Number for Degree {
    fn constant(_: f64) -> Self {
        Self::Constant
    }
    fn value(self) -> f64 {
        0.0
    }
    fn add(self, other: Self) -> Self {
        self.max(other)
    }
    fn subtract(self, other: Self) -> Self {
        self.max(other)
    }
    fn multiply(self, other: Self) -> Self {
        match (self, other) {
            (Self::Constant, factor) | (factor, Self::Constant) => factor,
            _ => Self::Other,
        }
    }
    fn divide(self, other: Self) -> Self {
        match other {
            Self::Constant => self,
            _ => Self::Other,
        }
    }
    fn negate(self) -> Self {
        self
    }
    fn power(self, exponent: Self) -> Self {
        Self::nonlinear(&[self, exponent])
    }
    fn whole_power(self, exponent: i32) -> Self {
        match exponent {
            0 => Self::Constant,
            1 => self,
            _ => Self::nonlinear(&[self]),
        }
    }
    fn one(self, _: One) -> Self {
        Self::nonlinear(&[self])
    }
    fn two(self, _: Two, other: Self) -> Self {
        Self::nonlinear(&[self, other])
    }
    fn select(condition: Self, yes: Self, no: Self) -> Self {
        Self::nonlinear(&[condition, yes, no])
    }
    fn table(_: &Table, arguments: &[Self]) -> Self {
        Self::nonlinear(arguments)
    }
    fn truth(operands: &[Self], _: bool) -> Self {
        Self::nonlinear(operands)
    }
}
