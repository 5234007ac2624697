//! Joints: one file a kind. What several of them have in common stands here, in `coordinate` and in `friction`.
//!
//! A joint attaches to its nodes where they are at the start.

mod constant_velocity;
mod coordinate;
mod cylindrical;
mod fixed;
mod friction;
mod planar;
mod point_on_curve;
mod point_on_line;
mod point_on_plane;
mod prismatic;
mod revolute;
mod rod;
mod rolling;
mod screw;
mod spherical;
mod total;
mod universal;

use oldham_multibody::{Marker, NodeId, Quaternion};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::check::Bench;
use crate::extensions::{Extensions, With};
use crate::format::At;
use crate::format::multibody::{Orientation, Vector};
use crate::mechanism::Pose;

pub(super) fn register(own: &mut Extensions) {
    own.own_joint("fixed", Some("clamp"), fixed::make);
    own.own_joint("revolute", None, revolute::make);
    own.own_joint("spherical", None, spherical::make);
    own.own_joint("prismatic", None, prismatic::make);
    own.own_joint("cylindrical", None, cylindrical::make);
    own.own_joint("screw", None, screw::make);
    own.own_joint("universal", None, universal::make);
    own.own_joint("planar", None, planar::make);
    own.own_joint("point-on-line", Some("in-line"), point_on_line::make);
    own.own_joint("point-on-plane", Some("in-plane"), point_on_plane::make);
    own.own_joint("constant-velocity", None, constant_velocity::make);
    own.own_joint("point-on-curve", None, point_on_curve::make);
    own.own_joint("rolling", None, rolling::make);
    own.own_joint("rod", Some("distance"), rod::make);
    own.own_joint("total", None, total::make);
}

/// What a joint connects.
#[derive(Debug, Deserialize, JsonSchema)]
struct Ends {
    /// The two nodes `[a, b]`, `ground` among them.
    #[schemars(required)]
    between: Option<At<Vec<At<String>>>>,
    /// The frame in which places and directions are given. By default the absolute frame.
    #[serde(rename = "in")]
    frame: Option<At<String>>,
}

/// Where a joint is, with its axes.
#[derive(Debug, Deserialize, JsonSchema)]
struct Place {
    /// Where it is, in m. By default at the second node, or at the first if the second is the
    /// ground.
    position: Option<At<Vector>>,
    /// Its three axes, the third of which is its own axis where it has one. By default those of the frame.
    orientation: Option<At<Orientation>>,
}

/// The axis alone.
#[derive(Debug, Deserialize, JsonSchema)]
struct Axis {
    /// Its axis instead of all three: of rotation, of sliding, normal to the plane, or the axle. By default the third
    /// axis of the frame.
    axis: Option<At<Vector>>,
}

/// Keys of a joint at one place.
type Placed = With<Ends, Place>;
/// Keys of a joint at one place with an axis.
type Axial = With<Ends, With<Place, Axis>>;

/// Where a joint connects its nodes, the frame in which that was given, and its axes in the absolute frame.
struct Placement {
    ends: [Marker; 2],
    frame: Pose,
    axes: Quaternion,
}

impl Ends {
    fn placed(
        &self,
        position: &Option<At<Vector>>,
        axes: impl FnOnce(&Pose, &mut Bench<'_, '_, '_>) -> Option<Quaternion>,
        bench: &mut Bench<'_, '_, '_>,
    ) -> Option<Placement> {
        let nodes = bench.checker.ends_of(&self.between, bench.draft);
        let frame = bench.checker.frame_named(&self.frame, bench.draft);
        let axes = axes(&frame.unwrap_or(Pose::ABSOLUTE), bench);
        let nodes = nodes?;
        let (frame, axes) = (frame?, axes?);
        let place = bench
            .checker
            .place_in(&frame, position, nodes, bench.draft)?;
        Some(Placement {
            ends: bench.draft.markers(nodes, place, axes),
            frame,
            axes,
        })
    }
}

impl Placed {
    fn ends(&self, bench: &mut Bench<'_, '_, '_>) -> Option<[Marker; 2]> {
        let With(ends, place) = self;
        let axes = |frame: &Pose, bench: &mut Bench<'_, '_, '_>| {
            bench.checker.orientation_in(frame, &place.orientation)
        };
        Some(ends.placed(&place.position, axes, bench)?.ends)
    }
}

impl Axial {
    fn placed(&self, bench: &mut Bench<'_, '_, '_>) -> Option<Placement> {
        let With(ends, With(place, Axis { axis })) = self;
        let axes = |frame: &Pose, bench: &mut Bench<'_, '_, '_>| {
            let orientation = &place.orientation;
            let both = (("orientation", orientation), ("axis", axis));
            bench.checker.not_both(both.0, both.1)?;
            match axis {
                Some(axis) => {
                    let third = frame.direction(bench.checker.direction(axis)?);
                    Some(Marker::on(NodeId::GROUND).axis(third).orientation)
                }
                None => bench.checker.orientation_in(frame, orientation),
            }
        };
        ends.placed(&place.position, axes, bench)
    }

    fn ends(&self, bench: &mut Bench<'_, '_, '_>) -> Option<[Marker; 2]> {
        Some(self.placed(bench)?.ends)
    }
}
