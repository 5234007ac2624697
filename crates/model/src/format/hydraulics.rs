//! A hydraulic subsystem: cylinders with their valves between a pump and a tank.

use schemars::JsonSchema;
use serde::Deserialize;

use super::multibody::Vector;
use super::{At, Division, Formula, Named, Pacing};

/// A hydraulic circuit: actuators, each a cylinder with two chambers behind a valve, between a pump
/// and a tank of constant pressure. An actuator `<name>` receives length and rate of the line along
/// which it acts at the ports `<name>.length` (m) and `<name>.rate` (m/s), and the displacement of
/// its spool from the neutral position at `<name>.spool`. It sends its force at `<name>.force` (N,
/// positive when it pushes, friction and end stops included) and its pressures at `<name>.p1` and
/// `<name>.p2` (Pa). All pressures are absolute.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Hydraulics {
    /// What fills the circuit.
    #[schemars(required)]
    pub fluid: Option<At<Fluid>>,
    /// Pressure at the pump in Pa.
    #[schemars(required)]
    pub pump: Option<At<Formula>>,
    /// Pressure in the tank in Pa.
    #[schemars(required)]
    pub tank: Option<At<Formula>>,
    #[schemars(flatten)]
    pub division: Division,
    #[schemars(flatten)]
    pub pacing: Pacing,
    /// The actuators, by name.
    pub actuators: Named<Actuator>,
}

/// A fluid whose density grows with pressure as 1 + a p + b p².
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Fluid {
    /// Density without pressure in kg/m³.
    #[schemars(required)]
    pub density: Option<At<Formula>>,
    /// Compressibility in 1/Pa: the inverse of the bulk modulus without pressure.
    #[schemars(required)]
    pub a: Option<At<Formula>>,
    /// Its change with pressure in 1/Pa².
    #[schemars(extend("default" = 0.0))]
    pub b: Option<At<Formula>>,
    /// Absolute pressure in Pa at which a chamber cavitates; no pressure falls below it.
    #[schemars(extend("default" = 0.0))]
    pub cavitation: Option<At<Formula>>,
}

/// A cylinder with two chambers and the valve that controls it. Pressure in chamber 1 pulls the
/// actuator together, pressure in chamber 2 pushes it apart. It starts at rest: with the spool at
/// `spool`, or where it carries `load`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Actuator {
    /// Piston areas in m²: of chamber 1 and of chamber 2.
    #[schemars(required)]
    pub areas: Option<At<Vector>>,
    /// Stroke of the piston in m.
    #[schemars(required)]
    pub stroke: Option<At<Formula>>,
    /// Length of the actuator in m when the piston is in the middle.
    #[schemars(required)]
    pub centre: Option<At<Formula>>,
    /// The valve.
    #[schemars(required)]
    pub valve: Option<At<Valve>>,
    /// The force in N that it carries at the start, positive when it pushes, or `"static"` for the
    /// one that holds the mechanism at rest to whose thrust its force is connected. The neutral position
    /// of the spool and the pressures are solved for.
    pub load: Option<At<Formula>>,
    /// The neutral position of the spool, from 0 (pump to chamber 2) to 1 (pump to chamber 1),
    /// instead of a load.
    #[schemars(extend("default" = 0.5))]
    pub spool: Option<At<Formula>>,
    /// Largest speed of the spool in 1/s. By default it is where it is told to be.
    pub spool_rate: Option<At<Formula>>,
    /// Time constant in s with which the spool approaches what it is told.
    #[schemars(extend("default" = 0.0))]
    pub spool_lag: Option<At<Formula>>,
    /// A controller that leads the actuator at a wanted speed. It then has an input `<name>.speed` in m/s in place of
    /// `<name>.spool`, and sends where the spool is, from 0 to 1, at `<name>.spool`.
    pub speed_control: Option<At<SpeedControl>>,
    /// Relief valves of both chambers.
    pub relief: Option<At<Relief>>,
    /// Check valves from the tank to both chambers, which open where a pressure falls below that of the tank: their
    /// conductance in m³/(s·Pa).
    pub makeup: Option<At<Formula>>,
    /// Viscous friction in N·s/m.
    #[schemars(extend("default" = 0.0))]
    pub friction: Option<At<Formula>>,
    /// Dry friction in N: times tanh(rate / 1 mm/s), so that what ought to stick creeps.
    #[schemars(extend("default" = 0.0))]
    pub dry_friction: Option<At<Formula>>,
    /// Length in m that each chamber has at least: nearer to its end its volume falls no further, while the
    /// piston goes on displacing oil. By default 1 % of the stroke.
    pub dead_length: Option<At<Formula>>,
    /// Stiffness of the end stops in N/m.
    #[schemars(extend("default" = 1e7))]
    pub stop_stiffness: Option<At<Formula>>,
    /// Damping of the end stops in s/m: the fraction of their force that is added per m/s.
    #[schemars(extend("default" = 1.0))]
    pub stop_damping: Option<At<Formula>>,
}

/// A four-way valve: the spool opens one way as it closes the other.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Valve {
    /// Area in m² of the fully open valve.
    #[schemars(required)]
    pub area: Option<At<Formula>>,
    /// Discharge coefficient.
    #[schemars(required)]
    pub discharge: Option<At<Formula>>,
    /// `true` if all ways are closed with the spool in the middle; otherwise it is never quite closed.
    #[schemars(extend("default" = false))]
    pub closed_centre: Option<bool>,
    /// With a closed centre, how far the spool leaves the middle before it opens, as a fraction of its way to either end.
    #[schemars(extend("default" = 0.0))]
    pub overlap: Option<At<Formula>>,
}

/// A controller of the speed: with w the rate that is wanted less the rate of the actuator, the spool moves at
/// -proportional · w - derivative · w′, at most at `spool_rate`.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct SpeedControl {
    /// In 1/m.
    #[schemars(required)]
    pub proportional: Option<At<Formula>>,
    /// In s/m.
    #[schemars(extend("default" = 0.0))]
    pub derivative: Option<At<Formula>>,
}

/// A relief valve to the tank.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Relief {
    /// Absolute pressure in Pa at which it opens.
    #[schemars(required)]
    pub pressure: Option<At<Formula>>,
    /// Flow per pressure beyond that, in m³/(s·Pa).
    #[schemars(required)]
    pub conductance: Option<At<Formula>>,
}
