//! The verdict on a model, in the same words for every command.

use std::time::{Duration, Instant};

use oldham_stability::{AnalysisError, Decision, Verdict, Way};
use oldham_study::{
    Advice, Drift, LONGEST_SEARCH, LookedAt, NotJudged, Search, StateKind, Subject, Survey,
    SurveyProgress,
};

use crate::progress::Waiting;

use crate::fold::fold;
use crate::table::number;

/// A factor below which growth is told in per cent.
const SLIGHT: f64 = 1.01;
/// A rate in 1/s below which four decimals do not show it.
const SLOW: f64 = 1e-2;

/// What is analysed, in words.
fn subject(advice: &Advice) -> &'static str {
    match advice.subject {
        Subject::Whole => "the monolithic model",
        Subject::Coupling => "the coupling",
    }
}

/// A warning for people, if there is something to warn of.
pub fn warning(advice: &Advice) -> Option<String> {
    let verdict = advice.verdict.as_ref().ok()?;
    if advice.decision() != Some(Decision::Unstable) {
        return None;
    }
    let interface = match &verdict.interface {
        Some(name) if advice.subject == Subject::Coupling => {
            format!(" at the interface `{name}`")
        }
        _ => String::new(),
    };
    let how_far = how_far(verdict.growth, advice);
    let subject = subject(advice);
    let when = match advice.survey.as_ref().and_then(Survey::worst) {
        Some(state) if state.kind != StateKind::Start => format!(" {}", place(state)),
        _ => String::new(),
    };
    let mut text = format!(
        "{subject} is unstable{when}{interface}: a mode at {:.3} Hz grows at {} 1/s, {how_far} this run (spectral radius {})",
        verdict.frequency,
        rate(verdict.growth),
        radius(verdict),
    );
    text += &own_growth(verdict);
    if advice.subject == Subject::Whole {
        text += "\n  without any coupling: it is the model or its integrator";
        return Some(text);
    }
    if advice.survey.is_none() {
        text += &format!("\n  {}", remedies_text(advice));
    }
    Some(text)
}

/// What would help, indented and folded.
pub fn remedies(advice: &Advice) -> String {
    fold(&format!("  {}", remedies_text(advice)), 4)
}

/// What a stable coupling does to the energy, indented and folded.
pub fn drift(drift: &Drift) -> String {
    let does = match drift.made > 0.0 {
        true => "makes",
        false => "takes",
    };
    let text = format!(
        "  stable but wrong: the exchange at `{}` {does} {} % of the energy in {} s; `oldham advise` looks for a coupling that does not",
        drift.interface,
        number(100.0 * drift.share.abs()),
        number(drift.seconds),
    );
    fold(&text, 4)
}

fn remedies_text(advice: &Advice) -> String {
    let remedies = advice.remedies_as_arguments();
    match remedies.as_slice() {
        [] if advice.search == Search::Elsewhere => {
            "settings are tried at the start of a run, which is stable: none is offered for this state"
                .to_owned()
        }
        [] if advice.search == Search::Hurried => {
            "`oldham check` looks for settings that help".to_owned()
        }
        [] if advice.search == Search::TooLong => {
            "no setting that helps was found in the time; not all were tried (--remedies grants 30 s more)"
                .to_owned()
        }
        [] => "none of the usual settings helps, nor does a shorter macro step: look at the \
               masses, stiffnesses and dampers at that interface"
            .to_owned(),
        [only] => format!("stable with --set {only}"),
        several => format!(
            "stable with one of:\n    --set {}",
            several.join("\n    --set ")
        ),
    }
}

/// A growth rate with four decimals, or as many digits where these would not show it.
fn rate(growth: f64) -> String {
    match growth.abs() < SLOW {
        true => number(growth),
        false => format!("{growth:.4}"),
    }
}

/// How far a growth in 1/s goes in a run.
fn how_far(growth: f64, advice: &Advice) -> String {
    match (growth * advice.duration).exp() {
        factor if factor < SLIGHT => format!("by {} % over", number(100.0 * (factor - 1.0))),
        factor if factor.is_finite() => format!("by a factor of {} over", number(factor)),
        _ => "beyond all bounds in".into(),
    }
}

