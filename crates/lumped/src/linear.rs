//! Linearisation of the equations, and what the system looks like from its force inputs.

use nalgebra::DMatrix;
use oldham_cosim::{EffectiveInterface, Linearisation, StepError};

use crate::plant::Plant;
use crate::wiring::{Origin, Target};

/// Derivatives of the forces at the present point, rows by slots.
struct TangentStiffness {
    stiffness: DMatrix<f64>,
    damping: DMatrix<f64>,
    mass: DMatrix<f64>,
}

impl TangentStiffness {
    fn at(plant: &Plant, t: f64) -> Self {
        let equations = &plant.equations;
        let rows = equations.own + equations.boundary_nodes;
        let zeros = || DMatrix::zeros(rows, equations.slots());
        let mut tangent = Self {
            stiffness: zeros(),
            damping: zeros(),
            mass: zeros(),
        };
        for (row, slot, coupling) in equations.couplings.iter() {
            tangent.stiffness[(row, slot)] += coupling.stiffness;
            tangent.damping[(row, slot)] += coupling.damping;
        }
        for (row, slot, mass) in equations.masses.iter() {
            tangent.mass[(row, slot)] += mass;
        }
        for law in &equations.laws {
            let (d, v) = law.stretch(&plant.motion.x, &plant.motion.v);
            let (by_d, by_v) = law.slopes(d, v, t);
            for receiver in &law.receivers {
                for (slot, sign) in law.ends.into_iter().zip([-1.0, 1.0]) {
                    let factor = -receiver.sign * sign;
                    tangent.stiffness[(receiver.row, slot)] += factor * by_d;
                    tangent.damping[(receiver.row, slot)] += factor * by_v;
                }
            }
        }
        tangent
    }
}

/// Rows of derivatives by the state (displacements, then velocities) and by the inputs.
struct Derivatives {
    by_state: DMatrix<f64>,
    by_input: DMatrix<f64>,
}

impl Derivatives {
    fn zeros(rows: usize, plant: &Plant) -> Self {
        Self {
            by_state: DMatrix::zeros(rows, 2 * plant.own()),
            by_input: DMatrix::zeros(rows, plant.wiring.ports.input_width()),
        }
    }

    /// Of the forces on all rows, inertia of own nodes apart.
    fn of_forces(plant: &Plant, tangent: &TangentStiffness) -> Self {
        let own = plant.own();
        let rows = own + plant.equations.boundary_nodes;
        let mut derivatives = Self::zeros(rows, plant);
        for row in 0..rows {
            for node in 0..own {
                derivatives.by_state[(row, node)] = -tangent.stiffness[(row, node)];
                derivatives.by_state[(row, own + node)] = -tangent.damping[(row, node)];
            }
            for (input, target) in plant.wiring.targets.iter().enumerate() {
                derivatives.by_input[(row, input)] = match *target {
                    Target::Force(node) => f64::from(node == row),
                    moves => -match moves.moved() {
                        Some((slot, 0)) => tangent.stiffness[(row, slot)],
                        Some((slot, 1)) => tangent.damping[(row, slot)],
                        Some((slot, _)) => tangent.mass[(row, slot)],
                        None => 0.0,
                    },
                };
            }
        }
        derivatives
    }

    /// Of the accelerations of own nodes.
    fn of_accelerations(plant: &Plant, forces: &Self) -> Self {
        let own = plant.own();
        let accelerations = |of_forces: &DMatrix<f64>| {
            let forces = of_forces.rows(0, own).into_owned();
            let mut accelerations = forces.clone();
            for column in 0..forces.ncols() {
                let forces = forces.column(column);
                let mut accelerations = accelerations.column_mut(column);
                plant
                    .equations
                    .accelerations(forces.as_slice(), accelerations.as_mut_slice());
            }
            accelerations
        };
        Self {
            by_state: accelerations(&forces.by_state),
            by_input: accelerations(&forces.by_input),
        }
    }
}

