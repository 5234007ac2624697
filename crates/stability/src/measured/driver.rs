//! A part that is driven by itself, without the simulation around it.

use std::sync::{Arc, Mutex, PoisonError};

use oldham_cosim::{
    InputPort, Inputs, Moment, Ports, Predictor, Snapshot, State, StepError, Subsystem, Visitor,
};

/// Where inputs are sampled within a step, as shares of it: a cubic in the step is known by these.
pub(super) const NODES: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// What each sample contributes at a share of the step (Lagrange's polynomials).
fn weights(nodes: usize, share: f64) -> [f64; NODES.len()] {
    let mut weights = [0.0; NODES.len()];
    for (i, weight) in weights.iter_mut().enumerate().take(nodes) {
        let others = (0..nodes).filter(|&j| j != i);
        *weight = others
            .map(|j| (share - NODES[j]) / (NODES[i] - NODES[j]))
            .product();
    }
    weights
}

/// Inputs over one step: those of the moment at which it all began, and changes of some of them.
struct Script {
    base: Vec<f64>,
    places: Vec<usize>,
    /// Changes, sample after sample.
    changes: Vec<f64>,
    from: f64,
    step: f64,
}

impl Script {
    fn at(&self, t: f64, inputs: &mut [f64]) {
        inputs.copy_from_slice(&self.base);
        let width = self.places.len();
        let nodes = self.changes.len().checked_div(width).unwrap_or(0);
        let weights = weights(nodes, (t - self.from) / self.step);
        for (node, changes) in self.changes.chunks_exact(width.max(1)).enumerate() {
            for (&place, change) in self.places.iter().zip(changes) {
                inputs[place] += weights[node] * change;
            }
        }
    }
}

/// Plays a script.
struct Player(Arc<Mutex<Script>>);

impl State for Player {
    fn visit(&mut self, _: &mut dyn Visitor) {}
}

impl Predictor for Player {
    fn receive(&mut self, _: InputPort, _: f64, _: &[f64]) {}
    fn predict(&mut self, t: f64, _: Option<&[f64]>, inputs: &mut [f64]) {
        let script = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        script.at(t, inputs);
    }
    fn reset(&mut self) {}
}

/// A part at a moment, from which it is driven as often as one likes.
pub(super) struct Driver<'p> {
    part: &'p mut dyn Subsystem,
    inputs: Inputs,
    script: Arc<Mutex<Script>>,
    base: &'p [f64],
    time: f64,
    step: f64,
    width: usize,
    /// Steps taken so far.
    pub steps: u64,
}

impl<'p> Driver<'p> {
    /// Changes will be made to the inputs at these places.
    pub fn new(part: &'p mut dyn Subsystem, moment: Moment<'p>, places: &[usize]) -> Self {
        let ports: &Ports = part.ports();
        let script = Arc::new(Mutex::new(Script {
            base: moment.inputs.to_vec(),
            places: places.to_vec(),
            changes: Vec::new(),
            from: moment.time,
            step: moment.step,
        }));
        Self {
            inputs: Inputs::new(ports, Box::new(Player(Arc::clone(&script)))),
            width: ports.output_width(),
            script,
            part,
            base: moment.inputs,
            time: moment.time,
            step: moment.step,
            steps: 0,
        }
    }

    /// Number of outputs.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The state reached.
    pub fn save(&mut self, state: &mut Snapshot) {
        if let Some(part) = self.part.state() {
            state.save(part);
        }
    }

    /// Goes back to a state.
    pub fn restore(&mut self, state: &Snapshot) {
        if let Some(part) = self.part.state() {
            state.restore(part);
        }
    }

    /// Step number n from the moment on, under changes of the inputs, and the outputs behind it with the inputs as
    /// they were at first.
    pub fn step(
        &mut self,
        n: usize,
        changes: &[f64],
        outputs: &mut [f64],
    ) -> Result<(), StepError> {
        let [from, to] = [n, n + 1].map(|n| self.time + n as f64 * self.step);
        {
            let mut script = self.script.lock().unwrap_or_else(PoisonError::into_inner);
            script.changes.clear();
            script.changes.extend_from_slice(changes);
            script.from = from;
        }
        let mut t = from;
        while t < to - 1e-9 * self.step {
            let reached = self.part.advance(t, to, &mut self.inputs)?;
            if reached.time <= t {
                let message = format!("it does not get beyond t = {t} s");
                return Err(StepError::Foreign(message));
            }
            t = reached.time;
        }
        self.steps += 1;
        self.part.outputs(to, self.base, outputs)
    }

    /// The outputs at the moment, with other inputs there.
    pub fn outputs(&mut self, inputs: &[f64], outputs: &mut [f64]) -> Result<(), StepError> {
        self.part.outputs(self.time, inputs, outputs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_samples_know_a_cubic() {
        let cubic = |s: f64| 2.0 - 3.0 * s + 0.5 * s * s + 4.0 * s * s * s;
        for share in [0.0, 0.1, 0.5, 0.9, 1.0] {
            let weights = weights(4, share);
            let found: f64 = NODES.iter().zip(weights).map(|(&s, w)| w * cubic(s)).sum();
            assert!((found - cubic(share)).abs() < 1e-13, "{share}");
            assert_eq!(super::weights(1, share)[0], 1.0);
        }
    }
}
