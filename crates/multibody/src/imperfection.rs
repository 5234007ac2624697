//! The way around a bifurcation: loads with a push beside them, which is then taken away.
//!
//! A straight column under a load beyond Euler's is left along the motion that gives way. Where the column is slender,
//! falling from there takes steps that are small beside every thickness, since a step sideways along a straight line stretches it. With a push along
//! that motion there is no bifurcation: the loads are raised anew from where the model is given, the push with them, and
//! the equilibrium bends away by itself. When the push is taken back, it stays on its branch.

use crate::error::SolveError;
use crate::node::Motion;
use crate::system::System;
use nalgebra::DMatrix;

/// Pushes that are tried, as displacements relative to the model's size against the negative stiffness.
const STRENGTHS: [f64; 4] = [0.03, 0.1, 0.3, 1.0];
/// Steps in which loads are raised.
const RISING: usize = 8;
/// First and smallest part of the push that is taken back at once.
const FALLING: f64 = 0.25;
const SMALLEST_STEP: f64 = 1.0 / 256.0;

/// Forces beside the loads in statics.
#[derive(Clone, Debug, Default)]
pub(crate) struct Push {
    /// On all nodes; empty without any.
    forces: Vec<f64>,
    /// How much of it acts.
    scale: f64,
}

impl Push {
    /// Adds it to forces, where a fraction of all loads acts.
    pub fn add_to(&self, forces: &mut [f64], load_factor: f64) {
        for (force, push) in forces.iter_mut().zip(&self.forces) {
            *force += self.scale * load_factor * push;
        }
    }
}

impl System {
    /// Looks for an equilibrium on the branch to which a motion with negative stiffness per mass leads, from the `given`
    /// configuration, with pushes to that side that become stronger until the model is in one that `holds`.
    pub(crate) fn go_around(
        &mut self,
        given: &[Motion],
        (stiffness, shape): (f64, &[f64]),
        inputs: &[f64],
        holds: impl Fn(&mut Self) -> bool,
    ) -> bool {
        let column = DMatrix::from_column_slice(shape.len(), 1, shape);
        let along = self.mass_times(&column) * -stiffness;
        STRENGTHS.iter().any(|strength| {
            let forces = along.iter().map(|force| strength * force);
            self.work.push = Push {
                forces: forces.collect(),
                scale: 1.0,
            };
            self.motions.copy_from_slice(given);
            self.multipliers.fill(0.0);
            self.assembly.separate(&mut self.lu);
            let found = self.raise_loads(RISING, inputs);
            let found = found.and_then(|()| self.take_push_back(inputs));
            self.work.push = Push::default();
            found.is_ok() && holds(self)
        })
    }

    fn take_push_back(&mut self, inputs: &[f64]) -> Result<(), SolveError> {
        let mut step = FALLING;
        while self.work.push.scale > 0.0 {
            let good = (self.motions.clone(), self.multipliers.clone());
            let scale = self.work.push.scale;
            self.work.push.scale = (scale - step).max(0.0);
            if let Err(error) = self.balance(1.0, inputs) {
                (self.motions, self.multipliers) = good;
                self.work.push.scale = scale;
                step *= 0.5;
                if step < SMALLEST_STEP {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}
