//! Force laws and loads: expressions attached to the equations of motion.

use oldham_cosim::StepError;
use oldham_expression::Expression;

/// A row of the equations that takes up a force, and the sign with which it does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Receiver {
    pub row: usize,
    pub sign: f64,
}

/// A nonlinear spring between two places.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    pub name: String,
    pub expression: Expression,
    /// Slots of first and second end.
    pub ends: [usize; 2],
    /// Every row, of nodes and of ghosts, on which the tension acts.
    pub receivers: Vec<Receiver>,
    /// Fraction of the energy that this subsystem accounts for.
    pub share: f64,
    pub uses_displacement: bool,
    pub uses_velocity: bool,
}

/// Relative step of central differences: the cube root of the rounding error.
const DIFFERENCE: f64 = 6e-6;
/// The difference is relative to the elongation or rate, which resolves the steep slope of a root
/// near zero; where it is lost in rounding, to this scale at least.
const FALLBACK_SCALE: f64 = 1e-3;
/// A difference less than this many rounding errors of the tension is lost.
const LOST_DIGITS: f64 = 1e4;

impl Law {
    /// Elongation and its rate.
    pub(crate) fn stretch(&self, x: &[f64], v: &[f64]) -> (f64, f64) {
        let [a, b] = self.ends;
        (x[b] - x[a], v[b] - v[a])
    }

    /// The tension.
    pub(crate) fn tension(&self, d: f64, v: f64, t: f64) -> Result<f64, StepError> {
        let tension = self.expression.eval(&[d, v, t]);
        if tension.is_finite() {
            Ok(tension)
        } else {
            Err(self.not_finite(tension, d, v, t))
        }
    }

    #[cold]
    fn not_finite(&self, value: f64, d: f64, v: f64, t: f64) -> StepError {
        StepError::NotFinite {
            law: self.name.clone(),
            value,
            at: format!("d = {d}, v = {v}, t = {t}"),
        }
    }

    /// Derivatives of the tension by elongation and by rate, by central differences. Finite even
    /// where the law has an infinite slope; zero where it gives NaN nearby.
    pub(crate) fn slopes(&self, d: f64, v: f64, t: f64) -> (f64, f64) {
        let by_displacement = if self.uses_displacement {
            central_difference(d, |d| self.expression.eval(&[d, v, t]))
        } else {
            0.0
        };
        let by_velocity = if self.uses_velocity {
            central_difference(v, |v| self.expression.eval(&[d, v, t]))
        } else {
            0.0
        };
        (by_displacement, by_velocity)
    }

    /// Work to stretch it slowly from zero. With s = d u^2 the integrand stays smooth for laws
    /// that begin like a square root.
    pub(crate) fn potential(&self, d: f64, t: f64) -> f64 {
        let at = |u: f64| self.expression.eval(&[d * u * u, 0.0, t]) * 2.0 * d * u;
        let pairs = GAUSS.iter();
        pairs
            .map(|&(node, weight)| {
                let half = 0.5 * node;
                0.5 * weight * (at(0.5 - half) + at(0.5 + half))
            })
            .sum()
    }

    /// Power lost in it: what the rate adds to the tension, times the rate.
    pub(crate) fn dissipation(&self, d: f64, v: f64, t: f64) -> f64 {
        if self.uses_velocity {
            let change = self.expression.eval(&[d, v, t]) - self.expression.eval(&[d, 0.0, t]);
            change * v
        } else {
            0.0
        }
    }
}

fn central_difference(at: f64, function: impl Fn(f64) -> f64) -> f64 {
    let mut slope = 0.0;
    for scale in [at.abs(), at.abs().max(FALLBACK_SCALE)] {
        let step = DIFFERENCE * scale;
        let (above, below) = (at + step, at - step);
        let (high, low) = (function(above), function(below));
        slope = (high - low) / (above - below);
        let rounding = f64::EPSILON * (high.abs() + low.abs());
        if (high - low).abs() > LOST_DIGITS * rounding {
            break;
        }
    }
    if slope.is_finite() { slope } else { 0.0 }
}

/// Positive nodes and weights of the 8-point Gauss–Legendre rule on (-1, 1).
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

/// A force given in time.
#[derive(Clone, Debug)]
pub(crate) struct Load {
    pub name: String,
    pub expression: Expression,
    /// Slot of the node it acts on.
    pub slot: usize,
    /// Every row on which it acts.
    pub receivers: Vec<Receiver>,
    /// Fraction of the energy that this subsystem accounts for.
    pub share: f64,
}

impl Load {
    /// The force.
    pub(crate) fn force(&self, t: f64) -> Result<f64, StepError> {
        let force = self.expression.eval(&[t]);
        if force.is_finite() {
            Ok(force)
        } else {
            Err(StepError::NotFinite {
                law: self.name.clone(),
                value: force,
                at: format!("t = {t}"),
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::LAW_VARIABLES;

    fn law(text: &str) -> Law {
        let expression = Expression::parse(text, &LAW_VARIABLES).unwrap();
        Law {
            name: text.to_owned(),
            uses_displacement: expression.uses("d"),
            uses_velocity: expression.uses("v"),
            expression,
            ends: [0, 1],
            receivers: Vec::new(),
            share: 1.0,
        }
    }

    #[test]
    fn the_potential_of_roots_and_polynomials_is_exact() {
        for d in [-2.0_f64, 0.3, 5.0] {
            let root = law("3*sgn(d)*sqrt(abs(d))").potential(d, 0.0);
            assert!((root - 2.0 * d.abs().powf(1.5)).abs() < 1e-13 * root);
            let cubic = law("2*d + 4*d^3").potential(d, 0.0);
            assert!((cubic - (d * d + d.powi(4))).abs() < 1e-13 * cubic);
        }
    }

    #[test]
    fn slopes_are_those_of_the_closed_form() {
        let (by_d, by_v) = law("d^3 + 2*v*d").slopes(0.5, 3.0, 0.0);
        assert!((by_d - 6.75).abs() < 1e-8);
        assert!((by_v - 1.0).abs() < 1e-8);
    }

    #[test]
    fn the_slope_of_a_root_at_zero_is_large_and_finite() {
        let (by_d, by_v) = law("sgn(d)*sqrt(abs(d))").slopes(0.0, 0.0, 0.0);
        assert!(by_d > 1e3 && by_d.is_finite());
        assert_eq!(by_v, 0.0);
    }

    #[test]
    fn a_law_without_a_number_is_named() {
        let error = law("1/d").tension(0.0, 0.0, 0.0).unwrap_err();
        assert!(error.to_string().contains("1/d"), "{error}");
    }
}
