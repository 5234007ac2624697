//! Ranges of numbers, as the schema states them.

use serde_json::Value;

/// The bounds of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Range {
    /// The least, and whether it is possible itself.
    pub from: Option<(f64, bool)>,
    /// The largest, and whether it is possible itself.
    pub to: Option<(f64, bool)>,
}

impl Range {
    /// What a schema says about a number.
    pub fn of(schema: &Value) -> Self {
        let bound = |closed: &str, open: &str| {
            let closed = schema[closed].as_f64().map(|bound| (bound, true));
            closed.or(schema[open].as_f64().map(|bound| (bound, false)))
        };
        Self {
            from: bound("minimum", "exclusiveMinimum"),
            to: bound("maximum", "exclusiveMaximum"),
        }
    }

    pub fn holds(&self, value: f64) -> bool {
        let above = |(bound, closed): (f64, bool)| value > bound || (closed && value == bound);
        let below = |(bound, closed): (f64, bool)| value < bound || (closed && value == bound);
        self.from.is_none_or(above) && self.to.is_none_or(below)
    }

    /// What a number outside of it must do.
    pub fn demand(&self) -> String {
        match (self.from, self.to) {
            (Some((0.0, false)), None) => "must be positive".into(),
            (Some((0.0, true)), None) => "must not be negative".into(),
            (Some((from, _)), Some((to, _))) => format!("must lie between {from} and {to}"),
            (Some((from, true)), None) => format!("must be at least {from}"),
            (Some((from, false)), None) => format!("must be above {from}"),
            (None, Some((to, true))) => format!("must be at most {to}"),
            (None, Some((to, false))) => format!("must be below {to}"),
            (None, None) => "may be anything".into(),
        }
    }
}
