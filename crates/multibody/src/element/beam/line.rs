//! Beams along lines: where the nodes are, and what each carries.

use super::{LineInertia, LineSample, Lumping};
use crate::body::Body;
use oldham_space::Quaternion;
use oldham_space::{Mat3, Vec3};

/// A line in space, by a parameter from 0 to 1.
pub trait Curve: Fn(f64) -> Vec3 {}
impl<F: Fn(f64) -> Vec3> Curve for F {}

/// Places and axes along a line at equal distances.
#[derive(Debug)]
pub struct LineMesh {
    /// Position and section axes of each node.
    pub nodes: Vec<(Vec3, Mat3)>,
    /// Length between two nodes.
    pub spacing: f64,
    /// Pieces of the line that belong to each node, in absolute axes and places.
    segments: Vec<Vec<LineSample>>,
}

/// Why a line cannot be meshed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum MeshError {
    /// It has no length.
    NoLength,
    /// It has no point at this parameter.
    NotFinite(f64),
    /// The second section axis would point along it.
    UpAlongTheLine,
}

impl LineMesh {
    /// Divides a line into `intervals` of equal length.
    pub fn along(line: &dyn Curve, intervals: usize, up: Vec3) -> Result<Self, MeshError> {
        let ruler = Ruler::new(line, intervals)?;
        let spacing = ruler.total() / intervals as f64;
        // Nodes and, between them, the borders of their segments.
        let halves = 2 * intervals;
        let marks: Vec<f64> = (0..=halves)
            .map(|i| match i {
                0 => 0.0,
                _ if i == halves => 1.0,
                _ => ruler.parameter_at(0.5 * i as f64 * spacing),
            })
            .collect();
        let mut nodes = Vec::with_capacity(intervals + 1);
        let mut segments = Vec::with_capacity(intervals + 1);
        for i in (0..=halves).step_by(2) {
            let place = line(marks[i]);
            let axes = section_axes(ruler.slope(marks[i]).unit(), up)?;
            let mut samples = Vec::with_capacity(4 * GAUSS.len());
            for border in [i.checked_sub(1), Some(i + 1)].into_iter().flatten() {
                let Some(&end) = marks.get(border) else {
                    continue;
                };
                let (low, high) = (marks[i].min(end), marks[i].max(end));
                for (s, weight) in gauss(low, high) {
                    let slope = ruler.slope(s);
                    samples.push(LineSample {
                        length: slope.norm() * weight,
                        place: line(s),
                        axes: section_axes(slope.unit(), up).unwrap_or(axes),
                    });
                }
            }
            nodes.push((place, axes));
            segments.push(samples);
        }
        Ok(Self {
            nodes,
            spacing,
            segments,
        })
    }

    /// What a node carries, in the axes of `orientation`.
    pub fn body(
        &self,
        node: usize,
        inertia: &LineInertia,
        lumping: Lumping,
        orientation: Quaternion,
    ) -> Body {
        let to_node = orientation.matrix().transpose();
        let (centre, axes) = self.nodes[node];
        match lumping {
            Lumping::Segments => {
                let turned = self.segments[node].iter().map(|sample| LineSample {
                    length: sample.length,
                    place: to_node * (sample.place - centre),
                    axes: to_node * sample.axes,
                });
                inertia.body(&turned.collect::<Vec<_>>())
            }
            Lumping::Points => inertia.body(&[LineSample {
                length: self.share(node),
                place: Vec3::ZERO,
                axes: to_node * axes,
            }]),
        }
    }

    /// Length that belongs to a node: half way to its neighbours.
    fn share(&self, node: usize) -> f64 {
        let is_end = node == 0 || node + 1 == self.nodes.len();
        if is_end {
            0.5 * self.spacing
        } else {
            self.spacing
        }
    }
}

/// Abscissae and weights of Gauss's rule of eight points, for half of the interval from -1 to 1.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_3),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_5),
    (0.960_289_856_497_536_2, 0.101_228_536_290_376_26),
];

/// Places and weights of Gauss's rule between two parameters.
fn gauss(low: f64, high: f64) -> impl Iterator<Item = (f64, f64)> {
    let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
    let both = GAUSS.into_iter().flat_map(|(x, w)| [(-x, w), (x, w)]);
    both.map(move |(x, w)| (middle + half * x, half * w))
}

/// Measures lengths along a line.
struct Ruler<'l> {
    line: &'l dyn Curve,
    /// Lengths up to the borders of panels of equal parameter.
    reached: Vec<f64>,
    /// Of the differences from which slopes are made.
    step: f64,
}

/// Weights of f(h), f(2 h), f(3 h) less f(-h), ... in h times the first derivative.
const CENTRAL: [f64; 3] = [0.75, -0.15, 1.0 / 60.0];
/// The same for f(0), f(h), ... f(6 h), at the ends.
const ONE_SIDED: [f64; 7] = [-2.45, 6.0, -7.5, 20.0 / 3.0, -3.75, 1.2, -1.0 / 6.0];

impl<'l> Ruler<'l> {
    fn new(line: &'l dyn Curve, intervals: usize) -> Result<Self, MeshError> {
        let panels = 2 * intervals.max(4);
        let mut ruler = Self {
            line,
            reached: vec![0.0],
            step: 1.0 / (32 * panels) as f64,
        };
        for panel in 0..panels {
            let [low, high] = [panel, panel + 1].map(|i| i as f64 / panels as f64);
            let places = gauss(low, high).map(|(s, _)| s);
            let missing = [low, high].into_iter().chain(places);
            let mut missing = missing.filter(|&s| !line(s).norm().is_finite());
            if let Some(s) = missing.next() {
                return Err(MeshError::NotFinite(s));
            }
            let length = ruler.length(low, high);
            if !length.is_finite() {
                return Err(MeshError::NotFinite(low));
            }
            ruler.reached.push(ruler.total() + length);
        }
        match ruler.total() > 0.0 {
            true => Ok(ruler),
            false => Err(MeshError::NoLength),
        }
    }

