//! Elements, joints and sensors of registered kinds, those of the format among them.

use std::path::Path;
use std::sync::Arc;

use oldham_expression::Expression;
use oldham_multibody::{Drive, Model, NodeId};

use super::MechanismDraft;
use crate::check::Checker;
use crate::extensions::{Kind, MechanismReports, Reports, Settings, Site, find};
use crate::format::multibody::{Multibody, TimeFunction};
use crate::format::{At, Foreign, Formula};
use crate::mechanism::Outline;
use crate::problem::Problem;
use crate::source::Span;

/// Where a kind makes what a table describes: the checks, and the mechanism so far.
pub(crate) struct Bench<'b, 'c, 'f> {
    pub checker: &'b mut Checker<'c>,
    pub draft: &'b mut MechanismDraft<'f>,
    /// What it is called.
    pub name: &'b str,
    /// Where its table was written, and the word for its kind.
    pub place: &'b Span,
    pub kind: &'b Span,
}

impl Reports for Bench<'_, '_, '_> {
    fn report(&mut self, problem: Problem) {
        self.checker.findings.push(problem);
    }

    fn number(&mut self, formula: &At<Formula>) -> Option<f64> {
        self.checker.number(formula)
    }

    fn expression(&mut self, formula: &At<Formula>, variables: &[&str]) -> Option<Expression> {
        self.checker.expression(formula, variables)
    }

    fn folder(&self) -> &Path {
        self.checker.source.folder()
    }

    fn note(&mut self, note: String) {
        self.checker.notes.push(note);
    }

    fn data_file(&mut self, path: &str) -> std::io::Result<()> {
        self.checker.data_file(path)
    }

    fn claim(&mut self, what: &str) -> bool {
        self.checker.claim(what)
    }

    fn name(&mut self, name: &At<String>, of: &str) -> bool {
        Reports::name(self.checker, name, of)
    }
}

impl MechanismReports for Bench<'_, '_, '_> {
    fn node(&mut self, name: &At<String>) -> Option<NodeId> {
        let node = self.checker.node_named(name, self.draft)?;
        // What hangs on a node whose place could not be read is no news.
        self.draft.motion(node).map(|_| node)
    }

    fn time_function(&mut self, given: &At<TimeFunction>) -> Option<Drive> {
        let TimeFunction(function) = &given.value;
        self.checker
            .drive_in_time(function, &given.span, self.draft)
    }

    fn model(&self) -> &Model {
        &self.draft.spec.whole.model
    }

    fn micro_step(&self) -> Option<f64> {
        self.draft.micro_step
    }

    fn draw(&mut self, outline: Outline) {
        self.draft.spec.sketch.outlines.push(outline);
    }
}

impl Checker<'_> {
    pub(super) fn foreign_elements<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        let extensions = self.extensions;
        for entry in &section.elements {
            self.element_name(&entry.name, "an element", draft);
            let name = entry.name.value.as_str();
            draft.holders.insert(name.to_owned(), None);
            let kind = find(&extensions.elements, &entry.value.value.kind.value);
            let element = kind.and_then(|kind| {
                self.at_bench(kind, name, &entry.value, draft, |settings, bench| {
                    let mut site = Site::new(&settings, bench);
                    (kind.make)(settings, &mut site)
                })
            });
            if let Some(element) = element {
                draft.holder(name, element);
            }
        }
    }

    /// What is made of a table of a kind.
    pub(super) fn at_bench<M: ?Sized, T>(
        &mut self,
        kind: &Arc<Kind<M>>,
        name: &str,
        given: &At<Foreign>,
        draft: &mut MechanismDraft<'_>,
        make: impl FnOnce(Settings<'_>, &mut Bench<'_, '_, '_>) -> Option<T>,
    ) -> Option<T> {
        let place = &given.span;
        let table = &given.value.settings;
        let is_ready = draft.unplaced.is_empty() && !draft.lost_nodes;
        let at_bench = |checker: &mut Checker<'_>, settings: Settings<'_>| {
            let mut bench = Bench {
                checker,
                draft,
                name,
                place,
                kind: &given.value.kind.span,
            };
            make(settings, &mut bench)
        };
        if kind.own.is_some() {
            let settings = Settings {
                table,
                schema: &kind.schema,
                place: place.clone(),
            };
            return at_bench(self, settings);
        }
        let settings = self.settings(kind, table, place)?;
        if !is_ready {
            return None;
        }
        self.made(&kind.name, place, |checker| at_bench(checker, settings))
    }
}
