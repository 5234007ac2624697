//! Sections of model files: `[hydraulics.NAME]`, a circuit of cylinders, and `[hydraulic_network.NAME]`.

mod circuit;
mod circuit_source;
mod network;
mod network_source;

use oldham_model::Extensions;

pub use circuit_source::circuits;

/// Adds hydraulic circuits and networks to what model files may have.
pub fn register(extensions: &mut Extensions) {
    extensions.subsystem("hydraulics", circuit::make);
    extensions.subsystem("hydraulic_network", network::make);
}
