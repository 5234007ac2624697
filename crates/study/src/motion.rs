//! The states of a model's run that are looked at: the start, an equilibrium, and states on the way.
//!
//! A recurrence describes one state. The motion goes on to others, where laws switch, controllers are
//! at their limits and bodies stand otherwise: so the model is run, states are kept, and each is looked
//! at as the start is. What the frozen state says must agree with what becomes of a small difference
//! along the motion; where it does not, nothing is decided there.

use std::time::{Duration, Instant};

use oldham_cosim::{Simulation, Snapshot, Switches};
use oldham_stability::{
    AnalysisError, Decision, Followed, Spectrum, Verdict, follow, follow_mode, is_at_rest,
};

use crate::advice::{Case, Subject};

/// States that are spread over a run.
pub const SPREAD: usize = 8;
/// Regimes of which a state is kept.
const REGIMES: usize = 12;
/// Part of the time in which a model is run to find states.
const RUNNING: f64 = 0.3;
/// Periods at the start that are left to the analysis of the start.
const FILLING: u64 = 4;
/// Growth foreseen over the stretch along which a difference is followed, from which on it shows.
const SHOWN: f64 = 1.5;
/// Growth along the motion that is more than a drift: one along another direction may be some times as large.
const GROWN: f64 = 5.0;
/// Growth along the motion that cannot be overlooked.
const CLEAR: f64 = 10.0;
/// Periods within which growth that cannot be overlooked ends a run, wherever the motion goes.
const BRIEF: f64 = 200.0;
/// Growth foreseen over the stretch along which a difference is followed where a mode grows slowly, and the most periods
/// that this may take.
const LONG: f64 = 1000.0;
const LONGEST: f64 = 2000.0;
/// Growth along the motion from which on a difference is no longer small.
const FULL: f64 = 1e9;
/// Share of the growth rate that a growing mode shows along the motion at least: in a random difference, and in one that
/// begins as the mode.
const FALLING_SHORT: f64 = 0.3;
const MODE_FALLING_SHORT: f64 = 0.6;

/// What kind of state is looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateKind {
    /// As the model starts, a few steps on.
    Start,
    /// In static equilibrium.
    Equilibrium,
    /// On the way of a run.
    Run,
}

/// Why a state was not judged.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum NotJudged {
    /// There was no time left.
    #[error("there was no time for it")]
    NoTime,
    /// Contacts open, close, stick or slip.
    #[error("contacts change there")]
    Contacts,
    /// It cannot be analysed.
    #[error(transparent)]
    Failed(AnalysisError),
}

/// A state that was looked at.
pub struct LookedAt {
    /// Its time in s.
    pub time: f64,
    /// What it is.
    pub kind: StateKind,
    /// Whether it moves: else it is an equilibrium of the whole model.
    pub moves: bool,
    /// What is at a limit there.
    pub saturated: Vec<String>,
    /// What sticks there.
    pub sticking: Vec<String>,
    /// The verdict on it.
    pub verdict: Result<Verdict, NotJudged>,
    /// Why the verdict is not believed, if so.
    pub doubt: Option<String>,
    /// All modes, where it was judged.
    pub(crate) spectrum: Option<Spectrum>,
}

impl LookedAt {
    /// What is decided; nothing if it was not judged.
    pub fn decision(&self) -> Option<Decision> {
        let verdict = self.verdict.as_ref().ok()?;
        Some(match self.doubt {
            Some(_) => Decision::Undecided,
            None => verdict.decision(),
        })
    }

    /// Why nothing is decided, if so.
    pub fn reason(&self) -> Option<String> {
        match &self.verdict {
            Ok(verdict) => self.doubt.clone().or_else(|| verdict.doubt()),
            Err(reason) => Some(reason.to_string()),
        }
    }

