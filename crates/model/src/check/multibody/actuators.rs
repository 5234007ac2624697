//! Lines along which received forces and pressures act.

use oldham_multibody::{Law, Marker, Rod};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody::{self, Multibody};
use crate::format::{At, Entry};
use crate::mechanism::Outline;
use crate::problem::Problem;

impl Checker<'_> {
    pub(super) fn actuators<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.actuators {
            self.element_name(&entry.name, "an actuator", draft);
            let ends = self.actuator(entry, draft);
            draft.actuators.insert(&entry.name.value, ends);
        }
    }

    /// The two ends; friction becomes a damper.
    fn actuator(
        &mut self,
        entry: &Entry<multibody::Actuator>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<[Marker; 2]> {
        let given = &entry.value.value;
        let damping = self.number_or(&given.damping, 0.0);
        let nodes = self.ends_of(&given.between, draft);
        let frame = self.frame_named(&given.frame, draft);
        let nodes = nodes?;
        let points = self.points_in(&frame?, &given.points, nodes, draft)?;
        let length = self.apart(points, &given.between.as_ref()?.span)?;
        let ends = [0, 1].map(|i| draft.spec.whole.model.marker(nodes[i], points[i]));
        draft.spec.sketch.outlines.push(Outline::Actuator(ends));
        draft.held.extend(nodes);
        let damping = damping?;
        if damping > 0.0 {
            let law = Law::Linear {
                stiffness: 0.0,
                damping,
            };
            let rod = Rod::new(ends[0], ends[1], length, law);
            draft.element(&entry.name.value, Box::new(rod));
        }
        Some(ends)
    }

    /// The ends of an actuator.
    pub(super) fn actuator_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<[Marker; 2]> {
        if let Some(known) = draft.actuators.get(name.value.as_str()) {
            return *known;
        }
        let message = format!("there is no actuator `{}`", name.value);
        let problem = Problem::new(name.span.clone(), message).label("unknown actuator");
        let known = draft.actuators.keys().copied();
        self.findings.push_misspelt(problem, &name.value, known);
        None
    }
}
