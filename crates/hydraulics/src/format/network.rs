//! A section `[hydraulic_network.NAME]` of model files.

use std::collections::BTreeMap;

use oldham_model::{At, Context, ForeignPart, Formula, Problem};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::cylinder::Cylinder;
use crate::element::{Accumulator, Chambers, Element, Line, Motor, Opening, Orifice};
use crate::fluid::Fluid;
use crate::network::{Named, Network, Place, SpoolEdges, SpoolValve, Volume};
use crate::spool::Spool;
use crate::valve::Centre;

use super::network_source::NetworkSource;

/// Absolute pressure in Pa from which pressures are searched for where there is no tank.
const AMBIENT: f64 = 1e5;

/// A hydraulic network: volumes of oil, tanks of constant pressure, and what connects them. Flow is positive from the
/// first to the second of `between`. Sent are `<volume>.p` (Pa), `<line>.flow` (m³/s), `<accumulator>.oil` (m³),
/// `<motor>.torque` (N·m) and `<cylinder>.force` (N, positive when it pushes); received are `<pump>.flow` (m³/s),
/// `<motor>.shaft`, the rotation of its shaft, `<cylinder>.length` (m) and `<cylinder>.rate` (m/s), `<orifice>.opening` of
/// variable ones, from 0 to 1, and `<valve>.spool` of spool valves. All pressures are absolute.
#[derive(Deserialize, JsonSchema)]
pub(super) struct Settings {
    /// What fills it.
    fluid: FluidSettings,
    /// Rigid volumes: nodes of the network.
    volumes: BTreeMap<String, VolumeSettings>,
    /// Places of constant pressure.
    #[serde(default)]
    tanks: BTreeMap<String, TankSettings>,
    /// Orifices.
    #[serde(default)]
    orifices: BTreeMap<String, OrificeSettings>,
    /// Check valves.
    #[serde(default)]
    check_valves: BTreeMap<String, OneWaySettings>,
    /// Relief valves.
    #[serde(default)]
    relief_valves: BTreeMap<String, ReliefSettings>,
    /// Four-way valves.
    #[serde(default)]
    spool_valves: BTreeMap<String, SpoolValveSettings>,
    /// Pumps: sources of a given flow.
    #[serde(default)]
    pumps: BTreeMap<String, PumpSettings>,
    /// Lines with inertia and friction.
    #[serde(default)]
    lines: BTreeMap<String, LineSettings>,
    /// Gas accumulators.
    #[serde(default)]
    accumulators: BTreeMap<String, AccumulatorSettings>,
    /// Motors, which are pumps where their shaft is driven.
    #[serde(default)]
    motors: BTreeMap<String, MotorSettings>,
    /// Cylinders.
    #[serde(default)]
    cylinders: BTreeMap<String, CylinderSettings>,
}

/// A fluid whose density grows with pressure as 1 + a p + b p².
#[derive(Deserialize, JsonSchema)]
pub(super) struct FluidSettings {
    /// Density without pressure in kg/m³.
    #[schemars(extend("exclusiveMinimum" = 0))]
    density: f64,
    /// Compressibility in 1/Pa.
    #[schemars(extend("exclusiveMinimum" = 0))]
    a: f64,
    /// Its change with pressure in 1/Pa².
    #[serde(default)]
    b: f64,
    /// Absolute pressure in Pa at which a volume cavitates.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    cavitation: f64,
}

impl FluidSettings {
    pub fn fluid(&self) -> Fluid {
        Fluid {
            cavitation: self.cavitation,
            ..Fluid::new(self.density, self.a, self.b)
        }
    }
}

/// A rigid volume; chambers of cylinders are added to it.
#[derive(Deserialize, JsonSchema)]
struct VolumeSettings {
    /// In m³, without chambers.
    #[schemars(extend("exclusiveMinimum" = 0))]
    volume: f64,
    /// Pressure at the start in Pa, or `"static"` for the one that holds the machine where it is: it follows from what
    /// cylinders and motors carry, with valves and pumps as they are at the start.
    pressure: At<Formula>,
}

