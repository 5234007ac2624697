//! What a closed surface encloses.

use oldham_space::{Mat3, Vec3};

use crate::Mesh;

/// Volume, centre and inertia of what a surface encloses.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Enclosed {
    /// Volume in m³.
    pub volume: f64,
    /// Centre of the volume in m.
    pub centre: Vec3,
    /// Inertia tensor about the centre at a density of 1 kg/m³.
    pub inertia: Mat3,
    /// How far the surface is from closed: the sum of its areas as vectors, over that of their sizes.
    pub opening: f64,
}

/// By the theorem of Gauss: a sum over the tetrahedra between the triangles and a point near them. Nothing where no volume is
/// enclosed. A surface whose triangles are all turned over counts as if they were not.
pub fn enclosed(mesh: &Mesh) -> Option<Enclosed> {
    enclosed_at_scale(mesh, [1.0; 3])
}

/// The same with every point multiplied by a factor along each axis. A mesh that is [scaled](Mesh::scaled) first has its points
/// rounded to single precision.
pub fn enclosed_at_scale(mesh: &Mesh, factors: [f64; 3]) -> Option<Enclosed> {
    let point = |place: u32| {
        let point = mesh.points[place as usize];
        let [x, y, z] = [0, 1, 2].map(|i| f64::from(point[i]) * factors[i]);
        Vec3::new(x, y, z)
    };
    let origin = point(mesh.triangles.first()?[0]);
    let (mut volume, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
    let (mut area, mut areas) = (Vec3::ZERO, 0.0);
    for corners in &mesh.triangles {
        let [a, b, c] = corners.map(|corner| point(corner) - origin);
        let six = a.dot(b.cross(c));
        volume += six / 6.0;
        first += (a + b + c) * (six / 24.0);
        let sum = a + b + c;
        let outer = a.outer(a) + b.outer(b) + c.outer(c) + sum.outer(sum);
        second += outer * (six / 120.0);
        let normal = (b - a).cross(c - a) * 0.5;
        area += normal;
        areas += normal.norm();
    }
    if volume < 0.0 {
        (volume, first, second) = (-volume, first * -1.0, second * -1.0);
    }
    let size = mesh.extent() * factors.into_iter().map(f64::abs).fold(0.0, f64::max);
    if volume.is_nan() || volume <= 1e-12 * size.powi(3) {
        return None;
    }
    let centre = first * (1.0 / volume);
    let second = second - centre.outer(centre) * volume;
    let trace = second.0[0][0] + second.0[1][1] + second.0[2][2];
    let inertia = Mat3::IDENTITY * trace - second;
    Some(Enclosed {
        volume,
        centre: centre + origin,
        inertia: (inertia + inertia.transpose()) * 0.5,
        opening: area.norm() / areas,
    })
}
