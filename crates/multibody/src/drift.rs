//! Displacements of nodes besides those that their velocities cause; see
//! [`PrescribedMotion`](crate::PrescribedMotion).

use crate::assembly::EvaluationPoint;
use crate::element::InverseMass;
use crate::system::System;

/// Inertia that a node without mass gets, relative to the largest.
const FLOOR: f64 = 1e-6;

impl System {
    /// Takes away violations of positions that the equations of the step do not see, and that the
    /// correction of the velocities will not take away.
    pub(crate) fn remove_drift(&mut self, time: f64, h: f64, c: f64, inputs: &[f64]) {
        for index in 0..self.assembly.drifting.len() {
            let placed = &self.assembly.elements[self.assembly.drifting[index]];
            let at = EvaluationPoint::new(
                time,
                &self.motions,
                &self.multipliers,
                inputs,
                &self.state.memory,
            )
            .after(h);
            let ends = [0, 1].map(|end| placed.element.nodes()[end].0);
            let inverse_mass = ends.map(|node| self.inverse_mass(node));
            let shifts =
                placed
                    .element
                    .drift(&at.of(placed, &self.assembly.elements), inverse_mass, c);
            for (node, (displacement, spin)) in ends.into_iter().zip(shifts) {
                if node > 0 && !self.assembly.is_given[node] {
                    let (known, rates) = (&mut self.work.known[node], &self.work.rates[node]);
                    known.shift(rates, displacement, spin, c);
                    self.motions[node] = known.motion(rates, c);
                }
            }
        }
    }

    /// The ground stays where it is, and so does a node that is given.
    fn inverse_mass(&self, node: usize) -> InverseMass {
        if node == 0 || self.assembly.is_given[node] {
            return InverseMass::default();
        }
        let inertia = &self.assembly.inertia[node];
        let (mass, moment) = self.assembly.largest_inertia;
        let mean = (0..3).map(|i| inertia.second.0[i][i]).sum::<f64>() / 3.0;
        InverseMass {
            linear: 1.0 / inertia.mass.max(FLOOR * mass),
            angular: 1.0 / mean.max(FLOOR * moment),
        }
    }
}
