//! Keys that may be left out, keys that exclude each other, and lists whose items are all looked at.

use oldham_expression::Expression;

use super::Checker;
use crate::format::{At, Formula, Number};
use crate::source::Span;

/// What is read of a key whose absence is told elsewhere.
pub(crate) fn read<'g, T, R>(
    given: &'g Option<At<T>>,
    read: impl FnOnce(&'g At<T>) -> Option<R>,
) -> Option<R> {
    read(given.as_ref()?)
}

/// What is read of a key, or what holds without it.
pub(crate) fn read_or<T, R>(
    given: &Option<At<T>>,
    default: R,
    read: impl FnOnce(&At<T>) -> Option<R>,
) -> Option<R> {
    match given {
        Some(at) => read(at),
        None => Some(default),
    }
}

/// What is read of a key, if it is there.
pub(crate) fn read_if<'g, T, R>(
    given: &'g Option<At<T>>,
    read: impl FnOnce(&'g At<T>) -> Option<R>,
) -> Option<Option<R>> {
    match given {
        Some(at) => read(at).map(Some),
        None => Some(None),
    }
}

/// All of them or nothing. Each is looked at, so that one mistake does not hide another.
pub(crate) fn all<T>(each: impl IntoIterator<Item = Option<T>>) -> Option<Vec<T>> {
    let each: Vec<Option<T>> = each.into_iter().collect();
    each.into_iter().collect()
}

impl Checker<'_> {
    /// A number whose absence is told elsewhere.
    pub(crate) fn required<T: Number>(&mut self, given: &Option<At<T>>) -> Option<f64> {
        read(given, |at| self.number(at))
    }

    pub(crate) fn number_or<T: Number>(
        &mut self,
        given: &Option<At<T>>,
        default: f64,
    ) -> Option<f64> {
        read_or(given, default, |at| self.number(at))
    }

    pub(crate) fn count_or<T: Number>(
        &mut self,
        given: &Option<At<T>>,
        default: u32,
    ) -> Option<u32> {
        read_or(given, default, |at| self.count(at))
    }

    /// The numbers of a list.
    pub(crate) fn list<T: Number>(&mut self, list: &[At<T>]) -> Option<Vec<f64>> {
        all(list.iter().map(|at| self.number(at)))
    }

    /// The numbers of lists in a list.
    pub(crate) fn rows(&mut self, rows: &[At<Vec<At<Formula>>>]) -> Option<Vec<Vec<f64>>> {
        all(rows.iter().map(|row| self.list(&row.value)))
    }

    /// So many expressions of some variables.
    pub(crate) fn expressions<const N: usize>(
        &mut self,
        list: &At<Vec<At<Formula>>>,
        variables: &[&str],
    ) -> Option<[Expression; N]> {
        let each = all(list.value.iter().map(|at| self.expression(at, variables)));
        if list.value.len() != N {
            let many = if N == 2 { "two" } else { "three" };
            let of = variables.join("` and `");
            let found = list.value.len();
            let message = format!("{many} expressions of `{of}` are needed, not {found}");
            self.report(&list.span, message);
            return None;
        }
        each?.try_into().ok()
    }

    /// One of several keys must be given; `what` begins and `things` ends the count of them.
    pub(crate) fn one_way(
        &mut self,
        table: &Span,
        ways: &[(&str, bool)],
        [what, things]: [&str; 2],
    ) -> Option<()> {
        let count = ways.iter().filter(|(_, is_given)| *is_given).count();
        if count == 1 {
            return Some(());
        }
        let message = format!("{what} {count} {things}; it must be one");
        let keys: Vec<String> = ways.iter().map(|(key, _)| format!("`{key}`")).collect();
        self.report_missing(table, message)
            .help(format!("one of {}", keys.join(", ")));
        None
    }

    /// Two keys that say the same thing: the second is one too many.
    pub(crate) fn not_both<A, B>(
        &mut self,
        (first, one): (&str, &Option<At<A>>),
        (second, other): (&str, &Option<At<B>>),
    ) -> Option<()> {
        let (Some(_), Some(other)) = (one, other) else {
            return Some(());
        };
        let message = format!("`{first}` and `{second}` say the same thing: give one of them");
        self.report(&other.span, message).label("one too many");
        None
    }

    /// A key that has no meaning here.
    pub(crate) fn unused<T>(&mut self, given: &Option<At<T>>, message: &str) {
        if let Some(given) = given {
            self.report(&given.span, message).label("not used");
        }
    }
}
