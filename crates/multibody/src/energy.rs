//! The energy account.

use crate::system::System;
use oldham_cosim::Energy;

impl System {
    /// Kinetic and potential energy at the time reached. Dissipated and supplied energy are
    /// accumulated by the trapezoidal rule if the options ask for it.
    pub fn energy(&self, inputs: &[f64]) -> Energy {
        let account = self.assembly.account(&self.everywhere(inputs));
        let mut energy = Energy {
            kinetic: 0.0,
            potential: account.stored,
            dissipated: self.state.dissipated,
            supplied: self.state.supplied,
        };
        for (inertia, motion) in self.assembly.inertia.iter().zip(&self.motions) {
            energy.kinetic += inertia.kinetic_energy(motion);
            energy.potential += inertia.potential_energy(motion, self.assembly.gravity);
        }
        energy
    }

    pub(crate) fn accumulate_energy(&mut self, h: f64, inputs: &[f64]) {
        let [dissipated, supplied] = self.state.powers;
        self.set_powers(inputs);
        let state = &mut self.state;
        state.dissipated += 0.5 * h * (dissipated + state.powers[0]);
        state.supplied += 0.5 * h * (supplied + state.powers[1]);
    }

    pub(crate) fn set_powers(&mut self, inputs: &[f64]) {
        self.state.powers = self.assembly.powers(&self.everywhere(inputs));
    }
}
