//! Variables of one kind that are read or written in one call.

use serde::{Deserialize, Serialize};

use crate::description::{Kind, Variable};
use crate::library::Instance;

/// Variables of one kind, and where their numbers are among those of all ports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    kind: Kind,
    references: Vec<u32>,
    places: Vec<usize>,
    /// From a number of the FMU to that of a port: factor and offset.
    scales: Vec<(f64, f64)>,
}

impl Group {
    /// Adds a variable to the group of its kind.
    pub fn add(
        groups: &mut Vec<Self>,
        variable: &Variable,
        places: impl Iterator<Item = usize>,
        sign: f64,
    ) {
        let known = groups.iter().position(|group| group.kind == variable.kind);
        let index = known.unwrap_or_else(|| {
            groups.push(Self {
                kind: variable.kind.clone(),
                references: Vec::new(),
                places: Vec::new(),
                scales: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[index];
        group.references.push(variable.reference);
        group.places.extend(places);
        let conversion = &variable.conversion;
        let scale = (sign * conversion.factor, sign * conversion.offset);
        group.scales.resize(group.places.len(), scale);
    }
}

/// A group with room for its numbers.
pub(crate) struct Batch {
    group: Group,
    values: Vec<f64>,
}

impl Batch {
    /// With room.
    pub fn new(group: &Group) -> Self {
        Self {
            values: vec![0.0; group.places.len()],
            group: group.clone(),
        }
    }

    /// Hands numbers of ports to the FMU.
    pub fn write(&mut self, instance: &Instance, ports: &[f64]) -> Result<(), String> {
        let Group {
            kind,
            references,
            places,
            scales,
        } = &self.group;
        let both = places.iter().zip(scales);
        for (value, (&place, (factor, offset))) in self.values.iter_mut().zip(both) {
            *value = (ports[place] - offset) / factor;
        }
        instance.set(kind, references, &self.values)
    }

    /// Asks the FMU for numbers of ports.
    pub fn read(&mut self, instance: &Instance, ports: &mut [f64]) -> Result<(), String> {
        let Group {
            kind,
            references,
            places,
            scales,
        } = &self.group;
        instance.get(kind, references, &mut self.values)?;
        let both = places.iter().zip(scales);
        for (value, (&place, (factor, offset))) in self.values.iter().zip(both) {
            ports[place] = value * factor + offset;
        }
        Ok(())
    }
}