/// A place of constant pressure.
#[derive(Deserialize, JsonSchema)]
struct TankSettings {
    /// In Pa.
    #[schemars(range(min = 0.0))]
    pressure: f64,
}

/// A sharp edge.
#[derive(Deserialize, JsonSchema)]
struct OrificeSettings {
    /// Volumes or tanks.
    between: [At<String>; 2],
    /// In m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    area: f64,
    /// Discharge coefficient.
    #[schemars(extend("exclusiveMinimum" = 0))]
    discharge: f64,
    /// `true` if it can be closed: it then has an input `<name>.opening`, the part of its area that is open.
    #[serde(default)]
    variable: bool,
}

/// A check valve: oil flows from the first to the second place only.
#[derive(Deserialize, JsonSchema)]
struct OneWaySettings {
    /// Volumes or tanks.
    between: [At<String>; 2],
    /// Flow per pressure difference in m³/(s·Pa).
    #[schemars(extend("exclusiveMinimum" = 0))]
    conductance: f64,
    /// Pressure difference in Pa at which it opens.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    opens: f64,
}

/// A relief valve: oil flows from the first to the second place where the difference of their pressures exceeds `opens`.
#[derive(Deserialize, JsonSchema)]
struct ReliefSettings {
    /// Volumes or tanks.
    between: [At<String>; 2],
    /// Flow per pressure beyond that, in m³/(s·Pa).
    #[schemars(extend("exclusiveMinimum" = 0))]
    conductance: f64,
    /// Pressure difference in Pa at which it opens.
    #[schemars(extend("exclusiveMinimum" = 0))]
    opens: f64,
}

/// A four-way valve: its spool opens one way as it closes the other. It receives the displacement of the spool from its
/// neutral position at `<name>.spool`.
#[derive(Deserialize, JsonSchema)]
struct SpoolValveSettings {
    /// Volume or tank from which it feeds.
    pump: At<String>,
    /// Volume or tank to which it drains.
    tank: At<String>,
    /// Volumes or tanks that it feeds and drains: with the spool towards 1 it feeds the first and drains the second.
    ports: [At<String>; 2],
    /// Area in m² of the fully open valve.
    #[schemars(extend("exclusiveMinimum" = 0))]
    area: f64,
    /// Discharge coefficient.
    #[schemars(extend("exclusiveMinimum" = 0))]
    discharge: f64,
    /// The neutral position of the spool, from 0 to 1.
    #[serde(default = "middle")]
    #[schemars(range(min = 0.0, max = 1.0))]
    neutral: f64,
    /// `true` if all ways are closed with the spool in the middle; otherwise it is never quite closed.
    #[serde(default)]
    closed_centre: bool,
    /// With a closed centre, how far the spool leaves the middle before it opens, as a fraction of its way to either end.
    #[serde(default)]
    #[schemars(range(min = 0.0), extend("exclusiveMaximum" = 1))]
    overlap: f64,
    /// Largest speed of the spool in 1/s. By default the spool follows its command at once.
    #[schemars(extend("exclusiveMinimum" = 0))]
    spool_rate: Option<f64>,
    /// Time constant in s with which the spool approaches its command.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    spool_lag: f64,
}

fn middle() -> f64 {
    0.5
}

/// A pump of given flow, whatever the pressures.
#[derive(Deserialize, JsonSchema)]
struct PumpSettings {
    /// Volumes or tanks.
    between: [At<String>; 2],
}

/// A line: inertance · Q′ = Δp − resistance · Q. What it holds belongs to the volumes at its ends.
#[derive(Deserialize, JsonSchema)]
struct LineSettings {
    /// Volumes or tanks.
    between: [At<String>; 2],
    /// Density times length over area, in kg/m⁴.
    #[schemars(extend("exclusiveMinimum" = 0))]
    inertance: f64,
    /// In Pa·s/m³.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    resistance: f64,
}

