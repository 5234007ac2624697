//! Sensors inside a mechanism.

use schemars::JsonSchema;
use serde::Deserialize;

use super::Vector;
use crate::format::{At, Foreign};

/// A sensor: exactly one of these, with what belongs to it. It measures the state that a step
/// solves for, so that feedback has no delay. What it measures is recorded as
/// `<subsystem>.sensors.<name>`, and an output can send it.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SensorEntry {
    /// The displacement of this node along `axis` from the origin, in m.
    pub displacement: Option<At<String>>,
    /// The velocity of this node along `axis`, in m/s.
    pub velocity: Option<At<String>>,
    /// The acceleration of this node along `axis`, in m/s². It can be recorded and sent, but not be
    /// used in expressions.
    pub acceleration: Option<At<String>>,
    /// The angular velocity of this node about `axis`, in rad/s.
    pub angular_velocity: Option<At<String>>,
    /// The displacement of the second of two nodes from the first along `axis`, in m. The axis turns
    /// with the first node.
    pub relative_displacement: Option<At<Vec<At<String>>>>,
    /// The rate of that displacement, in m/s.
    pub relative_velocity: Option<At<Vec<At<String>>>>,
    /// The second rate of that displacement, in m/s². It can be recorded and sent, but not be used
    /// in expressions.
    pub relative_acceleration: Option<At<Vec<At<String>>>>,
    /// The distance of two nodes, in m.
    pub distance: Option<At<Vec<At<String>>>>,
    /// The rate of the distance of two nodes, in m/s.
    pub distance_rate: Option<At<Vec<At<String>>>>,
    /// The coordinate of this joint: the angle of a `revolute` or `cylindrical` one in rad, over any
    /// number of revolutions, or the distance of a `prismatic` one in m; zero at the start.
    pub coordinate: Option<At<String>>,
    /// The rate of the coordinate of this joint.
    pub rate: Option<At<String>>,
    /// The distance along the axis of this `prismatic` or `cylindrical` joint, in m.
    pub slide: Option<At<String>>,
    /// The rate of that distance, in m/s.
    pub slide_rate: Option<At<String>>,
    /// The moment about the axis of this `revolute` or `cylindrical` joint in N·m, or the force along
    /// the axis of this `prismatic` joint in N, with which its prescribed motion and its friction act
    /// on its second node. At the very start it counts as zero. Or, with the name of a servo, the torque or force
    /// with which that drives its joint.
    pub torque: Option<At<String>>,
    /// The force along `axis` in N that this joint, spring or bushing exerts on its second node, or on
    /// the node `on`. That of a joint counts as zero at the very start.
    pub force: Option<At<String>>,
    /// The moment about `axis` in N·m, and about the node, that this joint, torsion spring or bushing
    /// exerts on its second node, or on the node `on`. That of a joint counts as zero at the very
    /// start.
    pub moment: Option<At<String>>,
    /// The tension of this spring in N.
    pub tension: Option<At<String>>,
    /// The power in W of the forces that this joint, motor, servo, spring, bushing or load exerts.
    pub power: Option<At<String>>,
    /// The force along `axis` in N of all contacts on this node, a mean over the step. It can be recorded and sent, but not be used
    /// in expressions.
    pub contact_force: Option<At<String>>,
    /// The force along `axis` in N of the contacts between two nodes `[a, b]`, `ground` among them, on the second, a mean over the step. It
    /// can be recorded and sent, but not be used in expressions.
    pub contact_force_between: Option<At<Vec<At<String>>>>,
    /// A strain or an internal load of this beam, `at` some place along it.
    pub beam: Option<At<String>>,
    /// A strain or an internal load of this shell, `at` some place on it: in the middle of the
    /// element there.
    pub shell: Option<At<String>>,
    /// A fixed direction, where one is needed; for relative motions one that turns with the first
    /// node, given as it is at the start.
    pub axis: Option<At<Vector>>,
    /// With `displacement`, `velocity` and `acceleration`: a point of the body away from the node, in
    /// m and in node axes.
    pub offset: Option<At<Vector>>,
    /// With what is measured between two nodes: two points `[on a, on b]` in m, at the start, instead
    /// of the nodes themselves.
    pub points: Option<At<Vec<At<Vector>>>>,
    /// With `force` and `moment`: the node on which they act.
    pub on: Option<At<String>>,
    /// With `force` and `moment` of a joint: `axis` is in the axes of the joint, the third of which is
    /// its own axis, and moments are about the joint.
    pub in_joint_axes: Option<bool>,
    /// With `beam`: where, from 0 to 1 along it. With `shell`: the two parameters `[u, v]`, from 0 to
    /// 1.
    pub at: Option<At<Vector>>,
    /// With `beam` and `shell`: which internal load. Of a beam in N or N·m, of a shell in N/m or N.
    pub load: Option<At<SectionWord>>,
    /// With `beam` and `shell`: which strain, conjugate to the load of this name.
    pub strain: Option<At<SectionWord>>,
    /// One of a registered kind instead.
    #[schemars(skip)]
    pub foreign: Option<At<Foreign>>,
}

/// A component of what a section feels. The first axis of a beam points along it, the second towards
/// `up`; the first axis of a shell along its first parameter, the third is its normal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SectionWord {
    /// Of a beam: along it.
    Axial,
    /// Of a beam: across, along the second axis.
    ShearY,
    /// Of a beam: across, along the third axis.
    ShearZ,
    /// Of a beam: about its line.
    Torsion,
    /// Of a beam: about the second axis.
    BendingY,
    /// Of a beam: about the third axis.
    BendingZ,
    /// Of a shell: in the surface, along the first axis.
    N11,
    /// Of a shell: in the surface, along the second axis.
    N22,
    /// Of a shell: shear in the surface.
    N12,
    /// Of a shell: bending along the first axis.
    M11,
    /// Of a shell: bending along the second axis.
    M22,
    /// Of a shell: twisting.
    M12,
    /// Of a shell: transverse shear along the first axis.
    Q1,
    /// Of a shell: transverse shear along the second axis.
    Q2,
}

impl SectionWord {
    /// As model files write it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Axial => "axial",
            Self::ShearY => "shear-y",
            Self::ShearZ => "shear-z",
            Self::Torsion => "torsion",
            Self::BendingY => "bending-y",
            Self::BendingZ => "bending-z",
            Self::N11 => "n11",
            Self::N22 => "n22",
            Self::N12 => "n12",
            Self::M11 => "m11",
            Self::M22 => "m22",
            Self::M12 => "m12",
            Self::Q1 => "q1",
            Self::Q2 => "q2",
        }
    }
}
