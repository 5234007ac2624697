//! How much damping the plain scheme bears at a cut through a beam, found by hand.
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
//! rotation, their inner nodes being free to follow.

use nalgebra::{DMatrix, Matrix2};
use oldham_stability::{is_stable, radius};

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

/// What one part opposes to the interface at its left end, without the mass there.
fn part(bending: f64, length: f64, damping: f64) -> Matrix2<f64> {
    let size = 4 * ELEMENTS + 2;
    let mut dynamic = DMatrix::zeros(size, size);
    for index in 0..ELEMENTS {
        let first = 4 * index;
        let mut block = dynamic.view_mut((first, first), (6, 6));
        block += element(bending, length) * (1.0 + RATE * damping);
        for (node, share) in [0.25, 0.5, 0.25].into_iter().enumerate() {
            let [deflection, rotation] = [first + 2 * node, first + 2 * node + 1];
            dynamic[(deflection, deflection)] += RATE.powi(2) * share * length * MASS;
            dynamic[(rotation, rotation)] += RATE.powi(2) * share * length * INERTIA;
        }
    }
    dynamic[(0, 0)] -= RATE.powi(2) * 0.25 * length * MASS;
    dynamic[(1, 1)] -= RATE.powi(2) * 0.25 * length * INERTIA;
    let inner = dynamic.view((2, 2), (size - 2, size - 2)).into_owned();
    let following = inner.lu().solve(&dynamic.view((2, 0), (size - 2, 2)));
    let following = following.expect("a part that can move");
    let opposed = dynamic.view((0, 0), (2, 2)) - dynamic.view((0, 2), (2, size - 2)) * following;
    opposed.fixed_view::<2, 2>(0, 0).into_owned()
}

/// The other part is the mirror image: rotations against rotations add up, all else cancels.
fn limit(bending: f64, length: f64) -> f64 {
    let excess = |damping: f64| {
        let opposed = 2.0 * part(bending, length, damping)[(1, 1)];
        PREDICTED * opposed - RATE.powi(2) * 0.5 * length * INERTIA
    };
    let (mut low, mut high) = (1e-5, 1e-2);
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

/// With the neighbours held, in one line: D = s J / (2 · 119/6 k) − 1/s with
/// k = √3/9 G A (1 + (12 + 6√3) E I / (G A L²)).
fn limit_with_neighbours_held(bending: f64, length: f64) -> f64 {
    let root = 3_f64.sqrt();
    let share = (12.0 + 6.0 * root) * bending / (SHEAR * length.powi(2));
    let stiffness = root / 9.0 * SHEAR * (1.0 + share);
    RATE * INERTIA / (2.0 * PREDICTED * stiffness) - 1.0 / RATE
}

#[test]
fn the_limit_of_damping_is_that_of_the_rotation_of_the_interface() {
    for (elements, lateral) in [(4, 1e4), (12, 1e4), (12, 2e3)] {
        let length = 24.0 / elements as f64;
        let text = beam_text(elements).replace("[2e3, 1e4]", &format!("[2e3, {lateral:e}]"));
        let is_stable_at = |damping: f64| {
            let damping = damping.to_string();
            let set = [
                ("multibody.beam.cut.scheme", "interface-mass"),
                ("D", &damping),
            ];
            is_stable(radius(&mut with(&text, &set).simulation().unwrap()))
        };
        let limit = limit(lateral, length);
        assert!(
            is_stable_at(0.996 * limit),
            "{elements}, {lateral}: {limit}"
        );
        assert!(
            !is_stable_at(1.004 * limit),
            "{elements}, {lateral}: {limit}"
        );
        // Neighbours that follow a little make the interface softer.
        let held = limit_with_neighbours_held(lateral, length);
        assert!(held < limit && limit < 1.05 * held, "{held} {limit}");
    }
}
