//! Force laws and loads: expressions attached to the equations of motion.

use oldham_cosim::StepError;
use oldham_expression::Expression;
use oldham_space::work_from_zero;

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
    /// Every row, of nodes and of boundary nodes, on which the tension acts.
    pub receivers: Vec<Receiver>,
    /// Fraction of the energy that this subsystem accounts for.
    pub share: f64,
    pub uses_displacement: bool,
    pub uses_velocity: bool,
    pub uses_time: bool,
}

/// Half the stretch over which the slope is a secant where the law has none: at the vertical tangent
/// of a root.
const VERTICAL: f64 = 6e-9;

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

    /// Derivatives of the tension by elongation and by rate. Finite even where the law has a
    /// vertical tangent; zero where it gives NaN nearby.
    pub(crate) fn slopes(&self, d: f64, v: f64, t: f64) -> (f64, f64) {
        let by = |variable: usize, is_used: bool| match is_used {
            true => self.slope(variable, [d, v, t]),
            false => 0.0,
        };
        (by(0, self.uses_displacement), by(1, self.uses_velocity))
    }

    fn slope(&self, variable: usize, at: [f64; 3]) -> f64 {
        let slope = self.expression.derivative(variable, &at);
        if slope.is_finite() {
            return slope;
        }
        let beside = |side: f64| {
            let mut moved = at;
            moved[variable] += side * VERTICAL;
            self.expression.eval(&moved)
        };
        let secant = (beside(1.0) - beside(-1.0)) / (2.0 * VERTICAL);
        if secant.is_finite() { secant } else { 0.0 }
    }

    /// Work to stretch it slowly from zero, as it is at time zero.
    pub(crate) fn potential(&self, d: f64) -> f64 {
        let is_smooth = self.expression.is_smooth();
        work_from_zero(d, is_smooth, |s| self.expression.eval(&[s, 0.0, 0.0]))
    }

    /// Power brought in: what time has added to the tension since time zero, times the rate.
    pub(crate) fn supply(&self, d: f64, v: f64, t: f64) -> f64 {
        if self.uses_time {
            let added = self.expression.eval(&[d, 0.0, t]) - self.expression.eval(&[d, 0.0, 0.0]);
            -added * v
        } else {
            0.0
        }
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
            uses_time: expression.uses("t"),
            expression,
            ends: [0, 1],
            receivers: Vec::new(),
            share: 1.0,
        }
    }

    #[test]
    fn the_potential_of_roots_and_polynomials_is_exact() {
        for d in [-2.0_f64, 0.3, 5.0] {
            let root = law("3*sgn(d)*sqrt(abs(d))").potential(d);
            assert!((root - 2.0 * d.abs().powf(1.5)).abs() < 1e-13 * root);
            let cubic = law("2*d + 4*d^3").potential(d);
            assert!((cubic - (d * d + d.powi(4))).abs() < 1e-13 * cubic);
        }
    }

    #[test]
    fn the_potential_of_a_law_with_kinks_is_exact() {
        let stop = law("10*d + 1000*max(d - 0.37, 0)");
        for d in [0.3_f64, 0.5, 2.0] {
            let expected = 5.0 * d * d + 500.0 * (d - 0.37).max(0.0).powi(2);
            let found = stop.potential(d);
            assert!(
                (found - expected).abs() < 1e-9 * expected,
                "{found} {expected}"
            );
        }
    }

    /// The last points of the rule lie before a gap that is just closed: the whole tells nothing.
    #[test]
    fn the_potential_of_a_law_with_a_gap_is_exact_wherever_it_ends() {
        let gap = law("1000*deadzone(d, -0.05, 0.05)");
        for beyond in [1e-9_f64, 1e-4, 0.01, 1.0] {
            let expected = 500.0 * beyond * beyond;
            let found = gap.potential(0.05 + beyond);
            let force = 1000.0 * beyond * 0.05;
            assert!(
                (found - expected).abs() < 1e-9 * expected + 1e-12 * force,
                "{found:e} {expected:e}"
            );
        }
        assert_eq!(gap.potential(0.04), 0.0);
        assert!(law("sqrt(-d)*max(d, 0)").potential(1.0).is_nan());
    }

    #[test]
    fn slopes_are_those_of_the_closed_form() {
        let (by_d, by_v) = law("d^3 + 2*v*d").slopes(0.5, 3.0, 0.0);
        assert!((by_d - 6.75).abs() < 1e-14);
        assert!((by_v - 1.0).abs() < 1e-14);
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
