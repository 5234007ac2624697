//! Names and numbers put in for `{...}` in templates and repetitions.
//!
//! `{name}` stands for the value of a name. As the whole of a string it is the value itself, with its
//! place; within a string it is its text, in parentheses where it is an expression. `{i + 1}` is computed
//! from the numbers among the names. `{{` and `}}` are braces.

use oldham_expression::Expression;
use toml::de::DeValue;

use crate::problem::Problem;
use crate::source::Span;
use crate::tree::Value;
use crate::words;

/// The names that can be put in; later ones hide earlier ones of the same name.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope<'i> {
    names: Vec<(String, Value<'i>)>,
}

/// What a string becomes.
pub(super) enum Filled<'i> {
    /// It has nothing to put in.
    Same,
    Text(String),
    /// It was nothing but the name of a value.
    Value(Value<'i>),
}

/// A piece of a string.
enum Piece<'t> {
    Text(&'t str),
    Brace(char),
    /// Between braces.
    Inside(&'t str),
}

impl<'i> Scope<'i> {
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    pub fn add(&mut self, name: String, value: Value<'i>) {
        self.names.push((name, value));
    }

    /// The same with more names.
    pub fn with(&self, more: impl IntoIterator<Item = (String, Value<'i>)>) -> Self {
        let mut scope = self.clone();
        scope.names.extend(more);
        scope
    }

    /// Puts values into a string that was written at a place.
    pub fn fill(&self, text: &str, span: &Span) -> Result<Filled<'i>, Problem> {
        if self.is_empty() || !text.contains(['{', '}']) {
            return Ok(Filled::Same);
        }
        let pieces = pieces(text).map_err(|message| {
            let problem = Problem::new(span.clone(), message).label("here");
            problem.help("a brace as such is written twice: `{{` and `}}`")
        })?;
        if let [Piece::Inside(name)] = pieces[..]
            && let Some(value) = self.value(name.trim())
        {
            return Ok(Filled::Value(value.clone()));
        }
        let around: String = pieces
            .iter()
            .map(|piece| match piece {
                Piece::Text(text) => text,
                _ => "",
            })
            .collect();
        let mut filled = String::new();
        for piece in &pieces {
            match piece {
                Piece::Text(text) => filled += text,
                Piece::Brace(brace) => filled.push(*brace),
                Piece::Inside(inside) => {
                    let value = self.text(inside.trim(), span)?;
                    match needs_parentheses(&value, &around) {
                        true => filled += &format!("({value})"),
                        false => filled += &value,
                    }
                }
            }
        }
        Ok(Filled::Text(filled))
    }

    /// The value of a name, or of a key of a table: `wheel.side`.
    fn value(&self, name: &str) -> Option<&Value<'i>> {
        let mut keys = name.split('.');
        let first = keys.next()?;
        let (_, value) = self.names.iter().rev().find(|(known, _)| known == first)?;
        keys.try_fold(value, |value, key| value.get_ref().as_table()?.get(key))
    }

    /// What is put in for a name or an expression.
    fn text(&self, inside: &str, span: &Span) -> Result<String, Problem> {
        if let Some(value) = self.value(inside) {
            return text_of(value.get_ref()).ok_or_else(|| {
                let message = format!("`{inside}` is a list or a table: it cannot stand in a text");
                let problem = Problem::new(span.clone(), message).label("here");
                problem.help(format!("let the whole string be \"{{{inside}}}\""))
            });
        }
        let numbers: Vec<(&str, f64)> = self
            .names
            .iter()
            .filter_map(|(name, value)| Some((name.as_str(), number_of(value.get_ref())?)))
            .collect();
        let number = self.number(inside, &numbers);
        number.map(written).ok_or_else(|| {
            let unknown = words::names(inside).find(|name| self.value(name).is_none());
            let known: Vec<&str> = self.names.iter().map(|(name, _)| name.as_str()).collect();
            let message = match unknown {
                Some(name) => format!("there is nothing called `{name}` to put in"),
                None => format!("`{inside}` is no name and no expression of numbers"),
            };
            let problem = Problem::new(span.clone(), message).label("unknown");
            let help = format!("known here are {}", known.join(", "));
            problem.help(help).suggest(unknown.unwrap_or(inside), known)
        })
    }

    fn number(&self, text: &str, numbers: &[(&str, f64)]) -> Option<f64> {
        // A name that hides another comes later: the last one of each.
        let mut names: Vec<&str> = Vec::new();
        let mut values = Vec::new();
        for (name, value) in numbers.iter().rev() {
            if !names.contains(name) {
                names.push(name);
                values.push(*value);
            }
        }
        let value = Expression::parse(text, &names).ok()?.eval(&values);
        value.is_finite().then_some(value)
    }

    /// The numbers among the names.
    pub fn numbers(&self) -> impl Iterator<Item = (&str, f64)> {
        let all = self.names.iter();
        all.filter_map(|(name, value)| Some((name.as_str(), number_of(value.get_ref())?)))
    }
}

