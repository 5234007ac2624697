//! A section `[lumped.*]`: from its text to the description of a subsystem.

mod elements;
mod nodes;
mod ports;

use std::collections::HashMap;

use oldham_lumped::{
    Coordinates, Element, ElementKind, Integrator, NodeRef, PortKind, Spec, SpecError,
};

use super::Checker;
use crate::format::{self, At, Entry, Predictor};
use crate::model::Part;
use crate::problem::Problem;
use crate::source::Span;

/// The node that is always there.
const GROUND: &str = "ground";

/// A subsystem as far as it could be read.
pub(super) struct Checked {
    pub name: String,
    pub coordinates: Coordinates,
    pub inputs: Vec<Port>,
    pub outputs: Vec<Port>,
    /// With the place where it is given.
    pub every: Option<(u32, Span)>,
    /// If nothing is wrong with it.
    pub part: Option<Part>,
}

/// A port as far as it could be read: another check still needs its name when its node is wrong.
pub(super) struct Port {
    pub name: At<String>,
    pub kind: Option<PortKind>,
}

/// The description in the making.
struct Draft<'f> {
    nodes: HashMap<&'f str, NodeRef>,
    spec: Spec,
    /// Where elements, nodes and ghosts were written.
    places: HashMap<String, Span>,
    complete: bool,
    /// Nothing unreadable could have made further nodes.
    all_nodes_known: bool,
}

impl Checker<'_> {
    pub(super) fn lumped(
        &mut self,
        entry: &Entry<format::Lumped>,
        own_step: Option<f64>,
        default_predictor: Predictor,
    ) -> Checked {
        let section = &entry.value.value;
        let (rho, inputs_within_step) = (&section.rho, &section.inputs_within_step);
        let method = section.integrator.as_ref();
        let method = method.and_then(|method| self.method(method, rho, inputs_within_step));
        let every = section.every.as_ref();
        let every = every.and_then(|at| Some((self.count(at)?, at.span.clone())));
        let own_step = own_step.map(|step| step * every.as_ref().map_or(1.0, |e| f64::from(e.0)));
        let micro_steps = self.micro_steps(section, own_step);
        let coordinates = match section.coordinates {
            Some(format::Coordinates::Rotation) => Coordinates::Rotation,
            Some(format::Coordinates::Translation) | None => Coordinates::Translation,
        };
        let mut draft = Draft::new(coordinates);
        draft.all_nodes_known = !self.may_have_lost_nodes(&entry.value);
        let [inputs, outputs] = self.contents(section, &mut draft);
        let settled = method.zip(micro_steps).filter(|_| draft.complete);
        let part = settled.map(|(method, micro_steps)| {
            draft.spec.integrator = method;
            draft.spec.micro_steps = micro_steps as usize;
            Part {
                name: entry.name.value.clone(),
                span: entry.name.span.clone(),
                every: every.as_ref().map_or(1, |(every, _)| *every),
                prediction: section
                    .predictor
                    .unwrap_or(default_predictor)
                    .prediction(method),
                spec: draft.spec,
            }
        });
        if let Some(part) = &part {
            self.physics(part, section, &draft.places);
        }
        Checked {
            name: entry.name.value.clone(),
            coordinates,
            inputs,
            outputs,
            every,
            part,
        }
    }

    /// Whether a table of nodes could not be read: that they are unknown is no news then.
    fn may_have_lost_nodes(&self, section: &At<format::Lumped>) -> bool {
        let tables = [
            section.value.masses.is_empty(),
            section.value.inputs.is_empty(),
        ];
        self.findings.is_damaged(&section.span) && tables.contains(&true)
    }

    /// Nodes, elements and ports; gives inputs and outputs.
    fn contents<'f>(
        &mut self,
        section: &'f format::Lumped,
        draft: &mut Draft<'f>,
    ) -> [Vec<Port>; 2] {
        let before = self.findings.len();
        self.masses(section, draft);
        let inputs = self.inputs(section, draft);
        self.springs(section, draft);
        self.loads(section, draft);
        self.matrices(section, draft);
        let outputs = self.outputs(section, draft);
        self.port_names(section);
        draft.complete &= self.findings.len() == before;
        [inputs, outputs]
    }

    fn micro_steps(&mut self, section: &format::Lumped, own_step: Option<f64>) -> Option<u32> {
        let Some(micro_step) = &section.micro_step else {
            return self.count_or_one(section.micro_steps.as_ref());
        };
        if section.micro_steps.is_some() {
            let message = "`micro_step` and `micro_steps` say the same thing: give one of them";
            let problem = Problem::new(micro_step.span.clone(), message).label("one too many");
            self.findings.push(problem);
        }
        let length = self.number_where(micro_step, |h| h > 0.0, "must be positive")?;
        let own_step = own_step?;
        let steps = own_step / length;
        let whole = steps.round();
        if whole >= 1.0 && whole <= f64::from(u32::MAX) && (steps - whole).abs() <= 1e-9 * whole {
            return Some(whole as u32);
        }
        let message =
            format!("a macro step of {own_step} s is no whole number of micro steps of {length} s");
        let fewer = steps.floor().max(1.0);
        let help = format!(
            "micro_steps = {fewer} makes them {} s long",
            own_step / fewer
        );
        let problem = Problem::new(micro_step.span.clone(), message);
        self.findings
            .push(problem.label("does not divide the macro step").help(help));
        None
    }

    /// What only the physics can tell: a node without mass, a ghost without velocity.
    fn physics(&mut self, part: &Part, section: &format::Lumped, places: &HashMap<String, Span>) {
        let Err(errors) = oldham_lumped::Lumped::new(part.spec.clone()) else {
            return;
        };
        for error in errors {
            let place = subject(&error).and_then(|name| places.get(name));
            let integrator = section.integrator.as_ref().map(|at| &at.span);
            let place = place.or(integrator).unwrap_or(&part.span);
            let message = format!("in `{}`: {error}", part.name);
            self.findings.push(Problem::new(place.clone(), message));
        }
    }
}

impl Draft<'_> {
    fn new(coordinates: Coordinates) -> Self {
        Self {
            nodes: HashMap::from([(GROUND, NodeRef::Ground)]),
            spec: Spec {
                coordinates,
                nodes: Vec::new(),
                ghosts: Vec::new(),
                elements: Vec::new(),
                inputs: Vec::new(),
                outputs: Vec::new(),
                integrator: Integrator::Exact,
                micro_steps: 1,
            },
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

/// The node, element or ghost that an error is about.
fn subject(error: &SpecError) -> Option<&str> {
    match error {
        SpecError::NodeWithoutMass { node } => Some(node),
        SpecError::DuplicateNode { name } => Some(name),
        SpecError::NotFinite { place, .. } => Some(place),
        SpecError::WrongMatrixSize { element, .. }
        | SpecError::WrongVariables { element, .. }
        | SpecError::BadMass { element, .. }
        | SpecError::GhostLacks { element, .. }
        | SpecError::NonlinearExact { element } => Some(element),
        SpecError::MassNotSymmetric { row, .. } => Some(row),
        SpecError::GhostFedTwice { ghost, .. } => Some(ghost),
        _ => None,
    }
}
