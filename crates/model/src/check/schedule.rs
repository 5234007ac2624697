//! The section `[schedule]`.

use std::collections::HashMap;

use oldham_cosim as cosim;
use oldham_cosim::SubsystemId;

use super::keys::read;
use super::part::Checked;
use super::predictor::Choice;
use super::{Checker, MAX_PATTERN};
use crate::format::{self, At, Coupling, Kind, PredictorKind, Stage, place};
use crate::model::Clock;
use crate::source::Span;

/// Most steps of nested stages within one macro step.
const MAX_INNER_STEPS: u64 = 1_000_000;

/// Most ticks of the common clock of nested stages within one macro step.
const MAX_TICKS: u64 = 1_000_000_000;

/// A schedule without its clock.
pub(super) struct Timing {
    pub stages: Vec<cosim::Stage>,
    coupling: cosim::Coupling,
    output_update: bool,
    /// Everybody advances alone.
    pub is_sequential: bool,
    /// Predictor of subsystems that choose none.
    pub default_predictor: Choice,
    /// Steps of each subsystem's stage per macro step.
    pub rates: Vec<f64>,
}

impl Timing {
    pub fn schedule(self, clock: &Clock) -> cosim::Schedule {
        cosim::Schedule {
            start: clock.start,
            step: clock.step,
            stages: self.stages,
            coupling: self.coupling,
            output_update: self.output_update,
            events: clock.events.clone(),
        }
    }

    pub fn is_implicit(&self) -> bool {
        matches!(self.coupling, cosim::Coupling::Implicit(_))
    }
}

/// Where each subsystem stands in the stages.
struct Census<'n> {
    names: &'n HashMap<&'n str, usize>,
    rates: Vec<Option<f64>>,
}