/// Gas behind a bladder: its pressure is precharge · (volume/(volume − oil))^exponent.
#[derive(Deserialize, JsonSchema)]
struct AccumulatorSettings {
    /// A volume.
    at: At<String>,
    /// Pressure in Pa of the gas without any oil.
    #[schemars(extend("exclusiveMinimum" = 0))]
    precharge: f64,
    /// Volume of the gas in m³ without any oil.
    #[schemars(extend("exclusiveMinimum" = 0))]
    volume: f64,
    /// Polytropic exponent: 1 isothermal, 1.4 adiabatic.
    #[serde(default = "adiabatic")]
    #[schemars(range(min = 1.0))]
    exponent: f64,
    /// Flow through its neck per pressure difference, in m³/(s·Pa).
    #[serde(default = "wide")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    conductance: f64,
}

fn adiabatic() -> f64 {
    1.4
}

fn wide() -> f64 {
    1e-7
}

/// A motor of fixed displacement.
#[derive(Deserialize, JsonSchema)]
struct MotorSettings {
    /// Volumes or tanks, in the direction of flow when the shaft turns forwards.
    between: [At<String>; 2],
    /// In m³/rad.
    #[schemars(extend("exclusiveMinimum" = 0))]
    displacement: f64,
    /// Leakage in m³/(s·Pa).
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    leakage: f64,
    /// Viscous friction of the shaft in N·m·s.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    friction: f64,
}

/// A cylinder whose two chambers belong to volumes, or are open to tanks.
#[derive(Deserialize, JsonSchema)]
struct CylinderSettings {
    /// Volumes or tanks of chamber 1, whose pressure pulls the cylinder together, and of chamber 2, which pushes it apart.
    between: [At<String>; 2],
    /// Piston areas in m²: of chamber 1 and of chamber 2.
    areas: At<[f64; 2]>,
    /// Stroke of the piston in m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    stroke: f64,
    /// Length of the cylinder in m when the piston is in the middle.
    #[schemars(extend("exclusiveMinimum" = 0))]
    centre: f64,
    /// Viscous friction in N·s/m.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    friction: f64,
    /// Dry friction in N: times tanh(rate / 1 mm/s), so that what ought to stick creeps.
    #[serde(default)]
    #[schemars(range(min = 0.0))]
    dry_friction: f64,
    /// Length in m that each chamber has at least: nearer to its end its volume falls no further, while the
    /// piston goes on displacing oil. By default 1 % of the stroke.
    #[schemars(extend("exclusiveMinimum" = 0))]
    dead_length: Option<f64>,
    /// Stiffness of the end stops in N/m, by default 1e7.
    #[schemars(extend("exclusiveMinimum" = 0))]
    stop_stiffness: Option<f64>,
    /// Damping of the end stops in s/m: the fraction of their force that is added per m/s. By default 1.
    #[schemars(range(min = 0.0))]
    stop_damping: Option<f64>,
}

impl CylinderSettings {
    fn cylinder(&self) -> Cylinder {
        let plain = Cylinder::new(self.areas.value, self.stroke, self.centre)
            .friction(self.friction, self.dry_friction);
        Cylinder {
            dead_length: self.dead_length.unwrap_or(plain.dead_length),
            stop_stiffness: self.stop_stiffness.unwrap_or(plain.stop_stiffness),
            stop_damping: self.stop_damping.unwrap_or(plain.stop_damping),
            ..plain
        }
    }
}

pub(super) fn make(
    settings: Settings,
    context: &mut Context<'_>,
) -> Option<impl ForeignPart + use<>> {
    let network = Reader::new(&settings, context).network(&settings)?;
    let volumes = settings.volumes.values();
    let wanted = volumes.map(|given| is_static(&given.pressure));
    Some(NetworkSource {
        network,
        wanted: wanted.collect(),
    })
}

