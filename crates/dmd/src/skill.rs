//! How good predictions are, in units of what a plain hold would have missed.

use oldham_cosim::Visitor;

/// Predictions after which a model can be called poor.
const TRIALS: u64 = 4;
/// Weight of the newest error in the running means.
const NEWEST: f64 = 0.2;
/// Changes below this fraction of the value are rounding.
const ROUNDING: f64 = 1e-14;
/// Mean squares below this are rounding.
pub(crate) const NOISE: f64 = 1e-18;
/// A prediction that misses by this fraction of a hold's error ...
const JUMP: f64 = 0.1;
/// ... and by this factor more than usual, met something new.
const JUMP_FACTOR: f64 = 30.0;

/// A line takes over when its error is a tenth of the model's: its errors have a bias, which adds energy, where those of a model
/// cancel each other.
const LINE_HANDICAP: f64 = 100.0;
/// On new ground a model may differ from the Taylor step by this factor more than that is usually wrong.
const DOUBT: f64 = 10.0;

/// Running means of squared errors.
#[derive(Clone, Debug)]
pub(crate) struct Skill {
    /// Mean squares of the change of each component from snapshot to snapshot.
    changes: Vec<f64>,
    /// Mean square of the error in units of those changes.
    usual: f64,
    /// The same for what can be used without a model.
    alternatives: [f64; 2],
    judged: u64,
}

/// What can be used without a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alternative {
    /// The Taylor step from the newest snapshot.
    Kinematics,
    /// The line through the two newest snapshots.
    Line,
}

impl Skill {
    pub fn new(received: usize) -> Self {
        Self {
            changes: vec![0.0; received],
            usual: 0.0,
            alternatives: [0.0; 2],
            judged: 0,
        }
    }

    /// Forgets how good predictions were; how much the signals change is still known.
    pub fn restart(&mut self) {
        self.usual = 0.0;
        self.judged = 0;
    }

    /// Notes a change of the signals.
    pub fn note_change(&mut self, before: &[f64], after: &[f64]) {
        for (mean, (a, b)) in self.changes.iter_mut().zip(before.iter().zip(after)) {
            let square = (b - a) * (b - a);
            let known = *mean > 0.0 && mean.is_finite();
            *mean = if known { mix(*mean, square) } else { square };
        }
    }

    /// Mean square of the error of a prediction, 1 being that of a hold.
    pub fn error(&self, predicted: &[f64], actual: &[f64]) -> f64 {
        let mut sum = 0.0;
        let mut components: u32 = 0;
        for (&change, (p, a)) in self.changes.iter().zip(predicted.iter().zip(actual)) {
            let rounding = ROUNDING * a;
            if change > rounding * rounding {
                sum += (p - a) * (p - a) / change;
                components += 1;
            }
        }
        sum / f64::from(components.max(1))
    }

    /// Whether this error is out of proportion: the past is no guide any more.
    pub fn is_jump(&self, error: f64) -> bool {
        let usual = JUMP_FACTOR * JUMP_FACTOR * self.usual;
        self.judged > 0 && error > usual.max(JUMP * JUMP)
    }

    /// Notes the error of the model in use, and those of the Taylor step and of the line.
    pub fn note_errors(&mut self, error: f64, alternatives: [f64; 2]) {
        if self.judged == 0 {
            (self.usual, self.alternatives) = (error, alternatives);
        } else {
            self.usual = mix(self.usual, error);
            for (mean, newest) in self.alternatives.iter_mut().zip(alternatives) {
                *mean = mix(*mean, newest);
            }
        }
        self.judged += 1;
    }

    /// Whether predictions were better without a model.
    pub fn is_poor(&self) -> bool {
        let [kinematics, line] = self.alternatives;
        let best = f64::min(kinematics, LINE_HANDICAP * line);
        self.judged >= TRIALS && self.usual > best.max(NOISE)
    }

    /// Whether a prediction differs from the Taylor step by far more than that was ever wrong lately.
    pub fn is_beyond_experience(&self, departure: f64) -> bool {
        self.judged >= TRIALS && departure > DOUBT * DOUBT * self.alternatives[0].max(NOISE)
    }

    /// What was better of that which needs no model.
    pub fn best_alternative(&self) -> Alternative {
        let [kinematics, line] = self.alternatives;
        match LINE_HANDICAP * line < kinematics {
            true => Alternative::Line,
            false => Alternative::Kinematics,
        }
    }

    /// Root mean square of the error in units of a hold's.
    pub fn usual(&self) -> f64 {
        self.usual.sqrt()
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.fixed(&mut self.changes);
        visitor.fixed(std::slice::from_mut(&mut self.usual));
        visitor.fixed(&mut self.alternatives);
        visitor.count(&mut self.judged);
    }
}

/// The running mean with one more value.
pub(crate) fn mix(mean: f64, newest: f64) -> f64 {
    mean + NEWEST * (newest - mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hold_has_the_error_one_in_any_unit() {
        for unit in [1e-6, 1.0, 1e6] {
            let mut skill = Skill::new(2);
            let sample = |k: u32| [unit * f64::from(k), 5.0];
            for k in 0..10 {
                skill.note_change(&sample(k), &sample(k + 1));
            }
            let error = skill.error(&sample(4), &sample(5));
            assert!((error - 1.0).abs() < 1e-12, "{error}");
        }
    }

    #[test]
    fn only_errors_far_beyond_the_usual_ones_are_jumps() {
        let mut skill = Skill::new(1);
        assert!(!skill.is_jump(1e9), "nothing is usual yet");
        (0..10).for_each(|_| skill.note_errors(1e-4, [1.0; 2]));
        assert!(!skill.is_jump(1e-3) && skill.is_jump(1.0));
        (0..50).for_each(|_| skill.note_errors(0.5, [1.0; 2]));
        assert!(!skill.is_jump(10.0), "bad predictions are usual now");
    }

    #[test]
    fn a_model_that_loses_against_no_model_is_poor() {
        for (alternatives, best) in [
            ([0.1, 0.5], Alternative::Kinematics),
            ([0.6, 0.001], Alternative::Line),
        ] {
            let mut skill = Skill::new(1);
            (0..10).for_each(|_| skill.note_errors(0.2, alternatives));
            assert!(skill.is_poor());
            assert_eq!(skill.best_alternative(), best);
            (0..20).for_each(|_| skill.note_errors(0.01, alternatives));
            assert!(!skill.is_poor());
        }
    }
}
