//! The exact solution of a linear system under forces that are cubic in time within a step: with the
//! state z = (x, v), z' = A z + B q, the force q a cubic.

use nalgebra::DMatrix;
use oldham_cosim::Inputs;
use oldham_cosim::{Counters, StepError};
use oldham_propagator::{PLACES, Propagator};

use super::Step;
use crate::plant::Plant;
use crate::tangents::By;
use crate::wiring::Target;

/// The integrator; the propagator is made anew, with allocation, when the step size changes.
#[derive(Clone, Debug)]
pub(crate) struct Exact {
    /// Own nodes on which a force can act that does not come from the state.
    forced: Vec<usize>,
    propagator: Option<ExactStep>,
    state: Vec<f64>,
    next: Vec<f64>,
    /// Forces on the forced nodes at one place.
    force: Vec<f64>,
}

#[derive(Clone, Debug)]
struct ExactStep {
    size: f64,
    /// State to state, row by row.
    of_state: Vec<f64>,
    /// Forces at each place to state, row by row.
    of_force: [Vec<f64>; 4],
}

impl Exact {
    pub(crate) fn new(plant: &Plant) -> Self {
        let own = plant.own();
        let forced = forced_nodes(plant);
        Self {
            force: vec![0.0; forced.len()],
            forced,
            propagator: None,
            state: vec![0.0; 2 * own],
            next: vec![0.0; 2 * own],
        }
    }

    pub(crate) fn step(
        &mut self,
        plant: &mut Plant,
        step: Step,
        inputs: &mut Inputs,
        counters: &mut Counters,
    ) -> Result<(), StepError> {
        if self.propagator.as_ref().is_none_or(|p| p.size != step.size) {
            counters.factorisations += 1;
            self.propagator = Some(ExactStep::new(plant, &self.forced, step.size));
        }
        let Some(propagator) = &self.propagator else {
            unreachable!("made above");
        };
        let own = plant.own();
        let (x, v) = self.state.split_at_mut(own);
        x.copy_from_slice(&plant.motion.x[..own]);
        v.copy_from_slice(&plant.motion.v[..own]);
        self.next.fill(0.0);
        accumulate(&propagator.of_state, &self.state, &mut self.next);
        // With the own nodes at rest in the origin only the forces from outside remain.
        plant.motion.x[..own].fill(0.0);
        plant.motion.v[..own].fill(0.0);
        for (place, of_force) in PLACES.into_iter().zip(&propagator.of_force) {
            let t = step.from + place * (step.to - step.from);
            if place > 0.0 {
                plant.receive(t, inputs);
            }
            plant.evaluate_forces(By::Position, t)?;
            for (force, &node) in self.force.iter_mut().zip(&self.forced) {
                *force = plant.forces[node];
            }
            accumulate(of_force, &self.force, &mut self.next);
        }
        plant.motion.x[..own].copy_from_slice(&self.next[..own]);
        plant.motion.v[..own].copy_from_slice(&self.next[own..]);
        Ok(())
    }
}

/// `result += matrix * values`
fn accumulate(matrix: &[f64], values: &[f64], result: &mut [f64]) {
    if values.is_empty() {
        return;
    }
    for (result, row) in result.iter_mut().zip(matrix.chunks_exact(values.len())) {
        *result += row.iter().zip(values).map(|(m, x)| m * x).sum::<f64>();
    }
}

fn forced_nodes(plant: &Plant) -> Vec<usize> {
    let equations = &plant.equations;
    let own = equations.own;
    let from_outside = |row: &usize| {
        let boundary_nodes = |slot: usize| slot >= own;
        let targets = plant.wiring.targets.iter();
        equations.constant[*row] != 0.0
            || equations
                .couplings
                .row(*row)
                .iter()
                .any(|e| boundary_nodes(e.0))
            || equations.boundary_masses.iter().any(|mass| mass.0 == *row)
            || targets.clone().any(|t| *t == Target::Force(*row))
            || equations
                .loads
                .iter()
                .any(|load| load.receivers.iter().any(|r| r.row == *row))
    };
    (0..own).filter(from_outside).collect()
}

impl ExactStep {
    fn new(plant: &Plant, forced: &[usize], size: f64) -> Self {
        let [a, b] = scaled_system(plant, forced, size);
        let step = Propagator::new(&a, &b);
        Self {
            size,
            of_state: row_by_row(&step.of_state),
            of_force: step.of_input.each_ref().map(row_by_row),
        }
    }
}

/// Step size times A and B.
fn scaled_system(plant: &Plant, forced: &[usize], size: f64) -> [DMatrix<f64>; 2] {
    let equations = &plant.equations;
    let own = equations.own;
    let mut matrix = DMatrix::zeros(2 * own, 2 * own + forced.len());
    for row in 0..own {
        matrix[(row, own + row)] = size;
    }
    let (mut forces, mut accelerations) = (vec![0.0; own], vec![0.0; own]);
    let mut set_accelerations = |at: usize, force_on: &dyn Fn(usize) -> f64| {
        for (row, force) in forces.iter_mut().enumerate() {
            *force = force_on(row);
        }
        equations.accelerations(&forces, &mut accelerations);
        for (row, acceleration) in accelerations.iter().enumerate() {
            matrix[(own + row, at)] = size * acceleration;
        }
    };
    let coupling = |row: usize, node: usize| {
        let entry = equations.couplings.row(row).iter().find(|e| e.0 == node);
        entry.map(|e| e.1).unwrap_or_default()
    };
    for node in 0..own {
        set_accelerations(node, &|row| -coupling(row, node).stiffness);
        set_accelerations(own + node, &|row| -coupling(row, node).damping);
    }
    for (channel, &node) in forced.iter().enumerate() {
        set_accelerations(2 * own + channel, &|row| f64::from(row == node));
    }
    let columns = |from, width| matrix.columns(from, width).into_owned();
    [columns(0, 2 * own), columns(2 * own, forced.len())]
}

fn row_by_row(matrix: &DMatrix<f64>) -> Vec<f64> {
    matrix.transpose().as_slice().to_vec()
}