    fn total(&self) -> f64 {
        self.reached[self.reached.len() - 1]
    }

    fn length(&self, low: f64, high: f64) -> f64 {
        gauss(low, high)
            .map(|(s, weight)| self.slope(s).norm() * weight)
            .sum()
    }

    /// The derivative by the parameter, by differences of sixth order that stay between 0 and 1.
    fn slope(&self, s: f64) -> Vec3 {
        let (line, h) = (self.line, self.step);
        let is_inside = (3.0 * h..=1.0 - 3.0 * h).contains(&s);
        let mut sum = Vec3::ZERO;
        if is_inside {
            for (i, weight) in CENTRAL.iter().enumerate() {
                let d = (i + 1) as f64 * h;
                sum += (line(s + d) - line(s - d)) * *weight;
            }
            return sum * (1.0 / h);
        }
        let inwards = if s < 0.5 { h } else { -h };
        let here = line(s);
        for (i, weight) in ONE_SIDED.iter().enumerate().skip(1) {
            sum += (line(s + i as f64 * inwards) - here) * *weight;
        }
        // Where the parameter rests the chord tells the direction.
        let chord = line(s + inwards) - here;
        let slope = if sum.norm() > 0.1 * chord.norm() {
            sum
        } else {
            chord
        };
        slope * (1.0 / inwards)
    }

    /// Where a length is reached: Newton's iteration within the panel, bisection where it leaves.
    fn parameter_at(&self, length: f64) -> f64 {
        let panels = self.reached.len() - 1;
        let after = self.reached.partition_point(|&reached| reached <= length);
        let panel = after.clamp(1, panels) - 1;
        let start = panel as f64 / panels as f64;
        let (mut low, mut high) = (start, (panel + 1) as f64 / panels as f64);
        let wanted = length - self.reached[panel];
        let mut s = 0.5 * (low + high);
        for _ in 0..60 {
            let excess = self.length(start, s) - wanted;
            if excess.abs() <= 1e-15 * self.total() {
                break;
            }
            if excess > 0.0 {
                high = s;
            } else {
                low = s;
            }
            let next = s - excess / self.slope(s).norm();
            s = if low < next && next < high {
                next
            } else {
                0.5 * (low + high)
            };
        }
        s
    }
}

/// First axis along the tangent, second towards `up`.
fn section_axes(tangent: Vec3, up: Vec3) -> Result<Mat3, MeshError> {
    let third = tangent.cross(up);
    // Catches a tangent that is NaN as well.
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
        let mesh = LineMesh::along(&arc, 8, Vec3::Z).unwrap();
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
        let error = |line: &dyn Curve, up| LineMesh::along(line, 4, up).unwrap_err();
        assert_eq!(error(&point, Vec3::Z), MeshError::NoLength);
        assert_eq!(error(&line, Vec3::X), MeshError::UpAlongTheLine);
        assert_eq!(error(&broken, Vec3::Z), MeshError::NotFinite(0.5));
    }

    /// Mass, first and second moments of a quarter of a circle about its centre, in absolute axes,
    /// whatever axes the nodes have: with the section axes tangent t, z and t × z.
    #[test]
    fn segments_have_the_inertia_of_the_arch() {
        let (radius, mass, rotary) = (2.0, 3.0, [0.3, 0.1, 0.25]);
        let arc = |s: f64| {
            let angle = 0.5 * PI * s * (0.5 + 0.5 * s);
            Vec3::new(angle.cos(), angle.sin(), 0.0) * radius
        };
        for intervals in [2, 5, 16] {
            let mesh = LineMesh::along(&arc, intervals, Vec3::Z).unwrap();
            let inertia = LineInertia { mass, rotary };
            let (mut sum, mut first, mut second) = (0.0, Vec3::ZERO, Mat3::ZERO);
            for (i, (place, _)) in mesh.nodes.iter().enumerate() {
                let axes = Quaternion::exp(Vec3::new(0.3, -2.0, 1.0) * i as f64);
                let body = mesh.body(i, &inertia, Lumping::Segments, axes);
                let turn = axes.matrix();
                let centre = *place + turn * body.centre;
                let spread = Mat3::IDENTITY * centre.dot(centre) - centre.outer(centre);
                sum += body.mass;
                first += centre * body.mass;
                second += turn * body.inertia * turn.transpose() + spread * body.mass;
            }
            let length = 0.5 * PI * radius;
            let near = |found: f64, expected: f64| {
                let error = (found - expected).abs();
                assert!(
                    error < 1e-12 * mass * length * radius * radius,
                    "{found} {expected}"
                );
            };
            near(sum, mass * length);
            near(first[0], mass * radius * radius);
            near(first[1], mass * radius * radius);
            // Over the arch t and the radial direction point along x for half of the length each.
            let across = 0.5 * mass * length * radius * radius;
            let sections = 0.5 * (rotary[0] + rotary[2]) * length;
            near(second.0[0][0], across + sections);
            near(second.0[1][1], across + sections);
            near(second.0[2][2], 2.0 * across + rotary[1] * length);
            let product = 0.5 * mass * radius.powi(3);
            let turned = 0.5 * radius * (rotary[2] - rotary[0]);
            near(second.0[0][1], turned - product);
        }
    }
}
