//! The circuit of one or several cylinders between a pump and a tank: a short way to write a [`Network`].
//!
//! Each actuator becomes two chambers, a cylinder between them, a spool, its four edges, and the small valves. Pump and tank
//! keep their pressures, so that chambers share nothing: each is an island by itself.

use crate::cylinder::Cylinder;
use crate::element::{Chambers, Element, Orifice};
use crate::error::{CircuitError, CircuitErrors};
use crate::fluid::Fluid;
use crate::network::{
    Balance, Named, Network, Place, Received, Sent, SpoolEdges, SpoolValve, Volume,
};
use crate::part::NetworkPart;
use crate::rest::{Holding, Load, Resting, resting};
use crate::spool::{SpeedControl, Spool};
use crate::valve::{Centre, SafetyValves, Valve};

/// Places of constant pressure.
const PUMP: Place = Place::Tank(0);
const TANK: Place = Place::Tank(1);
/// Where a spool is before anything is known of it.
const MIDDLE: f64 = 0.5;

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

    /// Its load, if no pressures between those of pump and tank carry it.
    fn overload(&self, supply: &Supply) -> Option<CircuitError> {
        let Rest::Load(load) = self.rest else {
            return None;
        };
        let Supply { pump, tank } = *supply;
        let least = self.cylinder.thrust([pump, tank]);
        let most = self.cylinder.thrust([tank, pump]);
        let is_possible = load >= least && load <= most;
        (!is_possible).then(|| CircuitError::CannotHold {
            actuator: self.name.clone(),
            load,
            least,
            most,
        })
    }

    /// Adds its chambers, cylinder, spool and valves to a network.
    fn add_to(&self, network: &mut Network, supply: &Supply) {
        let Self { name, valve, .. } = self;
        let (first, cylinder) = (network.volumes.len(), network.elements.len());
        let chambers = [first, first + 1].map(Place::Volume);
        for chamber in ["chamber1", "chamber2"] {
            let volume = Volume {
                volume: 0.0,
                pressure: 0.5 * (supply.pump + supply.tank),
                balance: Balance::Volume,
            };
            let name = format!("{name}.{chamber}");
            network.volumes.push(Named::new(name, volume));
        }
        let piston = Chambers {
            ends: chambers,
            cylinder: self.cylinder,
        };
        let piston = Element::Chambers(piston);
        network.elements.push(Named::new(name, piston));
        let motion = [
            ("length", Received::Length(cylinder)),
            ("rate", Received::Rate(cylinder)),
        ];
        for (port, what) in motion {
            let port = format!("{name}.{port}");
            network.received.push(Named::new(port, what));
        }
        let sent = [
            ("force", Sent::Force(cylinder)),
            ("p1", Sent::Pressure(first)),
            ("p2", Sent::Pressure(first + 1)),
        ];
        for (port, what) in sent {
            network
                .sent
                .push(Named::new(format!("{name}.{port}"), what));
        }
        let neutral = match self.rest {
            Rest::Spool(neutral) => neutral,
            Rest::Load(_) => MIDDLE,
        };
        let spool = SpoolValve {
            neutral,
            centre: valve.centre,
            spool: self.spool,
            control: self.control.map(|control| (control, cylinder)),
        };
        let edges = SpoolEdges {
            pump: PUMP,
            tank: TANK,
            chambers,
            edge: Orifice {
                is_one_way: true,
                ..Orifice::new([PUMP, TANK], valve.area, valve.discharge)
            },
        };
        network.add_spool(name, spool, edges);
        let mut add = |value: Element| network.elements.push(Named::new(name, value));
        for chamber in chambers {
            if let Some(relief) = self.safety.relief {
                add(Element::OneWay {
                    ends: [chamber, TANK],
                    opens: relief.pressure - supply.tank,
                    conductance: relief.conductance,
                });
            }
            if let Some(conductance) = self.safety.makeup {
                add(Element::OneWay {
                    ends: [TANK, chamber],
                    opens: 0.0,
                    conductance,
                });
            }
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

/// An actuator at rest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equilibrium {
    /// Position of the spool between 0 and 1.
    pub spool: f64,
    /// Pressures of both chambers in Pa.
    pub pressures: [f64; 2],
    /// Force in N, positive when the actuator pushes.
    pub force: f64,
}

impl Circuit {
    /// Its network, with spools and pressures at rest; all problems are told at once.
    pub fn network(&self) -> Result<Network, CircuitErrors> {
        self.check()?;
        let mut network = self.expanded();
        let found = self.resting(&network)?;
        for (volume, pressure) in network.volumes.iter_mut().zip(found.pressures) {
            volume.value.pressure = pressure;
        }
        for (spool, neutral) in found.neutrals {
            network.spools[spool].value.neutral = neutral;
        }
        self.check_reliefs(&network)?;
        Ok(network)
    }

    /// What simulates it.
    pub fn part(&self) -> Result<NetworkPart, CircuitErrors> {
        Ok(NetworkPart::new(&self.network()?))
    }

    /// Its actuators at rest.
    pub fn at_rest(&self) -> Result<Vec<Equilibrium>, CircuitErrors> {
        let network = self.network()?;
        let pressure = |volume: usize| network.volumes[volume].value.pressure;
        let actuators = self.actuators.iter().enumerate();
        let found = actuators.map(|(index, actuator)| {
            let pressures = [0, 1].map(|chamber| pressure(2 * index + chamber));
            Equilibrium {
                spool: network.spools[index].value.neutral,
                pressures,
                force: actuator.cylinder.thrust(pressures),
            }
        });
        Ok(found.collect())
    }

    /// Its network, with spools and pressures in the middle where they are not given. Actuators have their chambers, cylinders
    /// and spools in their order.
    fn expanded(&self) -> Network {
        let Supply { pump, tank } = self.supply;
        let tanks = vec![Named::new("pump", pump), Named::new("tank", tank)];
        let mut network = Network {
            micro_steps: self.micro_steps,
            ..Network::new(self.fluid, Vec::new(), tanks, Vec::new())
        };
        for actuator in &self.actuators {
            actuator.add_to(&mut network, &self.supply);
        }
        network
    }

    /// Pressures at rest, and positions of the spools that carry loads.
    fn resting(&self, network: &Network) -> Result<Resting, CircuitErrors> {
        let (mut loads, mut holding) = (Vec::new(), Vec::new());
        let cylinders = network.cylinders().map(|(element, _)| element);
        for (spool, (actuator, cylinder)) in self.actuators.iter().zip(cylinders).enumerate() {
            let Rest::Load(force) = actuator.rest else {
                continue;
            };
            let element = cylinder;
            loads.push(Load { element, force });
            if actuator.valve.centre == Centre::Open {
                holding.push(Holding { spool, cylinder });
            }
        }
        let wanted = vec![false; network.volumes.len()];
        let ports = NetworkPart::new(network);
        let inputs = oldham_cosim::Subsystem::ports(&ports).initial_inputs();
        resting(network, &wanted, &loads, &holding, inputs)
            .map_err(|why| CircuitErrors(vec![CircuitError::NoRest(why)]))
    }

    /// Relief valves are closed at rest.
    fn check_reliefs(&self, network: &Network) -> Result<(), CircuitErrors> {
        let actuators = self.actuators.iter().zip(network.volumes.chunks_exact(2));
        let open = actuators.filter_map(|(actuator, chambers)| {
            let pressures = chambers.iter().map(|chamber| chamber.value.pressure);
            let highest = pressures.fold(0.0, f64::max);
            let relief = actuator.safety.relief?;
            (highest >= relief.pressure).then(|| CircuitError::ReliefOpens {
                actuator: actuator.name.clone(),
                pressure: highest,
                opens: relief.pressure,
            })
        });
        let problems: Vec<CircuitError> = open.collect();
        match problems.is_empty() {
            true => Ok(()),
            false => Err(CircuitErrors(problems)),
        }
    }

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
            let actuators = self.actuators.iter();
            problems.extend(actuators.filter_map(|actuator| actuator.overload(&self.supply)));
        }
        if problems.is_empty() {
            Ok(())
        } else {
            Err(CircuitErrors(problems))
        }
    }
}
