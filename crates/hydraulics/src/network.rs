//! What a network consists of, as plain data.

use crate::element::{Chambers, Element, Opening, Orifice};
use crate::fluid::Fluid;
use crate::spool::{SpeedControl, Spool};
use crate::valve::{Centre, Edge};

/// A hydraulic network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What fills it.
    pub fluid: Fluid,
    /// Volumes, by name.
    pub volumes: Vec<Named<Volume>>,
    /// Absolute pressures in Pa that do not change, whatever flows, by name.
    pub tanks: Vec<Named<f64>>,
    /// What connects them, by name.
    pub elements: Vec<Named<Element>>,
    /// What opens and closes orifices, by name.
    pub spools: Vec<Named<SpoolValve>>,
    /// What it receives, by the names of its ports.
    pub received: Vec<Named<Received>>,
    /// What it sends, by the names of its ports.
    pub sent: Vec<Named<Sent>>,
    /// Integrator steps per macro step.
    pub micro_steps: usize,
}

/// What a network receives at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// Flow of a source.
    Flow(usize),
    /// Rotation of the shaft of a motor.
    Shaft(usize),
    /// Which part of an orifice is open.
    Opening(usize),
    /// Length of a cylinder.
    Length(usize),
    /// Rate of a cylinder.
    Rate(usize),
    /// Displacement of a spool from its neutral position.
    Spool(usize),
    /// Speed at which a spool is to lead its cylinder.
    Speed(usize),
}

/// What a network sends at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Pressure of a volume.
    Pressure(usize),
    /// Flow of a line.
    Flow(usize),
    /// Oil in an accumulator.
    Oil(usize),
    /// Torque of a motor.
    Torque(usize),
    /// Force of a cylinder.
    Force(usize),
    /// Position of a spool.
    Spool(usize),
}

impl Network {
    /// Volumes, tanks and what connects them, with the usual ports: those of each element are called after it.
    pub fn new(
        fluid: Fluid,
        volumes: Vec<Named<Volume>>,
        tanks: Vec<Named<f64>>,
        elements: Vec<Named<Element>>,
    ) -> Self {
        let (mut received, mut sent) = (Vec::new(), Vec::new());
        for (index, volume) in volumes.iter().enumerate() {
            sent.push(Named::new(
                format!("{}.p", volume.name),
                Sent::Pressure(index),
            ));
        }
        for (index, Named { name, value }) in elements.iter().enumerate() {
            let input = |port: &str, what| Named::new(format!("{name}.{port}"), what);
            let output = |port: &str, what| Named::new(format!("{name}.{port}"), what);
            match value {
                Element::Source { .. } => received.push(input("flow", Received::Flow(index))),
                Element::Line(_) => sent.push(output("flow", Sent::Flow(index))),
                Element::Accumulator(_) => sent.push(output("oil", Sent::Oil(index))),
                Element::Motor(_) => {
                    received.push(input("shaft", Received::Shaft(index)));
                    sent.push(output("torque", Sent::Torque(index)));
                }
                Element::Chambers(_) => {
                    received.push(input("length", Received::Length(index)));
                    received.push(input("rate", Received::Rate(index)));
                    sent.push(output("force", Sent::Force(index)));
                }
                Element::Orifice(Orifice {
                    opening: Opening::Received,
                    ..
                }) => received.push(input("opening", Received::Opening(index))),
                Element::Orifice(_) | Element::OneWay { .. } => {}
            }
        }
        Self {
            fluid,
            volumes,
            tanks,
            elements,
            spools: Vec::new(),
            received,
            sent,
            micro_steps: 1,
        }
    }

