//! Hydraulic actuators at rest, before anything moves.

use oldham_hydraulics::Hydraulics;
use serde::Serialize;

use crate::model::{Content, Model};

/// An actuator of a circuit, its valve and its chambers at rest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RestingActuator {
    /// Circuit and actuator, such as `oil.lift`.
    pub name: String,
    /// The force in N that it carries, positive when it pushes.
    pub force: f64,
    /// The neutral position of its spool.
    pub spool: f64,
    /// Absolute pressures of both chambers in Pa.
    pub pressures: [f64; 2],
}

impl Model {
    /// The hydraulic actuators at the start, all circuits one after the other.
    pub fn resting_actuators(&self) -> Vec<RestingActuator> {
        let mut found = Vec::new();
        for part in &self.spec.parts {
            let Content::Hydraulics(circuit) = &part.content else {
                continue;
            };
            let hydraulics = Hydraulics::new(circuit).expect("a checked circuit is sound");
            for (index, actuator) in circuit.actuators.iter().enumerate() {
                let pressures = hydraulics.pressures(index);
                found.push(RestingActuator {
                    name: format!("{}.{}", part.name, actuator.name),
                    force: actuator.cylinder.thrust(pressures),
                    spool: hydraulics.neutral(index),
                    pressures,
                });
            }
        }
        found
    }
}
