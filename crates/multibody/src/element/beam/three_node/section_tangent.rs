//! The derivative of the load at one evaluation point.

use super::{Beam3, Deformed, Vec3s, shapes};
use crate::element::{Half, Jacobian, Weights};
use crate::node::Motion;
use oldham_space::{M3, Mat3, Vec3};

/// The linearised load at one evaluation point, in the absolute frame.
pub(super) struct SectionTangent {
    /// Place of the point.
    place: Vec3,
    force: Vec3,
    /// Change of force and moment by the position and the spin of each node.
    by: [[[Mat3; 2]; 2]; 3],
    /// Change of the place by the position (a multiple of the identity) and the spin.
    place_by: [(f64, Mat3); 3],
}

impl Beam3 {
    pub(super) fn section_tangent(
        &self,
        d: &Deformed,
        motions: [&Motion; 3],
        load: [Vec3s; 2],
        lane: usize,
        weights: Weights,
    ) -> SectionTangent {
        let n = shapes();
        let axes = motions[1].rotation;
        let absolute = |m: Mat3| axes * m * axes.transpose();
        let (n1, n3) = (n.first.0[lane], n.last.0[lane]);
        let per_length = self.per_length.0[lane];
        let (s1, s3) = (
            n.first_slope.0[lane] * per_length,
            n.last_slope.0[lane] * per_length,
        );
        let (values, slopes) = ([n1, 1.0 - n1 - n3, n3], [s1, -s1 - s3, s3]);
        let (g, g_slope, a) = (d.g.lane(lane), d.g_slope.lane(lane), d.a.0[lane]);
        // Spin of the section, and its slope, by the spins of the nodes.
        let tangent = (Mat3::IDENTITY + g.skew() * 0.5) * a;
        let a_slope = -0.5 * a * a * g.dot(g_slope);
        let tangent_slope =
            (Mat3::IDENTITY + g.skew() * 0.5) * a_slope + g_slope.skew() * (0.5 * a);
        let inverse = |g: Vec3| Mat3::IDENTITY - g.skew() * 0.5 + g.outer(g) * 0.25;
        let [i1, i3] = d.ends.map(inverse);
        let spin = |value: f64, i: Mat3| absolute(tangent * i * value);
        let slope =
            |value: f64, s: f64, i: Mat3| absolute((tangent_slope * value + tangent * s) * i);
        let (spin1, spin3) = (spin(n1, i1), spin(n3, i3));
        let (slope1, slope3) = (slope(n1, s1, i1), slope(n3, s3, i3));
        let spins = [spin1, Mat3::IDENTITY - spin1 - spin3, spin3];
        let spin_slopes = [slope1, -(slope1 + slope3), slope3];
        // Section stiffness in the absolute frame, damping included.
        let section = axes * d.orientation().lane(lane);
        let weight = weights.stiffness + weights.damping * self.damping.0[lane];
        let block = |row: usize, column: usize| {
            let entry = |i: usize, j: usize| self.stiffness[row + i][column + j].0[lane];
            let local = M3([0, 1, 2].map(|i| [0, 1, 2].map(|j| entry(i, j))));
            section * local * section.transpose() * weight
        };
        let c = [[block(0, 0), block(0, 3)], [block(3, 0), block(3, 3)]];
        let tangent_line = axes * d.place_slope.lane(lane);
        let [force, moment] = load.map(|v| axes * v.lane(lane));
        let held = [force, moment].map(|v| v.skew() * weights.stiffness);
        let by = [0, 1, 2].map(|i| {
            let arm = (motions[i].rotation * self.offsets[i]).skew();
            let strain = tangent_line.skew() * spins[i] - arm * slopes[i];
            [0, 1].map(|row| {
                let by_position = c[row][0] * slopes[i];
                let by_spin = c[row][0] * strain + c[row][1] * spin_slopes[i];
                [by_position, by_spin - held[row] * spins[i]]
            })
        });
        let place_by = [0, 1, 2].map(|i| {
            let arm = (motions[i].rotation * self.offsets[i]).skew();
            (values[i], -(arm * values[i]))
        });
        SectionTangent {
            place: motions[1].position + axes * d.place.lane(lane),
            force,
            by,
            place_by,
        }
    }
}

impl SectionTangent {
    /// The load acts on the node before the section, and against the one behind it.
    pub(super) fn add_to(
        &self,
        out: &mut Jacobian<'_>,
        sides: [usize; 2],
        motions: [&Motion; 3],
        stiffness: f64,
    ) {
        use Half::{Angular, Linear};
        let f = self.force.skew() * stiffness;
        for (row, sign) in sides.into_iter().zip([-1.0, 1.0]) {
            let arm = (self.place - motions[row].position).skew();
            for column in 0..3 {
                let [by_force, by_moment] = self.by[column];
                let (at_position, at_spin) = self.place_by[column];
                // (δp - δx) × F = -F × (δp - δx)
                let moved = at_position - if column == row { 1.0 } else { 0.0 };
                let shifts = [f * moved, f * at_spin];
                for (part, k) in [(Linear, 0), (Angular, 1)] {
                    let moment = by_moment[k] + arm * by_force[k] - shifts[k];
                    out.add((row, Linear), (column, part), by_force[k] * sign);
                    out.add((row, Angular), (column, part), moment * sign);
                }
            }
        }
    }
}
