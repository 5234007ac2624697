//! What a network consists of, as plain data.

use crate::element::{Chambers, Element};
use crate::fluid::Fluid;

/// A hydraulic network.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What fills it.
    pub fluid: Fluid,
    /// Rigid volumes, by name.
    pub volumes: Vec<Named<Volume>>,
    /// Absolute pressures in Pa that do not change, whatever flows, by name.
    pub tanks: Vec<Named<f64>>,
    /// What connects them, by name.
    pub elements: Vec<Named<Element>>,
    /// Integrator steps per macro step.
    pub micro_steps: usize,
}

impl Network {
    /// The cylinders among its elements.
    pub(crate) fn cylinders(&self) -> impl Iterator<Item = &Chambers> {
        let elements = self.elements.iter();
        elements.filter_map(|named| match &named.value {
            Element::Chambers(chambers) => Some(chambers),
            _ => None,
        })
    }
}

/// Something with a name; ports are called after it.
#[derive(Clone, Debug, PartialEq)]
pub struct Named<T> {
    /// Its name.
    pub name: String,
    /// What it is.
    pub value: T,
}

impl<T> Named<T> {
    /// Gives it a name.
    pub fn new(name: impl Into<String>, value: T) -> Self {
        Self {
            name: name.into(),
            value,
        }
    }
}

/// A rigid volume, to which chambers of cylinders may be added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Volume {
    /// In m³, without chambers.
    pub volume: f64,
    /// Absolute pressure at the start in Pa.
    pub pressure: f64,
}

/// Where an element ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a volume.
    Volume(usize),
    /// In a tank.
    Tank(usize),
}
