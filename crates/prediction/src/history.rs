//! The last two samples of a port.

/// Parts of a step by which rounded times differ.
const NEAR: f64 = 1e-9;

/// Times and values, newest first.
#[derive(Clone, Debug)]
pub(crate) struct History<const N: usize> {
    pub count: u64,
    pub times: [f64; 2],
    pub values: [[f64; N]; 2],
}

impl<const N: usize> History<N> {
    /// No samples yet; `resting` stands for what they are before.
    pub fn new(resting: [f64; N]) -> Self {
        Self {
            count: 0,
            times: [0.0; 2],
            values: [resting; 2],
        }
    }

    /// A sample at the time of the newest one replaces it.
    pub fn push(&mut self, t: f64, values: &[f64]) {
        if self.count == 0 || self.times[0] != t {
            self.times[1] = self.times[0];
            self.values[1] = self.values[0];
            self.count = (self.count + 1).min(2);
        }
        self.times[0] = t;
        self.values[0].copy_from_slice(values);
    }

    /// Where a time lies between the last two samples, from zero at the older to one at the newest,
    /// and how far they are apart; nothing at the newest and after it.
    pub fn between(&self, t: f64) -> Option<(f64, f64)> {
        let h = self.times[0] - self.times[1];
        let s = (t - self.times[1]) / h;
        let at = if s < NEAR { 0.0 } else { s };
        (self.count == 2 && s < 1.0 - NEAR).then_some((at, h))
    }

    /// Keeps only the newest sample.
    pub fn reset(&mut self) {
        self.count = self.count.min(1);
    }
}
