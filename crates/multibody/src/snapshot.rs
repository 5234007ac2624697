//! The state of a system as a value.

use crate::integrator::Record;
use crate::system::System;
use oldham_cosim::{State, Visitor};

impl State for System {
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        let state = &mut self.state;
        for records in [&mut state.now, &mut state.before] {
            for record in &mut records[1..] {
                visit_record(record, visitor);
            }
        }
        visitor.reactions(&mut state.multipliers);
        visitor.reactions(&mut state.multipliers_before);
        visitor.vector(&mut state.memory);
        let memory = &mut state.convergence;
        let numbers = [
            &mut state.time,
            &mut state.step,
            &mut state.dissipated,
            &mut state.supplied,
            &mut state.taken,
            &mut memory.acceleration,
            &mut memory.noise,
            &mut memory.rate,
            &mut memory.force,
            &mut memory.force_noise,
            &mut memory.force_left,
        ];
        for number in numbers {
            visitor.fixed(std::slice::from_mut(number));
        }
        visitor.fixed(&mut state.powers);
        state.foresight.visit(visitor);
        visitor.fixed(&mut state.factored_at.values);
        let counts = [
            &mut state.known,
            &mut memory.age,
            &mut memory.steps,
            &mut memory.debt,
        ];
        for count in counts {
            visitor.count(count);
        }
        if let Some(contacts) = &mut self.contacts {
            contacts.visit(visitor);
        }
        if self.lu.visit_pattern(visitor) {
            self.assembly.connect(&self.lu);
            self.work.factored.values.clear();
        }
        if visitor.replaces() {
            self.derive();
        }
    }
}

/// Momenta are not visited: they follow from the motion.
fn visit_record(record: &mut Record, visitor: &mut dyn Visitor) {
    let motion = &mut record.motion;
    visitor.point(&mut motion.position.0);
    visitor.rotation(&mut motion.orientation.0);
    visitor.spatial(&mut motion.velocity.0);
    visitor.spatial(&mut motion.angular_velocity.0);
    visitor.spatial(&mut record.acceleration.0);
    visitor.spatial(&mut record.angular_acceleration.0);
    visitor.spatial(&mut record.momentum_rate.linear.0);
    visitor.spatial(&mut record.momentum_rate.angular.0);
    let [linear, angular] = &mut record.algorithmic;
    visitor.spatial(&mut linear.0);
    visitor.body_fixed(&mut angular.0);
}

impl System {
    /// Computes again what follows from the state, which may have been replaced.
    fn derive(&mut self) {
        let state = &mut self.state;
        for records in [&mut state.now, &mut state.before] {
            for (record, inertia) in records.iter_mut().zip(&self.assembly.inertia) {
                record.motion.rotation = record.motion.orientation.matrix();
                record.momentum = inertia.momentum(&record.motion);
            }
        }
        self.return_to_records();
        self.forget_foreign_factors();
    }
}
