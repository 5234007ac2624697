//! From snapshots to predictions: models that learn, are judged, and are used or not.

use oldham_cosim::Visitor;

use crate::candidate::Candidate;
use crate::contest::Contest;
use crate::forecast::Forecast;
use crate::frames::Frames;
use crate::kinematics::Kinematics;
use crate::settings::{ModelSize, Settings};
use crate::skill::{Alternative, Skill};

/// Steps that differ by a larger fraction are different: a discrete model holds for one step size.
const SAME_STEP: f64 = 1e-6;

/// Further out than the snapshots that it was learned from, by this factor, no model is used: at an
/// equilibrium it has learned rounding errors.
const UNKNOWN_GROUND: f64 = 1e3;

/// Signals with a larger leverage are outside of those that a model was learned from: it extrapolates.
const NEW_GROUND: f64 = 1.0;

/// The model in use was set aside for the Taylor step, or for a line.
const BY_KINEMATICS: u64 = 1;
const BY_LINE: u64 = 2;

/// All models of the other side.
#[derive(Clone, Debug)]
pub(crate) struct Learner {
    candidates: Vec<Candidate>,
    contest: Contest,
    skill: Skill,
    /// Snapshots that were learned from.
    learned: u64,
    /// What the model in use expects one step after the newest learned snapshot.
    expected: Expectation,
    /// What a rival expects then.
    rival: Expectation,
    /// What the model in use was set aside for in the present step; zero for nothing.
    set_aside: u64,
    /// By how much the values predicted for the newest learned snapshot fell short.
    debt: Vec<f64>,
    fallbacks: u64,
    // Derived from the above and the snapshots, and made anew when those were changed from outside.
    forecast: Forecast,
    outlook: Outlook,
    factors_are_stale: bool,
    kinematic: Vec<f64>,
    line: Vec<f64>,
}

/// What came of learning from a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lesson {
    /// It fits, more or less.
    Learned,
    /// It has nothing to do with those before it.
    PastIsWorthless,
}

/// How the time after the newest snapshot is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outlook {
    /// Not yet decided for this snapshot.
    Open,
    /// By the model.
    Model,
    /// Without one.
    Without(Alternative),
}

/// A prediction that waits to be judged.
#[derive(Clone, Debug)]
struct Expectation {
    values: Vec<f64>,
    /// The candidate that made it, plus one; zero for none.
    maker: u64,
}

impl Learner {
    pub fn new(settings: &Settings, received: usize, sent: usize) -> Self {
        let candidate =
            |&shape: &ModelSize| Candidate::new(shape, received, sent, settings.truncation);
        let candidates: Vec<_> = settings.candidates.iter().map(candidate).collect();
        let columns = candidates.iter().map(Candidate::columns).max();
        Self {
            contest: Contest::new(candidates.len()),
            candidates,
            skill: Skill::new(received),
            learned: 0,
            expected: Expectation::new(received),
            rival: Expectation::new(received),
            set_aside: 0,
            debt: vec![0.0; received],
            fallbacks: 0,
            forecast: Forecast::new(columns.unwrap_or_default(), received),
            outlook: Outlook::Open,
            factors_are_stale: false,
            kinematic: vec![0.0; received],
            line: vec![0.0; received],
        }
    }

    /// Snapshots that must be kept.
    pub fn snapshots(&self) -> usize {
        let snapshots = self.candidates.iter().map(Candidate::snapshots);
        snapshots.max().unwrap_or_default()
    }

    /// The model in use.
    pub fn model(&self) -> &Candidate {
        &self.candidates[self.contest.in_use()]
    }

    /// How often the model in use was changed.
    pub fn switches(&self) -> u64 {
        self.contest.switches()
    }

    /// Steps for which it was set aside.
    pub fn fallbacks(&self) -> u64 {
        self.fallbacks
    }

    /// Usual prediction error in units of a hold's.
    pub fn usual_error(&self) -> f64 {
        self.skill.usual()
    }

    /// Whether the newest snapshot was learned from.
    pub fn has_learned(&self, frames: &Frames) -> bool {
        self.learned == frames.count()
    }

    /// Learns from the newest snapshot, if that is not done.
    pub fn learn(&mut self, frames: &mut Frames, kinematics: &Kinematics) -> Lesson {
        if self.has_learned(frames) {
            return Lesson::Learned;
        }
        self.outlook = Outlook::Open;
        // How a prediction is judged depends on how much its maker had learned from.
        self.refresh_factors(frames, kinematics);
        self.learned = frames.count();
        if self.learned < 2 {
            return Lesson::Learned;
        }
        if step_has_changed(frames) {
            return Lesson::PastIsWorthless;
        }
        if self.meets_something_new(frames, kinematics) {
            // One step that the model misses may be an impact or a switch, after which it holds
            // as before. When it misses the next one too, it is of the past.
            if frames.is_outlier(self.learned - 2) {
                return Lesson::PastIsWorthless;
            }
            frames.mark_outlier();
        }
        for candidate in &mut self.candidates {
            candidate.learn(frames, kinematics, self.learned);
        }
        Lesson::Learned
    }

