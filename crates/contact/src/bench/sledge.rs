//! One body on many feet that slides.

use oldham_space::Vec3;

use crate::coulomb::Coulomb;
use crate::error::ContactError;
use crate::scene::{Body, Options, Scene};
use crate::shape::{Pose, Shape};
use crate::touch::Surface;

use super::piles::{PILE_STEP, PILE_TOLERANCE, PileFigures};

/// Feet on a circle of 0.3 m, at 5 m/s on a plane, for a number of steps.
pub fn sledge(
    feet: usize,
    steps: usize,
    clock: &dyn Fn() -> f64,
) -> Result<PileFigures, ContactError> {
    let mut scene = Scene::new(Options::default(), Coulomb::new(PILE_TOLERANCE, 20_000));
    let rough = scene.add_surface(Surface::rough(0.3))?;
    scene.add_body(Body::prescribed(Vec3::ZERO), Shape::Plane, rough)?;
    let body = Body {
        velocity: Vec3::X * 5.0,
        ..Body::free(10.0, Vec3::new(1.0, 1.0, 2.0), Vec3::Z * 0.05)
    };
    let radius = 0.01;
    let shapes = (0..feet).map(|k| {
        let angle = std::f64::consts::TAU * k as f64 / feet as f64;
        let at = Vec3::new(0.3 * angle.cos(), 0.3 * angle.sin(), -0.04);
        (Shape::Sphere { radius }, Pose::at(at), rough)
    });
    scene.add_compound(body, shapes)?;
    scene.start()?;
    let mut figures = PileFigures::default();
    for step in 0..steps {
        let begin = clock();
        let report = scene.step(step as f64 * PILE_STEP, PILE_STEP)?;
        figures.add(&(report, clock() - begin));
    }
    figures.finish();
    Ok(figures)
}
