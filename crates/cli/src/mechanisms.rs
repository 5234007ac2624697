//! The multibody parts of a model.

use oldham_model::{Mechanism, Model};
use oldham_multibody::SolveError;

use crate::failure::Failure;

/// All of them; a failure if there are none.
pub fn of(model: &Model) -> Result<Vec<Mechanism<'_>>, Failure> {
    let found: Vec<_> = model.mechanisms().collect();
    if found.is_empty() {
        return Err(Failure::NoMechanism {
            model: model.name().into(),
        });
    }
    Ok(found)
}

/// Whether the model is nothing but mechanisms without any exchange. That one of them falls or
/// swings up is then no matter of coupling.
pub fn alone(model: &Model) -> bool {
    !model.is_coupled() && model.mechanisms().next().is_some()
}

/// Whether a port is there only to record a node.
pub fn shows_node(port: &str) -> bool {
    port.starts_with("nodes.")
}

/// A solution that failed.
pub fn failed(mechanism: Mechanism<'_>, error: SolveError) -> Failure {
    Failure::Solve {
        part: mechanism.name().into(),
        error,
    }
}
