//! Mechanisms: bodies, beams, shells, springs and joints on the nodes that carry them.

use std::collections::HashMap;
use std::path::Path;

use oldham_mesh::Mesh;
use oldham_model::{
    Look, Mechanism, Outline, PartitionReport, Pose, RoadSketch, Shape, Sketch, Solid, Symbol,
};
use oldham_multibody::{Marker, Mat3, NodeId, Quaternion, Vec3};
use oldham_web::{self as web, Anchor, Colours, Drawing, Force, Item, Moves};

use super::Draft;
use crate::marks::across;

const POSE: [&str; 7] = ["px", "py", "pz", "q0", "q1", "q2", "q3"];
/// How wide a wheel is drawn, over its radius.
const WIDTH: f64 = 0.8;
/// An extent below this fraction of the largest one counts as none.
const FLAT: f64 = 0.02;

/// What is drawn between two points.
enum Slender {
    Coil,
    Cylinder,
}

use Slender::{Coil, Cylinder};

impl Draft<'_> {
    pub(super) fn mechanism(&mut self, mechanism: Mechanism<'_>) {
        let sketch = mechanism.sketch();
        let name = mechanism.name();
        let given = mechanism.given();
        let frames = match self.nodes(name, sketch) {
            Ok(frames) => frames,
            Err(column) => {
                self.scene.notes.push(format!(
                    "`{name}` is not drawn: there is no column `{column}`. Run the model with \
                     record.nodes = true."
                ));
                return;
            }
        };
        for pose in given.iter().skip(1) {
            self.surround(array(pose.position));
        }
        self.look_up(mechanism, &given);
        let parts = Parts::of(self, name, mechanism.partition().as_ref());
        let size = size(&given);
        let mut artist = Artist {
            draft: self,
            sketch,
            frames,
            parts,
            felt: HashMap::new(),
        };
        artist.sections(name);
        artist.bodies();
        artist.visuals();
        artist.particles(name);
        artist.contacts(name);
        artist.outlines();
        artist.joints(size);
        artist.forces(mechanism);
    }

    /// A frame for each node, the ground first; or the column that is missing.
    fn nodes(&mut self, mechanism: &str, sketch: &Sketch) -> Result<Vec<usize>, String> {
        let mut frames = vec![0];
        for node in sketch.nodes.iter().skip(1) {
            let columns = POSE.map(|component| format!("{mechanism}.nodes.{node}.{component}"));
            let at = self.take(&columns)?;
            frames.push(self.frame(&format!("{mechanism}.{node}"), Moves::Freely { at }));
        }
        Ok(frames)
    }

    /// Up is against gravity; without it, up the page for what lies in the plane of x and y.
    fn look_up(&mut self, mechanism: Mechanism<'_>, given: &[Pose]) {
        let gravity = mechanism.gravity();
        if gravity.norm() > 0.0 {
            self.scene.up = array(gravity * (-1.0 / gravity.norm()));
            return;
        }
        let places = given.iter().skip(1).map(|pose| pose.position);
        let (low, high) = places.fold(
            ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]),
            |(low, high), place| {
                let axes = [0, 1, 2];
                (
                    axes.map(|i| low[i].min(place[i])),
                    axes.map(|i| high[i].max(place[i])),
                )
            },
        );
        let extent = [0, 1, 2].map(|i| high[i] - low[i]);
        let is_flat = |axis: usize| extent[axis] <= FLAT * extent[0].max(extent[1]);
        if is_flat(2) && !is_flat(1) {
            self.scene.up = [0.0, 1.0, 0.0];
        }
    }
}

/// The colours of the parts of a mechanism.
struct Parts {
    /// For each node, the ground first.
    of_nodes: Vec<Option<usize>>,
    /// For two nodes of one element.
    of_pairs: HashMap<[NodeId; 2], usize>,
    whole: usize,
}

