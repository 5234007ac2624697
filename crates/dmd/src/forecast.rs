//! The inputs ahead, step by step.

use crate::candidate::Candidate;
use crate::frames::Frames;
use crate::kinematics::Kinematics;

/// Steps ahead at most; whoever takes so long a step is served by what is known then.
const HORIZON: u64 = 64;

/// A model run ahead from the newest snapshot, with what was sent held.
#[derive(Clone, Debug)]
pub(crate) struct Forecast {
    /// What the model acts on, at the end of the segment before.
    signals: Vec<f64>,
    /// Received components at both ends of the present segment.
    from: Vec<f64>,
    to: Vec<f64>,
    /// What was added to the end of the first segment.
    amendment: Vec<f64>,
    segment: u64,
    step: f64,
}

impl Forecast {
    pub fn new(columns: usize, received: usize) -> Self {
        Self {
            signals: vec![0.0; columns],
            from: vec![0.0; received],
            to: vec![0.0; received],
            amendment: vec![0.0; received],
            segment: 0,
            step: 0.0,
        }
    }

    /// From the newest snapshot over one step.
    pub fn start(
        &mut self,
        frames: &Frames,
        model: &Candidate,
        kinematics: &Kinematics,
        step: f64,
    ) {
        self.step = step;
        self.amendment.fill(0.0);
        self.run_first(frames, model, kinematics);
    }

    /// The received components one step ahead of the newest snapshot, after
    /// [`start`](Self::start).
    pub fn next(&self) -> &[f64] {
        &self.to
    }

    /// What the model acted on to get there.
    pub fn basis(&self) -> &[f64] {
        &self.signals
    }

    /// Amends that.
    pub fn amend(&mut self, amendment: &[f64]) {
        self.amendment.copy_from_slice(amendment);
        self.add_amendment();
    }

    /// The received components a time `tau` after the newest snapshot.
    pub fn at(
        &mut self,
        tau: f64,
        frames: &Frames,
        model: &Candidate,
        kinematics: &Kinematics,
        out: &mut [f64],
    ) {
        // A time that is a step's end but for rounding belongs to that step.
        let segment = (tau / self.step - 1e-6).ceil().max(1.0) as u64;
        let segment = segment.min(HORIZON);
        if segment < self.segment {
            self.run_first(frames, model, kinematics);
            self.add_amendment();
        }
        while self.segment < segment {
            self.shift(frames.signals(frames.count() - 1).len(), model);
            self.segment += 1;
            self.run(model, kinematics);
        }
        let s = tau / self.step - (self.segment - 1) as f64;
        kinematics.interpolate(&self.from, &self.to, self.step, s.min(1.0), out);
    }

    fn run_first(&mut self, frames: &Frames, model: &Candidate, kinematics: &Kinematics) {
        let newest = frames.count() - 1;
        model.write_signals(frames, &mut self.signals);
        self.from.copy_from_slice(frames.received(newest));
        self.segment = 1;
        self.run(model, kinematics);
    }

    fn add_amendment(&mut self) {
        for (value, amount) in self.to.iter_mut().zip(&self.amendment) {
            *value += amount;
        }
    }

    fn run(&mut self, model: &Candidate, kinematics: &Kinematics) {
        kinematics.taylor(&self.from, self.step, &mut self.to);
        model.add_deviation(&self.signals, &mut self.to);
        kinematics.normalise(&mut self.to);
    }

    /// The end of the segment becomes the newest snapshot.
    fn shift(&mut self, width: usize, model: &Candidate) {
        let kept = width * model.shape().delays;
        self.signals.copy_within(..kept, width);
        self.signals[..self.to.len()].copy_from_slice(&self.to);
        self.from.copy_from_slice(&self.to);
    }
}
