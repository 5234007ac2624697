//! Continuous-time linearisation of a part at its ports.
//!
//! Constraints are taken away as in [`FirstOrder`]: states are coordinates of nodes, those that tell the others apart
//! best, then as many of their rates as constraints leave free, then states of elements; all have names. The derivatives
//! T₀, T₁ and T₂ of the constraints, their velocities and accelerations by the inputs tell how a received motion moves
//! them: it brings its own rates.

use super::MechanismPart;
use crate::assembly::EvaluationPoint;
use crate::linearised::first_order::FirstOrder;
use crate::linearised::states::{PlacedStates, Unlinear};
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

/// Changes of poses, velocities, accelerations, multipliers and states of elements, one column for each
/// direction.
struct Response {
    pose: DMatrix<f64>,
    velocity: DMatrix<f64>,
    acceleration: DMatrix<f64>,
    multipliers: DMatrix<f64>,
    states: DMatrix<f64>,
    /// Where each state is in the memory of all elements.
    memory: Vec<usize>,
}

/// The linearisation, or why there is none, as the end of a sentence that begins with the part.
pub(super) fn linearise(part: &mut MechanismPart, inputs: &[f64]) -> Result<Linearisation, String> {
    let system = &part.system;
    let (n, m) = (6 * system.assembly.nodes(), system.assembly.constraints);
    if n + m > DENSE_LIMIT {
        return Err(format!(
            "is too large for a linear model with dense matrices ({} unknowns, at most {DENSE_LIMIT})",
            n + m
        ));
    }
    let at = system.evaluation_point(inputs);
    let own = PlacedStates::at(&system.assembly, &at);
    let own = own.map_err(|Unlinear { element, reason }| {
        format!("has no linear model here: its element `{element}` {reason}")
    })?;
    let accelerations = system.present_accelerations();
    let matrices = system.exact_matrices(&at, &accelerations);
    let rows = system.rows_along(inputs, &accelerations);
    let singular = || String::from("is in a singular position");
    let free = FirstOrder::new(&matrices, &rows, &own).ok_or_else(singular)?;
    let mut names = state_names(&system.assembly.node_names, &free);
    names.extend(own.names.iter().cloned());
    let (loads, targets) = input_effects(system, inputs);
    let [t0, t1, t2] = &targets;
    let [nz, ns, nu] = free.sizes();
    let (states, width) = (nz + nu + ns, inputs.len());

    // Poses, velocities and accelerations (but for those of the speeds) by coordinates, speeds, states of
    // elements and inputs. Constraints that inputs move are followed.
    let all = |z: &DMatrix<f64>, u: &DMatrix<f64>, w: DMatrix<f64>| {
        let mut all = DMatrix::zeros(z.nrows(), states + width);
        all.view_mut((0, 0), z.shape()).copy_from(z);
        all.view_mut((0, nz), u.shape()).copy_from(u);
        all.view_mut((0, states), w.shape()).copy_from(&w);
        all
    };
    let [of_places, of_all] = &free.moved;
    let [by_pose, by_velocity, by_acceleration] = &free.rates;
    let kept = |targets: &DMatrix<f64>| targets.select_rows(&of_all.rows);
    let pose = -(&of_places.matrix * t0.select_rows(&of_places.rows));
    let velocity = -(&of_all.matrix * (by_pose * &pose + kept(t1)));
    let acceleration =
        -(&of_all.matrix * (by_velocity * &velocity + by_acceleration * &pose + kept(t2)));
    let pose = all(&free.poses, &DMatrix::zeros(n, nu), pose);
    let velocity = all(&free.velocities[0], &free.velocities[1], velocity);
    let mut acceleration = all(&free.accelerations[0], &free.accelerations[1], acceleration);
    let mut carried = DMatrix::zeros(ns, states + width);
    carried
        .view_mut((0, nz + nu), (ns, ns))
        .fill_with_identity();

    // What is left of the forces accelerates the speeds.
    let mut forces = -(&free.mass * &acceleration)
        - &free.damping * &velocity
        - &free.stiffness * &pose
        - &free.by_state * &carried;
    let mut direct = forces.view_mut((0, states), (n, width));
    direct += loads;
    let inertia = free.inertia().lu();
    let speeds = inertia.solve(&free.left.tr_mul(&forces));
    let speeds = speeds.ok_or("has a free motion without inertia")?;
    let own_acceleration = &free.velocities[1] * &speeds;
    acceleration += &own_acceleration;
    forces -= &free.mass * own_acceleration;
    let mut multipliers = DMatrix::zeros(m, states + width);
    let found = free.multipliers.matrix.tr_mul(&forces);
    for (i, &row) in free.multipliers.rows.iter().enumerate() {
        multipliers.set_row(row, &found.row(i));
    }

    let [by_pose, by_velocity, by_states] = &free.state_rates;
    let rates = by_pose * &pose + by_velocity * &velocity + by_states * &carried;
    let mut derivative = DMatrix::zeros(states, states + width);
    let places = velocity.select_rows(&free.coordinates);
    derivative
        .view_mut((0, 0), (nz, states + width))
        .copy_from(&places);
    derivative
        .view_mut((nz, 0), speeds.shape())
        .copy_from(&speeds);
    derivative
        .view_mut((nz + nu, 0), rates.shape())
        .copy_from(&rates);
    let response = Response {
        pose,
        velocity,
        acceleration,
        multipliers,
        states: carried,
        memory: own.memory,
    };
    let outputs = output_changes(part, inputs, &response, states);
    part.state_names = names;
    let rows = |matrix: DMatrix<f64>| matrix.transpose().as_slice().to_vec();
    let split = |matrix: &DMatrix<f64>| {
        [
            rows(matrix.columns(0, states).into_owned()),
            rows(matrix.columns(states, width).into_owned()),
        ]
    };
    let [a, b] = split(&derivative);
    let [c, d] = split(&outputs);
    Ok(Linearisation {
        states,
        a,
        b,
        c,
        d,
        sample: None,
    })
}

