//! Coordinates of joints, and what drives them.

use oldham_multibody::{Coordinate, LoadSensor, Sensor, Vec3};

use super::{Nothing, Reading, Reads};
use crate::check::Bench;
use crate::extensions::Extensions;
use crate::format::At;

const COORDINATE: (&str, &str) = (
    "coordinate",
    "The coordinate of this joint: the angle of a `revolute` or `cylindrical` one in rad, over any number of \
     revolutions, or the distance of a `prismatic` one in m; zero at the start.",
);
const RATE: (&str, &str) = ("rate", "The rate of the coordinate of this joint.");
const SLIDE: (&str, &str) = (
    "slide",
    "The distance along the axis of this `prismatic` or `cylindrical` joint, in m.",
);
const SLIDE_RATE: (&str, &str) = ("slide_rate", "The rate of that distance, in m/s.");
const TORQUE: (&str, &str) = (
    "torque",
    "The moment about the axis of this `revolute` or `cylindrical` joint in N·m, or the force along the axis of this \
     `prismatic` joint in N, with which its prescribed motion and its friction act on its second node. At the \
     start it counts as zero. Or, with the name of a servo, the torque or force with which that drives its joint.",
);

pub(super) fn register(own: &mut Extensions) {
    let reads = Reads::Motions;
    own.own_sensor(COORDINATE, reads, |of: At<String>, _: Nothing, bench| {
        let (coordinate, ends) = bench.checker.coordinate(&of, bench.draft)?;
        Some(Reading::Fed(match coordinate {
            Coordinate::Angle => Sensor::Angle(bench.draft.counter(&of.value, ends)),
            Coordinate::Slide => Sensor::Coordinate(coordinate, ends),
        }))
    });
    own.own_sensor(RATE, reads, |of, _: Nothing, bench| {
        let (coordinate, ends) = bench.checker.coordinate(&of, bench.draft)?;
        Some(Reading::Fed(Sensor::Rate(coordinate, ends)))
    });
    let slide = Coordinate::Slide;
    own.own_sensor(SLIDE, reads, move |of, _: Nothing, bench| {
        let ends = bench.checker.joint_with(&of, slide, bench.draft)?;
        Some(Reading::Fed(Sensor::Coordinate(slide, ends)))
    });
    own.own_sensor(SLIDE_RATE, reads, move |of, _: Nothing, bench| {
        let ends = bench.checker.joint_with(&of, slide, bench.draft)?;
        Some(Reading::Fed(Sensor::Rate(slide, ends)))
    });
    own.own_sensor(TORQUE, Reads::Drive, |of, _: Nothing, bench| {
        torque(&of, bench).map(Reading::Fed)
    });
}

/// What drives a joint's coordinate: a servo; or, of a joint, its prescribed rate, or else the joint itself.
fn torque(of: &At<String>, bench: &mut Bench<'_, '_, '_>) -> Option<Sensor> {
    let Bench { checker, draft, .. } = bench;
    let (element, coordinate, ends) = match draft.servos.get(of.value.as_str()) {
        Some(servo) => (*servo)?,
        None => {
            let (coordinate, ends) = checker.coordinate(of, draft)?;
            let joint = checker.joint_named(of, draft)?;
            (joint.drive.unwrap_or(joint.element), coordinate, ends)
        }
    };
    let load = match coordinate {
        Coordinate::Angle => LoadSensor::moment(element, 1, Vec3::Z),
        Coordinate::Slide => LoadSensor::force(element, 1, Vec3::Z),
    };
    Some(Sensor::Load(load.seen_from(ends)))
}
