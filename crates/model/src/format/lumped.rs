//! A lumped-parameter subsystem.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{At, Division, Formula, Fraction, MotionLaw, Named, Pacing};

/// Spectral radius of `lms2` when none is given.
pub(crate) const DEFAULT_RHO: f64 = 0.6;

/// A lumped-parameter subsystem: masses, springs, dampers and loads along one line or about one
/// axis. The node `ground` is always there and does not move.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Lumped {
    /// Whether nodes move along a line (m, kg, N) or about an axis (rad, kg·m², N·m).
    #[schemars(extend("default" = "translation"))]
    pub coordinates: Option<Coordinates>,
    /// How it is integrated in time.
    #[schemars(required)]
    pub integrator: Option<At<Integrator>>,
    /// Spectral radius at infinity of `lms2`, between 0 (most damping) and 1 (none).
    #[schemars(extend("default" = DEFAULT_RHO))]
    pub rho: Option<At<Fraction>>,
    /// How `rk4` sees its inputs within a micro step.
    #[schemars(extend("default" = "interpolated"))]
    pub inputs_within_step: Option<At<InputsWithinStep>>,
    /// With `rk4`: whether steps are divided at the instants where force laws and loads pass a kink or a jump,
    /// such as that of a stop or a corner of a table; the order of four is then kept.
    #[schemars(extend("default" = false))]
    pub locate_kinks: Option<At<bool>>,
    #[schemars(flatten)]
    pub division: Division,
    #[schemars(flatten)]
    pub pacing: Pacing,
    /// The nodes that move by the equations of this subsystem, by name.
    pub masses: Named<Mass>,
    /// Springs and dampers between two nodes, by name.
    pub springs: Named<Spring>,
    /// Applied forces on nodes, by name.
    pub loads: Named<Load>,
    /// Superelements: mass, damping and stiffness matrices over some nodes, by name.
    pub matrices: Named<Matrices>,
    /// What it receives, by the name of the port. Receiving a motion makes a boundary
    /// node of that name, whose motion is imposed.
    pub inputs: Named<Input>,
    /// What it sends, by the name of the port.
    pub outputs: Named<Output>,
}

/// Direction of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Coordinates {
    /// Along a line: m, kg, N.
    Translation,
    /// About an axis: rad, kg·m², N·m.
    Rotation,
}

/// A method of integration in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Integrator {
    /// Velocity first, then position with the new velocity; first order, symplectic.
    SemiImplicitEuler,
    /// Two-step method of second order with tunable numerical damping.
    Lms2,
    /// First order, implicit, strongly damped.
    BackwardEuler,
    /// The classical explicit method of fourth order.
    Rk4,
    /// The matrix exponential, for linear subsystems.
    Exact,
}

/// How `rk4` sees its inputs within a micro step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum InputsWithinStep {
    /// As they are at its start.
    Held,
    /// As predicted for each stage.
    Interpolated,
}

/// A node with its own motion.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Mass {
    /// Mass in kg, or moment of inertia in kg·m². May be left out where a matrix gives the node
    /// its mass.
    pub mass: Option<At<super::Mass>>,
    /// Initial displacement in m, or angle in rad.
    #[schemars(extend("default" = 0.0))]
    pub position: Option<At<Formula>>,
    /// Initial velocity in m/s, or rad/s.
    #[schemars(extend("default" = 0.0))]
    pub velocity: Option<At<Formula>>,
}

/// A spring, a damper, or both; linear, or with a law of its own. Its force is positive in
/// tension: it pulls the two nodes together.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Spring {
    /// The two nodes `[a, b]`; its elongation is `d = x_b - x_a`.
    #[schemars(required)]
    pub between: Option<At<Vec<At<String>>>>,
    /// Stiffness in N/m, or N·m/rad.
    #[schemars(extend("default" = 0.0))]
    pub stiffness: Option<At<Formula>>,
    /// Damping in N·s/m, or N·m·s/rad.
    #[schemars(extend("default" = 0.0))]
    pub damping: Option<At<Formula>>,
    /// Free elongation (without force), in m or rad.
    #[schemars(extend("default" = 0.0))]
    pub rest: Option<At<Formula>>,
    /// The force instead, in N or N·m, as an expression of elongation `d`, its rate `v`, time `t`
    /// and parameters.
    pub force: Option<At<Formula>>,
}

/// An applied force.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Load {
    /// The node on which it acts.
    #[schemars(required)]
    pub on: Option<At<String>>,
    /// The force in N, or N·m, as an expression of time `t` and parameters.
    #[schemars(required)]
    pub force: Option<At<Formula>>,
}

/// A matrix, row by row.
pub(crate) type Rows = Vec<At<Vec<At<Formula>>>>;

/// A superelement: `mass a + damping v + stiffness x` over its nodes. Matrices are lists of rows.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Matrices {
    /// The nodes, in the order of rows and columns.
    #[schemars(required)]
    pub nodes: Option<At<Vec<At<String>>>>,
    /// Mass matrix, symmetric.
    pub mass: Option<At<Rows>>,
    /// Damping matrix.
    pub damping: Option<At<Rows>>,
    /// Stiffness matrix.
    pub stiffness: Option<At<Rows>>,
}

/// What an input port receives: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Input {
    /// Displacement, velocity and acceleration of the boundary node of this name.
    pub motion: Option<At<String>>,
    /// With `motion` and `semi-implicit-euler`: the boundary node has a position and a velocity of
    /// its own, which follow the received motion by this law, as bodies do in solvers for contact.
    /// The force on it is the mean over the step.
    pub prescribe: Option<At<MotionLaw>>,
    /// Position-driven: the same, but only the displacement is used; velocity and acceleration are what the
    /// integrator (`lms2` or `backward-euler`) makes of the displacements.
    #[schemars(extend("x-formerly" = "traced"))]
    pub position_driven: Option<At<String>>,
    /// Only its displacement.
    pub displacement: Option<At<String>>,
    /// Only its velocity.
    pub velocity: Option<At<String>>,
    /// Only its acceleration.
    pub acceleration: Option<At<String>>,
    /// A force on this mass.
    pub force: Option<At<String>>,
}

/// What an output port sends: exactly one of these.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Output {
    /// Displacement, velocity and acceleration of this node.
    pub motion: Option<At<String>>,
    /// Only its displacement.
    pub displacement: Option<At<String>>,
    /// Only its velocity.
    pub velocity: Option<At<String>>,
    /// Only its acceleration.
    pub acceleration: Option<At<String>>,
    /// The force that this subsystem exerts on this boundary node.
    pub force: Option<At<String>>,
}
