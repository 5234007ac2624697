//! Shapes in contact.

use std::sync::Arc;

use oldham_multibody::contact::{Can, ContactShape, HeightField, Polytope, Shape, Surface, Wall};
use oldham_multibody::{Marker, NodeId, Quaternion, Vec3};

use crate::check::Checker;
use crate::check::keys::all;
use crate::check::multibody::MechanismDraft;
use crate::format::multibody::{self, Contact, Multibody};
use crate::format::{At, Entry, place};
use crate::mechanism::{self, Outline, Pose, Solid};

/// Corners of a drawn rim.
const CORNERS: usize = 24;

impl Checker<'_> {
    pub(super) fn shapes<'f>(
        &mut self,
        section: &'f Multibody,
        contact: &Contact,
        surface: Surface,
        draft: &mut MechanismDraft<'f>,
    ) {
        for name in contact.bodies.iter().flatten() {
            if let Some((at, shape)) = self.shape_of_body(name, section, draft) {
                let name = name.value.clone();
                draft.spec.whole.model.contacts().shapes.push(ContactShape {
                    name,
                    at,
                    shape,
                    surface,
                });
            }
        }
        for entry in &section.shapes {
            self.name(&entry.name, "a shape");
            self.contact_shape(entry, section, surface, draft);
        }
    }

    fn contact_shape<'f>(
        &mut self,
        entry: &'f Entry<multibody::ContactShape>,
        section: &'f Multibody,
        otherwise: Surface,
        draft: &mut MechanismDraft<'f>,
    ) -> Option<()> {
        let given = &entry.value.value;
        let surface = self.contact_surface(&given.friction, &given.restitution, otherwise);
        let surface = self.with_turning(&given.rolling, &given.torsion, surface);
        let surface = self.with_stiffness(given, surface);
        let kinds = [
            ("body", given.body.is_some()),
            ("sphere", given.sphere.is_some()),
            ("box", given.cuboid.is_some()),
            ("capsule", given.capsule.is_some()),
            ("cylinder", given.cylinder.is_some()),
            ("mesh", given.mesh.is_some()),
            ("plane", given.plane.is_some()),
            ("can", given.can.is_some()),
            ("heights", given.heights.is_some()),
        ];
        let what = format!("the shape `{}` is", entry.name.value);
        self.one_way(&entry.value.span, &kinds, [&what, "things"])?;
        if given.can.is_none() {
            self.unused(&given.walls, "only a can has walls");
        }
        if given.heights.is_none() {
            self.unused(&given.spacing, "only heights have a spacing");
        }
        let (at, shape) = match &given.body {
            Some(body) => {
                let placed = [
                    place(&given.node),
                    place(&given.position),
                    place(&given.orientation),
                ];
                if let Some(span) = placed.into_iter().flatten().next() {
                    let message = "the shape of a body is where the body is";
                    self.report(span, message).label("one too many");
                }
                self.shape_of_body(body, section, draft)?
            }
            None => self.own_shape(&entry.name.value, &entry.value, draft)?,
        };
        draft.spec.whole.model.contacts().shapes.push(ContactShape {
            name: entry.name.value.clone(),
            at,
            shape,
            surface: surface?,
        });
        Some(())
    }

    fn with_stiffness(
        &mut self,
        given: &multibody::ContactShape,
        surface: Option<Surface>,
    ) -> Option<Surface> {
        if given.stiffness.is_none() {
            let message = "damping needs a stiffness: a rigid surface does not yield";
            self.unused(&given.damping, message);
        }
        let stiffness = self.number_or(&given.stiffness, f64::INFINITY);
        let damping = self.number_or(&given.damping, 0.0);
        Some(Surface {
            stiffness: stiffness?,
            damping: damping?,
            ..surface?
        })
    }

    /// A shape that is given as such, and drawn unless a body is in its place.
    pub(super) fn own_shape(
        &mut self,
        name: &str,
        shape: &At<multibody::ContactShape>,
        draft: &mut MechanismDraft<'_>,
    ) -> Option<(Marker, Shape)> {
        let given = &shape.value;
        let Some(node) = &given.node else {
            let message = format!("the shape `{name}` is on no node");
            self.report_missing(&shape.span, message)
                .help("give its `node`, which may be `ground`");
            return None;
        };
        let node = self.node_named(node, draft);
        let offset = self.vector_or_zero(&given.position);
        let axes = self.orientation_in(&Pose::ABSOLUTE, &given.orientation);
        let placed = |node: Option<NodeId>, axes: Quaternion| {
            Some(Marker::on(node?).offset(offset?).oriented(axes))
        };
        if let Some(radius) = &given.sphere {
            let radius = self.number(radius)?;
            let at = placed(node, axes?)?;
            draft.draw(at, mechanism::Shape::Sphere(radius));
            return Some((at, Shape::Sphere { radius }));
        }
        if let Some(sides) = &given.cuboid {
            let sides: [f64; 3] = self.numbers(sides, "the lengths of a box")?;
            let at = placed(node, axes?)?;
            draft.draw(at, mechanism::Shape::Box(sides));
            return Some((at, cuboid(sides)));
        }
        if let Some(list) = given.capsule.as_ref().or(given.cylinder.as_ref()) {
            let [radius, length] = self.numbers(list, "radius and length")?;
            let at = placed(node, axes?)?;
            let drawn = if given.capsule.is_some() {
                length + 2.0 * radius
            } else {
                length
            };
            draft.draw(at, tube(radius, drawn));
            let half_length = 0.5 * length;
            let shape = match given.capsule.is_some() {
                true => Shape::Capsule {
                    half_length,
                    radius,
                },
                false => Shape::Cylinder {
                    half_length,
                    radius,
                },
            };
            return Some((along_first(at), shape));
        }
        if let Some(normal) = &given.plane {
            let normal = self.direction(normal)?;
            let at = placed(node, axes?)?;
            let turned = Marker::on(at.node).axis(at.orientation.rotate(normal));
            let at = at.oriented(turned.orientation);
            draft.spec.sketch.planes.push(at);
            return Some((at, Shape::Plane));
        }
        let at = placed(node, axes?)?;
        if let Some(points) = &given.mesh {
            let solid = self.hull(points)?;
            draft.draw_mesh(at, &solid);
            return Some((at, Shape::Mesh(Arc::new(solid))));
        }
        if let Some(heights) = &given.heights {
            let ground = self.ground(heights, &given.spacing)?;
            draft.draw_ground(at, &ground);
            return Some((at, Shape::Field(Arc::new(ground))));
        }
        let can = self.can(given.can.as_ref()?, &given.walls)?;
        draft.draw_can(at, &can);
        Some((at, Shape::Can(can)))
    }

    /// The convex hull of some points.
    pub(in crate::check::multibody) fn hull(
        &mut self,
        points: &At<Vec<At<multibody::Vector>>>,
    ) -> Option<Polytope> {
        let corners = all(points.value.iter().map(|point| self.vector(point)));
        let hull = Polytope::hull(&corners?);
        let refused = |error: oldham_multibody::contact::HullError| {
            let message = format!("no solid: {error}");
            self.report(&points.span, message);
        };
        hull.map_err(refused).ok()
    }

    /// A height field.
    fn ground(
        &mut self,
        heights: &At<Vec<At<multibody::Vector>>>,
        spacing: &Option<At<multibody::Lengths>>,
    ) -> Option<HeightField> {
        let Some(spacing) = spacing else {
            let message = "how far apart are the points of the grid?";
            self.report(&heights.span, message)
                .help("give their `spacing`, as in spacing = [0.1, 0.1]");
            return None;
        };
        let spacing = self.numbers(spacing, "distances along the first and the second axis")?;
        let rows = self.rows(&heights.value)?;
        let refused = |error: oldham_multibody::contact::FieldError| {
            let message = format!("no ground: {error}");
            self.report(&heights.span, message);
        };
        HeightField::new(&rows, spacing).map_err(refused).ok()
    }

    fn can(
        &mut self,
        sizes: &At<multibody::Lengths>,
        walls: &Option<At<crate::format::Count>>,
    ) -> Option<Can> {
        let (radius, height) = match sizes.value.len() {
            1 => (self.numbers::<1, _>(sizes, "radius")?[0], None),
            _ => {
                let [radius, height] = self.numbers(sizes, "radius and height")?;
                (radius, Some(height))
            }
        };
        let wall = match walls {
            None => Wall::Round,
            Some(count) => {
                let number = self.count(count)? as usize;
                if number < 3 {
                    let message = format!("a can of {number} flat walls is open");
                    self.report(&count.span, message)
                        .label("at least 3, or none for a round wall");
                    return None;
                }
                Wall::Facets(number)
            }
        };
        Some(Can::new(radius, height, wall))
    }

    /// The shape of a body, and where it is.
    fn shape_of_body(
        &mut self,
        name: &At<String>,
        section: &Multibody,
        draft: &MechanismDraft<'_>,
    ) -> Option<(Marker, Shape)> {
        let place = section
            .bodies
            .iter()
            .position(|entry| entry.name.value == name.value);
        let Some(place) = place else {
            self.unknown(name, "body", section.bodies.names());
            return None;
        };
        // Where some body could not be read, places are not those of the sketch.
        let solids = &draft.spec.sketch.bodies;
        if solids.len() < section.bodies.iter().count() {
            return None;
        }
        let solid = &solids[place];
        let at = Marker::on(solid.node)
            .offset(solid.centre)
            .oriented(solid.orientation);
        if let Some(hull) = draft.hulls.get(&place) {
            return Some((at, Shape::Mesh(hull.clone())));
        }
        match solid.shape {
            Some(mechanism::Shape::Box(sides)) => Some((at, cuboid(sides))),
            Some(mechanism::Shape::Sphere(radius)) => Some((at, Shape::Sphere { radius })),
            Some(mechanism::Shape::Tube {
                outer,
                inner: 0.0,
                length,
            }) => Some((
                along_first(at),
                Shape::Cylinder {
                    half_length: 0.5 * length,
                    radius: outer,
                },
            )),
            _ => {
                let message = format!("the body `{}` has no shape that contact knows", name.value);
                self.report(&name.span, message)
                    .label("not a box, a sphere, a cylinder or a mesh")
                    .help("give a shape of its own in `shapes`, on the node of the body");
                None
            }
        }
    }
}

