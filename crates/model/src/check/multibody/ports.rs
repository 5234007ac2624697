//! What a mechanism receives and sends.

use oldham_cosim::{Quantity, Unit};
use oldham_multibody::{Along, NodeId, Vec3};

use super::Draft;
use crate::check::Checker;
use crate::check::part::Port;
use crate::format::multibody::{Input, Multibody, Output};
use crate::format::{At, Entry};
use crate::mechanism::{Received, Sent};
use crate::problem::Problem;

impl Checker<'_> {
    /// Notes which component of the input vector each scalar input is, for those who use them.
    pub(super) fn scalar_inputs<'f>(&mut self, section: &'f Multibody, draft: &mut Draft<'f>) {
        let mut component = 0;
        for entry in &section.inputs {
            let input = &entry.value.value;
            let quantity = if input.wrench.is_some() {
                Quantity::Wrench
            } else if input.pose.is_some() {
                Quantity::Motion
            } else {
                draft.scalars.insert(&entry.name.value, component);
                Quantity::Scalar(Unit::ONE)
            };
            component += quantity.width();
        }
    }

    /// Inputs and outputs, in the order in which the solver has them: what it sends in return for
    /// an input comes before the outputs.
    pub(super) fn ports<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut Draft<'f>,
    ) -> [Vec<Port>; 2] {
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for entry in &section.inputs {
            self.name(&entry.name, "a port");
            let received = self.received(entry, draft);
            inputs.push(Port {
                name: entry.name.clone(),
                quantity: received.as_ref().map(Received::quantity),
            });
            outputs.extend(
                received
                    .as_ref()
                    .and_then(|received| answer(entry, received)),
            );
            if let Some(received) = received {
                draft
                    .recipe
                    .inputs
                    .push((entry.name.value.clone(), received));
            }
        }
        for entry in &section.outputs {
            self.name(&entry.name, "a port");
            let sent = self.sent(entry, draft);
            outputs.push(Port {
                name: entry.name.clone(),
                quantity: sent.as_ref().map(Sent::quantity),
            });
            if let Some(sent) = sent {
                draft.recipe.outputs.push((entry.name.value.clone(), sent));
            }
        }
        [inputs, outputs]
    }

    fn received(&mut self, entry: &Entry<Input>, draft: &mut Draft<'_>) -> Option<Received> {
        match &entry.value.value {
            Input {
                wrench: Some(node),
                pose: None,
                scalar: None,
            } => Some(Received::Wrench(self.moving_node_named(node, draft)?)),
            Input {
                wrench: None,
                pose: Some(node),
                scalar: None,
            } => {
                let node = self.moving_node_named(node, draft)?;
                draft.held.insert(node);
                Some(Received::Pose(node))
            }
            Input {
                wrench: None,
                pose: None,
                scalar: Some(unit),
            } => Some(Received::Scalar(Unit(unit.value.clone().into()))),
            Input {
                wrench,
                pose,
                scalar,
            } => {
                let count = [wrench, pose, scalar].into_iter().flatten().count();
                let help = "one of `wrench`, `pose`, `scalar`";
                self.not_one_thing(entry, "receives", count, help);
                None
            }
        }
    }

    fn sent(&mut self, entry: &Entry<Output>, draft: &Draft<'_>) -> Option<Sent> {
        let output = &entry.value.value;
        let along = [
            (Along::Motion, &output.translation),
            (Along::Displacement, &output.displacement),
            (Along::Velocity, &output.velocity),
            (Along::Acceleration, &output.acceleration),
        ];
        let along: Vec<_> = along
            .into_iter()
            .filter_map(|(along, node)| Some((along, node.as_ref()?)))
            .collect();
        match (&output.motion, &along[..], &output.reaction) {
            (Some(node), [], None) => {
                self.unused(&output.axis, "only motions along a line have an axis");
                self.unused(&output.on, "only a reaction is on a node of its element");
                Some(Sent::Motion(self.moving_node_named(node, draft)?))
            }
            (None, [(along, node)], None) => {
                self.unused(&output.on, "only a reaction is on a node of its element");
                let axis = self.output_axis(entry);
                let node = self.moving_node_named(node, draft);
                Some(Sent::Along(node?, axis?, *along))
            }
            (None, [], Some(element)) => {
                self.unused(&output.axis, "only motions along a line have an axis");
                self.reaction(element, &output.on, draft)
            }
            (motion, along, reaction) => {
                let count =
                    along.len() + usize::from(motion.is_some()) + usize::from(reaction.is_some());
                let help = "one of `motion`, `translation`, `displacement`, `velocity`, `acceleration`, `reaction`";
                self.not_one_thing(entry, "sends", count, help);
                None
            }
        }
    }

    fn output_axis(&mut self, entry: &Entry<Output>) -> Option<Vec3> {
        if let Some(axis) = &entry.value.value.axis {
            return self.direction(axis);
        }
        let message = "a motion along a line needs the `axis` of the line";
        let problem = Problem::new(entry.value.span.clone(), message)
            .label("has no `axis`")
            .help("such as axis = [1, 0, 0]");
        self.findings.incomplete(&entry.value.span, problem);
        None
    }

    fn reaction(
        &mut self,
        element: &At<String>,
        on: &Option<At<String>>,
        draft: &Draft<'_>,
    ) -> Option<Sent> {
        let Some(holder) = draft.holders.get(element.value.as_str()) else {
            let message = format!(
                "there is no element `{}` that has a reaction",
                element.value
            );
            let problem = Problem::new(element.span.clone(), message)
                .label("unknown element")
                .help("joints, springs, torsion springs and bushings have reactions");
            let known = draft.holders.keys().copied();
            self.findings.push_misspelt(problem, &element.value, known);
            return None;
        };
        let (piece, nodes) = (*holder)?;
        let node = match on {
            None if nodes[1] == NodeId::GROUND => 0,
            None => 1,
            Some(on) => {
                let node = self.node_named(on, draft)?;
                let Some(place) = nodes.iter().position(|&end| end == node) else {
                    let message = format!(
                        "`{}` does not take hold of the node `{}`",
                        element.value, on.value
                    );
                    self.findings.push(Problem::new(on.span.clone(), message));
                    return None;
                };
                place
            }
        };
        if nodes[node] == NodeId::GROUND {
            let message = "the reaction on the ground is the opposite of that on the other node";
            let place = on.as_ref().map_or(&element.span, |on| &on.span);
            let problem = Problem::new(place.clone(), message);
            self.findings.push(problem.help("ask for the other node"));
            return None;
        }
        Some(Sent::Reaction { piece, node })
    }

    fn unused<T>(&mut self, given: &Option<At<T>>, message: &str) {
        if let Some(given) = given {
            let problem = Problem::new(given.span.clone(), message);
            self.findings.push(problem.label("not used"));
        }
    }

    fn not_one_thing<T>(&mut self, entry: &Entry<T>, does: &str, count: usize, help: &str) {
        let name = &entry.name.value;
        let message = format!("the port `{name}` {does} {count} things; it must be one");
        let problem = Problem::new(entry.value.span.clone(), message).help(help);
        self.findings.incomplete(&entry.value.span, problem);
    }
}

/// The output that the solver adds to an input.
fn answer(entry: &Entry<Input>, received: &Received) -> Option<Port> {
    let (suffix, quantity) = match received {
        Received::Wrench(_) => ("motion", Quantity::Motion),
        Received::Pose(_) => ("load", Quantity::Wrench),
        Received::Scalar(_) => return None,
    };
    Some(Port {
        name: At {
            value: format!("{}.{suffix}", entry.name.value),
            span: entry.name.span.clone(),
        },
        quantity: Some(quantity),
    })
}

impl Received {
    fn quantity(&self) -> Quantity {
        match self {
            Self::Wrench(_) => Quantity::Wrench,
            Self::Pose(_) => Quantity::Motion,
            Self::Scalar(unit) => Quantity::Scalar(unit.clone()),
        }
    }
}

impl Sent {
    fn quantity(&self) -> Quantity {
        match self {
            Self::Motion(_) => Quantity::Motion,
            Self::Along(_, _, along) => along.quantity(),
            Self::Reaction { .. } => Quantity::Wrench,
        }
    }
}
