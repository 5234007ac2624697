//! Compares the analytic derivatives of elements with differences of their forces.

mod forces;
mod friction;
mod joints;
mod time_derivatives;

use super::Weights;
use crate::assembly::{Assembly, EvaluationPoint};
use crate::model::Model;
use crate::node::{Marker, Motion};
use oldham_space::Quaternion;
use oldham_space::Vec3;

const STEP: f64 = 1e-6;

/// Checks the derivatives of a model by poses, and by velocities where `damped`, at its initial
/// motion with the given multipliers.
pub(crate) fn assert_derivatives(model: Model, multiplier: f64, inputs: &[f64], tolerance: f64) {
    assert_some_derivatives(model, multiplier, inputs, tolerance, true);
}

/// The same for derivatives by velocities alone.
fn assert_velocity_derivatives(model: Model, multiplier: f64, inputs: &[f64], tolerance: f64) {
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

/// Two nodes in general poses.
pub(crate) fn two_nodes(model: &mut Model, moving: bool) -> [crate::node::NodeId; 2] {
    let speed = if moving { 1.0 } else { 0.0 };
    let turn = |v: Vec3| Quaternion::exp(v);
    let a = Motion::at_rest(Vec3::new(0.1, -0.4, 0.3), turn(Vec3::new(0.4, 0.9, -0.3))).moving(
        Vec3::new(0.3, 0.1, -0.5) * speed,
        Vec3::new(1.1, 0.2, 0.4) * speed,
    );
    let b = Motion::at_rest(Vec3::new(1.2, 0.5, -0.2), turn(Vec3::new(-0.2, 0.7, 0.5))).moving(
        Vec3::new(-0.2, 0.8, 0.1) * speed,
        Vec3::new(0.3, -0.7, 0.9) * speed,
    );
    [model.node("a", a), model.node("b", b)]
}

/// Markers on two nodes in general poses.
fn markers(model: &mut Model, moving: bool) -> [Marker; 2] {
    let [a, b] = two_nodes(model, moving);
    [
        Marker::on(a)
            .offset(Vec3::new(0.2, 0.1, -0.3))
            .oriented(Quaternion::exp(Vec3::new(0.1, 0.2, 0.3))),
        Marker::on(b)
            .offset(Vec3::new(-0.1, 0.3, 0.2))
            .oriented(Quaternion::exp(Vec3::new(-0.3, 0.2, 0.1))),
    ]
}
