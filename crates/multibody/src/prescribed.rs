//! Nodes whose poses are given, with or without their velocities.
//!
//! The iteration of a step finds them where they have to be, and leaves them there: their
//! unknowns are zero, and only the reactions are left to be found.

use crate::element::PrescribedEnd;
use crate::node::Motion;
use crate::system::System;

impl System {
    /// Puts prescribed nodes to the end of the step.
    pub(crate) fn place_prescribed(&mut self, c: f64, inputs: &[f64]) {
        for &index in &self.assembly.prescribing {
            let element = &self.assembly.elements[index].element;
            let Some(end) = element.prescribed_end(inputs) else {
                continue;
            };
            let node = element.nodes()[0].0;
            let known = &mut self.work.known[node];
            let (rates, position, orientation) = match end {
                PrescribedEnd::Pose(position, orientation) => {
                    (known.reach(position, orientation, c), position, orientation)
                }
                // The formula makes the pose from the velocity. What it remembers of the past is
                // replaced by what leads to both.
                PrescribedEnd::Motion(position, orientation, [velocity, spin]) => {
                    let pose = Motion::at_rest(position, orientation);
                    let rates = known.end_with(&pose.moving(velocity, spin), c);
                    (rates, position, orientation)
                }
            };
            // The very pose, without the rounding of the formula.
            self.motions[node] = Motion {
                position,
                orientation,
                rotation: orientation.matrix(),
                ..known.motion(&rates, c)
            };
            self.work.rates[node] = rates;
        }
    }
}
