//! Kinds that are not in Oldham's own crates: an element, a joint, a sensor, a subsystem and a
//! predictor for model files. The guide's page "Extending Oldham" shows this code.

mod drag;
mod gap;
mod gearbox;
mod servo;
mod taylor;
mod wire;

use oldham_model::Extensions;

// ANCHOR: register
/// Everything that this crate adds to model files.
pub fn extensions() -> Extensions {
    let mut extensions = Extensions::new();
    extensions.element("drag", drag::make);
    extensions.joint("wire", wire::make);
    extensions.sensor("gap", gap::make);
    extensions.subsystem("servo", servo::make);
    extensions.subsystem("shifter", gearbox::shifter);
    extensions.subsystem("gearbox", gearbox::gearbox);
    extensions.predictor("taylor", taylor::make);
    extensions
}
// ANCHOR_END: register
