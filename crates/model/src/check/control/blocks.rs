//! The blocks of a controller.

use oldham_control::{Linear, Pid, RateLimit, TransferFunction};

use super::Draft;
use crate::check::Checker;
use crate::check::keys::{all, read_if, read_or};
use crate::format::{At, Block, BlockKind, Entry, place};
use crate::source::Span;

/// The time constant of anti-windup of a controller without proportional gain.
const DEFAULT_TRACKING: f64 = 1.0;

/// A key of a block: its name, where it is given, and to which kinds it belongs.
type Key<'b> = (&'static str, Option<&'b Span>, &'static [BlockKind]);

impl Checker<'_> {
    pub(super) fn block(&mut self, entry: &Entry<Block>, draft: &mut Draft<'_>) {
        let block = &entry.value.value;
        let Some(kind) = block.kind.as_ref().map(|at| at.value) else {
            return;
        };
        self.keys_of_other_kinds(block, kind);
        let added = match kind {
            BlockKind::Pid => self.pid(entry, draft),
            BlockKind::TransferFunction => self.transfer_function(entry, draft),
            BlockKind::StateSpace => self.state_space(entry, draft),
            BlockKind::RateLimit => self.rate_limit(entry, draft),
            BlockKind::Delay => self.delay(entry, draft),
        };
        if let Some(Err(error)) = added {
            let reported = self.report(&entry.name.span, error.to_string());
            let reported = reported.label("in this block");
            if let Some(help) = error.help() {
                reported.help(help);
            }
        }
    }

    /// Keys that belong to blocks of another kind.
    fn keys_of_other_kinds(&mut self, block: &Block, kind: BlockKind) {
        use BlockKind::{Delay, Pid, RateLimit, StateSpace, TransferFunction};
        let denominator = place(&block.denominator);
        let initial_states = place(&block.initial_states);
        let keys: [Key<'_>; 18] = [
            ("inputs", place(&block.inputs), &[StateSpace]),
            ("kp", place(&block.kp), &[Pid]),
            ("ki", place(&block.ki), &[Pid]),
            ("kd", place(&block.kd), &[Pid]),
            ("filter", place(&block.filter), &[Pid]),
            ("limits", place(&block.limits), &[Pid]),
            ("tracking", place(&block.tracking), &[Pid]),
            ("numerator", place(&block.numerator), &[TransferFunction]),
            ("denominator", denominator, &[TransferFunction]),
            ("a", place(&block.a), &[StateSpace]),
            ("b", place(&block.b), &[StateSpace]),
            ("c", place(&block.c), &[StateSpace]),
            ("d", place(&block.d), &[StateSpace]),
            ("initial_states", initial_states, &[StateSpace]),
            ("rise", place(&block.rise), &[RateLimit]),
            ("fall", place(&block.fall), &[RateLimit]),
            ("lag", place(&block.lag), &[RateLimit]),
            ("time", place(&block.time), &[Delay]),
        ];
        for (key, span, kinds) in keys {
            if let Some(span) = span.filter(|_| !kinds.contains(&kind)) {
                let message = format!("`{key}` does not belong to a block of this kind");
                self.report(span, message).label("leave it out");
            }
        }
    }

    /// A key without which a block of this kind is nothing.
    fn needed<'b, T>(
        &mut self,
        entry: &Entry<Block>,
        given: &'b Option<At<T>>,
        key: &str,
    ) -> Option<&'b At<T>> {
        if given.is_none() {
            let message = format!("the block `{}` needs `{key}`", entry.name.value);
            self.report_missing(&entry.value.span, message)
                .label(format!("has no `{key}`"));
        }
        given.as_ref()
    }

    fn block_input(
        &mut self,
        entry: &Entry<Block>,
        draft: &Draft<'_>,
    ) -> Option<oldham_expression::Expression> {
        let input = self.needed(entry, &entry.value.value.input, "input")?;
        self.control_expression(input, draft)
    }

    fn pid(&mut self, entry: &Entry<Block>, draft: &mut Draft<'_>) -> Option<Added> {
        let block = &entry.value.value;
        let input = self.block_input(entry, draft);
        let [kp, ki, kd] = [&block.kp, &block.ki, &block.kd].map(|gain| self.number_or(gain, 0.0));
        if block.kd.is_some() {
            self.needed(entry, &block.filter, "filter")?;
        }
        let filter = self.number_or(&block.filter, 0.0);
        let what = "the least and the largest output";
        let limits = read_if(&block.limits, |list| self.numbers(list, what))?;
        let (kp, ki) = (kp?, ki?);
        let usual = if kp != 0.0 && ki != 0.0 {
            (kp / ki).abs()
        } else {
            DEFAULT_TRACKING
        };
        let pid = Pid {
            kp,
            ki,
            kd: kd?,
            filter: filter?,
            limits,
            tracking: self.number_or(&block.tracking, usual)?,
            initial: self.number_or(&block.initial, 0.0)?,
        };
        Some(draft.controller.pid(&entry.name.value, input?, &pid))
    }

    fn transfer_function(&mut self, entry: &Entry<Block>, draft: &mut Draft<'_>) -> Option<Added> {
        let block = &entry.value.value;
        let input = self.block_input(entry, draft);
        let numerator = self.needed(entry, &block.numerator, "numerator");
        let denominator = self.needed(entry, &block.denominator, "denominator");
        let function = TransferFunction {
            numerator: self.list(&numerator?.value)?,
            denominator: self.list(&denominator?.value)?,
        };
        let discrete = self.is_discrete(entry, draft)?;
        let name = &entry.name.value;
        let controller = &mut draft.controller;
        Some(controller.transfer_function(name, input?, &function, discrete))
    }

    fn state_space(&mut self, entry: &Entry<Block>, draft: &mut Draft<'_>) -> Option<Added> {
        let block = &entry.value.value;
        let inputs = match (&block.input, &block.inputs) {
            (Some(input), None) => vec![self.control_expression(input, draft)?],
            (_, Some(list)) => {
                let inputs = list.value.iter();
                all(inputs.map(|at| self.control_expression(at, draft)))?
            }
            (None, None) => {
                self.needed(entry, &block.inputs, "inputs")?;
                return None;
            }
        };
        let matrices = [("a", &block.a), ("b", &block.b), ("c", &block.c)];
        let [a, b, c] = matrices.map(|(key, rows)| {
            let rows = self.needed(entry, rows, key)?;
            self.rows(&rows.value)
        });
        let (a, b, c) = (a?, b?, c?);
        let zeros = vec![vec![0.0; inputs.len()]; c.len()];
        let d = read_or(&block.d, zeros, |d| self.rows(&d.value))?;
        let zeros = vec![0.0; a.len()];
        let initial = read_or(&block.initial_states, zeros, |at| self.list(&at.value))?;
        let system = Linear {
            a,
            b,
            c,
            d,
            initial,
            discrete: self.is_discrete(entry, draft)?,
        };
        Some(draft.controller.linear(&entry.name.value, inputs, &system))
    }

    fn rate_limit(&mut self, entry: &Entry<Block>, draft: &mut Draft<'_>) -> Option<Added> {
        let block = &entry.value.value;
        let input = self.block_input(entry, draft);
        let rise = self.needed(entry, &block.rise, "rise");
        let rise = rise.and_then(|rise| self.number(rise))?;
        if draft.controller.sample().is_none() {
            self.needed(entry, &block.lag, "lag")?;
        }
        let limit = RateLimit {
            rise,
            fall: self.number_or(&block.fall, rise)?,
            lag: self.number_or(&block.lag, 0.0)?,
            initial: self.number_or(&block.initial, 0.0)?,
        };
        let controller = &mut draft.controller;
        Some(controller.rate_limit(&entry.name.value, input?, &limit))
    }

    fn delay(&mut self, entry: &Entry<Block>, draft: &mut Draft<'_>) -> Option<Added> {
        let block = &entry.value.value;
        let input = self.block_input(entry, draft);
        let time = self.needed(entry, &block.time, "time");
        let time = time.and_then(|time| self.number(time))?;
        let initial = self.number_or(&block.initial, 0.0)?;
        let controller = &mut draft.controller;
        Some(controller.transport_delay(&entry.name.value, input?, time, initial))
    }

    /// Whether the coefficients are those of discrete time; only a sampled controller has it.
    fn is_discrete(&mut self, entry: &Entry<Block>, draft: &Draft<'_>) -> Option<bool> {
        let discrete = entry.value.value.discrete.unwrap_or(false);
        if discrete && draft.controller.sample().is_none() {
            let message = "`discrete` coefficients need a sampled controller";
            self.report(&entry.name.span, message)
                .help("give the controller a `sample` period");
            return None;
        }
        Some(discrete)
    }
}

/// Whether the controller took a block.
type Added = Result<(), oldham_control::ControlError>;
