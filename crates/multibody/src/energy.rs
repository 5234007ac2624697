//! The energy balance.

use crate::assembly::EvaluationPoint;
use crate::element::ElementId;
use crate::system::System;
use oldham_cosim::Energy;

impl System {
    /// Kinetic and potential energy at the time reached. Dissipated and supplied energy, and what elements
    /// without a potential took up, are accumulated by the trapezoidal rule if the options ask for it.
    pub fn energy(&self, inputs: &[f64]) -> Energy {
        let energy = self.assembly.element_energy(&self.evaluation_point(inputs));
        let mut energy = Energy {
            kinetic: 0.0,
            potential: energy.stored + self.state.taken,
            dissipated: self.state.dissipated,
            supplied: self.state.supplied,
        };
        energy.kinetic = self.kinetic_energy();
        for (inertia, motion) in self.assembly.inertia.iter().zip(&self.motions) {
            energy.potential += inertia.potential_energy(motion, self.assembly.gravity);
        }
        if let Some(contacts) = &self.contacts {
            energy.kinetic += contacts.scene.kinetic_energy();
            energy.potential += contacts.scene.potential_energy();
        }
        energy
    }

    /// Kinetic energy of the bodies.
    pub(crate) fn kinetic_energy(&self) -> f64 {
        let bodies = self.assembly.inertia.iter().zip(&self.motions);
        bodies
            .map(|(inertia, motion)| inertia.kinetic_energy(motion))
            .sum()
    }

    pub(crate) fn accumulate_energy(&mut self, h: f64, inputs: &[f64]) {
        let [dissipated, supplied, taken] = self.state.powers;
        self.set_powers(inputs);
        let state = &mut self.state;
        state.dissipated += 0.5 * h * (dissipated + state.powers[0]);
        state.supplied += 0.5 * h * (supplied + state.powers[1]);
        state.taken += 0.5 * h * (taken + state.powers[2]);
    }

    pub(crate) fn set_powers(&mut self, inputs: &[f64]) {
        self.state.powers = self.powers(self.state.time, inputs);
    }

    /// Powers that are dissipated, supplied, and taken up without a potential. Forces that come from other
    /// parts supply nothing: their work is a matter between the two.
    pub(crate) fn powers(&mut self, time: f64, inputs: &[f64]) -> [f64; 3] {
        let [dissipated, supplied] = self.powers_with(time, inputs);
        let taken = self.assembly.taken_besides(&EvaluationPoint {
            time,
            ..self.evaluation_point(inputs)
        });
        if self.foreign.is_empty() {
            return [dissipated, supplied, taken];
        }
        let mut own = std::mem::take(&mut self.work.own_inputs);
        own.clear();
        own.extend_from_slice(inputs);
        for &component in &self.foreign {
            own[component] = 0.0;
        }
        let [_, supplied] = self.powers_with(time, &own);
        self.work.own_inputs = own;
        [dissipated, supplied, taken]
    }

    fn powers_with(&self, time: f64, inputs: &[f64]) -> [f64; 2] {
        self.assembly.powers(&EvaluationPoint {
            time,
            input_time: time,
            ..self.evaluation_point(inputs)
        })
    }

    /// Tells which forces of the input vector come from other parts, and the work of which elements
    /// is accounted for elsewhere.
    pub(crate) fn leave_to_others(&mut self, foreign: Vec<usize>, elements: &[ElementId]) {
        let width = self.state.factored_at.values.len();
        self.work.own_inputs.reserve(width);
        self.foreign = foreign;
        self.assembly.leave_out(elements);
    }
}
