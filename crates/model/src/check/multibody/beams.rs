//! Beams: meshes along lines.

use oldham_expression::Expression;
use oldham_multibody::{
    Beam2, Beam3, Curve, Element, ElementId, LineInertia, LineMesh, Lumping, MeshError, Motion,
    NodeId, Quaternion, Vec3,
};

use super::MechanismDraft;
use super::places::BeamElements;
use super::sections::CrossSection;
use crate::check::Checker;
use crate::check::keys::{read, read_or};
use crate::format::multibody::{self, End, Multibody};
use crate::format::{At, Count, Entry, place};
use crate::mechanism::{Outline, Pose};

/// Most elements of one beam.
const MAX_ELEMENTS: u32 = 10_000;

/// What the points of a curve depend on.
const CURVE_VARIABLES: [&str; 1] = ["s"];

/// A given node counts as the end of a curve within this fraction of the curve's length.
const AT_THE_END: f64 = 1e-6;

/// A section whose mass is in bodies of their own.
const MASSLESS: LineInertia = LineInertia {
    mass: 0.0,
    rotary: [0.0; 3],
};

/// A beam whose data are read.
struct BeamLayout {
    mesh: LineMesh,
    /// Given nodes at the ends, with their orientations.
    ends: [Option<(NodeId, Quaternion)>; 2],
    cross_section: CrossSection,
    up: Vec3,
    /// Intervals of an element: one or two.
    intervals: usize,
    lumping: Lumping,
    velocity: Vec3,
    spin: Vec3,
}

/// The line of a beam, with the nodes at its ends.
struct Line {
    curve: Box<dyn Curve>,
    ends: [Option<NodeId>; 2],
}

impl Checker<'_> {
    pub(super) fn beams<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.beams {
            self.element_name(&entry.name, "a beam", draft);
            match self.beam(entry, draft) {
                Some(layout) => {
                    let elements = mesh_beam(entry, &layout, draft);
                    let points = layout.intervals;
                    let elements = Some(BeamElements { elements, points });
                    draft.beams.insert(&entry.name.value, elements);
                }
                None => {
                    draft.lost_meshes = true;
                    draft.beams.insert(&entry.name.value, None);
                }
            }
        }
    }

    fn beam(
        &mut self,
        entry: &Entry<multibody::Beam>,
        draft: &MechanismDraft<'_>,
    ) -> Option<BeamLayout> {
        let given = &entry.value.value;
        let frame = self.frame_named(&given.frame, draft);
        let cross_section = read(&given.section, |name| {
            self.known(name, "section", &draft.sections).copied()
        });
        let elements = read(&given.elements, |at| self.elements(at));
        let intervals = read_or(&given.nodes_per_element, 2, |at| self.intervals(at));
        let up = read(&given.up, |up| self.direction(up));
        let velocity = self.vector_or_zero(&given.velocity);
        let spin = self.vector_or_zero(&given.angular_velocity);
        let line = self.line(entry, &frame.unwrap_or(Pose::ABSOLUTE), draft);
        let (frame, intervals, line) = (frame?, intervals?, line?);
        let up = frame.direction(up?);
        let mesh = LineMesh::along(&line.curve, elements? as usize * intervals, up);
        let mesh = match mesh {
            Ok(mesh) => mesh,
            Err(error) => {
                self.mesh_error(entry, error);
                return None;
            }
        };
        self.meets_its_nodes(entry, &mesh, line.ends, draft);
        let oriented = |node: Option<NodeId>| {
            let node = node?;
            Some((node, draft.motion(node)?.orientation))
        };
        Some(BeamLayout {
            mesh,
            ends: line.ends.map(oriented),
            cross_section: cross_section?,
            up,
            intervals,
            lumping: given.lumping.map_or_else(Lumping::default, Lumping::from),
            velocity: frame.direction(velocity?),
            spin: frame.direction(spin?),
        })
    }

    fn elements(&mut self, at: &At<Count>) -> Option<u32> {
        let count = self.count(at)?;
        if count <= MAX_ELEMENTS {
            return Some(count);
        }
        let message = format!("a beam has at most {MAX_ELEMENTS} elements");
        self.report(&at.span, message).label(format!("is {count}"));
        None
    }

    fn intervals(&mut self, at: &At<Count>) -> Option<usize> {
        match self.count(at)? {
            2 => Some(1),
            3 => Some(2),
            _ => {
                let message = "an element has 2 or 3 nodes";
                self.report(&at.span, message);
                None
            }
        }
    }

    fn line(
        &mut self,
        entry: &Entry<multibody::Beam>,
        frame: &Pose,
        draft: &MechanismDraft<'_>,
    ) -> Option<Line> {
        let given = &entry.value.value;
        let from = given.from.as_ref().map(|end| self.end(end, frame, draft));
        let to = given.to.as_ref().map(|end| self.end(end, frame, draft));
        if let Some(curve) = &given.curve {
            let [x, y, z] = self.expressions(curve, &CURVE_VARIABLES)?;
            let frame = *frame;
            let curve = move |s: f64| {
                let at = |expression: &Expression| expression.eval(&[s]);
                frame.point(Vec3::new(at(&x), at(&y), at(&z)))
            };
            let node = |end: Option<Option<(Vec3, Option<NodeId>)>>| match end {
                Some(end) => end.map(|(_, node)| node),
                None => Some(None),
            };
            return Some(Line {
                curve: Box::new(curve),
                ends: [node(from)?, node(to)?],
            });
        }
        let (Some(from), Some(to)) = (from, to) else {
            let message = format!("the beam `{}` has no line", entry.name.value);
            self.report_missing(&entry.value.span, message)
                .help("give `from` and `to`, or a `curve`");
            return None;
        };
        let ((start, first), (end, last)) = (from?, to?);
        Some(Line {
            curve: Box::new(move |s: f64| start * (1.0 - s) + end * s),
            ends: [first, last],
        })
    }

    fn end(
        &mut self,
        end: &At<End>,
        frame: &Pose,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Vec3, Option<NodeId>)> {
        match &end.value {
            End::Node(name) => {
                let name = At::new(name.clone(), &end.span);
                let node = self.moving_node_named(&name, draft)?;
                Some((draft.motion(node)?.position, Some(node)))
            }
            End::Point(point) => {
                let point = At::new(point.clone(), &end.span);
                Some((frame.point(self.vector(&point)?), None))
            }
        }
    }

    fn mesh_error(&mut self, entry: &Entry<multibody::Beam>, error: MeshError) {
        let given = &entry.value.value;
        let line = place(&given.curve).or(place(&given.to));
        let (place, message) = match error {
            MeshError::NoLength => (line, "the beam has no length".to_owned()),
            MeshError::NotFinite(s) => (line, format!("the curve has no point at s = {s}")),
            MeshError::UpAlongTheLine => (
                place(&given.up),
                "`up` points along the beam: it must point across".to_owned(),
            ),
        };
        let place = place.unwrap_or(&entry.value.span);
        self.report(place, message);
    }

    /// Nodes given at the ends of a curve must be there.
    fn meets_its_nodes(
        &mut self,
        entry: &Entry<multibody::Beam>,
        mesh: &LineMesh,
        ends: [Option<NodeId>; 2],
        draft: &MechanismDraft<'_>,
    ) {
        let given = &entry.value.value;
        let last = mesh.nodes.len() - 1;
        let length = mesh.spacing * last as f64;
        for (node, place, at) in [(ends[0], 0, &given.from), (ends[1], last, &given.to)] {
            let (Some(at), Some(motion)) = (at, node.and_then(|node| draft.motion(node))) else {
                continue;
            };
            let distance = (motion.position - mesh.nodes[place].0).norm();
            if distance > AT_THE_END * length {
                let message = format!("the curve ends {distance} m away from this node");
                self.report(&at.span, message);
            }
        }
    }
}

