//! Fast subsystems that are fed by a reduced interface model of a mechanism.
//!
//! The mechanism gets one more output, the fast subsystem one more input and the loop over its own steps. Fast subsystems that
//! meet the same mechanism share one loop and one model, and are one subsystem of the engine.

use oldham_cosim::{
    Conjugate, Coupling, InputPort, OutputPort, Ports, Quantity, Scale, Stage, Subsystem,
};
use oldham_interface_model::{Arrangement, Coordinate, FastSubsystem, Fed};

use crate::expansion::{SharedPorts, ShownBySubdomain, Solvers};
use crate::model::{ConnectionSpec, Content, ModelSpec, PartSpec, Prediction};
use crate::problem::{Findings, Problem};

/// Makes the solvers of a part that advances so many times in its macro step, or says why there are none.
pub(crate) type BuildSolvers<'a> = dyn Fn(&PartSpec, usize) -> Result<Solvers, Vec<String>> + 'a;

/// Steps of a controller with an interface model in a macro step.
const CONTROLLER_STEPS: usize = 50;

/// From the shown interface of a mechanism to the fast subsystems that see it.
pub(crate) struct Feed {
    pub mechanism: usize,
    /// Subdomain of the mechanism, and its output.
    pub from: (usize, OutputPort),
    /// The fast subsystem, or the first of those that share the model.
    pub fast: usize,
}

/// A coordinate at which a fast subsystem meets a mechanism.
struct Meeting {
    coordinate: Coordinate,
    /// Where the force, or the motion, arrives: the subdomain and its input.
    received: (usize, InputPort),
}

/// A fast subsystem, and where it meets its mechanism.
struct Fast {
    part: usize,
    mechanism: usize,
    subdomain: usize,
    arrangement: Arrangement,
    meetings: Vec<Meeting>,
}

/// Replaces the solvers of fast subsystems and of the mechanisms that they meet. `stands_alone` tells of a fast subsystem
/// that can share its model with no other one.
pub(crate) fn feed(
    spec: &ModelSpec,
    all: &mut [Solvers],
    build: &BuildSolvers<'_>,
    stands_alone: &dyn Fn(usize) -> bool,
    findings: &mut Findings,
) -> Vec<Feed> {
    let mut found = Vec::new();
    for (part, one) in spec.parts.iter().enumerate() {
        if let Prediction::InterfaceModel(arrangement) = one.prediction {
            match meet(spec, part, arrangement, all) {
                Ok(fast) => found.push(fast),
                Err(refusal) => findings.push(refusal.about(one)),
            }
        }
    }
    // A loop over steps of its own is nothing that a mechanism could show.
    let fast: Vec<usize> = found.iter().map(|fast| fast.part).collect();
    let is_shown = |one: &Fast| !fast.contains(&one.mechanism);
    let (found, both): (Vec<Fast>, Vec<Fast>) = found.into_iter().partition(is_shown);
    for fast in both {
        let message = format!(
            "`{}`, which it meets, has one itself",
            spec.parts[fast.mechanism].name
        );
        let help = "give the model to the faster of the two";
        findings.push(Refusal { message, help }.about(&spec.parts[fast.part]));
    }
    let mut feeds = Vec::new();
    let groups = gather(spec, found, stands_alone);
    let brings_momentum: Vec<bool> = groups
        .iter()
        .map(|group| brings_momentum(spec, group, &groups, all))
        .collect();
    for (group, brings_momentum) in groups.into_iter().zip(brings_momentum) {
        let first = group[0].part;
        match feed_together(spec, group, brings_momentum, all, build) {
            Ok(feed) => feeds.push(feed),
            Err(refusal) => findings.push(refusal.about(&spec.parts[first])),
        }
    }
    feeds
}

struct Refusal {
    message: String,
    help: &'static str,
}

