//! What an expression is evaluated with: plain numbers, numbers that carry their derivatives, or
//! only the degree in the variables.

use crate::function::{One, Two};
use crate::table::Table;

/// A kind of number that a program can compute with.
pub(crate) trait Number: Copy {
    /// A number that depends on nothing.
    fn constant(value: f64) -> Self;
    /// What comparisons and conditions see.
    fn value(self) -> f64;
    fn add(self, other: Self) -> Self;
    fn subtract(self, other: Self) -> Self;
    fn multiply(self, other: Self) -> Self;
    fn divide(self, other: Self) -> Self;
    fn negate(self) -> Self;
    fn power(self, exponent: Self) -> Self;
    fn whole_power(self, exponent: i32) -> Self;
    fn one(self, function: One) -> Self;
    fn two(self, function: Two, other: Self) -> Self;
    /// One of two, by a condition.
    fn select(condition: Self, yes: Self, no: Self) -> Self;
    fn table(table: &Table, arguments: &[Self]) -> Self;
    /// True or false, as one or zero.
    fn truth(operands: &[Self], holds: bool) -> Self;
}

impl Number for f64 {
    fn constant(value: f64) -> Self {
        value
    }
    fn value(self) -> f64 {
        self
    }
    fn add(self, other: Self) -> Self {
        self + other
    }
    fn subtract(self, other: Self) -> Self {
        self - other
    }
    fn multiply(self, other: Self) -> Self {
        self * other
    }
    fn divide(self, other: Self) -> Self {
        self / other
    }
    fn negate(self) -> Self {
        -self
    }
    fn power(self, exponent: Self) -> Self {
        self.powf(exponent)
    }
    fn whole_power(self, exponent: i32) -> Self {
        self.powi(exponent)
    }
    fn one(self, function: One) -> Self {
        (function.value)(self)
    }
    fn two(self, function: Two, other: Self) -> Self {
        match function {
            Two::Atan2 => self.atan2(other),
            Two::Hypot => self.hypot(other),
            Two::Max => self.max(other),
            Two::Min => self.min(other),
            Two::Mod => self - other * (self / other).floor(),
        }
    }
    fn select(condition: Self, yes: Self, no: Self) -> Self {
        if condition != 0.0 { yes } else { no }
    }
    fn table(table: &Table, arguments: &[Self]) -> Self {
        match arguments {
            [x] => table.at(*x),
            [x, y, ..] => table.at_both(*x, *y),
            [] => f64::NAN,
        }
    }
    fn truth(_: &[Self], holds: bool) -> Self {
        f64::from(u8::from(holds))
    }
}
