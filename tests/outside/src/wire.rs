//! A joint: a bead on a wire that is bent to a parabola.

use oldham_model::{At, ForeignJoint, Problem, Site, Symbol};
use oldham_multibody::element::{self, Half, Jacobian, Residual, Weights};
use oldham_multibody::{Element, Mat3, NodeId, References, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

/// A wire bent to the parabola z = a x² in the absolute frame, along which a node slides.
#[derive(Deserialize, JsonSchema)]
pub struct Settings {
    /// The node that slides.
    bead: At<String>,
    /// The bend a of the wire in 1/m.
    bend: At<f64>,
}

/// φ = z - a x², and y = 0.
#[derive(Clone, Debug)]
pub struct Wire {
    nodes: [NodeId; 1],
    bend: f64,
}

// ANCHOR: joint
pub fn make(settings: Settings, site: &mut Site<'_>) -> Option<ForeignJoint> {
    let bead = site.node(&settings.bead)?;
    if settings.bend.value == 0.0 {
        let problem = Problem::new(settings.bend.span, "a straight wire is no parabola");
        site.report(problem.help("use the joint `point-on-line`"));
        return None;
    }
    let wire = Wire {
        nodes: [bead],
        bend: settings.bend.value,
    };
    let place = site.model().initial(bead).position;
    let ends = [NodeId::GROUND, bead].map(|node| site.model().marker(node, place));
    Some(ForeignJoint {
        symbol: Symbol::Slide,
        ..ForeignJoint::new(wire, ends)
    })
}
// ANCHOR_END: joint

impl Wire {
    fn gradients(&self, x: f64) -> [Vec3; 2] {
        [Vec3::new(-2.0 * self.bend * x, 0.0, 1.0), Vec3::Y]
    }
}

impl Element for Wire {
    fn nodes(&self) -> &[NodeId] {
        &self.nodes
    }

    fn refer(&mut self, references: &mut dyn References) {
        references.node(&mut self.nodes[0]);
    }

    fn constraints(&self) -> usize {
        2
    }

    fn residual(&self, at: &element::At<'_>, out: &mut Residual<'_>) {
        let [x, y, z] = at.motion(self.nodes[0]).position.0;
        let [across, aside] = self.gradients(x);
        out.constraint(0, z - self.bend * x * x);
        out.constraint(1, y);
        let force = across * -at.multipliers[0] + aside * -at.multipliers[1];
        out.load(0, force, Vec3::ZERO);
    }

    fn jacobian(&self, at: &element::At<'_>, weights: Weights, out: &mut Jacobian<'_>) {
        let x = at.motion(self.nodes[0]).position[0];
        for (index, gradient) in self.gradients(x).into_iter().enumerate() {
            out.constraint(index, 0, gradient, Vec3::ZERO);
        }
        let curvature = -2.0 * self.bend * at.multipliers[0] * weights.stiffness;
        let linear = (0, Half::Linear);
        out.add(linear, linear, Mat3::diagonal(curvature, 0.0, 0.0));
    }

    fn is_conservative(&self) -> bool {
        true
    }
}
