//! What carries mechanisms, at rest.

use oldham_cosim::{Conjugate, InputPort, OutputPort};
use oldham_hydraulics::Circuit;
use serde::Serialize;

use crate::extensions::{AtRest, RestingValue};
use crate::mechanism::{Carried, Rest};
use crate::model::{ConnectionSpec, Content, DrivenInput, ForeignSpec, Model};

/// A part of a registered kind at rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestingPart {
    /// Its name.
    pub name: String,
    /// Its values, or what moves and why.
    pub values: Result<Vec<RestingValue>, String>,
}

/// What leads to parts: connections, and inputs given in time.
#[derive(Clone, Copy)]
pub(crate) struct Wires<'w> {
    pub connections: &'w [ConnectionSpec],
    pub drives: &'w [DrivenInput],
    pub time: f64,
}

impl Wires<'_> {
    /// Where the connection of an output leads.
    pub fn target(self, from: (usize, OutputPort)) -> Option<(usize, InputPort)> {
        let connection = self.connections.iter().find(|c| c.from == from);
        connection.map(|connection| connection.to)
    }
}

/// A force of a part on another one.
pub(crate) struct Push {
    force: OutputPort,
    /// The component that receives the position.
    position: usize,
    /// The other part, and its input.
    pub to: (usize, InputPort),
}

impl ForeignSpec {
    /// What it pushes.
    pub fn pushes(&self, place: usize, wires: Wires<'_>) -> Vec<Push> {
        let Ok(solver) = self.solver() else {
            return Vec::new();
        };
        let ports = solver.ports();
        let pushes = ports.conjugates().iter().filter_map(|pair| match *pair {
            Conjugate::GivesForce { motion, force } => Some(Push {
                force,
                position: ports.input_range(motion).start,
                to: wires.target((place, force))?,
            }),
            Conjugate::GivesMotion { .. } => None,
        });
        pushes.collect()
    }

    /// Itself at rest, given what inputs of mechanisms carry. What other parts send is not known before the first
    /// exchange, and is as the ports have it.
    pub fn at_rest(
        &self,
        place: usize,
        wires: Wires<'_>,
        carried: impl Fn((usize, InputPort)) -> Option<Carried>,
    ) -> Option<Result<AtRest, String>> {
        let bearing = self.part.load_bearing()?;
        let solver = self.solver().ok()?;
        let ports = solver.ports();
        let mut inputs = ports.initial_inputs().to_vec();
        for drive in wires.drives.iter().filter(|drive| drive.part == place) {
            let range = ports.input_range(drive.port);
            match &drive.external {
                Some(external) => inputs[range].copy_from_slice(&external.initial),
                None => drive.course.at(wires.time, &mut inputs[range]),
            }
        }
        let mut loads = Vec::new();
        for push in self.pushes(place, wires) {
            if let Some((length, load)) = carried(push.to) {
                inputs[push.position] = length.unwrap_or(inputs[push.position]);
                loads.push((push.force, load));
            }
        }
        Some(bearing.at_rest(&loads, &inputs))
    }
}

impl Model {
    /// Parts that carry the mechanisms, given all of these at rest under what acts at a time, by default that of the start.
    pub fn resting_parts(&self, time: Option<f64>, rests: &[&Rest]) -> Vec<RestingPart> {
        let parts = self.spec.parts.iter().enumerate();
        let mechanisms = parts
            .clone()
            .filter_map(|(place, part)| match &part.content {
                Content::Multibody(spec) => Some((place, spec)),
                _ => None,
            });
        let rests: Vec<_> = mechanisms.zip(rests).collect();
        let carried = |(mechanism, input): (usize, InputPort)| {
            let ((_, spec), rest) = rests.iter().find(|((place, _), _)| *place == mechanism)?;
            let loads: Vec<f64> = rest.loads.iter().map(|(_, load, _)| *load).collect();
            spec.carried(input, &loads)
        };
        let wires = Wires {
            connections: &self.spec.connections,
            drives: &self.spec.drives,
            time: time.unwrap_or(self.spec.clock.start),
        };
        let found = parts.filter_map(|(place, part)| match &part.content {
            Content::Foreign(spec) => Some(RestingPart {
                name: part.name.clone(),
                values: spec.at_rest(place, wires, carried)?.map(|rest| rest.values),
            }),
            _ => None,
        });
        found.collect()
    }

    /// Its hydraulic circuits, with their names.
    pub fn circuits(&self) -> impl Iterator<Item = (&str, &Circuit)> {
        let parts = self.spec.parts.iter();
        parts.filter_map(|part| match &part.content {
            Content::Hydraulics(circuit) => Some((&*part.name, circuit)),
            _ => None,
        })
    }
}
