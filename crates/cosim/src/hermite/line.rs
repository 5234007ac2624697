//! Motions along a line or about an axis.

use super::{Extrapolation, cubic, reaches_end};
use crate::state::Visitor;

/// The last two samples of a motion: displacement, velocity, acceleration; newest first.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    pub start: usize,
    count: u64,
    times: [f64; 2],
    values: [[f64; 3]; 2],
}

impl Samples {
    pub fn new(start: usize) -> Self {
        Self {
            start,
            count: 0,
            times: [0.0; 2],
            values: [[0.0; 3]; 2],
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.count);
        visitor.fixed(&mut self.times);
        for values in &mut self.values {
            visitor.vector(values);
        }
    }

    pub fn reset(&mut self) {
        self.count = self.count.min(1);
    }

    pub fn push(&mut self, t: f64, values: &[f64]) {
        if self.count == 0 || self.times[0] != t {
            self.times[1] = self.times[0];
            self.values[1] = self.values[0];
            self.count = (self.count + 1).min(2);
        }
        self.times[0] = t;
        self.values[0].copy_from_slice(values);
    }

    /// Writes the motion at time t.
    pub fn write(&self, t: f64, extrapolation: &Extrapolation, inputs: &mut [f64]) {
        if self.count > 0 {
            let motion = self.at(t, extrapolation);
            inputs[self.start..self.start + 3].copy_from_slice(&motion);
        }
    }

    fn at(&self, t: f64, extrapolation: &Extrapolation) -> [f64; 3] {
        let [x, v, a] = self.values[0];
        let ahead = t - self.times[0];
        if ahead <= 0.0 {
            return self.values[0];
        }
        if self.count < 2 {
            return [x + ahead * v, v, a];
        }
        let h = self.times[0] - self.times[1];
        let end = |component: usize| {
            let [y0, y1] = [0, 1].map(|back: usize| self.values[back][component]);
            let [r0, r1] = [0, 1].map(|back: usize| self.values[back][component + 1]);
            extrapolation.end(h, [y0, y1], [r0, r1])
        };
        let (x_end, x_rate) = end(0);
        let (v_end, v_rate) = end(1);
        let s = ahead / h;
        if reaches_end(s) {
            return [x_end, v_end, v_rate];
        }
        [
            cubic(s, x, h * v, x_end, h * x_rate),
            cubic(s, v, h * a, v_end, h * v_rate),
            a + s * (v_rate - a),
        ]
    }
}