/// Whether a pressure is to be found by statics.
fn is_static(pressure: &At<Formula>) -> bool {
    matches!(&pressure.value, Formula::Text(word) if word == "static")
}

/// Finds places by their names.
struct Reader<'c, 'r> {
    places: BTreeMap<String, Place>,
    context: &'c mut Context<'r>,
    is_sound: bool,
}

impl<'c, 'r> Reader<'c, 'r> {
    fn new(settings: &Settings, context: &'c mut Context<'r>) -> Self {
        let volumes = settings.volumes.keys().enumerate();
        let volumes = volumes.map(|(i, name)| (name.clone(), Place::Volume(i)));
        let tanks = settings.tanks.keys().enumerate();
        let tanks = tanks.map(|(i, name)| (name.clone(), Place::Tank(i)));
        Self {
            places: volumes.chain(tanks).collect(),
            context,
            is_sound: true,
        }
    }

    fn refuse(&mut self, problem: Problem) {
        self.context.report(problem);
        self.is_sound = false;
    }

    fn place(&mut self, name: &At<String>) -> Place {
        if let Some(place) = self.places.get(&name.value) {
            return *place;
        }
        let known: Vec<&str> = self.places.keys().map(String::as_str).collect();
        let help = format!("there are {}", known.join(", "));
        let message = format!("no volume or tank is called `{}`", name.value);
        self.refuse(Problem::new(name.span.clone(), message).help(help));
        Place::Tank(0)
    }

    fn ends(&mut self, between: &[At<String>; 2]) -> [Place; 2] {
        let [from, to] = between;
        let ends = [self.place(from), self.place(to)];
        if from.value == to.value {
            let message = format!("both ends are `{}`: nothing can flow", to.value);
            self.refuse(Problem::new(to.span.clone(), message).help("name another volume or tank"));
        }
        ends
    }

    fn network(mut self, settings: &Settings) -> Option<Network> {
        let fluid = settings.fluid.fluid();
        let mut volumes = Vec::new();
        for (name, given) in &settings.volumes {
            let Some(pressure) = self.initial_pressure(settings, name, given, &fluid) else {
                continue;
            };
            let volume = given.volume;
            volumes.push(Named::new(name, Volume::new(volume, pressure)));
        }
        if let Some(name) = settings
            .tanks
            .keys()
            .find(|n| settings.volumes.contains_key(*n))
        {
            let message = format!("a volume and a tank are both called `{name}`");
            let problem = Problem::new(self.context.place(), message);
            self.refuse(problem.help("choose another name for one of them"));
        }
        let tanks = settings.tanks.iter();
        let tanks = tanks.map(|(name, tank)| Named::new(name, tank.pressure));
        let mut network = Network::new(fluid, volumes, tanks.collect(), self.elements(settings));
        self.add_spools(settings, &mut network);
        self.is_sound.then_some(network)
    }

    /// The pressure of a volume at the start; where it has to be found, the search begins at that of a tank.
    fn initial_pressure(
        &mut self,
        settings: &Settings,
        name: &str,
        given: &VolumeSettings,
        fluid: &Fluid,
    ) -> Option<f64> {
        if is_static(&given.pressure) {
            let tanks = settings.tanks.values().map(|tank| tank.pressure);
            return Some(tanks.fold(AMBIENT, f64::max));
        }
        let Some(pressure) = self.context.number(&given.pressure) else {
            self.is_sound = false;
            return None;
        };
        if !(fluid.cavitation..=fluid.limit()).contains(&pressure) {
            let message = format!(
                "`{name}` starts at {pressure} Pa; the fluid's law holds from {} Pa (cavitation) to {} Pa",
                fluid.cavitation,
                fluid.limit()
            );
            let problem = Problem::new(given.pressure.span.clone(), message);
            self.refuse(problem.help("give an absolute pressure within these"));
        }
        Some(pressure)
    }