impl Parts {
    fn of(draft: &mut Draft<'_>, name: &str, report: Option<&PartitionReport>) -> Self {
        let Some(report) = report else {
            return Self {
                of_nodes: Vec::new(),
                of_pairs: HashMap::new(),
                whole: draft.group(name),
            };
        };
        let pieces = report.pieces.iter();
        let groups: Vec<usize> = pieces
            .map(|piece| draft.group(&format!("{name}.{}", piece.name)))
            .collect();
        let mut of_pairs = HashMap::new();
        for link in &report.links {
            for &a in &link.nodes {
                for &b in &link.nodes {
                    of_pairs.entry([a, b]).or_insert(groups[link.piece]);
                }
            }
        }
        Self {
            of_nodes: report
                .owners
                .iter()
                .map(|owner| Some(groups[(*owner)?]))
                .collect(),
            of_pairs,
            whole: groups.first().copied().unwrap_or_default(),
        }
    }

    fn node(&self, node: NodeId) -> usize {
        let owner = self.of_nodes.get(node.index()).copied().flatten();
        owner.unwrap_or(self.whole)
    }

    fn pair(&self, a: NodeId, b: NodeId) -> usize {
        let known = self.of_pairs.get(&[a, b]);
        known.copied().unwrap_or_else(|| self.node(a))
    }
}

/// Draws a mechanism on its frames.
struct Artist<'d, 'c> {
    draft: &'d mut Draft<'c>,
    sketch: &'d Sketch,
    frames: Vec<usize>,
    parts: Parts,
    /// Internal loads by element, as the set of its nodes.
    felt: HashMap<Vec<NodeId>, Felt>,
}

/// An internal load of an element.
struct Felt {
    load: &'static str,
    unit: String,
    /// Its place in the row.
    at: usize,
}

impl Artist<'_, '_> {
    fn add(&mut self, name: &str, group: usize, drawing: Drawing) {
        self.draft.scene.items.push(Item {
            name: name.into(),
            group: Some(group),
            colour: None,
            drawing,
        });
    }

    /// Takes the internal loads by which beams and shells are coloured: for each element the first.
    fn sections(&mut self, mechanism: &str) {
        for section in &self.sketch.section_loads {
            let mut nodes = section.nodes.clone();
            nodes.sort_unstable();
            if self.felt.contains_key(&nodes) {
                continue;
            }
            let column = format!("{mechanism}.{}", section.port);
            let unit = self.draft.unit(&column);
            if let Ok(at) = self.draft.take(&[column]) {
                let load = section.load;
                self.felt.insert(nodes, Felt { load, unit, at });
            }
        }
    }

