//! A section `[hydraulics.NAME]` of model files: cylinders with their valves between a pump and a tank.

use oldham_model::{At, Context, Entry, ForeignPart, Formula, Named, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use super::circuit_source::{ActuatorPlaces, CircuitSource, Places};
use super::network::FluidSettings;
use crate::{
    Actuator, Circuit, CircuitError, Cylinder, Relief, Rest, SafetyValves, SpeedControl, Spool,
    Supply, Valve,
};

/// Where the neutral spool is when nothing is said.
const MIDDLE: f64 = 0.5;

/// A hydraulic circuit: actuators, each a cylinder with two chambers behind a valve, between a pump
/// and a tank of constant pressure. An actuator `<name>` receives length and rate of the line along
/// which it acts at the ports `<name>.length` (m) and `<name>.rate` (m/s), and the displacement of
/// its spool from the neutral position at `<name>.spool`. It sends its force at `<name>.force` (N,
/// positive when it pushes, friction and end stops included) and its pressures at `<name>.p1` and
/// `<name>.p2` (Pa). All pressures are absolute.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// What fills the circuit.
    fluid: At<FluidSettings>,
    /// Pressure at the pump in Pa.
    pump: At<f64>,
    /// Pressure in the tank in Pa.
    tank: f64,
    /// The actuators, by name.
    #[serde(default)]
    actuators: Named<ActuatorSettings>,
}

/// A cylinder with two chambers and the valve that controls it. Pressure in chamber 1 pulls the
/// actuator together, pressure in chamber 2 pushes it apart. It starts at rest: with the spool at
/// `spool`, or where it carries `load`.
#[derive(Deserialize, JsonSchema)]
#[schemars(extend("not" = { "required": ["load", "spool"] }))]
struct ActuatorSettings {
    /// Piston areas in m²: of chamber 1 and of chamber 2.
    areas: [f64; 2],
    /// Stroke of the piston in m.
    stroke: f64,
    /// Length of the actuator in m when the piston is in the middle.
    centre: At<f64>,
    /// The valve.
    valve: ValveSettings,
    /// The force in N that it carries at the start, positive when it pushes, or `"static"` for the
    /// one that holds the mechanism at rest to whose thrust its force is connected. The neutral position
    /// of the spool and the pressures are solved for.
    load: Option<At<Formula>>,
    /// The neutral position of the spool, from 0 (pump to chamber 2) to 1 (pump to chamber 1),
    /// instead of a load.
    #[schemars(extend("default" = 0.5))]
    spool: Option<f64>,
    /// Largest speed of the spool in 1/s. By default the spool follows its command at once.
    spool_rate: Option<f64>,
    /// Time constant in s with which the spool approaches its command.
    #[serde(default)]
    spool_lag: f64,
    /// A controller that leads the actuator at a wanted speed. It then has an input `<name>.speed` in m/s in place of
    /// `<name>.spool`, and sends where the spool is, from 0 to 1, at `<name>.spool`.
    speed_control: Option<SpeedControlSettings>,
    /// Relief valves of both chambers.
    relief: Option<ReliefSettings>,
    /// Check valves from the tank to both chambers, which open where a pressure falls below that of the tank: their
    /// conductance in m³/(s·Pa).
    makeup: Option<f64>,
    /// Viscous friction in N·s/m.
    #[serde(default)]
    friction: f64,
    /// Dry friction in N: times tanh(rate / 1 mm/s), so that what ought to stick creeps.
    #[serde(default)]
    dry_friction: f64,
    /// Length in m that each chamber has at least: nearer to its end its volume falls no further, while the
    /// piston goes on displacing oil. By default 1 % of the stroke.
    dead_length: Option<f64>,
    /// Stiffness of the end stops in N/m.
    #[schemars(extend("default" = 1e7))]
    stop_stiffness: Option<f64>,
    /// Damping of the end stops in s/m: the fraction of their force that is added per m/s.
    #[schemars(extend("default" = 1.0))]
    stop_damping: Option<f64>,
}

/// A four-way valve: the spool opens one way as it closes the other.
#[derive(Deserialize, JsonSchema)]
struct ValveSettings {
    /// Area in m² of the fully open valve.
    area: f64,
    /// Discharge coefficient.
    discharge: f64,
    /// `true` if all ways are closed with the spool in the middle; otherwise it is never quite closed.
    #[serde(default)]
    closed_centre: bool,
    /// With a closed centre, how far the spool leaves the middle before it opens, as a fraction of its way to either end.
    #[schemars(extend("default" = 0.0))]
    overlap: Option<At<f64>>,
}

/// A controller of the speed: with w the rate that is wanted less the rate of the actuator, the spool moves at
/// -proportional · w - derivative · w′, at most at `spool_rate`.
#[derive(Deserialize, JsonSchema)]
struct SpeedControlSettings {
    /// In 1/m.
    proportional: f64,
    /// In s/m.
    #[serde(default)]
    derivative: f64,
}