impl Checker<'_> {
    pub(super) fn schedule(
        &mut self,
        section: &format::Schedule,
        names: &HashMap<&str, usize>,
    ) -> Timing {
        let is_implicit = matches!(&section.coupling, Some(at) if at.value == Coupling::Implicit);
        let implicit = self.implicit(&section.implicit);
        let everybody = || (0..names.len()).map(SubsystemId);
        let alone = |id| cosim::Stage::Together(vec![id]);
        let order = section.order.as_ref().map(|order| self.order(order, names));
        let staged = read(&section.stages, |stages| Some(self.staged(stages, names)));
        let kind = section.kind.as_ref().map_or(Kind::Jacobi, |at| at.value);
        self.idle_list(section, kind);
        self.idle_iteration(section);
        let mut rates = vec![1.0; names.len()];
        let stages = match kind {
            Kind::Jacobi => vec![cosim::Stage::Together(everybody().collect())],
            Kind::GaussSeidel => match order {
                Some(order) => order.into_iter().map(alone).collect(),
                None => everybody().map(alone).collect(),
            },
            Kind::Stages => match staged {
                Some((stages, staged_rates)) => {
                    rates = staged_rates;
                    stages
                }
                None => {
                    self.stages_missing(section);
                    Vec::new()
                }
            },
        };
        let timing = Timing {
            stages,
            coupling: match is_implicit {
                true => cosim::Coupling::Implicit(implicit),
                false => cosim::Coupling::Explicit,
            },
            output_update: section.output_update.unwrap_or(false),
            is_sequential: kind == Kind::GaussSeidel,
            default_predictor: match self.predictor(&section.predictor) {
                Some(choice) => choice,
                None if is_implicit => PredictorKind::First.into(),
                None => PredictorKind::Zero.into(),
            },
            rates,
        };
        if let Some(stages) = &section.stages
            && kind == Kind::Stages
            && is_implicit
        {
            self.not_nested(&stages.value);
        }
        timing
    }

    /// A list that the kind of schedule does not look at says something that is not done.
    fn idle_list(&mut self, section: &format::Schedule, kind: Kind) {
        let lists = [
            (
                place(&section.order),
                "order",
                Kind::GaussSeidel,
                "gauss-seidel",
            ),
            (place(&section.stages), "stages", Kind::Stages, "stages"),
        ];
        // The command line may try another kind and leave the file's list alone.
        let is_override = |span: &Span| self.source.is_override(span);
        let is_trial = place(&section.kind).is_some_and(is_override);
        for (span, name, user, word) in lists {
            if let Some(span) = span
                && kind != user
                && (!is_trial || self.source.is_override(span))
            {
                let message = format!("`{name}` has no meaning for this kind of schedule");
                self.report(span, message)
                    .label("would be ignored")
                    .help(format!("leave it out, or write kind = \"{word}\""));
            }
        }
    }

    /// How to iterate, where nothing iterates. Who writes `coupling` knows; and the command line may try.
    fn idle_iteration(&mut self, section: &format::Schedule) {
        let implicit = &section.implicit;
        let given = [
            place(&implicit.relative),
            place(&implicit.absolute),
            place(&implicit.max_iterations),
            place(&implicit.acceleration),
            place(&implicit.relaxation),
            place(&implicit.columns),
        ];
        let in_file = |span: &&Span| !self.source.is_override(span);
        if section.coupling.is_none()
            && let Some(span) = given.into_iter().flatten().find(in_file)
        {
            self.report(span, "nothing iterates: the coupling is explicit")
                .label("would be ignored")
                .help(
                    "write coupling = \"implicit\" in [schedule], or leave [schedule.implicit] out",
                );
        }
    }

    fn stages_missing(&mut self, section: &format::Schedule) {
        if let Some(kind) = &section.kind {
            let message = "the schedule `stages` needs a list of `stages`";
            self.report(&kind.span, message)
                .help("such as stages = [[\"left\"], [\"right\"]]");
        }
    }

    /// Iteration repeats one step of everybody.
    fn not_nested(&mut self, stages: &[At<Stage>]) {
        for stage in stages {
            if let Stage::Nested(_) = &stage.value {
                let message =
                    "implicit (tight) coupling repeats one macro step of all subsystems together";
                self.report(&stage.span, message)
                    .label("runs at another rate")
                    .help("give the fast subsystems `micro_steps` instead");
            }
        }
    }

    fn order(
        &mut self,
        order: &At<Vec<At<String>>>,
        names: &HashMap<&str, usize>,
    ) -> Vec<SubsystemId> {
        let mut census = Census::new(names);
        let ids = self.members(&order.value, 1.0, &mut census);
        self.everybody_present(&census, &order.span);
        ids
    }

    fn staged(
        &mut self,
        stages: &At<Vec<At<Stage>>>,
        names: &HashMap<&str, usize>,
    ) -> (Vec<cosim::Stage>, Vec<f64>) {
        let mut census = Census::new(names);
        let converted = self.stages(&stages.value, 1.0, &mut census);
        self.everybody_present(&census, &stages.span);
        if !can_be_unrolled(&converted) {
            let message = format!(
                "the nested stages make more than {MAX_INNER_STEPS} steps of one macro step"
            );
            self.report(&stages.span, message).label("too many");
            return (Vec::new(), vec![1.0; names.len()]);
        }
        let rates = census.rates.into_iter().map(|rate| rate.unwrap_or(1.0));
        (converted, rates.collect())
    }

    fn stages(
        &mut self,
        stages: &[At<Stage>],
        rate: f64,
        census: &mut Census,
    ) -> Vec<cosim::Stage> {
        let mut converted = Vec::new();
        for stage in stages {
            converted.push(match &stage.value {
                Stage::Together(members) => {
                    cosim::Stage::Together(self.members(members, rate, census))
                }
                Stage::Nested(nested) => {
                    let ratio = self.count_or(&nested.ratio, 1).unwrap_or(1);
                    cosim::Stage::Nested {
                        ratio,
                        stages: self.stages(
                            nested.stages.as_deref().unwrap_or_default(),
                            rate * f64::from(ratio),
                            census,
                        ),
                    }
                }
            });
        }
        converted
    }

    fn members(
        &mut self,
        names: &[At<String>],
        rate: f64,
        census: &mut Census,
    ) -> Vec<SubsystemId> {
        let mut members = Vec::new();
        for name in names {
            let Some(&index) = census.names.get(name.value.as_str()) else {
                self.unknown_subsystem(name, census.names.keys().copied());
                continue;
            };
            if census.rates[index].replace(rate).is_some() {
                let message = format!("`{}` is twice in the schedule", name.value);
                self.report(&name.span, message).label("second time");
                continue;
            }
            members.push(SubsystemId(index));
        }
        members
    }

    fn everybody_present(&mut self, census: &Census, span: &Span) {
        let absent = census
            .names
            .iter()
            .filter(|(_, index)| census.rates[**index].is_none());
        let mut absent: Vec<&str> = absent.map(|(name, _)| *name).collect();
        absent.sort_unstable();
        for name in absent {
            let message = format!("`{name}` is missing from the schedule");
            self.report(span, message)
                .label("every subsystem must be here once");
        }
    }

    /// Multiples of the macro step, where they can be.
    pub(super) fn multiples(&mut self, parts: &[Checked], timing: &Timing, clock: Option<&Clock>) {
        self.pattern(parts);
        for (part, &rate) in parts.iter().zip(&timing.rates) {
            let Some((every, span)) = &part.every else {
                continue;
            };
            if *every > 1 && timing.is_implicit() {
                let message =
                    "implicit (tight) coupling repeats one macro step of all subsystems together";
                self.report(span, message)
                    .label(format!("`{}` has another one", part.name))
                    .help("leave `every` out, or write coupling = \"explicit\"");
            }
            if *every > 1 && rate > 1.0 {
                let message = "a subsystem in a nested stage has no multiple of the macro step";
                self.report(span, message).label("leave it out");
            }
            if let Some(clock) = clock
                && u64::from(*every) > clock.steps
            {
                let message = format!(
                    "`{}` would step once in {} s, and the run ends after {} s",
                    part.name,
                    f64::from(*every) * clock.step,
                    clock.duration
                );
                self.report(span, message)
                    .label(format!(
                        "more than the {} macro steps of the run",
                        clock.steps
                    ))
                    .help("lower `every`, or raise simulation.duration");
            }
        }
    }

    /// The common pattern of all multiples must repeat within reason.
    fn pattern(&mut self, parts: &[Checked]) {
        let mut pattern: u64 = 1;
        for (every, span) in parts.iter().filter_map(|part| part.every.as_ref()) {
            let every = u64::from(*every);
            pattern *= every / greatest_common_divisor(pattern, every);
            if pattern > MAX_PATTERN {
                let message = format!(
                    "the steps of all subsystems meet again only after more than {MAX_PATTERN} macro steps"
                );
                self.report(span, message)
                    .label("has little in common with the others")
                    .help("give multiples that divide each other, such as 2, 4 and 8");
                return;
            }
        }
    }
}

