//! One part of a model by itself: what it receives from the others is set from outside.

use oldham_cosim::{Coupling, Quantity, Schedule, Stage, SubsystemId};

use crate::implicit;
use crate::model::{
    Cockpit, ConnectionSpec, Course, DrivenInput, ExternalInput, Model, PartSpec, Prediction,
};

/// Why a part cannot stand by itself.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AloneError {
    /// There is no such part.
    #[error("there is no part `{name}`{}", near(.nearest))]
    Unknown {
        /// As it was asked for.
        name: String,
        /// One that is there.
        nearest: Option<String>,
    },
    /// It is more than one subsystem, or shares more than values with others.
    #[error("`{name}` cannot stand by itself: {reason}")]
    Entangled {
        /// The part.
        name: String,
        /// What binds it.
        reason: String,
    },
}

fn near(nearest: &Option<String>) -> String {
    match nearest {
        Some(nearest) => format!("; did you mean `{nearest}`?"),
        None => String::new(),
    }
}

/// An input of a part that another part feeds.
#[derive(Clone, Debug, PartialEq)]
pub struct FedInput {
    /// With the name of the part.
    pub name: String,
    /// The columns of what is sent to it.
    pub columns: Vec<String>,
    gain: f64,
    offset: f64,
    quantity: Quantity,
}

impl FedInput {
    /// What arrives of these values.
    pub fn received(&self, sent: &[f64]) -> Vec<f64> {
        match self.quantity {
            Quantity::Scalar(_) => sent.iter().map(|v| self.gain * v + self.offset).collect(),
            _ => sent.to_vec(),
        }
    }
}

impl Model {
    fn place_of(&self, name: &str) -> Result<usize, AloneError> {
        let names = || self.spec.parts.iter().map(|part| part.name.as_str());
        let found = names().position(|other| other == name);
        found.ok_or_else(|| AloneError::Unknown {
            name: name.into(),
            nearest: crate::nearest(name, names()).map(Into::into),
        })
    }

    /// What others send to a part.
    pub fn fed_inputs(&self, name: &str) -> Result<Vec<FedInput>, AloneError> {
        let place = self.place_of(name)?;
        let fed = self.spec.connections.iter();
        let fed = fed.filter(|one| one.to.0 == place && one.from.0 != place);
        let found = fed.map(|connection| {
            let (sender, output) = connection.from;
            let part = &self.spec.parts[sender].name;
            let sent = self.ports_of(sender)?.outputs().get(output.0)?.clone();
            let port = self.ports_of(place)?.inputs()[connection.to.1.0].clone();
            let column = |component| {
                let inner = sent.quantity.component_name(component);
                match inner.is_empty() {
                    true => format!("{part}.{}", sent.name),
                    false => format!("{part}.{}.{inner}", sent.name),
                }
            };
            Some(FedInput {
                name: format!("{name}.{}", port.name),
                columns: (0..sent.quantity.width()).map(column).collect(),
                gain: connection.scale.gain,
                offset: connection.scale.offset,
                quantity: port.quantity,
            })
        });
        let found: Option<Vec<FedInput>> = found.collect();
        found.ok_or_else(|| AloneError::Entangled {
            name: name.into(),
            reason: "its ports, or those of a part that feeds it, cannot be found".into(),
        })
    }

    /// The model of one part: inputs that others feed are external inputs, which begin with these values or, where
    /// nothing is given, with zeros. It steps as it does in the whole model.
    pub fn alone(
        &self,
        name: &str,
        start: impl Fn(&FedInput) -> Option<Vec<f64>>,
    ) -> Result<Self, AloneError> {
        let place = self.place_of(name)?;
        let entangled = |reason: &str| AloneError::Entangled {
            name: name.into(),
            reason: reason.into(),
        };
        let part = &self.spec.parts[place];
        if part.cutting().is_some() {
            return Err(entangled(
                "it is cut, so that it is several subsystems; leave out its `cut`",
            ));
        }
        if part.lumped().is_some_and(|spec| !spec.tangents.is_empty()) {
            return Err(entangled("it takes the interface tangent of another part"));
        }
        let takes_tangent = |other: &PartSpec| {
            let tangents = other.lumped().map_or(&[][..], |spec| &spec.tangents);
            tangents.iter().any(|tangent| tangent.sender == name)
        };
        if self.spec.parts.iter().any(takes_tangent) {
            return Err(entangled("another part takes its interface tangent"));
        }
        let mut law = self.spec.compensators.iter();
        if law.any(|law| law.force.0 == place) {
            return Err(entangled("a compensator stands before it"));
        }
        let mut model = self.clone();
        let spec = &mut model.spec;
        let mut drives = Vec::new();
        let fed = self.spec.connections.iter();
        let fed = fed.filter(|one| one.to.0 == place && one.from.0 != place);
        for (input, connection) in self.fed_inputs(name)?.into_iter().zip(fed) {
            if !input.quantity.is_recorded() {
                let reason = format!("its input `{}` is a matrix", input.name);
                return Err(entangled(&reason));
            }
            let initial = start(&input).filter(|start| start.len() == input.quantity.width());
            drives.push(DrivenInput {
                part: 0,
                port: connection.to.1,
                span: part.span.clone(),
                course: Course::Each(Vec::new()),
                external: Some(ExternalInput {
                    initial: initial.unwrap_or_else(|| input.quantity.zero()),
                    name: input.name,
                    range: [-1.0, 1.0],
                    feedback: None,
                }),
            });
        }
        let own = spec.drives.drain(..).filter(|drive| drive.part == place);
        drives.splice(..0, own.map(|drive| DrivenInput { part: 0, ..drive }));
        spec.drives = drives;
        let onto_itself = |one: &ConnectionSpec| (one.from.0, one.to.0) == (place, place);
        spec.connections.retain(onto_itself);
        for connection in &mut spec.connections {
            (connection.from.0, connection.to.0) = (0, 0);
        }
        let mut part = part.clone();
        // Its own step becomes that of the model.
        let rate = implicit::rate(&self.spec.schedule.stages, SubsystemId(place)).max(1.0);
        let longer = f64::from(part.every) / rate;
        spec.clock.step *= longer;
        spec.clock.steps = ((spec.clock.steps as f64 / longer).floor() as u64).max(1);
        part.every = 1;
        if spec.connections.is_empty() {
            part.prediction = Prediction::Hold(0);
        }
        spec.parts = vec![part];
        spec.compensators.clear();
        spec.cockpit = Cockpit::default();
        spec.schedule = Schedule {
            step: spec.clock.step,
            stages: vec![Stage::Together(vec![SubsystemId(0)])],
            coupling: Coupling::Explicit,
            output_update: false,
            ..spec.schedule.clone()
        };
        Ok(model)
    }
}
