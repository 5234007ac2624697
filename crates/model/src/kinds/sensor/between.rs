//! Motions of one node from another.

use oldham_multibody::{Marker, Sensor, Sent, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Reading, Reads, needed_axis};
use crate::check::Bench;
use crate::extensions::{Extensions, With};
use crate::format::At;
use crate::format::multibody::Vector;
use crate::mechanism::Pose;

/// Two points.
#[derive(Deserialize, JsonSchema)]
struct Points {
    /// Two points `[on a, on b]` in m, at the start, instead of the nodes themselves.
    points: Option<At<Vec<At<Vector>>>>,
}

/// A direction that turns.
#[derive(Deserialize, JsonSchema)]
struct TurningAxis {
    /// A direction that turns with the first node, given as it is at the start.
    axis: Option<At<Vector>>,
}

type PointsAlong = With<TurningAxis, Points>;
type Nodes = At<Vec<At<String>>>;

const DISPLACEMENT: (&str, &str) = (
    "relative_displacement",
    "The displacement of the second of two nodes from the first along `axis`, in m. The axis turns with the first node.",
);
const VELOCITY: (&str, &str) = (
    "relative_velocity",
    "The rate of that displacement, in m/s.",
);
const ACCELERATION: (&str, &str) = (
    "relative_acceleration",
    "The second rate of that displacement, in m/s². It can be recorded and sent, but not be used in expressions.",
);
const DISTANCE: (&str, &str) = ("distance", "The distance of two nodes, in m.");
const DISTANCE_RATE: (&str, &str) = (
    "distance_rate",
    "The rate of the distance of two nodes, in m/s.",
);

pub(super) fn register(own: &mut Extensions) {
    let reads = Reads::Motions;
    own.own_sensor(DISPLACEMENT, reads, |of, at: PointsAlong, bench| {
        let (ends, axis) = at.read(&of, bench)?;
        Some(Reading::Fed(Sensor::Displacement(ends, axis)))
    });
    own.own_sensor(VELOCITY, reads, |of, at: PointsAlong, bench| {
        let (ends, axis) = at.read(&of, bench)?;
        Some(Reading::Fed(Sensor::DisplacementRate(ends, axis)))
    });
    own.own_sensor(ACCELERATION, reads, |of, at: PointsAlong, bench| {
        let (ends, axis) = at.read(&of, bench)?;
        Some(Reading::Shown(Sent::RelativeAcceleration(ends, axis)))
    });
    own.own_sensor(DISTANCE, reads, |of, at: Points, bench| {
        Some(Reading::Fed(Sensor::Distance(at.ends(&of, bench)?)))
    });
    own.own_sensor(DISTANCE_RATE, reads, |of, at: Points, bench| {
        Some(Reading::Fed(Sensor::DistanceRate(at.ends(&of, bench)?)))
    });
}

impl Points {
    /// Markers with absolute axes at the start: a given direction turns with the first.
    fn ends(&self, of: &Nodes, bench: &mut Bench<'_, '_, '_>) -> Option<[Marker; 2]> {
        let Bench { checker, draft, .. } = bench;
        let [a, b] = checker
            .two(of, "nodes")?
            .map(|name| checker.node_named(name, draft));
        let nodes = [a?, b?];
        let points = checker.points_in(&Pose::ABSOLUTE, &self.points, nodes, draft)?;
        Some(draft.ends(nodes, points))
    }
}

impl PointsAlong {
    fn read(&self, of: &Nodes, bench: &mut Bench<'_, '_, '_>) -> Option<([Marker; 2], Vec3)> {
        let axis = needed_axis(&self.0.axis, bench);
        Some((self.1.ends(of, bench)?, axis?))
    }
}
