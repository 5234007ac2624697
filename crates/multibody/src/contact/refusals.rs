//! What ends a run with contacts, in the words of the model.

use oldham_contact::{BodyId, ContactError, Pose};
use oldham_space::Vec3;

use super::scene::Contacts;
use super::{ContactModel, Shape, Start};
use crate::error::SolveError;
use crate::model::Model;
use crate::node::NodeId;

/// Bodies that are in each other by this share of the smallest half size are not pushed apart any more.
const DEEP: f64 = 0.5;

impl Contacts {
    /// Refuses bodies that are deep in each other: what pushes them there leaves no solution.
    pub(super) fn check_room(&self, time: f64) -> Result<(), SolveError> {
        if self.report.penetration <= DEEP * self.model.smallest() {
            return Ok(());
        }
        let touches = self.scene.touches().iter();
        let deepest = touches.min_by(|one, other| one.gap.total_cmp(&other.gap));
        let Some(touch) = deepest else {
            return Ok(());
        };
        let [one, other] = touch.ends.map(|end| &self.names[end.body()]);
        let what = format!(
            "{one} and {other} are {:.3e} m in each other: a prescribed motion leaves them no room, or the step is too long for their speed",
            -touch.gap
        );
        Err(SolveError::Contact { time, what })
    }

    /// Refuses grains that have left their containers.
    pub(super) fn check_containers(&self, time: f64) -> Result<(), SolveError> {
        let mut first = 0;
        for grains in &self.model.grains {
            let range = first..first + grains.centres.len();
            first = range.end;
            let Some(container) = grains.container else {
                continue;
            };
            let shape = &self.model.shapes[container];
            let Shape::Can(can) = &shape.shape else {
                continue;
            };
            let node = shape.at.node.0;
            let place = self.nodes.iter().position(|each| each.node == node);
            let (pose, centre) = match place {
                Some(place) => (
                    *self.scene.pose(BodyId(place as u32)),
                    self.nodes[place].centre,
                ),
                None => (Pose::default(), Vec3::ZERO),
            };
            let frame = pose.then(&Pose {
                position: shape.at.offset - centre,
                axes: shape.at.orientation.matrix(),
            });
            for grain in range.clone() {
                let at = frame.locate(self.scene.grains()[grain]);
                if can.distance(at) < -grains.radius {
                    let what = format!(
                        "particle {} of `{}` has left `{}`: a wall was passed within one step; take a smaller step",
                        grain - range.start,
                        grains.name,
                        shape.name
                    );
                    return Err(SolveError::Contact { time, what });
                }
            }
        }
        Ok(())
    }
}

/// The names of bodies and grains in messages.
pub(super) fn named(model: &Model, touched: &[NodeId], described: &ContactModel) -> Vec<String> {
    let mut names: Vec<String> = touched
        .iter()
        .map(|node| format!("`{}`", model.node_name(*node)))
        .collect();
    names.push("the ground".to_owned());
    for grains in &described.grains {
        let name = &grains.name;
        names.extend((0..grains.centres.len()).map(|i| format!("particle {i} of `{name}`")));
    }
    names
}

/// An error in the words of the model.
pub(super) fn explained(error: ContactError, names: &[String], start: Start) -> String {
    let name = |body: usize| names.get(body).map_or("a body", String::as_str);
    match error {
        ContactError::Overlap {
            first,
            second,
            depth,
            pairs,
        } => format!(
            "{} and {} overlap by {depth:.3e} m at the start ({pairs} contacts overlap in all); {}",
            name(first),
            name(second),
            match start {
                Start::Refuse => "move them apart, or let `overlap = \"resolve\"` do it",
                Start::Resolve =>
                    "joints or other bodies leave `overlap = \"resolve\"` no way to move them apart: place them apart",
            }
        ),
        ContactError::Lost { body, x, y, z, .. } => format!(
            "{} has left the domain: it is at ({x:.3e}, {y:.3e}, {z:.3e}) m; a wall is missing, or it was passed within one step",
            name(body)
        ),
        ContactError::NotFinite { body, .. } => {
            format!(
                "the motion of {} is not finite; take a smaller step",
                name(body)
            )
        }
        ContactError::Size { body, size } => format!(
            "{}: a size of its shape is {size}; sizes must be positive and finite",
            name(body)
        ),
        ContactError::OpenCan { body, facets } => format!(
            "{}: a can of {facets} flat walls is open; give at least 3, or none for a round wall",
            name(body)
        ),
        other => other.to_string(),
    }
}
