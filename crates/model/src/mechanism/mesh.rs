//! Beams along lines: where the nodes are, and what each carries.

use oldham_multibody::{LineInertia, Mat3, Quaternion, Vec3};

/// Chords between two nodes from which the length of a curve is measured.
const CHORDS: usize = 16;

/// A line in space, by a parameter from 0 to 1.
pub(crate) trait Curve: Fn(f64) -> Vec3 {}
impl<F: Fn(f64) -> Vec3> Curve for F {}

/// Places and axes along a line at equal distances.
#[derive(Debug)]
pub(crate) struct Mesh {
    /// Position and section axes of each node.
    pub nodes: Vec<(Vec3, Mat3)>,
    /// Length between two nodes.
    pub spacing: f64,
}

/// Why a line cannot be meshed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum MeshError {
    NoLength,
    NotFinite(f64),
    UpAlongTheLine,
}

impl Mesh {
    /// Divides a line into `intervals` of equal length.
    pub fn along(line: &dyn Curve, intervals: usize, up: Vec3) -> Result<Self, MeshError> {
        let pieces = CHORDS * intervals;
        let at = |i: usize| i as f64 / pieces as f64;
        let points: Vec<Vec3> = (0..=pieces).map(|i| line(at(i))).collect();
        if let Some(i) = points.iter().position(|p| !p.norm().is_finite()) {
            return Err(MeshError::NotFinite(at(i)));
        }
        let mut lengths = vec![0.0];
        for pair in points.windows(2) {
            let so_far = lengths[lengths.len() - 1];
            lengths.push(so_far + (pair[1] - pair[0]).norm());
        }
        let total = lengths[pieces];
        if !(total > 0.0 && total.is_finite()) {
            return Err(MeshError::NoLength);
        }
        let spacing = total / intervals as f64;
        let mut nodes = Vec::with_capacity(intervals + 1);
        for i in 0..=intervals {
            let (s, place) = if i == intervals {
                (1.0, points[pieces])
            } else {
                let s = parameter_at(&lengths, i as f64 * spacing) / pieces as f64;
                (s, line(s))
            };
            nodes.push((place, section_axes(tangent(line, s), up)?));
        }
        Ok(Self { nodes, spacing })
    }

    /// Length that belongs to a node: half way to its neighbours.
    pub fn share(&self, node: usize) -> f64 {
        let is_end = node == 0 || node + 1 == self.nodes.len();
        if is_end {
            0.5 * self.spacing
        } else {
            self.spacing
        }
    }

    /// Mass and inertia that a node carries, in the axes of `orientation`.
    pub fn lump(&self, node: usize, inertia: &LineInertia, orientation: Quaternion) -> (f64, Mat3) {
        let length = self.share(node);
        let [x, y, z] = inertia.rotary.map(|rotary| rotary * length);
        let axes = orientation.matrix().transpose() * self.nodes[node].1;
        let turned = axes * Mat3::diagonal(x, y, z) * axes.transpose();
        (inertia.mass * length, symmetric(turned))
    }
}

/// Takes the rounding of a rotated tensor away.
fn symmetric(m: Mat3) -> Mat3 {
    (m + m.transpose()) * 0.5
}

/// Where the length is reached, in chords.
fn parameter_at(lengths: &[f64], length: f64) -> f64 {
    let after = lengths.partition_point(|&reached| reached <= length);
    let after = after.clamp(1, lengths.len() - 1);
    let (before, next) = (lengths[after - 1], lengths[after]);
    let part = if next > before {
        (length - before) / (next - before)
    } else {
        0.0
    };
    (after - 1) as f64 + part
}

fn tangent(line: &dyn Curve, s: f64) -> Vec3 {
    const STEP: f64 = 1e-5;
    let inwards = if s < 0.5 { STEP } else { -STEP };
    let is_inside = (STEP..=1.0 - STEP).contains(&s);
    if is_inside {
        return (line(s + STEP) - line(s - STEP)).unit();
    }
    // At the ends, a one-sided difference of second order; the chord where the parameter rests.
    let chord = (line(s + inwards) - line(s)) * inwards.signum();
    let bent = (line(s + 2.0 * inwards) - line(s + inwards)) * inwards.signum();
    let slope = chord * 1.5 - bent * 0.5;
    if slope.norm() > 0.1 * chord.norm() {
        slope.unit()
    } else {
        chord.unit()
    }
}

/// First axis along the tangent, second towards `up`.
fn section_axes(tangent: Vec3, up: Vec3) -> Result<Mat3, MeshError> {
    let third = tangent.cross(up);
    // Catches a tangent that is no number as well.
    if third.norm() > 1e-6 * up.norm() {
        let third = third.unit();
        Ok(Mat3::from_columns(tangent, third.cross(tangent), third))
    } else {
        Err(MeshError::UpAlongTheLine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::PI;

    /// A quarter of a circle, with a parameter that is not its length.
    #[test]
    fn nodes_of_a_curve_are_equally_far_apart_and_look_along_it() {
        let arc = |s: f64| {
            let angle = 0.5 * PI * s * s;
            Vec3::new(angle.cos(), angle.sin(), 0.0) * 2.0
        };
        let mesh = Mesh::along(&arc, 8, Vec3::Z).unwrap();
        assert!((mesh.spacing * 8.0 - PI).abs() < 1e-3);
        for (i, (place, axes)) in mesh.nodes.iter().enumerate() {
            let angle = PI / 16.0 * i as f64;
            let radial = Vec3::new(angle.cos(), angle.sin(), 0.0);
            assert!((*place - radial * 2.0).norm() < 2e-3, "{i}");
            assert!(
                (axes.column(0) - Vec3::Z.cross(radial)).norm() < 2e-3,
                "{i}"
            );
            assert!((axes.column(1) - Vec3::Z).norm() < 1e-9, "{i}");
        }
    }

    #[test]
    fn lines_without_length_or_along_up_are_refused() {
        let point = |_: f64| Vec3::X;
        let line = |s: f64| Vec3::X * s;
        let broken = |s: f64| Vec3::X * (1.0 / (s - 0.5));
        let error = |line: &dyn Curve, up| Mesh::along(line, 4, up).unwrap_err();
        assert_eq!(error(&point, Vec3::Z), MeshError::NoLength);
        assert_eq!(error(&line, Vec3::X), MeshError::UpAlongTheLine);
        assert_eq!(error(&broken, Vec3::Z), MeshError::NotFinite(0.5));
    }
}
