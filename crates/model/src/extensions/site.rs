//! What the constructors of extensions may ask for.

use std::path::{Path, PathBuf};

use oldham_expression::Expression;
use oldham_multibody::{Drive, Model, NodeId};

use super::settings::Settings;
use crate::format::{At, Formula, TimeFunction};
use crate::mechanism::Outline;
use crate::problem::Problem;
use crate::source::Span;

/// The checks of a model, as far as all extensions need them.
pub(crate) trait Reports {
    fn report(&mut self, problem: Problem);
    fn number(&mut self, formula: &At<Formula>) -> Option<f64>;
    fn expression(&mut self, formula: &At<Formula>, variables: &[&str]) -> Option<Expression>;
    fn folder(&self) -> &Path;
    fn note(&mut self, note: String);
    fn data_file(&mut self, path: &str) -> std::io::Result<()>;
    /// Whether nothing in the model has claimed this before.
    fn claim(&mut self, what: &str) -> bool;
    /// Whether something may have this name; a problem is reported.
    fn name(&mut self, name: &At<String>, of: &str) -> bool;
}

/// The same within a mechanism.
pub(crate) trait MechanismReports: Reports {
    fn node(&mut self, name: &At<String>) -> Option<NodeId>;
    fn time_function(&mut self, given: &At<TimeFunction>) -> Option<Drive>;
    fn model(&self) -> &Model;
    fn micro_step(&self) -> Option<f64>;
    fn draw(&mut self, outline: Outline);
}

/// Where a subsystem or predictor of a registered kind is made.
pub struct Context<'a> {
    pub(crate) reports: &'a mut dyn Reports,
    pub(crate) place: Span,
    pub(crate) step: Option<f64>,
}

/// Where an element, joint or sensor of a registered kind is made: the mechanism so far.
pub struct Site<'a> {
    pub(crate) reports: &'a mut dyn MechanismReports,
    pub(crate) place: Span,
}

/// What can be asked for in both.
macro_rules! reports {
    ($($place:ident)*) => { $(
        impl $place<'_> {
            /// Where its table was written.
            pub fn place(&self) -> Span {
                self.place.clone()
            }

            /// Tells a problem of the model. The constructor then gives nothing.
            pub fn report(&mut self, problem: Problem) {
                self.reports.report(problem);
            }

            /// A number that may be an expression of parameters; a problem is reported.
            pub fn number(&mut self, formula: &At<Formula>) -> Option<f64> {
                self.reports.number(formula)
            }

            /// An expression of these variables, with the parameters put in; a problem is reported.
            pub fn expression(&mut self, text: &At<Formula>, variables: &[&str]) -> Option<Expression> {
                self.reports.expression(text, variables)
            }

            /// The path of a file that the model names: relative to the folder of the model.
            pub fn beside(&self, path: &str) -> PathBuf {
                self.reports.folder().join(path)
            }

            /// Leaves a remark that a user should read; the model is made nevertheless.
            pub fn note(&mut self, note: impl Into<String>) {
                self.reports.note(note.into());
            }

            /// Counts a file that the model names among those that it is made of: results and checkpoints know its
            /// digest.
            pub fn data_file(&mut self, path: &str) -> std::io::Result<()> {
                self.reports.data_file(path)
            }

            /// Claims something that only one in a model can have. Whether nothing in the model has claimed it before.
            pub fn claim(&mut self, what: &str) -> bool {
                self.reports.claim(what)
            }

            /// Whether `of`, such as "a valve", may have this name; a problem is reported.
            pub fn name(&mut self, name: &At<String>, of: &str) -> bool {
                self.reports.name(name, of)
            }
        }

        impl Reports for $place<'_> {
            fn report(&mut self, problem: Problem) {
                self.reports.report(problem);
            }
            fn number(&mut self, formula: &At<Formula>) -> Option<f64> {
                self.reports.number(formula)
            }
            fn expression(&mut self, formula: &At<Formula>, variables: &[&str]) -> Option<Expression> {
                self.reports.expression(formula, variables)
            }
            fn folder(&self) -> &Path {
                self.reports.folder()
            }
            fn note(&mut self, note: String) {
                self.reports.note(note);
            }
            fn data_file(&mut self, path: &str) -> std::io::Result<()> {
                self.reports.data_file(path)
            }
            fn claim(&mut self, what: &str) -> bool {
                self.reports.claim(what)
            }
            fn name(&mut self, name: &At<String>, of: &str) -> bool {
                self.reports.name(name, of)
            }
        }
    )* };
}

reports! { Context Site }

impl Context<'_> {
    /// The step of a subsystem in s: its macro step divided by its micro steps, if that could be read.
    pub fn step(&self) -> Option<f64> {
        self.step
    }
}

impl<'a> Site<'a> {
    pub(crate) fn new(settings: &Settings<'_>, reports: &'a mut dyn MechanismReports) -> Self {
        let place = settings.place.clone();
        Self { reports, place }
    }

    /// The node of this name, the ground among them; a problem is reported.
    pub fn node(&mut self, name: &At<String>) -> Option<NodeId> {
        self.reports.node(name)
    }

    /// A number given in time: an expression of `t` and of sensors, a ramp, an input; a problem is
    /// reported.
    pub fn time_function(&mut self, given: &At<TimeFunction>) -> Option<Drive> {
        self.reports.time_function(given)
    }

    /// A step of the integrator of the mechanism in s, if that could be read.
    pub fn micro_step(&self) -> Option<f64> {
        self.reports.micro_step()
    }

    /// Adds something to what is drawn of the mechanism.
    pub fn draw(&mut self, outline: Outline) {
        self.reports.draw(outline);
    }

    /// The mechanism so far: initial motions of its nodes, markers on them.
    pub fn model(&self) -> &Model {
        self.reports.model()
    }
}