    /// What there is to know of it, in short.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.moves {
            notes.push("off equilibrium".to_owned());
        }
        let named = |names: &[String]| {
            names
                .iter()
                .map(|n| format!("`{n}`"))
                .collect::<Vec<_>>()
                .join(", ")
        };
        if !self.saturated.is_empty() {
            notes.push(format!("{} at a limit", named(&self.saturated)));
        }
        if !self.sticking.is_empty() {
            notes.push(format!("{} sticks", named(&self.sticking)));
        }
        notes
    }

    fn rank(&self) -> (usize, f64) {
        let growth = self.verdict.as_ref().map_or(0.0, |verdict| verdict.growth);
        match self.decision() {
            Some(Decision::Unstable) => (0, -growth),
            Some(Decision::Undecided) => (1, -growth),
            Some(Decision::Stable) => (2, -growth),
            None => (3, self.time),
        }
    }
}

/// All states of a model that were looked at.
pub struct Survey {
    /// The worst first.
    pub states: Vec<LookedAt>,
    /// How far the model was run, in s.
    pub until: f64,
    /// Why it was not run further, if not to its end.
    pub ended: Option<String>,
    /// Whether that is because the run fails.
    pub fails: bool,
    /// The time that was granted.
    pub granted: Duration,
}

/// What the survey is at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SurveyProgress {
    /// The start is analysed.
    Start,
    /// The model is run, so far.
    Running {
        /// The time reached, in s.
        time: f64,
    },
    /// States are analysed.
    States {
        /// How many are done.
        done: usize,
        /// Of how many.
        of: usize,
    },
}

/// A state that was met on the way of a run.
pub struct Met {
    time: f64,
    step: u64,
    switches: Switches,
    contacts_change: bool,
    state: Snapshot,
}

impl Met {
    /// The present state of a simulation, all parts of which can write it: another one will look at it.
    pub(crate) fn of(simulation: &mut Simulation) -> Result<Self, AnalysisError> {
        let switches = simulation.switches()?;
        let mut state = Snapshot::default();
        state.keep(simulation);
        Ok(Self {
            time: simulation.time(),
            step: simulation.steps_done(),
            switches,
            contacts_change: false,
            state,
        })
    }
}

/// What is left of the time.
struct Clock {
    granted: Duration,
    started: Instant,
}

impl Clock {
    fn left(&self) -> Duration {
        self.granted.saturating_sub(self.started.elapsed())
    }

    fn has_left(&self) -> Result<Duration, NotJudged> {
        let left = self.left();
        match left.is_zero() {
            true => Err(NotJudged::NoTime),
            false => Ok(left),
        }
    }
}

impl Survey {
    /// Looks at a model where it runs, within the time that is granted: first the start, then the states
    /// at which a small difference grows most. An error where nothing of it can be analysed.
    pub fn of(
        case: &Case<'_>,
        granted: Duration,
        progress: &mut dyn FnMut(SurveyProgress),
    ) -> Result<Self, AnalysisError> {
        let clock = Clock {
            granted,
            started: Instant::now(),
        };
        progress(SurveyProgress::Start);
        let mut simulation = case.simulation()?;
        let judged = case.judge(&mut simulation, Some(granted));
        let mut survey = Self {
            states: Vec::new(),
            until: case.model.start(),
            ended: None,
            fails: false,
            granted,
        };
        let failed = match judged {
            Ok((spectrum, verdict)) => {
                let mut state = noted(&mut simulation, StateKind::Start, case.model.start());
                if state.moves && verdict.is_unstable() {
                    let followed = follow(&mut simulation, Some(clock.left())).ok();
                    state.doubt =
                        shown_along(&verdict, &spectrum, &mut simulation, followed, &clock)
                            .filter(|doubt| *doubt != Doubt::Leaves)
                            .map(|doubt| doubt.told(&verdict));
                }
                survey.states.push(LookedAt {
                    verdict: Ok(verdict),
                    spectrum: Some(spectrum),
                    ..state
                });
                None
            }
            Err(error) => Some(error),
        };
        drop(simulation);
        let goes_on = failed.is_none()
            && survey
                .states
                .iter()
                .all(|state| state.decision() != Some(Decision::Unstable));
        if !goes_on {
            return match failed {
                Some(error) => Err(error),
                None => {
                    survey.ended = Some("already the start is unstable".into());
                    Ok(survey)
                }
            };
        }
        let met = survey.run(case, &clock, progress)?;
        survey.look_at_rest(case, &clock);
        survey.judge(case, met, &clock, progress)?;
        survey.sort();
        Ok(survey)
    }

