//! Lines along which received forces and pressures act.

use oldham_multibody::{Drive, Law, Marker, Rod};

use super::MechanismDraft;
use super::nodes::LineBetween;
use crate::check::Checker;
use crate::check::keys::read_or;
use crate::format::multibody::{self, Given, Multibody};
use crate::format::{At, Entry};
use crate::mechanism::{Outline, StaticLine, Telescope};

/// A force along an actuator that no port brings.
enum ActuatorLoad {
    None,
    Given(Drive),
    Static,
}

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
        let load = self.actuator_load(&given.load, draft);
        let line = self.line_between(&given.between, &given.points, &given.frame, draft);
        let LineBetween { ends, length } = line?;
        let outline = Outline::Actuator(Telescope { ends, length });
        draft.spec.sketch.outlines.push(outline);
        draft.held.extend(ends.map(|end| end.node));
        let damping = damping?;
        if damping > 0.0 {
            let law = Law::Linear {
                stiffness: 0.0,
                damping,
            };
            let rod = Rod::new(ends[0], ends[1], length, law);
            draft.companion(&entry.name, "damping", Box::new(rod));
        }
        let name = &entry.name.value;
        match load? {
            ActuatorLoad::None => {}
            ActuatorLoad::Given(push) => {
                let rod = Rod::new(ends[0], ends[1], length, Law::push(push));
                draft.holder(name, Box::new(rod));
            }
            ActuatorLoad::Static => {
                let model = &mut draft.spec.whole.model;
                let (line, element) = StaticLine::alone(model, name, ends, length);
                draft.holders.insert(name.clone(), Some(element));
                draft.spec.static_lines.push(line);
            }
        }
        Some(ends)
    }

    /// What acts along an actuator besides its ports.
    fn actuator_load(
        &mut self,
        given: &Option<At<Given>>,
        draft: &MechanismDraft<'_>,
    ) -> Option<ActuatorLoad> {
        read_or(given, ActuatorLoad::None, |given| {
            match given.value.word() {
                Some("static") => Some(ActuatorLoad::Static),
                _ => self.drive_at(given, draft).map(ActuatorLoad::Given),
            }
        })
    }

    /// The ends of an actuator.
    pub(super) fn actuator_named(
        &mut self,
        name: &At<String>,
        draft: &MechanismDraft<'_>,
    ) -> Option<[Marker; 2]> {
        self.known(name, "actuator", &draft.actuators).copied()
    }
}
