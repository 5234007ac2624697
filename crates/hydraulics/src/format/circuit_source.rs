//! A circuit of a model file: solvers of it, and how it carries a machine at rest.

use std::any::Any;
use std::sync::Arc;

use oldham_cosim::{OutputPort, Subsystem};
use oldham_model::{
    At, AtRest, ForeignPart, LoadBearing, Model, NoRest, Problem, Span, Stroke, WantedLoad,
};

use super::circuit::problem;
use crate::{Circuit, CircuitErrors, Network, NetworkPart, Rest, Sent};

/// A circuit from which solvers are made.
#[derive(Clone, Debug)]
pub(crate) struct CircuitSource {
    circuit: Circuit,
    /// The same at rest.
    network: Network,
    places: Places,
}

/// Where the file says what.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    pub section: Span,
    pub fluid: Span,
    pub pump: Span,
    pub actuators: Vec<ActuatorPlaces>,
}

/// The same of an actuator.
#[derive(Clone, Debug)]
pub(crate) struct ActuatorPlaces {
    pub name: At<String>,
    pub centre: Span,
    pub load: Option<Span>,
    /// Whether its load is to be found by statics.
    pub is_static: bool,
}

/// The hydraulic circuits of a model, with their names.
pub fn circuits(model: &Model) -> impl Iterator<Item = (&str, &Circuit)> {
    let parts = model.foreign_descriptions();
    parts.filter_map(|(name, part)| Some((name, part.downcast_ref()?)))
}

impl CircuitSource {
    /// All that is wrong with it, if anything is.
    pub fn new(circuit: Circuit, places: Places) -> Result<Self, Vec<Problem>> {
        let told = |errors: CircuitErrors| {
            let problems = errors.0.iter().map(|error| problem(error, &places));
            problems.collect::<Vec<_>>()
        };
        Ok(Self {
            network: circuit.network().map_err(told)?,
            circuit,
            places,
        })
    }

    /// The actuator whose force an output is.
    fn pushing(&self, output: OutputPort) -> Option<usize> {
        let Sent::Force(cylinder) = self.network.sent.get(output.0)?.value else {
            return None;
        };
        let name = &self.network.elements[cylinder].name;
        let mut actuators = self.circuit.actuators.iter();
        actuators.position(|actuator| actuator.name == *name)
    }
}

impl ForeignPart for CircuitSource {
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        let network = Network {
            micro_steps,
            ..self.network.clone()
        };
        Ok(Box::new(NetworkPart::new(&network)))
    }

    fn load_bearing(&self) -> Option<&dyn LoadBearing> {
        Some(self)
    }

    fn description(&self) -> Option<&dyn Any> {
        Some(&self.circuit)
    }
}

impl LoadBearing for CircuitSource {
    fn starts_at_rest(&self) -> bool {
        self.places.actuators.iter().any(|places| places.is_static)
    }

    fn wanted_load(&self, output: OutputPort) -> Option<WantedLoad> {
        let places = &self.places.actuators[self.pushing(output)?];
        let load = places.load.as_ref().filter(|_| places.is_static)?;
        Some(WantedLoad {
            asked: Some(At {
                value: places.name.value.clone(),
                span: load.clone(),
            }),
        })
    }

    fn stroke(&self, output: OutputPort) -> Option<Stroke> {
        let index = self.pushing(output)?;
        let cylinder = &self.circuit.actuators[index].cylinder;
        let places = &self.places.actuators[index];
        Some(Stroke {
            name: places.name.value.clone(),
            lengths: cylinder.lengths(),
            place: Some(places.centre.clone()),
        })
    }

    /// With the loads that are wanted. What it has then is told by its [`circuits`].
    fn at_rest(&self, loads: &[(OutputPort, f64)], _inputs: &[f64]) -> Result<AtRest, NoRest> {
        let mut circuit = self.circuit.clone();
        for (index, actuator) in circuit.actuators.iter_mut().enumerate() {
            let mut loads = loads.iter();
            let load = loads.find(|(output, _)| self.pushing(*output) == Some(index));
            if let (true, Some((_, load))) = (self.places.actuators[index].is_static, load) {
                actuator.rest = Rest::Load(*load);
            }
        }
        let part = Self::new(circuit, self.places.clone()).map_err(NoRest::Problems)?;
        Ok(AtRest {
            part: Arc::new(part),
            values: Vec::new(),
        })
    }
}