    /// Looks at states that a run has kept, within the time that is granted.
    pub fn of_run(
        case: &Case<'_>,
        met: Vec<Met>,
        granted: Duration,
    ) -> Result<Self, AnalysisError> {
        let clock = Clock {
            granted,
            started: Instant::now(),
        };
        let mut survey = Self {
            states: Vec::new(),
            until: met.last().map_or(case.model.start(), |met| met.time),
            ended: None,
            fails: false,
            granted,
        };
        survey.judge(case, met, &clock, &mut |_| {})?;
        survey.sort();
        Ok(survey)
    }

    fn sort(&mut self) {
        self.states.sort_by(|a, b| {
            let (a, b) = (a.rank(), b.rank());
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        });
    }

    /// The start alone, as it was judged.
    pub fn start(&self) -> Option<&LookedAt> {
        self.states
            .iter()
            .find(|state| state.kind == StateKind::Start)
    }

    /// The state that the verdict on the model is about: the worst of those that are unstable, else the
    /// start.
    pub fn worst(&self) -> Option<&LookedAt> {
        let unstable = |state: &&LookedAt| state.decision() == Some(Decision::Unstable);
        self.states.iter().find(unstable).or_else(|| self.start())
    }

    /// The modes of the state that the verdict on the model is about.
    pub(crate) fn take_spectrum(&mut self) -> Option<Spectrum> {
        let unstable = |state: &LookedAt| state.decision() == Some(Decision::Unstable);
        let start = |state: &LookedAt| state.kind == StateKind::Start;
        let place = self.states.iter().position(unstable);
        let place = place.or_else(|| self.states.iter().position(start))?;
        self.states[place].spectrum.take()
    }

    /// Why nothing is decided about the model though its start may be, if so.
    pub fn doubt(&self) -> Option<String> {
        let stable = || {
            let states = self.states.iter();
            states.filter(|state| state.decision() == Some(Decision::Stable))
        };
        let open = stable().all(|state| !state.saturated.is_empty());
        let limited = stable().next().and_then(|state| state.saturated.first());
        if let (true, Some(first)) = (open, limited) {
            return Some(format!(
                "`{first}` is at a limit in every state that is stable, and the loop is open there"
            ));
        }
        // An unstable coupling ends a run, too: that is excluded only where every state before it is stable.
        let is_open = |state: &LookedAt| state.decision() != Some(Decision::Stable);
        let ended = self.ended.as_ref().filter(|_| self.fails)?;
        self.states
            .iter()
            .any(is_open)
            .then(|| format!("{ended}; and not all states before that are known to be stable"))
    }

