//! Names: which are valid, and where they stand in an expression.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::ops::Range;

/// Whether a subsystem, node, element or port may be called so.
pub(crate) fn is_name(text: &str) -> bool {
    let mut characters = text.chars();
    let starts = |c: char| c.is_ascii_alphabetic() || c == '_';
    characters.next().is_some_and(starts)
        && characters.all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Whether a parameter may be called so: a hyphen would read as a minus.
pub(crate) fn is_variable(text: &str) -> bool {
    is_name(text) && !text.contains('-')
}

/// What such names are made of.
pub(crate) const VARIABLES: &str = "a name has letters, digits and `_`, and starts with no digit";

/// The order of names that were written at one place: `p2` before `p10`.
pub(crate) fn natural_order(a: &str, b: &str) -> Ordering {
    let (mut a, mut b) = (a, b);
    loop {
        let (first, second) = (leading_number(a), leading_number(b));
        let order = match (first, second) {
            (Some((m, rest_a)), Some((n, rest_b))) => {
                (a, b) = (rest_a, rest_b);
                m.cmp(&n)
            }
            _ => {
                let (mut left, mut right) = (a.chars(), b.chars());
                let pair = (left.next(), right.next());
                (a, b) = (left.as_str(), right.as_str());
                if pair == (None, None) {
                    return Ordering::Equal;
                }
                pair.0.cmp(&pair.1)
            }
        };
        if order != Ordering::Equal {
            return order;
        }
    }
}

/// The whole number at the beginning of a text, and what follows it.
fn leading_number(text: &str) -> Option<(u64, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// The names in an expression that are no functions. Words that join conditions are among them, but
/// nothing is called so.
pub(crate) fn names(text: &str) -> impl Iterator<Item = &str> {
    places(text).map(|place| &text[place])
}

/// The expression with values put in for names.
pub(crate) fn replace(
    text: &str,
    values: &HashMap<&str, f64>,
    write: impl Fn(f64) -> String,
) -> String {
    let mut replaced = String::with_capacity(text.len());
    let mut done = 0;
    for place in places(text) {
        if let Some(&value) = values.get(&text[place.clone()]) {
            replaced.push_str(&text[done..place.start]);
            replaced.push_str(&write(value));
            done = place.end;
        }
    }
    replaced + &text[done..]
}

/// Where the names stand. A letter after a digit belongs to the number, as in `1e3`.
fn places(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let word = next_word(text, at)?;
            at = word.end;
            let starts_name = !text.as_bytes()[word.start].is_ascii_digit();
            let is_called = text[word.end..].trim_start().starts_with('(');
            if starts_name && !is_called {
                return Some(word);
            }
        }
    })
}

/// The next run of letters, digits and `_`.
fn next_word(text: &str, from: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let belongs = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let start = from + bytes[from..].iter().position(belongs)?;
    let length = bytes[start..].iter().position(|byte| !belongs(byte));
    Some(start..length.map_or(bytes.len(), |length| start + length))
}

/// Digits in a row that nobody reads.
const LONG_NUMBER: usize = 24;

/// Characters of a message that nobody reads to the end.
const LONG_MESSAGE: usize = 4000;

/// A message for people: numbers of very many digits with an exponent instead, and not without end.
pub fn readable(text: &str) -> String {
    let mut out = String::with_capacity(text.len().min(LONG_MESSAGE));
    let mut rest = text;
    let mut inside_word = false;
    while let Some(first) = rest.chars().next() {
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        let run = match first.is_ascii_digit() && !inside_word {
            true => rest.find(|c: char| !is_digit(c)).unwrap_or(rest.len()),
            false => 0,
        };
        let number = (run > LONG_NUMBER).then(|| rest[..run].trim_end_matches('.'));
        match number.and_then(|digits| Some((digits.len(), digits.parse::<f64>().ok()?))) {
            Some((length, value)) => {
                out += &format!("{value:e}");
                rest = &rest[length..];
            }
            None => {
                let length = run.max(first.len_utf8());
                out += &rest[..length];
                rest = &rest[length..];
            }
        }
        inside_word = out.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        if out.len() > LONG_MESSAGE {
            let cut = (0..=LONG_MESSAGE)
                .rev()
                .find(|&at| out.is_char_boundary(at));
            out.truncate(cut.unwrap_or(0));
            out += " …";
            break;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_between_numbers_and_functions() {
        let found: Vec<_> = names("sin(w*t) + 2e3*k_1 - max (1e-3, a)/b2").collect();
        assert_eq!(found, ["w", "t", "k_1", "a", "b2"]);
        assert_eq!(names("µ + 3").count(), 0);
        assert_eq!(names("").count(), 0);
    }

    #[test]
    fn numbers_in_names_are_counted() {
        let mut names = ["p10", "p2", "p1", "a3-10", "a3-9", "p"];
        names.sort_by(|a, b| natural_order(a, b));
        assert_eq!(names, ["a3-9", "a3-10", "p", "p1", "p2", "p10"]);
    }

    #[test]
    fn values_replace_whole_names_only() {
        let values = HashMap::from([("k", 2.0), ("exp", 3.0)]);
        let text = replace("k*kk + exp(k) + exp", &values, |value| format!("({value})"));
        assert_eq!(text, "(2)*kk + exp((2)) + (3)");
    }

    #[test]
    fn valid_names() {
        for name in ["a", "_a", "left-1", "X_2"] {
            assert!(is_name(name), "{name}");
        }
        for name in ["", "1a", "a.b", "a b", "ä", "-a"] {
            assert!(!is_name(name), "{name}");
        }
        assert!(!is_variable("left-1"));
    }
}
