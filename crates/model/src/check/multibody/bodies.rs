//! Rigid bodies, by mass and inertia or by shape.

use std::sync::Arc;

use oldham_multibody::contact::Polytope;
use oldham_multibody::{Body, Marker, Mat3, Model, Motion, Quaternion, Vec3};

use super::MechanismDraft;
use crate::check::Checker;
use crate::check::keys::read;
use crate::format::multibody::{self, Multibody};
use crate::format::{At, Entry, place};
use crate::mechanism::{MeshFile, Pose, Shape, Solid, solid_inertia};

impl Checker<'_> {
    pub(super) fn bodies<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.bodies {
            self.name(&entry.name, "a body");
            let given = &entry.value.value;
            let node = read(&given.node, |node| self.moving_node_named(node, draft));
            let orientation = self.orientation_in(&Pose::ABSOLUTE, &given.orientation);
            let solid = read(&given.shape, |shape| self.solid(shape));
            let scale = self.number_or(&given.mesh_scale, 1.0);
            let body = self.body(entry, solid.as_ref(), orientation);
            draft.lost_elements |= node.is_none() || body.is_none() || orientation.is_none();
            if let (Some(node), Some(body), Some(orientation)) = (node, body, orientation) {
                draft.spec.whole.model.body(node, body);
                let sketch = &mut draft.spec.sketch;
                if let (Some(mesh), Some(scale)) = (&given.mesh, scale) {
                    sketch.meshes.push(MeshFile {
                        body: sketch.bodies.len(),
                        path: mesh.value.clone(),
                        scale,
                    });
                }
                let drawn = Solid {
                    node,
                    centre: body.centre,
                    orientation,
                    shape: solid.as_ref().and_then(|solid| solid.drawn),
                };
                let place = sketch.bodies.len();
                sketch.bodies.push(drawn);
                if let Some(hull) = solid.and_then(|solid| solid.hull) {
                    let at = Marker::on(node).offset(body.centre).oriented(orientation);
                    draft.draw_mesh(at, &hull);
                    draft.hulls.insert(place, Arc::new(hull));
                }
            }
        }
    }

    fn body(
        &mut self,
        entry: &Entry<multibody::Body>,
        solid: Option<&Homogeneous>,
        orientation: Option<Quaternion>,
    ) -> Option<Body> {
        let given = &entry.value.value;
        let centre = match solid.filter(|solid| solid.hull.is_some()) {
            Some(solid) => self.centre_of_hull(given, solid, orientation),
            None => self.vector_or_zero(&given.centre),
        };
        let mass = self.mass(entry, solid);
        let inertia = match (&given.inertia, &given.shape) {
            (Some(inertia), _) => self.inertia(inertia),
            (None, None) => Some(Mat3::ZERO),
            (None, Some(_)) => mass.and_then(|mass| Some(solid?.per_mass * mass)),
        };
        let axes = orientation?.matrix();
        let turned = axes * inertia? * axes.transpose();
        let body = Body {
            mass: mass?,
            centre: centre?,
            inertia: (turned + turned.transpose()) * 0.5,
        };
        if !is_physical(body) {
            let message = "no body has such an inertia: the largest principal moment is at most the sum of the others, and none is negative";
            let place = place(&given.inertia).unwrap_or(&entry.value.span);
            self.report(place, message).help(
                "a rotor whose inertia about its axis alone is known has at least half of it across; what a joint feels of one behind \
                 a gear is the key `reflected_inertia` of the joint",
            );
        }
        Some(body)
    }

    /// The centre of mass of a hull, whose points are relative to the node.
    fn centre_of_hull(
        &mut self,
        given: &multibody::Body,
        solid: &Homogeneous,
        orientation: Option<Quaternion>,
    ) -> Option<Vec3> {
        if let Some(centre) = &given.centre {
            let message = "a mesh has its own centre of mass, where its points put it";
            self.report(&centre.span, message).label("one too many");
        }
        Some(orientation?.rotate(solid.centre))
    }

    fn mass(&mut self, entry: &Entry<multibody::Body>, solid: Option<&Homogeneous>) -> Option<f64> {
        let given = &entry.value.value;
        self.not_both(("mass", &given.mass), ("density", &given.density))?;
        let volume = solid.and_then(|solid| solid.volume);
        match (&given.mass, &given.density) {
            (Some(mass), _) => self.number(mass),
            (None, Some(density)) => {
                let density = (density, self.number(density));
                let unreadable = given.shape.is_some() && solid.is_none();
                if volume.is_none() && !unreadable && !self.findings.is_damaged(&entry.value.span) {
                    let message = "a density needs a shape with a volume";
                    self.report(&density.0.span, message)
                        .help("give `mass` instead");
                }
                Some(density.1? * volume?)
            }
            (None, None) => {
                let message = format!("the body `{}` has no mass", entry.name.value);
                self.report_missing(&entry.value.span, message)
                    .help("give `mass`, or `density` and `shape`");
                None
            }
        }
    }

    fn inertia(&mut self, given: &At<multibody::Vector>) -> Option<Mat3> {
        if given.value.len() == 3 {
            let [x, y, z] = self.numbers(given, "three principal moments")?;
            return Some(Mat3::diagonal(x, y, z));
        }
        let what = "three principal moments, or the six entries xx, yy, zz, xy, xz, yz";
        let [xx, yy, zz, xy, xz, yz] = self.numbers(given, what)?;
        let mut inertia = Mat3::diagonal(xx, yy, zz);
        for (i, j, value) in [(0, 1, xy), (0, 2, xz), (1, 2, yz)] {
            inertia.0[i][j] = value;
            inertia.0[j][i] = value;
        }
        Some(inertia)
    }

    fn solid(&mut self, given: &At<multibody::Solid>) -> Option<Homogeneous> {
        let solid = &given.value;
        let kinds = [
            ("box", solid.cuboid.is_some()),
            ("sphere", solid.sphere.is_some()),
            ("cylinder", solid.cylinder.is_some()),
            ("tube", solid.tube.is_some()),
            ("rod", solid.rod.is_some()),
            ("mesh", solid.mesh.is_some()),
        ];
        self.one_way(&given.span, &kinds, ["the shape is", "things"])?;
        if let Some(points) = &solid.mesh {
            return Some(Homogeneous::of_hull(self.hull(points)?));
        }
        Some(Homogeneous::of_shape(self.plain_shape(solid)?))
    }

    fn plain_shape(&mut self, solid: &multibody::Solid) -> Option<Shape> {
        if let Some(sides) = &solid.cuboid {
            return Some(Shape::Box(self.numbers(sides, "the lengths of a box")?));
        }
        if let Some(radius) = &solid.sphere {
            return Some(Shape::Sphere(self.number(radius)?));
        }
        if let Some(list) = &solid.cylinder {
            let [outer, length] = self.numbers(list, "radius and length")?;
            return Some(Shape::Tube {
                outer,
                inner: 0.0,
                length,
            });
        }
        if let Some(list) = &solid.tube {
            let [outer, inner, length] = self.radii(list, "outer radius, inner radius, length")?;
            return Some(Shape::Tube {
                outer,
                inner,
                length,
            });
        }
        Some(Shape::Rod(self.required(&solid.rod)?))
    }
}

/// What a body is made of, at the density that its mass has.
struct Homogeneous {
    /// Nothing for a thin rod.
    volume: Option<f64>,
    /// About the centre of mass.
    per_mass: Mat3,
    centre: Vec3,
    drawn: Option<Shape>,
    /// About the centre of mass.
    hull: Option<Polytope>,
}

impl Homogeneous {
    fn of_shape(shape: Shape) -> Self {
        let (volume, per_mass) = solid_inertia(&shape);
        Self {
            volume,
            per_mass,
            centre: Vec3::ZERO,
            drawn: Some(shape),
            hull: None,
        }
    }

    fn of_hull(hull: Polytope) -> Self {
        let found = hull.mass_properties();
        Self {
            volume: Some(found.volume),
            per_mass: found.inertia * (1.0 / found.volume),
            centre: found.centre,
            drawn: None,
            hull: Some(hull.moved(-found.centre)),
        }
    }
}

/// Whether a body can exist.
fn is_physical(body: Body) -> bool {
    let mut model = Model::new();
    let node = model.node("node", Motion::default());
    model.body(node, body);
    model.check().is_ok()
}
