//! From the subsystems of a model to those of the engine: a cut mechanism becomes several.

use oldham_compensation::{Compensated, Compensation};
use oldham_cosim::{
    Builder, Coupling, InputPort, OutputPort, Schedule, Stage, Subsystem, SubsystemId,
};
use oldham_interface_model::Shown;
use oldham_multibody::cut::Role;
use oldham_multibody::{CutParts, CutScheme, Method};

use crate::assemble::{ChoosePredictor, predictor};
use crate::mechanism::Order;
use crate::model::{ModelSpec, PartSpec, Prediction};

/// Hold of couplings: they advance when the loads at the end of the step are known, and take the
/// line to them within it.
const COUPLING_HOLD: usize = 1;

/// What solves a subsystem of the model.
pub(crate) enum Solvers {
    /// One subsystem, and what it shows of its interfaces to fast subsystems.
    Whole(Box<dyn Subsystem>, Vec<ShownBySubdomain>),
    /// The parts of a cut mechanism, and what they show.
    Cut(Box<CutParts>, Vec<ShownBySubdomain>),
    /// Several subsystems in one, by its name in the engine: the first of them, with its ports.
    Shared(String, Box<dyn Subsystem>, SharedPorts),
    /// Another one of these: the place of the first among the subsystems of the model, and its own ports.
    SharedWith(usize, SharedPorts),
}

/// Ports of a subsystem of the model among those of a subsystem of the engine, inputs and outputs.
#[derive(Clone, Copy)]
pub(crate) struct SharedPorts {
    pub first: (usize, usize),
    pub count: (usize, usize),
}

/// What a subsystem, or a part of a cut mechanism, shows of its interface.
pub(crate) struct ShownBySubdomain {
    pub subdomain: usize,
    /// Name of the port.
    pub name: String,
    /// Where forces and motions arrive.
    pub received: Vec<InputPort>,
}

/// A subsystem of the model in the engine.
pub(crate) struct Member {
    ids: Vec<(Role, SubsystemId)>,
    /// Where its ports are, if it is cut.
    ports: Option<Ports>,
    /// Its parts advance one after the other where the schedule does.
    sequential: bool,
    /// Parts that advance before all others.
    early: Vec<SubsystemId>,
    /// How often its parts correct their steps once the couplings are done.
    corrections: usize,
}

struct Ports {
    inputs: Vec<Vec<(SubsystemId, InputPort)>>,
    outputs: Vec<(SubsystemId, OutputPort)>,
    /// Outputs of the whole and of the engine, by their names.
    names: Vec<(String, String)>,
}

impl Solvers {
    /// Gives the solvers to the engine, with a compensation of what is not cut, behind the subsystems of the model that are
    /// there already.
    pub fn add_to(
        self,
        builder: &mut Builder,
        part: &PartSpec,
        law: Option<Compensation>,
        choose: &ChoosePredictor<'_>,
        before: &[Member],
    ) -> Member {
        let member = match self {
            Self::Whole(subsystem, shown) => {
                let subsystem = with_interfaces(subsystem, 0, &shown);
                let ports = subsystem.ports();
                let chosen = choose(&part.name, ports);
                let predictor = chosen.unwrap_or_else(|| predictor(&part.prediction, ports));
                let id = match law {
                    None => builder.add(&part.name, subsystem, predictor),
                    Some(law) => {
                        Compensated::add_to(builder, &part.name, subsystem, predictor, law)
                    }
                };
                Member {
                    ids: vec![(Role::Part, id)],
                    ports: None,
                    sequential: false,
                    early: Vec::new(),
                    corrections: 0,
                }
            }
            Self::Cut(parts, shown) => Member::cut(*parts, shown, builder, part),
            Self::Shared(name, subsystem, own) => {
                let predictor = predictor(&part.prediction, subsystem.ports());
                let id = builder.add(&name, subsystem, predictor);
                builder.ports_are_named_in_full(id);
                Member::shared(id, own)
            }
            Self::SharedWith(first, own) => Member::shared(before[first].only(), own),
        };
        for &(_, id) in &member.ids {
            builder.every(id, part.every);
        }
        member
    }
}