/// Makes nodes, bodies and elements; gives the elements.
fn mesh_beam(
    entry: &Entry<multibody::Beam>,
    layout: &BeamLayout,
    draft: &mut MechanismDraft<'_>,
) -> Vec<ElementId> {
    let name = &entry.name.value;
    let last = layout.mesh.nodes.len() - 1;
    let start = layout.mesh.nodes[0].0;
    let mut nodes = Vec::with_capacity(last + 1);
    for (i, (place, axes)) in layout.mesh.nodes.iter().enumerate() {
        let given = match i {
            0 => layout.ends[0],
            _ if i == last => layout.ends[1],
            _ => None,
        };
        let own = Quaternion::from_matrix(axes);
        let (node, orientation) = match given {
            Some((node, orientation)) => (node, orientation),
            None => {
                let velocity = layout.velocity + layout.spin.cross(*place - start);
                let motion = Motion::at_rest(*place, own).moving(velocity, layout.spin);
                let name = format!("{name}.{i}");
                (draft.node(&name, motion, &entry.name.span), own)
            }
        };
        let inertia = &layout.cross_section.inertia;
        if *inertia != MASSLESS {
            let body = layout.mesh.body(i, inertia, layout.lumping, orientation);
            draft.spec.whole.model.body(node, body);
        }
        nodes.push(node);
    }
    let section = layout.cross_section.section;
    let mut elements = Vec::new();
    for (i, ends) in nodes
        .windows(layout.intervals + 1)
        .step_by(layout.intervals)
        .enumerate()
    {
        let model = &draft.spec.whole.model;
        let element: Box<dyn Element> = match *ends {
            [a, b] => Box::new(Beam2::new(model, [a, b], section, layout.up)),
            [a, b, c] => Box::new(Beam3::new(model, [a, b, c], section, layout.up)),
            _ => unreachable!("an element has two or three nodes"),
        };
        elements.push(draft.element(&format!("{name}.element {i}"), element));
    }
    draft.spec.sketch.outlines.push(Outline::Beam(nodes));
    elements
}
