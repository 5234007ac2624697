//! What a subsystem receives and sends.

use oldham_lumped::{NodeRef, PortKind, PortSpec, Prescribed};

use super::LumpedDraft;
use crate::check::Checker;
use crate::check::part::Port;
use crate::format::{At, Entry, Lumped, MotionLaw};
use crate::problem::Problem;

impl Checker<'_> {
    pub(super) fn inputs<'f>(
        &mut self,
        section: &'f Lumped,
        draft: &mut LumpedDraft<'f>,
    ) -> Vec<Port> {
        let mut ports = Vec::new();
        for entry in &section.inputs {
            self.name(&entry.name, "a port");
            let input = &entry.value.value;
            let kinds = [
                (PortKind::Motion, &input.motion),
                (PortKind::Motion, &input.position_driven),
                (PortKind::Displacement, &input.displacement),
                (PortKind::Velocity, &input.velocity),
                (PortKind::Acceleration, &input.acceleration),
                (PortKind::Force, &input.force),
            ];
            let given = self.one_of(entry, kinds, "receives");
            draft.all_nodes_known &= given.is_some();
            ports.push(Port {
                name: entry.name.clone(),
                quantity: given.map(|(kind, _)| kind.quantity(draft.spec.coordinates)),
            });
            let node = given.and_then(|(kind, node)| match kind {
                PortKind::Force => self.own_node(node, draft),
                _ => self.boundary(node, draft),
            });
            if let (Some(_), Some(NodeRef::Boundary(boundary))) = (&input.position_driven, node) {
                draft.spec.boundary_nodes[boundary.0].prescribed = Prescribed::Position;
            }
            if let Some(prescribe) = &input.prescribe {
                self.prescribe(prescribe, input.motion.is_some(), node, draft);
            }
            draft.port(Direction::Input, entry.name.value.clone(), given, node);
        }
        ports
    }

    /// The law by which a boundary node follows its motion.
    fn prescribe(
        &mut self,
        given: &At<MotionLaw>,
        moves: bool,
        node: Option<NodeRef>,
        draft: &mut LumpedDraft<'_>,
    ) {
        if !moves {
            let message = "a law says how a whole motion is followed";
            let problem = Problem::new(given.span.clone(), message)
                .label("without `motion`")
                .help("receive `motion = ...` here, or leave `prescribe` out");
            self.findings.push(problem);
            return;
        }
        let law = self.motion_law(&given.value);
        if let (Some(law), Some(NodeRef::Boundary(boundary))) = (law, node) {
            draft.spec.boundary_nodes[boundary.0].prescribed = Prescribed::Law(law);
        }
    }

    pub(super) fn outputs<'f>(
        &mut self,
        section: &'f Lumped,
        draft: &mut LumpedDraft<'f>,
    ) -> Vec<Port> {
        let mut ports = Vec::new();
        for entry in &section.outputs {
            self.name(&entry.name, "a port");
            let output = &entry.value.value;
            let kinds = [
                (PortKind::Motion, &output.motion),
                (PortKind::Displacement, &output.displacement),
                (PortKind::Velocity, &output.velocity),
                (PortKind::Acceleration, &output.acceleration),
                (PortKind::Force, &output.force),
            ];
            let given = self.one_of(entry, kinds, "sends");
            ports.push(Port {
                name: entry.name.clone(),
                quantity: given.map(|(kind, _)| kind.quantity(draft.spec.coordinates)),
            });
            let node = given.and_then(|(kind, node)| match kind {
                PortKind::Force => self.received_node(node, draft),
                _ => self.moving_node(node, draft),
            });
            draft.port(Direction::Output, entry.name.value.clone(), given, node);
        }
        ports
    }

    /// The one thing that a port carries.
    fn one_of<'f, T, const N: usize>(
        &mut self,
        entry: &Entry<T>,
        kinds: [(PortKind, &'f Option<At<String>>); N],
        does: &str,
    ) -> Option<(PortKind, &'f At<String>)> {
        let given = kinds
            .into_iter()
            .filter_map(|(kind, node)| Some((kind, node.as_ref()?)));
        let given: Vec<_> = given.collect();
        if let [one] = given[..] {
            return Some(one);
        }
        let name = &entry.name.value;
        let message = format!(
            "the port `{name}` {does} {} things; it must be one",
            given.len()
        );
        let problem = Problem::new(entry.value.span.clone(), message)
            .help("one of `motion`, `displacement`, `velocity`, `acceleration`, `force`");
        self.findings.incomplete(&entry.value.span, problem);
        None
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Input,
    Output,
}

impl LumpedDraft<'_> {
    fn port(
        &mut self,
        direction: Direction,
        name: String,
        given: Option<(PortKind, &At<String>)>,
        node: Option<NodeRef>,
    ) {
        let Some(((kind, _), node)) = given.zip(node) else {
            self.complete = false;
            return;
        };
        let ports = match direction {
            Direction::Input => &mut self.spec.inputs,
            Direction::Output => &mut self.spec.outputs,
        };
        ports.push(PortSpec { name, node, kind });
    }
}
