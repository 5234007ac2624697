//! Units of FMUs, and their way to SI.

use oldham_cosim::Unit;

/// Powers of kg, m, s, A, K, mol, cd and rad.
pub type Exponents = [i32; 8];

const NAMES: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

/// Symbols that ports use instead of products of powers.
const KNOWN: [(&str, Exponents); 8] = [
    ("N", [1, 1, -2, 0, 0, 0, 0, 0]),
    ("N.m", [1, 2, -2, 0, 0, 0, 0, 0]),
    ("N.m", [1, 2, -2, 0, 0, 0, 0, -1]),
    ("Pa", [1, -1, -2, 0, 0, 0, 0, 0]),
    ("W", [1, 2, -3, 0, 0, 0, 0, 0]),
    ("Hz", [0, 0, -1, 0, 0, 0, 0, 0]),
    ("V", [1, 2, -3, -1, 0, 0, 0, 0]),
    ("Ohm", [1, 2, -3, -2, 0, 0, 0, 0]),
];

/// A unit of SI: its symbol.
pub type SiUnit = Unit;

/// From a number in some unit to SI.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversion {
    /// The unit of SI.
    pub unit: SiUnit,
    /// SI = factor times the number plus offset.
    pub factor: f64,
    /// What is added.
    pub offset: f64,
}

impl Default for Conversion {
    fn default() -> Self {
        Self {
            unit: Unit::ONE,
            factor: 1.0,
            offset: 0.0,
        }
    }
}

impl Conversion {
    /// Of a unit that is given by its powers.
    pub fn new(exponents: &Exponents, factor: f64, offset: f64) -> Self {
        Self {
            unit: symbol(exponents),
            factor,
            offset,
        }
    }

    /// Of a unit of which only the name is known: taken for SI.
    pub fn named(name: &str) -> Self {
        let plain = name.replace(['*', '·'], ".").replace('²', "2");
        let unit = match plain.as_str() {
            "" | "-" | "1" => Unit::ONE,
            "Nm" => Unit::NEWTON_METRE,
            "m/s^2" => Unit::METRE_PER_SECOND2,
            "rad/s^2" => Unit::RADIAN_PER_SECOND2,
            _ => Unit(plain.into()),
        };
        Self {
            unit,
            ..Self::default()
        }
    }

    /// A number in SI.
    pub fn to_si(&self, value: f64) -> f64 {
        value * self.factor + self.offset
    }

    /// A number of SI in the unit of the FMU.
    pub fn from_si(&self, value: f64) -> f64 {
        (value - self.offset) / self.factor
    }
}

/// The symbol of a unit: a product of powers, those below zero behind a stroke.
fn symbol(exponents: &Exponents) -> Unit {
    if let Some((known, _)) = KNOWN.iter().find(|(_, known)| known == exponents) {
        return Unit((*known).into());
    }
    let power = |name: &str, exponent: i32| match exponent {
        1 => name.to_owned(),
        _ => format!("{name}{exponent}"),
    };
    // Radians first, as in rad/s.
    let order = [7, 0, 1, 2, 3, 4, 5, 6];
    let side = |sign: i32| {
        let there = order.iter().filter(|&&i| exponents[i] * sign > 0);
        let powers: Vec<String> = there
            .map(|&i| power(NAMES[i], exponents[i] * sign))
            .collect();
        powers.join(".")
    };
    let (above, below) = (side(1), side(-1));
    let text = match (above.is_empty(), below.is_empty()) {
        (true, true) => "1".to_owned(),
        (false, true) => above,
        (true, false) => format!("1/{below}"),
        (false, false) => format!("{above}/{below}"),
    };
    Unit(text.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_have_the_symbols_of_ports() {
        let unit = |exponents: Exponents| symbol(&exponents);
        assert_eq!(unit([0, 1, -1, 0, 0, 0, 0, 0]), Unit::METRE_PER_SECOND);
        assert_eq!(unit([0, 1, -2, 0, 0, 0, 0, 0]), Unit::METRE_PER_SECOND2);
        assert_eq!(unit([0, 0, -1, 0, 0, 0, 0, 1]), Unit::RADIAN_PER_SECOND);
        assert_eq!(unit([1, 1, -2, 0, 0, 0, 0, 0]), Unit::NEWTON);
        assert_eq!(unit([0; 8]), Unit::ONE);
        assert_eq!(unit([0, 3, -1, 0, 0, 0, 0, 0]).0, "m3/s");
    }

    #[test]
    fn degrees_celsius_are_shifted() {
        let celsius = Conversion::new(&[0, 0, 0, 0, 1, 0, 0, 0], 1.0, 273.15);
        assert_eq!(celsius.to_si(20.0), 293.15);
        assert_eq!(celsius.from_si(293.15), 20.0);
    }
}
