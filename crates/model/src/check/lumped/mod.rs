//! A section `[lumped.*]`: from its text to the description of a subsystem.

mod elements;
mod nodes;
mod ports;

use std::collections::HashMap;

use oldham_lumped::{Coordinates, Element, ElementKind, Integrator, NodeRef, Spec, SpecError};

use super::keys::read;
use super::part::{Checked, Port};
use super::{Checker, Pace};
use crate::format::{self, DEFAULT_RHO, Entry};
use crate::model::Content;
use crate::source::Span;

/// The node that is always there.
const GROUND: &str = "ground";

/// The description in the making.
struct LumpedDraft<'f> {
    nodes: HashMap<&'f str, NodeRef>,
    spec: Spec,
    /// Where elements, nodes and boundary nodes were written.
    places: HashMap<String, Span>,
    complete: bool,
    /// Nothing unreadable could have made further nodes.
    all_nodes_known: bool,
}

impl Checker<'_> {
    pub(super) fn lumped(&mut self, entry: &Entry<format::Lumped>, pace: Pace) -> Checked {
        let section = &entry.value.value;
        let (rho, inputs_within_step) = (&section.rho, &section.inputs_within_step);
        let method = read(&section.integrator, |word| {
            self.method(word, rho, inputs_within_step)
        });
        let locates_kinks = self.locates_kinks(section, method);
        let paced = self.head(&entry.name, &section.pacing, &section.division, &pace);
        let coordinates = section
            .coordinates
            .unwrap_or(format::Coordinates::Translation);
        let mut draft = LumpedDraft::new(coordinates.into());
        // A table of nodes may not have been read: that they are unknown is no news then.
        let may_lack = section.masses.is_empty() || section.inputs.is_empty();
        draft.all_nodes_known = !(may_lack && self.findings.is_damaged(&entry.value.span));
        let ports = self.contents(section, &mut draft);
        let settled = method.zip(paced.micro_steps).filter(|_| draft.complete);
        let content = settled.map(|(method, micro_steps)| {
            draft.spec.integrator = method;
            draft.spec.locates_kinks = locates_kinks;
            draft.spec.micro_steps = micro_steps as usize;
            self.physics(entry, &draft);
            Content::Lumped(draft.spec)
        });
        paced.checked(method.map_or(DEFAULT_RHO, spectral_radius), content, ports)
    }

    /// Whether steps end at kinks, which only steps of `rk4` can.
    fn locates_kinks(&mut self, section: &format::Lumped, method: Option<Integrator>) -> bool {
        let Some(asked) = section.locate_kinks.as_ref().filter(|asked| asked.value) else {
            return false;
        };
        if method.is_some_and(|method| !matches!(method, Integrator::Rk4 { .. })) {
            self.report(&asked.span, "only `rk4` locates kinks")
                .label("has no meaning for this integrator")
                .help("take `integrator = \"rk4\"`, or leave it out: methods of second order keep their order at kinks of continuous forces");
        }
        true
    }

    /// Nodes, elements and ports; gives inputs and outputs.
    fn contents<'f>(
        &mut self,
        section: &'f format::Lumped,
        draft: &mut LumpedDraft<'f>,
    ) -> [Vec<Port>; 2] {
        let before = self.findings.len();
        self.masses(section, draft);
        let inputs = self.inputs(section, draft);
        self.springs(section, draft);
        self.loads(section, draft);
        self.matrices(section, draft);
        let outputs = self.outputs(section, draft);
        let names = section.outputs.iter().map(|entry| &entry.name);
        self.port_names(section.inputs.names(), names);
        draft.complete &= self.findings.len() == before;
        [inputs, outputs]
    }

    /// What only the physics can tell: a node without mass, a boundary node without velocity.
    fn physics(&mut self, entry: &Entry<format::Lumped>, draft: &LumpedDraft<'_>) {
        for error in oldham_lumped::Lumped::problems(&draft.spec) {
            let place = subject(&error).and_then(|name| draft.places.get(name));
            let integrator = format::place(&entry.value.value.integrator);
            let place = place.or(integrator).unwrap_or(&entry.name.span);
            let message = format!("in `{}`: {error}", entry.name.value);
            self.report(place, message);
        }
    }
}

impl LumpedDraft<'_> {
    fn new(coordinates: Coordinates) -> Self {
        Self {
            nodes: HashMap::from([(GROUND, NodeRef::Ground)]),
            spec: Spec::new(coordinates, Integrator::Exact),
            places: HashMap::new(),
            complete: true,
            all_nodes_known: true,
        }
    }

    fn element<T>(&mut self, entry: &Entry<T>, kind: ElementKind) {
        let name = entry.name.value.clone();
        self.places
            .entry(name.clone())
            .or_insert(entry.name.span.clone());
        self.spec.elements.push(Element { name, kind });
    }
}

/// The spectral radius with which predictors integrate rates.
fn spectral_radius(method: Integrator) -> f64 {
    match method {
        Integrator::Lms2 { rho } => rho,
        _ => format::DEFAULT_RHO,
    }
}

/// The node, element or boundary node that an error is about.
fn subject(error: &SpecError) -> Option<&str> {
    match error {
        SpecError::NodeWithoutMass { node } => Some(node),
        SpecError::DuplicateNode { name } => Some(name),
        SpecError::NotFinite { place, .. } => Some(place),
        SpecError::WrongMatrixSize { element, .. }
        | SpecError::WrongVariables { element, .. }
        | SpecError::BadMass { element, .. }
        | SpecError::BoundaryLacks { element, .. }
        | SpecError::NonlinearExact { element } => Some(element),
        SpecError::MassNotSymmetric { row, .. } => Some(row),
        SpecError::BoundaryFedTwice { boundary, .. } => Some(boundary),
        _ => None,
    }
}
