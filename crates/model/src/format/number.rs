//! Numbers as they may be written: as such, or as an expression.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer};

use crate::range::Range;

/// A number or an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number as such.
    Number(f64),
    /// The text of an expression.
    Text(String),
}

/// A number that may be bounded by its type.
pub(crate) trait Number {
    /// The possible values.
    const RANGE: Range = Range::ANY;
    /// Why they are bounded, to be added to a message.
    const REASON: &str = "";
    /// What to do instead of a value outside.
    const REMEDY: &str = "";

    fn formula(&self) -> &Formula;
}

impl Number for Formula {
    fn formula(&self) -> &Formula {
        self
    }
}

/// Types of numbers with their bounds, which are part of the schema.
macro_rules! bounded {
    ($kind:literal: $($(#[$doc:meta])* $name:ident: $from:expr, $to:expr, $reason:literal, $remedy:literal;)*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Deserialize)]
        #[serde(transparent)]
        pub(crate) struct $name(Formula);

        impl Number for $name {
            const RANGE: Range = Range::new($from, $to);
            const REASON: &str = $reason;
            const REMEDY: &str = $remedy;

            fn formula(&self) -> &Formula {
                &self.0
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }
            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                let mut schema = json_schema!({ "type": [$kind, "string"] });
                schema.ensure_object().extend(Self::RANGE.keywords());
                schema
            }
        }
    )* };
}

bounded! { "number":
    /// Above zero.
    Positive: Some((0.0, false)), None, "", "give a number above 0";
    /// A mass in kg.
    Mass: Some((0.0, false)), None, ": it is a mass", "a point without mass is no node: leave it out and join what \
        holds it, or give it a small mass";
    /// Zero or above.
    NonNegative: Some((0.0, true)), None, "", "give 0 or a number above it";
    /// From zero to one.
    Fraction: Some((0.0, true)), Some((1.0, true)), "", "0 is one end, 1 the other; most models do with 0.5 to 0.9";
    /// Newton's coefficient of restitution.
    Restitution: Some((0.0, true)), Some((1.0, true)), "", "with 0 nothing rebounds, with 1 no energy is lost";
    /// Between zero and one.
    Tolerance: Some((0.0, false)), Some((1.0, false)), "", "a tolerance is a small number such as 1e-6";
    /// Poisson's ratio.
    Poisson: Some((-1.0, false)), Some((0.5, true)), "", "steel has 0.3, rubber nearly 0.5";
}

bounded! { "integer":
    /// One or more.
    Count: Some((1.0, true)), None, "", "";
    /// Integrator steps of a macro step, which is neither interrupted nor analysed in pieces.
    MicroSteps: Some((1.0, true)), Some((1e5, true)), "", "take a smaller simulation.step instead";
    /// Macro steps that a subsystem takes at once.
    Multiple: Some((1.0, true)), Some((1e4, true)), "", "take a larger simulation.step, and micro_steps for the others";
    /// Iterations of one step.
    Iterations: Some((1.0, true)), Some((1e5, true)), "", "what does not converge in some hundred iterations needs a \
        smaller step";
    /// Iterations that quasi-Newton remembers: it solves a dense system of them.
    Columns: Some((1.0, true)), Some((1e3, true)), "", "as many as there are coupling variables are enough";
    /// Corrections of one step.
    Corrections: Some((1.0, true)), Some((20.0, true)), "", "each further correction squares the residual: three reach \
        rounding errors";
    /// Communication points that a predictor learns from.
    Window: Some((1.0, true)), Some((1e5, true)), "", "most senders need fewer than a hundred";
    /// Earlier communication points that a learned model sees.
    Delays: Some((0.0, true)), Some((100.0, true)), "", "1 stands for a velocity that is not \
        exchanged";
}

struct FormulaVisitor;

impl Visitor<'_> for FormulaVisitor {
    type Value = Formula;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("a number or an expression")
    }
    fn visit_f64<E: Error>(self, number: f64) -> Result<Formula, E> {
        Ok(Formula::Number(number))
    }
    fn visit_i64<E: Error>(self, number: i64) -> Result<Formula, E> {
        Ok(Formula::Number(number as f64))
    }
    fn visit_u64<E: Error>(self, number: u64) -> Result<Formula, E> {
        Ok(Formula::Number(number as f64))
    }
    fn visit_str<E: Error>(self, text: &str) -> Result<Formula, E> {
        Ok(Formula::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Formula {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FormulaVisitor)
    }
}

impl JsonSchema for Formula {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> Cow<'static, str> {
        "Formula".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["number", "string"] })
    }
}
