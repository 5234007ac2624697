//! Hydraulic actuators at a mechanism: loads that hold it at rest are found by its statics, and lengths at the start lie
//! within their strokes.

use std::collections::BTreeMap;

use oldham_cosim::{InputPort, OutputPort};
use oldham_hydraulics::Rest;

use super::Checker;
use super::hydraulics::is_static;
use super::part::Checked;
use crate::at_rest::Wires;
use crate::format::{At, Entry, Formula, Hydraulics, Subsystem};
use crate::mechanism::{Bearer, Carried, MechanismSpec, StaticLine};
use crate::model::{Content, ForeignSpec};
use crate::source::Span;

/// The output that is the force of an actuator.
fn force_of(section: &Hydraulics, actuator: usize) -> OutputPort {
    let before = section.actuators.iter().take(actuator);
    // Force and pressures, and the spool where a control moves it.
    let sent = before.map(|each| 3 + usize::from(each.value.value.speed_control.is_some()));
    OutputPort(sent.sum())
}

/// Loads of mechanisms at rest, by their places, in the order of their static lines.
type Loads = BTreeMap<usize, Vec<f64>>;

impl Checker<'_> {
    /// Lets hydraulic actuators hold mechanisms in statics, and finds the loads that are called static.
    pub(super) fn static_loads(
        &mut self,
        subsystems: &[Subsystem<'_>],
        parts: &mut [Checked],
        wires: Wires<'_>,
    ) {
        // Mechanisms whose loads are needed, and where it says so.
        let mut needed: BTreeMap<usize, Span> = BTreeMap::new();
        for (place, subsystem) in subsystems.iter().enumerate() {
            match subsystem {
                Subsystem::Hydraulics(entry) => {
                    for (mechanism, span) in self.circuit_lines(place, entry, parts, wires) {
                        needed.entry(mechanism).or_insert(span);
                    }
                }
                Subsystem::Foreign(_, entry) => {
                    for mechanism in foreign_lines(place, parts, wires) {
                        needed.entry(mechanism).or_insert(entry.name.span.clone());
                    }
                }
                _ => {}
            }
        }
        let needed = needed.into_iter();
        let loads = needed.filter_map(|(mechanism, span)| {
            Some((
                mechanism,
                self.balance(parts, mechanism, &span, wires.time)?,
            ))
        });
        let loads: Loads = loads.collect();
        for (place, subsystem) in subsystems.iter().enumerate() {
            match subsystem {
                Subsystem::Hydraulics(entry) => self.load(place, entry, parts, wires, &loads),
                Subsystem::Foreign(_, entry) => {
                    self.start_at_rest(place, &entry.name, parts, wires, &loads);
                }
                _ => {}
            }
        }
    }

    /// Lets the actuators of a circuit hold their lines; gives the mechanisms whose loads are wanted, and where.
    fn circuit_lines(
        &mut self,
        circuit: usize,
        entry: &Entry<Hydraulics>,
        parts: &mut [Checked],
        wires: Wires<'_>,
    ) -> Vec<(usize, Span)> {
        let mut wanted = Vec::new();
        for (actuator, given) in entry.value.value.actuators.iter().enumerate() {
            let target = wires.target((circuit, force_of(&entry.value.value, actuator)));
            if target.is_some_and(|(mechanism, _)| parts[mechanism].part.is_none()) {
                // What is wrong with the mechanism is told already.
                continue;
            }
            let load = given.value.value.load.as_ref();
            let load = load.filter(|load| is_static(load));
            let bearer = load.map_or(Bearer::Given, |_| Bearer::Port);
            let held = target.and_then(|to| hold(parts, to, bearer));
            match (load, held) {
                (Some(load), Some(mechanism)) => wanted.push((mechanism, load.span.clone())),
                (Some(load), None) => self.not_connected(load, &given.name.value),
                (None, _) => {}
            }
        }
        wanted
    }

    /// Gives the actuators of a circuit their static loads.
    fn load(
        &mut self,
        place: usize,
        entry: &Entry<Hydraulics>,
        parts: &mut [Checked],
        wires: Wires<'_>,
        loads: &Loads,
    ) {
        for (actuator, given) in entry.value.value.actuators.iter().enumerate() {
            let target = wires.target((place, force_of(&entry.value.value, actuator)));
            let load = target.and_then(|to| carried(parts, to, loads));
            let is_wanted = given.value.value.load.as_ref().is_some_and(is_static);
            if let (true, Some((_, load)), Some(Content::Hydraulics(circuit))) =
                (is_wanted, load, content(&mut parts[place]))
            {
                circuit.actuators[actuator].rest = Rest::Load(load);
                let circuit = circuit.clone();
                self.is_sound(entry, &circuit);
            }
        }
    }

    /// Lets a part of a registered kind start where it holds the mechanisms, if it wants that.
    fn start_at_rest(
        &mut self,
        place: usize,
        name: &At<String>,
        parts: &mut [Checked],
        wires: Wires<'_>,
        loads: &Loads,
    ) {
        let spec = match content(&mut parts[place]) {
            Some(Content::Foreign(spec)) if wants_rest(spec) => spec.clone(),
            _ => return,
        };
        let pushes = spec.pushes(place, wires);
        if pushes.iter().any(|push| parts[push.to.0].part.is_none()) {
            return;
        }
        match spec.at_rest(place, wires, |to| carried(parts, to, loads)) {
            Some(Ok(rest)) => {
                if let Some(Content::Foreign(spec)) = content(&mut parts[place]) {
                    spec.part = rest.part;
                }
            }
            Some(Err(why)) => {
                let message = format!("`{}` finds no rest to start from: {why}", name.value);
                self.report(&name.span, message)
                    .help("the machine stays where it is given, with valves and pumps as they are at the start; or give pressures as numbers");
            }
            None => {}
        }
    }

    /// Refuses actuators that start beyond their strokes.
    pub(super) fn strokes(
        &mut self,
        subsystems: &[Subsystem<'_>],
        parts: &mut [Checked],
        wires: Wires<'_>,
    ) {
        for (circuit, subsystem) in subsystems.iter().enumerate() {
            let Subsystem::Hydraulics(entry) = subsystem else {
                continue;
            };
            let section = &entry.value.value;
            for (actuator, given) in section.actuators.iter().enumerate() {
                let from = (circuit, force_of(section, actuator));
                let line = wires
                    .target(from)
                    .and_then(|to| pushed(parts, to, Bearer::Given));
                let Some(length) = line.and_then(|line| line.length()) else {
                    continue;
                };
                let Some(Content::Hydraulics(found)) = content(&mut parts[circuit]) else {
                    continue;
                };
                let cylinder = found.actuators[actuator].cylinder;
                let [least, most] =
                    [-0.5, 0.5].map(|half| cylinder.centre + half * cylinder.stroke);
                if !(least..=most).contains(&length) {
                    let name = &given.name.value;
                    let message = format!(
                        "`{name}` starts beyond its stroke: its line is {length:.4} m long, and its piston goes from {least:.4} m to {most:.4} m"
                    );
                    let centre = given.value.value.centre.as_ref();
                    let place = centre.map_or(&given.name.span, |at| &at.span);
                    self.report(place, message)
                        .help("`centre` is the length with the piston in the middle");
                }
            }
        }
    }

    fn not_connected(&mut self, load: &At<Formula>, actuator: &str) {
        let help = format!(
            "connect `{actuator}.force` to a thrust of a mechanism, or give the load as a number"
        );
        let message = format!("no mechanism says what `{actuator}` carries");
        self.report(&load.span, message)
            .label("wanted from statics")
            .help(help);
    }

    /// The loads that hold a mechanism.
    fn balance(
        &mut self,
        parts: &mut [Checked],
        mechanism: usize,
        wanted: &Span,
        start: f64,
    ) -> Option<Vec<f64>> {
        let name = parts[mechanism].name.clone();
        let Some(Content::Multibody(spec)) = content(&mut parts[mechanism]) else {
            return None;
        };
        match spec.at_rest(start) {
            Ok((_, loads)) => Some(loads),
            Err(error) => {
                let message = format!("`{name}` finds no rest with its actuators held: {error}");
                self.report(wanted, message)
                    .label("wanted for this")
                    .help("these actuators must hold just what joints leave free; else give the load as a number");
                None
            }
        }
    }
}

fn content(part: &mut Checked) -> Option<&mut Content> {
    part.part.as_mut().map(|part| &mut part.content)
}

fn wants_rest(spec: &ForeignSpec) -> bool {
    let bearing = spec.part.load_bearing();
    bearing.is_some_and(|bearing| bearing.starts_at_rest())
}

/// What an input of a mechanism pushes.
fn pushed(
    parts: &[Checked],
    (mechanism, input): (usize, InputPort),
    bearer: Bearer,
) -> Option<StaticLine> {
    let spec = mechanism_of(&parts[mechanism])?;
    StaticLine::at_port(&spec.whole, input, bearer)
}

fn mechanism_of(part: &Checked) -> Option<&MechanismSpec> {
    match &part.part.as_ref()?.content {
        Content::Multibody(spec) => Some(spec),
        _ => None,
    }
}

/// The load of what an input pushes, and its length.
fn carried(
    parts: &[Checked],
    (mechanism, input): (usize, InputPort),
    loads: &Loads,
) -> Option<Carried> {
    mechanism_of(&parts[mechanism])?.carried(input, loads.get(&mechanism)?)
}

/// Lets statics hold what an input pushes; gives the mechanism.
fn hold(parts: &mut [Checked], to: (usize, InputPort), bearer: Bearer) -> Option<usize> {
    let line = pushed(parts, to, bearer)?;
    if let Some(Content::Multibody(spec)) = content(&mut parts[to.0]) {
        spec.static_lines.push(line);
    }
    Some(to.0)
}

/// Lets a part of a registered kind hold what it pushes; gives the mechanisms whose loads it wants.
fn foreign_lines(place: usize, parts: &mut [Checked], wires: Wires<'_>) -> Vec<usize> {
    let spec = match content(&mut parts[place]) {
        Some(Content::Foreign(spec)) if spec.part.load_bearing().is_some() => spec.clone(),
        _ => return Vec::new(),
    };
    let is_wanted = wants_rest(&spec);
    let bearer = if is_wanted {
        Bearer::Port
    } else {
        Bearer::Given
    };
    let pushes = spec.pushes(place, wires).into_iter();
    let held: Vec<usize> = pushes
        .filter_map(|push| hold(parts, push.to, bearer))
        .collect();
    if is_wanted { held } else { Vec::new() }
}
