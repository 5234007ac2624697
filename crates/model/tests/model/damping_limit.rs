//! How much damping the plain scheme tolerates at a cut through a beam, found by hand.
//!
//! At the limit the interface moves to and fro from step to step, z = −1. There LMS2 has the rate
//! s = 16/h (ρ∞ = 0.6), and its predictor expects −119/6 times what then happens. A beam node of
//! finite volume elements between it and its neighbours, with damping D per stiffness, obeys
//!
//! ```text
//! J s² = 119/6 (1 + s D) k(s D)
//! ```
//!
//! with J the rotary inertia of the interface node and k the stiffness of the parts against its
//! rotation, their inner nodes being free to follow. A node carries the segment half way to its
//! neighbours, of length l: J = j l of the sections, and m l³/12 of its extent unless the mass is
//! lumped at points.

use nalgebra::{DMatrix, Matrix2};
use oldham_stability::analyse;

use crate::large::{beam_text, with};

const STEP: f64 = 1e-4;
const RATE: f64 = 16.0 / STEP;
const PREDICTED: f64 = 119.0 / 6.0;
const SHEAR: f64 = 0.6e6;
const MASS: f64 = 5.0;
const INERTIA: f64 = 0.05;
/// Elements beyond which nothing of the interface is felt.
const ELEMENTS: usize = 2;

/// Stiffness of an element for deflections and rotations of its nodes, in turn: shear force and
/// bending moment at each evaluation point are in balance with the nodes beside it.
fn element(bending: f64, length: f64) -> DMatrix<f64> {
    let places = [-0.5 * length, 0.0, 0.5 * length];
    let mut stiffness = DMatrix::zeros(6, 6);
    let xi = 1.0 / 3_f64.sqrt();
    for (xi, left) in [(-xi, 0), (xi, 1)] {
        let shapes = [xi * (xi - 1.0) / 2.0, 1.0 - xi * xi, xi * (xi + 1.0) / 2.0];
        let slopes = [xi - 0.5, -2.0 * xi, xi + 0.5].map(|slope| slope * 2.0 / length);
        for node in 0..3 {
            for (motion, force, moment) in [
                (0, SHEAR * slopes[node], 0.0),
                (1, -SHEAR * shapes[node], bending * slopes[node]),
            ] {
                for (side, sign) in [(left, -1.0), (left + 1, 1.0)] {
                    let arm = 0.5 * xi * length - places[side];
                    stiffness[(2 * side, 2 * node + motion)] += sign * force;
                    stiffness[(2 * side + 1, 2 * node + motion)] += sign * (moment + arm * force);
                }
            }
        }
    }
    stiffness
}

/// How the mass of a beam is given to its nodes.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Lumping {
    Segments,
    Points,
}

impl Lumping {
    /// Mass matrix for deflection and rotation of a node that carries the beam from `start` to
    /// `end`, measured from the node.
    fn inertia(self, start: f64, end: f64) -> Matrix2<f64> {
        let moment = |power: i32| MASS * (end.powi(power) - start.powi(power)) / f64::from(power);
        let sections = INERTIA * (end - start);
        match self {
            Self::Points => Matrix2::new(moment(1), 0.0, 0.0, sections),
            Self::Segments => Matrix2::new(moment(1), moment(2), moment(2), moment(3) + sections),
        }
    }
}

/// What one part opposes to the interface at its left end, without the mass there.
fn part(bending: f64, length: f64, damping: f64, lumping: Lumping) -> Matrix2<f64> {
    let size = 4 * ELEMENTS + 2;
    let mut dynamic = DMatrix::zeros(size, size);
    for index in 0..ELEMENTS {
        let first = 4 * index;
        let mut block = dynamic.view_mut((first, first), (6, 6));
        block += element(bending, length) * (1.0 + RATE * damping);
        let quarter = 0.25 * length;
        for (node, [start, end]) in [[0.0, quarter], [-quarter, quarter], [-quarter, 0.0]]
            .into_iter()
            .enumerate()
        {
            if index + node > 0 {
                let place = first + 2 * node;
                let mut block = dynamic.view_mut((place, place), (2, 2));
                block += lumping.inertia(start, end) * RATE.powi(2);
            }
        }
    }
    let inner = dynamic.view((2, 2), (size - 2, size - 2)).into_owned();
    let following = inner.lu().solve(&dynamic.view((2, 0), (size - 2, 2)));
    let following = following.expect("a part that can move");
    let opposed = dynamic.view((0, 0), (2, 2)) - dynamic.view((0, 2), (2, size - 2)) * following;
    opposed.fixed_view::<2, 2>(0, 0).into_owned()
}

