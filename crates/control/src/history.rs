//! The past of a signal.
//!
//! Samples have their times, so that the steps in which they were taken may differ. Between them the signal is a
//! cubic, by which a delay is a linear filter whose order fits that of the other methods. A jump or a kink stands
//! alone among smooth samples; about it lines are taken, since a cubic would overshoot. What is rough everywhere is a
//! fast oscillation: it is a cubic again, so that the delay is the same filter for every mode.

use oldham_cosim::Visitor;

/// Samples of a signal with their times, from which its past is interpolated. A jump lies at the later of two samples.
#[derive(Clone, Debug)]
pub(crate) struct History {
    delay: f64,
    /// Samples that stay are at least so far apart, but for rounding.
    step: f64,
    /// What the signal was before the first sample.
    initial: f64,
    /// Rings of values and times, in the order of their age from the newest on.
    values: Vec<f64>,
    times: Vec<f64>,
    newest: usize,
    /// How many samples there are.
    known: u64,
    /// An analysis looks at it: its past is complete, and it is smooth.
    is_analysed: bool,
}

/// Points of a cubic.
const POINTS: usize = 4;
/// Distances of the stencils that tell whether a rough one stands alone: they share a sample at most.
const NEIGHBOURS: [usize; 2] = [POINTS - 1, 2 * (POINTS - 1)];
/// The third difference of a signal that is no longer smooth, as a share of its largest first one.
const ROUGH: f64 = 0.5;
/// That of stencils beside one that stands alone, as a share of its own.
const BESIDE_KINK: f64 = 0.02;
/// What neighbouring differences are at most beside a jump.
const BESIDE_JUMP: f64 = 0.25;
/// Times that differ by less, in steps, are the same.
const SAME: f64 = 1e-6;

impl History {
    /// A signal that always was `initial`.
    pub fn new(delay: f64, initial: f64, step: f64, start: f64) -> Self {
        let samples = (delay / step).ceil() as usize + POINTS + NEIGHBOURS[1] + 1;
        Self {
            delay,
            step,
            initial,
            values: vec![initial; samples],
            times: vec![start; samples],
            newest: 0,
            known: 1,
            is_analysed: false,
        }
    }

    /// Takes the value at the start of a step. A sample in the course of a shorter step is replaced by the next one.
    pub fn take(&mut self, t: f64, value: f64) {
        let is_same = t <= self.time(0) + SAME * self.step;
        let is_between = self.known > 1 && self.time(0) - self.time(1) < (1.0 - SAME) * self.step;
        if !is_same && !is_between {
            let samples = self.values.len();
            self.newest = (self.newest + samples - 1) % samples;
            self.known = (self.known + 1).min(samples as u64);
        }
        self.times[self.newest] = t;
        self.values[self.newest] = value;
    }

    /// The signal one delay before `t`.
    pub fn before(&self, t: f64) -> f64 {
        let wanted = t - self.delay;
        let known = self.known as usize;
        // Times are rounded: what is asked for at the first sample is its value.
        if wanted < self.time(known - 1) - SAME * self.step {
            return self.initial;
        }
        // The newest sample that is not later, but for rounding; it is guessed first as if all steps were equal.
        let guess = ((self.time(0) - wanted) / self.step).max(0.0) as usize;
        let mut older = guess.min(known - 1);
        while older > 0 && self.time(older - 1) <= wanted {
            older -= 1;
        }
        while older + 1 < known && self.time(older) > wanted {
            older += 1;
        }
        let points = known.min(POINTS);
        // Two samples on each side, as far as there are.
        let first = older.saturating_sub(2).min(known - points);
        let place = |age: usize| (self.time(0) - self.time(age)) / self.step;
        let mut ages = [0.0; POINTS];
        let mut samples = [0.0; POINTS];
        for i in 0..points {
            ages[i] = place(first + i);
            samples[i] = self.value(first + i);
        }
        let at = (self.time(0) - wanted) / self.step;
        let (ages, samples) = (&ages[..points], &samples[..points]);
        match self.is_analysed || !self.is_rough(first, samples) {
            true => polynomial(ages, samples, at),
            false => line(ages, samples, at),
        }
    }

    /// Whether samples are rough and those beside them are not.
    fn is_rough(&self, first: usize, samples: &[f64]) -> bool {
        let third = third_difference(samples);
        let largest = changes(samples).fold(0.0, |largest: f64, d| largest.max(d.abs()));
        if third <= ROUGH * largest {
            return false;
        }
        let known = self.known as usize;
        let older = NEIGHBOURS.map(|distance| Some(first + distance));
        let newer = NEIGHBOURS.map(|distance| first.checked_sub(distance));
        let mut neighbours = older.into_iter().chain(newer).flatten();
        neighbours.all(|first| {
            let is_there = first + POINTS <= known;
            let beside: [f64; POINTS] = std::array::from_fn(|i| match is_there {
                true => self.value(first + i),
                false => 0.0,
            });
            third_difference(&beside) <= BESIDE_KINK * third
        })
    }

    /// From now on an analysis looks at it, which asks how a mode goes on that has been there for long: the past is
    /// complete, and interpolated as that of a mode is.
    pub fn analyse(&mut self) {
        self.is_analysed = true;
        self.complete();
    }

