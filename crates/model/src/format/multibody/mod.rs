//! A multibody subsystem: rigid bodies, joints, compliant elements and beams in space.
//!
//! Everything that is written once and used in several tables (vectors, orientations, given
//! numbers) has a file of its own; the others hold one kind of thing each.

mod beam;
mod body;
mod compliant;
mod contact;
mod cut;
mod geometry;
mod given;
mod load;
mod port;
mod section_word;
mod shell;
mod visual;

use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    At, DEFAULT_RHO, Division, Foreign, Fraction, InputsWithinStep, Iterations, Named, Pacing,
    Tolerance,
};

use crate::kinds;

pub(crate) use beam::{Beam, End, Lumping, Section};
pub(crate) use body::{Body, Solid};
pub(crate) use compliant::{
    Acts, Actuator, Bushing, Cable, Clearance, Hysteresis, Map, Motor, Pairs, RigidLink, Servo,
    Spring, SurfaceFriction, TorsionSpring, Transmission,
};
pub(crate) use contact::{
    CompliantContact, Contact, ContactLaw, ContactShape, DEFAULT_DOMAIN, DEFAULT_RESIDUAL,
    DEFAULT_SPACING, Impacts, Overlap, Particles,
};
pub(crate) use cut::{Cut, CutOrder, Members, PieceMethod, Prescribe, PrescribeName, Scheme};
pub(crate) use geometry::{Frame, Lengths, Node, Orientation, Vector};
pub use given::TimeFunction;
pub(crate) use given::{Given, GivenTable};
pub(crate) use load::Load;
pub(crate) use port::{Input, Output};
pub(crate) use section_word::SectionWord;
pub(crate) use shell::{Edge, Shell};
pub(crate) use visual::Visual;

/// Error of the accelerations at which Newton's iteration stops when nothing else is said.
pub(crate) const DEFAULT_TOLERANCE: f64 = 1e-6;
/// Newton's iterations when nothing else is said.
pub(crate) const DEFAULT_ITERATIONS: u32 = 25;

