//! From a model to simulations: the coupled one, and its monolithic twin.

use oldham_cosim::{
    Builder, Coupling, Hold, IntegratedMotion, Ports, Predictor, Schedule, Simulation, Source,
    Stage, Subsystem, SubsystemId,
};
use oldham_dmd::Dmd;
use oldham_expression::Expression;
use oldham_hydraulics::Hydraulics;
use oldham_lumped::{Integrator, Lumped, Spec};

use crate::model::{Connection, Content, DrivenInput, Model, Part, Prediction};
use crate::problem::{Findings, Problem, Problems};

/// Chooses a predictor by the name of a part and its ports, or leaves the model's.
pub type ChoosePredictor<'a> = dyn Fn(&str, &Ports) -> Option<Box<dyn Predictor>> + 'a;

impl Model {
    /// The coupled simulation, at its initial time.
    pub fn simulation(&self) -> Result<Simulation, Problems> {
        self.simulation_with(&|_, _| None)
    }

    /// The same with predictors of the caller's.
    pub fn simulation_with(&self, choose: &ChoosePredictor<'_>) -> Result<Simulation, Problems> {
        let mut findings = Findings::default();
        let mut builder = Builder::new();
        for part in &self.plan.parts {
            match self.subsystem(part) {
                Ok(subsystem) => {
                    let chosen = choose(&part.name, subsystem.ports());
                    let predictor =
                        chosen.unwrap_or_else(|| predictor(&part.prediction, subsystem.ports()));
                    let id = builder.add(&part.name, subsystem, predictor);
                    builder.every(id, part.every);
                }
                Err(messages) => findings.extend(messages.into_iter().map(|message| {
                    let message = format!("in `{}`: {message}", part.name);
                    Problem::new(part.span.clone(), message)
                })),
            }
        }
        findings.finish(&self.source)?;
        for Connection { from, to } in &self.plan.connections {
            builder.connect((SubsystemId(from.0), from.1), (SubsystemId(to.0), to.1));
        }
        for drive in &self.plan.drives {
            builder.drive(SubsystemId(drive.part), drive.port, drive.source());
        }
        self.build(builder, self.plan.schedule.clone())
    }

    /// The solver of a part, or why there is none.
    fn subsystem(&self, part: &Part) -> Result<Box<dyn Subsystem>, Vec<String>> {
        match &part.content {
            Content::Lumped(spec) => match Lumped::new(spec.clone()) {
                Ok(lumped) => Ok(Box::new(lumped)),
                Err(errors) => Err(errors.iter().map(ToString::to_string).collect()),
            },
            Content::Multibody(recipe) => match recipe.part(self.plan.clock.start) {
                Ok(part) => Ok(Box::new(part)),
                Err(error) => Err(vec![error.to_string()]),
            },
            Content::Hydraulics(circuit) => match Hydraulics::new(circuit) {
                Ok(hydraulics) => Ok(Box::new(hydraulics)),
                Err(errors) => Err(errors.0.iter().map(ToString::to_string).collect()),
            },
        }
    }

    /// The same model without any exchange, as one subsystem: what the coupled simulation is
    /// compared to. Its columns have the same names. A single part that is not lumped is its own
    /// twin; several parts of which one is not lumped have none.
    pub fn monolithic(&self, integrator: Option<Integrator>) -> Result<Simulation, Problems> {
        if let ([only], None) = (self.plan.parts.as_slice(), integrator)
            && only.lumped().is_none()
        {
            return self.simulation();
        }
        let integrator = integrator.unwrap_or(self.plan.twin.integrator);
        let twin = self
            .twin(integrator)
            .map_err(|findings| findings.into_problems(&self.source))?;
        let mut builder = Builder::new();
        // Its ports are called `subsystem.port` already.
        let predictor = predictor(&Prediction::Hold(0), twin.ports());
        let id = builder.add("", Box::new(twin), predictor);
        for drive in &self.plan.drives {
            let name = self.input_name(drive);
            if let Some(port) = name.and_then(|name| builder.ports(id).input(&name)) {
                builder.drive(id, port, drive.source());
            }
        }
        let schedule = Schedule {
            stages: vec![Stage::Together(vec![id])],
            coupling: Coupling::Loose,
            refresh: false,
            ..self.plan.schedule.clone()
        };
        self.build(builder, schedule)
    }

