//! The past of a signal at equal distances.

use oldham_cosim::Visitor;

/// Samples of a signal, the newest first in a ring, from which its past is interpolated by cubics.
#[derive(Clone, Debug)]
pub(crate) struct History {
    delay: f64,
    step: f64,
    ring: Vec<f64>,
    /// Where the newest sample stands.
    newest: u64,
    /// When it was taken.
    time: f64,
}

/// Points of a cubic.
const POINTS: usize = 4;

impl History {
    /// A signal that always was `initial`.
    pub fn new(delay: f64, initial: f64, step: f64, start: f64) -> Self {
        let samples = (delay / step).ceil() as usize + POINTS;
        Self {
            delay,
            step,
            ring: vec![initial; samples],
            newest: 0,
            time: start,
        }
    }

    /// Takes the value at the start of a step.
    pub fn take(&mut self, t: f64, value: f64) {
        let is_new = t > self.time + 0.5 * self.step;
        if is_new {
            self.newest = (self.newest + 1) % self.ring.len() as u64;
        }
        self.time = t;
        self.ring[self.newest as usize] = value;
    }

    /// The signal one delay before `t`.
    pub fn before(&self, t: f64) -> f64 {
        // In steps before the newest sample.
        let age = (self.time - (t - self.delay)) / self.step;
        let most = self.ring.len() - POINTS;
        let first = (age.floor() as usize).saturating_sub(1).min(most);
        let mut sum = 0.0;
        for i in 0..POINTS {
            let mut weight = 1.0;
            for j in (0..POINTS).filter(|&j| j != i) {
                let [at, mine, other] = [age - first as f64, i as f64, j as f64];
                weight *= (at - other) / (mine - other);
            }
            sum += weight * self.sample(first + i);
        }
        sum
    }

    /// The sample so many steps before the newest one.
    fn sample(&self, age: usize) -> f64 {
        let length = self.ring.len();
        self.ring[(self.newest as usize + length - age) % length]
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.ring);
        visitor.count(&mut self.newest);
        visitor.fixed(std::slice::from_mut(&mut self.time));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_past_of_a_cubic_is_exact() {
        let cubic = |t: f64| 1.0 + t * (2.0 - t * (0.5 - 0.1 * t));
        let mut history = History::new(0.37, 0.0, 0.1, 0.0);
        for k in 0..30 {
            let t = 0.1 * f64::from(k);
            history.take(t, cubic(t));
            if k > 8 {
                for within in [0.0, 0.03, 0.1] {
                    let (found, expected) = (history.before(t + within), cubic(t + within - 0.37));
                    assert!((found - expected).abs() < 1e-12, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn before_the_start_it_is_what_it_was_said_to_be() {
        let mut history = History::new(1.0, 7.0, 0.1, 0.0);
        history.take(0.0, 3.0);
        assert_eq!(history.before(0.5), 7.0);
    }
}
