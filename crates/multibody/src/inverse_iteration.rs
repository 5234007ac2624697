//! Products and solutions with mass and shifted stiffness, for the search of directions in which a
//! configuration gives way.

use crate::assembly::EvaluationPoint;
use crate::element::Weights;
use crate::error::SolveError;
use crate::linear::Prescribed;
use crate::system::System;
use nalgebra::DMatrix;
use oldham_space::Vec3;

impl System {
    pub(crate) fn factor_shifted(&mut self, shift: f64, inputs: &[f64]) -> Result<(), SolveError> {
        let weights = Weights {
            mass: shift,
            damping: 0.0,
            stiffness: 1.0,
        };
        for motion in &mut self.motions {
            *motion = motion.moving(Vec3::ZERO, Vec3::ZERO);
        }
        self.work.factored.values.clear();
        let at = EvaluationPoint::new(
            self.state.time,
            &self.motions,
            &self.multipliers,
            inputs,
            &self.state.memory,
        );
        let factored = self
            .assembly
            .factor(&mut self.lu, &at, weights, Prescribed::Change);
        self.return_to_records();
        factored.map_err(|pivot| self.singular(self.state.time, pivot.unknown))
    }

    pub(crate) fn mass_times(&self, x: &DMatrix<f64>) -> DMatrix<f64> {
        let weights = Weights {
            mass: 1.0,
            damping: 0.0,
            stiffness: 0.0,
        };
        let mut product = DMatrix::zeros(x.nrows(), x.ncols());
        for (i, inertia) in self.assembly.inertia.iter().skip(1).enumerate() {
            let motion = self.motions[i + 1].moving(Vec3::ZERO, Vec3::ZERO);
            let blocks = inertia.jacobian(&motion, Vec3::ZERO, weights, Default::default());
            for j in 0..x.ncols() {
                let part = |k: usize| Vec3::new(x[(k, j)], x[(k + 1, j)], x[(k + 2, j)]);
                let (d, r) = (part(6 * i), part(6 * i + 3));
                let force = blocks[0] * d + blocks[1] * r;
                let moment = blocks[2] * d + blocks[3] * r;
                for k in 0..3 {
                    product[(6 * i + k, j)] = force[k];
                    product[(6 * i + 3 + k, j)] = moment[k];
                }
            }
        }
        product
    }

    pub(crate) fn solve_columns(&mut self, loads: &DMatrix<f64>) -> DMatrix<f64> {
        let degrees_of_freedom = loads.nrows();
        let mut solution = loads.clone();
        let mut x = vec![0.0; self.assembly.unknowns()];
        for mut column in solution.column_iter_mut() {
            x.fill(0.0);
            x[..degrees_of_freedom].copy_from_slice(column.as_slice());
            self.lu.solve(&mut x);
            column.copy_from_slice(&x[..degrees_of_freedom]);
        }
        solution
    }
}
