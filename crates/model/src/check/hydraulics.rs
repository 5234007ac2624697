//! A section `[hydraulics.*]`: from its text to a circuit.

use oldham_cosim::{Quantity, Unit};
use oldham_hydraulics::{
    Actuator, Circuit, CircuitError, Cylinder, Fluid, Hydraulics, Relief, Rest, SafetyValves,
    SpeedControl, Spool, Supply, Valve,
};

use super::keys::{all, read, read_if};
use super::part::{Checked, Port};
use super::{Checker, Pace};
use crate::format::{self, At, DEFAULT_RHO, Entry, Formula};
use crate::model::Content;

/// Where the neutral spool is when nothing is said.
const MIDDLE: f64 = 0.5;

impl Checker<'_> {
    pub(super) fn hydraulics(&mut self, entry: &Entry<format::Hydraulics>, pace: Pace) -> Checked {
        let section = &entry.value.value;
        let paced = self.head(&entry.name, &section.pacing, &section.division, &pace);
        let circuit = self.circuit(section, paced.micro_steps);
        let sound = circuit.filter(|circuit| self.is_sound(entry, circuit));
        paced.checked(DEFAULT_RHO, sound.map(Content::Hydraulics), ports(section))
    }

    fn circuit(
        &mut self,
        section: &format::Hydraulics,
        micro_steps: Option<u32>,
    ) -> Option<Circuit> {
        let fluid = read(&section.fluid, |at| self.fluid(&at.value));
        let pump = self.required(&section.pump);
        let tank = self.required(&section.tank);
        let mut actuators = Vec::new();
        for entry in &section.actuators {
            self.name(&entry.name, "an actuator");
            actuators.push(self.hydraulic_actuator(entry));
        }
        Some(Circuit {
            fluid: fluid?,
            supply: Supply {
                pump: pump?,
                tank: tank?,
            },
            actuators: all(actuators)?,
            micro_steps: micro_steps? as usize,
        })
    }

    fn fluid(&mut self, given: &format::hydraulics::Fluid) -> Option<Fluid> {
        let density = self.required(&given.density);
        let a = self.required(&given.a);
        let b = self.number_or(&given.b, 0.0);
        let cavitation = self.number_or(&given.cavitation, 0.0);
        Some(Fluid {
            cavitation: cavitation?,
            ..Fluid::new(density?, a?, b?)
        })
    }

    fn hydraulic_actuator(
        &mut self,
        entry: &Entry<format::hydraulics::Actuator>,
    ) -> Option<Actuator> {
        let given = &entry.value.value;
        let what = "the piston areas of both chambers";
        let areas = read(&given.areas, |at| self.numbers(at, what));
        let stroke = self.required(&given.stroke);
        let centre = self.required(&given.centre);
        let viscous = self.number_or(&given.friction, 0.0);
        let dry = self.number_or(&given.dry_friction, 0.0);
        let usual = Cylinder::new(areas.unwrap_or_default(), stroke?, centre?);
        let dead_length = self.number_or(&given.dead_length, usual.dead_length);
        let stop_stiffness = self.number_or(&given.stop_stiffness, usual.stop_stiffness);
        let stop_damping = self.number_or(&given.stop_damping, usual.stop_damping);
        let valve = read(&given.valve, |at| self.valve(&at.value));
        let rate = self.number_or(&given.spool_rate, f64::INFINITY);
        let lag = self.number_or(&given.spool_lag, 0.0);
        let control = read_if(&given.speed_control, |at| self.speed_control(&at.value));
        let safety = self.safety_valves(given);
        let rest = self.rest(given);
        areas?;
        Some(Actuator {
            name: entry.name.value.clone(),
            cylinder: Cylinder {
                dead_length: dead_length?,
                stop_stiffness: stop_stiffness?,
                stop_damping: stop_damping?,
                ..usual.friction(viscous?, dry?)
            },
            valve: valve?,
            spool: Spool {
                rate: rate?,
                lag: lag?,
            },
            control: control?,
            safety: safety?,
            rest: rest?,
        })
    }

    fn valve(&mut self, given: &format::hydraulics::Valve) -> Option<Valve> {
        let [area, discharge] = [&given.area, &given.discharge].map(|at| self.required(at));
        let overlap = self.number_or(&given.overlap, 0.0);
        let valve = Valve::new(area?, discharge?);
        if given.closed_centre == Some(true) {
            return Some(valve.closed(overlap?));
        }
        if let Some(overlap) = &given.overlap {
            self.report(&overlap.span, "only a closed centre has an overlap")
                .help("say `closed_centre = true` too, or leave the overlap out");
            return None;
        }
        Some(valve)
    }

    fn speed_control(&mut self, given: &format::hydraulics::SpeedControl) -> Option<SpeedControl> {
        let proportional = self.required(&given.proportional);
        let derivative = self.number_or(&given.derivative, 0.0);
        Some(SpeedControl {
            proportional: proportional?,
            derivative: derivative?,
        })
    }

    fn safety_valves(&mut self, given: &format::hydraulics::Actuator) -> Option<SafetyValves> {
        let relief = read_if(&given.relief, |at| {
            let [pressure, conductance] =
                [&at.value.pressure, &at.value.conductance].map(|at| self.required(at));
            Some(Relief {
                pressure: pressure?,
                conductance: conductance?,
            })
        });
        let makeup = read_if(&given.makeup, |at| self.number(at));
        Some(SafetyValves {
            relief: relief?,
            makeup: makeup?,
        })
    }

    fn rest(&mut self, given: &format::hydraulics::Actuator) -> Option<Rest> {
        self.not_both(("load", &given.load), ("spool", &given.spool))?;
        match &given.load {
            // Found when everything is connected.
            Some(load) if is_static(load) => Some(Rest::Load(0.0)),
            Some(load) => self.number(load).map(Rest::Load),
            None => self.number_or(&given.spool, MIDDLE).map(Rest::Spool),
        }
    }

    /// What only the physics can tell: a load that no pressure carries.
    pub(super) fn is_sound(
        &mut self,
        entry: &Entry<format::Hydraulics>,
        circuit: &Circuit,
    ) -> bool {
        let Err(errors) = Hydraulics::new(circuit) else {
            return true;
        };
        for error in errors.0 {
            self.report(&place(entry, &error), error.to_string());
        }
        false
    }
}

