//! A few points whose convex hull stands for that of a mesh.

use oldham_space::Vec3;

use crate::Mesh;

/// Points of a convex part.
pub const MOST_POINTS: usize = 64;

/// The points of a mesh that lie farthest along directions spread over the sphere: their hull lies within that of the mesh. At most
/// [`MOST_POINTS`].
pub fn extreme_points(mesh: &Mesh) -> Vec<Vec3> {
    let points: Vec<Vec3> = mesh
        .points
        .iter()
        .map(|point| {
            let [x, y, z] = point.map(f64::from);
            Vec3::new(x, y, z)
        })
        .collect();
    let mut chosen: Vec<usize> = Vec::new();
    let mut add = |direction: Vec3| {
        let farthest = (0..points.len()).max_by(|&a, &b| {
            points[a]
                .dot(direction)
                .total_cmp(&points[b].dot(direction))
        });
        if let Some(place) = farthest
            && !chosen.contains(&place)
            && chosen.len() < MOST_POINTS
        {
            chosen.push(place);
        }
    };
    // The axes and the corners first: a box is found whole.
    for x in [-1.0, 0.0, 1.0] {
        for y in [-1.0, 0.0, 1.0] {
            for z in [-1.0, 0.0, 1.0] {
                add(Vec3::new(x, y, z));
            }
        }
    }
    // Then a spiral over the sphere.
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    let count = 4 * MOST_POINTS;
    for i in 0..count {
        let z = 1.0 - (2.0 * i as f64 + 1.0) / count as f64;
        let (sin, cos) = (golden * i as f64).sin_cos();
        let radius = (1.0 - z * z).sqrt();
        add(Vec3::new(radius * cos, radius * sin, z));
    }
    chosen.sort_unstable();
    chosen.into_iter().map(|place| points[place]).collect()
}
