//! Servos in joints.

use oldham_multibody::{Coordinate, Marker, Servo};

use super::{MechanismDraft, element_key, word};
use crate::check::Checker;
use crate::check::keys::{read, read_if};
use crate::format::multibody::{self, Multibody};
use crate::format::{At, Entry};

/// A servo that was read, and what its rotor adds to the inertia of the joint.
struct Read {
    servo: Servo,
    coordinate: Coordinate,
    ends: [Marker; 2],
    inertia: f64,
}

impl Checker<'_> {
    pub(super) fn servos(&mut self, section: &Multibody, draft: &mut MechanismDraft<'_>) {
        for entry in &section.servos {
            self.element_name(&entry.name, "a servo", draft);
            let name = entry.name.value.as_str();
            draft.holders.insert(name.to_owned(), None);
            draft.servos.insert(name.to_owned(), None);
            if let Some(read) = self.servo(entry, draft) {
                let element = draft.holder(name, Box::new(read.servo));
                let known = (element, read.coordinate, read.ends);
                draft.servos.insert(name.to_owned(), Some(known));
                if read.inertia > 0.0 {
                    let rotor = (read.coordinate, read.ends, read.inertia);
                    draft.rotor(&entry.name, rotor);
                }
            }
        }
    }

    fn servo(
        &mut self,
        entry: &Entry<multibody::Servo>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Read> {
        let given = &entry.value.value;
        let joint = read(&given.joint, |name| {
            let found = self.coordinate(name, draft)?;
            self.is_free(name, found.0, draft).then_some(found)
        });
        let position = read_if(&given.position, |at| self.drive_at(at, draft));
        let velocity = read_if(&given.velocity, |at| self.drive_at(at, draft));
        let kp = self.number_or(&given.kp, 0.0);
        let kd = self.number_or(&given.kd, 0.0);
        let limit = self.number_or(&given.limit, f64::INFINITY);
        let rotor = self.number_or(&given.rotor_inertia, 0.0);
        let gear = self.number_or(&given.gear, 1.0);
        if given.rotor_inertia.is_none() {
            self.unused(&given.gear, "only `rotor_inertia` is seen through a gear");
        }
        if given.kp.is_none() {
            self.unused(&given.position, "without `kp` no position is held");
        }
        if given.kd.is_none() {
            self.unused(&given.velocity, "without `kd` no velocity is held");
        }
        let (kp, kd, gear) = (kp?, kd?, gear?);
        if kp == 0.0 && kd == 0.0 {
            let message = format!("the servo `{}` does nothing", entry.name.value);
            self.report(&entry.value.span, message)
                .label("`kp` and `kd` are both zero")
                .help("give `kp`, a stiffness in N·m/rad or N/m, and as a rule `kd`, a damping in N·m·s/rad or N·s/m");
            return None;
        }
        let (coordinate, ends) = joint?;
        let mut servo = Servo::new(coordinate, ends, [kp, kd]).limited(limit?);
        if let Some(position) = position? {
            servo = servo.at_position(position);
        }
        if let Some(velocity) = velocity? {
            servo = servo.at_velocity(velocity);
        }
        Some(Read {
            servo,
            coordinate,
            ends,
            inertia: gear * gear * rotor?,
        })
    }

    /// Reports a joint whose coordinate is prescribed.
    fn is_free(
        &mut self,
        name: &At<String>,
        coordinate: Coordinate,
        draft: &MechanismDraft<'_>,
    ) -> bool {
        let key = (name.value.clone(), coordinate == Coordinate::Angle);
        if !draft.driven.contains(&key) {
            return true;
        }
        let word = word(coordinate);
        let message = format!(
            "the {word} of `{}` is prescribed: a servo has nothing to act on",
            name.value
        );
        self.report(&name.span, message).help(format!(
            "leave out the servo, or `{word}` and `{word}_rate` of the joint"
        ));
        false
    }
}

impl MechanismDraft<'_> {
    /// A rotor that adds to the inertia of a joint.
    pub(super) fn rotor(
        &mut self,
        of: &At<String>,
        (coordinate, ends, inertia): (Coordinate, [Marker; 2], f64),
    ) {
        let name = format!("{}.rotor", of.value);
        let model = &mut self.spec.whole.model;
        let node = model.reflected_inertia(&name, coordinate, ends, inertia);
        self.made_node(&name, node, &of.span);
        self.held.insert(node);
        for part in ["bearing", "gear"] {
            let element = element_key(&format!("{name}.{part}"));
            self.places.insert(element, of.span.clone());
        }
    }
}