impl MechanismDraft<'_> {
    fn draw(&mut self, at: Marker, shape: mechanism::Shape) {
        self.spec.sketch.bodies.push(Solid {
            node: at.node,
            centre: at.offset,
            orientation: at.orientation,
            shape: Some(shape),
        });
    }

    /// The edges around each face.
    pub(in crate::check::multibody) fn draw_mesh(&mut self, at: Marker, solid: &Polytope) {
        for face in solid.faces() {
            let mut corners: Vec<Vec3> = face.collect();
            corners.extend(corners.first().copied());
            self.draw_line(at, corners);
        }
    }

    /// The lines of the grid.
    fn draw_ground(&mut self, at: Marker, ground: &HeightField) {
        let [width, depth] = ground.counts();
        for j in 0..depth {
            self.draw_line(at, (0..width).map(|i| ground.point(i, j)));
        }
        for i in 0..width {
            self.draw_line(at, (0..depth).map(|j| ground.point(i, j)));
        }
    }

    /// A line through points of a frame.
    fn draw_line(&mut self, at: Marker, points: impl IntoIterator<Item = Vec3>) {
        let place = |local: Vec3| Marker {
            offset: at.offset + at.orientation.rotate(local),
            ..at
        };
        let line = points.into_iter().map(place).collect();
        self.spec.sketch.outlines.push(Outline::Profile(line));
    }

    /// Rims and edges: what is inside stays visible.
    fn draw_can(&mut self, at: Marker, can: &Can) {
        let point = |angle: f64, height: f64| {
            Vec3::new(angle.cos(), angle.sin(), 0.0) * can.radius() + Vec3::Z * height
        };
        let height = can.height().unwrap_or(2.0 * can.radius());
        let angle = |i: usize| std::f64::consts::TAU * i as f64 / CORNERS as f64;
        for level in [0.0, height] {
            self.draw_line(at, (0..=CORNERS).map(|i| point(angle(i), level)));
        }
        for i in [0, CORNERS / 4, CORNERS / 2, 3 * CORNERS / 4] {
            self.draw_line(at, [0.0, height].map(|level| point(angle(i), level)));
        }
    }
}

fn cuboid(sides: [f64; 3]) -> Shape {
    let [a, b, c] = sides.map(|side| 0.5 * side);
    Shape::Box {
        half: Vec3::new(a, b, c),
    }
}

fn tube(radius: f64, length: f64) -> mechanism::Shape {
    mechanism::Shape::Tube {
        outer: radius,
        inner: 0.0,
        length,
    }
}

/// Contact has long shapes along the third axis, bodies have them along the first.
fn along_first(at: Marker) -> Marker {
    let third = Marker::on(at.node).axis(Vec3::X).orientation;
    at.oriented(at.orientation.times(third))
}
