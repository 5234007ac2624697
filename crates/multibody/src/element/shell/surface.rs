//! Surfaces as functions of two parameters from 0 to 1, for meshes.

use oldham_space::Vec3;

/// A rectangle from a corner along two sides.
pub fn rectangle(corner: Vec3, first: Vec3, second: Vec3) -> impl Fn(f64, f64) -> Vec3 {
    move |u, v| corner + first * u + second * v
}

/// A cylinder about the third axis: the first parameter goes around through `angle` radians, the
/// second up to `height`. The normal points outwards.
pub fn cylinder(radius: f64, height: f64, angle: f64) -> impl Fn(f64, f64) -> Vec3 {
    move |u, v| {
        let (sin, cos) = (u * angle).sin_cos();
        Vec3::new(radius * cos, radius * sin, height * v)
    }
}

/// A flat ring about the third axis: the first parameter goes from the inner to the outer radius,
/// the second around through `angle` radians. The normal is the third axis.
pub fn annulus(inner: f64, outer: f64, angle: f64) -> impl Fn(f64, f64) -> Vec3 {
    move |u, v| {
        let radius = inner + (outer - inner) * u;
        let (sin, cos) = (v * angle).sin_cos();
        Vec3::new(radius * cos, radius * sin, 0.0)
    }
}
