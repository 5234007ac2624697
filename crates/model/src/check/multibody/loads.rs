//! Given forces and moments.

use oldham_multibody::{Element, InternalLoad, Load, Marker};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::{read, read_if};
use crate::format::Entry;
use crate::format::multibody::{self, Multibody};

impl Checker<'_> {
    pub(super) fn wrenches<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.loads {
            self.element_name(&entry.name, "a load", draft);
            self.wrench(entry, draft);
        }
    }

    fn wrench<'f>(
        &mut self,
        entry: &'f Entry<multibody::Load>,
        draft: &mut MechanismDraft<'f>,
    ) -> Option<()> {
        let given = &entry.value.value;
        if given.force.is_none() && given.moment.is_none() {
            let message = format!("the load `{}` has no force or moment", entry.name.value);
            self.report_missing(&entry.value.span, message);
        }
        let node = read(&given.on, |on| self.moving_node_named(on, draft));
        let offset = self.vector_or_zero(&given.offset);
        let force = self.drives_in_time(&given.force, draft);
        let moment = self.drives_in_time(&given.moment, draft);
        let other = read_if(&given.reaction_on, |other| self.node_named(other, draft));
        let (node, offset, force, moment) = (node?, offset?, force?, moment?);
        let marker = Marker::on(node).offset(offset);
        let follower = given.follower.unwrap_or(false);
        let element: Box<dyn Element> = match other? {
            Some(other) => Box::new(InternalLoad::new(marker, other, force, moment, follower)),
            None if follower => Box::new(Load::follower(marker, force, moment)),
            None => Box::new(Load::fixed(marker, force, moment)),
        };
        // A load holds nothing.
        let name = &entry.name.value;
        let element = draft.spec.whole.model.boxed_element(name, element);
        draft.holders.insert(name.clone(), Some(element));
        Some(())
    }
}
