//! The functions and constants that a formula may use.

use std::f64::consts;

/// A function by its number of arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    One(fn(f64) -> f64),
    Two(fn(f64, f64) -> f64),
}

impl Function {
    pub(crate) fn arity(self) -> usize {
        match self {
            Self::One(_) => 1,
            Self::Two(_) => 2,
        }
    }
}

/// Names of all functions. `log` is the natural logarithm, like `ln`; `sgn(0)` is zero; `step` is
/// zero below zero and one from zero on.
pub const FUNCTIONS: [&str; 24] = [
    "abs", "acos", "asin", "atan", "atan2", "cbrt", "ceil", "cos", "cosh", "exp", "floor", "ln",
    "log", "log10", "max", "min", "sgn", "sign", "sin", "sinh", "sqrt", "step", "tan", "tanh",
];

/// Names of all constants.
pub(crate) const CONSTANTS: [&str; 2] = ["pi", "e"];

pub(crate) fn constant(name: &str) -> Option<f64> {
    match name {
        "pi" => Some(consts::PI),
        "e" => Some(consts::E),
        _ => None,
    }
}

pub(crate) fn function(name: &str) -> Option<Function> {
    use Function::{One, Two};
    Some(match name {
        "abs" => One(f64::abs),
        "acos" => One(f64::acos),
        "asin" => One(f64::asin),
        "atan" => One(f64::atan),
        "atan2" => Two(f64::atan2),
        "cbrt" => One(f64::cbrt),
        "ceil" => One(f64::ceil),
        "cos" => One(f64::cos),
        "cosh" => One(f64::cosh),
        "exp" => One(f64::exp),
        "floor" => One(f64::floor),
        "ln" | "log" => One(f64::ln),
        "log10" => One(f64::log10),
        "max" => Two(f64::max),
        "min" => Two(f64::min),
        "sgn" | "sign" => One(sign),
        "sin" => One(f64::sin),
        "sinh" => One(f64::sinh),
        "sqrt" => One(f64::sqrt),
        "step" => One(step),
        "tan" => One(f64::tan),
        "tanh" => One(f64::tanh),
        _ => return None,
    })
}

/// Unlike `f64::signum`, zero at zero: a spring law must vanish there.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

fn step(x: f64) -> f64 {
    if x < 0.0 { 0.0 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_listed_name_is_defined() {
        assert!(FUNCTIONS.iter().all(|name| function(name).is_some()));
        assert!(CONSTANTS.iter().all(|name| constant(name).is_some()));
    }
}
