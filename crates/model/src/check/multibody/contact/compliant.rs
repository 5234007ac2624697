//! Nodes against solids that yield.

use oldham_multibody::{CompliantContact, CompliantLaw, Marker};

use crate::check::Checker;
use crate::check::multibody::MechanismDraft;
use crate::format::multibody::{self, ContactShape, Multibody};
use crate::format::{At, Entry};

/// The slip at which friction is rounded off when nothing else is said, in m/s.
const SPEED: f64 = 1e-3;

impl Checker<'_> {
    pub(in crate::check::multibody) fn compliant_contacts<'f>(
        &mut self,
        section: &'f Multibody,
        draft: &mut MechanismDraft<'f>,
    ) {
        for entry in &section.compliant_contacts {
            self.element_name(&entry.name, "a compliant contact", draft);
            self.compliant_contact(entry, draft);
        }
    }

    fn compliant_contact(
        &mut self,
        entry: &Entry<multibody::CompliantContact>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<()> {
        let given = &entry.value.value;
        let name = &entry.name;
        let nodes = self.touching_nodes(entry, draft);
        let radius = self.number_or(&given.radius, 0.0);
        let stiffness = self.required(&given.stiffness);
        let exponent = self.number_or(&given.exponent, 1.0);
        let damping = self.number_or(&given.damping, 0.0);
        let friction = self.number_or(&given.friction, 0.0);
        let speed = self.number_or(&given.speed, SPEED);
        if let (Some(at), Some(exponent)) = (&given.exponent, exponent)
            && exponent < 1.0
        {
            let message = "the exponent must be at least 1";
            self.report(&at.span, message)
                .label("infinitely stiff at the first touch");
            return None;
        }
        let Some(against) = &given.against else {
            let message = format!("what does `{}` touch?", name.value);
            self.report_missing(&entry.value.span, message)
                .help("give a solid: against = { node = \"ground\", plane = [0, 0, 1] }");
            return None;
        };
        self.only_a_solid(against)?;
        let (solid, shape) = self.own_shape(&name.value, against, draft)?;
        let law = CompliantLaw {
            stiffness: stiffness?,
            exponent: exponent?,
            damping: damping?,
        };
        let (nodes, radius, friction, speed) = (nodes?, radius?, friction?, speed?);
        let single = nodes.len() == 1;
        for node_name in nodes {
            let node = self.moving_node_named(&node_name, draft)?;
            if node == solid.node {
                let message = format!("`{}` carries the solid that it touches", node_name.value);
                self.report(&node_name.span, message).label("the same node");
                return None;
            }
            let ends = [solid, Marker::on(node)];
            let mut contact = CompliantContact::new(ends, shape.clone(), radius, law);
            if friction > 0.0 {
                contact = contact.with_friction(friction, speed);
            }
            match single {
                true => {
                    draft.holder(&name.value, Box::new(contact));
                }
                false => {
                    draft.companion(name, &node_name.value, Box::new(contact));
                }
            }
        }
        Some(())
    }

    /// The nodes listed, or those of a beam in order.
    fn touching_nodes(
        &mut self,
        entry: &Entry<multibody::CompliantContact>,
        draft: &MechanismDraft<'_>,
    ) -> Option<Vec<At<String>>> {
        let given = &entry.value.value;
        let ways = [
            ("nodes", given.nodes.is_some()),
            ("beam", given.beam.is_some()),
        ];
        let what = format!("`{}` has nodes in", entry.name.value);
        self.one_way(&entry.value.span, &ways, [&what, "ways"])?;
        let Some(beam) = &given.beam else {
            return given.nodes.clone();
        };
        self.known(beam, "beam", &draft.beams)?;
        let of_beam = |node: &String| {
            let (owner, number) = node.rsplit_once('.')?;
            (owner == beam.value).then(|| number.parse::<usize>().ok())?
        };
        let mut numbers: Vec<usize> = draft.nodes.keys().filter_map(of_beam).collect();
        numbers.sort_unstable();
        let named = |number: usize| At {
            value: format!("{}.{number}", beam.value),
            span: beam.span.clone(),
        };
        Some(numbers.into_iter().map(named).collect())
    }

    /// What yields is said beside the solid, and containers and grounds have no nearest point.
    fn only_a_solid(&mut self, against: &At<ContactShape>) -> Option<()> {
        let shape = &against.value;
        let before = self.findings.len();
        let message = "what the surface does is said beside `against`";
        self.unused(&shape.friction, message);
        self.unused(&shape.rolling, message);
        self.unused(&shape.torsion, message);
        self.unused(&shape.restitution, message);
        self.unused(&shape.stiffness, message);
        self.unused(&shape.damping, message);
        let message = "compliant contacts know no such solid";
        self.unused(&shape.body, message);
        self.unused(&shape.can, message);
        self.unused(&shape.walls, message);
        self.unused(&shape.heights, message);
        self.unused(&shape.spacing, message);
        if self.findings.len() > before {
            return None;
        }
        let kinds = [
            ("sphere", shape.sphere.is_some()),
            ("box", shape.cuboid.is_some()),
            ("capsule", shape.capsule.is_some()),
            ("cylinder", shape.cylinder.is_some()),
            ("mesh", shape.mesh.is_some()),
            ("plane", shape.plane.is_some()),
        ];
        self.one_way(&against.span, &kinds, ["the solid is", "things"])
    }
}
