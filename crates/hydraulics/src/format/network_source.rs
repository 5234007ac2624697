//! A network of a model file: solvers of it, and how it carries a machine at rest.

use std::sync::Arc;

use oldham_cosim::{OutputPort, Subsystem};
use oldham_model::{AtRest, ForeignPart, LoadBearing, NoRest, RestingValue, Stroke};

use crate::element::Element;
use crate::network::{Network, Sent};
use crate::part::NetworkPart;
use crate::rest::{Load, resting};

/// Distance of a given pressure from that of the network at rest, relative to it, that changes nothing.
const AS_GIVEN: f64 = 1e-6;

/// A network from which solvers are made.
#[derive(Clone, Debug)]
pub(crate) struct NetworkSource {
    pub network: Network,
    /// Volumes whose pressures at the start have to be found.
    pub wanted: Vec<bool>,
}

impl ForeignPart for NetworkSource {
    fn solver(&self, micro_steps: usize) -> Result<Box<dyn Subsystem>, String> {
        let network = Network {
            micro_steps,
            ..self.network.clone()
        };
        Ok(Box::new(NetworkPart::new(&network)))
    }

    fn load_bearing(&self) -> Option<&dyn LoadBearing> {
        let elements = &mut self.network.elements.iter();
        let bears = |element: &Element| matches!(element, Element::Chambers(_) | Element::Motor(_));
        let can = self.starts_at_rest() || elements.any(|named| bears(&named.value));
        can.then_some(self as &dyn LoadBearing)
    }
}

impl LoadBearing for NetworkSource {
    fn starts_at_rest(&self) -> bool {
        self.wanted.contains(&true)
    }

    fn stroke(&self, output: OutputPort) -> Option<Stroke> {
        let Sent::Force(index) = self.network.sent.get(output.0)?.value else {
            return None;
        };
        let named = &self.network.elements[index];
        let Element::Chambers(chambers) = &named.value else {
            return None;
        };
        Some(Stroke {
            name: named.name.clone(),
            lengths: chambers.cylinder.lengths(),
            place: None,
        })
    }

    fn at_rest(&self, loads: &[(OutputPort, f64)], inputs: &[f64]) -> Result<AtRest, NoRest> {
        let element = |port: &OutputPort| match self.network.sent[port.0].value {
            Sent::Force(element) | Sent::Torque(element) => Some(element),
            _ => None,
        };
        let loads = loads.iter().filter_map(|(port, force)| {
            Some(Load {
                element: element(port)?,
                force: *force,
            })
        });
        let loads: Vec<Load> = loads.collect();
        let found = resting(&self.network, &self.wanted, &loads, &[], inputs)?;
        let mut started = self.clone();
        let mut values = Vec::new();
        let mut is_resting = true;
        let volumes = started.network.volumes.iter_mut();
        for ((volume, pressure), wanted) in volumes.zip(found.pressures).zip(&self.wanted) {
            values.push(RestingValue {
                name: format!("{}.p", volume.name),
                unit: "Pa",
                found: pressure,
                given: (!wanted).then_some(volume.value.pressure),
            });
            if *wanted {
                volume.value.pressure = pressure;
            }
            is_resting &= (volume.value.pressure - pressure).abs() <= AS_GIVEN * pressure.abs();
        }
        // Lines keep a steady flow only between pressures that do.
        for (element, flow) in found.flows.into_iter().filter(|_| is_resting) {
            if let Element::Line(line) = &mut started.network.elements[element].value {
                line.flow = flow;
            }
        }
        Ok(AtRest {
            part: Arc::new(started),
            values,
        })
    }
}
