//! The functions and constants that a formula may use.

use std::f64::consts;

/// A function by its number of arguments.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Function {
    One(One),
    /// Two arguments exactly.
    Two(Two),
    /// Two or more, folded from the left.
    Fold(Two),
    Three(Three),
}

/// A function of one argument.
#[derive(Clone, Copy, Debug)]
pub(crate) struct One {
    pub value: fn(f64) -> f64,
    /// First and second derivative.
    pub derivatives: fn(f64) -> [f64; 2],
    /// Whether it is the absolute value, which has two slopes at zero.
    pub is_even_kink: bool,
    /// Whether it has kinks or jumps.
    pub is_smooth: bool,
}

/// A function of two arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Two {
    Atan2,
    Hypot,
    Max,
    Min,
    Mod,
}

/// A function of three arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Three {
    Clamp,
    DeadZone,
    If,
}

/// Names of all functions. `log` is the natural logarithm, like `ln`; `sgn(0)` is zero; `step` is
/// zero below zero and one from zero on; `mod` has the sign of its second argument;
/// `clamp(x, low, high)` limits x, `deadzone(x, low, high)` is what is left beyond the limits;
/// `if(condition, yes, no)` is one of two; `min` and `max` take two arguments or more.
pub const FUNCTIONS: [&str; 33] = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "clamp",
    "cos", "cosh", "deadzone", "exp", "floor", "hypot", "if", "ln", "log", "log10", "max", "min",
    "mod", "round", "sgn", "sign", "sin", "sinh", "sqrt", "step", "tan", "tanh",
];

/// Words that join conditions, and can be no names.
pub const KEYWORDS: [&str; 3] = ["and", "or", "not"];

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
    let smooth = |value: fn(f64) -> f64, derivatives: fn(f64) -> [f64; 2]| {
        Function::One(One {
            value,
            derivatives,
            is_even_kink: false,
            is_smooth: true,
        })
    };
    // Steps of a staircase have no slope.
    let staircase = |value: fn(f64) -> f64| {
        Function::One(One {
            value,
            derivatives: |_| [0.0; 2],
            is_even_kink: false,
            is_smooth: false,
        })
    };
    Some(match name {
        "abs" => Function::One(One {
            value: f64::abs,
            derivatives: |x| [sign(x), 0.0],
            is_even_kink: true,
            is_smooth: false,
        }),
        "acos" => smooth(f64::acos, |x| {
            let [first, second] = arcsine_derivatives(x);
            [-first, -second]
        }),
        "acosh" => smooth(f64::acosh, |x| {
            let root = (x * x - 1.0).sqrt();
            [1.0 / root, -x / (root * root * root)]
        }),
        "asin" => smooth(f64::asin, arcsine_derivatives),
        "asinh" => smooth(f64::asinh, |x| {
            let root = (x * x + 1.0).sqrt();
            [1.0 / root, -x / (root * root * root)]
        }),
        "atan" => smooth(f64::atan, |x| {
            let first = 1.0 / (1.0 + x * x);
            [first, -2.0 * x * first * first]
        }),
        "atanh" => smooth(f64::atanh, |x| {
            let first = 1.0 / (1.0 - x * x);
            [first, 2.0 * x * first * first]
        }),
        "cbrt" => smooth(f64::cbrt, |x| {
            let root = x.cbrt();
            let first = 1.0 / (3.0 * root * root);
            [first, -2.0 * first / (3.0 * x)]
        }),
        "ceil" => staircase(f64::ceil),
        "cos" => smooth(f64::cos, |x| [-x.sin(), -x.cos()]),
        "cosh" => smooth(f64::cosh, |x| [x.sinh(), x.cosh()]),
        "exp" => smooth(f64::exp, |x| [x.exp(); 2]),
        "floor" => staircase(f64::floor),
        "ln" | "log" => smooth(f64::ln, |x| [1.0 / x, -1.0 / (x * x)]),
        "log10" => smooth(f64::log10, |x| {
            let first = 1.0 / (x * consts::LN_10);
            [first, -first / x]
        }),
        "round" => staircase(f64::round),
        "sgn" | "sign" => staircase(sign),
        "sin" => smooth(f64::sin, |x| [x.cos(), -x.sin()]),
        "sinh" => smooth(f64::sinh, |x| [x.cosh(), x.sinh()]),
        "sqrt" => smooth(f64::sqrt, |x| {
            let root = x.sqrt();
            [0.5 / root, -0.25 / (root * x)]
        }),
        "step" => staircase(step),
        "tan" => smooth(f64::tan, |x| {
            let tan = x.tan();
            let first = 1.0 + tan * tan;
            [first, 2.0 * tan * first]
        }),
        "tanh" => smooth(f64::tanh, |x| {
            let tanh = x.tanh();
            let first = 1.0 - tanh * tanh;
            [first, -2.0 * tanh * first]
        }),
        "atan2" => Function::Two(Two::Atan2),
        "hypot" => Function::Two(Two::Hypot),
        "mod" => Function::Two(Two::Mod),
        "max" => Function::Fold(Two::Max),
        "min" => Function::Fold(Two::Min),
        "clamp" => Function::Three(Three::Clamp),
        "deadzone" => Function::Three(Three::DeadZone),
        "if" => Function::Three(Three::If),
        _ => return None,
    })
}

fn arcsine_derivatives(x: f64) -> [f64; 2] {
    let root = (1.0 - x * x).sqrt();
    [1.0 / root, x / (root * root * root)]
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
        assert!(FUNCTIONS.is_sorted());
        assert!(CONSTANTS.iter().all(|name| constant(name).is_some()));
    }
}
