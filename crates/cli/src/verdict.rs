//! The verdict on a model, in the same words for every command.

use oldham_stability::{AnalysisError, Verdict, Way};
use oldham_study::{Advice, LONGEST_SEARCH, Search, Subject};

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
    if !verdict.is_unstable() {
        return None;
    }
    let interface = match &verdict.interface {
        Some(name) if advice.subject == Subject::Coupling => {
            format!(" at the interface `{name}`")
        }
        _ => String::new(),
    };
    let factor = (verdict.growth * advice.duration).exp();
    let how_far = match factor {
        factor if factor < SLIGHT => format!("by {} % over", number(100.0 * (factor - 1.0))),
        factor if factor.is_finite() => format!("by a factor of {} over", number(factor)),
        _ => "beyond all bounds in".into(),
    };
    let subject = subject(advice);
    let mut text = format!(
        "{subject} is unstable{interface}: a mode at {:.3} Hz grows at {} 1/s, {how_far} this run (spectral radius {})",
        verdict.frequency,
        rate(verdict.growth),
        radius(verdict),
    );
    text += &own_growth(verdict);
    if advice.subject == Subject::Whole {
        text += "\n  without any coupling: it is the model or its integrator";
        return Some(text);
    }
    let remedies = advice.remedies_as_arguments();
    text += &match remedies.as_slice() {
        [] if advice.search == Search::Hurried => {
            "\n  `oldham check` looks for settings that help".to_owned()
        }
        [] if advice.search == Search::TooLong => format!(
            "\n  no setting that helps was found within {} s; not all were tried",
            LONGEST_SEARCH.as_secs()
        ),
        [] => "\n  none of the usual settings helps, nor does a shorter macro step: look at the \
               masses, stiffnesses and dampers at that interface"
            .to_owned(),
        [only] => format!("\n  stable with --set {only}"),
        several => format!(
            "\n  stable with one of:\n    --set {}",
            several.join("\n    --set ")
        ),
    };
    Some(text)
}

/// A growth rate with four decimals, or as many digits where these would not show it.
fn rate(growth: f64) -> String {
    match growth.abs() < SLOW {
        true => number(growth),
        false => format!("{growth:.4}"),
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
    fold(&format!("  {text}"), 4)
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
    let own = own_growth(verdict);
    let found = format!("spectral radius {radius}, {coordinates} states{own}");
    match verdict.doubt() {
        Some(doubt) => {
            format!("whether {subject} is stable is not decided, because {doubt}; {found}")
        }
        None => format!("{subject} is stable: {found}"),
    }
}

/// A radius with its error.
pub fn radius(verdict: &Verdict) -> String {
    let text = with_error(verdict.radius, verdict.error);
    match verdict.way {
        Way::Dense | Way::Frequency { .. } => text,
        Way::Krylov { products } => format!("{text} from {products} matrix-vector products"),
    }
}

/// As many digits as are known, and how far the last of them is known.
pub fn with_error(radius: f64, error: f64) -> String {
    let digits = (-error.max(1e-300).log10()).floor().clamp(1.0, 9.0) as usize + 1;
    let digits = digits.clamp(3, 9);
    format!("{radius:.digits$} ± {error:.0e}")
}