    /// Runs the model for a part of the time and keeps states: spread over what was run, and one of each
    /// regime.
    fn run(
        &mut self,
        case: &Case<'_>,
        clock: &Clock,
        progress: &mut dyn FnMut(SurveyProgress),
    ) -> Result<Vec<Met>, AnalysisError> {
        let allowed = clock.granted.mul_f64(RUNNING).min(clock.left());
        let started = Instant::now();
        let mut simulation = case.simulation()?;
        let without = match simulation.part_without_state()? {
            Some(part) => Some(part),
            None => simulation.part_without_bytes()?,
        };
        if let Some(part) = without {
            self.ended = Some(format!(
                "states on the way are looked at in another simulation, and `{part}` cannot write its own"
            ));
            return Ok(Vec::new());
        }
        simulation.track_work(false);
        let period = simulation.period();
        let steps = case.model.steps();
        let (mut spread, mut regimes): (Vec<Met>, Vec<Met>) = (Vec::new(), Vec::new());
        let mut every = 1;
        let mut before = simulation.switches()?;
        for count in 1.. {
            if simulation.steps_done() + period > steps {
                break;
            }
            if started.elapsed() > allowed {
                self.ended = Some(format!(
                    "running it further takes more than {:.1} s",
                    allowed.as_secs_f64()
                ));
                break;
            }
            if let Err(fault) = simulation.steps(period) {
                self.ended = Some(format!("the run fails: {fault}"));
                self.fails = true;
                break;
            }
            let switches = simulation.switches()?;
            let is_new = |met: &Met| met.switches.regime() != switches.regime();
            let is_spread = count % every == 0;
            let is_regime = regimes.len() < REGIMES && regimes.iter().all(is_new);
            if count > FILLING && (is_spread || is_regime) {
                let contacts_change = before.contacts() != switches.contacts();
                let mut met = || -> Result<Met, AnalysisError> {
                    Ok(Met {
                        contacts_change,
                        ..Met::of(&mut simulation)?
                    })
                };
                if is_regime {
                    regimes.push(met()?);
                }
                if is_spread {
                    spread.push(met()?);
                    progress(SurveyProgress::Running {
                        time: simulation.time(),
                    });
                }
                if spread.len() >= 2 * SPREAD {
                    // Those that stay are as far apart as the next ones will be.
                    every *= 2;
                    spread.retain(|met| (met.step / period) % every == 0);
                }
            }
            before = switches;
        }
        self.until = simulation.time();
        let last = spread.len().saturating_sub(1);
        let wanted = SPREAD.min(spread.len());
        let places: Vec<usize> = (1..=wanted)
            .map(|k| {
                (k * spread.len() / wanted.max(1))
                    .saturating_sub(1)
                    .min(last)
            })
            .collect();
        let mut all: Vec<Met> = regimes;
        for (place, met) in spread.into_iter().enumerate() {
            if places.contains(&place) && all.iter().all(|other| other.step != met.step) {
                all.push(met);
            }
        }
        Ok(all)
    }

    /// Looks at the static equilibrium of the mechanisms, where the whole model rests there.
    fn look_at_rest(&mut self, case: &Case<'_>, clock: &Clock) {
        let starts_at_rest = self.start().is_some_and(|state| !state.moves);
        if starts_at_rest || case.model.mechanisms().next().is_none() || clock.left().is_zero() {
            return;
        }
        let key = |name: &str| {
            (
                format!("multibody.{name}.static_equilibrium"),
                "true".to_owned(),
            )
        };
        let names = case
            .model
            .mechanisms()
            .map(|mechanism| key(mechanism.name()));
        let file = case.file.with(&names.collect::<Vec<_>>());
        let Ok(model) = file.read() else { return };
        let resting = Case {
            model: &model,
            file: &file,
            subject: case.subject,
            start: None,
        };
        let Ok(mut simulation) = resting.simulation() else {
            return;
        };
        if !is_at_rest(&mut simulation).unwrap_or(false) {
            return;
        }
        let judged = match clock.has_left() {
            Ok(left) => resting.judge(&mut simulation, Some(left)).map_err(too_long),
            Err(reason) => Err(reason),
        };
        let state = noted(&mut simulation, StateKind::Equilibrium, model.start());
        self.states.push(with(state, judged));
    }

