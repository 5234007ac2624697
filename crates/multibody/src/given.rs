//! Nodes whose pose and velocity are both given.
//!
//! The formula of a step makes the pose from the velocity. For a node that has both from outside
//! nothing is left to it: what it remembers of the past is replaced by what leads to the given
//! motion. The iteration then finds the node where it has to be, and leaves it there.

use crate::system::System;

impl System {
    /// Puts such nodes to the end of the step.
    pub(crate) fn place_given(&mut self, c: f64, inputs: &[f64]) {
        for &index in &self.assembly.giving {
            let element = &self.assembly.elements[index].element;
            let Some(motion) = element.given_motion(inputs) else {
                continue;
            };
            let node = element.nodes()[0].0;
            let known = &mut self.work.known[node];
            let rates = known.end_with(&motion, c);
            self.motions[node] = known.motion(&rates, c);
            self.work.rates[node] = rates;
        }
    }
}
