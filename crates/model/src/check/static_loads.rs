//! Hydraulic actuators at a mechanism: loads that hold it at rest are found by its statics, and lengths at the start lie
//! within their strokes.

use std::collections::{BTreeMap, BTreeSet};

use oldham_cosim::{InputPort, OutputPort, Subsystem as Solver};
use oldham_hydraulics::{Circuit, Hydraulics as CircuitSolver, Rest};

use super::Checker;
use super::hydraulics::is_static;
use super::part::Checked;
use crate::at_rest::{Push, Wires};
use crate::format::{At, Entry, Formula, Hydraulics, Subsystem};
use crate::mechanism::{Carried, MechanismSpec, StaticLine};
use crate::model::{Content, ForeignSpec};
use crate::source::Span;

/// The output that is the force of an actuator.
fn force_of(section: &Hydraulics, actuator: usize) -> OutputPort {
    let before = section.actuators.iter().take(actuator);
    // Force and pressures, and the spool where a control moves it.
    let sent = before.map(|each| 3 + usize::from(each.value.value.speed_control.is_some()));
    OutputPort(sent.sum())
}

/// The input that is the length of an actuator: it takes length, rate, and where its spool is or how fast it goes.
fn length_of(actuator: usize) -> InputPort {
    InputPort(3 * actuator)
}

/// Loads of mechanisms at rest, by their places, in the order of their static lines.
type Loads = BTreeMap<usize, Vec<f64>>;

