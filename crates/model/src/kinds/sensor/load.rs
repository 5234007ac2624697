//! What elements exert.

use oldham_multibody::{Cable, Element, ElementId, LoadSensor, Rod, Sensor, Vec3};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Axis, Nothing, Reading, Reads};
use crate::check::{Bench, MechanismDraft};
use crate::extensions::{Extensions, With};
use crate::format::At;

/// Where a load acts.
#[derive(Deserialize, JsonSchema)]
struct On {
    /// The node on which they act.
    on: Option<At<String>>,
    /// With a joint: `axis` is in the axes of the joint, the third of which is
    /// its own axis, and moments are about the joint.
    in_joint_axes: Option<bool>,
}

type LoadOn = With<Axis, On>;

const FORCE: (&str, &str) = (
    "force",
    "The force along `axis` in N that this joint, spring or bushing exerts on its second node, or on the node `on`. \
     That of a joint counts as zero at the start.",
);
const MOMENT: (&str, &str) = (
    "moment",
    "The moment about `axis` in N·m, and about the node, that this joint, torsion spring or bushing exerts on its \
     second node, or on the node `on`. That of a joint counts as zero at the start.",
);
const TENSION: (&str, &str) = ("tension", "The tension of this spring in N.");
const POWER: (&str, &str) = (
    "power",
    "The power in W of the forces that this joint, motor, servo, spring, bushing or load exerts.",
);

pub(super) fn register(own: &mut Extensions) {
    let reads = Reads::Element;
    own.own_sensor(FORCE, reads, |of, at: LoadOn, bench| {
        at.read(&of, LoadSensor::force, bench)
    });
    own.own_sensor(MOMENT, reads, |of, at: LoadOn, bench| {
        at.read(&of, LoadSensor::moment, bench)
    });
    own.own_sensor(TENSION, reads, |of, _: Nothing, bench| tension(&of, bench));
    own.own_sensor(POWER, reads, |of, _: Nothing, bench| {
        let (element, _) = exerting(&of, bench)?;
        Some(Reading::Fed(Sensor::Power(element)))
    });
}

impl LoadOn {
    fn read(
        &self,
        of: &At<String>,
        make: fn(ElementId, usize, Vec3) -> LoadSensor,
        bench: &mut Bench<'_, '_, '_>,
    ) -> Option<Reading> {
        let With(axis, On { on, in_joint_axes }) = self;
        let axis = axis.read(bench);
        let Bench { checker, draft, .. } = bench;
        let element = checker.holder_named(of, "joint or spring", draft)?;
        let nodes = draft.spec.whole.model.nodes_of(element);
        let node = match on {
            None => usize::from(nodes.len() > 1),
            Some(on) => checker.node_of(of, on, nodes, draft)?,
        };
        let load = make(element, node, axis?);
        if *in_joint_axes != Some(true) {
            return Some(Reading::Fed(Sensor::Load(load)));
        }
        let joint = checker.joint_named(of, draft)?;
        Some(Reading::Fed(Sensor::Load(load.seen_from(joint.ends))))
    }
}

/// The element that exerts something.
fn exerting<'b>(
    of: &At<String>,
    bench: &'b mut Bench<'_, '_, '_>,
) -> Option<(ElementId, &'b dyn Element)> {
    let draft: &MechanismDraft<'_> = bench.draft;
    let element = bench.checker.holder_named(of, "joint or spring", draft)?;
    Some((element, draft.spec.whole.model.get(element)))
}

fn tension(of: &At<String>, bench: &mut Bench<'_, '_, '_>) -> Option<Reading> {
    let (id, element) = exerting(of, bench)?;
    if element.downcast_ref::<Rod>().is_some() || element.downcast_ref::<Cable>().is_some() {
        return Some(Reading::Fed(Sensor::Tension(id)));
    }
    let message = format!("`{}` is not a spring along a line, nor a cable", of.value);
    bench
        .checker
        .report(&of.span, message)
        .help("`force` and `moment` measure joints and bushings");
    None
}
