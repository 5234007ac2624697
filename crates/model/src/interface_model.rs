//! Fast subsystems that are fed by a reduced interface model of a mechanism.
//!
//! The mechanism gets one more output, the fast subsystem one more input and the loop over its own steps.

use oldham_cosim::{Conjugate, Coupling, InputPort, OutputPort, Ports, Scale, Stage, Subsystem};
use oldham_interface_model::{Arrangement, Coordinate, Fed};

use crate::expansion::{ShownBySubdomain, Solvers};
use crate::model::{ConnectionSpec, ModelSpec, PartSpec, Prediction};
use crate::problem::{Findings, Problem};

/// Makes the solvers of a part, or says why there are none.
pub(crate) type BuildSolvers<'a> = dyn Fn(&PartSpec) -> Result<Solvers, Vec<String>> + 'a;

/// From the shown interface of a mechanism to the fast subsystem that sees it.
pub(crate) struct Feed {
    pub mechanism: usize,
    /// Subdomain of the mechanism, and its output.
    pub from: (usize, OutputPort),
    pub fast: usize,
}

/// A coordinate at which a fast subsystem meets a mechanism.
struct Meeting {
    coordinate: Coordinate,
    /// Where the force arrives: the subdomain and its input.
    force: (usize, InputPort),
}

/// Replaces the solvers of fast subsystems and of the mechanisms that they push.
pub(crate) fn feed(
    spec: &ModelSpec,
    all: &mut [Solvers],
    build: &BuildSolvers<'_>,
    findings: &mut Findings,
) -> Vec<Feed> {
    let mut feeds = Vec::new();
    for (fast, part) in spec.parts.iter().enumerate() {
        let Prediction::InterfaceModel(arrangement) = part.prediction else {
            continue;
        };
        match feed_one(spec, fast, arrangement, all, build) {
            Ok(feed) => feeds.push(feed),
            Err(Refusal { message, help }) => {
                let message = format!("`{}` has no interface model: {message}", part.name);
                findings.push(Problem::new(part.span.clone(), message).help(help));
            }
        }
    }
    feeds
}

struct Refusal {
    message: String,
    help: &'static str,
}

fn refuse<T>(message: impl Into<String>, help: &'static str) -> Result<T, Refusal> {
    Err(Refusal {
        message: message.into(),
        help,
    })
}

fn feed_one(
    spec: &ModelSpec,
    fast: usize,
    arrangement: Arrangement,
    all: &mut [Solvers],
    build: &BuildSolvers<'_>,
) -> Result<Feed, Refusal> {
    let part = &spec.parts[fast];
    if matches!(spec.schedule.coupling, Coupling::Implicit(_)) {
        let message =
            "with implicit coupling the motion at the end of a step is iterated, not predicted";
        return refuse(message, "use explicit coupling, or another predictor");
    }
    let pushed = spec.connections.iter().filter(|c| c.from.0 == fast);
    let mut partners: Vec<usize> = pushed.map(|c| c.to.0).collect();
    partners.sort_unstable();
    partners.dedup();
    let mut found: Vec<(usize, Vec<Meeting>)> = Vec::new();
    for partner in partners {
        let meetings = meetings(spec, fast, partner, &all[partner]);
        if !meetings.is_empty() {
            found.push((partner, meetings));
        }
    }
    let (mechanism, meetings) = match found.len() {
        0 => {
            let message = "it sends no force whose motion it receives from the same subsystem";
            return refuse(
                message,
                "connect, for example, `oil.lift.force` to the thrust `arm.lift`, and `arm.lift.length` and `arm.lift.rate` back",
            );
        }
        1 => found.remove(0),
        _ => {
            let names: Vec<_> = found.iter().map(|(i, _)| &*spec.parts[*i].name).collect();
            let message = format!("it pushes several mechanisms: {}", names.join(", "));
            return refuse(message, "give each mechanism a fast subsystem of its own");
        }
    };
    if stage_of(&spec.schedule.stages, mechanism) < stage_of(&spec.schedule.stages, fast) {
        let message = format!(
            "it advances after `{}`, when there is nothing left to predict",
            spec.parts[mechanism].name
        );
        return refuse(
            message,
            "let it advance first, or both at once (`schedule.kind = \"jacobi\"`)",
        );
    }
    let subdomain = meetings[0].force.0;
    if meetings.iter().any(|meeting| meeting.force.0 != subdomain) {
        let message = "its forces act on different parts of a cut mechanism, and no part knows how the others answer";
        return refuse(message, "cut elsewhere, so that one part has all of them");
    }
    let coordinates: Vec<Coordinate> = meetings.iter().map(|m| m.coordinate).collect();
    let forces: Vec<InputPort> = meetings.iter().map(|m| m.force.1).collect();
    let from = show(&mut all[mechanism], &part.name, subdomain, forces);
    let inner = with_one_step(part, build)?;
    let fed = Fed::new(inner, &coordinates, part.micro_steps()).arranged(arrangement);
    all[fast] = Solvers::Whole(Box::new(fed), Vec::new());
    Ok(Feed {
        mechanism,
        from: (subdomain, from),
        fast,
    })
}

