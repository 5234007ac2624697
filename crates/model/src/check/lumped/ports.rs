//! What a subsystem receives and sends.

use oldham_lumped::{NodeRef, PortKind, PortSpec, Prescribed};

use super::LumpedDraft;
use crate::check::Checker;
use crate::check::part::Port;
use crate::format::{At, Lumped, MotionLaw};

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
                ("motion", PortKind::Motion, &input.motion),
                ("position_driven", PortKind::Motion, &input.position_driven),
                ("displacement", PortKind::Displacement, &input.displacement),
                ("velocity", PortKind::Velocity, &input.velocity),
                ("acceleration", PortKind::Acceleration, &input.acceleration),
                ("force", PortKind::Force, &input.force),
            ];
            let given = self.one_of(entry, &kinds, "receives");
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
            let port = draft.port(&entry.name, given, node);
            draft.spec.inputs.extend(port);
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
            self.report(&given.span, message)
                .label("without `motion`")
                .help("receive `motion = ...` here, or leave `prescribe` out");
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
                ("motion", PortKind::Motion, &output.motion),
                ("displacement", PortKind::Displacement, &output.displacement),
                ("velocity", PortKind::Velocity, &output.velocity),
                ("acceleration", PortKind::Acceleration, &output.acceleration),
                ("force", PortKind::Force, &output.force),
            ];
            let given = self.one_of(entry, &kinds, "sends");
            ports.push(Port {
                name: entry.name.clone(),
                quantity: given.map(|(kind, _)| kind.quantity(draft.spec.coordinates)),
            });
            let node = given.and_then(|(kind, node)| match kind {
                PortKind::Force => self.received_node(node, draft),
                _ => self.moving_node(node, draft),
            });
            let port = draft.port(&entry.name, given, node);
            draft.spec.outputs.extend(port);
        }
        ports
    }
}

impl LumpedDraft<'_> {
    fn port(
        &mut self,
        name: &At<String>,
        given: Option<(PortKind, &At<String>)>,
        node: Option<NodeRef>,
    ) -> Option<PortSpec> {
        self.complete &= given.is_some() && node.is_some();
        Some(PortSpec {
            name: name.value.clone(),
            node: node?,
            kind: given?.0,
        })
    }
}