    /// Forgets everything but `snapshots` snapshots, at most one, which teach nothing.
    pub fn restart(&mut self, snapshots: u64) {
        self.learned = self.learned.min(snapshots);
        self.candidates.iter_mut().for_each(Candidate::clear);
        self.contest.restart();
        self.skill.restart();
        self.expected.maker = 0;
        self.rival.maker = 0;
        self.debt.fill(0.0);
        self.factors_are_stale = false;
        self.outlook = Outlook::Open;
    }

    /// Snapshots that were learned from have changed.
    pub fn distrust(&mut self) {
        self.factors_are_stale = true;
        self.outlook = Outlook::Open;
    }

    /// Fits the model in use to all that was learned.
    pub fn solve(&mut self, frames: &Frames, kinematics: &Kinematics) {
        self.refresh_factors(frames, kinematics);
        self.candidates[self.contest.in_use()].solve();
    }

    /// Decides how the time after the newest snapshot is answered; says whether that was open.
    pub fn look_ahead(&mut self, frames: &Frames, kinematics: &Kinematics) -> bool {
        if self.outlook != Outlook::Open {
            return false;
        }
        self.refresh_factors(frames, kinematics);
        self.outlook = Outlook::Without(Alternative::Kinematics);
        self.set_aside = 0;
        if let Some(step) = frames.step()
            && self.model().pairs() > 0
        {
            self.ask_rival(frames, kinematics, step);
            self.ask_model(frames, kinematics, step);
        }
        true
    }

    /// The received components a time `tau` after the newest snapshot.
    pub fn at(&mut self, tau: f64, frames: &Frames, kinematics: &Kinematics, out: &mut [f64]) {
        match self.outlook {
            Outlook::Model => {
                let model = &self.candidates[self.contest.in_use()];
                self.forecast.at(tau, frames, model, kinematics, out);
            }
            Outlook::Without(Alternative::Line) => {
                let newest = frames.count() - 1;
                extend_line(frames, newest, frames.time(newest) + tau, out);
            }
            Outlook::Without(Alternative::Kinematics) | Outlook::Open => {
                kinematics.taylor(frames.received(frames.count() - 1), tau, out);
            }
        }
    }

    pub fn visit(&mut self, visitor: &mut dyn Visitor) {
        visitor.count(&mut self.learned);
        visitor.vector(&mut self.expected.values);
        visitor.vector(&mut self.debt);
        visitor.fixed(&mut self.rival.values);
        visitor.count(&mut self.expected.maker);
        visitor.count(&mut self.rival.maker);
        visitor.count(&mut self.set_aside);
        visitor.count(&mut self.fallbacks);
        self.contest.visit(visitor);
        self.skill.visit(visitor);
    }

    /// Compares the newest snapshot with what was expected; says whether there is a discontinuity.
    fn meets_something_new(&mut self, frames: &Frames, kinematics: &Kinematics) -> bool {
        let newest = frames.count() - 1;
        let [before, actual] = [newest - 1, newest].map(|index| frames.received(index));
        let step = frames.time(newest) - frames.time(newest - 1);
        self.skill.note_change(before, actual);
        kinematics.taylor(before, step, &mut self.kinematic);
        extend_line(frames, newest - 1, frames.time(newest), &mut self.line);
        kinematics.normalise(&mut self.line);
        let maker = self.expected.take();
        self.note_debt(maker.is_some(), actual);
        let Some(maker) = maker else {
            return false;
        };
        self.fallbacks += self.set_aside.min(1);
        let error = self.skill.error(&self.expected.values, actual);
        let judged = self.candidates[maker].is_determined();
        if !error.is_finite() || judged && self.skill.is_jump(error) {
            return true;
        }
        if self.candidates[maker].is_just_determined() {
            // The errors of the start are no measure of what follows.
            self.skill.restart();
        }
        let alternatives =
            [&self.kinematic, &self.line].map(|values| self.skill.error(values, actual));
        self.skill.note_errors(error, alternatives);
        if let Some(rival) = self.rival.take() {
            let own = self.skill.error(&self.rival.values, actual);
            self.contest.judge(rival, own, error);
        }
        false
    }

