//! Continuous-time linearisation of a part at its ports.
//!
//! Constraints are taken away by the null space Z of their gradients Φ: a change of the poses is
//! q = Z z - Y T₀ u, where Φ Y = I and T₀ is the derivative of the constraints by the inputs. Z and Y are
//! such that z are coordinates of nodes, those that tell the others apart best: states have names. The
//! derivatives T₁ and T₂ tell how the inputs move the constraints' velocities and accelerations:
//! a received motion brings its own rates.

use super::MechanismPart;
use crate::assembly::EvaluationPoint;
use crate::element::Weights;
use crate::linearised::left_out::left_out;
use crate::system::System;
use nalgebra::DMatrix;
use oldham_cosim::Linearisation;
use oldham_space::Quaternion;
use oldham_space::Vec3;

/// Largest number of unknowns for dense matrices.
const DENSE_LIMIT: usize = 800;
/// Step of central differences.
const STEP: f64 = 1e-6;
/// Shift of time by which the rates of received motions show.
const TIME_STEP: f64 = 1e-3;

/// Changes of poses, velocities, accelerations and multipliers, one column for each direction.
struct Response {
    pose: DMatrix<f64>,
    velocity: DMatrix<f64>,
    acceleration: DMatrix<f64>,
    multipliers: DMatrix<f64>,
}

pub(super) fn linearise(part: &mut MechanismPart, inputs: &[f64]) -> Option<Linearisation> {
    let system = &part.system;
    let (n, m) = (6 * system.assembly.nodes(), system.assembly.constraints);
    if n + m > DENSE_LIMIT {
        return None;
    }
    let (mass, _) = matrices(system, inputs, [1.0, 0.0, 0.0]);
    let (mut damping, _) = matrices(system, inputs, [0.0, 1.0, 0.0]);
    let (mut stiffness, gradients) = matrices(system, inputs, [0.0, 0.0, 1.0]);
    // Elements do not tell what sensors make of them.
    let at = system.evaluation_point(inputs);
    let missing = left_out(&system.assembly, &at, system.size);
    if !missing.force_columns.is_empty() {
        return None;
    }
    for (matrix, entries) in [
        (&mut damping, &missing.damping),
        (&mut stiffness, &missing.stiffness),
    ] {
        for &(row, column, value) in entries {
            matrix[(row, column)] += value;
        }
    }
    let (z, y) = null_space_and_inverse(&gradients)?;
    let chosen = independent_rows(&z);
    let (z, y) = in_coordinates(z, y, &chosen)?;
    let names = state_names(&system.assembly.node_names, &chosen);
    let (loads, targets) = input_effects(system, inputs);
    let [t0, t1, t2] = targets;

    // Forces that the inputs exert on the free motion, directly and by moving the constraints.
    let moved = [&y * t0, &y * t1, &y * t2];
    let driven = loads.clone() + &mass * &moved[2] + &damping * &moved[1] + &stiffness * &moved[0];
    let reduced = |matrix: &DMatrix<f64>| z.tr_mul(&(matrix * &z));
    let inertia = reduced(&mass).lu();
    let by_pose = -inertia.solve(&reduced(&stiffness))?;
    let by_velocity = -inertia.solve(&reduced(&damping))?;
    let by_input = inertia.solve(&z.tr_mul(&driven))?;

    let free = z.ncols();
    let states = 2 * free;
    let width = inputs.len();
    let mut a = DMatrix::zeros(states, states);
    a.view_mut((0, free), (free, free)).fill_with_identity();
    a.view_mut((free, 0), (free, free)).copy_from(&by_pose);
    a.view_mut((free, free), (free, free))
        .copy_from(&by_velocity);
    let mut b = DMatrix::zeros(states, width);
    b.view_mut((free, 0), (free, width)).copy_from(&by_input);

    let join = |z_pose: DMatrix<f64>, z_velocity: DMatrix<f64>, input: DMatrix<f64>| {
        let mut all = DMatrix::zeros(input.nrows(), states + width);
        all.view_mut((0, 0), z_pose.shape()).copy_from(&z_pose);
        all.view_mut((0, free), z_velocity.shape())
            .copy_from(&z_velocity);
        all.view_mut((0, states), input.shape()).copy_from(&input);
        all
    };
    let none = DMatrix::zeros(n, free);
    let pose = join(z.clone(), none.clone(), -&moved[0]);
    let velocity = join(none, z.clone(), -&moved[1]);
    let acceleration = join(&z * by_pose, &z * by_velocity, &z * by_input - &moved[2]);
    let mut forces = -(&mass * &acceleration) - &damping * &velocity - &stiffness * &pose;
    let mut direct = forces.view_mut((0, states), (n, width));
    direct += loads;
    let response = Response {
        multipliers: y.tr_mul(&forces),
        pose,
        velocity,
        acceleration,
    };
    let outputs = output_changes(part, inputs, &response, states);
    part.state_names = names;
    let rows = |matrix: DMatrix<f64>| matrix.transpose().as_slice().to_vec();
    Some(Linearisation {
        states,
        a: rows(a),
        b: rows(b),
        c: rows(outputs.columns(0, states).into_owned()),
        d: rows(outputs.columns(states, width).into_owned()),
    })
}

