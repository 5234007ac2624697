//! Anti-roll bars and what is measured on a body, in model files.

use crate::anti_roll_bar::AntiRollBar;
use oldham_cosim::Unit;
use oldham_model::{At, Site};
use oldham_multibody::{CustomSensor, NodeId, References, element};
use oldham_space::Vec3;
use schemars::JsonSchema;
use serde::Deserialize;

/// An anti-roll bar: a torsion spring against the difference of the angles of two rockers in the
/// chassis.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Bar {
    /// The node of the chassis.
    chassis: At<String>,
    /// The nodes of the left and of the right rocker.
    rockers: [At<String>; 2],
    /// The axes of the left and of the right rocker, each so that its rocker turns in the positive
    /// sense when its wheel moves up.
    axes: [At<[f64; 3]>; 2],
    /// Stiffness in N·m/rad.
    #[schemars(range(min = 0.0))]
    stiffness: f64,
    /// Damping in N·m·s/rad.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    damping: f64,
}

pub(super) fn anti_roll_bar(settings: Bar, site: &mut Site<'_>) -> Option<AntiRollBar> {
    let chassis = site.node(&settings.chassis);
    let [left, right] = settings.rockers.each_ref().map(|name| site.node(name));
    let nodes = [chassis?, left?, right?];
    // Checked by the way.
    for axis in &settings.axes {
        super::direction(axis, nodes[0], site)?;
    }
    let axes = settings.axes.map(|axis| super::vector(axis.value).unit());
    let orientations = nodes.map(|node| site.model().initial(node).rotation);
    let (stiffness, damping) = (settings.stiffness, settings.damping);
    Some(AntiRollBar::new(
        nodes,
        orientations,
        axes,
        stiffness,
        damping,
    ))
}

/// The velocity of a node along a direction that turns with it, in m/s.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Velocity {
    /// The node.
    on: At<String>,
    /// The direction.
    axis: At<[f64; 3]>,
}

#[derive(Clone, Debug)]
pub(super) struct BodyVelocity {
    node: NodeId,
    /// In node axes.
    axis: Vec3,
}

pub(super) fn body_velocity(settings: Velocity, site: &mut Site<'_>) -> Option<BodyVelocity> {
    let node = site.node(&settings.on)?;
    let axis = super::direction(&settings.axis, node, site)?;
    Some(BodyVelocity { node, axis })
}

impl CustomSensor for BodyVelocity {
    fn read(&self, at: &element::At<'_>) -> f64 {
        let motion = at.motion(self.node);
        motion.velocity.dot(motion.rotation * self.axis)
    }

    fn unit(&self) -> Unit {
        Unit::METRE_PER_SECOND
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.node(&mut self.node);
    }
}