/// A subsystem that shows its interfaces.
fn with_interfaces(
    mut subsystem: Box<dyn Subsystem>,
    index: usize,
    shown: &[ShownBySubdomain],
) -> Box<dyn Subsystem> {
    for one in shown.iter().filter(|one| one.subdomain == index) {
        subsystem = Box::new(Shown::new(subsystem, &one.name, &one.received));
    }
    subsystem
}

impl Member {
    /// One of several subsystems of the model that are one in the engine, whose ports have their names.
    fn shared(id: SubsystemId, own: SharedPorts) -> Self {
        let outputs = (0..own.count.1).map(|port| (id, OutputPort(own.first.1 + port)));
        let inputs = (0..own.count.0).map(|port| vec![(id, InputPort(own.first.0 + port))]);
        Self {
            ids: vec![(Role::Part, id)],
            ports: Some(Ports {
                inputs: inputs.collect(),
                outputs: outputs.collect(),
                names: Vec::new(),
            }),
            sequential: false,
            early: Vec::new(),
            corrections: 0,
        }
    }

    /// Gives the parts of a cut mechanism to the engine.
    fn cut(
        parts: CutParts,
        shown: Vec<ShownBySubdomain>,
        builder: &mut Builder,
        part: &PartSpec,
    ) -> Self {
        let whole = &part.name;
        let cutting = part.cutting().expect("it was cut");
        let mut ids = Vec::new();
        for (index, solver) in parts.solvers.into_iter().enumerate() {
            let name = format!("{whole}.{}", solver.name);
            let prediction = match solver.role {
                Role::Part => &cutting.prediction,
                Role::Coupling => &Prediction::Hold(COUPLING_HOLD),
            };
            let predictor = predictor(prediction, solver.part.ports());
            let subsystem = with_interfaces(Box::new(solver.part), index, &shown);
            let id = builder.add(&name, subsystem, predictor);
            ids.push((solver.role, id));
        }
        let input = |&(subdomain, port): &(usize, InputPort)| (ids[subdomain].1, port);
        let output = |(subdomain, port): (usize, OutputPort)| (ids[subdomain].1, port);
        let mut names = Vec::new();
        for (place, label) in parts.labels {
            let label = label.map(|label| format!("{whole}.{label}"));
            builder.record_as(output(place), label.as_deref());
            names.extend(label.map(|label| (label, builder.output_name(output(place)))));
        }
        for connection in &parts.connections {
            builder.connect(output(connection.from), input(&connection.to));
        }
        let ports = Ports {
            inputs: parts
                .inputs
                .iter()
                .map(|receivers| receivers.iter().map(input).collect())
                .collect(),
            outputs: parts.outputs.iter().copied().map(output).collect(),
            names,
        };
        let is_nonsmooth =
            |index: usize| cutting.settings.solutions[index].options.method == Method::Impulses;
        let is_early = |index: usize| match cutting.order {
            Order::Scheduled => false,
            Order::NonsmoothFirst => is_nonsmooth(index),
            Order::SmoothFirst => !is_nonsmooth(index),
        };
        let parts = ids.iter().enumerate();
        let early = parts.filter(|(index, (role, _))| *role == Role::Part && is_early(*index));
        Self {
            early: early.map(|(_, (_, id))| *id).collect(),
            ids,
            ports: Some(ports),
            sequential: cutting.settings.scheme == CutScheme::ForceDisplacement,
            corrections: cutting.corrections,
        }
    }
}

impl Member {
    /// A port of one of its subsystems in the engine.
    pub fn engine(&self, (subdomain, port): (usize, OutputPort)) -> (SubsystemId, OutputPort) {
        (self.ids[subdomain].1, port)
    }

    /// Its only subsystem in the engine, if it is not cut; else the first.
    pub fn only(&self) -> SubsystemId {
        self.ids[0].1
    }

    /// The inputs in the engine that an input of the model stands for.
    pub fn inputs(&self, port: InputPort) -> Vec<(SubsystemId, InputPort)> {
        match &self.ports {
            Some(ports) => ports.inputs[port.0].clone(),
            None => vec![(self.ids[0].1, port)],
        }
    }

    /// The output in the engine that an output of the model is.
    pub fn output(&self, port: OutputPort) -> (SubsystemId, OutputPort) {
        match &self.ports {
            Some(ports) => ports.outputs[port.0],
            None => (self.ids[0].1, port),
        }
    }

