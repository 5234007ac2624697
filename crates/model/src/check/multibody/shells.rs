//! Shells: meshes over surfaces.

use oldham_multibody::{Joint, NodeId, ShellGrid, ShellMesh, ShellSection, SurfaceInertia};

use super::MechanismDraft;
use super::places::ShellElements;
use super::sections::DEFAULT_POISSON;
use crate::check::Checker;
use crate::check::keys::read;
use crate::format::multibody::{self, Edge, Multibody, Vector};
use crate::format::{At, Entry, place};
use crate::mechanism::{Outline, Pose, ShellSpec, Surface, Symbol};

/// Most elements of one shell.
const MAX_ELEMENTS: usize = 10_000;
/// Most elements of all shells of a mechanism: each takes about 30 kB, and the same again for its share of the
/// equations.
const MAX_IN_ALL: usize = 40_000;

/// What the points of a surface depend on.
const SURFACE_VARIABLES: [&str; 2] = ["u", "v"];

impl Checker<'_> {
    pub(super) fn shells<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        let mut read = Vec::new();
        for entry in &section.shells {
            self.element_name(&entry.name, "a shell", draft);
            draft.shells.insert(&entry.name.value, None);
            read.push((entry, self.shell(entry, draft)));
        }
        let fits = self.fits_in_all(&read);
        for (entry, made) in read {
            let made = made.filter(|_| fits);
            let made = made.and_then(|spec| self.mesh_shell(entry, spec, draft));
            if made.is_none() {
                draft.lost_meshes = true;
            }
        }
    }

    /// Whether the shells of a mechanism have not too many elements together.
    fn fits_in_all(&mut self, read: &[(&Entry<multibody::Shell>, Option<ShellSpec>)]) -> bool {
        let mut in_all = 0;
        for (entry, spec) in read {
            let of = |spec: &ShellSpec| spec.mesh.divisions.iter().product();
            in_all += spec.as_ref().map_or(0, of);
            if in_all > MAX_IN_ALL {
                let message =
                    format!("the shells of a mechanism have at most {MAX_IN_ALL} elements in all");
                let help = "take fewer elements, or put the shells into several mechanisms";
                self.report(&entry.name.span, message)
                    .label(format!("with this one they have {in_all}"))
                    .help(help);
                return false;
            }
        }
        true
    }

    fn shell(
        &mut self,
        entry: &Entry<multibody::Shell>,
        draft: &MechanismDraft<'_>,
    ) -> Option<ShellSpec> {
        let given = &entry.value.value;
        let frame = self.frame_named(&given.frame, draft);
        let surface = self.surface(entry, frame.unwrap_or(Pose::ABSOLUTE));
        let divisions = read(&given.elements, |at| self.divisions(at));
        let thickness = self.required(&given.thickness);
        let young = self.required(&given.young);
        let density = self.required(&given.density);
        let poisson = self.number_or(&given.poisson, DEFAULT_POISSON);
        let damping = self.number_or(&given.damping, 0.0);
        let (thickness, _) = (thickness?, frame?);
        let section = ShellSection::isotropic(young?, poisson?, thickness);
        Some(ShellSpec {
            name: entry.name.value.clone(),
            mesh: ShellMesh {
                divisions: divisions?,
                closed: given.closed.unwrap_or(false),
                section: section.damped(damping?),
                inertia: SurfaceInertia::uniform(density?, thickness),
            },
            surface: surface?,
        })
    }

    fn surface(&mut self, entry: &Entry<multibody::Shell>, frame: Pose) -> Option<Surface> {
        let given = &entry.value.value;
        match (&given.rectangle, &given.surface) {
            (Some(vectors), None) => self.parallelogram(vectors, &frame),
            (None, Some(formulas)) => {
                let formulas = self.expressions(formulas, &SURFACE_VARIABLES)?;
                Some(Surface::Formula(frame, Box::new(formulas)))
            }
            (rectangle, surface) => {
                let what = format!("the shell `{}` has", entry.name.value);
                let (rectangle, surface) = (rectangle.is_some(), surface.is_some());
                let ways = [("rectangle", rectangle), ("surface", surface)];
                self.one_way(&entry.value.span, &ways, [&what, "surfaces"])?;
                None
            }
        }
    }

    fn parallelogram(&mut self, given: &At<Vec<At<Vector>>>, frame: &Pose) -> Option<Surface> {
        let vectors: Vec<_> = given.value.iter().map(|at| self.vector(at)).collect();
        let [corner, along, across] = vectors[..] else {
            let message = format!(
                "a corner and two sides are needed, not {} vectors",
                vectors.len()
            );
            self.report(&given.span, message);
            return None;
        };
        let (along, across) = (along?, across?);
        if along.cross(across).norm() <= 1e-9 * along.norm() * across.norm() {
            let message = "the two sides must not lie along one line";
            self.report(&given.span, message);
            return None;
        }
        let sides = [along, across].map(|side| frame.direction(side));
        Some(Surface::Parallelogram([
            frame.point(corner?),
            sides[0],
            sides[1],
        ]))
    }

    fn divisions(&mut self, given: &At<Vec<At<crate::format::Count>>>) -> Option<[usize; 2]> {
        let [a, b] = self
            .two(given, "numbers of elements")?
            .map(|at| self.count(at));
        let divisions = [a? as usize, b? as usize];
        if divisions[0].saturating_mul(divisions[1]) <= MAX_ELEMENTS {
            return Some(divisions);
        }
        let message = format!("a shell has at most {MAX_ELEMENTS} elements");
        self.report(&given.span, message);
        None
    }

    fn mesh_shell<'f>(
        &mut self,
        entry: &'f Entry<multibody::Shell>,
        spec: ShellSpec,
        draft: &mut MechanismDraft<'f>,
    ) -> Option<()> {
        let given = &entry.value.value;
        if let Err(message) = spec.trial() {
            let place = place(&given.surface).or(place(&given.rectangle));
            self.report(place.unwrap_or(&entry.value.span), message);
            return None;
        }
        let grid = spec.mesh_into(&mut draft.spec.whole.model).ok()?;
        let [columns, rows] = grid.size();
        for row in 0..rows {
            for column in 0..columns {
                let name = format!("{}.{column}.{row}", spec.name);
                draft.made_node(&name, grid.node(column, row), &entry.name.span);
            }
        }
        draft.held.extend(grid.nodes());
        let elements = ShellElements {
            elements: grid.elements.clone(),
            columns: grid.elements.len() / (rows - 1),
        };
        draft.shells.insert(&entry.name.value, Some(elements));
        sketch(&grid, spec.mesh.closed, draft);
        self.hold_edges(entry, &grid, draft);
        Some(())
    }

    /// Joints between the ground and the nodes of some edges; a corner is held once.
    fn hold_edges<'f>(
        &mut self,
        entry: &'f Entry<multibody::Shell>,
        grid: &ShellGrid,
        draft: &mut MechanismDraft<'f>,
    ) {
        let given = &entry.value.value;
        let clamped = given.clamp.iter().flatten().map(|edge| (edge, true));
        let pinned = given.pin.iter().flatten().map(|edge| (edge, false));
        let mut held: Vec<NodeId> = Vec::new();
        for (edge, clamps) in clamped.chain(pinned) {
            if given.closed == Some(true) && matches!(edge.value, Edge::U0 | Edge::U1) {
                let message = "a closed surface has no such edge";
                self.report(&edge.span, message);
                continue;
            }
            for node in edge_nodes(grid, edge.value) {
                if held.contains(&node) {
                    continue;
                }
                held.push(node);
                let Some(motion) = draft.motion(node) else {
                    continue;
                };
                let nodes = [NodeId::GROUND, node];
                let ends = draft.markers(nodes, motion.position, motion.orientation);
                let (joint, symbol) = match clamps {
                    true => (Joint::clamp(ends[0], ends[1]), Symbol::Clamp),
                    false => (Joint::spherical(ends[0], ends[1]), Symbol::Pin),
                };
                let name = format!("edge at {}", draft.spec.sketch.nodes[node.index()]);
                draft.element(&name, Box::new(joint));
                draft.spec.sketch.joints.push((symbol, ends));
            }
        }
    }
}

fn edge_nodes(grid: &ShellGrid, edge: Edge) -> Vec<NodeId> {
    let [columns, rows] = grid.size();
    match edge {
        Edge::U0 => (0..rows).map(|row| grid.node(0, row)).collect(),
        Edge::U1 => (0..rows).map(|row| grid.node(columns - 1, row)).collect(),
        Edge::V0 => (0..columns).map(|column| grid.node(column, 0)).collect(),
        Edge::V1 => (0..columns)
            .map(|column| grid.node(column, rows - 1))
            .collect(),
    }
}

/// One face an element.
fn sketch(grid: &ShellGrid, closed: bool, draft: &mut MechanismDraft<'_>) {
    let [columns, rows] = grid.size();
    let across = if closed { columns } else { columns - 1 };
    for row in 0..rows - 1 {
        for column in 0..across {
            let next = (column + 1) % columns;
            let corners = [
                (column, row),
                (next, row),
                (next, row + 1),
                (column, row + 1),
            ];
            let face = corners.map(|(i, j)| grid.node(i, j));
            draft.spec.sketch.outlines.push(Outline::Face(face));
        }
    }
}
