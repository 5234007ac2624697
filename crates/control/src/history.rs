//! The past of a signal at equal distances.

use oldham_cosim::Visitor;

/// Samples of a signal, the newest first in a ring, from which its past is interpolated: by cubics where
/// it is smooth, by straight lines about kinks. A jump lies at the later of two samples.
#[derive(Clone, Debug)]
pub(crate) struct History {
    delay: f64,
    step: f64,
    /// What the signal was before it was looked at first, and when that was.
    initial: f64,
    start: f64,
    ring: Vec<f64>,
    /// Where the newest sample stands.
    newest: u64,
    /// How many there are.
    known: u64,
    /// When it was taken.
    time: f64,
}

/// Points of a cubic.
const POINTS: usize = 4;
/// The third difference of a signal that is no longer smooth, as a share of its largest first one.
const ROUGH: f64 = 0.5;
/// What neighbouring differences are at most beside a jump.
const BESIDE_JUMP: f64 = 0.25;

impl History {
    /// A signal that always was `initial`.
    pub fn new(delay: f64, initial: f64, step: f64, start: f64) -> Self {
        let samples = (delay / step).ceil() as usize + POINTS;
        Self {
            delay,
            step,
            initial,
            start,
            ring: vec![initial; samples],
            newest: 0,
            known: 1,
            time: start,
        }
    }

    /// Takes the value at the start of a step.
    pub fn take(&mut self, t: f64, value: f64) {
        let is_new = t > self.time + 0.5 * self.step;
        if is_new {
            let samples = self.ring.len() as u64;
            self.newest = (self.newest + 1) % samples;
            self.known = (self.known + 1).min(samples);
        }
        self.time = t;
        self.ring[self.newest as usize] = value;
    }

    /// The signal one delay before `t`.
    pub fn before(&self, t: f64) -> f64 {
        let wanted = t - self.delay;
        // Times are rounded: what is asked for at the start is its value there.
        if wanted < self.start - 1e-6 * self.step {
            return self.initial;
        }
        // In steps before the newest sample.
        let age = (self.time - wanted) / self.step;
        let points = (self.known as usize).min(POINTS);
        let first = (age.floor() as usize).saturating_sub(1);
        let first = first.min(self.known as usize - points);
        let samples: [f64; POINTS] =
            std::array::from_fn(|i| self.sample(first + i.min(points - 1)));
        interpolated(&samples[..points], age - first as f64)
    }

    /// The sample so many steps before the newest one.
    fn sample(&self, age: usize) -> f64 {
        let length = self.ring.len();
        self.ring[(self.newest as usize + length - age) % length]
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.vector(&mut self.ring);
        visitor.count(&mut self.newest);
        visitor.count(&mut self.known);
        visitor.fixed(std::slice::from_mut(&mut self.time));
    }
}

/// The value at a place, in steps from the first of these samples on.
fn interpolated(samples: &[f64], at: f64) -> f64 {
    let last = samples.len() - 1;
    if last == 0 {
        return samples[0];
    }
    let change = |i: usize| samples[i + 1] - samples[i];
    let changes = || (0..last).map(change);
    let largest = changes().fold(0.0, |largest: f64, d| largest.max(d.abs()));
    let third = match samples {
        [a, b, c, d] => (a - 3.0 * b + 3.0 * c - d).abs(),
        _ => 0.0,
    };
    if third <= ROUGH * largest {
        return polynomial(samples, at);
    }
    let between = (at.floor().max(0.0) as usize).min(last - 1);
    let is_jump = |i: usize| {
        let others = changes().enumerate().filter(|(j, _)| *j != i);
        others.fold(0.0, |most: f64, (_, d)| most.max(d.abs())) < BESIDE_JUMP * change(i).abs()
    };
    let part = at - between as f64;
    if is_jump(between) && part > 0.0 {
        samples[between + 1]
    } else {
        samples[between] + part * change(between)
    }
}

/// The polynomial through all samples.
fn polynomial(samples: &[f64], at: f64) -> f64 {
    let weight = |i: usize| -> f64 {
        let others = (0..samples.len()).filter(|&j| j != i);
        others
            .map(|j| (at - j as f64) / (i as f64 - j as f64))
            .product()
    };
    let terms = samples.iter().enumerate();
    terms.map(|(i, sample)| weight(i) * sample).sum()
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

    /// A jump at a sample, and one at the start, come out one delay later, without overshoot.
    #[test]
    fn jumps_stay_jumps() {
        let mut history = History::new(0.255, 0.0, 0.01, 0.0);
        let signal = |t: f64| match t {
            t if t < 0.0 => 0.0,
            t if t < 0.4 - 1e-9 => 1.0,
            _ => -2.0,
        };
        for k in 0..100 {
            let t = 0.01 * f64::from(k);
            history.take(t, signal(t));
            for within in [0.0, 0.002, 0.0049, 0.0051, 0.009] {
                let (found, expected) = (history.before(t + within), signal(t + within - 0.255));
                assert_eq!(found, expected, "{t} + {within}");
            }
        }
    }

    /// A kink at a sample is kept exactly.
    #[test]
    fn kinks_stay_kinks() {
        let mut history = History::new(0.1, 0.0, 0.02, 0.0);
        let signal = |t: f64| (t - 0.5).max(0.0);
        for k in 0..60 {
            let t = 0.02 * f64::from(k);
            history.take(t, signal(t));
            for within in [0.0, 0.007, 0.013] {
                let (found, expected) = (history.before(t + within), signal(t + within - 0.1));
                assert!((found - expected).abs() < 1e-12, "{t}: {found} {expected}");
            }
        }
    }
}