/// What the model does by itself.
fn own_growth(verdict: &Verdict) -> String {
    match verdict.own {
        Some([growth, frequency]) => format!(
            "; a mode at {frequency:.3} Hz that grows at {} 1/s is the model's own: it is there without the coupling",
            rate(growth)
        ),
        None => String::new(),
    }
}

/// The warning or the finding, indented and folded.
pub fn for_people(advice: &Advice) -> String {
    let text = warning(advice).unwrap_or_else(|| finding(advice));
    let text = fold(&format!("  {text}"), 4);
    match &advice.survey {
        Some(survey) => {
            let looked = fold(&format!("  {}", looked_at(survey)), 4);
            format!("{text}\n{looked}")
        }
        None => text,
    }
}

/// Where the model was looked at, and what was found there.
fn looked_at(survey: &Survey) -> String {
    let of = |decision: Decision| {
        let states = survey.states.iter();
        states
            .filter(move |state| state.decision() == Some(decision))
            .collect::<Vec<_>>()
    };
    let until = match &survey.ended {
        Some(reason) => format!("t = {} s ({reason})", number(survey.until)),
        None => format!("t = {} s", number(survey.until)),
    };
    let on_the_way = survey.states.len().saturating_sub(1);
    let is_judged = |state: &&LookedAt| state.decision().is_some();
    let judged = survey.states.iter().filter(is_judged).count();
    let is_start_judged = survey.start().is_some_and(|start| is_judged(&start));
    // Those that were kept and not analysed are named below.
    let mut text = match judged - usize::from(is_start_judged) {
        0 => format!("looked at the start alone, and run to {until}"),
        all if all == on_the_way => {
            format!("looked at the start and {all} states on the way to {until}")
        }
        some => {
            format!("looked at the start and {some} of {on_the_way} states on the way to {until}")
        }
    };
    let unstable = of(Decision::Unstable);
    let undecided = of(Decision::Undecided);
    let stable = of(Decision::Stable);
    if stable.len() == judged && judged > 0 {
        text += if judged == 1 {
            ": stable"
        } else {
            ": stable at all that were analysed"
        };
    }
    if !unstable.is_empty() {
        text += &format!("\n  unstable {}", places(&unstable));
    }
    if stable.len() < judged && !stable.is_empty() {
        text += &format!("\n  stable {}", places(&stable));
    }
    for state in undecided {
        let reason = state.reason().unwrap_or_default();
        text += &format!("\n  not decided {}: {reason}", place(state));
    }
    let limited: Vec<&LookedAt> = survey
        .states
        .iter()
        .filter(|s| !s.saturated.is_empty())
        .collect();
    if let Some(first) = limited.first() {
        let names: Vec<String> = first
            .saturated
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let verb = if names.len() == 1 {
            "is at a limit"
        } else {
            "are at a limit"
        };
        text += &format!(
            "\n  {} {verb} {}: the loop is open there",
            names.join(", "),
            places(&limited)
        );
    }
    let sticking: Vec<&LookedAt> = survey
        .states
        .iter()
        .filter(|s| !s.sticking.is_empty())
        .collect();
    if let Some(first) = sticking.first() {
        let names: Vec<String> = first
            .sticking
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        text += &format!("\n  {} sticks {}", names.join(", "), places(&sticking));
    }
    if survey.start().is_some_and(|state| state.moves) {
        text += "\n  the start is off equilibrium: it moves";
    }
    let (late, failed): (Vec<&LookedAt>, Vec<&LookedAt>) = survey
        .states
        .iter()
        .filter(|state| state.verdict.is_err())
        .partition(|state| matches!(state.verdict, Err(NotJudged::NoTime)));
    for state in failed {
        let reason = state.reason().unwrap_or_default();
        text += &format!("\n  not analysed {}: {reason}", place(state));
    }
    if !late.is_empty() {
        text += &format!(
            "\n  not analysed, for want of time (--seconds grants more): {}",
            places(&late)
        );
    }
    text
}

/// A warning of states that a run has met, if there is something to warn of.
pub fn warning_on_the_way(survey: &Survey) -> Option<String> {
    let unstable: Vec<&LookedAt> = survey
        .states
        .iter()
        .filter(|state| state.decision() == Some(Decision::Unstable))
        .collect();
    let worst = unstable.first()?.verdict.as_ref().ok()?;
    Some(format!(
        "the coupling is unstable {}: a mode at {:.3} Hz grows at {} 1/s (spectral radius {}); `oldham check` looks closer",
        places(&unstable),
        worst.frequency,
        rate(worst.growth),
        radius(worst),
    ))
}