    /// All parts joined into one.
    pub(crate) fn twin(&self, integrator: Integrator) -> Result<Lumped, Findings> {
        let problem = |error: &dyn std::fmt::Display| {
            let message = format!("the monolithic twin cannot be made: {error}");
            Problem::new(self.plan.twin.span.clone(), message)
        };
        let parts = self.lumped_parts()?;
        let spec = self.joined(&parts, integrator);
        let spec = spec.map_err(|error| problem(&error))?;
        Lumped::new(spec).map_err(|errors| {
            let mut findings = Findings::default();
            findings.extend(errors.iter().map(|error| problem(error)));
            findings
        })
    }

    /// All parts, if they are lumped: only such equations can be joined.
    fn lumped_parts(&self) -> Result<Vec<oldham_lumped::Part<'_>>, Findings> {
        let mut findings = Findings::default();
        let mut parts = Vec::new();
        for part in &self.plan.parts {
            if let Some(spec) = part.lumped() {
                let name = &part.name;
                parts.push(oldham_lumped::Part { name, spec });
                continue;
            }
            let message = format!(
                "the monolithic twin cannot be made: `{}` is no lumped subsystem",
                part.name
            );
            let problem = Problem::new(part.span.clone(), message)
                .help("only lumped subsystems can be joined into one");
            findings.push(problem);
        }
        if findings.is_empty() {
            Ok(parts)
        } else {
            Err(findings)
        }
    }

    fn joined(
        &self,
        parts: &[oldham_lumped::Part<'_>],
        integrator: Integrator,
    ) -> Result<Spec, oldham_lumped::MergeError> {
        let connection = |connection: &Connection| oldham_lumped::Connection {
            from_part: connection.from.0,
            output: connection.from.1,
            to_part: connection.to.0,
            input: connection.to.1,
        };
        let connections: Vec<_> = self.plan.connections.iter().map(connection).collect();
        oldham_lumped::merge(parts, &connections, integrator, self.plan.twin.micro_steps)
    }

    /// What the twin calls an input; only lumped parts are in it.
    fn input_name(&self, drive: &DrivenInput) -> Option<String> {
        let part = &self.plan.parts[drive.part];
        let port = &part.lumped()?.inputs[drive.port.0].name;
        Some(format!("{}.{port}", part.name))
    }

    fn build(&self, builder: Builder, schedule: Schedule) -> Result<Simulation, Problems> {
        builder.build(schedule).map_err(|errors| {
            let mut findings = Findings::default();
            findings.extend(
                errors
                    .iter()
                    .map(|error| Problem::new(0..0, error.to_string())),
            );
            findings.into_problems(&self.source)
        })
    }
}

fn predictor(prediction: &Prediction, ports: &Ports) -> Box<dyn Predictor> {
    match prediction {
        Prediction::Hold(order) => Box::new(Hold::new(*order, ports)),
        Prediction::Integrated(rate, rho) => Box::new(IntegratedMotion::new(*rate, *rho, ports)),
        Prediction::Learned(settings) => {
            let dmd = Dmd::new(ports, settings);
            Box::new(dmd.expect("windows were checked against the ports"))
        }
    }
}

impl DrivenInput {
    fn source(&self) -> Box<dyn Source> {
        Box::new(Driver(self.components.clone()))
    }
}

/// Expressions of time, one a component.
struct Driver(Vec<Expression>);

impl Source for Driver {
    fn value(&mut self, t: f64, out: &mut [f64]) {
        for (value, expression) in out.iter_mut().zip(&self.0) {
            *value = expression.eval(&[t]);
        }
    }
}
