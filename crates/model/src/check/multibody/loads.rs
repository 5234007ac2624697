//! Given forces and moments.

use oldham_multibody::{Drive, Load, Marker};

use super::Draft;
use super::given::opposite;
use crate::check::Checker;
use crate::format::Entry;
use crate::format::multibody::{self, Multibody};
use crate::mechanism::{Piece, Pose};
use crate::problem::Problem;

impl Checker<'_> {
    pub(super) fn wrenches<'f>(&mut self, section: &'f Multibody, draft: &mut Draft<'f>) {
        for entry in &section.loads {
            self.element_name(&entry.name, "a load", draft);
            self.wrench(entry, draft);
        }
    }

    fn wrench<'f>(
        &mut self,
        entry: &'f Entry<multibody::Load>,
        draft: &mut Draft<'f>,
    ) -> Option<()> {
        let given = &entry.value.value;
        if given.force.is_none() && given.moment.is_none() {
            let message = format!("the load `{}` has no force or moment", entry.name.value);
            let problem = Problem::new(entry.value.span.clone(), message);
            self.findings.incomplete(&entry.value.span, problem);
        }
        let node = given
            .on
            .as_ref()
            .and_then(|on| self.moving_node_named(on, draft));
        let offset = self.vector_or_zero(&given.offset);
        let force = self.drives_in_time(&given.force, draft);
        let moment = self.drives_in_time(&given.moment, draft);
        self.internal_load(entry, draft);
        let (node, offset, force, moment) = (node?, offset?, force?, moment?);
        if let Some(other) = &given.reaction_on {
            let other = self.node_named(other, draft)?;
            let place = Pose::from(&draft.motion(node)?).point(offset);
            let marker = draft.scale.marker(other, place);
            let load = Load::fixed(marker, opposites(&force)?, opposites(&moment)?);
            draft.piece(&entry.name.value, Piece::Load(load), &[]);
        }
        let marker = Marker::on(node).offset(offset);
        let load = match given.follower {
            Some(true) => Load::follower(marker, force, moment),
            Some(false) | None => Load::fixed(marker, force, moment),
        };
        draft.piece(&entry.name.value, Piece::Load(load), &[]);
        Some(())
    }

    /// What an internal load cannot be.
    fn internal_load(&mut self, entry: &Entry<multibody::Load>, draft: &Draft<'_>) {
        let given = &entry.value.value;
        let Some(other) = &given.reaction_on else {
            return;
        };
        if given.follower == Some(true) {
            let message = "a follower load has no reaction on another node";
            self.findings
                .push(Problem::new(other.span.clone(), message));
        }
        let components = [&given.force, &given.moment].into_iter().flatten();
        for component in components.flat_map(|list| &list.value) {
            if let multibody::Given::Table(table) = &component.value
                && let Some(input) = &table.input
                && draft.scalars.contains_key(input.value.as_str())
            {
                let message = "an internal load cannot come from an input";
                let problem = Problem::new(input.span.clone(), message).help(
                    "give two loads, and send the number to one and its opposite to the other",
                );
                self.findings.push(problem);
            }
        }
    }
}

fn opposites(drives: &[Drive; 3]) -> Option<[Drive; 3]> {
    let [x, y, z] = drives;
    Some([opposite(x)?, opposite(y)?, opposite(z)?])
}
