//! Numbers that carry their first and second derivative along a direction, so that an expression
//! is differentiated exactly while it is evaluated.
//!
//! Where a function has a kink the derivative is the one ahead, in the direction of the motion:
//! a prescribed motion may begin there.

use crate::function::{One, Two};
use crate::number::Number;
use crate::table::Table;

/// A value with its first and second derivative along a direction.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Jet {
    /// The value.
    pub value: f64,
    /// The first derivative.
    pub first: f64,
    /// The second derivative.
    pub second: f64,
}

impl Jet {
    /// A variable that moves at this rate.
    pub(crate) fn moving(value: f64, rate: f64) -> Self {
        Self {
            value,
            first: rate,
            second: 0.0,
        }
    }

    /// A function of this number, by its value and derivatives.
    fn chain(self, [value, first, second]: [f64; 3]) -> Self {
        if self.stands_still() {
            // An infinite slope of what does not move is no motion.
            return Self::constant(value);
        }
        Self {
            value,
            first: first * self.first,
            second: second * self.first * self.first + first * self.second,
        }
    }

    fn stands_still(self) -> bool {
        self.first == 0.0 && self.second == 0.0
    }

    /// Whether it will be larger than the other just ahead.
    fn leads(self, other: Self) -> bool {
        let pairs = [
            (self.value, other.value),
            (self.first, other.first),
            (self.second, other.second),
        ];
        let apart = pairs.into_iter().find(|(mine, theirs)| mine != theirs);
        apart.is_none_or(|(mine, theirs)| mine > theirs)
    }

    fn times_derivatives(self, other: Self) -> f64 {
        self.value * other.second + 2.0 * self.first * other.first + self.second * other.value
    }

    fn exponential(self) -> Self {
        let value = self.value.exp();
        self.chain([value; 3])
    }

    fn logarithm(self) -> Self {
        let inverse = 1.0 / self.value;
        self.chain([self.value.ln(), inverse, -inverse * inverse])
    }

    /// A power with a constant exponent.
    fn power_of(self, exponent: f64) -> Self {
        // A factor of zero wins against an infinite power of zero.
        let term = |factor: f64, lowered: f64| match factor {
            0.0 => 0.0,
            factor => factor * self.value.powf(exponent - lowered),
        };
        let second = term(exponent * (exponent - 1.0), 2.0);
        self.chain([self.value.powf(exponent), term(exponent, 1.0), second])
    }

    /// atan2(self, x): its rate is (x y' - y x') / (x² + y²).
    fn angle(self, x: Self) -> Self {
        let y = self;
        let square = x.value * x.value + y.value * y.value;
        let swept = x.value * y.first - y.value * x.first;
        let rate = swept / square;
        let growth = 2.0 * (x.value * x.first + y.value * y.first);
        let swept_rate = x.value * y.second - y.value * x.second;
        Self {
            value: y.value.atan2(x.value),
            first: rate,
            second: (swept_rate - rate * growth) / square,
        }
    }
}

impl Number for Jet {
    fn constant(value: f64) -> Self {
        Self::moving(value, 0.0)
    }
    fn value(self) -> f64 {
        self.value
    }
    fn add(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            first: self.first + other.first,
            second: self.second + other.second,
        }
    }
    fn subtract(self, other: Self) -> Self {
        self.add(other.negate())
    }
    fn multiply(self, other: Self) -> Self {
        Self {
            value: self.value * other.value,
            first: self.value * other.first + self.first * other.value,
            second: self.times_derivatives(other),
        }
    }
    fn divide(self, other: Self) -> Self {
        let value = self.value / other.value;
        let first = (self.first - value * other.first) / other.value;
        let second = self.second - 2.0 * first * other.first - value * other.second;
        Self {
            value,
            first,
            second: second / other.value,
        }
    }
    fn negate(self) -> Self {
        Self {
            value: -self.value,
            first: -self.first,
            second: -self.second,
        }
    }
    fn power(self, exponent: Self) -> Self {
        if exponent.stands_still() {
            return self.power_of(exponent.value);
        }
        Self {
            value: self.value.powf(exponent.value),
            ..exponent.multiply(self.logarithm()).exponential()
        }
    }
    fn whole_power(self, exponent: i32) -> Self {
        let n = f64::from(exponent);
        let term = |factor: f64, lowered: i32| match factor {
            0.0 => 0.0,
            factor => factor * self.value.powi(exponent - lowered),
        };
        self.chain([
            self.value.powi(exponent),
            term(n, 1),
            term(n * (n - 1.0), 2),
        ])
    }
    fn one(self, function: One) -> Self {
        let [first, second] = (function.derivatives)(self.value);
        let chained = self.chain([(function.value)(self.value), first, second]);
        if self.value != 0.0 || !function.is_even_kink {
            return chained;
        }
        // The absolute value grows whichever way its argument leaves zero.
        match Self::leads(self, Self::default()) {
            true => self,
            false => self.negate(),
        }
    }
    fn two(self, function: Two, other: Self) -> Self {
        match function {
            Two::Atan2 => self.angle(other),
            Two::Hypot => {
                let square = self.multiply(self).add(other.multiply(other));
                Self {
                    value: self.value.hypot(other.value),
                    ..square.power_of(0.5)
                }
            }
            // As for plain numbers, NaN loses.
            Two::Max | Two::Min if self.value.is_nan() => other,
            Two::Max | Two::Min if other.value.is_nan() => self,
            Two::Max if self.leads(other) => self,
            Two::Max => other,
            Two::Min if self.leads(other) => other,
            Two::Min => self,
            Two::Mod => {
                let whole = (self.value / other.value).floor();
                self.subtract(other.multiply(Self::constant(whole)))
            }
        }
    }
    fn select(condition: Self, yes: Self, no: Self) -> Self {
        if condition.value != 0.0 { yes } else { no }
    }
    fn table(table: &Table, arguments: &[Self]) -> Self {
        match arguments {
            [x] => x.chain(table.with_derivatives(x.value)),
            [x, y, ..] => {
                let f = table.with_gradient(x.value, y.value);
                Self {
                    value: f.value,
                    first: f.x * x.first + f.y * y.first,
                    second: f.xx * x.first * x.first
                        + 2.0 * f.xy * x.first * y.first
                        + f.yy * y.first * y.first
                        + f.x * x.second
                        + f.y * y.second,
                }
            }
            [] => Self::constant(f64::NAN),
        }
    }
    fn truth(_: &[Self], holds: bool) -> Self {
        Self::constant(f64::from(u8::from(holds)))
    }
}