    /// The colours of points, each with its neighbours among elements.
    fn colours<'e>(
        &self,
        points: &[NodeId],
        elements: impl Iterator<Item = &'e [NodeId]>,
    ) -> Option<Colours> {
        let mut of = vec![Vec::new(); points.len()];
        let mut known = None;
        for element in elements {
            let mut key = element.to_vec();
            key.sort_unstable();
            let Some(felt) = self.felt.get(&key) else {
                continue;
            };
            known.get_or_insert(felt);
            for (place, _) in points
                .iter()
                .enumerate()
                .filter(|(_, node)| key.contains(node))
            {
                of[place].push(felt.at);
            }
        }
        known.map(|felt| Colours {
            name: felt.load.into(),
            unit: felt.unit.clone(),
            of,
        })
    }

    fn at(&self, node: NodeId, offset: Vec3) -> Anchor {
        Anchor {
            frame: self.frames[node.index()],
            offset: array(offset),
            turn: None,
        }
    }

    fn marker(&self, marker: &Marker) -> Anchor {
        Anchor {
            turn: turn(marker.orientation),
            ..self.at(marker.node, marker.offset)
        }
    }

    fn markers(&self, markers: &[Marker]) -> Vec<Anchor> {
        markers.iter().map(|marker| self.marker(marker)).collect()
    }

    fn name(&self, node: NodeId) -> String {
        self.sketch.nodes[node.index()].clone()
    }

    fn bodies(&mut self) {
        let sketch = self.sketch;
        for (place, solid) in sketch.bodies.iter().enumerate() {
            let is_shown = sketch
                .visuals
                .iter()
                .any(|visual| visual.at.node == solid.node);
            if is_shown || self.mesh(place, solid) {
                continue;
            }
            let on = Anchor {
                turn: turn(solid.orientation),
                ..self.at(solid.node, solid.centre)
            };
            let group = self.parts.node(solid.node);
            let name = self.name(solid.node);
            let body = |shape: web::Shape| Drawing::Body { on, shape };
            let drawing = match solid.shape {
                Some(Shape::Box(sides)) => body(web::Shape::Box { sides }),
                Some(Shape::Sphere(radius)) => body(web::Shape::Sphere { radius }),
                Some(Shape::Tube {
                    outer,
                    inner,
                    length,
                }) => body(web::Shape::Cylinder {
                    radius: outer,
                    inner,
                    length,
                }),
                Some(Shape::Rod(length)) => self.rod(solid, length),
                None => {
                    self.links(solid);
                    body(web::Shape::Point)
                }
            };
            self.add(&name, group, drawing);
        }
    }

    /// Draws what has no mass.
    fn visuals(&mut self) {
        let sketch = self.sketch;
        for visual in &sketch.visuals {
            let name = self.name(visual.at.node);
            let shape = match &visual.look {
                Look::Plain(Shape::Box(sides)) => web::Shape::Box { sides: *sides },
                Look::Plain(Shape::Sphere(radius)) => web::Shape::Sphere { radius: *radius },
                Look::Plain(Shape::Tube {
                    outer,
                    inner,
                    length,
                }) => web::Shape::Cylinder {
                    radius: *outer,
                    inner: *inner,
                    length: *length,
                },
                Look::Plain(Shape::Rod(_)) => continue,
                Look::Capsule { radius, length } => web::Shape::Capsule {
                    radius: *radius,
                    length: *length,
                },
                Look::Mesh { path, scale } => {
                    match mesh_shape(&self.draft.folder.join(path), *scale) {
                        Ok(shape) => shape,
                        Err(reason) => {
                            let note =
                                format!("The mesh `{path}` of `{name}` is not drawn: {reason}.");
                            self.draft.scene.notes.push(note);
                            continue;
                        }
                    }
                }
            };
            let colour = visual
                .colour
                .map(|[r, g, b]| format!("#{r:02x}{g:02x}{b:02x}"));
            let is_moving = visual.at.node != NodeId::GROUND;
            let item = Item {
                name,
                group: is_moving.then(|| self.parts.node(visual.at.node)),
                colour,
                drawing: Drawing::Body {
                    on: self.marker(&visual.at),
                    shape,
                },
            };
            self.draft.scene.items.push(item);
        }
    }

    /// Draws particles whose places are recorded.
    fn particles(&mut self, mechanism: &str) {
        let group = self.parts.whole;
        for kind in &self.sketch.particles {
            let name = format!("{mechanism}.particles.{}", kind.name);
            let columns = 1..=3 * kind.count;
            let columns: Vec<String> = columns.map(|place| format!("{name}.{place}")).collect();
            if let Ok(at) = self.draft.take(&columns) {
                let radii = vec![kind.radius as f32; kind.count];
                let stride = 3;
                self.add(&name, group, Drawing::Grains { at, stride, radii });
            }
        }
    }

    /// Draws the forces of contacts where they press.
    fn contacts(&mut self, mechanism: &str) {
        for &node in &self.sketch.contacts {
            let base = format!("{mechanism}.contacts.{}", self.sketch.nodes[node.index()]);
            let places = [1, 2, 3].map(|place| format!("{base}.at.{place}"));
            let components = ["fx", "fy", "fz"].map(|component| format!("{base}.{component}"));
            let (Ok(from), Ok(vector)) = (self.draft.take(&places), self.draft.take(&components))
            else {
                continue;
            };
            let drawing = Drawing::Arrow {
                force: Force::Contact,
                from,
                vector,
            };
            self.add(&base, self.parts.node(node), drawing);
        }
    }

    /// Draws a body by its file, if it has one that can be read.
    fn mesh(&mut self, place: usize, solid: &Solid) -> bool {
        let mut files = self.sketch.meshes.iter();
        let Some(file) = files.find(|file| file.body == place) else {
            return false;
        };
        let (name, group) = (self.name(solid.node), self.parts.node(solid.node));
        match mesh_shape(&self.draft.folder.join(&file.path), [file.scale; 3]) {
            Ok(shape) => {
                let on = self.at(solid.node, Vec3::ZERO);
                self.add(&name, group, Drawing::Body { on, shape });
                true
            }
            Err(reason) => {
                let note = format!(
                    "The mesh `{}` of `{name}` is not drawn: {reason}.",
                    file.path
                );
                self.draft.scene.notes.push(note);
                false
            }
        }
    }

    fn rod(&self, solid: &Solid, length: f64) -> Drawing {
        let axis = solid.orientation.matrix() * Vec3::X;
        let end = |part: f64| self.at(solid.node, solid.centre + axis * (part * length));
        Drawing::Bar {
            through: vec![end(-0.5), end(0.5)],
        }
    }

    /// A body of unknown shape: bars from its centre to all that is attached to it.
    fn links(&mut self, solid: &Solid) {
        let sketch = self.sketch;
        let joints = sketch.joints.iter().flat_map(|(_, ends)| ends);
        let springs = sketch.outlines.iter().flat_map(|outline| match outline {
            Outline::Spring(ends) => &ends[..],
            Outline::Damper(drawn) | Outline::Strut(drawn) | Outline::Actuator(drawn) => {
                &drawn.ends[..]
            }
            Outline::Cable(points) => &points[..],
            Outline::Beam(_)
            | Outline::Face(_)
            | Outline::Profile(_)
            | Outline::Wheel { .. }
            | Outline::Road(_) => &[],
        });
        let held = joints
            .chain(springs)
            .filter(|marker| marker.node == solid.node);
        for marker in held {
            if (marker.offset - solid.centre).norm() == 0.0 {
                continue;
            }
            let through = vec![self.at(solid.node, solid.centre), self.marker(marker)];
            let (name, group) = (self.name(solid.node), self.parts.node(solid.node));
            self.add(&name, group, Drawing::Bar { through });
        }
    }

    fn outlines(&mut self) {
        let sketch = self.sketch;
        let mut faces: HashMap<usize, Vec<[NodeId; 4]>> = HashMap::new();
        for outline in &sketch.outlines {
            match outline {
                Outline::Beam(nodes) => self.beam(nodes),
                Outline::Face(nodes) => {
                    // Neighbours share sides, but no diagonal.
                    let group = self.parts.pair(nodes[0], nodes[2]);
                    faces.entry(group).or_default().push(*nodes);
                }
                Outline::Cable(markers) => {
                    let through: Vec<Anchor> = self.markers(markers);
                    let group = markers
                        .first()
                        .map_or(0, |marker| self.parts.node(marker.node));
                    let colours = None;
                    self.add("cable", group, Drawing::Beam { through, colours });
                    self.supports(markers, group);
                }
                Outline::Wheel { rim, axis, radius } => self.wheel(*rim, *axis, *radius),
                Outline::Road(road) => self.road(road),
                Outline::Profile(markers) => {
                    let through = self.markers(markers);
                    let group = markers
                        .first()
                        .map_or(0, |marker| self.parts.node(marker.node));
                    self.add("profile", group, Drawing::Bar { through });
                }
                Outline::Spring(markers) => self.between(markers, &[Coil]),
                Outline::Damper(drawn) | Outline::Actuator(drawn) => {
                    self.between(&drawn.ends, &[Cylinder]);
                }
                Outline::Strut(drawn) => self.between(&drawn.ends, &[Cylinder, Coil]),
            }
        }
        let mut faces: Vec<_> = faces.into_iter().collect();
        faces.sort_by_key(|(group, _)| *group);
        for (group, faces) in faces {
            self.shell(group, &faces);
        }
    }

    fn road(&mut self, road: &RoadSketch) {
        let pair = |points: &[Vec3; 2]| points.map(rounded);
        let land = road.land.as_ref().map(|land| web::Land {
            origin: land.origin,
            spacing: land.spacing,
            columns: land.columns,
            heights: land.heights.iter().map(|&height| to_mm(height)).collect(),
        });
        let drawing = Drawing::Road(web::Road {
            length: road.length,
            across: road.across.clone(),
            points: road.sections.iter().copied().map(rounded).collect(),
            kerbs: road.kerbs.clone(),
            cones: road.cones.iter().map(pair).collect(),
            gates: road.gates.iter().map(pair).collect(),
            land,
        });
        self.draft.scene.items.push(Item {
            name: "road".into(),
            group: None,
            colour: None,
            drawing,
        });
    }

    /// A coil, a cylinder, or one around the other.
    fn between(&mut self, markers: &[Marker; 2], what: &[Slender]) {
        let ends = [&markers[0], &markers[1]].map(|marker| self.marker(marker));
        let group = self.parts.pair(markers[0].node, markers[1].node);
        for slender in what {
            let drawing = match slender {
                Coil => Drawing::Spring { ends },
                Cylinder => Drawing::Actuator { ends },
            };
            self.add("", group, drawing);
        }
        self.supports(markers, group);
    }

    fn wheel(&mut self, rim: NodeId, axis: Vec3, radius: f64) {
        let [u, v] = across(axis);
        let axes = Quaternion::from_matrix(&Mat3::from_columns(axis, u, v));
        let on = Anchor {
            turn: turn(axes),
            ..self.at(rim, Vec3::ZERO)
        };
        let shape = web::Shape::Wheel {
            radius,
            width: WIDTH * radius,
        };
        let (name, group) = (self.name(rim), self.parts.node(rim));
        self.add(&name, group, Drawing::Body { on, shape });
        // What has wheels travels.
        let first = self.frames.get(1).copied();
        self.draft.scene.follow = self.draft.scene.follow.or(first);
    }

    /// A beam in the colours of the parts through which it goes.
    fn beam(&mut self, nodes: &[NodeId]) {
        let mut from = 0;
        let group = |i: usize| self.parts.pair(nodes[i], nodes[i + 1]);
        let groups: Vec<usize> = (0..nodes.len().saturating_sub(1)).map(group).collect();
        for piece in groups.chunk_by(|a, b| a == b) {
            let to = from + piece.len();
            let places = nodes[from..=to].iter();
            let through = places.map(|&node| self.at(node, Vec3::ZERO)).collect();
            let name = self.name(nodes[from]);
            let name = name
                .rsplit_once('.')
                .map_or(name.as_str(), |(beam, _)| beam);
            let nodes = &nodes[from..=to];
            // An element has two nodes, or three.
            let elements = nodes.windows(2).chain(nodes.windows(3));
            let colours = self.colours(nodes, elements);
            self.add(name, piece[0], Drawing::Beam { through, colours });
            from = to;
        }
    }

    fn shell(&mut self, group: usize, faces: &[[NodeId; 4]]) {
        let mut places = HashMap::new();
        let mut nodes = Vec::new();
        let mut corner = |node: NodeId| {
            *places.entry(node).or_insert_with(|| {
                nodes.push(self.frames[node.index()]);
                nodes.len() - 1
            })
        };
        let drawn = faces.iter().map(|face| face.map(&mut corner)).collect();
        let mut points = vec![NodeId::GROUND; places.len()];
        places
            .iter()
            .for_each(|(&node, &place)| points[place] = node);
        let colours = self.colours(&points, faces.iter().map(|face| face.as_slice()));
        let faces = drawn;
        self.add(
            "shell",
            group,
            Drawing::Shell {
                nodes,
                faces,
                colours,
            },
        );
    }

    fn joints(&mut self, size: f64) {
        let sketch = self.sketch;
        let is_shown = |marker: &Marker| {
            sketch
                .visuals
                .iter()
                .any(|visual| visual.at.node == marker.node)
        };
        for (symbol, markers) in &sketch.joints {
            // What is drawn as it looks needs no symbols.
            if markers.iter().all(is_shown) {
                continue;
            }
            let group = self.parts.pair(markers[0].node, markers[1].node);
            let [a, b] = [&markers[0], &markers[1]].map(|marker| self.marker(marker));
            let pin = |on| Drawing::Joint {
                symbol: web::Symbol::Pin,
                on,
            };
            match symbol {
                Symbol::Clamp => {}
                Symbol::Pin | Symbol::Point => self.add("", group, pin(b)),
                Symbol::Rod => {
                    self.add(
                        "",
                        group,
                        Drawing::Bar {
                            through: vec![a, b],
                        },
                    );
                    self.add("", group, pin(a));
                    self.add("", group, pin(b));
                }
                Symbol::Slide => {
                    let on = Anchor { turn: a.turn, ..b };
                    let symbol = web::Symbol::Slide;
                    self.add("", group, Drawing::Joint { symbol, on });
                    self.guide(markers, size);
                }
            }
            if !matches!(symbol, Symbol::Slide | Symbol::Point) {
                self.supports(markers, group);
            }
        }
    }

    /// Forces that are recorded with the node on which they act: of elements, and of the parts of a
    /// cut at their interfaces.
    fn forces(&mut self, mechanism: Mechanism<'_>) {
        let name = mechanism.name();
        let shown = mechanism.shown_forces();
        let mut bases: Vec<(String, NodeId, usize)> = shown
            .map(|(output, node)| (format!("{name}.{output}"), node, self.parts.node(node)))
            .collect();
        if let Some(report) = mechanism.partition() {
            for interface in &report.interfaces {
                let node = &self.sketch.nodes[interface.node.index()];
                for &piece in &interface.followers {
                    let part = &report.pieces[piece].name;
                    let base = format!("{name}.interfaces.{node}.{part}");
                    let group = self.draft.group(&format!("{name}.{part}"));
                    bases.push((base, interface.node, group));
                }
            }
        }
        for (base, node, group) in bases {
            let frame = &self.draft.scene.frames[self.frames[node.index()]];
            let Moves::Freely { at: from } = frame.motion else {
                continue;
            };
            let columns = ["fx", "fy", "fz"].map(|component| format!("{base}.{component}"));
            if let Ok(vector) = self.draft.take(&columns) {
                let force = Force::Load;
                let drawing = Drawing::Arrow {
                    force,
                    from,
                    vector,
                };
                self.add(&base, group, drawing);
            }
        }
    }

    /// The line along which something slides on the ground.
    fn guide(&mut self, markers: &[Marker; 2], size: f64) {
        let grounded = markers.iter().find(|marker| marker.node == NodeId::GROUND);
        if let Some(marker) = grounded {
            let reach = marker.orientation.matrix().column(2) * (0.4 * size);
            let ends = [marker.offset - reach, marker.offset + reach];
            let points = ends.map(array).to_vec();
            self.add("guide", self.parts.whole, Drawing::Path { points });
        }
    }

    fn supports(&mut self, markers: &[Marker], group: usize) {
        for marker in markers
            .iter()
            .filter(|marker| marker.node == NodeId::GROUND)
        {
            let on = Anchor {
                turn: None,
                ..self.marker(marker)
            };
            self.add("ground", group, Drawing::Support { on });
        }
    }
}

