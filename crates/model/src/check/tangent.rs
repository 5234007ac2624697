//! The interface tangent: which parts send it, who takes it, and when the parts are corrected.
//!
//! A part can send it if the positions that it traces all belong to one other subsystem, which gets
//! the forces on them back. That subsystem must see the tangent at the end of its one step, and the
//! part must have advanced before it.

use oldham_cosim::{OutputPort, Stage, SubsystemId};
use oldham_lumped::{BoundaryIndex, Integrator, NodeIndex, NodeRef, PortKind, Spec, TangentSpec};

use super::Checker;
use super::part::Checked;
use super::schedule::Timing;
use crate::format::{self, At, Tangent};
use crate::model::{ConnectionSpec, Content};
use crate::source::Span;

/// A part that sends its tangent, and the subsystem that takes it.
struct Pair {
    part: usize,
    owner: usize,
    /// The part's position-driven boundary nodes and the owner's nodes.
    points: Vec<(String, NodeIndex)>,
}

impl Checker<'_> {
    pub(super) fn tangents(
        &mut self,
        section: &format::Schedule,
        parts: &mut [Checked],
        connections: &[ConnectionSpec],
        timing: &mut Timing,
    ) {
        let Some(chosen) = &section.tangent else {
            return;
        };
        let senders = self.senders(chosen, parts);
        if senders.is_empty() {
            return;
        }
        if timing.is_implicit() {
            let message = "implicit (tight) coupling iterates towards what the interface Jacobian gives at once";
            self.report(&chosen.span, message)
                .label("write coupling = \"explicit\", or leave it out");
            return;
        }
        let mut pairs = Vec::new();
        for part in senders {
            match pair(part, parts, connections) {
                Ok(pair) => pairs.push(pair),
                Err(reason) => self.no_tangent(&chosen.span, &parts[part], &reason),
            }
        }
        let served = place_corrections(&mut timing.stages, &pairs);
        for pair in pairs {
            if !served.contains(&SubsystemId(pair.part)) {
                let owner = &parts[pair.owner].name;
                let reason = format!("it must advance in a stage before `{owner}`");
                self.no_tangent(&chosen.span, &parts[pair.part], &reason);
                continue;
            }
            let sender = parts[pair.part].name.clone();
            if let Some(spec) = spec_mut(&mut parts[pair.part]) {
                spec.sends_tangent = true;
            }
            if let Some(spec) = spec_mut(&mut parts[pair.owner]) {
                let points = pair.points;
                spec.tangents.push(TangentSpec { sender, points });
            }
        }
    }

    /// The parts that shall send their tangents.
    fn senders(&mut self, chosen: &At<Tangent>, parts: &[Checked]) -> Vec<usize> {
        let traces =
            |part: &Checked| spec(part).is_some_and(|spec| spec.position_driven().next().is_some());
        let names = match &chosen.value {
            Tangent::All(false) => return Vec::new(),
            Tangent::All(true) => {
                let all: Vec<_> = (0..parts.len()).filter(|&p| traces(&parts[p])).collect();
                if all.is_empty() && parts.iter().all(|part| part.part.is_some()) {
                    let message = "no subsystem has an interface Jacobian to send";
                    self.report(&chosen.span, message)
                        .label("no position-driven input")
                        .help("receive the motion of an interface as `position_driven`");
                }
                return all;
            }
            Tangent::Of(names) => names,
        };
        let mut senders = Vec::new();
        for name in names {
            match parts.iter().position(|part| part.name == name.value) {
                Some(part) if traces(&parts[part]) => senders.push(part),
                Some(part) => {
                    let reason = "it receives no motion as `position_driven`";
                    self.no_tangent(&name.span, &parts[part], reason);
                }
                None => {
                    let known = parts.iter().map(|part| part.name.as_str());
                    self.unknown_subsystem(name, known);
                }
            }
        }
        senders
    }

    fn no_tangent(&mut self, span: &Span, part: &Checked, reason: &str) {
        if part.part.is_none() {
            return;
        }
        let name = &part.name;
        let message = format!("`{name}` cannot send its interface Jacobian: {reason}");
        self.report(span, message)
            .label("asked for here")
            .help("list the subsystems that can, as in tangent = [\"left\"]; the others keep the plain scheme");
    }
}

fn spec(part: &Checked) -> Option<&Spec> {
    part.part.as_ref()?.lumped()
}

