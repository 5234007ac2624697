//! What messages call the parts of a description: as model files do.

use std::fmt;

use crate::spec::{Coordinates, Integrator, NodeRef, PortKind};

impl fmt::Display for Integrator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SemiImplicitEuler => "semi-implicit-euler",
            Self::BackwardEuler => "backward-euler",
            Self::Lms2 { .. } => "lms2",
            Self::Rk4 { .. } => "rk4",
            Self::Exact => "exact",
        })
    }
}

impl fmt::Display for PortKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Motion => "a motion",
            Self::Displacement => "a displacement",
            Self::Velocity => "a velocity",
            Self::Acceleration => "an acceleration",
            Self::Force => "a force",
        })
    }
}

impl fmt::Display for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Translation => "translation",
            Self::Rotation => "rotation",
        })
    }
}

impl fmt::Display for NodeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ground => f.write_str("the ground"),
            Self::Node(node) => write!(f, "node number {}", node.0),
            Self::Boundary(boundary) => write!(f, "boundary node number {}", boundary.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::SpecError;

    #[test]
    fn messages_speak_as_model_files_do() {
        let message = SpecError::TooManyCoordinates {
            found: 100_000,
            limit: 2000,
            integrator: Integrator::Lms2 { rho: 0.6 },
        };
        let text = message.to_string();
        assert!(text.contains("`lms2`") && !text.contains("rho"), "{text}");
    }
}
