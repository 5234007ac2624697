//! Variables of one kind that are read or written in one call.

use crate::description::{Kind, Variable};
use crate::library::Instance;
use crate::units::Conversion;

/// Variables of one kind, and where their numbers are among those of all ports.
pub(crate) struct Batch {
    kind: Kind,
    references: Vec<u32>,
    places: Vec<usize>,
    conversions: Vec<Conversion>,
    values: Vec<f64>,
}

impl Batch {
    /// Batches of variables that stand behind each other in the numbers of all ports.
    pub fn of(variables: &[&Variable]) -> Vec<Self> {
        let mut batches: Vec<Self> = Vec::new();
        let mut place = 0;
        for variable in variables {
            let width = variable.width().expect("ports have fixed widths");
            let known = batches.iter().position(|batch| batch.kind == variable.kind);
            let index = known.unwrap_or_else(|| {
                batches.push(Self {
                    kind: variable.kind.clone(),
                    references: Vec::new(),
                    places: Vec::new(),
                    conversions: Vec::new(),
                    values: Vec::new(),
                });
                batches.len() - 1
            });
            let batch = &mut batches[index];
            batch.references.push(variable.reference);
            batch.places.extend(place..place + width);
            let conversions = std::iter::repeat_n(&variable.conversion, width);
            batch.conversions.extend(conversions.cloned());
            batch.values.resize(batch.places.len(), 0.0);
            place += width;
        }
        batches
    }

    /// Hands numbers of ports to the FMU.
    pub fn write(&mut self, instance: &Instance, ports: &[f64]) -> Result<(), String> {
        let both = self.places.iter().zip(&self.conversions);
        for (value, (&place, conversion)) in self.values.iter_mut().zip(both) {
            *value = conversion.from_si(ports[place]);
        }
        instance.set(&self.kind, &self.references, &self.values)
    }

    /// Asks the FMU for numbers of ports.
    pub fn read(&mut self, instance: &Instance, ports: &mut [f64]) -> Result<(), String> {
        instance.get(&self.kind, &self.references, &mut self.values)?;
        let both = self.places.iter().zip(&self.conversions);
        for (value, (&place, conversion)) in self.values.iter().zip(both) {
            ports[place] = conversion.to_si(*value);
        }
        Ok(())
    }
}
