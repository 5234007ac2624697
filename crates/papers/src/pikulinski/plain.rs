//! The paper's own predictor, Sect. 2.3: dynamic mode decomposition of the last w pairs, without a constant, without
//! kinematics and without doubts. A hold for two pairs; from then on the window grows until it holds w of them, the soft start
//! of Sect. 3.1: as long as there are fewer pairs than unknowns, the smallest matrix that fits them.
//!
//! Anew in every step (Eq. 4), or by the recursion of Eq. 12 to 19, with the outgoing pair k − w + 1 in Eq. 19, where the
//! print has the newest one. Between communication points it interpolates along a line (Fig. 19).

use nalgebra::{DMatrix, DVector};
use oldham_cosim::{InputPort, Ports, Predictor, State, Visitor};

/// How the matrix is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Method {
    /// All pairs of the window in every step.
    Batch,
    /// One pair in, one pair out.
    Recursive,
}

/// x(k+1) = S z(k), z = (x, u): what is received, and what was sent.
pub(super) struct PlainDmd {
    method: Method,
    window: usize,
    /// Of each input that is predicted the place in the subsystem's inputs.
    inputs: Vec<std::ops::Range<usize>>,
    /// Places of the controls among the outputs.
    controls: Vec<usize>,
    /// The last w + 1 snapshots, the newest last: time, x and u.
    snapshots: Vec<(f64, DVector<f64>, DVector<f64>)>,
    /// S, and P of the recursion, once the pairs have full row rank.
    model: Option<(DMatrix<f64>, Option<DMatrix<f64>>)>,
    /// The snapshot that the model has seen last.
    seen: f64,
    /// What it says for the next one.
    next: Option<DVector<f64>>,
}

impl PlainDmd {
    /// For these inputs of a subsystem, with these of its outputs as controls.
    pub fn new(
        ports: &Ports,
        inputs: &[InputPort],
        controls: &[&str],
        window: usize,
        method: Method,
    ) -> Self {
        let ranges = inputs.iter().map(|&port| ports.input_range(port));
        let places = controls.iter().filter_map(|name| ports.output(name));
        Self {
            method,
            window,
            inputs: ranges.collect(),
            controls: places.flat_map(|port| ports.output_range(port)).collect(),
            snapshots: Vec::new(),
            model: None,
            seen: f64::NEG_INFINITY,
            next: None,
        }
    }

    /// The snapshot of a time, opened if it is new.
    fn at(&mut self, t: f64) -> &mut (f64, DVector<f64>, DVector<f64>) {
        if self.snapshots.last().is_none_or(|last| t > last.0) {
            let width = self.inputs.iter().map(|range| range.len()).sum();
            let (x, u) = match self.snapshots.last() {
                Some((_, x, u)) => (x.clone(), u.clone()),
                None => (DVector::zeros(width), DVector::zeros(self.controls.len())),
            };
            self.snapshots.push((t, x, u));
            // One more than the window has pairs, and the one that leaves it.
            if self.snapshots.len() > self.window + 2 {
                self.snapshots.remove(0);
            }
        }
        self.next = None;
        self.snapshots.last_mut().expect("one was pushed")
    }

    fn z(&self, place: usize) -> DVector<f64> {
        let (_, x, u) = &self.snapshots[place];
        DVector::from_iterator(x.len() + u.len(), x.iter().chain(u.iter()).copied())
    }

    /// Fits all pairs of the window.
    fn fit(&self) -> Option<(DMatrix<f64>, Option<DMatrix<f64>>)> {
        let newest = self.snapshots.len().checked_sub(1)?;
        let first = newest.saturating_sub(self.window);
        if newest < 2 {
            return None;
        }
        let columns: Vec<_> = (first..newest).map(|place| self.z(place)).collect();
        let next: Vec<_> = (first..newest)
            .map(|place| self.snapshots[place + 1].1.clone())
            .collect();
        let (z, y) = (
            DMatrix::from_columns(&columns),
            DMatrix::from_columns(&next),
        );
        let svd = z.clone().svd(true, true);
        let bound = f64::EPSILON * svd.singular_values.max() * z.ncols().max(z.nrows()) as f64;
        let rank = svd
            .singular_values
            .iter()
            .filter(|&&value| value > bound)
            .count();
        let model = y * svd.pseudo_inverse(bound).ok()?;
        let normal = (&z * z.transpose()).try_inverse();
        Some((model, normal.filter(|_| rank == z.nrows())))
    }