/// Coordinates of nodes, then their rates: positions and rotations, in the absolute frame.
fn state_names(nodes: &[String], free: &FirstOrder) -> Vec<String> {
    const COORDINATES: [&str; 6] = ["x", "y", "z", "rx", "ry", "rz"];
    const RATES: [&str; 6] = ["vx", "vy", "vz", "wx", "wy", "wz"];
    let named = |words: [&str; 6], unknowns: &[usize]| -> Vec<String> {
        let name = |&row: &usize| format!("{}.{}", nodes[row / 6 + 1], words[row % 6]);
        unknowns.iter().map(name).collect()
    };
    let coordinates = named(COORDINATES, &free.coordinates);
    [coordinates, named(RATES, &free.speeds)].concat()
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
    let memory = part.system.state.memory.clone();
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
            part.system.state.memory.copy_from_slice(&memory);
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
        let (spin, alpha) = (motion.angular_velocity, record.angular_acceleration);
        // δω = δφ' - ω × δφ, and its rate.
        let [turn, turning, accelerated] =
            [&response.pose, &response.velocity, &response.acceleration].map(|m| part(m, angular));
        motion.position += part(&response.pose, linear);
        motion.orientation = Quaternion::exp(turn).times(motion.orientation);
        motion.rotation = motion.orientation.matrix();
        motion.velocity += part(&response.velocity, linear);
        motion.angular_velocity += turning - spin.cross(turn);
        record.acceleration += part(&response.acceleration, linear);
        record.angular_acceleration += accelerated - alpha.cross(turn) - spin.cross(turning);
        let inertia = &system.assembly.inertia[i + 1];
        let (a, alpha) = (record.acceleration, record.angular_acceleration);
        record.momentum = inertia.momentum(&record.motion);
        record.momentum_rate = inertia.momentum_rate(&record.motion, a, alpha);
    }
    for (k, &place) in response.memory.iter().enumerate() {
        system.state.memory[place] += step * response.states[(k, direction)];
    }
    for (k, multiplier) in system.state.multipliers.iter_mut().enumerate() {
        *multiplier += step * response.multipliers[(k, direction)];
    }
    system.return_to_records();
}
