//! The mass of an element, given to its nodes: each carries its quarter as a rigid body.

use super::section::SurfaceInertia;
use crate::body::Body;
use oldham_space::{Mat3, Vec3};

const GAUSS: f64 = 0.577_350_269_189_625_8;

/// The quarter at the first of four corners, all given relative to that node and in its axes.
pub(super) fn quarter([a, b, c, d]: [Vec3; 4], inertia: SurfaceInertia) -> Body {
    let samples: [(Vec3, Vec3); 4] = std::array::from_fn(|i| {
        let at = |bit: usize| {
            let sign = if i & bit == 0 { -GAUSS } else { GAUSS };
            0.25 * (1.0 + sign)
        };
        let (u, v) = (at(1), at(2));
        let place =
            a * ((1.0 - u) * (1.0 - v)) + b * (u * (1.0 - v)) + c * (u * v) + d * ((1.0 - u) * v);
        let by_u = (b - a) * (1.0 - v) + (c - d) * v;
        let by_v = (d - a) * (1.0 - u) + (c - b) * u;
        // Each sample stands for a sixteenth of the unit square.
        (place, by_u.cross(by_v) * 0.0625)
    });
    let (mut area, mut first) = (0.0, Vec3::ZERO);
    for (place, normal) in samples {
        area += normal.norm();
        first += place * normal.norm();
    }
    let centre = first * (1.0 / area);
    let mut about_centre = Mat3::ZERO;
    for (place, normal) in samples {
        let (weight, unit, arm) = (normal.norm(), normal.unit(), place - centre);
        let spread = Mat3::IDENTITY * arm.dot(arm) - arm.outer(arm);
        let thick = Mat3::IDENTITY - unit.outer(unit);
        about_centre += (spread * inertia.mass + thick * inertia.rotary) * weight;
    }
    Body::centred(area * inertia.mass, about_centre).with_centre(centre)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quarter_of_a_rectangle_is_a_rectangular_plate() {
        let (a, b, thickness, density) = (0.8, 0.4, 0.02, 1200.0);
        let corners = [Vec3::ZERO, Vec3::X * a, Vec3::new(a, b, 0.0), Vec3::Y * b];
        let body = quarter(corners, SurfaceInertia::uniform(density, thickness));
        let mass = density * thickness * a * b / 4.0;
        assert!((body.mass - mass).abs() < 1e-12 * mass);
        assert!((body.centre - Vec3::new(a / 4.0, b / 4.0, 0.0)).norm() < 1e-15);
        let plate = |p: f64, q: f64| mass / 12.0 * (p * p + q * q);
        let expected = [
            plate(b / 2.0, thickness),
            plate(a / 2.0, thickness),
            plate(a / 2.0, b / 2.0),
        ];
        for (i, j) in expected.into_iter().enumerate() {
            assert!((body.inertia.0[i][i] / j - 1.0).abs() < 1e-12);
        }
    }
}
