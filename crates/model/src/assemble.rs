//! From a model to simulations: the coupled one, and its monolithic model.

use oldham_compensation::Compensation;
use oldham_control::{Control, Timing};
use oldham_cosim::{
    BuildError, Builder, Coupling, Fault, Hold, InputPort, Ports, Predictor, Scale, Schedule,
    Simulation, Source, Stage, Subsystem, SubsystemId,
};
use oldham_dmd::{Dmd, PlainDmd};
use oldham_lumped::{Integrator, Lumped, Spec};
use oldham_prediction::IntegratedMotion;

use crate::expansion::{self, Member, Solvers};
use crate::implicit;
use crate::interface_model;
use crate::model::{ConnectionSpec, Content, Course, DrivenInput, Model, PartSpec, Prediction};
use crate::problem::{Findings, Problem, Problems};
use crate::source::Span;

/// Whether mechanisms are cut as the file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cuts {
    Made,
    Undone,
}

/// Chooses a predictor by the name of a part and its ports, or leaves the model's.
pub type ChoosePredictor<'a> = dyn Fn(&str, &Ports) -> Option<Box<dyn Predictor>> + 'a;

impl Model {
    /// The coupled simulation, at its initial time.
    pub fn simulation(&self) -> Result<Simulation, Problems> {
        self.coupled(Cuts::Made, self.compensations()?, &|_, _| None)
    }

    /// The same with predictors of the caller's.
    pub fn simulation_with(&self, choose: &ChoosePredictor<'_>) -> Result<Simulation, Problems> {
        self.coupled(Cuts::Made, self.compensations()?, choose)
    }

    /// The coupled simulation with these compensations and none of the file's.
    pub(crate) fn uncompensated(
        &self,
        laws: Vec<(SubsystemId, Compensation)>,
    ) -> Result<Simulation, Problems> {
        self.coupled(Cuts::Made, laws, &|_, _| None)
    }

    fn coupled(
        &self,
        cuts: Cuts,
        mut laws: Vec<(SubsystemId, Compensation)>,
        choose: &ChoosePredictor<'_>,
    ) -> Result<Simulation, Problems> {
        let mut findings = Findings::default();
        let mut builder = Builder::new();
        let mut all = Vec::new();
        for part in &self.spec.parts {
            match self.solvers(part, cuts, 1) {
                Ok(solvers) => all.push(solvers),
                Err(messages) => findings.extend(messages.into_iter().map(|message| {
                    let message = format!("in `{}`: {message}", part.name);
                    Problem::new(part.span.clone(), message)
                })),
            }
        }
        findings.finish(&self.source)?;
        let mut findings = Findings::default();
        let feeds = interface_model::feed(
            &self.spec,
            &mut all,
            &|part, advances| self.solvers(part, cuts, advances),
            &|part| laws.iter().any(|(id, _)| id.0 == part),
            &mut findings,
        );
        findings.finish(&self.source)?;
        let mut members: Vec<Member> = Vec::new();
        for (index, (part, solvers)) in self.spec.parts.iter().zip(all).enumerate() {
            let law = laws.iter().position(|(id, _)| id.0 == index);
            let law = law.map(|place| laws.swap_remove(place).1);
            let member = solvers.add_to(&mut builder, part, law, choose, &members);
            members.push(member);
        }
        for feed in feeds {
            builder.connect(members[feed.mechanism].engine(feed.from), {
                let fast = members[feed.fast].only();
                let seen = builder.ports(fast).input(oldham_interface_model::PORT);
                (fast, seen.expect("it was made with it"))
            });
        }
        for ConnectionSpec { from, to, scale } in &self.spec.connections {
            let is_control = matches!(self.spec.parts[from.0].content, Content::Control(_));
            for input in members[to.0].inputs(to.1) {
                builder.connect_scaled(members[from.0].output(from.1), input, *scale);
                if is_control {
                    builder.supply(input.0, input.1);
                }
            }
        }
        self.connect_tangents(&mut builder, &members);
        for drive in &self.spec.drives {
            for (id, port) in members[drive.part].inputs(drive.port) {
                self.excite(&mut builder, id, port, drive);
            }
        }
        let schedule = expansion::schedule(&self.spec, &members);
        self.build(builder, schedule)
    }

    /// Leads the tangents of parts to the owners of their interfaces.
    fn connect_tangents(&self, builder: &mut Builder, members: &[Member]) {
        for (part, owner) in self.spec.parts.iter().zip(members) {
            let taken = part.lumped().map_or(&[][..], |spec| &spec.tangents);
            for tangent in taken {
                let sender = |part: &PartSpec| part.name == tangent.sender;
                let sender = self.spec.parts.iter().position(sender);
                let sender = members[sender.expect("senders are parts")].only();
                for (boundary, _) in &tangent.points {
                    let echo = port(builder.ports(sender).output(&Spec::at(boundary)));
                    let taken = builder.ports(owner.only());
                    let to = port(taken.input(&tangent.at_input(boundary)));
                    builder.connect((sender, echo), (owner.only(), to));
                    builder.record_as((sender, echo), None);
                }
                let from = port(builder.ports(sender).output(Spec::TANGENT));
                let to = port(builder.ports(owner.only()).input(&tangent.tangent_input()));
                builder.connect((sender, from), (owner.only(), to));
            }
        }
    }

