//! Screws.

use std::f64::consts::TAU;

use oldham_multibody::{Coordinate, Joint, Transmission};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Axial;
use super::coordinate::{Resisting, Turning};
use crate::check::Bench;
use crate::check::keys::read;
use crate::extensions::{Companion, ForeignJoint, With};
use crate::format::{At, Formula};
use crate::mechanism::Symbol;

/// Rotation about the axis, and sliding along it in proportion: a screw in its nut.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Screw {
    /// The distance in m along the axis of one turn about it; negative with a left-hand thread.
    #[schemars(required)]
    lead: Option<At<Formula>>,
}

type Table = With<Axial, With<Turning, With<Resisting, Screw>>>;

pub(super) fn make(
    With(at, With(turning, With(resisting, Screw { lead }))): Table,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let along = [turning.along()];
    let angle = along[0].value(bench);
    let is_thread = |lead: f64| lead != 0.0;
    let lead = read(&lead, |at| {
        bench
            .checker
            .number_where(at, is_thread, "must not be zero")
    });
    let ends = at.ends(bench)?;
    let joint = Joint::driven_cylindrical(ends[0], ends[1], None, angle?);
    let thread = Transmission::new(
        (Coordinate::Angle, ends, lead? / TAU),
        (Coordinate::Slide, ends, -1.0),
    );
    let joint = ForeignJoint::new(joint, ends).drawn(Symbol::Slide);
    let mut joint = resisting.joint(joint, &along, bench);
    joint.second = Some(Coordinate::Slide);
    joint.companions.push(Companion {
        name: "thread".to_owned(),
        element: Box::new(thread),
        drives: false,
    });
    Some(joint)
}
