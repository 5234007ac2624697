//! Elements, joints and sensors of registered kinds.

use std::path::Path;

use oldham_expression::Expression;
use oldham_multibody::{Drive, Model, NodeId, Sensor};

use super::{DraftJoint, MechanismDraft};
use crate::check::Checker;
use crate::extensions::{Kind, MechanismReports, Reports, Settings, Site, find};
use crate::format::multibody::{Multibody, TimeFunction};
use crate::format::{At, Foreign, Formula};
use crate::mechanism::{NamedJoint, Outline};
use crate::problem::Problem;

/// The mechanism as constructors see it.
struct Workbench<'w, 'c, 'f> {
    checker: &'w mut Checker<'c>,
    draft: &'w MechanismDraft<'f>,
    /// What is added to the sketch.
    drawn: &'w mut Vec<Outline>,
}

impl Reports for Workbench<'_, '_, '_> {
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

    fn name(&mut self, name: &At<String>, of: &str) -> bool {
        Reports::name(self.checker, name, of)
    }
}

impl MechanismReports for Workbench<'_, '_, '_> {
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
        self.drawn.push(outline);
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
            let kind = find(&extensions.elements, &entry.value.value.kind);
            let mut drawn = Vec::new();
            let element = kind.and_then(|kind| {
                self.at_site(kind, &entry.value, draft, &mut drawn, |settings, site| {
                    (kind.make)(settings, site)
                })
            });
            if let Some(element) = element {
                draft.holder(name, element);
                draft.spec.sketch.outlines.append(&mut drawn);
            }
        }
    }

    pub(super) fn foreign_joint<'f>(
        &mut self,
        name: &'f At<String>,
        given: &At<Foreign>,
        draft: &mut MechanismDraft<'f>,
    ) -> Option<()> {
        let extensions = self.extensions;
        let kind = find(&extensions.joints, &given.value.kind)?;
        let mut drawn = Vec::new();
        let joint = self.at_site(kind, given, draft, &mut drawn, |settings, site| {
            (kind.make)(settings, site)
        })?;
        draft.spec.sketch.outlines.append(&mut drawn);
        let element = draft.holder(&name.value, joint.element);
        let known = DraftJoint {
            kind: None,
            element: Some(element),
            ends: joint.ends,
            coordinate: joint.coordinate,
            drive: None,
        };
        draft.spec.joints.push(NamedJoint {
            name: name.value.clone(),
            element,
            ends: joint.ends,
        });
        draft.joints.insert(&name.value, Some(known));
        draft.spec.sketch.joints.push((joint.symbol, joint.ends));
        Some(())
    }

    pub(super) fn foreign_sensor(
        &mut self,
        given: &At<Foreign>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Sensor> {
        let extensions = self.extensions;
        let kind = find(&extensions.sensors, &given.value.kind)?;
        // Nothing is to be seen of a sensor.
        let sensor = self.at_site(kind, given, draft, &mut Vec::new(), |settings, site| {
            (kind.make)(settings, site)
        })?;
        Some(Sensor::Custom(sensor))
    }

    fn at_site<M: ?Sized, T>(
        &mut self,
        kind: &std::sync::Arc<Kind<M>>,
        given: &At<Foreign>,
        draft: &MechanismDraft<'_>,
        drawn: &mut Vec<Outline>,
        make: impl FnOnce(Settings<'_>, &mut Site<'_>) -> Option<T>,
    ) -> Option<T> {
        let settings = self.settings(kind, &given.value.settings, &given.span)?;
        if !draft.unplaced.is_empty() || draft.lost_nodes {
            return None;
        }
        self.made(&kind.name, &given.span, |checker| {
            let mut workbench = Workbench {
                checker,
                draft,
                drawn,
            };
            let mut site = Site {
                reports: &mut workbench,
                place: given.span.clone(),
            };
            make(settings, &mut site)
        })
    }
}