    fn add_spools(&mut self, settings: &Settings, network: &mut Network) {
        for (name, given) in &settings.spool_valves {
            if network.elements.iter().any(|other| other.name == *name) {
                let message = format!("two elements are called `{name}`");
                let problem = Problem::new(self.context.place(), message);
                self.refuse(problem.help("choose another name for one of them"));
            }
            let centre = match given.closed_centre {
                true => Centre::Closed {
                    overlap: given.overlap,
                },
                false => Centre::Open,
            };
            let spool = SpoolValve {
                neutral: given.neutral,
                centre,
                spool: Spool {
                    rate: given.spool_rate.unwrap_or(f64::INFINITY),
                    lag: given.spool_lag,
                },
                control: None,
            };
            let chambers = given.ports.each_ref().map(|port| self.place(port));
            let edges = SpoolEdges {
                pump: self.place(&given.pump),
                tank: self.place(&given.tank),
                chambers,
                edge: Orifice::new(chambers, given.area, given.discharge),
            };
            network.add_spool(name, spool, edges);
        }
    }

    fn elements(&mut self, settings: &Settings) -> Vec<Named<Element>> {
        let mut elements: Vec<Named<Element>> = Vec::new();
        for (name, given) in &settings.orifices {
            let ends = self.ends(&given.between);
            let orifice = Orifice {
                opening: match given.variable {
                    true => Opening::Received,
                    false => Opening::Full,
                },
                ..Orifice::new(ends, given.area, given.discharge)
            };
            elements.push(Named::new(name, Element::Orifice(orifice)));
        }
        let checks = settings.check_valves.iter();
        let checks = checks.map(|(name, v)| (name, &v.between, v.opens, v.conductance));
        let reliefs = settings.relief_valves.iter();
        let reliefs = reliefs.map(|(name, v)| (name, &v.between, v.opens, v.conductance));
        for (name, between, opens, conductance) in checks.chain(reliefs) {
            let ends = self.ends(between);
            let element = Element::OneWay {
                ends,
                opens,
                conductance,
            };
            elements.push(Named::new(name, element));
        }
        for (name, given) in &settings.pumps {
            let ends = self.ends(&given.between);
            elements.push(Named::new(name, Element::Source { ends }));
        }
        for (name, given) in &settings.lines {
            let line = Line {
                ends: self.ends(&given.between),
                inertance: given.inertance,
                resistance: given.resistance,
                flow: 0.0,
            };
            elements.push(Named::new(name, Element::Line(line)));
        }
        for (name, given) in &settings.accumulators {
            let gas = Accumulator {
                at: self.place(&given.at),
                precharge: given.precharge,
                volume: given.volume,
                exponent: given.exponent,
                conductance: given.conductance,
            };
            elements.push(Named::new(name, Element::Accumulator(gas)));
        }
        for (name, given) in &settings.motors {
            let motor = Motor {
                ends: self.ends(&given.between),
                displacement: given.displacement,
                leakage: given.leakage,
                friction: given.friction,
            };
            elements.push(Named::new(name, Element::Motor(motor)));
        }
        for (name, given) in &settings.cylinders {
            if !given.areas.value.iter().all(|area| *area > 0.0) {
                let message = format!("both piston areas of `{name}` must be positive");
                let problem = Problem::new(given.areas.span.clone(), message);
                self.refuse(problem.help("give areas in m²; open a chamber without oil to a tank"));
            }
            let chambers = Chambers {
                ends: given.between.each_ref().map(|end| self.place(end)),
                cylinder: given.cylinder(),
            };
            elements.push(Named::new(name, Element::Chambers(chambers)));
        }
        for (index, one) in elements.iter().enumerate() {
            if elements[..index].iter().any(|other| other.name == one.name) {
                let message = format!("two elements are called `{}`", one.name);
                let problem = Problem::new(self.context.place(), message);
                self.refuse(problem.help("choose another name for one of them"));
            }
        }
        elements
    }
}
