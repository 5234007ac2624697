//! Contact: shapes, particles, and how contacts are solved.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{Lengths, Orientation, Vector};
use crate::format::{At, Count, NonNegative, Positive, Restitution};

/// The residual that is accepted when nothing else is said, in m/s.
pub(crate) const DEFAULT_RESIDUAL: f64 = 1e-6;

/// How far from the origin things may be when nothing else is said, in m.
pub(crate) const DEFAULT_DOMAIN: f64 = 1e4;

/// How contacts are found and solved, and what surfaces are made of where nothing else is said.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(crate) struct Contact {
    /// Bodies whose own shapes are in contact.
    pub bodies: Option<Vec<At<String>>>,
    /// Coulomb's coefficient of friction of all surfaces that give none of their own. Of two surfaces the geometric mean
    /// counts.
    #[schemars(extend("default" = 0.0))]
    pub friction: Option<At<NonNegative>>,
    /// Rolling friction in m of all surfaces that give none of their own: the moment that resists rolling is at most this times the
    /// normal force. Of two surfaces the larger counts; particles have none.
    #[schemars(extend("default" = 0.0))]
    pub rolling: Option<At<NonNegative>>,
    /// Torsional friction in m, the same for spinning about the normal of a contact.
    #[schemars(extend("default" = 0.0))]
    pub torsion: Option<At<NonNegative>>,
    /// Newton's coefficient of restitution of all surfaces that give none of their own, from 0 (plastic) to 1 (elastic). Of two
    /// surfaces the smaller counts.
    #[schemars(extend("default" = 0.0))]
    pub restitution: Option<At<Restitution>>,
    /// Pairs of nodes whose shapes pass through each other, besides those that a joint connects.
    pub exclude: Option<Vec<At<Vec<At<String>>>>>,
    /// What happens to shapes that overlap at the start.
    #[schemars(extend("default" = "refuse"))]
    pub overlap: Option<Overlap>,
    /// Contacts with a gap below this are taken into account, in m. By default a tenth of the smallest radius or half edge, at
    /// most 1 mm.
    pub reach: Option<At<Positive>>,
    /// Penetrations beyond this, in m, are taken back by moving bodies apart without giving them velocity. By default a thousandth of
    /// `reach`, at most 1 µm.
    pub penetration: Option<At<Positive>>,
    /// The law of friction.
    #[schemars(extend("default" = "coulomb"))]
    pub law: Option<ContactLaw>,
    /// How blows of bodies that rebound are passed on.
    #[schemars(extend("default" = "in-turn"))]
    pub impacts: Option<Impacts>,
    /// Steps with at most so many contacts are solved by pivoting, which finds exactly which of them press, stick and slip, with friction in a
    /// box. By default none.
    pub exact: Option<At<Count>>,
    /// The residual that is accepted in every step, in m/s: how far velocities are from the law of friction.
    #[schemars(extend("default" = DEFAULT_RESIDUAL))]
    pub residual: Option<At<Positive>>,
    /// Bodies and particles farther than this from the origin are lost, which ends the run, in m.
    #[schemars(extend("default" = DEFAULT_DOMAIN))]
    pub domain: Option<At<Positive>>,
    /// Whether bodies that rest are left alone until something touches or pushes them: the same motion to the residual, in less time. With Coulomb's law, without
    /// `exact`; bodies that joints hold never sleep.
    #[schemars(extend("default" = false))]
    pub sleep: Option<At<bool>>,
}

/// The law of friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ContactLaw {
    /// Coulomb's: friction opposite to the sliding, within μ times the normal force.
    Coulomb,
    /// That of a convex program, for comparison: a contact opens with μ times its sliding velocity.
    Convex,
}

/// How blows of bodies that rebound are passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Impacts {
    /// One after the other, in the order of time.
    InTurn,
    /// All contacts that close within a step at once.
    Together,
}

/// What happens to shapes that overlap at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Overlap {
    /// They are refused.
    Refuse,
    /// They are moved apart.
    Resolve,
}

