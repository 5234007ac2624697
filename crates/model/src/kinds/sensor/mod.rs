//! Sensors: what can be measured, by what it is measured of. The key that names what is measured tells the kind.

mod beam_or_shell;
mod between;
mod contact;
mod joint;
mod load;
mod motion;

use oldham_multibody::{Sensor, Sent, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::Bench;
use crate::extensions::Extensions;
use crate::format::At;
use crate::format::multibody::Vector;

pub(crate) use beam_or_shell::units_of;

pub(super) fn register(own: &mut Extensions) {
    motion::register(own);
    between::register(own);
    joint::register(own);
    load::register(own);
    contact::register(own);
    beam_or_shell::register(own);
}

/// What a sensor gives.
#[derive(Clone, Debug)]
pub(crate) enum Reading {
    /// A number that expressions may use.
    Fed(Sensor),
    /// An acceleration or a force of contacts, which follows from the forces and is only shown.
    Shown(Sent),
}

impl Reading {
    /// As an output.
    pub fn sent(&self) -> Sent {
        match self {
            Self::Fed(sensor) => Sent::Sensor(sensor.clone()),
            Self::Shown(sent) => sent.clone(),
        }
    }
}

/// What a sensor reads, and what must be there before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reads {
    /// Motions of nodes and joints, and loads of beams and shells.
    Motions,
    /// What an element exerts: a joint, a spring or a load.
    Element,
    /// What drives a joint: the joint itself, or a servo.
    Drive,
    /// Contacts.
    Contacts,
}

/// Nothing but what is measured.
#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// The direction of what is measured.
#[derive(Deserialize, JsonSchema)]
struct Axis {
    /// A fixed direction.
    axis: Option<At<Vector>>,
}

impl Axis {
    fn read(&self, bench: &mut Bench<'_, '_, '_>) -> Option<Vec3> {
        needed_axis(&self.axis, bench)
    }
}

/// The axis without which nothing is measured.
fn needed_axis(
    given: &Option<At<Vector>>,
    Bench {
        checker,
        name,
        place,
        ..
    }: &mut Bench<'_, '_, '_>,
) -> Option<Vec3> {
    if let Some(axis) = given {
        return checker.direction(axis);
    }
    let message = format!("`{name}` needs the `axis` along which it measures");
    checker
        .report_missing(place, message)
        .label("has no `axis`");
    None
}