/// A multibody subsystem: nodes (a position and an orientation each) that carry bodies and are
/// connected by joints, springs, beams and shells, in space. The absolute frame is the node `ground`, which
/// does not move. Positions and directions are absolute unless a frame is named beside them.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Multibody {
    /// Acceleration of gravity in m/s², in the absolute frame.
    #[schemars(extend("default" = [0.0, 0.0, 0.0]))]
    pub gravity: Option<At<Vector>>,
    /// How it is integrated in time.
    #[schemars(extend("default" = "lms2"))]
    pub integrator: Option<At<Method>>,
    /// Spectral radius at infinity of `lms2` and `generalised-alpha`, between 0 (most damping) and
    /// 1 (none).
    #[schemars(extend("default" = DEFAULT_RHO))]
    pub rho: Option<At<Fraction>>,
    /// How `rk4` sees its inputs within a micro step.
    #[schemars(extend("default" = "interpolated"))]
    pub inputs_within_step: Option<At<InputsWithinStep>>,
    /// With the implicit integrators: whether steps are divided at the instants where a force passes a kink or a
    /// jump, such as that of a stop, of a corner of a table or of a condition in an expression. Second order is
    /// then kept at jumps too.
    #[schemars(extend("default" = false))]
    pub locate_kinks: Option<At<bool>>,
    /// In which coordinates steps are taken. Those of the joints are for trees of rigid bodies: robots, arms, hands, free
    /// bodies; with the implicit integrators also for loops.
    #[schemars(extend("default" = "absolute"))]
    pub coordinates: Option<At<CoordinatesWord>>,
    #[schemars(flatten)]
    pub division: Division,
    #[schemars(flatten)]
    pub pacing: Pacing,
    /// Newton's iteration stops when the error of the accelerations is below this fraction of the
    /// largest recent acceleration, and well below what the prediction of the step has missed: with
    /// smaller steps it becomes finer by itself.
    #[schemars(extend("default" = DEFAULT_TOLERANCE))]
    pub tolerance: Option<At<Tolerance>>,
    /// Newton's iteration gives up after so many iterations.
    #[schemars(extend("default" = DEFAULT_ITERATIONS))]
    pub max_iterations: Option<At<Iterations>>,
    /// Static equilibrium initialisation: start at rest in equilibrium under all loads, instead of
    /// at the positions and velocities of the file.
    #[schemars(extend("default" = false, "x-formerly" = "settle"))]
    pub static_equilibrium: Option<bool>,
    /// What happens to redundant constraints.
    #[schemars(extend("default" = "refuse"))]
    pub redundant: Option<Redundant>,
    /// Reference frames, by name: fixed frames in which positions and directions can be given.
    pub frames: Named<Frame>,
    /// The nodes, by name.
    pub nodes: Named<Node>,
    /// Rigid bodies on nodes, by name. A node may carry several.
    pub bodies: Named<Body>,
    /// Joints between two nodes, by name. They attach to both where they are at the start.
    #[schemars(schema_with = "kinds::joints")]
    pub joints: Named<Foreign>,
    /// Gears, racks and screws, by name: linear relations between the coordinates of two joints.
    pub transmissions: Named<Transmission>,
    /// Motors in joints, by name.
    pub motors: Named<Motor>,
    /// Servos in joints, by name.
    pub servos: Named<Servo>,
    /// Rigid links of several nodes, by name.
    pub rigid_links: Named<RigidLink>,
    /// Springs, dampers and rods along the line between two points, by name.
    pub springs: Named<Spring>,
    /// Cables through several points, by name.
    pub cables: Named<Cable>,
    /// Joints with clearance, as forces, by name.
    pub clearances: Named<Clearance>,
    /// Point-to-point force elements, driven by received forces or pressures, by name.
    pub actuators: Named<Actuator>,
    /// Torsion springs and dampers about an axis that two nodes share, by name.
    pub torsion_springs: Named<TorsionSpring>,
    /// Springs and dampers against all six relative motions of two nodes, by name.
    pub bushings: Named<Bushing>,
    /// Elements of registered kinds, by name.
    #[schemars(skip)]
    pub elements: Named<Foreign>,
    /// Sensors, by the name under which expressions of loads, and of the free lengths and free
    /// angles of springs, may use what they measure besides time `t`. Each measures one thing, in the state that a step
    /// solves for, so that feedback has no delay. What it measures is recorded as `<subsystem>.sensors.<name>`, and an
    /// output can send it.
    #[schemars(schema_with = "kinds::sensors", extend("x-formerly" = "measures"))]
    pub sensors: Named<Foreign>,
    /// Applied forces and moments on nodes, by name.
    pub loads: Named<Load>,
    /// Cross-sections of beams, by name.
    pub sections: Named<Section>,
    /// Flexible beams, by name: a line, meshed with nodes and elements.
    pub beams: Named<Beam>,
    /// Thin shells, by name: a surface, meshed with nodes and elements.
    pub shells: Named<Shell>,
    /// How contacts are found and solved; for the integrator `impulses`.
    pub contact: Option<At<Contact>>,
    /// Shapes in contact, by name.
    pub shapes: Named<ContactShape>,
    /// Particles in contact, by name.
    pub particles: Named<Particles>,
    /// Nodes against solids that yield, as forces for any integrator, by name.
    pub compliant_contacts: Named<CompliantContact>,
    /// What is drawn besides and has no mass, by name.
    pub visuals: Named<Visual>,
    /// What it receives, by the name of the port.
    pub inputs: Named<Input>,
    /// What it sends, by the name of the port.
    pub outputs: Named<Output>,
    /// Where it is cut into subsystems that run in parallel. Without it, and with `--monolithic`, it
    /// is solved as one system.
    pub cut: Option<At<Cut>>,
}

/// What happens to redundant joints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Redundant {
    /// They are refused: how they share the load is not determined.
    Refuse,
    /// They share the load so that the sum of the squares of all reactions is least, moments being
    /// divided by the size of the mechanism. The nodes must be given where the joints fit.
    LeastNorm,
}

/// Coordinates of a mechanism.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CoordinatesWord {
    /// Six for each node, with constraints for the joints: any mechanism.
    Absolute,
    /// Those that the joints leave free, where joints make a tree of rigid bodies.
    Joint,
}

/// A method of integration in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Method {
    /// Two-step method of second order with tunable numerical damping.
    Lms2,
    /// One-step method of second order with tunable numerical damping.
    GeneralisedAlpha,
    /// First order, strongly damped.
    BackwardEuler,
    /// The classical explicit method of fourth order, with joints closed after each step. Every
    /// motion that the joints allow must move some mass; neither friction nor viscoelastic springs.
    Rk4,
    /// Semi-implicit Euler with impulses, the only one for contacts: first order, joints closed at the end of each
    /// step, forces taken at its beginning. Rigid bodies only; every motion that the joints allow must move some
    /// mass; neither friction in joints nor viscoelastic springs.
    Impulses,
}
