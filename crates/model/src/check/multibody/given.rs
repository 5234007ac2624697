//! Numbers given in time.

use std::f64::consts::TAU;
use std::sync::Arc;

use oldham_expression::Expression;
use oldham_multibody::{Direction, Drive, Measured, TimeFunction};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::read_or;
use crate::format::multibody::{Given, GivenTable, Pairs, Vector};
use crate::format::{At, Formula};
use crate::source::Span;
use crate::words;

/// Time is all that an expression may use.
const VARIABLES: [&str; 1] = ["t"];

/// An expression of time.
struct OfTime(Expression);

impl TimeFunction for OfTime {
    fn at(&self, t: f64) -> [f64; 3] {
        let jet = self.0.with_derivatives(0, &[t]);
        [jet.value, jet.first, jet.second]
    }

    fn side(&self, t: f64) -> u64 {
        self.0.sides(&[t])
    }

    fn may_jump(&self) -> bool {
        !self.0.is_smooth()
    }
}

impl Checker<'_> {
    pub(crate) fn drive_at(
        &mut self,
        given: &At<Given>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Drive> {
        self.drive_in_time(&given.value, &given.span, draft)
    }

    pub(crate) fn drive_in_time(
        &mut self,
        given: &Given,
        span: &Span,
        draft: &MechanismDraft<'_>,
    ) -> Option<Drive> {
        match given {
            Given::Formula(formula) => {
                let formula = At::new(formula.clone(), span);
                if let Some(measured) = self.measured_formula(&formula, draft)? {
                    return Some(measured);
                }
                self.formula_in_time(&formula)
            }
            Given::Table(table) => self.table_in_time(table, span, draft),
        }
    }

    fn formula_in_time(&mut self, formula: &At<Formula>) -> Option<Drive> {
        if let Formula::Text(text) = &formula.value
            && words::names(text).any(|name| VARIABLES.contains(&name))
        {
            let expression = self.expression(formula, &VARIABLES)?;
            return Some(Drive::differentiable(OfTime(expression)));
        }
        Some(Drive::Constant(self.number(formula)?))
    }

    fn table_in_time(
        &mut self,
        table: &GivenTable,
        span: &Span,
        draft: &MechanismDraft<'_>,
    ) -> Option<Drive> {
        let given = [
            ("ramp", table.ramp.is_some()),
            ("smooth_step", table.smooth_step.is_some()),
            ("sine", table.sine.is_some()),
            ("chirp", table.chirp.is_some()),
            ("table", table.table.is_some()),
            ("input", table.input.is_some()),
        ];
        if table.table.is_none() {
            self.unused(&table.of, "only a table is of a sensor");
        }
        let what = ["the time function is given in", "ways"];
        self.one_way(span, &given, what)?;
        if let Some(list) = &table.ramp {
            let [start, end, from, to] = self.transition(list)?;
            return Some(Drive::Ramp {
                start,
                end,
                from,
                to,
            });
        }
        if let Some(list) = &table.smooth_step {
            let [start, end, from, to] = self.transition(list)?;
            return Some(Drive::SmoothStep {
                start,
                end,
                from,
                to,
            });
        }
        if let Some(list) = &table.sine {
            let [mean, amplitude, frequency, phase] =
                self.numbers(list, "mean value, amplitude, frequency, phase")?;
            return Some(Drive::Sine {
                mean,
                amplitude,
                omega: TAU * frequency,
                phase,
            });
        }
        if let Some(list) = &table.chirp {
            let [amplitude, frequency, rate] =
                self.numbers(list, "amplitude, frequency, growth of the frequency")?;
            return Some(Drive::Chirp {
                amplitude,
                frequency,
                rate,
            });
        }
        if let Some(pairs) = &table.table {
            return self.table_of(pairs, &table.of, draft);
        }
        self.input_in_time(table.input.as_ref()?, draft)
    }

    /// A table of time, or of what a sensor measures.
    fn table_of(
        &mut self,
        pairs: &At<Pairs>,
        of: &Option<At<String>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Drive> {
        let Some(of) = of else {
            let points = self.rising_pairs(pairs, "time and value")?;
            return Some(Drive::Table(Arc::from(points)));
        };
        let points = self.rising_pairs(pairs, "reading and value");
        let reading = self.sensor_named(of, draft);
        let sensor = self.fed_back(&of.value, reading.as_ref(), &of.span)?;
        let points: Arc<[(f64, f64)]> = Arc::from(points?);
        let table = Drive::Table(points.clone());
        let value = move |values: &[f64]| table.value(values[1], &[]);
        let side = move |values: &[f64]| points.partition_point(|&(x, _)| x <= values[1]) as u64;
        let measured = Measured::new(vec![sensor], value).with_side(side);
        Some(Drive::Measured(measured))
    }

    fn transition(&mut self, list: &At<Vector>) -> Option<[f64; 4]> {
        let values: [f64; 4] = self.numbers(list, "start, end, first value, last value")?;
        if values[1] > values[0] {
            return Some(values);
        }
        let message = "the end must be later than the start";
        self.report(&list.span, message)
            .label("start, end, first value, last value");
        None
    }

    fn input_in_time(&mut self, name: &At<String>, draft: &MechanismDraft<'_>) -> Option<Drive> {
        if let Some(&component) = draft.scalars.get(name.value.as_str()) {
            return Some(Drive::Input(component));
        }
        self.unknown(name, "scalar input", draft.scalars.keys().copied())
            .or_help("give it in `inputs` as { scalar = \"<unit>\" }");
        None
    }

    /// Three components.
    pub(crate) fn drives_in_time(
        &mut self,
        given: &Option<At<Vec<At<Given>>>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<[Drive; 3]> {
        read_or(given, [Drive::ZERO; 3], |list| {
            self.three(list, |checker, at| checker.drive_at(at, draft))
        })
    }

    /// Three components of a total joint.
    pub(crate) fn directions_in_time(
        &mut self,
        given: &Option<At<Vec<At<Given>>>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<[Direction; 3]> {
        let direction = |checker: &mut Self, at: &At<Given>| match at.value.word() {
            Some("free") => Some(Direction::Free),
            Some("locked") => Some(Direction::Locked),
            _ => checker.drive_at(at, draft).map(Direction::Prescribed),
        };
        read_or(given, [const { Direction::Free }; 3], |list| {
            self.three(list, direction)
        })
    }

    /// Three rates of a total joint; nothing for those that are not prescribed.
    pub(crate) fn rates_in_time(
        &mut self,
        given: &Option<At<Vec<At<Given>>>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<[Option<Drive>; 3]> {
        let rate = |checker: &mut Self, at: &At<Given>| match at.value.word() {
            Some("free") => Some(None),
            _ => checker.drive_at(at, draft).map(Some),
        };
        read_or(given, [None, None, None], |list| self.three(list, rate))
    }
}