    /// Takes the newest pair in, and the oldest out.
    fn update(&mut self) {
        let begun = self
            .model
            .take()
            .filter(|_| self.method == Method::Recursive);
        let Some((s, p)) = begun.and_then(|(s, p)| Some((s, p?))) else {
            self.model = self.fit();
            return;
        };
        let newest = self.snapshots.len() - 1;
        let (z, y) = (self.z(newest - 1), self.snapshots[newest].1.clone());
        let gamma = 1.0 / (1.0 + z.dot(&(&p * &z)));
        let miss = &y - &s * &z;
        let s = s + gamma * miss * (z.transpose() * &p);
        let p = &p - gamma * (&p * &z) * (z.transpose() * &p);
        let Some(out) = (newest - 1).checked_sub(self.window) else {
            self.model = Some((s, Some(p)));
            return;
        };
        let (z, y) = (self.z(out), self.snapshots[out + 1].1.clone());
        let gamma = -1.0 / (1.0 - z.dot(&(&p * &z)));
        let miss = &y - &s * &z;
        let s = s + gamma * miss * (z.transpose() * &p);
        let p = &p - gamma * (&p * &z) * (z.transpose() * &p);
        self.model = Some((s, Some(p)));
    }
}

impl State for PlainDmd {
    /// Nothing that a checkpoint could keep: the paper's runs have none.
    fn visit(&mut self, visitor: &mut dyn Visitor) {
        for (time, x, u) in &mut self.snapshots {
            visitor.fixed(std::slice::from_mut(time));
            visitor.fixed(x.as_mut_slice());
            visitor.fixed(u.as_mut_slice());
        }
    }
}

impl Predictor for PlainDmd {
    fn receive(&mut self, port: InputPort, t: f64, values: &[f64]) {
        let Some(range) = self.inputs.get(port.0).cloned() else {
            return;
        };
        let before: usize = self.inputs[..port.0].iter().map(|range| range.len()).sum();
        self.at(t).1.as_mut_slice()[before..before + range.len()].copy_from_slice(values);
    }

    fn sent(&mut self, t: f64, outputs: &[f64]) {
        let sent: Vec<f64> = self.controls.iter().map(|&place| outputs[place]).collect();
        self.at(t).2.copy_from_slice(&sent);
    }

    fn predict(&mut self, t: f64, _now: Option<&[f64]>, inputs: &mut [f64]) {
        let Some(newest) = self.snapshots.len().checked_sub(1) else {
            return;
        };
        let time = self.snapshots[newest].0;
        if self.next.is_none() && t > time {
            if time > self.seen {
                self.update();
                self.seen = time;
            }
            let z = self.z(newest);
            self.next = self.model.as_ref().map(|(s, _)| s * z);
        }
        let x = &self.snapshots[newest].1;
        let step = newest
            .checked_sub(1)
            .map(|before| time - self.snapshots[before].0);
        let value = match (&self.next, step) {
            (Some(next), Some(step)) if t > time => x + (next - x) * ((t - time) / step),
            _ => x.clone(),
        };
        let mut from = 0;
        for range in &self.inputs {
            inputs[range.clone()].copy_from_slice(&value.as_slice()[from..from + range.len()]);
            from += range.len();
        }
    }

    fn reset(&mut self) {
        self.snapshots.clear();
        self.model = None;
        self.next = None;
        self.seen = f64::NEG_INFINITY;
    }
}

#[cfg(test)]
mod tests {
    use oldham_cosim::{Quantity, Unit};

    use super::*;

    /// x(k+1) = 0.9 x + 0.1 v + u, v(k+1) = -0.2 x + 0.8 v: found from as many pairs as there are unknowns, both ways.
    #[test]
    fn a_linear_recurrence_is_found() {
        let mut ports = Ports::new();
        for name in ["x", "v"] {
            ports.add_input(name, Quantity::Scalar(Unit::METRE));
        }
        ports.add_output("f", Quantity::Scalar(Unit::NEWTON));
        for method in [Method::Batch, Method::Recursive] {
            let mut dmd = PlainDmd::new(&ports, &[InputPort(0), InputPort(1)], &["f"], 4, method);
            let (mut x, mut v) = (1.0, -0.5);
            for k in 0..20 {
                let (t, u) = (f64::from(k), f64::from(k * k % 7));
                dmd.sent(t, &[u]);
                dmd.receive(InputPort(0), t, &[x]);
                dmd.receive(InputPort(1), t, &[v]);
                (x, v) = (0.9 * x + 0.1 * v + u, -0.2 * x + 0.8 * v);
                let mut next = [0.0; 2];
                dmd.predict(t + 1.0, None, &mut next);
                if k >= 5 {
                    assert!(
                        (next[0] - x).abs() < 1e-8 && (next[1] - v).abs() < 1e-8,
                        "{method:?}, {k}: {next:?}"
                    );
                    dmd.predict(t + 0.5, None, &mut next);
                }
            }
        }
    }
}