    /// Judges states that were met, those first at which a small difference grows most.
    fn judge(
        &mut self,
        case: &Case<'_>,
        met: Vec<Met>,
        clock: &Clock,
        progress: &mut dyn FnMut(SurveyProgress),
    ) -> Result<(), AnalysisError> {
        let mut simulation = case.simulation()?;
        let mut followed: Vec<(Met, Option<Followed>)> = Vec::with_capacity(met.len());
        for met in met {
            met.state.restore(&mut simulation);
            let growth = clock
                .has_left()
                .ok()
                .and_then(|left| follow(&mut simulation, Some(left)).ok());
            followed.push((met, growth));
        }
        let factor = |followed: &Option<Followed>| followed.map_or(0.0, |followed| followed.factor);
        followed.sort_by(|a, b| factor(&b.1).total_cmp(&factor(&a.1)));
        let of = followed.len();
        for (done, (met, followed)) in followed.into_iter().enumerate() {
            progress(SurveyProgress::States { done, of });
            met.state.restore(&mut simulation);
            let mut state = noted(&mut simulation, StateKind::Run, met.time);
            met.state.restore(&mut simulation);
            let judged = match met.contacts_change {
                true => Err(NotJudged::Contacts),
                false => clock
                    .has_left()
                    .and_then(|left| case.judge_here(&mut simulation, left).map_err(too_long)),
            };
            let judged = judged.map(|(spectrum, verdict, doubt)| {
                met.state.restore(&mut simulation);
                state.doubt = doubt.or_else(|| {
                    if !state.moves {
                        return None;
                    }
                    let doubt = shown_along(&verdict, &spectrum, &mut simulation, followed, clock)?;
                    Some(doubt.told(&verdict))
                });
                (spectrum, verdict)
            });
            self.states.push(with(state, judged));
        }
        Ok(())
    }
}

/// Why a verdict about a state does not hold along the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Doubt {
    /// The motion leaves the state before its growth shows.
    Leaves,
    /// What grows does not grow along the motion.
    Quiet,
    /// What grows does so by this factor only.
    Slower(f64),
    /// What does not grow grows by this factor.
    Grows(f64),
    /// What grows does so slowly, and there was no time to follow it.
    NotFollowed,
}

impl Doubt {
    fn told(self, verdict: &Verdict) -> String {
        let growth = verdict.growth;
        match self {
            Self::Leaves => format!(
                "a mode grows at this instant, at {growth:.1e} 1/s, but the motion leaves this state before that shows"
            ),
            Self::Quiet => "what grows at this instant does not grow along the motion".into(),
            Self::Slower(factor) => format!(
                "a mode grows at this instant, at {growth:.1e} 1/s, but along the motion a small difference grows only by a factor of {factor:.1}"
            ),
            Self::Grows(factor) => format!(
                "nothing grows at this instant, but along the motion a small difference grows by a factor of {factor:.0}"
            ),
            Self::NotFollowed => format!(
                "a mode grows at this instant, at {growth:.1e} 1/s, but the model moves, and there was no time to follow that along the motion"
            ),
        }
    }
}

/// Why a verdict about the present state of a motion does not hold along it, if so. Slow growth is followed for longer.
fn shown_along(
    verdict: &Verdict,
    spectrum: &Spectrum,
    simulation: &mut Simulation,
    followed: Option<Followed>,
    clock: &Clock,
) -> Option<Doubt> {
    let slow = verdict.is_unstable() && verdict.radius.powf(BRIEF) < CLEAR;
    let not_followed = || (slow && clock.left().is_zero()).then_some(Doubt::NotFollowed);
    let Some(followed) = followed else {
        return not_followed();
    };
    let period = simulation.period();
    let foreseen = |followed: &Followed| {
        let periods = followed.steps as f64 / period as f64;
        match verdict.is_unstable() {
            true => verdict.radius.powf(periods),
            // What the model does by itself is no contradiction.
            false => {
                let own = verdict.own.map_or(0.0, |[growth, _]| growth);
                (own * verdict.step * periods).exp()
            }
        }
    };
    if !verdict.is_unstable() || foreseen(&followed) > CLEAR {
        return contradiction(verdict, followed, foreseen(&followed), FALLING_SHORT);
    }
    let wanted = LONG.ln() / verdict.radius.ln();
    let periods = wanted.clamp(1.0, LONGEST).ceil() as u64;
    match follow_mode(simulation, spectrum, periods, Some(clock.left())) {
        Some(Ok(longer)) => contradiction(verdict, longer, foreseen(&longer), MODE_FALLING_SHORT),
        // Without a shape, or beyond a failure, the shorter stretch must do.
        _ => not_followed()
            .or_else(|| contradiction(verdict, followed, foreseen(&followed), FALLING_SHORT)),
    }
}

