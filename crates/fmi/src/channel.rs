//! Variables of one kind that are read or written in one call.

use serde::{Deserialize, Serialize};

use crate::description::{Kind, Variability, Variable};
use crate::library::Instance;

/// Variables of one kind, and where their numbers are among those of all ports.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Group {
    kind: Kind,
    /// Whether they change at any time; others change at events only.
    is_continuous: bool,
    references: Vec<u32>,
    places: Vec<usize>,
    /// Whether each of them is a single number.
    is_plain: bool,
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
        let is_continuous = variable.variability == Variability::Continuous;
        let known = groups
            .iter()
            .position(|group| group.kind == variable.kind && group.is_continuous == is_continuous);
        let index = known.unwrap_or_else(|| {
            groups.push(Self {
                kind: variable.kind.clone(),
                is_continuous,
                is_plain: true,
                references: Vec::new(),
                places: Vec::new(),
                scales: Vec::new(),
            });
            groups.len() - 1
        });
        let group = &mut groups[index];
        group.references.push(variable.reference);
        group.is_plain &= variable.dimensions.is_empty();
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
    rates: Vec<f64>,
}

impl Batch {
    /// With room.
    pub fn new(group: &Group) -> Self {
        Self {
            values: vec![0.0; group.places.len()],
            rates: vec![0.0; group.places.len()],
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
            ..
        } = &self.group;
        let both = places.iter().zip(scales);
        for (value, (&place, (factor, offset))) in self.values.iter_mut().zip(both) {
            *value = (ports[place] - offset) / factor;
        }
        instance.set(kind, references, &self.values)
    }

    /// Whether its numbers change at any time.
    pub fn is_continuous(&self) -> bool {
        self.group.is_continuous
    }

    /// Whether these numbers of ports are others than were handed over last.
    pub fn differs(&self, ports: &[f64]) -> bool {
        let places = self.group.places.iter().zip(&self.group.scales);
        let mut both = self.values.iter().zip(places);
        both.any(|(value, (&place, (factor, offset)))| *value != (ports[place] - offset) / factor)
    }

    /// What was handed over last is not known any more.
    pub fn forget(&mut self) {
        self.values.fill(f64::NAN);
    }

    /// Hands over how fast numbers of ports change, those that are single reals and change at any time.
    pub fn write_rates(
        &mut self,
        instance: &Instance,
        [before, after]: [&[f64]; 2],
        span: f64,
    ) -> Result<(), String> {
        let group = &self.group;
        if group.kind != Kind::Float64 || !group.is_continuous || !group.is_plain {
            return Ok(());
        }
        let both = group.places.iter().zip(&group.scales);
        for (rate, (&place, (factor, _))) in self.rates.iter_mut().zip(both) {
            *rate = (after[place] - before[place]) / span / factor;
        }
        instance.set_rates(&group.references, &self.rates)
    }

    /// Asks the FMU for numbers of ports.
    pub fn read(&mut self, instance: &Instance, ports: &mut [f64]) -> Result<(), String> {
        let Group {
            kind,
            references,
            places,
            scales,
            ..
        } = &self.group;
        instance.get(kind, references, &mut self.values)?;
        let both = places.iter().zip(scales);
        for (value, (&place, (factor, offset))) in self.values.iter().zip(both) {
            ports[place] = value * factor + offset;
        }
        Ok(())
    }
}
