//! Parameters, and the numbers and expressions made of them.

use std::collections::HashMap;
use std::sync::Arc;

use oldham_expression::{Expression, ExpressionError, KEYWORDS, Table};

use crate::format::{At, Formula, Named, Number};
use crate::problem::{Findings, Problem};
use crate::source::{Source, Span};
use crate::words;

/// Words with a meaning of their own in all expressions.
const RESERVED: [&str; 3] = ["t", "pi", "e"];
/// Words with a meaning of their own in laws of springs: parameters may be called so, but not be used there.
const OF_LAWS: [(&str, &str); 2] = [("d", "the elongation"), ("v", "its rate")];

/// A count differs from a whole number by at most this, from rounding in an expression.
const WHOLE: f64 = 1e-9;

/// Names that a message lists.
const MOST_NAMED: usize = 20;

/// The values of all parameters.
pub(crate) struct Parameters<'s> {
    source: &'s Source,
    /// Nothing for those that could not be computed.
    values: HashMap<String, Option<f64>>,
    /// Tables that expressions may call; nothing for those that could not be made.
    pub tables: Vec<(String, Option<Arc<Table>>)>,
}

impl<'s> Parameters<'s> {
    /// Computes all parameters, each after those that it depends on; some are given.
    pub fn evaluate(
        named: &Named<Formula>,
        given: &[(&str, f64)],
        source: &'s Source,
        findings: &mut Findings,
    ) -> Self {
        let mut parameters = Self {
            source,
            values: named.names().map(|name| (name.to_owned(), None)).collect(),
            tables: Vec::new(),
        };
        for entry in named {
            check_name(&entry.name, findings);
        }
        let dependencies = Dependencies::of(named);
        for index in dependencies.order() {
            let entry = &named.as_slice()[index];
            let known = given.iter().find(|(name, _)| *name == entry.name.value);
            let value = match known {
                Some((_, value)) => {
                    parameters.value(&Formula::Number(*value), &entry.value.span, findings)
                }
                None => parameters.number(&entry.value, findings),
            };
            parameters.values.insert(entry.name.value.clone(), value);
        }
        for cycle in dependencies.cycles() {
            findings.push(cycle_problem(named, &cycle));
        }
        parameters
    }

    /// All that could be computed, by name.
    pub fn known(&self) -> Vec<(String, f64)> {
        let values = self.values.iter();
        let mut known: Vec<_> = values
            .filter_map(|(name, value)| Some((name.clone(), (*value)?)))
            .collect();
        known.sort_by(|a, b| a.0.cmp(&b.0));
        known
    }

    /// The number that a formula gives; a problem if it gives none, or one that is not finite.
    pub fn number<T: Number>(&self, at: &At<T>, findings: &mut Findings) -> Option<f64> {
        let value = self.value(at.value.formula(), &at.span, findings)?;
        if T::RANGE.holds(value) {
            return Some(value);
        }
        let message = format!("the number {}{}", T::RANGE.requirement(), T::REASON);
        let reported = findings.report(&at.span, message);
        reported.label(format!("is {value}")).or_help(T::REMEDY);
        None
    }

    fn value(&self, formula: &Formula, span: &Span, findings: &mut Findings) -> Option<f64> {
        let value = match formula {
            Formula::Number(value) => *value,
            Formula::Text(text) => self.evaluated(text, span, findings)?,
        };
        if value.is_finite() {
            return Some(value);
        }
        let message = format!("a finite number is needed, this is {value}");
        findings.report(span, message).label(format!("is {value}"));
        None
    }

    /// The whole number that a formula gives.
    pub fn count<T: Number>(&self, count: &At<T>, findings: &mut Findings) -> Option<u32> {
        let value = self.value(count.value.formula(), &count.span, findings)?;
        let whole = value.round();
        let near = (value - whole).abs() <= WHOLE * whole.abs().max(1.0);
        let (least, _) = T::RANGE.from.unwrap_or_default();
        let most = T::RANGE.to.map_or(f64::from(u32::MAX), |(most, _)| most);
        if near && (least..=most).contains(&whole) {
            return Some(whole as u32);
        }
        let message = format!("a whole number from {least} to {most} is needed");
        let reported = findings.report(&count.span, message);
        reported.label(format!("is {value}")).or_help(T::REMEDY);
        None
    }

    /// An expression of `variables`, with the parameters put in.
    pub fn expression(
        &self,
        formula: &At<Formula>,
        variables: &[&str],
        findings: &mut Findings,
    ) -> Option<Expression> {
        let text = match &formula.value {
            Formula::Number(_) => {
                let value = self.number(formula, findings)?;
                return self.parse(&literal(value), &formula.span, &[], variables, findings);
            }
            Formula::Text(text) => text,
        };
        self.hidden_by_law(text, &formula.span, variables, findings)?;
        let used = self.used_parameters(text, variables);
        let known: Vec<_> = used.iter().map(|(name, _)| *name).collect();
        self.parse(text, &formula.span, &known, variables, findings)?;
        let values: Option<HashMap<_, _>> = used
            .into_iter()
            .map(|(name, value)| Some((name, value?)))
            .collect();
        let bound = words::replace(text, &values?, literal);
        self.parse(&bound, &formula.span, &[], variables, findings)
    }

