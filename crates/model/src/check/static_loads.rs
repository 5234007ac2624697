//! Hydraulic actuators at a mechanism: loads that hold it at rest are found by its statics, and lengths at the start lie
//! within their strokes.

use oldham_cosim::OutputPort;
use oldham_hydraulics::Rest;
use oldham_multibody::{Marker, Received};

use super::Checker;
use super::hydraulics::is_static;
use super::part::Checked;
use crate::format::{At, Entry, Formula, Hydraulics, Subsystem};
use crate::mechanism::{Bearer, StaticLine};
use crate::model::{ConnectionSpec, Content};

/// The output that is the force of an actuator.
fn force_of(section: &Hydraulics, actuator: usize) -> OutputPort {
    let before = section.actuators.iter().take(actuator);
    // Force and pressures, and the spool where a control moves it.
    let sent = before.map(|each| 3 + usize::from(each.value.value.speed_control.is_some()));
    OutputPort(sent.sum())
}

/// An actuator whose load is wanted.
struct Wanted<'f> {
    /// Places of the circuit among the parts, and of the actuator in it.
    circuit: usize,
    actuator: usize,
    entry: &'f Entry<Hydraulics>,
    load: &'f At<Formula>,
    /// Place of the mechanism, and of the line among its static ones.
    mechanism: usize,
    line: usize,
}

impl Checker<'_> {
    /// Finds the loads that are called static.
    pub(super) fn static_loads(
        &mut self,
        subsystems: &[Subsystem<'_>],
        parts: &mut [Checked],
        connections: &[ConnectionSpec],
        start: f64,
    ) {
        let mut all = Vec::new();
        for (circuit, subsystem) in subsystems.iter().enumerate() {
            let Subsystem::Hydraulics(entry) = subsystem else {
                continue;
            };
            for (actuator, given) in entry.value.value.actuators.iter().enumerate() {
                let load = given.value.value.load.as_ref();
                let Some(load) = load.filter(|load| is_static(load)) else {
                    continue;
                };
                let from = (circuit, force_of(&entry.value.value, actuator));
                let target = connections.iter().find(|c| c.from == from);
                if target.is_some_and(|c| parts[c.to.0].part.is_none()) {
                    // What is wrong with the mechanism is told already.
                    continue;
                }
                match held_line(parts, connections, from) {
                    Some((mechanism, line)) => all.push(Wanted {
                        circuit,
                        actuator,
                        entry,
                        load,
                        mechanism,
                        line,
                    }),
                    None => self.not_connected(load, &given.name.value),
                }
            }
        }
        let mut mechanisms: Vec<usize> = all.iter().map(|wanted| wanted.mechanism).collect();
        mechanisms.dedup();
        for mechanism in mechanisms {
            let of_it = all.iter().filter(|wanted| wanted.mechanism == mechanism);
            self.balance(parts, mechanism, &of_it.collect::<Vec<_>>(), start);
        }
    }

    /// Refuses actuators that start beyond their strokes.
    pub(super) fn strokes(
        &mut self,
        subsystems: &[Subsystem<'_>],
        parts: &mut [Checked],
        connections: &[ConnectionSpec],
    ) {
        for (circuit, subsystem) in subsystems.iter().enumerate() {
            let Subsystem::Hydraulics(entry) = subsystem else {
                continue;
            };
            let section = &entry.value.value;
            for (actuator, given) in section.actuators.iter().enumerate() {
                let from = (circuit, force_of(section, actuator));
                let Some(length) = pushed_line(parts, connections, from).map(|line| line.length)
                else {
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

    /// Gives the actuators at a mechanism the loads that hold it.
    fn balance(
        &mut self,
        parts: &mut [Checked],
        mechanism: usize,
        wanted: &[&Wanted<'_>],
        start: f64,
    ) {
        let name = parts[mechanism].name.clone();
        let Some(Content::Multibody(spec)) = content(&mut parts[mechanism]) else {
            return;
        };
        let loads = match spec.static_loads(start) {
            Ok(loads) => loads,
            Err(error) => {
                let message = format!("`{name}` finds no rest with its actuators held: {error}");
                self.report(&wanted[0].load.span, message)
                    .label("wanted for this")
                    .help("these actuators must hold just what joints leave free; else give the load as a number");
                return;
            }
        };
        for one in wanted {
            if let Some(Content::Hydraulics(circuit)) = content(&mut parts[one.circuit]) {
                circuit.actuators[one.actuator].rest = Rest::Load(loads[one.line]);
                let circuit = circuit.clone();
                self.is_sound(one.entry, &circuit);
            }
        }
    }
}

fn content(part: &mut Checked) -> Option<&mut Content> {
    part.part.as_mut().map(|part| &mut part.content)
}

/// The line of a mechanism along which an actuator acts.
struct PushedLine {
    mechanism: usize,
    name: String,
    ends: [Marker; 2],
    length: f64,
}

fn pushed_line(
    parts: &mut [Checked],
    connections: &[ConnectionSpec],
    from: (usize, OutputPort),
) -> Option<PushedLine> {
    let (mechanism, input) = connections.iter().find(|c| c.from == from)?.to;
    let Content::Multibody(spec) = content(&mut parts[mechanism])? else {
        return None;
    };
    // A mechanism with mistakes may lack inputs that its file names.
    let (name, received) = spec.whole.inputs.get(input.0)?;
    let Received::Thrust(ends) = *received else {
        return None;
    };
    let [a, b] = ends.map(|end| spec.whole.model.place_of(&end));
    Some(PushedLine {
        mechanism,
        name: name.clone(),
        ends,
        length: (b - a).norm(),
    })
}

/// Marks the line along which an actuator acts as one that statics holds; gives the mechanism and the
/// place of the line.
fn held_line(
    parts: &mut [Checked],
    connections: &[ConnectionSpec],
    from: (usize, OutputPort),
) -> Option<(usize, usize)> {
    let PushedLine {
        mechanism,
        name,
        ends,
        length,
    } = pushed_line(parts, connections, from)?;
    let Content::Multibody(spec) = content(&mut parts[mechanism])? else {
        return None;
    };
    let line = StaticLine::new(&mut spec.whole.model, &name, ends, length, Bearer::Port);
    spec.static_lines.push(line);
    Some((mechanism, spec.static_lines.len() - 1))
}
