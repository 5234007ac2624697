//! An element: resistance that grows with the square of the speed.

// ANCHOR: element
use oldham_model::{At, Site};
use oldham_multibody::element::{self, ElementEnergy, Half, Jacobian, Residual, Weights};
use oldham_multibody::{Element, Mat3, NodeId, References, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

/// The resistance of a fluid: against the velocity, with its square.
#[derive(Deserialize, JsonSchema)]
pub struct Settings {
    /// The node on which it acts.
    on: At<String>,
    /// Force per square of the speed, in N·s²/m².
    #[schemars(range(min = 0.0))]
    coefficient: f64,
}

#[derive(Clone, Debug)]
pub struct Drag {
    nodes: [NodeId; 1],
    coefficient: f64,
}

pub fn make(settings: Settings, site: &mut Site<'_>) -> Option<Drag> {
    Some(Drag {
        nodes: [site.node(&settings.on)?],
        coefficient: settings.coefficient,
    })
}

impl Element for Drag {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.node(&mut self.nodes[0]);
    }

    fn residual(&self, at: &element::At<'_>, out: &mut Residual<'_>) {
        let v = at.motion(self.nodes[0]).velocity;
        out.load(0, v * (-self.coefficient * v.norm()), Vec3::ZERO);
    }

    fn jacobian(&self, at: &element::At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let v = at.motion(self.nodes[0]).velocity;
        let speed = v.norm();
        if speed == 0.0 {
            return;
        }
        // -∂f/∂v = c (|v| I + v vᵀ/|v|).
        let column = |i: usize| v * (v[i] / speed);
        let outer = Mat3::from_columns(column(0), column(1), column(2));
        let by_velocity = (Mat3::IDENTITY * speed + outer) * self.coefficient;
        let linear = (0, Half::Linear);
        out.add(linear, linear, by_velocity * weights.damping);
    }

    fn energy(&self, at: &element::At<'_>) -> ElementEnergy {
        let speed = at.motion(self.nodes[0]).velocity.norm();
        ElementEnergy {
            dissipated: self.coefficient * speed.powi(3),
            ..ElementEnergy::default()
        }
    }
}
// ANCHOR_END: element