    /// Reports a parameter that a law of springs hides.
    fn hidden_by_law(
        &self,
        text: &str,
        span: &Span,
        variables: &[&str],
        findings: &mut Findings,
    ) -> Option<()> {
        for (word, meaning) in OF_LAWS {
            let is_hidden = variables.contains(&word) && self.values.contains_key(word);
            if is_hidden && words::names(text).any(|name| name == word) {
                let message =
                    format!("`{word}` is {meaning} here, and a parameter has the same name");
                findings
                    .report(span, message)
                    .help("give the parameter another name");
                return None;
            }
        }
        Some(())
    }

    fn evaluated(&self, text: &str, span: &Span, findings: &mut Findings) -> Option<f64> {
        let used = self.used_parameters(text, &[]);
        let (names, values): (Vec<_>, Vec<_>) = used.into_iter().unzip();
        let expression = self.parse(text, span, &names, &[], findings)?;
        let values: Option<Vec<f64>> = values.into_iter().collect();
        Some(expression.eval(&values?))
    }

    /// The parameters that occur in a text, apart from those that a variable hides.
    fn used_parameters<'t>(
        &self,
        text: &'t str,
        variables: &[&str],
    ) -> Vec<(&'t str, Option<f64>)> {
        let mut used: Vec<(&str, Option<f64>)> = Vec::new();
        for name in words::names(text).filter(|name| !variables.contains(name)) {
            if let Some(&value) = self.values.get(name)
                && used.iter().all(|(other, _)| *other != name)
            {
                used.push((name, value));
            }
        }
        used
    }

    fn parse(
        &self,
        text: &str,
        span: &Span,
        parameters: &[&str],
        variables: &[&str],
        findings: &mut Findings,
    ) -> Option<Expression> {
        let all: Vec<&str> = variables.iter().chain(parameters).copied().collect();
        let known = self.tables.iter();
        let known = known.filter_map(|(name, table)| Some((name.as_str(), table.clone()?)));
        match Expression::parse_with(text, &all, &known.collect::<Vec<_>>()) {
            Ok(expression) => Some(expression),
            // Told where the table is.
            Err(ExpressionError::UnknownFunction { name, .. }) if self.is_broken_table(&name) => {
                None
            }
            Err(error) => {
                self.report(text, span, variables, &error, findings);
                None
            }
        }
    }

    fn is_broken_table(&self, name: &str) -> bool {
        let mut tables = self.tables.iter();
        tables.any(|(known, table)| known == name && table.is_none())
    }

    fn report(
        &self,
        text: &str,
        span: &Span,
        variables: &[&str],
        error: &ExpressionError,
        findings: &mut Findings,
    ) {
        let at = |position: usize, length: usize| self.place_in(text, span, position, length);
        match error {
            ExpressionError::UnknownVariable { name, position, .. } => {
                let message =
                    format!("`{name}` is no parameter and no variable of this expression");
                let place = at(*position, name.chars().count());
                let mut known: Vec<&str> = self.values.keys().map(String::as_str).collect();
                known.sort_unstable();
                let known = || variables.iter().chain(&known).copied();
                let reported = findings.report(&place, message).label("unknown name");
                let reported = reported.suggest(name, known());
                match known().count() {
                    0 => reported.or_help("give it in [parameters]"),
                    1..=MOST_NAMED => {
                        let names = known().collect::<Vec<_>>().join(", ");
                        reported.or_help(format!("known here are {names}"))
                    }
                    _ => reported,
                };
            }
            ExpressionError::UnknownFunction {
                name,
                position,
                allowed,
            } => {
                let message = format!("there is no function `{name}`");
                findings
                    .report(&at(*position, name.chars().count()), message)
                    .label("unknown function")
                    .help(format!("the functions are {}", allowed.join(", ")))
                    .suggest(name, allowed.iter().map(String::as_str));
            }
            ExpressionError::TooDeep { position, .. }
            | ExpressionError::UnexpectedCharacter { position, .. }
            | ExpressionError::BadNumber { position, .. }
            | ExpressionError::Unexpected { position, .. }
            | ExpressionError::SingleEquals { position }
            | ExpressionError::ChainedComparison { position }
            | ExpressionError::WrongArgumentCount { position, .. } => {
                let problem = Problem::new(at(*position, 1), error.to_string()).label("here");
                let comma = "decimals have a point, not a comma: 2.0e4";
                let help = has_decimal_comma(text).then_some(comma).or(error.help());
                findings.push(match help {
                    Some(help) => problem.help(help),
                    None => problem,
                });
            }
            ExpressionError::Empty
            | ExpressionError::TooLong { .. }
            | ExpressionError::UnexpectedEnd { .. } => {
                findings.report(span, error.to_string()).label("expression");
            }
        }
    }

    /// The place of some characters of a text that was written at `span`; positions count from
    /// one. Where the text was written with escapes, the whole of it.
    fn place_in(&self, text: &str, span: &Span, position: usize, length: usize) -> Span {
        let written = self.source.slice(span.clone());
        let quoted = |quote: char| {
            let inner = written.strip_prefix(quote)?.strip_suffix(quote)?;
            (inner == text).then_some(1)
        };
        let plain = (written == text).then_some(0);
        let Some(quote) = plain.or_else(|| quoted('"')).or_else(|| quoted('\'')) else {
            return span.clone();
        };
        let offset = |characters: usize| {
            let place = text.char_indices().nth(characters);
            place.map_or(text.len(), |(offset, _)| offset)
        };
        let first = position.saturating_sub(1);
        let start = span.start + quote;
        start + offset(first)..start + offset(first + length)
    }
}

