//! From a model to simulations: the coupled one, and its monolithic twin.

use oldham_cosim::{
    Builder, Coupling, Hold, IntegratedMotion, Predictor, Schedule, Simulation, Source, Stage,
    Subsystem, SubsystemId,
};
use oldham_expression::Expression;
use oldham_lumped::{Integrator, Lumped, Spec};

use crate::model::{Connection, DrivenInput, Model, Part, Prediction};
use crate::problem::{Findings, Problem, Problems};

impl Model {
    /// The coupled simulation, at its initial time.
    pub fn simulation(&self) -> Result<Simulation, Problems> {
        let mut findings = Findings::default();
        let mut builder = Builder::new();
        for part in &self.plan.parts {
            match Lumped::new(part.spec.clone()) {
                Ok(subsystem) => {
                    let id = add(&mut builder, &part.name, subsystem, part.prediction);
                    builder.every(id, part.every);
                }
                Err(errors) => findings.extend(errors.into_iter().map(|error| {
                    let message = format!("in `{}`: {error}", part.name);
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

    /// The same model without any exchange, as one subsystem: what the coupled simulation is
    /// compared to. Its columns have the same names.
    pub fn monolithic(&self, integrator: Option<Integrator>) -> Result<Simulation, Problems> {
        let integrator = integrator.unwrap_or(self.plan.twin.integrator);
        let twin = self
            .twin(integrator)
            .map_err(|findings| findings.into_problems(&self.source))?;
        let mut builder = Builder::new();
        // Its ports are called `subsystem.port` already.
        let id = add(&mut builder, "", twin, Prediction::Hold(0));
        for drive in &self.plan.drives {
            if let Some(port) = builder.ports(id).input(&self.input_name(drive)) {
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
        let spec = self.joined(integrator).map_err(|error| problem(&error))?;
        Lumped::new(spec).map_err(|errors| {
            let mut findings = Findings::default();
            findings.extend(errors.iter().map(|error| problem(error)));
            findings
        })
    }

    fn joined(&self, integrator: Integrator) -> Result<Spec, oldham_lumped::MergeError> {
        let connection = |connection: &Connection| oldham_lumped::Connection {
            from_part: connection.from.0,
            output: connection.from.1,
            to_part: connection.to.0,
            input: connection.to.1,
        };
        let parts: Vec<_> = self.plan.parts.iter().map(Part::to_join).collect();
        let connections: Vec<_> = self.plan.connections.iter().map(connection).collect();
        oldham_lumped::merge(&parts, &connections, integrator, self.plan.twin.micro_steps)
    }

    fn input_name(&self, drive: &DrivenInput) -> String {
        let part = &self.plan.parts[drive.part];
        format!("{}.{}", part.name, part.spec.inputs[drive.port.0].name)
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

impl Part {
    fn to_join(&self) -> oldham_lumped::Part<'_> {
        oldham_lumped::Part {
            name: &self.name,
            spec: &self.spec,
        }
    }
}

fn add(
    builder: &mut Builder,
    name: &str,
    subsystem: Lumped,
    prediction: Prediction,
) -> SubsystemId {
    let ports = subsystem.ports();
    let predictor: Box<dyn Predictor> = match prediction {
        Prediction::Hold(order) => Box::new(Hold::new(order, ports)),
        Prediction::Integrated(rate, rho) => Box::new(IntegratedMotion::new(rate, rho, ports)),
    };
    builder.add(name, Box::new(subsystem), predictor)
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
