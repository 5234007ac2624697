//! Motions of nodes.

use oldham_multibody::{Along, Marker, Sensor, Sent, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Axis, Reading, Reads};
use crate::check::Bench;
use crate::extensions::{Extensions, With};
use crate::format::At;
use crate::format::multibody::Vector;

/// A point of a body.
#[derive(Deserialize, JsonSchema)]
struct Point {
    /// A point of the body away from the node, in m and in node axes.
    offset: Option<At<Vector>>,
}

type PointAlong = With<Axis, Point>;

const DISPLACEMENT: (&str, &str) = (
    "displacement",
    "The displacement of this node along `axis` from the origin, in m.",
);
const VELOCITY: (&str, &str) = (
    "velocity",
    "The velocity of this node along `axis`, in m/s.",
);
const ACCELERATION: (&str, &str) = (
    "acceleration",
    "The acceleration of this node along `axis`, in m/s². It can be recorded and sent, but not be used in expressions.",
);
const ANGULAR_VELOCITY: (&str, &str) = (
    "angular_velocity",
    "The angular velocity of this node about `axis`, in rad/s.",
);

pub(super) fn register(own: &mut Extensions) {
    let reads = Reads::Motions;
    own.own_sensor(DISPLACEMENT, reads, |of, at: PointAlong, bench| {
        let (point, axis) = at.read(&of, bench)?;
        Some(Reading::Fed(Sensor::Position(point, axis)))
    });
    own.own_sensor(VELOCITY, reads, |of, at: PointAlong, bench| {
        let (point, axis) = at.read(&of, bench)?;
        Some(Reading::Fed(Sensor::Velocity(point, axis)))
    });
    own.own_sensor(ACCELERATION, reads, |of, at: PointAlong, bench| {
        let (point, axis) = at.read(&of, bench)?;
        let sent = Sent::Along(point, axis, Along::Acceleration);
        Some(Reading::Shown(sent))
    });
    own.own_sensor(
        ANGULAR_VELOCITY,
        reads,
        |of: At<String>, at: Axis, bench| {
            let node = bench.checker.moving_node_named(&of, bench.draft);
            let axis = at.read(bench);
            Some(Reading::Fed(Sensor::Spin(node?, axis?)))
        },
    );
}

impl PointAlong {
    fn read(&self, of: &At<String>, bench: &mut Bench<'_, '_, '_>) -> Option<(Marker, Vec3)> {
        let With(axis, Point { offset }) = self;
        let offset = bench.checker.vector_or_zero(offset);
        let node = bench.checker.moving_node_named(of, bench.draft);
        let axis = axis.read(bench);
        Some((Marker::on(node?).offset(offset?), axis?))
    }
}
