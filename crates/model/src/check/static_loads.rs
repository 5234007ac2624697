//! What carries mechanisms: loads that hold them at rest are found by their statics, and lines at the start are as long as
//! they may be.

use std::collections::{BTreeMap, BTreeSet};

use oldham_cosim::{InputPort, OutputPort, Subsystem as Solver};

use super::Checker;
use super::part::Checked;
use crate::at_rest::{Push, Wires};
use crate::extensions::{NoRest, WantedLoad};
use crate::format::{At, Subsystem};
use crate::mechanism::{Carried, MechanismSpec, StaticLine};
use crate::model::{Content, ForeignSpec};
use crate::source::Span;

/// Loads of mechanisms at rest, by their places, in the order of their static lines.
type Loads = BTreeMap<usize, Vec<f64>>;

/// What statics hold of what a part pushes.
enum Held {
    Nothing,
    /// Something of this mechanism, as is asked for there.
    Of(usize, Span),
    /// Something is wrong, which is told already.
    Told,
}

impl Checker<'_> {
    /// Lets parts hold mechanisms in statics, and finds the loads that they want to know.
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
            let Subsystem::Foreign(_, entry) = subsystem else {
                continue;
            };
            for held in self.held_lines(place, &entry.name, parts, wires) {
                match held {
                    Held::Of(mechanism, asked) => {
                        needed.entry(mechanism).or_insert(asked);
                    }
                    Held::Told => {
                        told.insert(place);
                    }
                    Held::Nothing => {}
                }
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
                Subsystem::Foreign(_, entry) if !told.contains(&place) => {
                    self.start_at_rest(place, &entry.name, parts, wires, &loads);
                }
                _ => {}
            }
        }
    }

    /// Lets a part hold what it pushes, if the load there is wanted; else it pushes as it is given.
    fn held_lines(
        &mut self,
        place: usize,
        name: &At<String>,
        parts: &mut [Checked],
        wires: Wires<'_>,
    ) -> Vec<Held> {
        let spec = match content(&mut parts[place]) {
            Some(Content::Foreign(spec)) => spec.clone(),
            _ => return Vec::new(),
        };
        let (Some(bearing), Ok(mut solver)) = (spec.part.load_bearing(), spec.solver()) else {
            return Vec::new();
        };
        let pushes = wires.pushes(place, solver.ports());
        let outputs = (0..solver.ports().outputs().len()).map(OutputPort);
        let mut held = Vec::new();
        for output in outputs {
            let of_it = pushes.iter().filter(|p| p.connection.from.1 == output);
            let of_it: Vec<Push<'_>> = of_it.copied().collect();
            let Some(WantedLoad { asked }) = bearing.wanted_load(output) else {
                push_as_given(parts, &of_it, &mut *solver, wires);
                continue;
            };
            let port = &solver.ports().outputs()[output.0].name;
            let shown = format!("{}.{port}", name.value);
            let wanted = asked.as_ref().map_or(&name.span, |asked| &asked.span);
            held.push(match self.hold(parts, &of_it, (wanted, &shown)) {
                Held::Nothing => match &asked {
                    Some(asked) => {
                        self.not_connected(asked, port);
                        Held::Told
                    }
                    None => Held::Nothing,
                },
                other => other,
            });
        }
        held
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
        Held::Of(mechanism, wanted.clone())
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
        let wants = |push: &Push<'_>| {
            let bearing = spec.part.load_bearing();
            bearing.is_some_and(|it| it.wanted_load(push.connection.from.1).is_some())
        };
        let pushes = wires.pushes(place, solver.ports()).into_iter();
        let mut held = pushes.filter(wants).map(|push| push.connection.to);
        if held.any(|to| pushed(parts, to).is_some() && !loads.contains_key(&to.0)) {
            return;
        }
        match spec.at_rest(place, wires, |to| carried(parts, to, loads)) {
            Some(Ok(rest)) => {
                if let Some(Content::Foreign(spec)) = content(&mut parts[place]) {
                    spec.part = rest.part;
                }
            }
            Some(Err(NoRest::Problems(problems))) => {
                for problem in problems {
                    self.findings.push(problem);
                }
            }
            Some(Err(NoRest::Moves(why))) => {
                let message = format!("`{}` finds no rest to start from: {why}", name.value);
                self.report(&name.span, message)
                    .help("the machine stays where it is given, with valves and pumps as they are at the start; or give pressures as numbers");
            }
            None => {}
        }
    }

    /// Refuses lines that are longer or shorter at the start than what pushes along them can be.
    pub(super) fn strokes(
        &mut self,
        subsystems: &[Subsystem<'_>],
        parts: &mut [Checked],
        wires: Wires<'_>,
    ) {
        for (place, subsystem) in subsystems.iter().enumerate() {
            let (Subsystem::Foreign(_, entry), Some(Content::Foreign(spec))) =
                (subsystem, content(&mut parts[place]))
            else {
                continue;
            };
            let spec = spec.clone();
            let (Some(bearing), Ok(solver)) = (spec.part.load_bearing(), spec.solver()) else {
                continue;
            };
            for push in wires.pushes(place, solver.ports()) {
                let Some(stroke) = bearing.stroke(push.connection.from.1) else {
                    continue;
                };
                let to = push.connection.to;
                let line = pushed(parts, to).zip(mechanism_of(&parts[to.0]));
                let line = line.map(|(line, spec)| spec.carrying(&line, 0.0));
                let length = line.and_then(|line| wires.length((place, push.motion), to.0, &line));
                let Some(length) = length else {
                    continue;
                };
                let [least, most] = stroke.lengths;
                if !(least..=most).contains(&length) {
                    let name = &stroke.name;
                    let message = format!(
                        "`{name}` starts beyond its stroke: its line is {length:.4} m long, and its piston goes from {least:.4} m to {most:.4} m"
                    );
                    let place = stroke.place.unwrap_or(entry.name.span.clone());
                    self.report(&place, message)
                        .help("`centre` is the length with the piston in the middle");
                }
            }
        }
    }

    fn not_connected(&mut self, asked: &At<String>, port: &str) {
        let help =
            format!("connect `{port}` to a thrust of a mechanism, or give the load as a number");
        let message = format!("no mechanism says what `{}` carries", asked.value);
        self.report(&asked.span, message)
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
