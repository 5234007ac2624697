//! Motors in joints.

use std::sync::Arc;

use oldham_multibody::{CoordinateForce, Drive, Law};

use super::{Made, MechanismDraft};
use crate::check::Checker;
use crate::check::keys::{read, read_or};
use crate::format::Entry;
use crate::format::multibody;

impl Checker<'_> {
    pub(super) fn motor(
        &mut self,
        entry: &Entry<multibody::Motor>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Made> {
        let given = &entry.value.value;
        let joint = read(&given.joint, |name| self.coordinate(name, draft));
        let points = read(&given.characteristic, |pairs| {
            self.rising_pairs(pairs, "speed and torque")
        });
        let full = Drive::Constant(1.0);
        let command = read_or(&given.command, full, |at| self.drive_at(at, draft));
        let (coordinate, ends) = joint?;
        let (points, command) = (Arc::from(points?), command?);
        let law = Law::Motor { points, command };
        let motor = CoordinateForce::new(coordinate, ends, law, 0.0);
        Some((Box::new(motor), None))
    }
}