/// What statics hold of what a part pushes.
enum Held {
    Nothing,
    /// Something of this mechanism.
    Of(usize),
    /// Something is wrong, which is told already.
    Told,
}

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
        let mut told: BTreeSet<usize> = BTreeSet::new();
        for (place, subsystem) in subsystems.iter().enumerate() {
            match subsystem {
                Subsystem::Hydraulics(entry) => {
                    for (mechanism, span) in self.circuit_lines(place, entry, parts, wires) {
                        needed.entry(mechanism).or_insert(span);
                    }
                }
                Subsystem::Foreign(_, entry) => {
                    for held in self.foreign_lines(place, &entry.name, parts, wires) {
                        match held {
                            Held::Of(mechanism) => {
                                needed.entry(mechanism).or_insert(entry.name.span.clone());
                            }
                            Held::Told => {
                                told.insert(place);
                            }
                            Held::Nothing => {}
                        }
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
                Subsystem::Foreign(_, entry) if !told.contains(&place) => {
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
        let section = &entry.value.value;
        let mut solver = match content(&mut parts[circuit]) {
            Some(Content::Hydraulics(circuit)) => without_wanted_loads(circuit, section),
            _ => None,
        };
        let mut wanted = Vec::new();
        for (actuator, given) in section.actuators.iter().enumerate() {
            let output = (circuit, force_of(section, actuator));
            let pushes: Vec<Push<'_>> = wires
                .from(output)
                .map(|connection| Push {
                    motion: length_of(actuator),
                    connection,
                })
                .collect();
            let load = given.value.value.load.as_ref();
            let load = load.filter(|load| is_static(load));
            let Some(load) = load else {
                if let Some(solver) = &mut solver {
                    push_as_given(parts, &pushes, solver, wires);
                }
                continue;
            };
            let name = format!("{}.{}.force", entry.name.value, given.name.value);
            match self.hold(parts, &pushes, (&load.span, &name)) {
                Held::Of(mechanism) => wanted.push((mechanism, load.span.clone())),
                Held::Nothing => self.not_connected(load, &given.name.value),
                Held::Told => {}
            }
        }
        wanted
    }

    /// Lets a part of a registered kind hold what it pushes, if its loads are wanted.
    fn foreign_lines(
        &mut self,
        place: usize,
        name: &At<String>,
        parts: &mut [Checked],
        wires: Wires<'_>,
    ) -> Vec<Held> {
        let spec = match content(&mut parts[place]) {
            Some(Content::Foreign(spec)) if spec.part.load_bearing().is_some() => spec.clone(),
            _ => return Vec::new(),
        };
        let Ok(mut solver) = spec.solver() else {
            return Vec::new();
        };
        let pushes = wires.pushes(place, solver.ports());
        if !wants_rest(&spec) {
            push_as_given(parts, &pushes, &mut *solver, wires);
            return Vec::new();
        }
        let outputs: BTreeSet<usize> = pushes.iter().map(|p| p.connection.from.1.0).collect();
        let held = outputs.into_iter().map(|output| {
            let of_it = pushes.iter().filter(|p| p.connection.from.1.0 == output);
            let of_it: Vec<Push<'_>> = of_it.copied().collect();
            let port = &solver.ports().outputs()[output].name;
            let output = format!("{}.{port}", name.value);
            self.hold(parts, &of_it, (&name.span, &output))
        });
        held.collect()
    }

    /// Lets statics hold what an output pushes, whose load is wanted.
    fn hold(
        &mut self,
        parts: &mut [Checked],
        pushes: &[Push<'_>],
        (wanted, output): (&Span, &str),
    ) -> Held {
        let targets = pushes.iter().map(|push| push.connection.to);
        if targets.clone().any(|(part, _)| parts[part].part.is_none()) {
            return Held::Told;
        }
        let lines = targets.filter_map(|to| Some((to, pushed(parts, to)?)));
        let mut lines: Vec<_> = lines.collect();
        if lines.len() > 1 {
            let names = lines.iter().map(|((mechanism, _), line)| {
                format!("`{}.{}`", parts[*mechanism].name, line.name)
            });
            let names: Vec<String> = names.collect();
            let message = format!(
                "`{output}` pushes {}: which load it carries at rest is open",
                names.join(" and ")
            );
            self.report(wanted, message)
                .label("wanted from statics")
                .help("let it push one of them, or give its load or its pressures as numbers");
            return Held::Told;
        }
        let Some(((mechanism, _), line)) = lines.pop() else {
            return Held::Nothing;
        };
        add_line(parts, mechanism, line);
        Held::Of(mechanism)
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
            let mut connections = wires.from((place, force_of(&entry.value.value, actuator)));
            let load = connections.find_map(|connection| {
                let line = carried(parts, connection.to, loads)?;
                Some(connection.sent(line.load))
            });
            let is_wanted = given.value.value.load.as_ref().is_some_and(is_static);
            if let (true, Some(load), Some(Content::Hydraulics(circuit))) =
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
        let Ok(solver) = spec.solver() else {
            return;
        };
        // Of a mechanism that finds no rest that is told already.
        let pushes = wires.pushes(place, solver.ports()).into_iter();
        let mut held = pushes.map(|push| push.connection.to);
        if held.any(|to| pushed(parts, to).is_some() && !loads.contains_key(&to.0)) {
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
                let mut lines = wires.from((circuit, force_of(section, actuator)));
                let length = lines.find_map(|connection| {
                    let to = connection.to;
                    let line = pushed(parts, to)?;
                    let line = mechanism_of(&parts[to.0])?.carrying(&line, 0.0);
                    wires.length((circuit, length_of(actuator)), to.0, &line)
                });
                let Some(length) = length else {
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
fn pushed(parts: &[Checked], (mechanism, input): (usize, InputPort)) -> Option<StaticLine> {
    let spec = mechanism_of(&parts[mechanism])?;
    StaticLine::at_port(&spec.whole, input)
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

fn add_line(parts: &mut [Checked], mechanism: usize, line: StaticLine) {
    if let Some(Content::Multibody(spec)) = content(&mut parts[mechanism]) {
        spec.static_lines.push(line);
    }
}

/// Lets a part that starts as it is given push as it does then; statics hold what it pushes, where nothing else does.
fn push_as_given(
    parts: &mut [Checked],
    pushes: &[Push<'_>],
    solver: &mut dyn Solver,
    wires: Wires<'_>,
) {
    for push in pushes {
        let to = push.connection.to;
        let (Some(line), Some(spec)) = (pushed(parts, to), mechanism_of(&parts[to.0])) else {
            continue;
        };
        let force = push.arriving(solver, &spec.carrying(&line, 0.0), wires);
        add_line(parts, to.0, line.starting_with(force));
    }
}

/// A solver of a circuit whose wanted loads are not known yet.
fn without_wanted_loads(circuit: &Circuit, section: &Hydraulics) -> Option<CircuitSolver> {
    let mut circuit = circuit.clone();
    let actuators = circuit.actuators.iter_mut().zip(section.actuators.iter());
    for (actuator, given) in actuators {
        if given.value.value.load.as_ref().is_some_and(is_static) {
            actuator.rest = Rest::Spool(0.5);
        }
    }
    CircuitSolver::new(&circuit).ok()
}
