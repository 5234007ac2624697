//! What carries mechanisms, at rest.

use oldham_cosim::{Conjugate, InputPort, OutputPort, Ports, Subsystem};
use serde::Serialize;

use crate::extensions::{AtRest, NoRest, RestingValue};
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

impl<'w> Wires<'w> {
    /// Connections that lead from an output.
    pub fn from(self, output: (usize, OutputPort)) -> impl Iterator<Item = &'w ConnectionSpec> {
        let connections = self.connections.iter();
        connections.filter(move |connection| connection.from == output)
    }

    /// What an input receives of the length of a line, if that is what leads there.
    pub fn length(self, to: (usize, InputPort), mechanism: usize, line: &Carried) -> Option<f64> {
        let (port, length) = line.length?;
        let mut connections = self.connections.iter();
        let leads = |c: &&ConnectionSpec| c.to == to && c.from == (mechanism, port);
        Some(connections.find(leads)?.received(length))
    }

    /// What a part receives before the first exchange.
    pub fn inputs(self, place: usize, ports: &Ports) -> Vec<f64> {
        let mut inputs = ports.initial_inputs().to_vec();
        for drive in self.drives.iter().filter(|drive| drive.part == place) {
            let range = ports.input_range(drive.port);
            match &drive.external {
                Some(external) => inputs[range].copy_from_slice(&external.initial),
                None => drive.course.at(self.time, &mut inputs[range]),
            }
        }
        inputs
    }

    /// The forces of a part on others.
    pub fn pushes(self, place: usize, ports: &Ports) -> Vec<Push<'w>> {
        let pairs = ports.conjugates().iter();
        let pairs = pairs.filter_map(|pair| match *pair {
            Conjugate::GivesForce { motion, force } => Some((motion, force)),
            Conjugate::GivesMotion { .. } => None,
        });
        let pushes = pairs.flat_map(|(motion, force)| {
            let connections = self.from((place, force));
            connections.map(move |connection| Push { motion, connection })
        });
        pushes.collect()
    }
}

/// A force of a part on another one, which tells it a position in return.
#[derive(Clone, Copy)]
pub(crate) struct Push<'w> {
    pub motion: InputPort,
    /// How the force gets there.
    pub connection: &'w ConnectionSpec,
}

impl Push<'_> {
    /// What arrives there of what a part exerts at the start.
    pub fn arriving(&self, solver: &mut dyn Subsystem, line: &Carried, wires: Wires<'_>) -> f64 {
        let ConnectionSpec { from, to, .. } = *self.connection;
        let ports = solver.ports();
        let mut inputs = wires.inputs(from.0, ports);
        if let Some(length) = wires.length((from.0, self.motion), to.0, line) {
            inputs[ports.input_range(self.motion).start] = length;
        }
        let force = ports.output_range(from.1).start;
        let mut outputs = vec![0.0; ports.output_width()];
        match solver.outputs(wires.time, &inputs, &mut outputs) {
            Ok(()) => self.connection.received(outputs[force]),
            // A run says what is wrong.
            Err(_) => 0.0,
        }
    }
}

impl ForeignSpec {
    /// Itself at rest, given what inputs of mechanisms carry. What other parts send is not known before the first
    /// exchange, and is as the ports have it. None if it carries nothing and need not rest.
    pub fn at_rest(
        &self,
        place: usize,
        wires: Wires<'_>,
        carried: impl Fn((usize, InputPort)) -> Option<Carried>,
    ) -> Option<Result<AtRest, NoRest>> {
        let bearing = self.part.load_bearing()?;
        let solver = self.solver().ok()?;
        let ports = solver.ports();
        let mut inputs = wires.inputs(place, ports);
        let mut loads = Vec::new();
        for push in wires.pushes(place, ports) {
            let ConnectionSpec { from, to, .. } = *push.connection;
            if let Some(line) = carried(to) {
                if let Some(length) = wires.length((place, push.motion), to.0, &line) {
                    inputs[ports.input_range(push.motion).start] = length;
                }
                loads.push((from.1, push.connection.sent(line.load)));
            }
        }
        let has_part = !loads.is_empty() || bearing.starts_at_rest();
        has_part.then(|| bearing.at_rest(&loads, &inputs))
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
            let loads: Vec<f64> = rest.loads.iter().map(|found| found.load).collect();
            spec.carried(input, &loads)
        };
        let wires = Wires {
            connections: &self.spec.connections,
            drives: &self.spec.drives,
            time: time.unwrap_or(self.spec.clock.start),
        };
        let found = parts.filter_map(|(place, part)| match &part.content {
            Content::Foreign(spec) => {
                let values = spec.at_rest(place, wires, carried)?;
                let values = values.map(|rest| rest.values);
                let has_any = !values.as_ref().is_ok_and(Vec::is_empty);
                has_any.then(|| RestingPart {
                    name: part.name.clone(),
                    values: values.map_err(|why| why.to_string()),
                })
            }
            _ => None,
        });
        found.collect()
    }

    /// Inputs of its mechanisms that other subsystems feed and statics do not find, each with the name of its mechanism.
    pub fn unknown_at_rest(&self) -> Vec<(&str, &str)> {
        let connections = self.spec.connections.iter();
        let unknown = connections.filter_map(|connection| {
            let (place, input) = connection.to;
            let part = &self.spec.parts[place];
            let Content::Multibody(spec) = &part.content else {
                return None;
            };
            let is_found = spec
                .carried(input, &vec![0.0; spec.static_lines.len()])
                .is_some();
            let (name, _) = spec.whole.inputs.get(input.0).filter(|_| !is_found)?;
            Some((part.name.as_str(), name.as_str()))
        });
        unknown.collect()
    }
}
