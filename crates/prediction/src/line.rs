//! Motions along a line or about an axis.

use oldham_cosim::Visitor;

use crate::history::History;
use crate::{Extrapolation, cubic, reaches_end};

/// The last two samples of a motion: displacement, velocity, acceleration; newest first.
#[derive(Clone, Debug)]
pub(crate) struct Samples {
    pub start: usize,
    history: History<3>,
}

impl Samples {
    pub fn new(start: usize) -> Self {
        Self {
            start,
            history: History::new([0.0; 3]),
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.history.count);
        visitor.fixed(&mut self.history.times);
        for values in &mut self.history.values {
            visitor.vector(values);
        }
    }

    pub fn reset(&mut self) {
        self.history.reset();
    }

    pub fn push(&mut self, t: f64, values: &[f64]) {
        self.history.push(t, values);
    }

    /// Writes the motion at time t.
    pub fn write(&self, t: f64, extrapolation: &Extrapolation, inputs: &mut [f64]) {
        if self.history.count > 0 {
            let motion = self.at(t, extrapolation);
            inputs[self.start..self.start + 3].copy_from_slice(&motion);
        }
    }

    fn at(&self, t: f64, extrapolation: &Extrapolation) -> [f64; 3] {
        let [x, v, a] = self.history.values[0];
        let ahead = t - self.history.times[0];
        if let Some((s, h)) = self.history.between(t) {
            return self.interpolated(s, h);
        }
        if ahead <= 0.0 {
            return self.history.values[0];
        }
        if self.history.count < 2 {
            // Every value goes on with its rate (Eq. 14 and 15).
            return [x + ahead * v, v + ahead * a, a];
        }
        let h = self.history.times[0] - self.history.times[1];
        let both =
            |component: usize| [0, 1].map(|back: usize| self.history.values[back][component]);
        let (v_end, v_rate) = extrapolation.end(h, both(1), both(2));
        let (x_end, x_rate) = extrapolation.position(h, both(0), both(1), v_end);
        let s = ahead / h;
        if extrapolation.shows_rate() {
            return match reaches_end(s) {
                true => [x_end, x_rate, a],
                false => [
                    cubic(s, x, h * v, x_end, h * x_rate),
                    v + s * (x_rate - v),
                    a,
                ],
            };
        }
        if reaches_end(s) {
            return [x_end, v_end, v_rate];
        }
        [
            cubic(s, x, h * v, x_end, h * x_rate),
            cubic(s, v, h * a, v_end, h * v_rate),
            a + s * (v_rate - a),
        ]
    }

    /// Between the last two samples.
    fn interpolated(&self, s: f64, h: f64) -> [f64; 3] {
        let [[x, v, a], [older_x, older_v, older_a]] = self.history.values;
        [
            cubic(s, older_x, h * older_v, x, h * v),
            cubic(s, older_v, h * older_a, v, h * a),
            older_a + s * (a - older_a),
        ]
    }
}
