//! What is wrong with a model, and where.

use std::collections::HashSet;
use std::fmt;

use crate::source::{Location, Source, Span};
use crate::words::readable;

/// Problems beyond this number are only counted.
pub const MAX_PROBLEMS: usize = 100;

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, as a sentence.
    pub message: String,
    /// Where.
    pub span: Span,
    /// What to write at the place itself; may be empty.
    pub label: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Problem {
    /// A problem at a place; the message is a sentence that says what is wrong.
    pub fn new(span: Span, message: impl Into<String>) -> Self {
        Self {
            message: readable(&message.into()),
            span,
            label: String::new(),
            help: None,
        }
    }

    /// What to write at the place itself.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        self.label = readable(&label.into());
        self
    }

    /// What to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(readable(&help.into()));
        self
    }

    /// Suggests one of `names` if one is near to `written`.
    pub(crate) fn suggest<'a>(
        self,
        written: &str,
        names: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        match crate::suggest::nearest(written, names) {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

/// Everything that is wrong with a model, in the order of the text, with the text.
#[derive(Clone, Debug)]
pub struct Problems {
    source: Source,
    problems: Vec<Problem>,
    /// Found beyond [`MAX_PROBLEMS`].
    unlisted: usize,
}

impl Problems {
    /// Problems of a text that another reader has found.
    pub fn of(source: &Source, problems: Vec<Problem>) -> Self {
        let mut findings = Findings::default();
        findings.extend(problems);
        findings.into_problems(source)
    }

    /// At most [`MAX_PROBLEMS`], in the order of the text.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Problem> {
        self.problems.iter()
    }

    /// How many more were found than are listed.
    pub fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// The text that has the problems.
    pub fn source(&self) -> &Source {
        &self.source
    }

    /// Where a problem is.
    pub fn locate(&self, problem: &Problem) -> Location<'_> {
        self.source.locate(&problem.span)
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{}: {}", self.locate(problem), problem.message)?;
            if let Some(help) = &problem.help {
                write!(f, "\n  help: {help}")?;
            }
        }
        match self.unlisted {
            0 => Ok(()),
            more => write!(f, "\nand {more} more"),
        }
    }
}

impl std::error::Error for Problems {}

/// Problems beyond this number are not even kept, so that a huge broken file stays cheap.
const MAX_KEPT: usize = 10 * MAX_PROBLEMS;

/// Collects problems while a model is checked.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    problems: Vec<Problem>,
    dropped: usize,
    /// One problem explains all that would follow.
    is_closed: bool,
    /// Tables from which something unreadable was taken away: that they now lack it is no news.
    damaged: HashSet<(usize, usize)>,
}

impl Findings {
    pub fn push(&mut self, problem: Problem) {
        if self.is_closed {
            return;
        }
        if self.problems.len() < MAX_KEPT {
            self.problems.push(problem);
        } else {
            self.dropped += 1;
        }
    }

    /// From now on this is the only problem, and what is found later is left out.
    pub fn replace_all(&mut self, problem: Problem) {
        self.problems = vec![problem];
        self.dropped = 0;
        self.is_closed = true;
    }

    /// Adds a problem at a place; the message is a sentence that says what is wrong. What is returned takes a label
    /// and help.
    pub fn report(&mut self, span: &Span, message: impl Into<String>) -> Reported<'_> {
        let kept = self.problems.len() < MAX_KEPT && !self.is_closed;
        self.push(Problem::new(span.clone(), message));
        Reported(self.problems.last_mut().filter(|_| kept))
    }

    /// The same for something that a table lacks: not reported if the table is damaged.
    pub fn report_missing(&mut self, table: &Span, message: impl Into<String>) -> Reported<'_> {
        match self.is_damaged(table) {
            true => Reported(None),
            false => self.report(table, message),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.problems.is_empty()
    }

    /// How many were found so far.
    pub fn len(&self) -> usize {
        self.problems.len() + self.dropped
    }

    /// Marks a table that lost something unreadable.
    pub fn damage(&mut self, table: &Span) {
        self.damaged.insert((table.start, table.end));
    }

    /// Whether a table lost something unreadable.
    pub fn is_damaged(&self, table: &Span) -> bool {
        self.damaged.contains(&(table.start, table.end))
    }

    /// Nothing, or all problems found.
    pub fn finish(self, source: &Source) -> Result<(), Problems> {
        if self.is_empty() {
            return Ok(());
        }
        Err(self.into_problems(source))
    }

    pub fn into_problems(mut self, source: &Source) -> Problems {
        self.problems
            .sort_by_key(|problem| (problem.span.start, problem.span.end));
        self.problems.dedup();
        let unlisted = self.dropped + self.problems.len().saturating_sub(MAX_PROBLEMS);
        self.problems.truncate(MAX_PROBLEMS);
        Problems {
            source: source.clone(),
            problems: self.problems,
            unlisted,
        }
    }
}

/// A problem that was just found, if it is kept.
pub(crate) struct Reported<'f>(Option<&'f mut Problem>);

impl Reported<'_> {
    /// What to write at the place itself.
    pub fn label(mut self, label: impl Into<String>) -> Self {
        if let Some(problem) = &mut self.0 {
            problem.label = readable(&label.into());
        }
        self
    }

    /// What to do about it.
    pub fn help(mut self, help: impl Into<String>) -> Self {
        if let Some(problem) = &mut self.0 {
            problem.help = Some(readable(&help.into()));
        }
        self
    }

    /// What to do about it, if nothing else was said and there is something to say.
    pub fn or_help(self, help: impl Into<String>) -> Self {
        let help = help.into();
        match &self.0 {
            Some(problem) if problem.help.is_none() && !help.is_empty() => self.help(help),
            _ => self,
        }
    }

    /// Suggests one of `names` if one is near to `written`.
    pub fn suggest<'a>(self, written: &str, names: impl IntoIterator<Item = &'a str>) -> Self {
        let nearest = self
            .0
            .is_some()
            .then(|| crate::suggest::nearest(written, names));
        match nearest.flatten() {
            Some(name) => self.help(format!("did you mean `{name}`?")),
            None => self,
        }
    }
}

impl Extend<Problem> for Findings {
    fn extend<I: IntoIterator<Item = Problem>>(&mut self, problems: I) {
        problems.into_iter().for_each(|problem| self.push(problem));
    }
}

impl From<Problem> for Findings {
    fn from(problem: Problem) -> Self {
        let mut findings = Self::default();
        findings.push(problem);
        findings
    }
}
