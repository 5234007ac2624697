//! Ranges of numbers, as the schema states them.

use serde_json::{Map, Value};

/// The bounds of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Range {
    /// The least, and whether it is possible itself.
    pub from: Option<(f64, bool)>,
    /// The largest, and whether it is possible itself.
    pub to: Option<(f64, bool)>,
}

impl Range {
    /// Any number.
    pub const ANY: Self = Self {
        from: None,
        to: None,
    };

    /// From one bound to another, each possible itself or not.
    pub const fn new(from: Option<(f64, bool)>, to: Option<(f64, bool)>) -> Self {
        Self { from, to }
    }

    /// The same as a schema says it.
    pub fn keywords(&self) -> Map<String, Value> {
        let word = |bound: (f64, bool), words: [&str; 2]| {
            let word = words[usize::from(!bound.1)];
            (word.to_owned(), Value::from(bound.0))
        };
        let from = self
            .from
            .map(|bound| word(bound, ["minimum", "exclusiveMinimum"]));
        let to = self
            .to
            .map(|bound| word(bound, ["maximum", "exclusiveMaximum"]));
        from.into_iter().chain(to).collect()
    }

    /// The same in mathematical signs, to be written after a word.
    pub fn signs(&self) -> String {
        match (self.from, self.to) {
            (None, None) => String::new(),
            (Some((from, closed)), None) => format!(" {} {from}", ['>', '≥'][usize::from(closed)]),
            (None, Some((to, closed))) => format!(" {} {to}", ['<', '≤'][usize::from(closed)]),
            (Some((from, low)), Some((to, high))) => {
                let (open, close) = (["(", "["][usize::from(low)], [")", "]"][usize::from(high)]);
                format!(" in {open}{from}, {to}{close}")
            }
        }
    }

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
    pub fn requirement(&self) -> String {
        match (self.from, self.to) {
            (None, None) => "may be anything".into(),
            (Some((0.0, false)), None) => "must be positive".into(),
            (Some((0.0, true)), None) => "must not be negative".into(),
            (Some((from, _)), Some((to, _))) => format!("must lie between {from} and {to}"),
            (Some((from, true)), None) => format!("must be at least {from}"),
            (Some((from, false)), None) => format!("must be above {from}"),
            (None, Some((to, true))) => format!("must be at most {to}"),
            (None, Some((to, false))) => format!("must be below {to}"),
        }
    }
}