/// Whether a load is to be found by statics.
pub(super) fn is_static(load: &At<Formula>) -> bool {
    matches!(&load.value, Formula::Text(word) if word == "static")
}

/// Where a mistake was written.
fn place(entry: &Entry<format::Hydraulics>, error: &CircuitError) -> crate::source::Span {
    let section = &entry.value.value;
    if let Some(actuator) = error
        .actuator()
        .and_then(|name| section.actuators.find(name))
    {
        return match (error, &actuator.value.value.load) {
            (CircuitError::CannotHold { .. }, Some(load)) => load.span.clone(),
            _ => actuator.name.span.clone(),
        };
    }
    let of_fluid = matches!(
        error,
        CircuitError::Value { .. } | CircuitError::BeyondTheLaw { .. }
    );
    let fluid = section.fluid.as_ref().filter(|_| of_fluid);
    let pump = section.pump.as_ref().map(|at| at.span.clone());
    let pump = pump.filter(|_| matches!(error, CircuitError::Pressures { .. }));
    let fluid = fluid.map(|at| at.span.clone());
    fluid.or(pump).unwrap_or_else(|| entry.name.span.clone())
}

/// The ports in the order of the solver.
fn ports(section: &format::Hydraulics) -> [Vec<Port>; 2] {
    let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
    for entry in &section.actuators {
        let port = |(name, unit): (&str, Unit)| Port::of(&entry.name, name, Quantity::Scalar(unit));
        let command = match entry.value.value.speed_control {
            None => ("spool", Unit::ONE),
            Some(_) => ("speed", Unit::METRE_PER_SECOND),
        };
        let received = [
            ("length", Unit::METRE),
            ("rate", Unit::METRE_PER_SECOND),
            command,
        ];
        inputs.extend(received.map(port));
        let sent = [
            ("force", Unit::NEWTON),
            ("p1", Unit::PASCAL),
            ("p2", Unit::PASCAL),
        ];
        outputs.extend(sent.map(port));
        if entry.value.value.speed_control.is_some() {
            outputs.push(port(("spool", Unit::ONE)));
        }
    }
    [inputs, outputs]
}