impl<'n> Census<'n> {
    fn new(names: &'n HashMap<&'n str, usize>) -> Self {
        // Two subsystems may have one name, which is reported elsewhere: places are more than names then.
        let places = names.values().max().map_or(0, |last| last + 1);
        Self {
            names,
            rates: vec![None; places],
        }
    }
}

/// Whether the macro step can be unrolled: neither the inner steps nor the ticks of their common
/// clock are too many.
fn can_be_unrolled(stages: &[cosim::Stage]) -> bool {
    inner_steps(stages).is_some_and(|steps| steps <= MAX_INNER_STEPS)
        && clock_ticks(stages).is_some_and(|ticks| ticks <= MAX_TICKS)
}

/// Stages that run in one macro step; nothing if there are too many to count.
fn inner_steps(stages: &[cosim::Stage]) -> Option<u64> {
    let mut total: u64 = 0;
    for stage in stages {
        let steps = match stage {
            cosim::Stage::Together(_) | cosim::Stage::Corrected(_) => 1,
            cosim::Stage::Nested { ratio, stages } => {
                u64::from(*ratio).checked_mul(inner_steps(stages)?)?
            }
        };
        total = total.checked_add(steps)?;
    }
    Some(total)
}

/// Ticks in which every inner step is a whole number of ticks; nothing if they are too many.
fn clock_ticks(stages: &[cosim::Stage]) -> Option<u64> {
    let mut ticks: u64 = 1;
    for stage in stages {
        if let cosim::Stage::Nested { ratio, stages } = stage {
            let inner = u64::from(*ratio).checked_mul(clock_ticks(stages)?)?;
            ticks = (ticks / greatest_common_divisor(ticks, inner)).checked_mul(inner)?;
        }
    }
    Some(ticks)
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 {
        a
    } else {
        greatest_common_divisor(b, a % b)
    }
}