fn spec_mut(part: &mut Checked) -> Option<&mut Spec> {
    match &mut part.part.as_mut()?.content {
        Content::Lumped(spec) => Some(spec),
        _ => None,
    }
}

/// Finds the owner of everything that a part traces, or says why there is none.
fn pair(part: usize, parts: &[Checked], connections: &[ConnectionSpec]) -> Result<Pair, String> {
    let sender = spec(&parts[part]).ok_or("it is not lumped")?;
    let mut points = Vec::new();
    let mut owners = Vec::new();
    for boundary in sender.position_driven() {
        let name = &sender.boundary_nodes[boundary.0].name;
        let (owner, node) = owner_of(part, boundary, parts, connections).ok_or_else(|| {
            format!("the force on `{name}` does not go to the mass that imposes its motion")
        })?;
        points.push((name.clone(), node));
        owners.push(owner);
    }
    let owner = owners[0];
    if let Some(&other) = owners.iter().find(|&&other| other != owner) {
        let (one, other) = (&parts[owner].name, &parts[other].name);
        return Err(format!(
            "its interfaces belong to `{one}` and `{other}`, which must be solved together: make one subsystem of them"
        ));
    }
    let receiver = &parts[owner].name;
    let spec = spec(&parts[owner]).ok_or_else(|| format!("`{receiver}` is not lumped"))?;
    if !matches!(
        spec.integrator,
        Integrator::Lms2 { .. } | Integrator::BackwardEuler
    ) {
        return Err(format!(
            "`{receiver}`, which receives it, needs the integrator `lms2` or `backward-euler`"
        ));
    }
    if spec.micro_steps > 1 {
        return Err(format!(
            "`{receiver}`, which receives it, must do one micro step a macro step"
        ));
    }
    let slow = [part, owner].into_iter().find(|&at| is_slow(&parts[at]));
    if let Some(slow) = slow {
        let name = &parts[slow].name;
        return Err(format!("`{name}` has a macro step of its own (`every`)"));
    }
    Ok(Pair {
        part,
        owner,
        points,
    })
}

fn is_slow(part: &Checked) -> bool {
    matches!(&part.every, Some((every, _)) if *every > 1)
}

/// The part and node whose motion a boundary node follows, if the force on it goes there.
fn owner_of(
    part: usize,
    boundary: BoundaryIndex,
    parts: &[Checked],
    connections: &[ConnectionSpec],
) -> Option<(usize, NodeIndex)> {
    let sender = spec(&parts[part])?;
    let node = NodeRef::Boundary(boundary);
    let feeds = |c: &&ConnectionSpec| c.to.0 == part && sender.inputs[c.to.1.0].node == node;
    let (owner, output) = connections.iter().find(feeds)?.from;
    let NodeRef::Node(owned) = spec(&parts[owner])?.outputs[output.0].node else {
        return None;
    };
    let is_force = |OutputPort(output): OutputPort| {
        let port = &sender.outputs[output];
        port.kind == PortKind::Force && port.node == node
    };
    let returns = |c: &ConnectionSpec| {
        let taken = || Some(spec(&parts[owner])?.inputs[c.to.1.0].node);
        c.from.0 == part
            && is_force(c.from.1)
            && c.to.0 == owner
            && taken() == Some(NodeRef::Node(owned))
    };
    connections.iter().any(returns).then_some((owner, owned))
}

/// Ends each list of stages with the correction of those of its parts whose owners advance in it
/// after them; gives all that are corrected.
fn place_corrections(stages: &mut Vec<Stage>, pairs: &[Pair]) -> Vec<SubsystemId> {
    let place = |stages: &[Stage], id: usize| {
        stages.iter().position(
            |stage| matches!(stage, Stage::Together(members) if members.contains(&SubsystemId(id))),
        )
    };
    let follows = |pair: &&Pair| {
        let places = (place(stages, pair.part), place(stages, pair.owner));
        matches!(places, (Some(part), Some(owner)) if part < owner)
    };
    let here = pairs.iter().filter(follows);
    let here: Vec<SubsystemId> = here.map(|pair| SubsystemId(pair.part)).collect();
    let mut corrected = here.clone();
    for stage in stages.iter_mut() {
        if let Stage::Nested { stages, .. } = stage {
            corrected.extend(place_corrections(stages, pairs));
        }
    }
    if !here.is_empty() {
        stages.push(Stage::Corrected(here));
    }
    corrected
}
