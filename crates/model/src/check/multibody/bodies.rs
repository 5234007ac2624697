//! Rigid bodies, by mass and inertia or by shape.

use oldham_multibody::{Body, Mat3, Model, Motion, Quaternion};

use super::MechanismDraft;
use crate::check::Checker;
use crate::format::multibody::{self, Multibody};
use crate::format::{At, Entry};
use crate::mechanism::{MeshFile, Shape, Solid, solid_inertia};

impl Checker<'_> {
    pub(super) fn bodies<'f>(&mut self, section: &'f Multibody, draft: &mut MechanismDraft<'f>) {
        for entry in &section.bodies {
            self.name(&entry.name, "a body");
            let given = &entry.value.value;
            let node = given.node.as_ref();
            let node = node.and_then(|node| self.moving_node_named(node, draft));
            let orientation = match &given.orientation {
                Some(orientation) => self.orientation(orientation),
                None => Some(Quaternion::IDENTITY),
            };
            let shape = given.shape.as_ref().map(|shape| self.solid(shape));
            let scale = self.number_or(&given.mesh_scale, 1.0);
            let body = self.body(entry, shape.flatten(), orientation);
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
                sketch.bodies.push(Solid {
                    node,
                    centre: body.centre,
                    orientation,
                    shape: shape.flatten(),
                });
            }
        }
    }

    fn body(
        &mut self,
        entry: &Entry<multibody::Body>,
        shape: Option<Shape>,
        orientation: Option<Quaternion>,
    ) -> Option<Body> {
        let given = &entry.value.value;
        let centre = self.vector_or_zero(&given.centre);
        let (volume, per_mass) = match &shape {
            Some(shape) => solid_inertia(shape),
            None => (None, Mat3::ZERO),
        };
        let mass = self.mass(entry, shape.as_ref(), volume);
        let inertia = match (&given.inertia, &given.shape) {
            (Some(inertia), None) => self.inertia(inertia),
            (None, None) => Some(Mat3::ZERO),
            (None, Some(_)) => mass.map(|mass| per_mass * mass),
            (Some(inertia), Some(_)) => {
                let message = "a shape gives the inertia: leave one of them out";
                self.report(&inertia.span, message).label("one too many");
                None
            }
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
            let place = given
                .inertia
                .as_ref()
                .map_or(&entry.value.span, |at| &at.span);
            self.report(place, message);
        }
        Some(body)
    }

    fn mass(
        &mut self,
        entry: &Entry<multibody::Body>,
        shape: Option<&Shape>,
        volume: Option<f64>,
    ) -> Option<f64> {
        let given = &entry.value.value;
        match (&given.mass, &given.density) {
            (Some(mass), None) => self.number(mass),
            (None, Some(density)) => {
                let density = (density, self.number(density));
                let unreadable = given.shape.is_some() && shape.is_none();
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
            (Some(_), Some(density)) => {
                let message = "`mass` and `density` say the same thing: give one of them";
                self.report(&density.span, message).label("one too many");
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

    fn solid(&mut self, given: &At<multibody::Solid>) -> Option<Shape> {
        let solid = &given.value;
        let kinds = [
            solid.cuboid.is_some(),
            solid.sphere.is_some(),
            solid.cylinder.is_some(),
            solid.tube.is_some(),
            solid.rod.is_some(),
        ];
        let count = kinds.into_iter().filter(|&kind| kind).count();
        if count != 1 {
            let message = format!("the shape is {count} things; it must be one");
            self.report_missing(&given.span, message)
                .help("one of `box`, `sphere`, `cylinder`, `tube`, `rod`");
            return None;
        }
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

/// Whether a body can exist.
fn is_physical(body: Body) -> bool {
    let mut model = Model::new();
    let node = model.node("node", Motion::default());
    model.body(node, body);
    model.check().is_ok()
}