/// The other part is the mirror image: rotations against rotations add up, all else cancels.
fn limit(bending: f64, length: f64, lumping: Lumping) -> f64 {
    let excess = |damping: f64| {
        let opposed = 2.0 * part(bending, length, damping, lumping)[(1, 1)];
        PREDICTED * opposed - RATE.powi(2) * of_interface(length, lumping)
    };
    let (mut low, mut high) = (1e-5, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if excess(middle) < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// The rotary inertia of the interface node.
fn of_interface(length: f64, lumping: Lumping) -> f64 {
    lumping.inertia(-0.25 * length, 0.25 * length)[(1, 1)]
}

/// With the neighbours held, in one line: D = s J / (119/6 k) − 1/s with
/// k = √3/9 G A L (1 + (12 + 6√3) E I / (G A L²)).
fn limit_with_neighbours_held(bending: f64, length: f64, lumping: Lumping) -> f64 {
    let root = 3_f64.sqrt();
    let share = (12.0 + 6.0 * root) * bending / (SHEAR * length.powi(2));
    let stiffness = root / 9.0 * SHEAR * length * (1.0 + share);
    RATE * of_interface(length, lumping) / (PREDICTED * stiffness) - 1.0 / RATE
}

/// The figures of the guide.
#[test]
fn the_limits_of_damping_by_hand() {
    for (lumping, elements, free, held) in [
        (Lumping::Points, 4, 1.787e-3, 1.722e-3),
        (Lumping::Points, 12, 1.637e-3, 1.591e-3),
        (Lumping::Points, 24, 1.282e-3, 1.266e-3),
        (Lumping::Segments, 4, 0.1387, 0.1314),
        (Lumping::Segments, 12, 1.555e-2, 1.490e-2),
        (Lumping::Segments, 24, 4.001e-3, 3.916e-3),
    ] {
        let length = 24.0 / f64::from(elements);
        let found = limit(1e4, length, lumping);
        assert!(
            (found / free - 1.0).abs() < 5e-4,
            "{lumping:?} {elements}: {found}"
        );
        let found = limit_with_neighbours_held(1e4, length, lumping);
        assert!(
            (found / held - 1.0).abs() < 5e-4,
            "{lumping:?} {elements}: {found}"
        );
    }
}

#[test]
fn the_limit_of_damping_is_that_of_the_rotation_of_the_interface() {
    for (elements, lateral, lumping) in [
        (4, 1e4, Lumping::Points),
        (12, 1e4, Lumping::Points),
        (12, 2e3, Lumping::Points),
        (4, 1e4, Lumping::Segments),
        (12, 1e4, Lumping::Segments),
    ] {
        let length = 24.0 / elements as f64;
        let text = beam_text(elements).replace("[2e3, 1e4]", &format!("[2e3, {lateral:e}]"));
        let word = format!("{lumping:?}").to_lowercase();
        let is_stable_at = |damping: f64| {
            let damping = damping.to_string();
            let set = [
                ("multibody.beam.cut.scheme", "interface-mass"),
                ("multibody.beam.beams.girder.lumping", &word),
                ("D", &damping),
            ];
            let mut simulation = with(&text, &set).simulation().unwrap();
            analyse(&mut simulation).unwrap().is_stable()
        };
        let limit = limit(lateral, length, lumping);
        assert!(
            is_stable_at((1.0 - 1e-4) * limit),
            "{elements}, {lateral}, {lumping:?}: {limit}"
        );
        assert!(
            !is_stable_at((1.0 + 1e-4) * limit),
            "{elements}, {lateral}, {lumping:?}: {limit}"
        );
        // Neighbours that follow a little make the interface softer.
        let held = limit_with_neighbours_held(lateral, length, lumping);
        assert!(held < limit && limit < 1.06 * held, "{held} {limit}");
    }
}
