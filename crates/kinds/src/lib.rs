//! The kinds of things that come with Oldham besides those of the format, and are its own: what a model may use
//! wherever it runs, in the command and inside an exported FMU.

use std::sync::OnceLock;

use oldham_model::Extensions;

/// Vehicles and hydraulic networks. Foreign code, such as FMUs, is not among them.
pub fn native() -> &'static Extensions {
    static KINDS: OnceLock<Extensions> = OnceLock::new();
    KINDS.get_or_init(|| {
        let mut kinds = Extensions::new();
        oldham_vehicle::register(&mut kinds);
        oldham_hydraulics::register(&mut kinds);
        kinds
    })
}