    /// What was before the first sample is that sample.
    fn complete(&mut self) {
        let samples = self.values.len();
        let known = self.known as usize;
        let (oldest, time) = (self.value(known - 1), self.time(known - 1));
        for age in known..samples {
            let place = self.place(age);
            self.values[place] = oldest;
            self.times[place] = time - (age + 1 - known) as f64 * self.step;
        }
        self.known = samples as u64;
    }

    fn place(&self, age: usize) -> usize {
        (self.newest + age) % self.values.len()
    }

    /// The sample before so many others, from the newest on.
    fn value(&self, age: usize) -> f64 {
        self.values[self.place(age)]
    }

    fn time(&self, age: usize) -> f64 {
        self.times[self.place(age)]
    }

    /// By age, the newest first: with every step a value takes the place of the older one.
    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        self.values.rotate_left(self.newest);
        self.times.rotate_left(self.newest);
        self.newest = 0;
        visitor.vector(&mut self.values);
        visitor.fixed(&mut self.times);
        visitor.count(&mut self.known);
        if self.is_analysed && visitor.replaces() {
            self.complete();
        }
    }
}

fn changes(samples: &[f64]) -> impl Iterator<Item = f64> {
    samples.windows(2).map(|pair| pair[1] - pair[0])
}

/// Of as many samples as a cubic needs; of fewer there is none.
fn third_difference(samples: &[f64]) -> f64 {
    match samples {
        [a, b, c, d] => (a - 3.0 * b + 3.0 * c - d).abs(),
        _ => 0.0,
    }
}

/// The line between two samples, or the older side of a jump. Ages grow from the first sample on.
fn line(ages: &[f64], samples: &[f64], at: f64) -> f64 {
    let last = samples.len() - 1;
    if last == 0 {
        return samples[0];
    }
    let between = ages[1..last].iter().filter(|&&age| age <= at).count();
    let change = |i: usize| samples[i + 1] - samples[i];
    let others = (0..last).filter(|&j| j != between).map(change);
    let most = others.fold(0.0, |most: f64, d| most.max(d.abs()));
    let is_jump = most < BESIDE_JUMP * change(between).abs();
    let part = (at - ages[between]) / (ages[between + 1] - ages[between]);
    match is_jump && part > 0.0 {
        true => samples[between + 1],
        false => samples[between] + part * change(between),
    }
}

/// The polynomial through all samples.
fn polynomial(ages: &[f64], samples: &[f64], at: f64) -> f64 {
    let weight = |i: usize| -> f64 {
        let others = (0..samples.len()).filter(|&j| j != i);
        others
            .map(|j| (at - ages[j]) / (ages[i] - ages[j]))
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

    /// A step may be taken in pieces of any size, also in many more than it was said to have.
    #[test]
    fn the_past_is_kept_by_time_not_by_calls() {
        let cubic = |t: f64| 1.0 + t * (2.0 - t * (0.5 - 0.1 * t));
        for pieces in [2, 3, 7, 50] {
            let mut history = History::new(0.37, 0.0, 0.1, 0.0);
            let (mut t, mut k) = (0.0, 0);
            while t < 3.0 {
                history.take(t, cubic(t));
                if t > 0.9 {
                    let (found, expected) = (history.before(t + 0.01), cubic(t + 0.01 - 0.37));
                    let off = (found - expected).abs();
                    assert!(off < 1e-11, "{pieces} pieces at {t}: {found} {expected}");
                }
                // Pieces of different lengths, some of them whole steps.
                k += 1;
                let share = if k % 5 == 0 {
                    1.0
                } else {
                    1.3 / f64::from(pieces)
                };
                t += 0.1 * share;
            }
        }
    }

    #[test]
    fn before_the_start_it_is_what_it_was_said_to_be() {
        let mut history = History::new(1.0, 7.0, 0.1, 0.0);
        history.take(0.0, 3.0);
        assert_eq!(history.before(0.5), 7.0);
        history.analyse();
        assert_eq!(history.before(0.5), 3.0);
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
                assert!(
                    (found - expected).abs() < 1e-12,
                    "{t} + {within}: {found} {expected}"
                );
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

    /// A mode, also a fast one that grows or decays, is delayed by the same filter of four samples at every instant.
    #[test]
    fn every_mode_is_delayed_by_the_cubic() {
        let delay = 0.0631;
        for turn in [
            0.1, 0.5, 0.7, 0.75, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 3.1,
        ] {
            for radius in [0.8, 0.97, 1.0, 1.05, 1.3, 1.6] {
                let mode = |k: f64| f64::powf(radius, k) * (turn * k + 0.3).cos();
                let mut history = History::new(delay, 0.0, 0.01, 0.0);
                for k in 0..90 {
                    let t = 0.01 * f64::from(k);
                    history.take(t, mode(f64::from(k)));
                    if k < 20 {
                        continue;
                    }
                    // 5.31 steps before the newest sample, at the end of the step.
                    let at = 1.31;
                    let samples: [f64; 4] =
                        std::array::from_fn(|i| mode(f64::from(k) - 4.0 - i as f64));
                    let expected = polynomial(&[0.0, 1.0, 2.0, 3.0], &samples, at);
                    let found = history.before(t + 0.01);
                    let scale = f64::powi(radius, k);
                    assert!(
                        (found - expected).abs() < 1e-10 * scale,
                        "{turn} {radius} {k}: {found} {expected}"
                    );
                }
            }
        }
    }
}
