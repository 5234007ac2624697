//! Rigid links: several nodes that move as one body.

use oldham_multibody::Joint;

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::read;
use crate::format::multibody::Multibody;
use crate::mechanism::Symbol;

impl Checker<'_> {
    pub(super) fn rigid_links<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.rigid_links {
            self.element_name(&entry.name, "a rigid link", draft);
            let given = &entry.value.value;
            let master = read(&given.master, |name| self.node_named(name, draft));
            for name in given.nodes.iter().flat_map(|nodes| &nodes.value) {
                let node = self.moving_node_named(name, draft);
                let (Some(master), Some(node)) = (master, node) else {
                    continue;
                };
                if master == node {
                    let message = "the master node cannot follow itself";
                    self.report(&name.span, message).label("leave it out");
                    continue;
                }
                let (Some(lead), Some(motion)) = (draft.motion(master), draft.motion(node)) else {
                    continue;
                };
                let [a, b] = draft.markers([master, node], motion.position, motion.orientation);
                let link = Box::new(Joint::clamp(a, b));
                draft.companion(&entry.name, &name.value, link);
                let ends = draft.ends([master, node], [lead.position, motion.position]);
                draft.spec.sketch.joints.push((Symbol::Rod, ends));
            }
        }
    }
}