    /// Adds a spool with its four edges between a pump, a tank and two chambers, and its ports.
    pub fn add_spool(
        &mut self,
        name: &str,
        valve: SpoolValve,
        SpoolEdges {
            pump,
            tank,
            chambers,
            edge,
        }: SpoolEdges,
    ) {
        let spool = self.spools.len();
        for one in Edge::ALL {
            let chamber = chambers[one.chamber];
            let orifice = Orifice {
                ends: match one.is_feed {
                    true => [pump, chamber],
                    false => [chamber, tank],
                },
                opening: Opening::Edge { spool, edge: one },
                ..edge
            };
            let orifice = Element::Orifice(orifice);
            self.elements.push(Named::new(name, orifice));
        }
        self.spools.push(Named::new(name, valve));
        let command = match valve.control {
            None => ("spool", Received::Spool(spool)),
            Some(_) => ("speed", Received::Speed(spool)),
        };
        let port = format!("{name}.{}", command.0);
        self.received.push(Named::new(port, command.1));
        if valve.control.is_some() {
            let port = format!("{name}.spool");
            self.sent.push(Named::new(port, Sent::Spool(spool)));
        }
    }

    /// The cylinders among its elements, with their places.
    pub(crate) fn cylinders(&self) -> impl Iterator<Item = (usize, &Chambers)> {
        let elements = self.elements.iter().enumerate();
        elements.filter_map(|(index, named)| match &named.value {
            Element::Chambers(chambers) => Some((index, chambers)),
            _ => None,
        })
    }

    /// Its volumes in m³ with all pistons in the middle.
    pub(crate) fn volumes_in_the_middle(&self) -> Vec<f64> {
        let sizes = self.volumes.iter().map(|named| named.value.volume);
        let mut middle: Vec<f64> = sizes.collect();
        for (_, chambers) in self.cylinders() {
            chambers.add_to(chambers.cylinder.centre, &mut middle);
        }
        middle
    }
}

/// Something with a name; ports are called after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: T,
}

impl<T> Named<T> {
    /// Gives it a name.
    pub fn new(name: impl Into<String>, value: T) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}

/// A rigid volume, to which chambers of cylinders may be added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// In m³, without chambers. It may be zero if there are chambers.
    pub volume: f64,
    /// Absolute pressure at the start in Pa.
    pub pressure: f64,
    /// What is counted of the oil in it.
    pub balance: Balance,
}

/// What a volume counts of the oil that comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Balance {
    /// Its mass: flows count as volume at zero pressure, and the lengths of cylinders say how large it is. Oil is neither
    /// lost nor made, whatever is received of a motion.
    Mass,
    /// Its volume at the present pressure: p' = β/V (Q − V'), as it is printed in most texts, with V' from the rates of
    /// cylinders. Oil is kept as well as rates fit the lengths. Oil from a tank counts as supplied at the pressure of the volume.
    Volume,
}

impl Volume {
    /// One that keeps its oil.
    pub fn new(volume: f64, pressure: f64) -> Self {
        Self {
            volume,
            pressure,
            balance: Balance::Mass,
        }
    }
}

/// Where an element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a volume.
    Volume(usize),
    /// In a tank.
    Tank(usize),
}

/// Between what the edges of a spool lie.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpoolEdges {
    /// From where it feeds chambers.
    pub pump: Place,
    /// To where it drains them.
    pub tank: Place,
    /// What it feeds and drains: the first one is fed where the spool is towards 1.
    pub chambers: [Place; 2],
    /// Area and discharge of each edge, and whether nothing flows back.
    pub edge: Orifice,
}

/// A spool, which opens and closes orifices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpoolValve {
    /// Its neutral position between 0 and 1, from which its displacement is counted.
    pub neutral: f64,
    /// What it does in the middle.
    pub centre: Centre,
    /// How it follows.
    pub spool: Spool,
    /// What moves it, if it is not told where to be, and the cylinder that it leads, by its place among the elements.
    pub control: Option<(SpeedControl, usize)>,
}

impl SpoolValve {
    /// Displacements between which it stays.
    pub(crate) fn housing(&self) -> [f64; 2] {
        [-self.neutral, 1.0 - self.neutral]
    }

    /// Whether it has a position of its own, which may differ from its command.
    pub(crate) fn follows(&self) -> bool {
        self.spool != Spool::AT_ONCE || self.control.is_some()
    }
}