/// Whether a text looks like a number with a decimal comma.
fn has_decimal_comma(text: &str) -> bool {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok();
    text.matches(',').count() == 1 && !is_number(text) && is_number(&text.replace(',', "."))
}

fn check_name(name: &At<String>, findings: &mut Findings) {
    if !words::is_variable(&name.value) {
        let message = format!("`{}` cannot be the name of a parameter", name.value);
        findings
            .report(&name.span, message)
            .label("not a name")
            .help(words::VARIABLES);
    }
    if RESERVED
        .iter()
        .chain(&KEYWORDS)
        .any(|word| *word == name.value)
    {
        let message = format!("`{}` has another meaning in expressions", name.value);
        let taken: Vec<&str> = RESERVED.into_iter().chain(KEYWORDS).collect();
        findings
            .report(&name.span, message)
            .label("choose another name")
            .help(format!("taken are {}", taken.join(", ")));
    }
}

/// A number as an expression that gives the same bits.
fn literal(value: f64) -> String {
    format!("({value:e})")
}

fn cycle_problem(named: &Named<Formula>, cycle: &[usize]) -> Problem {
    let entries = named.as_slice();
    let first = &entries[cycle[0]];
    let names = cycle.iter().chain(&cycle[..1]);
    let names: Vec<_> = names.map(|&i| entries[i].name.value.as_str()).collect();
    let message = format!("parameters depend on each other: {}", names.join(" -> "));
    Problem::new(first.value.span.clone(), message).label("leads back to itself")
}

/// Which parameter needs which, by their places.
struct Dependencies(Vec<Vec<usize>>);

impl Dependencies {
    fn of(named: &Named<Formula>) -> Self {
        let places: HashMap<&str, usize> = named.names().zip(0..).collect();
        let needs = |formula: &Formula| match formula {
            Formula::Number(_) => Vec::new(),
            Formula::Text(text) => {
                let used = words::names(text).filter_map(|name| places.get(name));
                let mut needs: Vec<usize> = used.copied().collect();
                needs.sort_unstable();
                needs.dedup();
                needs
            }
        };
        Self(
            named
                .iter()
                .map(|entry| needs(&entry.value.value))
                .collect(),
        )
    }

    /// All that depend on no cycle, each after what it needs.
    fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.0.iter().map(Vec::len).collect();
        let mut needed_by = vec![Vec::new(); self.0.len()];
        for (index, needs) in self.0.iter().enumerate() {
            for &need in needs {
                needed_by[need].push(index);
            }
        }
        let free = |&index: &usize| missing[index] == 0;
        let mut order: Vec<usize> = (0..self.0.len()).filter(free).collect();
        let mut next = 0;
        while let Some(&done) = order.get(next) {
            next += 1;
            for &index in &needed_by[done] {
                missing[index] -= 1;
                if missing[index] == 0 {
                    order.push(index);
                }
            }
        }
        order
    }

    /// At least one cycle, if there is any.
    fn cycles(&self) -> Vec<Vec<usize>> {
        let mut marks = vec![Mark::New; self.0.len()];
        for index in self.order() {
            marks[index] = Mark::Done;
        }
        let walks = (0..self.0.len()).filter_map(|start| self.walk(start, &mut marks));
        walks.collect()
    }

    /// Goes from need to need until the way closes or leads to where an earlier one went.
    fn walk(&self, start: usize, marks: &mut [Mark]) -> Option<Vec<usize>> {
        let mut way = Vec::new();
        let mut next = (marks[start] == Mark::New).then_some(start);
        while let Some(at) = next.filter(|&at| marks[at] == Mark::New) {
            marks[at] = Mark::OnWay;
            way.push(at);
            let need = |mark| self.0[at].iter().find(|&&need| marks[need] == mark);
            next = need(Mark::OnWay).or_else(|| need(Mark::New)).copied();
        }
        for &index in &way {
            marks[index] = Mark::Done;
        }
        let closes = way.iter().position(|&index| Some(index) == next)?;
        Some(way.split_off(closes))
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    OnWay,
    Done,
}
