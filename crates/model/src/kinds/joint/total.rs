//! Joints of which each relative motion is free, locked or prescribed.

use oldham_multibody::{Direction, Drive, Joint, PrescribedMotion};
use schemars::JsonSchema;
use serde::Deserialize;

use super::Placed;
use crate::check::Bench;
use crate::extensions::{ForeignJoint, With};
use crate::format::At;
use crate::format::multibody::Given;
use crate::mechanism::Symbol;

/// Those of the six relative motions of `b` in the axes fixed to `a` that are not locked or
/// prescribed. With `ground` as `a` they are absolute (a total pin joint).
#[derive(Deserialize, JsonSchema)]
pub(super) struct Total {
    /// For each of the three axes the displacement of `b` in m as it is to be,
    /// or `"free"` or `"locked"` (at zero).
    displacement: Components,
    /// For each of the three axes the component of the rotation vector in rad as it
    /// is to be, or `"free"` or `"locked"` (at zero).
    rotation: Components,
    /// For each of the three axes the rate of the displacement in m/s as it is to be
    /// besides the displacement, or `"free"` where the displacement alone counts.
    displacement_rate: Components,
    /// For each of the three axes the rate of the component of the rotation vector
    /// in rad/s as it is to be besides the component, or `"free"` where the component alone counts.
    rotation_rate: Components,
}

type Components = Option<At<Vec<At<Given>>>>;

pub(super) fn make(
    With(at, given): With<Placed, Total>,
    bench: &mut Bench<'_, '_, '_>,
) -> Option<ForeignJoint> {
    let Bench { checker, draft, .. } = bench;
    let displacement = checker.directions_in_time(&given.displacement, draft);
    let rotation = checker.directions_in_time(&given.rotation, draft);
    let displacement_rate = checker.rates_in_time(&given.displacement_rate, draft);
    let rotation_rate = checker.rates_in_time(&given.rotation_rate, draft);
    let [a, b] = at.ends(bench)?;
    let joint = if given.displacement_rate.is_some() || given.rotation_rate.is_some() {
        let rates = (displacement_rate?, rotation_rate?);
        let displacement = both(&given.displacement_rate, displacement?, rates.0, bench);
        let rotation = both(&given.rotation_rate, rotation?, rates.1, bench);
        let motion = PrescribedMotion::new(a, b, displacement?, rotation?);
        ForeignJoint::new(motion, [a, b])
    } else {
        ForeignJoint::new(Joint::total(a, b, displacement?, rotation?), [a, b])
    };
    Some(joint.drawn(Symbol::Clamp))
}

/// Components with their rates, which only bound ones can have.
fn both(
    given: &Components,
    directions: [Direction; 3],
    rates: [Option<Drive>; 3],
    bench: &mut Bench<'_, '_, '_>,
) -> Option<[(Direction, Option<Drive>); 3]> {
    let list = given.iter().flat_map(|list| &list.value);
    for (at, (direction, rate)) in list.zip(directions.iter().zip(&rates)) {
        if let (Direction::Free, Some(_)) = (direction, rate) {
            let message = "the rate of a free component is not prescribed";
            bench
                .checker
                .report(&at.span, message)
                .help("prescribe or lock the component too, or write \"free\" here");
            return None;
        }
    }
    let mut pairs = directions.into_iter().zip(rates);
    Some([0, 1, 2].map(|_| pairs.next().expect("three of each")))
}