/// A shape in contact: exactly one of `body`, `sphere`, `box`, `capsule`, `cylinder`, `mesh`, `plane`, `can` and `heights`. Shapes of one node, and of
/// two moving nodes that a joint connects, pass through each other.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ContactShape {
    /// The node that carries it, which may be `ground`; not with `body`.
    pub node: Option<At<String>>,
    /// The shape of this body, on its node.
    pub body: Option<At<String>>,
    /// Radius in m.
    pub sphere: Option<At<Positive>>,
    /// Lengths in m along the three axes.
    #[serde(rename = "box")]
    pub cuboid: Option<At<Lengths>>,
    /// Radius, and length between the centres of the two half spheres, in m; along the first axis.
    pub capsule: Option<At<Lengths>>,
    /// Radius and length in m; along the first axis.
    pub cylinder: Option<At<Lengths>>,
    /// Points in m whose convex hull is the solid, at most 64.
    pub mesh: Option<At<Vec<At<Vector>>>>,
    /// Direction out of a half space, in node axes.
    pub plane: Option<At<Vector>>,
    /// A container that is touched from inside: its radius in m, and its height if it has a lid. `position` is the middle of its
    /// bottom, and it stands along its third axis.
    pub can: Option<At<Lengths>>,
    /// A can has so many flat walls around this radius, instead of a round one.
    pub walls: Option<At<Count>>,
    /// A height field: heights in m along the third axis over a grid, row by row; the first axis runs within a row, the second from row to
    /// row. `position` is the middle of the grid.
    pub heights: Option<At<Vec<At<Vector>>>>,
    /// Distances in m of the grid of `heights`, along the first and the second axis.
    pub spacing: Option<At<Lengths>>,
    /// Where its centre is, relative to the node, in m and in node axes.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub position: Option<At<Vector>>,
    /// Its axes relative to the node's. By default the node's.
    pub orientation: Option<At<Orientation>>,
    /// Coulomb's coefficient of friction. By default that of `contact`.
    pub friction: Option<At<NonNegative>>,
    /// Rolling friction in m. By default that of `contact`.
    pub rolling: Option<At<NonNegative>>,
    /// Torsional friction in m. By default that of `contact`.
    pub torsion: Option<At<NonNegative>>,
    /// Newton's coefficient of restitution. By default that of `contact`.
    pub restitution: Option<At<Restitution>>,
    /// Stiffness in N/m of each contact point. By default the surface is rigid.
    pub stiffness: Option<At<Positive>>,
    /// Damping in N·s/m of each contact point, beside a stiffness.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
}

/// Nodes against a solid whose surface yields, as forces for any integrator: a rope on a drum, a leaf spring against a stop. Each node carries a ball of
/// `radius`, which is pushed out by `stiffness · penetration^exponent · (1 + damping · rate of penetration)`, after Hunt and Crossley, and never
/// pulled in.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct CompliantContact {
    /// The nodes, those of beams among them.
    pub nodes: Option<Vec<At<String>>>,
    /// All nodes of this beam.
    pub beam: Option<At<String>>,
    /// Radius of the ball about each node in m.
    #[schemars(extend("default" = 0.0))]
    pub radius: Option<At<NonNegative>>,
    /// The solid: a `sphere`, `box`, `capsule`, `cylinder`, `mesh` or `plane` on its `node`.
    #[schemars(required)]
    pub against: Option<At<ContactShape>>,
    /// Force in N at a penetration of 1 m, of each node.
    #[schemars(required)]
    pub stiffness: Option<At<Positive>>,
    /// Power of the penetration, at least 1; 1.5 for spheres after Hertz.
    #[schemars(extend("default" = 1.0))]
    pub exponent: Option<At<Positive>>,
    /// Damping in s/m. A blow at a speed v is returned at about (1 - 2/3 damping v) v where that is small.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<NonNegative>>,
    /// Coulomb's coefficient of friction.
    #[schemars(extend("default" = 0.0))]
    pub friction: Option<At<NonNegative>>,
    /// Slip in m/s at which 1/√2 of the friction acts: what ought to stick creeps.
    #[schemars(extend("default" = 1e-3))]
    pub speed: Option<At<Positive>>,
}

/// Spheres of one kind on a lattice, without nodes of their own: in a can, or anywhere.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Particles {
    /// Radius in m.
    #[schemars(required)]
    pub radius: Option<At<Positive>>,
    /// Density in kg/m³.
    #[schemars(required)]
    pub density: Option<At<Positive>>,
    /// The can that contains them, by the name of its shape. They fill it from its bottom; one that leaves it ends the run.
    pub container: Option<At<String>>,
    /// How many there are in the container.
    pub count: Option<At<Count>>,
    /// How many there are along the three absolute axes, where no container is given.
    pub lattice: Option<At<Vec<At<Count>>>>,
    /// Centre of the first particle of that lattice, in m.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub position: Option<At<Vector>>,
    /// Distance of the centres, in radii; more than 2.
    #[schemars(extend("default" = DEFAULT_SPACING))]
    pub spacing: Option<At<Positive>>,
    /// Coulomb's coefficient of friction, the same for all particles of a subsystem. By default that of `contact`.
    pub friction: Option<At<NonNegative>>,
    /// Newton's coefficient of restitution, the same for all particles of a subsystem. By default that of `contact`.
    pub restitution: Option<At<Restitution>>,
}

/// Distance of the centres of particles when nothing else is said, in radii.
pub(crate) const DEFAULT_SPACING: f64 = 2.1;