/// A relief valve to the tank.
#[derive(Deserialize, JsonSchema)]
struct ReliefSettings {
    /// Absolute pressure in Pa at which it opens.
    pressure: f64,
    /// Flow per pressure beyond that, in m³/(s·Pa).
    conductance: f64,
}

pub(super) fn make(
    settings: Settings,
    context: &mut Context<'_>,
) -> Option<impl ForeignPart + use<>> {
    let mut places = Places {
        section: context.place(),
        fluid: settings.fluid.span.clone(),
        pump: settings.pump.span.clone(),
        actuators: Vec::new(),
    };
    let mut actuators = Vec::new();
    let mut is_sound = true;
    for entry in &settings.actuators {
        is_sound &= context.name(&entry.name, "an actuator");
        let given = &entry.value.value;
        match actuator(entry, context) {
            Some(actuator) => actuators.push(actuator),
            None => is_sound = false,
        }
        let load = given.load.as_ref();
        places.actuators.push(ActuatorPlaces {
            name: entry.name.clone(),
            centre: given.centre.span.clone(),
            load: load.map(|load| load.span.clone()),
            is_static: load.is_some_and(is_static),
        });
    }
    let circuit = Circuit {
        fluid: settings.fluid.value.fluid(),
        supply: Supply {
            pump: settings.pump.value,
            tank: settings.tank,
        },
        actuators,
        micro_steps: 1,
    };
    if !is_sound {
        return None;
    }
    // What only the physics can tell, such as a load that no pressure carries.
    match CircuitSource::new(circuit, places) {
        Ok(source) => Some(source),
        Err(problems) => {
            problems
                .into_iter()
                .for_each(|problem| context.report(problem));
            None
        }
    }
}

fn actuator(entry: &Entry<ActuatorSettings>, context: &mut Context<'_>) -> Option<Actuator> {
    let given = &entry.value.value;
    let usual = Cylinder::new(given.areas, given.stroke, given.centre.value);
    let valve = valve(&given.valve, context);
    let rest = rest(given, context);
    Some(Actuator {
        name: entry.name.value.clone(),
        cylinder: Cylinder {
            dead_length: given.dead_length.unwrap_or(usual.dead_length),
            stop_stiffness: given.stop_stiffness.unwrap_or(usual.stop_stiffness),
            stop_damping: given.stop_damping.unwrap_or(usual.stop_damping),
            ..usual.friction(given.friction, given.dry_friction)
        },
        valve: valve?,
        spool: Spool {
            rate: given.spool_rate.unwrap_or(f64::INFINITY),
            lag: given.spool_lag,
        },
        control: given.speed_control.as_ref().map(|control| SpeedControl {
            proportional: control.proportional,
            derivative: control.derivative,
        }),
        safety: SafetyValves {
            relief: given.relief.as_ref().map(|relief| Relief {
                pressure: relief.pressure,
                conductance: relief.conductance,
            }),
            makeup: given.makeup,
        },
        rest: rest?,
    })
}

fn valve(given: &ValveSettings, context: &mut Context<'_>) -> Option<Valve> {
    let valve = Valve::new(given.area, given.discharge);
    let Some(overlap) = &given.overlap else {
        return Some(match given.closed_centre {
            true => valve.closed(0.0),
            false => valve,
        });
    };
    if given.closed_centre {
        return Some(valve.closed(overlap.value));
    }
    let problem = Problem::new(overlap.span.clone(), "only a closed centre has an overlap");
    context.report(problem.help("say `closed_centre = true` too, or leave the overlap out"));
    None
}

fn rest(given: &ActuatorSettings, context: &mut Context<'_>) -> Option<Rest> {
    let Some(load) = &given.load else {
        return Some(Rest::Spool(given.spool.unwrap_or(MIDDLE)));
    };
    match is_static(load) {
        // Found when everything is connected.
        true => Some(Rest::Load(0.0)),
        false => context.number(load).map(Rest::Load),
    }
}

/// Whether a load is to be found by statics.
fn is_static(load: &At<Formula>) -> bool {
    matches!(&load.value, Formula::Text(word) if word == "static")
}

/// What is wrong with a circuit, where it was written.
pub(super) fn problem(error: &CircuitError, places: &Places) -> Problem {
    let actuator = error.actuator().and_then(|name| {
        let mut actuators = places.actuators.iter();
        actuators.find(|places| places.name.value == name)
    });
    let place = match (error, actuator) {
        (CircuitError::CannotHold { .. }, Some(actuator)) => {
            actuator.load.as_ref().unwrap_or(&actuator.name.span)
        }
        (_, Some(actuator)) => &actuator.name.span,
        (CircuitError::Pressures { .. }, None) => &places.pump,
        (CircuitError::Value { .. } | CircuitError::BeyondTheLaw { .. }, None) => &places.fluid,
        _ => &places.section,
    };
    Problem::new(place.clone(), error.to_string())
}