/// The matrix of the node equations, and the gradients of the constraints.
fn matrices(
    system: &System,
    inputs: &[f64],
    [mass, damping, stiffness]: [f64; 3],
) -> (DMatrix<f64>, DMatrix<f64>) {
    let weights = Weights {
        mass,
        damping,
        stiffness,
    };
    let (n, all) = (6 * system.assembly.nodes(), system.assembly.unknowns());
    let dense = system
        .assembly
        .dense(&system.evaluation_point(inputs), weights);
    let dense = DMatrix::from_vec(all, all, dense);
    let gradients = dense.view((n, 0), (all - n, n)).into_owned();
    (dense.view((0, 0), (n, n)).into_owned(), gradients)
}

/// Z with Φ Z = 0 and ZᵀZ = I, and Y with Φ Y = I and ZᵀY = 0.
fn null_space_and_inverse(gradients: &DMatrix<f64>) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let (m, n) = gradients.shape();
    if m == 0 {
        return Some((DMatrix::identity(n, n), DMatrix::zeros(n, 0)));
    }
    let qr = gradients.transpose().qr();
    let mut q_transposed = DMatrix::identity(n, n);
    qr.q_tr_mul(&mut q_transposed);
    let q = q_transposed.transpose();
    let inverse = qr.r().transpose().try_inverse()?;
    Some((q.columns(m, n - m).into_owned(), q.columns(0, m) * inverse))
}

/// As many rows as there are columns, chosen one by one: that which the chosen ones tell least about.
fn independent_rows(z: &DMatrix<f64>) -> Vec<usize> {
    // Of equal ones the first, whatever the rounding.
    const EQUAL: f64 = 1e-9;
    let mut left = z.clone();
    let mut chosen = Vec::new();
    for _ in 0..z.ncols() {
        let mut best = (0, 0.0);
        for (row, values) in left.row_iter().enumerate() {
            let size = values.norm_squared();
            if size > best.1 * (1.0 + EQUAL) {
                best = (row, size);
            }
        }
        chosen.push(best.0);
        let direction = left.row(best.0) / best.1.sqrt();
        let shares = &left * direction.transpose();
        left -= shares * direction;
    }
    chosen.sort_unstable();
    chosen
}

/// Z and Y such that the chosen rows of Z are those of the identity, and those of Y zero.
fn in_coordinates(
    z: DMatrix<f64>,
    y: DMatrix<f64>,
    chosen: &[usize],
) -> Option<(DMatrix<f64>, DMatrix<f64>)> {
    let z = &z * z.select_rows(chosen).try_inverse()?;
    let y = &y - &z * y.select_rows(chosen);
    Some((z, y))
}

/// Coordinates of nodes, then their rates: positions and rotations, in the absolute frame.
fn state_names(nodes: &[String], chosen: &[usize]) -> Vec<String> {
    const COORDINATES: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];
    const RATES: [&str; 6] = ["vx", "vy", "vz", "wx", "wy", "wz"];
    let named = |words: [&'static str; 6]| {
        let name = move |&row: &usize| format!("{}.{}", nodes[row / 6 + 1], words[row % 6]);
        chosen.iter().map(name)
    };
    named(COORDINATES).chain(named(RATES)).collect()
}