    /// The solvers of a part that advances so many times in its macro step, or why there are none.
    fn solvers(
        &self,
        part: &PartSpec,
        cuts: Cuts,
        advances: usize,
    ) -> Result<Solvers, Vec<String>> {
        let made = match &part.content {
            Content::Lumped(spec) => {
                boxed(Lumped::new(spec.clone())).map_err(|errors| texts(&errors))
            }
            Content::Multibody(spec) => {
                let start = self.spec.clock.start;
                if let (Some(cutting), Cuts::Made) = (&spec.cutting, cuts) {
                    let parts = spec.cut_parts(cutting, start);
                    let parts = parts.map_err(|error| vec![error.to_string()])?;
                    return Ok(Solvers::Cut(Box::new(parts), Vec::new()));
                }
                boxed(spec.part(start)).map_err(|error| vec![error.to_string()])
            }
            Content::Control(controller) => {
                let timing = self.timing(part, advances);
                boxed(Control::new(controller, timing)).map_err(|error| vec![error.to_string()])
            }
            Content::Foreign(spec) => spec.solver().map_err(|message| vec![message]),
        };
        made.map(|solver| Solvers::Whole(solver, Vec::new()))
    }

    /// When a part advances, so many times in its macro step.
    fn timing(&self, part: &PartSpec, advances: usize) -> Timing {
        let place = self.spec.parts.iter().position(|one| one.name == part.name);
        let id = SubsystemId(place.unwrap_or_default());
        let rate = implicit::rate(&self.spec.schedule.stages, id).max(1.0);
        Timing {
            start: self.spec.clock.start,
            step: self.spec.clock.step * f64::from(part.every) / (rate * advances as f64),
        }
    }

    /// The ports of a part, if it can be made.
    pub(crate) fn ports_of(&self, part: usize) -> Option<Ports> {
        match self.solvers(&self.spec.parts[part], Cuts::Undone, 1).ok()? {
            Solvers::Whole(solver, _) => Some(solver.ports().clone()),
            _ => None,
        }
    }

    /// The same model without any exchange, as one subsystem: what the coupled simulation is
    /// compared to. Its columns have the same names. A single part that is not lumped is its own
    /// monolithic model, uncut; where cut mechanisms are coupled with others, only the cuts are
    /// undone. Other models of several parts of which one is not lumped have no monolithic model.
    pub fn monolithic(&self, integrator: Option<Integrator>) -> Result<Simulation, Problems> {
        let is_alone = matches!(&self.spec.parts[..], [only] if only.lumped().is_none());
        if integrator.is_none() && (is_alone || self.is_cut()) {
            return self.coupled(Cuts::Undone, self.compensations()?, &|_, _| None);
        }
        let integrator = integrator.unwrap_or(self.spec.monolithic_spec.integrator);
        let monolithic = self
            .merged(integrator)
            .map_err(|findings| findings.into_problems(&self.source))?;
        let mut builder = Builder::new();
        // Its ports are called `subsystem.port` already.
        let predictor = predictor(&Prediction::Hold(0), monolithic.ports());
        let id = builder.add("", Box::new(monolithic), predictor);
        for drive in &self.spec.drives {
            let name = self.input_name(drive);
            if let Some(port) = name.and_then(|name| builder.ports(id).input(&name)) {
                self.excite(&mut builder, id, port, drive);
            }
        }
        let schedule = Schedule {
            stages: vec![Stage::Together(vec![id])],
            coupling: Coupling::Explicit,
            output_update: false,
            ..self.spec.schedule.clone()
        };
        self.build(builder, schedule)
    }

    /// All parts joined into one.
    pub(crate) fn merged(&self, integrator: Integrator) -> Result<Lumped, Findings> {
        let problem = |error: &dyn std::fmt::Display| {
            let message = format!("the monolithic reference model cannot be made: {error}");
            Problem::new(self.spec.monolithic_spec.span.clone(), message)
        };
        let parts = self.lumped_parts()?;
        let mut connections = self.spec.connections.iter();
        if let Some(scaled) = connections.find(|c| c.scale != Scale::NONE) {
            let [from, to] = [scaled.from.0, scaled.to.0].map(|part| &self.spec.parts[part].name);
            let error = format!("a connection from `{from}` to `{to}` has a gain or an offset");
            return Err(problem(&error).into());
        }
        let spec = self.joined(&parts, integrator);
        let spec = spec.map_err(|error| problem(&error))?;
        Lumped::new(spec).map_err(|errors| {
            let mut findings = Findings::default();
            findings.extend(errors.iter().map(|error| problem(error)));
            findings
        })
    }