/// Lets a mechanism show its interface to a fast subsystem.
fn show(solvers: &mut Solvers, fast: &str, subdomain: usize, forces: Vec<InputPort>) -> OutputPort {
    let (own, shown) = match solvers {
        Solvers::Whole(whole, shown) => (whole.ports().outputs().len(), shown),
        Solvers::Cut(parts, shown) => {
            let ports = parts.solvers[subdomain].part.ports();
            (ports.outputs().len(), shown)
        }
    };
    let before = shown.iter().filter(|one| one.subdomain == subdomain);
    let port = OutputPort(own + before.count());
    shown.push(ShownBySubdomain {
        subdomain,
        name: format!("interface.{fast}"),
        forces,
    });
    port
}

/// A fast subsystem that takes one step whenever it advances.
fn with_one_step(part: &PartSpec, build: &BuildSolvers<'_>) -> Result<Box<dyn Subsystem>, Refusal> {
    let mut one = part.clone();
    one.set_micro_steps(1);
    match build(&one) {
        Ok(Solvers::Whole(inner, _)) => Ok(inner),
        Ok(Solvers::Cut(..)) => refuse("it is cut itself", "leave its `cut` out"),
        Err(messages) => refuse(messages.join("; "), "mend that first"),
    }
}

/// Where forces of a fast subsystem act on coordinates whose motion it receives.
fn meetings(spec: &ModelSpec, fast: usize, partner: usize, solvers: &Solvers) -> Vec<Meeting> {
    let mut meetings = Vec::new();
    let pushes = spec.connections.iter();
    let is_plain = |c: &ConnectionSpec| c.scale == Scale::NONE;
    for push in pushes.filter(|c| c.from.0 == fast && c.to.0 == partner && is_plain(c)) {
        let Some((force, [motion, rate])) = motion_at(solvers, push.to.1) else {
            continue;
        };
        let received = |output: Option<OutputPort>| {
            let output = output?;
            let leads =
                |c: &&ConnectionSpec| c.from == (partner, output) && c.to.0 == fast && is_plain(c);
            Some(spec.connections.iter().find(leads)?.to.1)
        };
        if let Some(position) = received(motion) {
            meetings.push(Meeting {
                coordinate: Coordinate {
                    position,
                    rate: received(rate),
                    force: push.from.1,
                },
                force,
            });
        }
    }
    meetings
}

/// Who receives a force, and which outputs of the whole send the motion of its coordinate and its rate.
#[expect(clippy::type_complexity, reason = "used once")]
fn motion_at(
    solvers: &Solvers,
    force: InputPort,
) -> Option<((usize, InputPort), [Option<OutputPort>; 2])> {
    let conjugate = |ports: &Ports, force: InputPort| {
        let mut pairs = ports.conjugates().iter();
        let motion = pairs.find_map(|pair| match *pair {
            Conjugate::GivesMotion { force: of, motion } if of == force => Some(motion),
            _ => None,
        })?;
        Some((motion, ports.rate_of(motion)))
    };
    match solvers {
        Solvers::Whole(whole, _) => {
            let (motion, rate) = conjugate(whole.ports(), force)?;
            Some(((0, force), [Some(motion), rate]))
        }
        Solvers::Cut(parts, _) => {
            let [receiver] = parts.inputs[force.0][..] else {
                return None;
            };
            let (motion, rate) = conjugate(parts.solvers[receiver.0].part.ports(), receiver.1)?;
            let whole = |port: OutputPort| {
                let sent = parts
                    .outputs
                    .iter()
                    .position(|sent| *sent == (receiver.0, port));
                sent.map(OutputPort)
            };
            Some((receiver, [whole(motion), rate.and_then(whole)]))
        }
    }
}

/// The place in the schedule at which a part first advances.
fn stage_of(stages: &[Stage], part: usize) -> usize {
    let has = |stage: &Stage| match stage {
        Stage::Together(ids) | Stage::Corrected(ids) => ids.iter().any(|id| id.0 == part),
        Stage::Nested { stages, .. } => stage_of(stages, part) < stages.len(),
    };
    stages.iter().position(has).unwrap_or(stages.len())
}