fn contradiction(
    verdict: &Verdict,
    followed: Followed,
    foreseen: f64,
    share: f64,
) -> Option<Doubt> {
    let factor = followed.factor;
    if verdict.is_unstable() {
        if foreseen < SHOWN {
            return Some(Doubt::Leaves);
        }
        if foreseen > CLEAR && factor < 1.0 {
            return Some(Doubt::Quiet);
        }
        let falls_short = factor < FULL && factor.ln() < share * foreseen.ln();
        return (foreseen > CLEAR && falls_short).then_some(Doubt::Slower(factor));
    }
    (verdict.is_stable() && factor > GROWN * foreseen).then_some(Doubt::Grows(factor))
}

fn too_long(error: AnalysisError) -> NotJudged {
    match error {
        AnalysisError::TooLong { .. } => NotJudged::NoTime,
        other => NotJudged::Failed(other),
    }
}

/// A state that is not judged yet.
fn noted(simulation: &mut Simulation, kind: StateKind, time: f64) -> LookedAt {
    let switches = simulation.switches().unwrap_or_default();
    LookedAt {
        time,
        kind,
        moves: !is_at_rest(simulation).unwrap_or(false),
        saturated: switches.saturated().to_vec(),
        sticking: switches.sticking().to_vec(),
        verdict: Err(NotJudged::NoTime),
        doubt: None,
        spectrum: None,
    }
}

fn with(state: LookedAt, judged: Result<(Spectrum, Verdict), NotJudged>) -> LookedAt {
    let (spectrum, verdict) = match judged {
        Ok((spectrum, verdict)) => (Some(spectrum), Ok(verdict)),
        Err(reason) => (None, Err(reason)),
    };
    LookedAt {
        spectrum,
        verdict,
        ..state
    }
}

impl Case<'_> {
    /// Judges the present state of a simulation of the model, as it is met on the way; with a doubt where
    /// it is not known whether the model has a growing mode by itself.
    fn judge_here(
        &self,
        simulation: &mut Simulation,
        granted: Duration,
    ) -> Result<(Spectrum, Verdict, Option<String>), AnalysisError> {
        let started = Instant::now();
        let left = || granted.saturating_sub(started.elapsed());
        let time = simulation.time();
        let mut spectrum = Spectrum::here(simulation, Some(granted))?;
        let mut doubt = None;
        if self.subject == Subject::Coupling && spectrum.may_grow_by_itself() {
            let reference = self.reference().and_then(|mut reference| {
                advance_to(&mut reference, time, left())?;
                Spectrum::here(&mut reference, Some(left())).ok()
            });
            match reference {
                Some(reference) => spectrum.set_aside(&reference),
                None => {
                    let reason = "a mode grows slowly, and there was no time to find out whether the model has it without the coupling";
                    doubt = Some(reason.to_owned());
                }
            }
        }
        let verdict = Verdict::within(&spectrum, simulation, Some(left()))?;
        let doubt = doubt.filter(|_| !verdict.is_stable());
        Ok((spectrum, verdict, doubt))
    }
}

