//! On which side of its kinks and jumps an expression is.

use crate::function::{One, Two};
use crate::number::Number;
use crate::table::Table;

/// A value, and a number that stands for the sides of all kinks and jumps that it depends on. Between points
/// with the same number an expression is smooth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Sided {
    value: f64,
    pub sides: u64,
}

/// An odd number of mixed bits: the golden ratio.
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

fn mixed(a: u64, b: u64) -> u64 {
    (a.rotate_left(29) ^ b).wrapping_add(1).wrapping_mul(MIXER)
}

impl Sided {
    pub fn new(value: f64) -> Self {
        Self { value, sides: 0 }
    }

    fn of(value: f64, operands: &[Self]) -> Self {
        let known = operands.iter().map(|operand| operand.sides);
        let known = known.filter(|sides| *sides != 0);
        Self {
            value,
            sides: known.fold(0, mixed),
        }
    }

    /// The same on a side of one more kink.
    fn on(self, side: u64) -> Self {
        Self {
            sides: mixed(self.sides, side),
            ..self
        }
    }
}

impl Number for Sided {
    fn constant(value: f64) -> Self {
        Self::new(value)
    }
    fn value(self) -> f64 {
        self.value
    }
    fn add(self, other: Self) -> Self {
        Self::of(self.value + other.value, &[self, other])
    }
    fn subtract(self, other: Self) -> Self {
        Self::of(self.value - other.value, &[self, other])
    }
    fn multiply(self, other: Self) -> Self {
        Self::of(self.value * other.value, &[self, other])
    }
    fn divide(self, other: Self) -> Self {
        Self::of(self.value / other.value, &[self, other])
    }
    fn negate(self) -> Self {
        Self::of(-self.value, &[self])
    }
    fn power(self, exponent: Self) -> Self {
        Self::of(self.value.powf(exponent.value), &[self, exponent])
    }
    fn whole_power(self, exponent: i32) -> Self {
        Self::of(self.value.powi(exponent), &[self])
    }
    fn one(self, function: One) -> Self {
        let found = Self::of((function.value)(self.value), &[self]);
        match (function.is_smooth, function.is_even_kink) {
            (true, _) => found,
            (false, true) => found.on(u64::from(self.value < 0.0)),
            // A staircase is on its steps.
            (false, false) => found.on(found.value.to_bits()),
        }
    }
    fn two(self, function: Two, other: Self) -> Self {
        let found = Self::of(self.value.two(function, other.value), &[self, other]);
        match function {
            Two::Atan2 | Two::Hypot => found,
            Two::Max | Two::Min => found.on(u64::from(self.value < other.value)),
            Two::Mod => found.on((self.value / other.value).floor().to_bits()),
        }
    }
    fn select(condition: Self, yes: Self, no: Self) -> Self {
        let chosen = if condition.value != 0.0 { yes } else { no };
        Self::of(chosen.value, &[condition, chosen])
    }
    fn table(table: &Table, arguments: &[Self]) -> Self {
        let value = match arguments {
            [x] => table.at(x.value),
            [x, y, ..] => table.at_both(x.value, y.value),
            [] => f64::NAN,
        };
        let cells = arguments.iter().enumerate();
        let cells = cells.map(|(axis, argument)| table.cell(axis, argument.value) as u64);
        cells.fold(Self::of(value, arguments), Self::on)
    }
    fn truth(operands: &[Self], holds: bool) -> Self {
        Self::of(f64::from(u8::from(holds)), operands).on(u64::from(holds))
    }
}

#[cfg(test)]
mod tests {
    use crate::{Expression, Interpolation, Outside, Table};
    use std::sync::Arc;

    /// Sides change exactly where a law has a kink or a jump, and only in what is chosen.
    #[test]
    fn sides_change_at_kinks() {
        let law = Expression::parse("if(d > 0.1, 5*max(d, v), -abs(d))", &["d", "v"]).unwrap();
        let sides = |d: f64, v: f64| law.sides(&[d, v]);
        assert_eq!(sides(0.05, 1.0), sides(0.099, -3.0));
        assert_ne!(sides(0.05, 1.0), sides(-0.05, 1.0));
        assert_ne!(sides(0.05, 1.0), sides(0.2, 1.0));
        assert_ne!(sides(0.2, 1.0), sides(0.2, 0.1));
        assert_eq!(sides(0.2, 1.0), sides(0.9, 1.0));
        let smooth = Expression::parse("3*d^3 + sin(v)*exp(d)", &["d", "v"]).unwrap();
        assert_eq!(smooth.sides(&[1.0, 2.0]), smooth.sides(&[-7.0, 0.1]));
        let stairs = Expression::parse("floor(d) + clamp(v, -1, 1)", &["d", "v"]).unwrap();
        assert_eq!(stairs.sides(&[1.1, 0.0]), stairs.sides(&[1.9, 0.9]));
        assert_ne!(stairs.sides(&[1.1, 0.0]), stairs.sides(&[2.1, 0.0]));
        assert_ne!(stairs.sides(&[1.1, 0.0]), stairs.sides(&[1.1, 1.5]));
    }
    /// Straight lines have corners at their points, cubics only where they are held.
    #[test]
    fn tables_have_corners() {
        let of = |interpolation: Interpolation, outside: Outside| {
            let table = Table::new(&[0.0, 1.0, 2.0], &[0.0, 3.0, 4.0], interpolation, outside);
            let tables = [("map", Arc::new(table.unwrap()))];
            Expression::parse_with("2*map(d)", &["d"], &tables).unwrap()
        };
        let places = [-0.5, 0.5, 1.5, 2.5];
        let cases = [
            (Interpolation::Linear, Outside::Hold, [true, true, true]),
            (
                Interpolation::Linear,
                Outside::Extrapolate,
                [false, true, false],
            ),
            (Interpolation::Cubic, Outside::Hold, [true, false, true]),
            (Interpolation::Cubic, Outside::Extrapolate, [false; 3]),
        ];
        for (interpolation, outside, corners) in cases {
            let law = of(interpolation, outside);
            let changes = places
                .windows(2)
                .map(|pair| law.sides(&pair[..1]) != law.sides(&pair[1..]));
            let found: Vec<bool> = changes.collect();
            assert_eq!(found, corners, "{interpolation:?} {outside:?}");
        }
    }
}
