//! Where a cable runs: straight stretches between pulleys, and arcs around them.
//!
//! A pulley of radius ρ, positive where the cable runs anticlockwise about its axis n, is left
//! at c + ρ t × n in the direction t. Between pulleys i and j with centres d apart the straight stretch
//! is therefore ℓ t = d + (ρ_j - ρ_i) t × n, so that ℓ² = d² - (ρ_j - ρ_i)². Lengths of stretches and arcs
//! add up to a length whose rate is the sum of t · d' over all stretches.

use super::MOST_POINTS;
use oldham_space::Vec3;
use std::f64::consts::{FRAC_PI_2, TAU};

/// A path around pulleys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path {
    /// Of each stretch: its direction and its length.
    pub directions: [Vec3; MOST_POINTS],
    pub lengths: [f64; MOST_POINTS],
    /// The angle about each point by which the cable turns there; negative where it has left the pulley.
    pub wraps: [f64; MOST_POINTS],
    /// With the arcs.
    pub length: f64,
}

impl Path {
    /// Around pulleys with these centres, axes and radii; a point has none. The cable lies in
    /// the plane across the axes.
    pub fn new(centres: &[Vec3], axes: &[Vec3], radii: &[f64]) -> Self {
        let mut path = Self {
            directions: [Vec3::ZERO; MOST_POINTS],
            lengths: [0.0; MOST_POINTS],
            wraps: [0.0; MOST_POINTS],
            length: 0.0,
        };
        for i in 1..centres.len() {
            let line = centres[i] - centres[i - 1];
            let grows = radii[i] - radii[i - 1];
            let square = line.dot(line);
            let length = (square - grows * grows).sqrt();
            let axis = if radii[i] == 0.0 {
                axes[i - 1]
            } else {
                axes[i]
            };
            let along = line * length + line.cross(axis) * grows;
            path.directions[i - 1] = along.unit();
            path.lengths[i - 1] = length;
            path.length += length;
        }
        for i in 1..centres.len().max(1) - 1 {
            let [before, after] = [path.directions[i - 1], path.directions[i]];
            let bend = before.cross(after);
            path.wraps[i] = match radii[i] == 0.0 {
                true => bend.norm().atan2(before.dot(after)),
                false => {
                    let turned = radii[i].signum() * axes[i].dot(bend);
                    let angle = turned.atan2(before.dot(after));
                    if angle < -FRAC_PI_2 {
                        angle + TAU
                    } else {
                        angle
                    }
                }
            };
            path.length += radii[i].abs() * path.wraps[i];
        }
        path
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// Over one pulley with both ends hanging, around half of a second one, and an open belt between
    /// two: lengths and angles from elementary geometry.
    #[test]
    fn lengths_around_pulleys() {
        let (axis, zero) = ([-Vec3::Y; 4], Vec3::ZERO);
        let down = Vec3::Z * -2.0;
        let ends = [down - Vec3::X * 0.3, zero, down + Vec3::X * 0.3];
        // From left to right over the top is clockwise about -y seen from -y: x turns to z about -y.
        let over = Path::new(&ends, &axis[..3], &[0.0, -0.3, 0.0]);
        assert!((over.wraps[1] - PI).abs() < 1e-14);
        assert!((over.length - (4.0 + 0.3 * PI)).abs() < 1e-14);
        assert!((over.directions[0] - Vec3::Z).norm() < 1e-14);
        // From a point up to a pulley, across to a smaller one on the same side, and down.
        let (r, q, d) = (0.3, 0.2, 1.5);
        let places = [
            down - Vec3::X * r,
            zero,
            Vec3::X * d,
            Vec3::X * (d + q) + down,
        ];
        let two = Path::new(&places, &axis, &[0.0, -r, -q, 0.0]);
        let slope = ((r - q) / d).asin();
        let [first, second] = [FRAC_PI_2 + slope, FRAC_PI_2 - slope];
        assert!((two.wraps[1] - first).abs() < 1e-14, "{:?}", two.wraps);
        assert!((two.wraps[2] - second).abs() < 1e-14, "{:?}", two.wraps);
        let expected = 4.0 + d * slope.cos() + r * first + q * second;
        assert!((two.length - expected).abs() < 1e-14);
        // Crossed: around the second one the other way, so that the cable leaves upwards.
        let places = [
            down - Vec3::X * r,
            zero,
            Vec3::X * d,
            Vec3::X * (d + q) - down,
        ];
        let crossed = Path::new(&places, &axis, &[0.0, -r, q, 0.0]);
        let slope = ((r + q) / d).asin();
        assert!((crossed.lengths[1] - d * slope.cos()).abs() < 1e-14);
        for wrap in &crossed.wraps[1..3] {
            assert!((wrap - FRAC_PI_2 - slope).abs() < 1e-14, "{wrap}");
        }
    }

    /// Where a pulley moves, the length changes as the directions say.
    #[test]
    fn directions_are_the_gradient_of_the_length() {
        let axes = [Vec3::Y; 5];
        let radii = [0.0, 0.2, -0.3, 0.15, 0.0];
        let places = [[0.0, 0.0], [1.0, 1.2], [2.2, -0.3], [3.0, 1.0], [4.5, 0.2]];
        let places = places.map(|[x, z]| Vec3::new(x, 0.0, z));
        let path = Path::new(&places, &axes, &radii);
        for moved in 0..5 {
            for direction in [Vec3::X, Vec3::Z] {
                let length = |by: f64| {
                    let mut places = places;
                    places[moved] += direction * by;
                    Path::new(&places, &axes, &radii).length
                };
                let step = 1e-6;
                let rate = (length(step) - length(-step)) / (2.0 * step);
                let mut expected = 0.0;
                if moved > 0 {
                    expected += path.directions[moved - 1].dot(direction);
                }
                if moved < 4 {
                    expected -= path.directions[moved].dot(direction);
                }
                assert!((rate - expected).abs() < 1e-8, "{moved}: {rate} {expected}");
            }
        }
    }
}
