//! Mass and inertia of shapes.

use oldham_mesh::enclosed_at_scale;
use oldham_space::{Mat3, Vec3};

use crate::inertia::about_point;
use crate::machine::{Body, Form, Solid};
use crate::meshes::Meshes;
use crate::pose::Pose;

/// A surface that is open by more encloses nothing.
const MOST_OPEN: f64 = 0.05;

/// Volume, centre, and inertia about that at a density of one; all in the axes of the shape. Nothing for what has no volume.
pub(crate) fn volume(form: &Form, meshes: &Meshes) -> Option<(f64, Vec3, Mat3)> {
    use std::f64::consts::PI;
    let centred = |volume: f64, moments: [f64; 3]| {
        let [x, y, z] = moments.map(|moment| moment * volume);
        Some((volume, Vec3::ZERO, Mat3::diagonal(x, y, z)))
    };
    match form {
        Form::Box([a, b, c]) => {
            let [a2, b2, c2] = [a * a, b * b, c * c];
            centred(a * b * c, [b2 + c2, a2 + c2, a2 + b2].map(|sum| sum / 12.0))
        }
        Form::Sphere(radius) => {
            let moment = 0.4 * radius * radius;
            centred(4.0 / 3.0 * PI * radius.powi(3), [moment; 3])
        }
        Form::Ellipsoid([a, b, c]) => {
            let [a2, b2, c2] = [a * a, b * b, c * c];
            centred(
                4.0 / 3.0 * PI * a * b * c,
                [b2 + c2, a2 + c2, a2 + b2].map(|sum| sum / 5.0),
            )
        }
        Form::Cylinder(radius, length) => {
            let r2 = radius * radius;
            let across = r2 / 4.0 + length * length / 12.0;
            centred(PI * r2 * length, [across, across, r2 / 2.0])
        }
        Form::Capsule(radius, length) => {
            let r2 = radius * radius;
            let (barrel, ball) = (PI * r2 * length, 4.0 / 3.0 * PI * r2 * radius);
            // Two half balls, whose centres are 3/8 r beyond the ends of the barrel.
            let across = barrel * (r2 / 4.0 + length * length / 12.0)
                + ball * (0.4 * r2 + length * length / 4.0 + 0.375 * length * radius);
            let along = barrel * r2 / 2.0 + ball * 0.4 * r2;
            let inertia = Mat3::diagonal(across, across, along);
            Some((barrel + ball, Vec3::ZERO, inertia))
        }
        Form::Mesh(number, scale) => {
            let found = enclosed_at_scale(meshes.mesh(*number), *scale)?;
            (found.opening <= MOST_OPEN).then_some((found.volume, found.centre, found.inertia))
        }
        Form::Plane | Form::Points(_) => None,
    }
}

/// The body of a shape at a density, or of a mass.
pub(crate) fn body(solid: &Solid, name: String, by: Amount, meshes: &Meshes) -> Option<Body> {
    let (volume, centre, inertia) = volume(&solid.form, meshes)?;
    let (mass, density) = match by {
        Amount::Density(density) => (density * volume, density),
        Amount::Mass(mass) => (mass, mass / volume),
    };
    let axes = solid.at.axes;
    Some(Body {
        name,
        mass,
        centre: solid.at.point(centre),
        inertia: symmetric(axes * inertia * axes.transpose() * density),
    })
}

/// How much of it there is.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Amount {
    Density(f64),
    Mass(f64),
}

/// Several bodies as one.
pub(crate) fn together(name: String, bodies: &[Body]) -> Option<Body> {
    let mass: f64 = bodies.iter().map(|body| body.mass).sum();
    if mass.is_nan() || mass <= 0.0 {
        return None;
    }
    let first = bodies
        .iter()
        .fold(Vec3::ZERO, |sum, body| sum + body.centre * body.mass);
    let centre = first * (1.0 / mass);
    let inertia = bodies.iter().fold(Mat3::ZERO, |sum, body| {
        sum + body.inertia + about_point(body.mass, body.centre - centre)
    });
    Some(Body {
        name,
        mass,
        centre,
        inertia: symmetric(inertia),
    })
}

/// A body in the axes of something that carries it.
pub(crate) fn carried(body: &Body, at: &Pose) -> Body {
    Body {
        centre: at.point(body.centre),
        inertia: symmetric(at.axes * body.inertia * at.axes.transpose()),
        ..body.clone()
    }
}

fn symmetric(matrix: Mat3) -> Mat3 {
    (matrix + matrix.transpose()) * 0.5
}
