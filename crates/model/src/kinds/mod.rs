//! Kinds of the format: each a type for its table and what is made of it, in one file, registered as the kinds of
//! other crates are.

mod joint;
mod sensor;

use crate::extensions::{Extensions, family};
use schemars::{Schema, SchemaGenerator};

pub(crate) use sensor::{Reading, Reads, units_of};

/// Registers all of them.
pub(crate) fn register(own: &mut Extensions) {
    joint::register(own);
    sensor::register(own);
}

/// The tables of joints.
pub(crate) fn joints(generator: &mut SchemaGenerator) -> Schema {
    let joints = &Extensions::own().joints;
    family(joints, "this type of joint", generator)
}

/// The tables of sensors.
pub(crate) fn sensors(generator: &mut SchemaGenerator) -> Schema {
    let sensors = &Extensions::own().sensors;
    family(sensors, "what this sensor measures", generator)
}
