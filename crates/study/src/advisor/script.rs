//! What parts receive while they are driven by a motion that is known: the same at any time within a step.

use std::sync::{Arc, Mutex, PoisonError};

use oldham_cosim::{InputPort, Predictor, State, Visitor};

/// Where inputs are sampled within a step, as shares of it: a cubic in the step is known by these.
pub(super) const SHARES: [f64; 4] = [0.0, 1.0 / 3.0, 2.0 / 3.0, 1.0];

/// What each sample contributes at a share of the step (Lagrange's polynomials).
fn weights(share: f64) -> [f64; SHARES.len()] {
    let mut weights = [0.0; SHARES.len()];
    for (i, weight) in weights.iter_mut().enumerate() {
        let others = (0..SHARES.len()).filter(|&j| j != i);
        *weight = others
            .map(|j| (share - SHARES[j]) / (SHARES[i] - SHARES[j]))
            .product();
    }
    weights
}

/// What one part receives in the present step.
#[derive(Clone, Default)]
pub(super) struct Received {
    /// Its inputs that are connected, as places among all.
    pub places: Vec<usize>,
    /// Their values, sample after sample.
    pub values: Vec<f64>,
    /// Changes of one sample of one input.
    pub change: Option<(usize, f64)>,
}

/// What all parts receive in the present step.
#[derive(Default)]
pub(super) struct Script {
    pub from: f64,
    pub step: f64,
    pub parts: Vec<Received>,
}

impl Script {
    fn at(&self, part: usize, t: f64, inputs: &mut [f64]) {
        let Some(received) = self.parts.get(part) else {
            return;
        };
        let weights = weights((t - self.from) / self.step);
        let width = received.places.len();
        for (input, &place) in received.places.iter().enumerate() {
            let sample = |node: usize| received.values[node * width + input];
            inputs[place] = (0..SHARES.len()).map(|k| weights[k] * sample(k)).sum();
        }
        if let Some((sample, change)) = received.change {
            inputs[received.places[sample % width]] += weights[sample / width] * change;
        }
    }
}

/// A script that players share.
#[derive(Clone, Default)]
pub(super) struct Shared(Arc<Mutex<Script>>);

impl Shared {
    /// Changes it.
    pub fn change<T>(&self, work: impl FnOnce(&mut Script) -> T) -> T {
        work(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Plays what a part receives, whatever is sent to it.
pub(super) struct Player {
    pub script: Shared,
    pub part: usize,
}

impl State for Player {
    fn visit(&mut self, _: &mut dyn Visitor) {}
}

impl Predictor for Player {
    fn receive(&mut self, _: InputPort, _: f64, _: &[f64]) {}
    fn predict(&mut self, t: f64, _: Option<&[f64]>, inputs: &mut [f64]) {
        self.script.change(|script| script.at(self.part, t, inputs));
    }
    fn reset(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_samples_know_a_cubic() {
        let cubic = |s: f64| 2.0 - 3.0 * s + 0.5 * s * s + 4.0 * s * s * s;
        let values = SHARES.map(cubic).to_vec();
        let script = Script {
            from: 1.0,
            step: 2.0,
            parts: vec![Received {
                places: vec![1],
                values,
                change: Some((2, 0.5)),
            }],
        };
        for share in [0.0, 0.2, 2.0 / 3.0, 1.0] {
            let mut inputs = [7.0; 2];
            script.at(0, 1.0 + 2.0 * share, &mut inputs);
            let changed = 0.5 * weights(share)[2];
            assert!(
                (inputs[1] - cubic(share) - changed).abs() < 1e-13,
                "{share}"
            );
            assert_eq!(inputs[0], 7.0);
        }
    }
}
