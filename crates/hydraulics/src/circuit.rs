//! What a circuit consists of, as plain data.

use crate::cylinder::Cylinder;
use crate::error::{CircuitError, CircuitErrors};
use crate::fluid::Fluid;
use crate::spool::{SpeedControl, Spool};
use crate::valve::{Centre, SafetyValves, Valve};

/// A hydraulic circuit.
#[derive(Clone, Debug, PartialEq)]
pub struct Circuit {
    /// What fills it.
    pub fluid: Fluid,
    /// Pump and tank.
    pub supply: Supply,
    /// Cylinders with their valves.
    pub actuators: Vec<Actuator>,
    /// Integrator steps per macro step.
    pub micro_steps: usize,
}

/// Absolute pressures in Pa that do not change, whatever flows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Supply {
    /// At the pump.
    pub pump: f64,
    /// In the tank.
    pub tank: f64,
}

/// A cylinder and the valve that controls it.
#[derive(Clone, Debug, PartialEq)]
pub struct Actuator {
    /// Its ports are called after it.
    pub name: String,
    /// The cylinder.
    pub cylinder: Cylinder,
    /// The valve.
    pub valve: Valve,
    /// How its spool follows.
    pub spool: Spool,
    /// What moves the spool, if it is not told where to be: then the actuator is told a speed.
    pub control: Option<SpeedControl>,
    /// Relief and make-up of both chambers.
    pub safety: SafetyValves,
    /// How it starts.
    pub rest: Rest,
}

/// The neutral position of a spool, from which its displacement is counted; at first both chambers
/// have the pressures at which nothing flows in that position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Rest {
    /// The position itself, between 0 and 1.
    Spool(f64),
    /// The one that carries this force in N, positive when the actuator pushes.
    Load(f64),
}

impl Actuator {
    /// An actuator at rest under a load.
    pub fn holding(name: impl Into<String>, cylinder: Cylinder, valve: Valve, load: f64) -> Self {
        Self {
            name: name.into(),
            cylinder,
            valve,
            spool: Spool::AT_ONCE,
            control: None,
            safety: SafetyValves::default(),
            rest: Rest::Load(load),
        }
    }

    fn check(&self, problems: &mut Vec<CircuitError>) {
        let cylinder = &self.cylinder;
        let positive = [
            ("area of chamber 1", cylinder.areas[0]),
            ("area of chamber 2", cylinder.areas[1]),
            ("stroke", cylinder.stroke),
            ("dead length", cylinder.dead_length),
            ("valve area", self.valve.area),
            ("discharge coefficient", self.valve.discharge),
        ];
        let not_negative = [
            ("viscous friction", cylinder.viscous),
            ("dry friction", cylinder.dry),
            ("stop stiffness", cylinder.stop_stiffness),
            ("stop damping", cylinder.stop_damping),
        ];
        let wrong =
            |what: &'static str, value: f64, requirement: &'static str| CircuitError::Value {
                place: self.name.clone(),
                what,
                value,
                requirement,
            };
        for (what, value) in positive {
            if !(value > 0.0 && value.is_finite()) {
                problems.push(wrong(what, value, "must be positive"));
            }
        }
        for (what, value) in not_negative {
            if !(value >= 0.0 && value.is_finite()) {
                problems.push(wrong(what, value, "must not be negative"));
            }
        }
        let Spool { rate, lag } = self.spool;
        if rate.is_nan() || rate <= 0.0 {
            problems.push(wrong("rate of the spool", rate, "must be positive"));
        }
        if !(lag >= 0.0 && lag.is_finite()) {
            problems.push(wrong("lag of the spool", lag, "must not be negative"));
        }
        if let Some(control) = self.control {
            let gains = [control.proportional, control.derivative];
            for (what, gain) in ["proportional gain", "derivative gain"]
                .into_iter()
                .zip(gains)
            {
                if !(gain >= 0.0 && gain.is_finite()) {
                    problems.push(wrong(what, gain, "must not be negative"));
                }
            }
        }
        if let Centre::Closed { overlap } = self.valve.centre
            && !(0.0..1.0).contains(&overlap)
        {
            let requirement = "must be at least 0 and less than 1";
            problems.push(wrong("overlap of the valve", overlap, requirement));
        }
        let relief = self.safety.relief;
        let conductances = [
            relief.map(|relief| ("conductance of the relief valve", relief.conductance)),
            self.safety
                .makeup
                .map(|makeup| ("make-up conductance", makeup)),
        ];
        for (what, value) in conductances.into_iter().flatten() {
            if !(value > 0.0 && value.is_finite()) {
                problems.push(wrong(what, value, "must be positive"));
            }
        }
        if !cylinder.centre.is_finite() {
            problems.push(wrong("centre", cylinder.centre, "must be a number"));
        }
        if let Rest::Spool(spool) = self.rest
            && !(0.0..=1.0).contains(&spool)
        {
            problems.push(wrong("spool", spool, "must lie between 0 and 1"));
        }
    }
}

impl Circuit {
    /// All mistakes in the data.
    pub(crate) fn check(&self) -> Result<(), CircuitErrors> {
        let mut problems = Vec::new();
        let fluid = &self.fluid;
        for (what, value) in [("density", fluid.density), ("compressibility", fluid.a)] {
            if !(value > 0.0 && value.is_finite()) {
                problems.push(CircuitError::Value {
                    place: "fluid".into(),
                    what,
                    value,
                    requirement: "must be positive",
                });
            }
        }
        let Supply { pump, tank } = self.supply;
        if !(fluid.cavitation >= 0.0 && fluid.cavitation <= tank && tank < pump && pump.is_finite())
        {
            problems.push(CircuitError::Pressures {
                pump,
                tank,
                cavitation: fluid.cavitation,
            });
        }
        if pump > fluid.limit() {
            problems.push(CircuitError::BeyondTheLaw {
                pump,
                limit: fluid.limit(),
            });
        }
        for (index, actuator) in self.actuators.iter().enumerate() {
            actuator.check(&mut problems);
            let same = |other: &Actuator| other.name == actuator.name;
            if self.actuators[..index].iter().any(same) {
                problems.push(CircuitError::DuplicateName(actuator.name.clone()));
            }
        }
        if self.actuators.is_empty() {
            problems.push(CircuitError::NoActuator);
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(CircuitErrors(problems))
        }
    }
}
