//! Forces of contacts.

use oldham_multibody::{ContactForce, NodeId, Sent};

use super::{Axis, Reading, Reads};
use crate::check::Bench;
use crate::extensions::Extensions;
use crate::format::At;

const ON_ONE: (&str, &str) = (
    "contact_force",
    "The force along `axis` in N of all contacts on this node, a mean over the step. It can be recorded and sent, but \
     not be used in expressions.",
);
const BETWEEN: (&str, &str) = (
    "contact_force_between",
    "The force along `axis` in N of the contacts between two nodes `[a, b]`, `ground` among them, on the second, a mean \
     over the step. It can be recorded and sent, but not be used in expressions.",
);

pub(super) fn register(own: &mut Extensions) {
    let reads = Reads::Contacts;
    own.own_sensor(ON_ONE, reads, |of: At<String>, at: Axis, bench| {
        let (on, axis) = (touching_node(&of, bench), at.read(bench));
        let force = ContactForce {
            on: on?,
            by: None,
            axis: axis?,
        };
        Some(Reading::Shown(Sent::ContactForce(force)))
    });
    own.own_sensor(
        BETWEEN,
        reads,
        |of: At<Vec<At<String>>>, at: Axis, bench| {
            let axis = at.read(bench);
            let two = bench.checker.two(&of, "nodes")?;
            let [by, on] = two.map(|name| touching_node(name, bench));
            let force = ContactForce {
                on: on?,
                by: Some(by?),
                axis: axis?,
            };
            Some(Reading::Shown(Sent::ContactForce(force)))
        },
    );
}

/// A node with shapes, or the ground.
fn touching_node(name: &At<String>, bench: &mut Bench<'_, '_, '_>) -> Option<NodeId> {
    let node = bench.checker.node_named(name, bench.draft)?;
    if bench.draft.spec.whole.model.touches(node) {
        return Some(node);
    }
    let message = format!("`{}` has no shape in contact", name.value);
    bench
        .checker
        .report(&name.span, message)
        .help("name its body in `contact.bodies`, or give it one of the `shapes`");
    None
}