/// Derivatives by the inputs: of the forces, and of the constraints, their velocities and
/// accelerations.
fn input_effects(system: &System, inputs: &[f64]) -> (DMatrix<f64>, [DMatrix<f64>; 3]) {
    let (n, all) = (6 * system.assembly.nodes(), system.assembly.unknowns());
    let residual = |changed: &[f64], shift: f64| {
        let mut values = vec![0.0; system.assembly.residual_length()];
        let at = EvaluationPoint {
            time: system.state.time + shift,
            input_time: system.state.time,
            ..system.evaluation_point(changed)
        };
        system.assembly.element_residual(&at, &mut values);
        values
    };
    let derivative = |shift: f64| {
        let mut changed = inputs.to_vec();
        let mut matrix = DMatrix::zeros(all, inputs.len());
        for j in 0..inputs.len() {
            let mut at = |step: f64| {
                changed[j] = inputs[j] + step;
                residual(&changed, shift)
            };
            let (plus, minus) = (at(STEP), at(-STEP));
            changed[j] = inputs[j];
            for i in 0..all {
                matrix[(i, j)] = (plus[i] - minus[i]) / (2.0 * STEP);
            }
        }
        matrix
    };
    let [before, here, after] = [-TIME_STEP, 0.0, TIME_STEP].map(derivative);
    // The residual holds negative violations.
    let constraints = |matrix: DMatrix<f64>| -matrix.rows(n, all - n).into_owned();
    let first = (&after - &before) / (2.0 * TIME_STEP);
    let second = (&after - &here * 2.0 + &before) / (TIME_STEP * TIME_STEP);
    let loads = here.rows(0, n).into_owned();
    (loads, [here, first, second].map(constraints))
}

/// Central differences of the outputs along all directions; inputs change with their directions.
fn output_changes(
    part: &mut MechanismPart,
    inputs: &[f64],
    response: &Response,
    states: usize,
) -> DMatrix<f64> {
    let width = part.ports.output_width();
    let directions = response.pose.ncols();
    let now = part.system.state.now.clone();
    let multipliers = part.system.state.multipliers.clone();
    let mut changes = DMatrix::zeros(width, directions);
    let mut values = [vec![0.0; width], vec![0.0; width]];
    for j in 0..directions {
        for (step, values) in [STEP, -STEP].into_iter().zip(&mut values) {
            let mut changed = inputs.to_vec();
            if let Some(component) = j.checked_sub(states) {
                changed[component] += step;
            }
            displace(&mut part.system, response, j, step);
            part.write_outputs(&changed, values);
            part.system.state.now.copy_from_slice(&now);
            part.system.state.multipliers.copy_from_slice(&multipliers);
            part.system.return_to_records();
        }
        for i in 0..width {
            changes[(i, j)] = (values[0][i] - values[1][i]) / (2.0 * STEP);
        }
    }
    changes
}

fn displace(system: &mut System, response: &Response, direction: usize, step: f64) {
    let part = |matrix: &DMatrix<f64>, row: usize| {
        Vec3::new(
            matrix[(row, direction)],
            matrix[(row + 1, direction)],
            matrix[(row + 2, direction)],
        ) * step
    };
    for (i, record) in system.state.now.iter_mut().skip(1).enumerate() {
        let (linear, angular) = (6 * i, 6 * i + 3);
        let motion = &mut record.motion;
        let turn = Quaternion::exp(part(&response.pose, angular));
        motion.position += part(&response.pose, linear);
        motion.orientation = turn.times(motion.orientation);
        motion.rotation = motion.orientation.matrix();
        motion.velocity += part(&response.velocity, linear);
        motion.angular_velocity += part(&response.velocity, angular);
        record.acceleration += part(&response.acceleration, linear);
        record.angular_acceleration += part(&response.acceleration, angular);
        let inertia = &system.assembly.inertia[i + 1];
        let (a, alpha) = (record.acceleration, record.angular_acceleration);
        record.momentum = inertia.momentum(&record.motion);
        record.momentum_rate = inertia.momentum_rate(&record.motion, a, alpha);
    }
    for (k, multiplier) in system.state.multipliers.iter_mut().enumerate() {
        *multiplier += step * response.multipliers[(k, direction)];
    }
    system.return_to_records();
}