/// The linearisation at the present point, where the inputs are already imposed.
pub(crate) fn linearise(plant: &Plant, t: f64) -> Linearisation {
    let own = plant.own();
    let tangent = TangentStiffness::at(plant, t);
    let forces = Derivatives::of_forces(plant, &tangent);
    let accelerations = Derivatives::of_accelerations(plant, &forces);
    let mut rates = Derivatives::zeros(2 * own, plant);
    for node in 0..own {
        rates.by_state[(node, own + node)] = 1.0;
    }
    rates
        .by_state
        .rows_mut(own, own)
        .copy_from(&accelerations.by_state);
    rates
        .by_input
        .rows_mut(own, own)
        .copy_from(&accelerations.by_input);
    let outputs = output_derivatives(plant, &tangent, &forces, &accelerations);
    Linearisation {
        states: 2 * own,
        a: row_by_row(&rates.by_state),
        b: row_by_row(&rates.by_input),
        c: row_by_row(&outputs.by_state),
        d: row_by_row(&outputs.by_input),
        sample: None,
    }
}

fn output_derivatives(
    plant: &Plant,
    tangent: &TangentStiffness,
    forces: &Derivatives,
    accelerations: &Derivatives,
) -> Derivatives {
    let own = plant.own();
    let mut outputs = Derivatives::zeros(plant.wiring.origins.len(), plant);
    for (output, origin) in plant.wiring.origins.iter().enumerate() {
        let mut state_row = outputs.by_state.row_mut(output);
        let mut input_row = outputs.by_input.row_mut(output);
        match *origin {
            Origin::Displacement(slot) if slot < own => state_row[slot] = 1.0,
            Origin::Velocity(slot) if slot < own => state_row[own + slot] = 1.0,
            Origin::Acceleration(slot) if slot < own => {
                state_row.copy_from(&accelerations.by_state.row(slot));
                input_row.copy_from(&accelerations.by_input.row(slot));
            }
            Origin::ForceOnBoundary(boundary) => {
                let row = own + boundary;
                let inertia = tangent.mass.view((row, 0), (1, own));
                state_row
                    .copy_from(&(forces.by_state.row(row) - inertia * &accelerations.by_state));
                input_row
                    .copy_from(&(forces.by_input.row(row) - inertia * &accelerations.by_input));
            }
            Origin::Displacement(_) | Origin::Velocity(_) | Origin::Acceleration(_) => {
                pass_through(plant, *origin, |input| input_row[input] = 1.0);
            }
            Origin::Tangent(_) => {}
        }
    }
    outputs
}

/// The motion of a boundary node is an output that equals an input.
fn pass_through(plant: &Plant, origin: Origin, mut set: impl FnMut(usize)) {
    for (input, target) in plant.wiring.targets.iter().enumerate() {
        let shown = match origin {
            Origin::Displacement(slot) => (slot, 0),
            Origin::Velocity(slot) => (slot, 1),
            Origin::Acceleration(slot) => (slot, 2),
            Origin::ForceOnBoundary(_) | Origin::Tangent(_) => return,
        };
        if target.moved() == Some(shown) {
            set(input);
        }
    }
}

/// Accelerations and mobility at force inputs; false where one of them is none, or where forces answer
/// to the motion themselves. The inputs are already imposed.
pub(crate) fn interface(
    plant: &mut Plant,
    t: f64,
    found: &mut EffectiveInterface,
) -> Result<bool, StepError> {
    let is_force = |&input: &usize| force_row(plant, input).is_some();
    if !found.inputs.iter().all(is_force) || !plant.tangents.is_empty() {
        return Ok(false);
    }
    plant.accelerate(t)?;
    let EffectiveInterface {
        inputs,
        answers,
        mobility,
    } = found;
    let count = inputs.len();
    for (column, &input) in inputs.iter().enumerate() {
        let pushed = force_row(plant, input).expect("checked above");
        answers[column] = plant.motion.a[pushed];
        plant.unit_force.fill(0.0);
        plant.unit_force[pushed] = 1.0;
        let (force, response) = (&plant.unit_force, &mut plant.response);
        plant.equations.accelerations(force, response);
        for (row, &input) in inputs.iter().enumerate() {
            let moved = force_row(plant, input).expect("checked above");
            mobility[count * row + column] = plant.response[moved];
        }
    }
    Ok(true)
}

/// The own node on which a component of the inputs is a force.
fn force_row(plant: &Plant, input: usize) -> Option<usize> {
    match plant.wiring.targets.get(input) {
        Some(&Target::Force(node)) => Some(node),
        _ => None,
    }
}

fn row_by_row(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}
