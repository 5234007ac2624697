//! Compares the analytic derivatives of elements with differences of their forces, for tests of
//! elements in any crate.

use super::Weights;
use crate::assembly::{Assembly, EvaluationPoint};
use crate::model::Model;
use crate::node::Motion;
use oldham_space::Quaternion;
use oldham_space::Vec3;

const STEP: f64 = 1e-6;

/// Checks the derivatives of all elements of a model by poses and by velocities, 10 ms after its
/// initial motion, which goes on; all multipliers are the same. The tolerance is relative to the
/// largest derivative.
///
/// # Panics
/// If a derivative is wrong.
pub fn assert_derivatives(model: Model, multiplier: f64, inputs: &[f64], tolerance: f64) {
    assert_some_derivatives(model, multiplier, inputs, tolerance, true);
}

/// The same for derivatives by velocities alone.
#[cfg(test)]
pub(crate) fn assert_velocity_derivatives(
    model: Model,
    multiplier: f64,
    inputs: &[f64],
    tolerance: f64,
) {
    assert_some_derivatives(model, multiplier, inputs, tolerance, false);
}

fn assert_some_derivatives(
    model: Model,
    multiplier: f64,
    inputs: &[f64],
    tolerance: f64,
    by_poses: bool,
) {
    let motions: Vec<Motion> = model.nodes.iter().map(|node| node.initial).collect();
    let (assembly, _) = Assembly::new(model);
    let multipliers = vec![multiplier; assembly.constraints];
    let mut here = EvaluationPoint {
        time: 0.3,
        motions: &motions,
        multipliers: &multipliers,
        inputs,
        input_time: 0.3,
        load_factor: 1.0,
        memory: &vec![0.0; assembly.memory],
        elapsed: 0.0,
        regimes: &[],
    };
    let mut memory = vec![0.0; assembly.memory];
    assembly.remember(&here, &mut memory);
    here.memory = &memory;
    here.elapsed = 0.01;
    let residual = |motions: &[Motion]| {
        let mut values = vec![0.0; assembly.residual_length()];
        assembly.element_residual(&EvaluationPoint { motions, ..here }, &mut values);
        values
    };
    let weights = |damping, stiffness| Weights {
        mass: 0.0,
        damping,
        stiffness,
    };
    let (n, nodes) = (assembly.unknowns(), 6 * assembly.nodes());
    type Change = fn(&mut Motion, usize, f64);
    let cases: [(Weights, Change, usize); 2] = [
        (weights(0.0, 1.0), change_pose, n),
        (weights(1.0, 0.0), change_velocity, nodes),
    ];
    for (weights, change, rows) in cases.into_iter().skip(usize::from(!by_poses)) {
        let matrix = assembly.dense(&here, weights);
        let size = matrix.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        for column in 0..nodes {
            let moved = |step: f64| {
                let mut motions = motions.clone();
                change(&mut motions[column / 6 + 1], column % 6, step);
                residual(&motions)
            };
            let (plus, minus) = (moved(STEP), moved(-STEP));
            for row in 0..rows {
                let expected = -(plus[row] - minus[row]) / (2.0 * STEP);
                let error = matrix[column * n + row] - expected;
                assert!(
                    error.abs() < tolerance * size,
                    "{weights:?} row {row} column {column}: {} instead of {expected}",
                    matrix[column * n + row],
                );
            }
        }
    }
}

fn change_pose(motion: &mut Motion, component: usize, step: f64) {
    if component < 3 {
        motion.position[component] += step;
        return;
    }
    let mut spin = Vec3::ZERO;
    spin[component - 3] = step;
    motion.orientation = Quaternion::exp(spin).times(motion.orientation);
    motion.rotation = motion.orientation.matrix();
}

fn change_velocity(motion: &mut Motion, component: usize, step: f64) {
    if component < 3 {
        motion.velocity[component] += step;
    } else {
        motion.angular_velocity[component - 3] += step;
    }
}
