//! Explicit integrators: semi-implicit Euler and the classical Runge–Kutta method.

use oldham_cosim::{Inputs, StageInputs, StepError};

use super::Step;
use super::follow::Followers;
use crate::plant::Plant;

/// Velocity first, then the position with the new velocity. Inputs at the start of the step.
pub(crate) fn semi_implicit_euler(
    plant: &mut Plant,
    step: Step,
    inputs: &mut Inputs,
    followers: &mut Followers,
) -> Result<(), StepError> {
    followers.accelerate(plant, step, inputs)?;
    plant.accelerate(step.from)?;
    let own = plant.own();
    let motion = &mut plant.motion;
    let states = motion.x[..own].iter_mut().zip(&mut motion.v[..own]);
    for ((x, v), a) in states.zip(&motion.a[..own]) {
        *v += step.size * a;
        *x += step.size * *v;
    }
    followers.finish(plant, step.size);
    Ok(())
}

/// The classical fourth-order method.
#[derive(Clone, Debug)]
pub(crate) struct RungeKutta {
    inputs: StageInputs,
    start_x: Vec<f64>,
    start_v: Vec<f64>,
    mean_v: Vec<f64>,
    mean_a: Vec<f64>,
}

/// Place within the step and weight of each stage's slope.
const STAGES: [(f64, f64); 4] = [
    (0.0, 1.0 / 6.0),
    (0.5, 1.0 / 3.0),
    (0.5, 1.0 / 3.0),
    (1.0, 1.0 / 6.0),
];

impl RungeKutta {
    pub(crate) fn new(inputs: StageInputs, own: usize) -> Self {
        Self {
            inputs,
            start_x: vec![0.0; own],
            start_v: vec![0.0; own],
            mean_v: vec![0.0; own],
            mean_a: vec![0.0; own],
        }
    }

    pub(crate) fn step(
        &mut self,
        plant: &mut Plant,
        step: Step,
        inputs: &mut Inputs,
    ) -> Result<(), StepError> {
        let own = plant.own();
        self.start_x.copy_from_slice(&plant.motion.x[..own]);
        self.start_v.copy_from_slice(&plant.motion.v[..own]);
        self.mean_v.fill(0.0);
        self.mean_a.fill(0.0);
        let mut place_before = 0.0;
        for (place, weight) in STAGES {
            let t = step.from + place * (step.to - step.from);
            if place != place_before && self.inputs == StageInputs::Interpolated {
                plant.receive(t, inputs);
            }
            if place > 0.0 {
                self.move_to_stage(plant, place * step.size);
            }
            plant.accelerate(t)?;
            self.collect(plant, weight);
            place_before = place;
        }
        self.finish(plant, step.size);
        Ok(())
    }

    /// From the start along the slopes of the stage before.
    fn move_to_stage(&self, plant: &mut Plant, distance: f64) {
        let motion = &mut plant.motion;
        for i in 0..self.start_x.len() {
            motion.x[i] = self.start_x[i] + distance * motion.v[i];
            motion.v[i] = self.start_v[i] + distance * motion.a[i];
        }
        plant.moved();
    }

    fn collect(&mut self, plant: &Plant, weight: f64) {
        for i in 0..self.mean_v.len() {
            self.mean_v[i] += weight * plant.motion.v[i];
            self.mean_a[i] += weight * plant.motion.a[i];
        }
    }

    fn finish(&self, plant: &mut Plant, size: f64) {
        for i in 0..self.start_x.len() {
            plant.motion.x[i] = self.start_x[i] + size * self.mean_v[i];
            plant.motion.v[i] = self.start_v[i] + size * self.mean_a[i];
        }
    }
}