    /// All parts, if they are lumped: only such equations can be joined.
    fn lumped_parts(&self) -> Result<Vec<oldham_lumped::MergedPart<'_>>, Findings> {
        let mut findings = Findings::default();
        let mut parts = Vec::new();
        for part in &self.spec.parts {
            if let Some(spec) = part.lumped() {
                let name = &part.name;
                parts.push(oldham_lumped::MergedPart { name, spec });
                continue;
            }
            let message = format!(
                "the monolithic reference model cannot be made: `{}` is no lumped subsystem",
                part.name
            );
            findings.report(&part.span, message)
                .help("only lumped subsystems can be joined into one; `oldham compare` finds a converged reference instead");
        }
        if findings.is_empty() {
            Ok(parts)
        } else {
            Err(findings)
        }
    }

    fn joined(
        &self,
        parts: &[oldham_lumped::MergedPart<'_>],
        integrator: Integrator,
    ) -> Result<Spec, oldham_lumped::MergeError> {
        let connection = |connection: &ConnectionSpec| oldham_lumped::MergedConnection {
            from_part: connection.from.0,
            output: connection.from.1,
            to_part: connection.to.0,
            input: connection.to.1,
        };
        let connections: Vec<_> = self.spec.connections.iter().map(connection).collect();
        oldham_lumped::merge(
            parts,
            &connections,
            integrator,
            self.spec.monolithic_spec.micro_steps,
        )
    }

    /// What the monolithic model calls an input; only lumped parts are in it.
    fn input_name(&self, drive: &DrivenInput) -> Option<String> {
        let part = &self.spec.parts[drive.part];
        let port = &part.lumped()?.inputs[drive.port.0].name;
        Some(format!("{}.{port}", part.name))
    }

    /// Drives an input by functions of time, or lets it be set from outside.
    fn excite(&self, builder: &mut Builder, id: SubsystemId, port: InputPort, drive: &DrivenInput) {
        match &drive.external {
            Some(external) => {
                builder.dial(id, port, &external.name, &external.initial);
            }
            None => {
                let source = Driver {
                    course: drive.course.clone(),
                    place: self.source.locate(&drive.span).to_string(),
                };
                builder.drive(id, port, Box::new(source));
            }
        }
    }

    fn build(&self, builder: Builder, schedule: Schedule) -> Result<Simulation, Problems> {
        builder.build(schedule).map_err(|errors| {
            let mut findings = Findings::default();
            findings.extend(
                errors.iter().map(|error| {
                    Problem::new(self.span_of(error).unwrap_or(0..0), error.to_string())
                }),
            );
            findings.into_problems(&self.source)
        })
    }

    /// Where an error is to be mended, if that is a single place.
    fn span_of(&self, error: &BuildError) -> Option<Span> {
        let BuildError::Initial(Fault::Driven { origin, .. }) = error else {
            return None;
        };
        let origin = origin.as_deref();
        let place =
            |drive: &&DrivenInput| Some(&*self.source.locate(&drive.span).to_string()) == origin;
        let drive = self.spec.drives.iter().find(place)?;
        Some(drive.span.clone())
    }
}

pub(crate) fn predictor(prediction: &Prediction, ports: &Ports) -> Box<dyn Predictor> {
    match prediction {
        Prediction::Hold(order) => Box::new(Hold::new(*order, ports)),
        Prediction::InterfaceModel(_) => Box::new(Hold::new(0, ports)),
        Prediction::Integrated(rate, rho) => Box::new(IntegratedMotion::new(*rate, *rho, ports)),
        Prediction::Learned(settings) => {
            let dmd = Dmd::new(ports, settings);
            Box::new(dmd.expect("windows were checked against the ports"))
        }
        Prediction::Plain(settings) => {
            let dmd = PlainDmd::new(ports, settings);
            Box::new(dmd.expect("windows were checked against the ports"))
        }
        Prediction::Foreign(foreign) => (foreign.make)(ports),
    }
}

fn boxed<S: Subsystem + 'static, E>(made: Result<S, E>) -> Result<Box<dyn Subsystem>, E> {
    made.map(|solver| Box::new(solver) as Box<dyn Subsystem>)
}

fn texts(errors: &[impl ToString]) -> Vec<String> {
    errors.iter().map(ToString::to_string).collect()
}

/// A port that a part has because its description says so.
fn port<T>(found: Option<T>) -> T {
    found.expect("tangents have ports")
}

impl Course {
    pub fn at(&self, t: f64, out: &mut [f64]) {
        match self {
            Self::Each(components) => {
                for (value, expression) in out.iter_mut().zip(components) {
                    *value = expression.eval(&[t]);
                }
            }
            Self::Differentiated(expression) => {
                let jet = expression.with_derivatives(0, &[t]);
                let derivatives = [jet.value, jet.first, jet.second];
                for (value, derivative) in out.iter_mut().zip(derivatives) {
                    *value = derivative;
                }
            }
        }
    }
}

/// A function of time, and the place where it stands.
struct Driver {
    course: Course,
    place: String,
}

impl Source for Driver {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        self.course.at(t, out);
    }

    fn origin(&self) -> Option<&str> {
        Some(&self.place)
    }
}