fn array(vector: Vec3) -> [f64; 3] {
    [vector[0], vector[1], vector[2]]
}

/// To the millimetre, which is less than a pixel.
fn to_mm(length: f64) -> f64 {
    (1e3 * length).round() / 1e3
}

fn rounded(point: Vec3) -> [f64; 3] {
    array(point).map(to_mm)
}

fn turn(orientation: Quaternion) -> Option<[f64; 4]> {
    (orientation != Quaternion::IDENTITY).then_some(orientation.0)
}

/// Largest distance of two nodes from the first one.
fn size(given: &[Pose]) -> f64 {
    let from = given.get(1).map_or(Vec3::ZERO, |pose| pose.position);
    let distance = |pose: &Pose| (pose.position - from).norm();
    given.iter().map(distance).fold(0.0, f64::max)
}

/// The triangles of a file, stretched by factors along its axes.
fn mesh_shape(path: &Path, factors: [f64; 3]) -> Result<web::Shape, String> {
    let mesh = Mesh::read(path).map_err(|error| error.to_string())?;
    let mesh = mesh.scaled(factors);
    if !mesh.is_finite() {
        return Err("a coordinate is NaN or infinite".into());
    }
    Ok(web::Shape::Mesh {
        points: mesh.points,
        triangles: mesh.triangles,
    })
}