    fn note_debt(&mut self, was_expected: bool, actual: &[f64]) {
        let predicted = match self.set_aside {
            0 if was_expected => &self.expected.values,
            BY_LINE => &self.line,
            _ => &self.kinematic,
        };
        for (debt, (actual, predicted)) in self.debt.iter_mut().zip(actual.iter().zip(predicted)) {
            *debt = actual - predicted;
        }
    }

    fn ask_rival(&mut self, frames: &Frames, kinematics: &Kinematics, step: f64) {
        let rival = self.contest.rival(frames.count());
        if let Some(rival) = rival.filter(|&rival| self.candidates[rival].is_determined()) {
            self.run(rival, frames, kinematics, step);
            self.rival.set(rival, self.forecast.next());
        }
    }

    fn ask_model(&mut self, frames: &Frames, kinematics: &Kinematics, step: f64) {
        let in_use = self.contest.in_use();
        self.run(in_use, frames, kinematics, step);
        let finite = self.forecast.next().iter().all(|value| value.is_finite());
        self.expected.set(in_use, self.forecast.next());
        let leverage = self.candidates[in_use].leverage(self.forecast.basis());
        let is_lost = leverage >= UNKNOWN_GROUND;
        let is_doubtful =
            leverage > NEW_GROUND && self.is_beyond_experience(frames, kinematics, step);
        let is_determined = self.candidates[in_use].is_determined();
        if !finite || is_lost || is_doubtful || self.skill.is_poor() {
            self.set_aside = BY_KINEMATICS;
            if is_lost {
                // Something begins; the shortest window follows it first.
                self.contest.restart();
            } else if self.skill.best_alternative() == Alternative::Line {
                self.set_aside = BY_LINE;
                self.outlook = Outlook::Without(Alternative::Line);
            }
            return;
        }
        self.outlook = Outlook::Model;
        // While a model is still being found, what one prediction missed is added to the next: the
        // mean over time, and with it the impulse of a coupling force, is then right although the
        // single values are not. Otherwise the first few errors would stay in the energy for ever.
        if !is_determined {
            self.forecast.amend(&self.debt);
        }
    }

    /// Whether what the model says differs from the Taylor step as that was never wrong: after a switch it goes by directions of which
    /// the few data before it say next to nothing.
    fn is_beyond_experience(
        &mut self,
        frames: &Frames,
        kinematics: &Kinematics,
        step: f64,
    ) -> bool {
        let newest = frames.received(frames.count() - 1);
        kinematics.taylor(newest, step, &mut self.kinematic);
        let departure = self.skill.error(self.forecast.next(), &self.kinematic);
        self.skill.is_beyond_experience(departure)
    }

    fn run(&mut self, candidate: usize, frames: &Frames, kinematics: &Kinematics, step: f64) {
        let model = &mut self.candidates[candidate];
        model.solve();
        self.forecast.start(frames, model, kinematics, step);
    }

    fn refresh_factors(&mut self, frames: &Frames, kinematics: &Kinematics) {
        if self.factors_are_stale {
            for candidate in &mut self.candidates {
                candidate.relearn(frames, kinematics, self.learned);
            }
            self.factors_are_stale = false;
        }
    }
}

impl Expectation {
    fn new(received: usize) -> Self {
        Self {
            values: vec![0.0; received],
            maker: 0,
        }
    }

    fn set(&mut self, candidate: usize, values: &[f64]) {
        self.values.copy_from_slice(values);
        self.maker = candidate as u64 + 1;
    }

    /// Who made it, if there is one; then there is none.
    fn take(&mut self) -> Option<usize> {
        let maker = std::mem::take(&mut self.maker);
        maker.checked_sub(1).map(|candidate| candidate as usize)
    }
}

/// The line through a snapshot and the one before it, at a time; a hold where there is none before it.
fn extend_line(frames: &Frames, newest: u64, t: f64, out: &mut [f64]) {
    out.copy_from_slice(frames.received(newest));
    let before = newest.checked_sub(1).filter(|&before| frames.holds(before));
    let Some(before) = before else {
        return;
    };
    let [start, end] = [before, newest].map(|index| frames.time(index));
    let s = (t - end) / (end - start);
    for (value, before) in out.iter_mut().zip(frames.received(before)) {
        *value += s * (*value - before);
    }
}

fn step_has_changed(frames: &Frames) -> bool {
    let newest = frames.count() - 1;
    let (Some(step), true) = (frames.step(), newest >= 2) else {
        return false;
    };
    let before = frames.time(newest - 1) - frames.time(newest - 2);
    (step - before).abs() > SAME_STEP * before
}
