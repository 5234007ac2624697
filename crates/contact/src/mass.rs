//! Volume, centre and inertia of a convex solid: the sum of the tetrahedra between its faces and a point, each with the sign of its volume.

use oldham_space::{Mat3, Vec3};

use crate::polytope::Polytope;

/// What a homogeneous solid of density one weighs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MassProperties {
    /// Volume in m³.
    pub volume: f64,
    /// Centre of mass.
    pub centre: Vec3,
    /// Inertia about the centre for density one, in m⁵.
    pub inertia: Mat3,
}

impl Polytope {
    /// Its mass properties.
    pub fn mass_properties(&self) -> MassProperties {
        // From a corner: far from the origin nothing is lost by cancellation.
        let origin = self.vertices()[0];
        let (mut volume, mut first) = (0.0, Vec3::ZERO);
        let mut second = Mat3::ZERO;
        for mut face in self.faces() {
            let mut corner = || face.next().map(|v| v - origin);
            let (Some(a), Some(mut b)) = (corner(), corner()) else {
                continue;
            };
            while let Some(c) = corner() {
                let part = a.dot(b.cross(c)) / 6.0;
                let sum = a + b + c;
                volume += part;
                first += sum * (part / 4.0);
                // ∫ x xᵀ over a tetrahedron with one corner at the origin.
                let squares = a.outer(a) + b.outer(b) + c.outer(c) + sum.outer(sum);
                second += squares * (part / 20.0);
                b = c;
            }
        }
        let centre = first * (1.0 / volume);
        let about = second + centre.outer(centre) * -volume;
        let trace = about.0[0][0] + about.0[1][1] + about.0[2][2];
        MassProperties {
            volume,
            centre: origin + centre,
            inertia: Mat3::scaled_identity(trace) - about,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use oldham_space::Quaternion;

    fn assert_near(found: &Mat3, expected: &Mat3, size: f64) {
        for i in 0..3 {
            for j in 0..3 {
                let (f, e) = (found.0[i][j], expected.0[i][j]);
                assert!((f - e).abs() < 1e-12 * size, "{found:?} {expected:?}");
            }
        }
    }

    /// A solid, moved and turned, against closed forms about its centre: volume, centre and principal moments.
    fn check(points: &[Vec3], volume: f64, centre: Vec3, moments: [f64; 3]) {
        let turn = Quaternion::exp(Vec3::new(0.3, -0.7, 0.4));
        let shift = Vec3::new(5.0, -3.0, 2.0);
        let moved: Vec<Vec3> = points.iter().map(|p| turn.rotate(*p) + shift).collect();
        let found = Polytope::hull(&moved).unwrap().mass_properties();
        assert!((found.volume - volume).abs() < 1e-12 * volume);
        assert!((found.centre - turn.rotate(centre) - shift).norm() < 1e-12);
        let axes = turn.matrix();
        let [x, y, z] = moments;
        let expected = axes * Mat3::diagonal(x, y, z) * axes.transpose();
        assert_near(&found.inertia, &expected, x + y + z);
    }

    #[test]
    fn a_regular_tetrahedron() {
        // Corners of a cube of edge 2a: edges of 2√2 a, volume 8a³/3, moments m e²/20 for an edge e.
        let a = 0.3;
        let corners = [
            Vec3::new(a, a, a),
            Vec3::new(a, -a, -a),
            Vec3::new(-a, a, -a),
            Vec3::new(-a, -a, a),
        ];
        let volume = 8.0 * a * a * a / 3.0;
        let moment = volume * 8.0 * a * a / 20.0;
        check(&corners, volume, Vec3::ZERO, [moment; 3]);
    }

    #[test]
    fn a_cuboid() {
        let [a, b, c] = [0.4, 0.6, 1.0];
        let corners: Vec<Vec3> = (0..8)
            .map(|i| {
                Vec3::new(
                    (i & 1) as f64 * a,
                    (i >> 1 & 1) as f64 * b,
                    (i >> 2) as f64 * c,
                )
            })
            .collect();
        let volume: f64 = a * b * c;
        let moments = [b * b + c * c, a * a + c * c, a * a + b * b].map(|s| volume * s / 12.0);
        check(&corners, volume, Vec3::new(a, b, c) * 0.5, moments);
    }

    #[test]
    fn a_hexagonal_prism() {
        // Side s, height l: area 3√3/2 s²; 5/12 m s² about the axis, half of it and m l²/12 across.
        let (s, l) = (0.2_f64, 0.7_f64);
        let corners: Vec<Vec3> = (0..12)
            .map(|i| {
                let angle = std::f64::consts::FRAC_PI_3 * (i % 6) as f64;
                let height = if i < 6 { 0.0 } else { l };
                Vec3::new(s * angle.cos(), s * angle.sin(), height)
            })
            .collect();
        let volume = 1.5 * 3.0_f64.sqrt() * s * s * l;
        let about = volume * 5.0 / 12.0 * s * s;
        let across = 0.5 * about + volume * l * l / 12.0;
        check(
            &corners,
            volume,
            Vec3::Z * (0.5 * l),
            [across, across, about],
        );
    }
}