impl Refusal {
    fn about(self, part: &PartSpec) -> Problem {
        let message = format!("`{}` has no interface model: {}", part.name, self.message);
        Problem::new(part.span.clone(), message).help(self.help)
    }
}

fn refuse<T>(message: impl Into<String>, help: &'static str) -> Result<T, Refusal> {
    Err(Refusal {
        message: message.into(),
        help,
    })
}

/// Finds the mechanism that a fast subsystem meets, and where.
fn meet(
    spec: &ModelSpec,
    fast: usize,
    arrangement: Arrangement,
    all: &[Solvers],
) -> Result<Fast, Refusal> {
    if matches!(spec.schedule.coupling, Coupling::Implicit(_)) {
        let message =
            "with implicit coupling the motion at the end of a step is iterated, not predicted";
        return refuse(message, "use explicit coupling, or another predictor");
    }
    let sent = spec.connections.iter().filter(|c| c.from.0 == fast);
    let mut partners: Vec<usize> = sent.map(|c| c.to.0).collect();
    partners.sort_unstable();
    partners.dedup();
    let mut found: Vec<(usize, Vec<Meeting>)> = Vec::new();
    for partner in partners {
        let meetings = meetings(spec, fast, partner, all);
        if !meetings.is_empty() {
            found.push((partner, meetings));
        }
    }
    if let Some(scaled) = scaled_meeting(spec, fast, all) {
        let message = format!("the connection {scaled} has a gain, an offset or other units");
        return refuse(
            message,
            "leave these out: force and motion at an interface belong together as they are",
        );
    }
    let (mechanism, meetings) = match found.len() {
        0 => {
            let message = "it sends no force whose motion it receives from the same subsystem, and no motion whose force it receives";
            return refuse(
                message,
                "connect, for example, `oil.lift.force` to the thrust `arm.lift`, and `arm.lift.length` and `arm.lift.rate` back",
            );
        }
        1 => found.remove(0),
        _ => {
            let names: Vec<_> = found.iter().map(|(i, _)| &*spec.parts[*i].name).collect();
            let message = format!("it meets several mechanisms: {}", names.join(", "));
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
    let subdomain = meetings[0].received.0;
    if meetings
        .iter()
        .any(|meeting| meeting.received.0 != subdomain)
    {
        let message =
            "it meets different parts of a cut mechanism, and no part knows how the others answer";
        return refuse(message, "cut elsewhere, so that one part has all of them");
    }
    Ok(Fast {
        part: fast,
        mechanism,
        subdomain,
        arrangement,
        meetings,
    })
}

/// Puts together those that share a model: they meet the same mechanism, or part of it, in the same arrangement, and
/// advance at the same time, or one right after the other without a connection between them.
fn gather(
    spec: &ModelSpec,
    mut found: Vec<Fast>,
    stands_alone: &dyn Fn(usize) -> bool,
) -> Vec<Vec<Fast>> {
    let stages = &spec.schedule.stages;
    let part = |fast: &Fast| &spec.parts[fast.part];
    found.sort_by_key(|fast| (stage_of(stages, fast.part), fast.part));
    let mut groups: Vec<Vec<Fast>> = Vec::new();
    for fast in found {
        let alone = stands_alone(fast.part) || !is_at_top(stages, fast.part);
        let mut open = groups.iter_mut().filter(|_| !alone);
        let group = open.find(|group| {
            let first = &group[0];
            let alike = first.mechanism == fast.mechanism
                && first.subdomain == fast.subdomain
                && first.arrangement == fast.arrangement
                && part(first).every == part(&fast).every;
            let is_open = !stands_alone(first.part) && is_at_top(stages, first.part);
            alike && is_open && advances_with(spec, group, &fast)
        });
        match group {
            Some(group) => group.push(fast),
            None => groups.push(vec![fast]),
        }
    }
    for group in &mut groups {
        group.sort_by_key(|fast| fast.part);
    }
    groups
}

/// Whether a fast subsystem advances with a group, or right after it and without hearing from it.
fn advances_with(spec: &ModelSpec, group: &[Fast], fast: &Fast) -> bool {
    let stages = &spec.schedule.stages;
    let own = stage_of(stages, fast.part);
    let last = group.iter().map(|one| stage_of(stages, one.part)).max();
    let last = last.expect("a group has members");
    let is_member = |id: usize| id == fast.part || group.iter().any(|one| one.part == id);
    let mut connections = spec.connections.iter();
    let is_connected = connections.any(|c| {
        is_member(c.from.0) && is_member(c.to.0) && (c.from.0 == fast.part || c.to.0 == fast.part)
    });
    let consists_of_members = |stage: &Stage| match stage {
        Stage::Together(ids) => ids.iter().all(|id| is_member(id.0)),
        Stage::Corrected(_) | Stage::Nested { .. } => false,
    };
    own == last || (!is_connected && stages[last..=own].iter().all(consists_of_members))
}

/// Whether the mechanism can be given the momentum that fast subsystems spend: it advances after all of them, holds the forces
/// over its step, is sent nothing else afterwards, and no other model of it lacks what these do.
fn brings_momentum(
    spec: &ModelSpec,
    group: &[Fast],
    groups: &[Vec<Fast>],
    all: &[Solvers],
) -> bool {
    let stages = &spec.schedule.stages;
    let mechanism = group[0].mechanism;
    let slow = &spec.parts[mechanism];
    let models = groups
        .iter()
        .filter(|other| other[0].mechanism == mechanism);
    let is_before = |fast: &Fast| {
        let fast_part = &spec.parts[fast.part];
        is_at_top(stages, fast.part)
            && stage_of(stages, fast.part) < stage_of(stages, mechanism)
            && fast_part.every == slow.every
    };
    models.count() == 1
        && !spec.schedule.output_update
        && matches!(all[mechanism], Solvers::Whole(..))
        && slow.prediction == Prediction::Hold(0)
        && is_at_top(stages, mechanism)
        && group.iter().all(is_before)
}

/// Whether a part advances once in a macro step, in a stage of the schedule itself.
fn is_at_top(stages: &[Stage], part: usize) -> bool {
    let stage = stages.get(stage_of(stages, part));
    matches!(stage, Some(Stage::Together(_)))
}

/// Gives fast subsystems one model of their mechanism.
fn feed_together(
    spec: &ModelSpec,
    group: Vec<Fast>,
    brings_momentum: bool,
    all: &mut [Solvers],
    build: &BuildSolvers<'_>,
) -> Result<Feed, Refusal> {
    let (first, mechanism, subdomain) = (group[0].part, group[0].mechanism, group[0].subdomain);
    let arrangement = group[0].arrangement;
    let names: Vec<&str> = group
        .iter()
        .map(|one| &*spec.parts[one.part].name)
        .collect();
    let name = names.join("+");
    let received = group.iter().flat_map(|one| &one.meetings);
    let received: Vec<InputPort> = received.map(|meeting| meeting.received.1).collect();
    let from = show(&mut all[mechanism], &name, subdomain, received);
    let (mut members, mut places) = (Vec::new(), Vec::new());
    let mut before = (0, 0);
    // All take the steps of the finest.
    let finest = group.iter().map(|one| steps(&spec.parts[one.part])).max();
    let advances = finest.unwrap_or(1);
    for one in &group {
        let part = &spec.parts[one.part];
        let subsystem = with_one_step(part, advances, build)?;
        let ports = subsystem.ports();
        let own = (ports.inputs().len(), ports.outputs().len());
        places.push(SharedPorts {
            first: before,
            count: own,
        });
        before = (before.0 + own.0, before.1 + own.1);
        members.push(FastSubsystem {
            name: part.name.clone(),
            subsystem,
            coordinates: one.meetings.iter().map(|m| m.coordinate).collect(),
            steps: advances,
        });
    }
    let fed = Fed::gathered(members).arranged(arrangement);
    let fed = Box::new(match brings_momentum {
        true => fed.bringing_momentum(),
        false => fed,
    });
    all[first] = match group.len() {
        1 => Solvers::Whole(fed, Vec::new()),
        _ => Solvers::Shared(name, fed, places[0]),
    };
    for (one, ports) in group.iter().zip(places).skip(1) {
        all[one.part] = Solvers::SharedWith(first, ports);
    }
    Ok(Feed {
        mechanism,
        from: (subdomain, from),
        fast: first,
    })
}

/// Steps in which a fast subsystem and its model go along together. A controller, which has no micro steps, takes some anyway.
fn steps(part: &PartSpec) -> usize {
    match part.content {
        Content::Control(_) => CONTROLLER_STEPS,
        _ => part.micro_steps(),
    }
}

/// Lets a mechanism show its interface to a fast subsystem.
fn show(
    solvers: &mut Solvers,
    fast: &str,
    subdomain: usize,
    received: Vec<InputPort>,
) -> OutputPort {
    let (own, shown) = match solvers {
        Solvers::Shared(..) | Solvers::SharedWith(..) => unreachable!("no mechanism is shared"),
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
        received,
    });
    port
}

/// A fast subsystem that advances so many times in a macro step, and takes one step whenever it does.
fn with_one_step(
    part: &PartSpec,
    advances: usize,
    build: &BuildSolvers<'_>,
) -> Result<Box<dyn Subsystem>, Refusal> {
    let mut one = part.clone();
    one.set_micro_steps(1);
    match build(&one, advances) {
        Ok(Solvers::Whole(inner, _)) => Ok(inner),
        Ok(_) => refuse("it is cut itself", "leave its `cut` out"),
        Err(messages) => refuse(messages.join("; "), "mend that first"),
    }
}

/// Where forces of a fast subsystem act on coordinates whose motion it receives, and where it gives the motion and
/// receives the force.
fn meetings(spec: &ModelSpec, fast: usize, partner: usize, all: &[Solvers]) -> Vec<Meeting> {
    let is_plain = |c: &ConnectionSpec| c.scale == Scale::NONE;
    let sends_acceleration = |port: OutputPort| {
        let ports = whole_ports(&all[fast]);
        let quantity = ports.map(|ports| &ports.outputs()[port.0].quantity);
        quantity.is_some_and(has_acceleration)
    };
    let received = |output: Option<OutputPort>| {
        let output = output?;
        let leads =
            |c: &&ConnectionSpec| c.from == (partner, output) && c.to.0 == fast && is_plain(c);
        Some(spec.connections.iter().find(leads)?.to.1)
    };
    let mut meetings = Vec::new();
    let sent = spec.connections.iter();
    for sent in sent.filter(|c| c.from.0 == fast && c.to.0 == partner && is_plain(c)) {
        let Some((taker, answer)) = answer_to(&all[partner], sent.to.1) else {
            continue;
        };
        let coordinate = match answer {
            Answer::Motion([motion, rate]) => received(motion).map(|position| Coordinate::Pushed {
                position,
                rate: received(rate),
                force: sent.from.1,
            }),
            Answer::Force(force) if sends_acceleration(sent.from.1) => {
                received(force).map(|force| Coordinate::Moved {
                    motion: sent.from.1,
                    force,
                })
            }
            Answer::Force(_) => None,
        };
        meetings.extend(coordinate.map(|coordinate| Meeting {
            coordinate,
            received: taker,
        }));
    }
    meetings
}

/// A connection that is scaled on its way, where force or motion of an interface pass.
fn scaled_meeting(spec: &ModelSpec, fast: usize, all: &[Solvers]) -> Option<String> {
    let is_scaled = |c: &&ConnectionSpec| c.scale != Scale::NONE;
    let name = |part: usize, port: &str| format!("{}.{port}", spec.parts[part].name);
    let sent = spec.connections.iter().filter(|c| c.from.0 == fast);
    for sent in sent {
        let partner = sent.to.0;
        let Some((_, answer)) = answer_to(&all[partner], sent.to.1) else {
            continue;
        };
        let [first, second] = match answer {
            Answer::Motion(ports) => ports,
            Answer::Force(port) => [port, None],
        };
        let answers = |c: &&ConnectionSpec| {
            let is_answer = Some(c.from.1) == first || Some(c.from.1) == second;
            c.from.0 == partner && c.to.0 == fast && is_answer
        };
        let back = spec.connections.iter().filter(answers);
        if let Some(scaled) = std::iter::once(sent).chain(back).find(is_scaled) {
            let ends = (whole_ports(&all[fast])?, scaled.from.0 == fast);
            return Some(match ends {
                (ports, true) => format!(
                    "from `{}`",
                    name(fast, &ports.outputs()[scaled.from.1.0].name)
                ),
                (ports, false) => {
                    format!("to `{}`", name(fast, &ports.inputs()[scaled.to.1.0].name))
                }
            });
        }
    }
    None
}

fn whole_ports(solvers: &Solvers) -> Option<&Ports> {
    match solvers {
        Solvers::Whole(whole, _) => Some(whole.ports()),
        _ => None,
    }
}

/// Which outputs of the whole answer to an input.
enum Answer {
    /// The motion of the coordinate on which a force acts, and its rate.
    Motion([Option<OutputPort>; 2]),
    /// The force on the owner of a motion.
    Force(Option<OutputPort>),
}

/// Who receives a force or a motion, and what is sent in return.
fn answer_to(solvers: &Solvers, input: InputPort) -> Option<((usize, InputPort), Answer)> {
    let pair = |ports: &Ports, input: InputPort| {
        let mut pairs = ports.conjugates().iter();
        pairs.find_map(|pair| match *pair {
            Conjugate::GivesMotion { force, motion } if force == input => {
                Some(Answer::Motion([Some(motion), ports.rate_of(motion)]))
            }
            Conjugate::GivesForce { motion, force }
                if motion == input && has_acceleration(&ports.inputs()[motion.0].quantity) =>
            {
                Some(Answer::Force(Some(force)))
            }
            _ => None,
        })
    };
    match solvers {
        Solvers::Whole(whole, _) => Some(((0, input), pair(whole.ports(), input)?)),
        Solvers::Cut(parts, _) => {
            let [taker] = parts.inputs[input.0][..] else {
                return None;
            };
            let answer = pair(parts.solvers[taker.0].part.ports(), taker.1)?;
            let whole = |port: Option<OutputPort>| {
                let mut sent = parts.outputs.iter();
                let place = sent.position(|sent| Some(*sent) == port.map(|port| (taker.0, port)));
                place.map(OutputPort)
            };
            let answer = match answer {
                Answer::Motion(ports) => Answer::Motion(ports.map(whole)),
                Answer::Force(port) => Answer::Force(whole(port)),
            };
            Some((taker, answer))
        }
        Solvers::Shared(..) | Solvers::SharedWith(..) => None,
    }
}

/// Whether it is a motion with its acceleration.
fn has_acceleration(quantity: &Quantity) -> bool {
    matches!(
        quantity,
        Quantity::Translation | Quantity::Rotation | Quantity::Motion
    )
}

/// The place in the schedule at which a part first advances.
fn stage_of(stages: &[Stage], part: usize) -> usize {
    let has = |stage: &Stage| match stage {
        Stage::Together(ids) | Stage::Corrected(ids) => ids.iter().any(|id| id.0 == part),
        Stage::Nested { stages, .. } => stage_of(stages, part) < stages.len(),
    };
    stages.iter().position(has).unwrap_or(stages.len())
}