    fn with_role(&self, wanted: Role) -> impl Iterator<Item = SubsystemId> {
        let ids = self.ids.iter();
        ids.filter_map(move |&(role, id)| (role == wanted).then_some(id))
    }
}

/// The schedule of the engine: where a mechanism advances, its parts do, then its couplings,
/// and at last the parts correct their steps where they can.
pub(crate) fn schedule(spec: &ModelSpec, members: &[Member]) -> Schedule {
    let mut schedule = spec.schedule.clone();
    schedule.stages = stages(&spec.schedule.stages, members, spec.is_sequential);
    leave_out_repeated(&mut schedule.stages);
    if let Coupling::Implicit(settings) = &mut schedule.coupling {
        for (port, _) in &mut settings.per_port {
            rename(port, members);
        }
    }
    schedule
}

/// Subsystems of the model that are one in the engine advance once, where the first of them does.
fn leave_out_repeated(stages: &mut Vec<Stage>) {
    let mut seen: Vec<SubsystemId> = Vec::new();
    for stage in &mut *stages {
        if let Stage::Together(ids) = stage {
            ids.retain(|id| {
                let is_new = !seen.contains(id);
                seen.push(*id);
                is_new
            });
        }
    }
    stages.retain(|stage| !matches!(stage, Stage::Together(ids) if ids.is_empty()));
}

fn stages(given: &[Stage], members: &[Member], is_sequential: bool) -> Vec<Stage> {
    let mut made = Vec::new();
    for stage in given {
        match stage {
            Stage::Together(ids) => {
                let together = ids.iter().map(|id| &members[id.0]);
                made.extend(together_in_pieces(together.collect(), is_sequential));
            }
            Stage::Corrected(ids) => {
                let parts = ids
                    .iter()
                    .flat_map(|id| members[id.0].with_role(Role::Part));
                made.push(Stage::Corrected(parts.collect()));
            }
            Stage::Nested {
                ratio,
                stages: inner,
            } => made.push(Stage::Nested {
                ratio: *ratio,
                stages: stages(inner, members, is_sequential),
            }),
        }
    }
    made
}

fn together_in_pieces(members: Vec<&Member>, is_sequential: bool) -> Vec<Stage> {
    let with_role = |role: Role| {
        let members = members.iter();
        members.flat_map(move |member| member.with_role(role))
    };
    let mut parts: Vec<SubsystemId> = with_role(Role::Part).collect();
    let couplings: Vec<SubsystemId> = with_role(Role::Coupling).collect();
    let mut stages = Vec::new();
    let early: Vec<SubsystemId> = members.iter().flat_map(|m| m.early.clone()).collect();
    if !early.is_empty() {
        parts.retain(|id| !early.contains(id));
        stages.push(Stage::Together(early));
    }
    if is_sequential && members.iter().any(|member| member.sequential) {
        stages.extend(parts.into_iter().map(|id| Stage::Together(vec![id])));
    } else {
        stages.push(Stage::Together(parts));
    }
    if !couplings.is_empty() {
        stages.push(Stage::Together(couplings));
    }
    stages.extend(corrections(&members));
    stages
}

/// Parts correct their steps for what their couplings found; before each further correction the
/// couplings do so for what the parts send then.
fn corrections(members: &[&Member]) -> Vec<Stage> {
    let most = members.iter().map(|member| member.corrections).max();
    let mut stages = Vec::new();
    for round in 1..=most.unwrap_or(0) {
        let with_role = |role: Role| -> Stage {
            let corrected = members.iter().filter(|member| member.corrections >= round);
            Stage::Corrected(
                corrected
                    .flat_map(|member| member.with_role(role))
                    .collect(),
            )
        };
        if round > 1 {
            stages.push(with_role(Role::Coupling));
        }
        stages.push(with_role(Role::Part));
    }
    stages
}

/// The engine's name of an output of the model.
fn rename(port: &mut String, members: &[Member]) {
    let names = members
        .iter()
        .filter_map(|member| member.ports.as_ref())
        .flat_map(|ports| &ports.names);
    for (whole, engine) in names {
        if whole == port {
            *port = engine.clone();
            return;
        }
    }
}