fn pieces(text: &str) -> Result<Vec<Piece<'_>>, String> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['{', '}']) {
        if at > 0 {
            pieces.push(Piece::Text(&rest[..at]));
        }
        let brace = rest[at..].chars().next().unwrap_or('{');
        let after = &rest[at + 1..];
        if after.starts_with(brace) {
            pieces.push(Piece::Brace(brace));
            rest = &after[1..];
            continue;
        }
        if brace == '}' {
            return Err("a closing brace without an opening one".into());
        }
        let Some(end) = after.find('}') else {
            return Err("an opening brace without a closing one".into());
        };
        pieces.push(Piece::Inside(&after[..end]));
        rest = &after[end + 1..];
    }
    if !rest.is_empty() {
        pieces.push(Piece::Text(rest));
    }
    Ok(pieces)
}

fn text_of(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.as_str().to_owned()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// The number that a value is, also as a string.
pub(super) fn number_of(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Boolean(_) => None,
        other => text_of(other)?.replace('_', "").parse().ok(),
    }
}

/// A number as one would write it.
pub(super) fn written(number: f64) -> String {
    // Adding zero makes minus zero plain.
    format!("{}", number + 0.0)
}

/// Whether a value would mean something else without parentheses: an expression within an expression.
fn needs_parentheses(value: &str, around: &str) -> bool {
    let is_plain = |text: &str| {
        let belongs = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        text.chars().all(belongs)
    };
    let has_operators =
        |text: &str| text.contains(['+', '*', '/', '^', '(']) || text.contains("- ");
    // A minus without a blank after it may belong to a name, but not at the beginning of a value.
    let is_expression = value.starts_with('-') || has_operators(value) || has_operators(around);
    !is_plain(value) && is_expression
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(names: &[(&'static str, &'static str)]) -> Scope<'static> {
        let mut scope = Scope::default();
        for (name, value) in names {
            scope.add((*name).to_owned(), DeValue::parse(value).unwrap());
        }
        scope
    }

    fn filled(names: &[(&'static str, &'static str)], text: &str) -> String {
        match scope(names).fill(text, &(0..0)) {
            Ok(Filled::Same) => text.to_owned(),
            Ok(Filled::Text(text)) => text,
            Ok(Filled::Value(value)) => format!("value {:?}", text_of(value.get_ref())),
            Err(problem) => format!("{} {}", problem.message, problem.help.unwrap_or_default()),
        }
    }

    #[test]
    fn names_numbers_and_expressions_are_put_in() {
        let names = [
            ("i", "3"),
            ("side", "'front-left'"),
            ("k", "'a + b'"),
            ("c", "-2"),
        ];
        let cases = [
            ("p{i}", "p3"),
            ("p{i - 1}.x", "p2.x"),
            ("p{2 * (i + 1)}", "p8"),
            ("{side}-hub", "front-left-hub"),
            ("2 * {k}", "2 * (a + b)"),
            ("{i} - {k}", "3 - (a + b)"),
            ("{k}", "value Some(\"a + b\")"),
            ("1 + {c} * x", "1 + (-2) * x"),
            ("{{i}}", "{i}"),
            ("({i} - 0.5) * l", "(3 - 0.5) * l"),
            ("nothing", "nothing"),
        ];
        for (text, expected) in cases {
            assert_eq!(filled(&names, text), expected, "{text}");
        }
    }

    #[test]
    fn tables_give_their_keys() {
        let names = [("wheel", "{ side = 'left', y = 0.7 }")];
        assert_eq!(filled(&names, "{wheel.side}-hub"), "left-hub");
        assert_eq!(filled(&names, "{wheel.y}"), "value Some(\"0.7\")");
        assert!(filled(&names, "a {wheel}").contains("cannot stand in a text"));
    }

    #[test]
    fn what_cannot_be_put_in_is_named() {
        let names = [("index", "3")];
        assert!(filled(&names, "p{indx}").contains("did you mean `index`?"));
        assert!(filled(&names, "p{zzz}").contains("known here are index"));
        assert!(filled(&names, "p{index").contains("without a closing one"));
        assert!(filled(&names, "p}").contains("without an opening one"));
        assert_eq!(filled(&[], "{untouched}"), "{untouched}");
    }
}