/// Runs a reference up to a time; nothing if it fails or takes too long.
fn advance_to(simulation: &mut Simulation, time: f64, granted: Duration) -> Option<()> {
    let started = Instant::now();
    let half = 0.5 * simulation.schedule().step;
    while simulation.time() + half < time {
        if started.elapsed() > granted {
            return None;
        }
        simulation.steps(1).ok()?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ModelFile;

    /// Slow growth of two masses that swing, with and without time to follow it.
    #[test]
    fn slow_growth_of_a_motion_that_was_not_followed_is_not_decided() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let file = ModelFile::new(format!("{examples}/two-mass-force-displacement.toml"))
            .set("simulation.step", 1e-3);
        let model = file.read().expect("the example is a model");
        let case = Case::of(&model, &file);
        let (spectrum, verdict) = case.spectrum(None).expect("it is analysed");
        assert!(verdict.is_unstable());
        let mut simulation = case.simulation().expect("it is built");
        let mut doubt = |followed, granted| {
            let clock = Clock {
                granted,
                started: Instant::now(),
            };
            shown_along(&verdict, &spectrum, &mut simulation, followed, &clock)
        };
        let (none, ample) = (Duration::ZERO, Duration::from_secs(600));
        assert_eq!(doubt(None, none), Some(Doubt::NotFollowed));
        assert_eq!(doubt(None, ample), None);
        let brief = Followed {
            factor: 1.0,
            steps: 150,
        };
        assert_eq!(doubt(Some(brief), none), Some(Doubt::NotFollowed));
    }

    /// A state with a verdict, or without one.
    fn looked_at(kind: StateKind, verdict: Result<Verdict, NotJudged>) -> LookedAt {
        LookedAt {
            time: 0.0,
            kind,
            moves: true,
            saturated: Vec::new(),
            sticking: Vec::new(),
            verdict,
            doubt: None,
            spectrum: None,
        }
    }

    /// A cut rotor that is stable at its start and folds after 1.1 s, where the whole turns on, was called stable.
    #[test]
    fn a_run_that_fails_where_nothing_is_known_is_not_called_stable() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let file =
            ModelFile::new(format!("{examples}/two-mass-damped.toml")).set("simulation.step", 1e-3);
        let model = file.read().expect("the example is a model");
        let (_, stable) = Case::of(&model, &file).spectrum(None).expect("a verdict");
        assert!(stable.is_stable());
        let survey = |fails: bool, later: Result<Verdict, NotJudged>| Survey {
            states: vec![
                looked_at(StateKind::Start, Ok(stable.clone())),
                looked_at(StateKind::Run, later),
            ],
            until: 1.1,
            ended: Some("the run fails: `b0.3` folds".into()),
            fails,
            granted: Duration::ZERO,
        };
        let doubt = survey(true, Err(NotJudged::NoTime))
            .doubt()
            .expect("a doubt");
        assert!(doubt.contains("`b0.3` folds"), "{doubt}");
        assert_eq!(survey(false, Err(NotJudged::NoTime)).doubt(), None);
        assert_eq!(survey(true, Ok(stable.clone())).doubt(), None);
    }

    /// What the model does by itself grows along the motion, too, and is no reason to doubt.
    #[test]
    fn growth_of_its_own_is_foreseen_along_the_motion() {
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let file =
            ModelFile::new(format!("{examples}/two-mass-damped.toml")).set("simulation.step", 1e-3);
        let model = file.read().expect("the example is a model");
        let case = Case::of(&model, &file);
        let (spectrum, mut verdict) = case.spectrum(None).expect("a verdict");
        let mut simulation = case.simulation().expect("it is built");
        let clock = Clock {
            granted: Duration::from_secs(600),
            started: Instant::now(),
        };
        // Over 150 steps of 1 ms a growth of 15 1/s makes 9.5.
        let grown = Followed {
            factor: 9.0,
            steps: 150,
        };
        let mut doubt = |verdict: &Verdict| {
            shown_along(verdict, &spectrum, &mut simulation, Some(grown), &clock)
        };
        assert_eq!(doubt(&verdict), Some(Doubt::Grows(9.0)));
        verdict.own = Some([15.0, 2.0]);
        assert_eq!(doubt(&verdict), None);
    }
}