fn place(state: &LookedAt) -> String {
    match state.kind {
        StateKind::Start => "at the start".into(),
        StateKind::Equilibrium => "in static equilibrium".into(),
        StateKind::Run => format!("at t = {} s", number(state.time)),
    }
}

fn places(states: &[&LookedAt]) -> String {
    let all: Vec<String> = states.iter().map(|state| place(state)).collect();
    all.join(", ")
}

/// Shows what a survey is at.
pub fn show(waiting: &Waiting, at: SurveyProgress) {
    waiting.at(match at {
        SurveyProgress::Start => "analysing the start".into(),
        SurveyProgress::Running { time } => format!("running the model, t = {} s", number(time)),
        SurveyProgress::States { done, of } => format!("analysing states, {done} of {of}"),
    });
}

/// The time that an analysis is granted, from now on.
pub struct Granted {
    time: Duration,
    for_remedies: Duration,
    begun: Instant,
}

impl Granted {
    /// So many seconds, and more for remedies if these are wanted.
    pub fn new(seconds: f64, remedies: bool) -> Self {
        Self {
            time: Duration::from_secs_f64(seconds),
            for_remedies: if remedies {
                LONGEST_SEARCH
            } else {
                Duration::ZERO
            },
            begun: Instant::now(),
        }
    }

    /// All of it.
    pub fn time(&self) -> Duration {
        self.time
    }

    /// What is left for remedies.
    pub fn for_remedies(&self) -> Duration {
        self.time.saturating_sub(self.begun.elapsed()) + self.for_remedies
    }
}

/// The finding for people, where there is nothing to warn of.
pub fn finding(advice: &Advice) -> String {
    let verdict = match &advice.verdict {
        Ok(verdict) => verdict,
        Err(reason @ (AnalysisError::Fault(_) | AnalysisError::Unbounded)) => {
            let subject = subject(advice);
            return format!("whether {subject} is stable is not decided, because {reason}");
        }
        Err(reason) => return format!("stability not analysed: {reason}"),
    };
    let (radius, coordinates) = (radius(verdict), verdict.dimension);
    let subject = subject(advice);
    let found = format!("spectral radius {radius}, {coordinates} states");
    if let Some(doubt) = advice.doubt() {
        let own = own_growth(verdict);
        return format!(
            "whether {subject} is stable is not decided, because {doubt}; {found}{own}"
        );
    }
    let place = match is_open_somewhere(advice) {
        true => " in the states where that could be decided",
        false => "",
    };
    let Some([growth, frequency]) = verdict.own else {
        return format!("{subject} is stable{place}: {found}");
    };
    // What grows without the coupling is no matter of it, but it grows.
    let grows = format!(
        "a mode at {frequency:.3} Hz grows at {} 1/s, {} this run",
        rate(growth),
        how_far(growth, advice)
    );
    match advice.subject {
        Subject::Coupling => format!(
            "the coupling is stable{place}, the model by itself is not: {grows}, with the coupling and without it; of all other modes: {found}"
        ),
        Subject::Whole => {
            format!("{subject} is unstable by itself: {grows}; of all other modes{place}: {found}")
        }
    }
}

/// Whether nothing was decided about a state that was looked at.
fn is_open_somewhere(advice: &Advice) -> bool {
    let states = advice.survey.iter().flat_map(|survey| &survey.states);
    states
        .into_iter()
        .any(|state| state.decision() == Some(Decision::Undecided))
}

/// A radius with its error.
pub fn radius(verdict: &Verdict) -> String {
    let text = with_error(verdict.radius, verdict.error);
    match verdict.way {
        Way::Dense | Way::Frequency { .. } => text,
        Way::Krylov { products } => format!("{text} from {products} matrix-vector products"),
        Way::Measured { steps } => format!("{text} measured in {steps} steps of black boxes"),
    }
}

/// As many digits as are known, and how far the last of them is known.
pub fn with_error(radius: f64, error: f64) -> String {
    let digits = (-error.max(1e-300).log10()).floor().clamp(1.0, 9.0) as usize + 1;
    let digits = digits.clamp(3, 9);
    format!("{radius:.digits$} ± {error:.0e}")
}
